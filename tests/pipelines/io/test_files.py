"""Files as elements, and collections written to files by destination."""

import gzip
import os
from pathlib import Path
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.beam.io import fileio
from beamlike.beam.io.filesystem import BeamIOError, CompressionTypes, FileMetadata
from beamlike.beam.io.filesystems import FileSystems
from beamlike.beam.testing.test_pipeline import TestPipeline
from beamlike.beam.testing.test_stream import TestStream
from beamlike.beam.testing.util import assert_that, equal_to
from beamlike.errors import BeamlikeError, EnvironmentProblem, PipelineError, UnsupportedError
from tests.support.pipelines.files import HOSTS, files_in, read_by, writing


@HOSTS
def test_files_are_found_and_read(
    host: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("one")
    (tmp_path / "b.gz").write_bytes(gzip.compress(b"two"))
    with TestPipeline(host, spark=read_by(host, request)) as p:
        found = p | fileio.MatchFiles(f"{tmp_path}/*")
        texts = found | fileio.ReadMatches() | beam.Map(lambda file: file.read_utf8())
        assert_that(texts, equal_to(["one", "two"]), label="Files")
        names = p | beam.Create([f"{tmp_path}/a*", f"{tmp_path}/none"])
        sizes = names | fileio.MatchAll() | "Size" >> beam.Map(lambda it: it.size_in_bytes)
        assert_that(sizes, equal_to([3]), label="All")


def test_names_of_folders_are_left_out_or_refused() -> None:
    def read(**how: Any) -> list[Any]:
        with TestPipeline() as p:
            names = p | beam.Create(["folder/", "file"])
            files = names | fileio.ReadMatches(**how) | beam.Map(lambda it: it.metadata.path)
        return [it.element.value for it in p.result.out_of(files.edge)]

    assert read() == ["file"]
    with pytest.raises(BeamlikeError, match="Directories are not allowed in ReadMatches"):
        read(skip_directories=False)


@pytest.mark.parametrize(
    ("pattern", "treatment", "fails"),
    [
        ("none", None, True),
        ("none*", None, False),
        ("none*", fileio.EmptyMatchTreatment.DISALLOW, True),
        ("none", fileio.EmptyMatchTreatment.ALLOW, False),
    ],
)
def test_a_pattern_without_files(
    pattern: str, treatment: str | None, fails: bool, tmp_path: Path
) -> None:
    how = {} if treatment is None else {"empty_match_treatment": treatment}
    p = beam.Pipeline()
    found = p | fileio.MatchFiles(f"{tmp_path}/{pattern}", **how)
    if fails:
        with pytest.raises(OSError, match=f"Empty match for pattern {tmp_path}/none"):
            p.run()
    else:
        assert p.run().out_of(found.edge) == ()


class Csv(fileio.FileSink):
    def __init__(self, head: str) -> None:
        self._head = head

    def open(self, fh: Any) -> None:
        self._file = fh
        fh.write(f"{self._head}\n".encode())

    def write(self, record: Any) -> None:
        self._file.write(f"{record[1]}\n".encode())

    def flush(self) -> None:
        self._file.flush()


@HOSTS
def test_each_destination_has_files_of_its_own(
    host: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    with writing(host, request) as p:
        _ = (
            p
            | beam.Create([("red", 1), ("blue", 2), ("red", 3)])
            | fileio.WriteToFiles(
                f"{tmp_path}/teams",
                destination=lambda pair: pair[0],
                sink=lambda team: Csv(team),
                file_naming=fileio.destination_prefix_naming(".csv"),
            )
        )
    assert {name: sorted(text.split()) for name, text in files_in(tmp_path).items()} == {
        "teams/red-00000-of-00001.csv": ["1", "3", "red"],
        "teams/blue-00000-of-00001.csv": ["2", "blue"],
    }


@pytest.mark.parametrize("host", ["memory", "local"])
def test_what_was_written_comes_out(host: str, tmp_path: Path) -> None:
    with TestPipeline(host) as p:
        naming = fileio.destination_prefix_naming()
        made = p | beam.Create(["a", "bb"])
        written = made | fileio.WriteToFiles(str(tmp_path), naming, destination=len)
        results = written | beam.Map(
            lambda it: (it.file_name, it.destination, it.shard_index, it.total_shards)
        )
        expected = [("1-00000-of-00001", 1, 0, 1), ("2-00000-of-00001", 2, 0, 1)]
        assert_that(results, equal_to(expected))


def test_a_sink_is_copied_for_each_file(tmp_path: Path) -> None:
    with TestPipeline() as p:
        _ = (
            p
            | beam.Create([("a", 1), ("b", 2)])
            | fileio.WriteToFiles(
                str(tmp_path),
                destination=lambda pair: pair[0],
                sink=Csv("head"),
                file_naming=fileio.destination_prefix_naming(),
            )
        )
    assert files_in(tmp_path) == {
        "a-00000-of-00001": "head\n1\n",
        "b-00000-of-00001": "head\n2\n",
    }


def test_so_many_shards_as_are_wanted(tmp_path: Path) -> None:
    with TestPipeline() as p:
        _ = (
            p
            | beam.Create(["a", "b", "c"])
            | fileio.WriteToFiles(
                str(tmp_path), shards=2, max_writers_per_bundle=0, sink=fileio.TextSink()
            )
        )
    assert files_in(tmp_path) == {
        "output-00000-of-00002": "a\nc\n",
        "output-00001-of-00002": "b\n",
    }


@HOSTS
def test_a_stream_has_a_file_for_each_window(
    host: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    stream = (
        TestStream()
        .add_elements(["a", "b"], event_timestamp=1)
        .advance_watermark_to(10)
        .add_elements(["c"], event_timestamp=11)
        .add_elements(["late"], event_timestamp=3)
    )
    with TestPipeline(host, spark=read_by(host, request)) as p:
        windowed = (
            p
            | stream
            | beam.WindowInto(
                beam.window.FixedWindows(10),
                trigger=beam.AfterWatermark(late=beam.AfterCount(1)),
                accumulation_mode=beam.AccumulationMode.DISCARDING,
                allowed_lateness=60,
            )
        )
        _ = windowed | fileio.WriteToFiles(
            str(tmp_path), file_naming=fileio.default_file_naming("out", ".txt")
        )
    first, second = (
        f"out-1970-01-01T00:00:{start}-1970-01-01T00:00:{end}"
        for start, end in (
            ("00", "10"),
            ("10", "20"),
        )
    )
    assert files_in(tmp_path) == {
        f"{first}-00000-of-00001.txt": "a\nb\n",
        f"{first}-pane-1-00000-of-00001.txt": "late\n",
        f"{second}-00000-of-00001.txt": "c\n",
    }


@HOSTS
def test_a_sink_that_fails_leaves_nothing_of_its_destination(
    host: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    class Failing(fileio.TextSink):
        def write(self, record: Any) -> None:
            if record == "bad":
                raise ValueError("no words for it")
            super().write(record)

    p = beam.Pipeline()
    _ = (
        p
        | beam.Create(["good", "bad"])
        | fileio.WriteToFiles(str(tmp_path), sink=lambda _: Failing())
    )
    with pytest.raises(BeamlikeError, match="no words for it"):
        p.run(host, spark=read_by(host, request))
    assert [*tmp_path.iterdir()] == []


def test_names_of_one_file(tmp_path: Path) -> None:
    name = fileio.single_file_naming("all", ".txt")
    assert name(beam.window.GlobalWindow(), None, 0, 1, "", None) == "all.txt"
    assert fileio.prefix_naming("x")(None, None, 1, 2, "gz", None) == "x-00001-of-00002.gz"
    with pytest.raises(PipelineError, match="single_file_naming names one file, and there are 2"):
        name(None, None, 0, 2, "", None)


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (
            lambda: fileio.WriteToFiles("out", shards=0),
            "shards must be a whole number of 1 or more, got 0",
        ),
        (
            lambda: fileio.WriteToFiles("out", sink=3),
            "WriteToFiles sink must be a FileSink or a function of the destination, got 3; write "
            "sink=TextSink()",
        ),
        (
            lambda: fileio.WriteToFiles(None),
            "path must be a string or a ValueProvider, got None; write the path as text",
        ),
        (
            lambda: fileio.EmptyMatchTreatment.allow_empty_match("a", "SOMETIMES"),
            "empty_match_treatment must be one of ALLOW, DISALLOW, ALLOW_IF_WILDCARD, got "
            "'SOMETIMES'",
        ),
    ],
)
def test_what_cannot_be_used_is_refused(make: Any, problem: str) -> None:
    with pytest.raises(PipelineError) as raised:
        make()
    assert str(raised.value) == problem


def paths(pattern: str) -> list[str]:
    return [it.path for it in FileSystems.match([pattern])[0].metadata_list]


@pytest.mark.parametrize("scheme", ["", "file://", "memory://"])
def test_a_system_of_files(scheme: str, tmp_path: Path) -> None:
    base = f"{scheme}{tmp_path}" if scheme != "memory://" else f"memory://{tmp_path.name}"
    one = FileSystems.join(base, "one", "a.txt")
    with FileSystems.create(one) as file:
        file.write(b"hello")
    FileSystems.copy([one], [f"{base}/one/b.txt"])
    FileSystems.rename([f"{base}/one/b.txt"], [f"{base}/two/c.txt"])
    plain = base.removeprefix("file://")
    assert paths(f"{base}/**.txt") == [f"{plain}/one/a.txt", f"{plain}/two/c.txt"]
    assert paths(f"{base}/*.txt") == []
    assert paths(f"{base}/[!o]*/?.txt") == [f"{plain}/two/c.txt"]
    assert FileSystems.match([f"{base}/**"], limits=[1])[0].metadata_list[0].size_in_bytes == 5
    assert (FileSystems.checksum(one), FileSystems.last_updated(one) > 0) == ("5", True)
    assert FileSystems.split(one) == (f"{plain}/one", "a.txt")
    with FileSystems.open(one) as file:
        assert file.read() == b"hello"
    FileSystems.delete([one, f"{base}/two"])
    assert (FileSystems.exists(one), paths(f"{base}/**.txt")) == (False, [])


def test_a_pattern_reads_no_deeper_folders_than_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.txt", "one/b.txt", "one/two/c.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "gone.txt").symlink_to(tmp_path / "nothing")
    seen: list[str] = []
    stat = os.stat

    def noted(path: Any, *how: Any, **more: Any) -> Any:
        seen.append(os.path.basename(path))
        return stat(path, *how, **more)

    monkeypatch.setattr(os, "stat", noted)
    assert paths(f"{tmp_path}/*.txt") == [f"{tmp_path}/a.txt"]
    assert "b.txt" not in seen
    assert paths(f"{tmp_path}/*/*.txt") == [f"{tmp_path}/one/b.txt"]
    assert "c.txt" not in seen
    assert len(paths(f"{tmp_path}/**")) == 3


def test_text_in_memory_by_fsspec() -> None:
    with TestPipeline() as p:
        _ = p | beam.Create(["a"]) | beam.io.WriteToText("memory://words/out", ".txt.gz")
    with TestPipeline() as p:
        assert_that(p | beam.io.ReadFromText("memory://words/out*"), equal_to(["a"]))


def test_files_that_are_not_there() -> None:
    with pytest.raises(BeamIOError, match="Delete operation failed with exceptions") as raised:
        FileSystems.delete(["/nowhere/a", "/nowhere/b"])
    assert sorted(raised.value.exception_details) == ["/nowhere/a", "/nowhere/b"]
    with pytest.raises(BeamIOError, match="there is no file '/nowhere/a'"):
        FileSystems.checksum("/nowhere/a")


def test_schemes_that_need_more(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnsupportedError, match='nothing here reads paths that begin with "nope://'):
        FileSystems.exists("nope://a")
    monkeypatch.setitem(__import__("sys").modules, "fsspec", None)
    with pytest.raises(EnvironmentProblem) as raised:
        FileSystems.exists("hdfs://a")
    assert str(raised.value) == (
        'a path that begins with "hdfs://" needs fsspec, which is not installed; run: pip install '
        '"beamlike[io]"'
    )


def test_the_kinds_of_compression() -> None:
    detect = CompressionTypes.detect_compression_type
    assert [detect(name) for name in ("a.GZ", "a.bz2", "a.lzma", "a.gz.txt")] == [
        CompressionTypes.GZIP,
        CompressionTypes.BZIP2,
        CompressionTypes.LZMA,
        CompressionTypes.UNCOMPRESSED,
    ]
    assert CompressionTypes.mime_type(CompressionTypes.GZIP) == "application/x-gzip"
    assert FileMetadata("a", 1) == FileMetadata("a", 1, 0.0)
