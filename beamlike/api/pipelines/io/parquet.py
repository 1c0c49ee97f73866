"""Parquet files in and out of pipelines, by pyarrow.

Source: Beam Python ``io.parquetio``.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from beamlike.api.pipelines.elements import FlatMap, Map
from beamlike.api.pipelines.io.errors import check_number
from beamlike.api.pipelines.io.file_sinks import FileBasedSink
from beamlike.api.pipelines.io.file_sources import FileBasedSource, ReadAllFiles, ReadsAll
from beamlike.api.pipelines.io.range_trackers import RangeTracker
from beamlike.api.pipelines.io.records_of_rows import record_of, row_of
from beamlike.api.pipelines.io.sinks import Writes
from beamlike.api.pipelines.io.sources import Read, Reads
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.transform import PTransform
from beamlike.extras import missing

__all__ = [
    "ReadAllFromParquet",
    "ReadAllFromParquetBatched",
    "ReadFromParquet",
    "ReadFromParquetBatched",
    "WriteToParquet",
    "WriteToParquetBatched",
]

_BUFFER: Final = 64 * 1024 * 1024


def _parquet(what: str) -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise missing(what, ["pyarrow"], "io") from error
    return pyarrow, pyarrow.parquet


class _Source(FileBasedSource):
    """The row groups of files, as tables."""

    def __init__(
        self,
        file_pattern: Any,
        min_bundle_size: int = 0,
        validate: bool = True,
        columns: list[str] | None = None,
    ) -> None:
        _parquet("ReadFromParquet")
        super().__init__(file_pattern, min_bundle_size, validate=validate)
        self._columns = columns

    def read_records(self, file_name: str, offset_range_tracker: RangeTracker) -> Iterator[Any]:
        with self.open_file(file_name) as opened:
            file = _parquet("ReadFromParquet")[1].ParquetFile(opened)
            for at in range(file.num_row_groups):
                yield file.read_row_group(at, columns=self._columns)


class ReadFromParquetBatched(Reads):
    """The row groups of Parquet files, each as a ``pyarrow.Table``.

    Args:
        file_pattern: A path, which may have ``*``, ``?`` and ``[...]`` in it.
        min_bundle_size: Counts for nothing: a file is read as a whole.
        validate: Whether the files must be there when the pipeline is built.
        columns: Which columns; None: all.

    Raises:
        BeamIOError: There are no such files.
        EnvironmentProblem: pyarrow is not installed.

    Source: Beam ``ReadFromParquetBatched``.
    """

    def __init__(
        self,
        file_pattern: Any = None,
        min_bundle_size: int = 0,
        validate: bool = True,
        columns: list[str] | None = None,
    ) -> None:
        super().__init__()
        self._source = _Source(file_pattern, min_bundle_size, validate, columns)


class ReadFromParquet(PTransform[Any, PCollection[Any]]):
    """The rows of Parquet files, each as a dictionary.

    Args:
        file_pattern: A path, which may have ``*``, ``?`` and ``[...]`` in it.
        min_bundle_size: Counts for nothing: a file is read as a whole.
        validate: Whether the files must be there when the pipeline is built.
        columns: Which columns; None: all.
        as_rows: Whether each is a `Row`.

    Raises:
        BeamIOError: There are no such files.
        EnvironmentProblem: pyarrow is not installed.

    Source: Beam ``ReadFromParquet``.
    """

    def __init__(
        self,
        file_pattern: Any = None,
        min_bundle_size: int = 0,
        validate: bool = True,
        columns: list[str] | None = None,
        as_rows: bool = False,
    ) -> None:
        super().__init__()
        self._source = _Source(file_pattern, min_bundle_size, validate, columns)
        self._as_rows = as_rows

    def expand(self, given: Any) -> PCollection[Any]:
        rows: PCollection[Any] = given | Read(self._source) | "ToRows" >> FlatMap(_records)
        return rows | "AsRows" >> Map(row_of) if self._as_rows else rows


def _records(table: Any) -> Any:
    return table.to_pylist()


def _named_records(named: tuple[str, Any]) -> Iterator[tuple[str, Any]]:
    return ((named[0], record) for record in _records(named[1]))


class ReadAllFromParquetBatched(ReadsAll):
    """The row groups of the files that a collection names, as `ReadFromParquetBatched`.

    Args:
        with_filename: Whether elements are pairs of the name of the file and the table.
        columns: Which columns; None: all.
        label: A name for the transform.
        sizes: ``min_bundle_size`` and ``desired_bundle_size``, which count for nothing.

    Source: Beam ``ReadAllFromParquetBatched``.
    """

    def __init__(
        self,
        *,
        with_filename: bool = False,
        columns: list[str] | None = None,
        label: str | None = None,
        **sizes: int,
    ) -> None:
        super().__init__(label)
        source_of = partial(_Source, validate=False, columns=columns)
        self._read = ReadAllFiles(True, "auto", 0, 0, source_of, with_filename)


class ReadAllFromParquet(PTransform[PCollection[Any], PCollection[Any]]):
    """The rows of the files that a collection names, as `ReadFromParquet`.

    Args:
        with_filename: Whether elements are pairs of the name of the file and the row.
        how: As `ReadAllFromParquetBatched` takes it.

    Source: Beam ``ReadAllFromParquet``.
    """

    def __init__(self, with_filename: bool = False, **how: Any) -> None:
        super().__init__()
        self._named = with_filename
        self._read = ReadAllFromParquetBatched(with_filename=with_filename, **how)

    def expand(self, given: PCollection[Any]) -> PCollection[Any]:
        return given | self._read | FlatMap(_named_records if self._named else _records)


class _Sink(FileBasedSink):
    """Rows, or whole tables, into files."""

    def __init__(
        self,
        path: Any,
        schema: Any,
        *,
        batched: bool = False,
        record_batch_size: int = 1000,
        codec: str,
        use_deprecated_int96_timestamps: bool,
        use_compliant_nested_type: bool,
        **files: Any,
    ) -> None:
        _parquet("WriteToParquet")
        check_number(record_batch_size, "record_batch_size", least=1)
        self._schema, self._batched, self._size = schema, batched, record_batch_size
        self._how = {
            "compression": codec if codec != "none" else "NONE",
            "use_deprecated_int96_timestamps": use_deprecated_int96_timestamps,
            "use_compliant_nested_type": use_compliant_nested_type,
        }
        super().__init__(path, None, **files)

    def open(self, temp_path: str) -> Any:
        return _Rows(super().open(temp_path), self._schema, self._size, self._how)

    def write_record(self, file_handle: Any, value: Any) -> None:
        if self._batched:
            file_handle.write_table(value)
        else:
            file_handle.add(record_of(value, "WriteToParquet"))


class _Rows:
    """A Parquet file to write. Rows are kept until there is a batch of them."""

    def __init__(self, file: Any, schema: Any, size: int, how: dict[str, Any]) -> None:
        self._file, self._schema, self._size, self._how = file, schema, size, how
        self._writer: Any = None
        self._kept: list[dict[str, Any]] = []

    def add(self, record: dict[str, Any]) -> None:
        """Write a row."""
        self._kept.append(record)
        if len(self._kept) >= self._size:
            self._write_kept()

    def _write_kept(self) -> None:
        arrow, _ = _parquet("WriteToParquet")
        kept, self._kept = self._kept, []
        self.write_table(arrow.Table.from_pylist(kept, schema=self._schema))

    def write_table(self, table: Any) -> None:
        """Write rows."""
        _, parquet = _parquet("WriteToParquet")
        if self._writer is None:
            self._schema = self._schema if self._schema is not None else table.schema
            self._writer = parquet.ParquetWriter(self._file, self._schema, **self._how)
        self._writer.write_table(table)

    def close(self) -> None:
        """Write the end."""
        if self._kept or self._writer is None:
            self._write_kept()
        self._writer.close()
        self._file.close()


class WriteToParquet(Writes):
    """Elements that have fields as rows of Parquet files. The names of the files come out.

    Files are written as by `WriteToText`: all of them, or none.

    Args:
        file_path_prefix: How the names of the files begin.
        schema: The ``pyarrow.Schema`` of the rows; None: that of the first of them.
        row_group_buffer_size: Counts for nothing.
        record_batch_size: How many rows are in a row group.
        codec: How columns are compressed, as pyarrow calls it: ``"snappy"``, ``"gzip"`` ...
        use_deprecated_int96_timestamps: As pyarrow takes it, and so is the next.
        use_compliant_nested_type: How the parts of nested columns are called.
        mime_type: Counts for nothing. All else is as in `WriteToText`.

    Raises:
        PipelineError: An argument cannot be used; when it runs: an element has no fields.
        EnvironmentProblem: pyarrow is not installed.

    Source: Beam ``WriteToParquet``.
    """

    def __init__(
        self,
        file_path_prefix: Any,
        schema: Any = None,
        row_group_buffer_size: int = _BUFFER,
        record_batch_size: int = 1000,
        codec: str = "none",
        use_deprecated_int96_timestamps: bool = False,
        use_compliant_nested_type: bool = False,
        file_name_suffix: Any = "",
        num_shards: int = 0,
        shard_name_template: str | None = None,
        mime_type: str = "application/x-parquet",
        triggering_frequency: float | None = None,
    ) -> None:
        super().__init__()
        self._sink = _Sink(
            file_path_prefix,
            schema,
            record_batch_size=record_batch_size,
            codec=codec,
            use_deprecated_int96_timestamps=use_deprecated_int96_timestamps,
            use_compliant_nested_type=use_compliant_nested_type,
            file_name_suffix=file_name_suffix,
            num_shards=num_shards,
            shard_name_template=shard_name_template,
            triggering_frequency=triggering_frequency,
        )


class WriteToParquetBatched(Writes):
    """Elements that are a ``pyarrow.Table`` as rows of Parquet files; else `WriteToParquet`.

    Source: Beam ``WriteToParquetBatched``.
    """

    def __init__(
        self,
        file_path_prefix: Any,
        schema: Any = None,
        codec: str = "none",
        use_deprecated_int96_timestamps: bool = False,
        use_compliant_nested_type: bool = False,
        file_name_suffix: Any = "",
        num_shards: int = 0,
        shard_name_template: str | None = None,
        mime_type: str = "application/x-parquet",
        triggering_frequency: float | None = None,
    ) -> None:
        super().__init__()
        self._sink = _Sink(
            file_path_prefix,
            schema,
            batched=True,
            codec=codec,
            use_deprecated_int96_timestamps=use_deprecated_int96_timestamps,
            use_compliant_nested_type=use_compliant_nested_type,
            file_name_suffix=file_name_suffix,
            num_shards=num_shards,
            shard_name_template=shard_name_template,
            triggering_frequency=triggering_frequency,
        )
