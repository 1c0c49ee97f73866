"""CSV and JSON files in and out of pipelines, by pandas.

Source: Beam Python ``io.textio``.
"""

from collections.abc import Iterator
from typing import Any

from beamlike.api.pipelines.io.file_names import FileNaming, default_file_naming
from beamlike.api.pipelines.io.file_systems import FileMetadata
from beamlike.api.pipelines.io.file_writing import FileSink, WriteToFiles
from beamlike.api.pipelines.io.fileio import EmptyMatchTreatment, MatchFiles
from beamlike.api.pipelines.io.filesystems import FileSystems
from beamlike.api.pipelines.io.records_of_rows import record_of
from beamlike.api.pipelines.pardo import ParDo
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.python.functions import DoFn
from beamlike.api.pipelines.rows import Row
from beamlike.api.pipelines.transform import PTransform
from beamlike.extras import missing

__all__ = ["ReadFromCsv", "ReadFromJson", "WriteToCsv", "WriteToJson"]


def _pandas(what: str) -> Any:
    try:
        import pandas
    except ImportError as error:
        raise missing(what, ["pandas"], "io") from error
    return pandas


class _Read(PTransform[Any, PCollection[Row]]):
    """Rows of files, by a function of pandas."""

    def __init__(self, reader: str, path: str, how: dict[str, Any], named: str | None) -> None:
        super().__init__()
        _pandas(self.default_label())
        self._path, self._reading = path, _Reading(reader, how, named, self.default_label())

    def expand(self, given: Any) -> PCollection[Row]:
        found = given | MatchFiles(self._path, EmptyMatchTreatment.DISALLOW)
        made: PCollection[Row] = found | "ReadRows" >> ParDo(self._reading)
        return made


class _Reading(DoFn[FileMetadata, Row]):
    def __init__(self, reader: str, how: dict[str, Any], named: str | None, owner: str) -> None:
        self._reader, self._how, self._named, self._owner = reader, how, named, owner

    def process(self, element: FileMetadata) -> Iterator[Row]:
        with FileSystems.open(element.path) as file:
            frame = getattr(_pandas(self._owner), self._reader)(file, **self._how)
        if self._named is not None:
            frame[self._named] = element.path
        names = [str(name) for name in frame.columns]
        for values in zip(*(_values(column) for _, column in frame.items()), strict=True):
            yield Row(**dict(zip(names, values, strict=True)))


def _values(column: Any) -> Iterator[Any]:
    """The values of a column of pandas. A text that is missing is None, as Beam has it."""
    if column.dtype.kind != "O":  # a number that is missing is NaN, as in pandas
        yield from column
        return
    for value, gone in zip(column, column.isna(), strict=True):
        yield None if gone else value


class ReadFromCsv(_Read):
    """The rows of CSV files, each as a `Row`.

    Args:
        path: A path, which may have ``*``, ``?`` and ``[...]`` in it.
        splittable: Counts for nothing: a file is read as a whole.
        filename_column: The name of a column for the name of the file; None: there is none.
        how: As ``pandas.read_csv`` takes it.

    Raises:
        BeamIOError: When it runs: there are no such files.
        EnvironmentProblem: pandas is not installed.

    Source: Beam ``ReadFromCsv``.
    """

    def __init__(
        self,
        path: str,
        *,
        splittable: bool = True,
        filename_column: str | None = None,
        **how: Any,
    ) -> None:
        super().__init__("read_csv", path, how, filename_column)


class ReadFromJson(_Read):
    """The objects of JSON files, each as a `Row`.

    Args:
        path: A path, which may have ``*``, ``?`` and ``[...]`` in it.
        orient: How the objects are laid out, as pandas calls it.
        lines: Whether each line is an object; else a file is one list of them.
        dtype: Whether types are inferred, or the types of columns.
        how: As ``pandas.read_json`` takes it.

    Raises:
        BeamIOError: When it runs: there are no such files.
        EnvironmentProblem: pandas is not installed.

    Source: Beam ``ReadFromJson``.
    """

    def __init__(
        self,
        path: str,
        *,
        orient: str = "records",
        lines: bool = True,
        dtype: Any = False,
        **how: Any,
    ) -> None:
        how |= {"orient": orient, "lines": lines, "dtype": dtype}
        super().__init__("read_json", path, how, None)


class _Write(PTransform[PCollection[Any], PCollection[Any]]):
    """Rows into files, by a method of pandas' DataFrame."""

    def __init__(
        self,
        writer: str,
        path: str,
        num_shards: int | None,
        file_naming: FileNaming | None,
        how: dict[str, Any],
    ) -> None:
        super().__init__()
        _pandas(self.default_label())
        self._path, self._shards, self._naming = path, num_shards, file_naming
        self._writer, self._how = writer, how

    def expand(self, given: PCollection[Any]) -> Any:
        folder, name = FileSystems.split(self._path)
        writer, how, owner = self._writer, self._how, self.default_label()
        return given | WriteToFiles(
            folder or ".",
            file_naming=self._naming or default_file_naming(name),
            sink=lambda _destination: _TableSink(writer, how, owner),
            shards=self._shards,
            max_writers_per_bundle=20 if self._shards is None else 0,
        )


class _TableSink(FileSink):
    """All rows of a file, written as one table."""

    def __init__(self, writer: str, how: dict[str, Any], owner: str) -> None:
        self._writer, self._how, self._owner = writer, how, owner

    def open(self, fh: Any) -> None:
        self._file, self._rows = fh, list[dict[str, Any]]()

    def write(self, record: Any) -> None:
        self._rows.append(record_of(record, self._owner))

    def flush(self) -> None:
        frame = _pandas(self._owner).DataFrame(self._rows)
        text: str = getattr(frame, self._writer)(**self._how)
        self._file.write(text.encode("utf-8"))


class WriteToCsv(_Write):
    """Elements that have fields as rows of CSV files. A `FileResult` for each file comes out.

    Args:
        path: How the names of the files begin.
        num_shards: How many files there are; None: one.
        file_naming: Their names, see `default_file_naming`; None: ``path-00000-of-00001``.
        how: As ``pandas.DataFrame.to_csv`` takes it.

    Raises:
        EnvironmentProblem: pandas is not installed.
        PipelineError: When it runs: an element has no fields.

    Source: Beam ``WriteToCsv``.
    """

    def __init__(
        self,
        path: str,
        num_shards: int | None = None,
        file_naming: FileNaming | None = None,
        **how: Any,
    ) -> None:
        super().__init__("to_csv", path, num_shards, file_naming, {"index": False, **how})


class WriteToJson(_Write):
    """Elements that have fields as objects of JSON files. A `FileResult` for each file comes out.

    Args:
        path: As in `WriteToCsv`, with ``num_shards`` and ``file_naming``.
        orient: How the objects are laid out, as pandas calls it.
        lines: Whether each line is an object; None: if ``orient`` is ``"records"``.
        how: As ``pandas.DataFrame.to_json`` takes it.

    Raises:
        EnvironmentProblem: pandas is not installed.
        PipelineError: When it runs: an element has no fields.

    Source: Beam ``WriteToJson``.
    """

    def __init__(
        self,
        path: str,
        *,
        num_shards: int | None = None,
        file_naming: FileNaming | None = None,
        orient: str = "records",
        lines: bool | None = None,
        **how: Any,
    ) -> None:
        how |= {"orient": orient, "lines": orient == "records" if lines is None else lines}
        super().__init__("to_json", path, num_shards, file_naming, how)
