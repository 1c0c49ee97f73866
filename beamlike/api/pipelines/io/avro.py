"""Avro files in and out of pipelines, by fastavro.

Source: Beam Python ``io.avroio``.
"""

from collections.abc import Iterator
from functools import partial
from io import BytesIO
from typing import Any

from beamlike.api.pipelines.elements import Map
from beamlike.api.pipelines.io.file_sinks import FileBasedSink
from beamlike.api.pipelines.io.file_sources import FileBasedSource, ReadAllFiles
from beamlike.api.pipelines.io.range_trackers import RangeTracker
from beamlike.api.pipelines.io.records_of_rows import record_of, row_of
from beamlike.api.pipelines.io.sinks import Writes
from beamlike.api.pipelines.io.sources import Read
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.transform import PTransform
from beamlike.errors import PipelineError
from beamlike.extras import missing

__all__ = ["ReadAllFromAvro", "ReadFromAvro", "WriteToAvro"]


def _fastavro(what: str) -> Any:
    try:
        import fastavro
        import fastavro.schema
        import fastavro.write
    except ImportError as error:
        raise missing(what, ["fastavro"], "io") from error
    return fastavro


class _Source(FileBasedSource):
    def __init__(self, file_pattern: Any, min_bundle_size: int = 0, validate: bool = True) -> None:
        _fastavro("ReadFromAvro")
        super().__init__(file_pattern, min_bundle_size, validate=validate)

    def read_records(self, file_name: str, offset_range_tracker: RangeTracker) -> Iterator[Any]:
        with self.open_file(file_name) as file:
            yield from _fastavro("ReadFromAvro").reader(file)


class ReadFromAvro(PTransform[Any, PCollection[Any]]):
    """The records of Avro files, each as a dictionary.

    Args:
        file_pattern: A path, which may have ``*``, ``?`` and ``[...]`` in it.
        min_bundle_size: Counts for nothing: a file is read as a whole.
        validate: Whether the files must be there when the pipeline is built.
        use_fastavro: Counts for nothing: there is nothing else.
        as_rows: Whether each is a `Row`.

    Raises:
        BeamIOError: There are no such files.
        EnvironmentProblem: fastavro is not installed.

    Source: Beam ``ReadFromAvro``.
    """

    def __init__(
        self,
        file_pattern: Any = None,
        min_bundle_size: int = 0,
        validate: bool = True,
        use_fastavro: bool = True,
        as_rows: bool = False,
    ) -> None:
        super().__init__()
        self._source = _Source(file_pattern, min_bundle_size, validate)
        self._as_rows = as_rows

    def expand(self, given: Any) -> PCollection[Any]:
        records: PCollection[Any] = given | Read(self._source)
        return records | "AsRows" >> Map(row_of) if self._as_rows else records


class ReadAllFromAvro(PTransform[PCollection[Any], PCollection[Any]]):
    """The records of the Avro files that a collection names, as `ReadFromAvro`.

    Args:
        min_bundle_size: Counts for nothing, as the next two.
        desired_bundle_size: A file is read as a whole.
        use_fastavro: There is nothing else.
        with_filename: Whether elements are pairs of the name of the file and the record.
        label: A name for the transform.

    Source: Beam ``ReadAllFromAvro``.
    """

    def __init__(
        self,
        min_bundle_size: int = 0,
        desired_bundle_size: int = 0,
        use_fastavro: bool = True,
        with_filename: bool = False,
        label: str | None = "ReadAllFiles",
    ) -> None:
        super().__init__(label)
        source_of = partial(_Source, validate=False)
        self._read = ReadAllFiles(True, "auto", 0, 0, source_of, with_filename)

    def expand(self, given: PCollection[Any]) -> PCollection[Any]:
        return given | self._read


class _Sink(FileBasedSink):
    def __init__(self, path: Any, schema: Any, codec: str, **how: Any) -> None:
        avro = _fastavro("WriteToAvro")
        if schema is None:
            raise PipelineError(
                "WriteToAvro needs a schema here; write schema={'type': 'record', 'name': ..., "
                "'fields': [...]}"
            )
        try:
            avro.write.Writer(BytesIO(), avro.parse_schema(schema), codec)
        except (ValueError, avro.schema.SchemaParseException) as error:
            raise PipelineError(
                f"WriteToAvro cannot write {schema!r} with codec {codec!r}: {error}"
            ) from error
        super().__init__(path, None, **how)
        self._schema, self._codec = avro.parse_schema(schema), codec

    def open(self, temp_path: str) -> Any:
        return _Records(super().open(temp_path), self._schema, self._codec)

    def write_record(self, file_handle: Any, value: Any) -> None:
        file_handle.add(record_of(value, "WriteToAvro"))


class _Records:
    """An Avro file to write."""

    def __init__(self, file: Any, schema: Any, codec: str) -> None:
        self._file = file
        self._writer = _fastavro("WriteToAvro").write.Writer(file, schema, codec)

    def add(self, record: dict[str, Any]) -> None:
        """Write a record."""
        self._writer.write(record)

    def close(self) -> None:
        """Write the end."""
        self._writer.flush()
        self._file.close()


class WriteToAvro(Writes):
    """Elements that have fields as records of Avro files. The names of the files come out.

    Files are written as by `WriteToText`: all of them, or none.

    Args:
        file_path_prefix: How the names of the files begin.
        schema: Avro's schema of the records.
        codec: How blocks are compressed, as fastavro calls it: ``"null"``, ``"deflate"`` ...
        mime_type: Counts for nothing, as ``use_fastavro``. All else is as in `WriteToText`.

    Raises:
        PipelineError: There is no schema, or an argument cannot be used.
        EnvironmentProblem: fastavro is not installed.

    Source: Beam ``WriteToAvro``.
    """

    def __init__(
        self,
        file_path_prefix: Any,
        schema: Any = None,
        codec: str = "deflate",
        file_name_suffix: Any = "",
        num_shards: int = 0,
        shard_name_template: str | None = None,
        mime_type: str = "application/x-avro",
        use_fastavro: bool = True,
        triggering_frequency: float | None = None,
    ) -> None:
        super().__init__()
        self._sink = _Sink(
            file_path_prefix,
            schema,
            codec,
            file_name_suffix=file_name_suffix,
            num_shards=num_shards,
            shard_name_template=shard_name_template,
            triggering_frequency=triggering_frequency,
        )
