"""Files of text, as a sink.

Source: Beam Python ``io.textio``.
"""

from typing import Any, Final

from beamlike.api.pipelines.io.file_sinks import FileBasedSink
from beamlike.api.pipelines.more_coders import ToBytesCoder
from beamlike.model.coders import Coder

_BYTES: Final = ToBytesCoder()


class TextSink(FileBasedSink):
    """Lines of text: what `WriteToText` writes into. Its arguments are those of it."""

    def __init__(
        self,
        file_path_prefix: Any,
        file_name_suffix: Any = "",
        append_trailing_newlines: bool = True,
        num_shards: int = 0,
        shard_name_template: str | None = None,
        coder: Coder = _BYTES,
        compression_type: str = "auto",
        header: Any = None,
        footer: Any = None,
        **how: Any,
    ) -> None:
        super().__init__(
            file_path_prefix,
            coder,
            file_name_suffix,
            num_shards,
            shard_name_template,
            "text/plain",
            compression_type,
            **how,
        )
        self._end = b"\n" if append_trailing_newlines else b""
        self._header, self._footer = header, footer

    def open(self, temp_path: str) -> Any:
        handle = super().open(temp_path)
        self._write_line(handle, self._header)
        return handle

    def close(self, file_handle: Any) -> None:
        self._write_line(file_handle, self._footer)
        super().close(file_handle)

    def _write_line(self, handle: Any, text: Any) -> None:
        if text is not None:
            handle.write(_BYTES.encode(text) + self._end)

    def write_encoded_record(self, file_handle: Any, encoded_value: bytes) -> None:
        file_handle.write(encoded_value + self._end)
