"""Text files in and out of pipelines: what is read, what is written, and under which names."""

import bz2
import gzip
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.beam.io import ReadAllFromText, ReadFromText, ReadFromTextWithFilename, WriteToText
from beamlike.beam.testing.test_pipeline import TestPipeline
from beamlike.beam.testing.test_stream import TestStream
from beamlike.beam.testing.util import assert_that, equal_to
from beamlike.errors import BeamlikeError, PipelineError
from tests.support.pipelines.files import HOSTS, files_in, writing


@HOSTS
def test_lines_of_files_that_end_as_they_may(host: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\r\ntwo\n\nthree")
    (tmp_path / "b.txt").write_bytes(b"four\n")
    (tmp_path / "c.csv").write_bytes(b"five\n")
    with TestPipeline(host) as p:
        assert_that(
            p | ReadFromText(f"{tmp_path}/*.txt"), equal_to(["one", "two", "", "three", "four"])
        )


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("words.gz", gzip.compress),
        ("words.BZ2", bz2.compress),
        ("words.txt", bytes),
        ("words.xz", __import__("lzma").compress),
        ("words.zst", __import__("zstandard").compress),
    ],
)
def test_a_compressed_file_is_read_and_written_as_its_name_says(
    name: str, pack: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(pack(b"head\na\nb\n"))
    with TestPipeline() as p:
        lines = p | ReadFromText(str(tmp_path / name), skip_header_lines=1)
        assert_that(lines, equal_to(["a", "b"]))
        _ = lines | WriteToText(str(tmp_path / "out"), f"-{name}", header="head")
    written = tmp_path / f"out-00000-of-00001-{name}"
    with TestPipeline() as p:
        assert_that(p | ReadFromText(str(written)), equal_to(["head", "a", "b"]))
    assert (written.read_bytes() == b"head\na\nb\n") == (name == "words.txt")


@pytest.mark.parametrize(
    ("content", "how", "expected"),
    [
        (b"a\nb", {"strip_trailing_newlines": False}, ["a\n", "b"]),
        (b"a\nb\n", {"coder": beam.coders.BytesCoder()}, [b"a", b"b"]),
        (b"", {}, []),
        (b"\n", {}, [""]),
        (b"h1\nh2\n", {"skip_header_lines": 5}, []),
    ],
)
def test_records_are_cut_as_the_arguments_say(
    content: bytes, how: dict[str, Any], expected: list[Any], tmp_path: Path
) -> None:
    (tmp_path / "in").write_bytes(content)
    with TestPipeline() as p:
        assert_that(p | ReadFromText(str(tmp_path / "in"), **how), equal_to(expected))


@HOSTS
def test_files_that_a_collection_names(host: Any, tmp_path: Path):
    for name in ("a", "b"):
        (tmp_path / name).write_text(f"head\n{name}1\n")
    with TestPipeline(host) as p:
        names = p | beam.Create([f"{tmp_path}/a", f"{tmp_path}/*", f"{tmp_path}/none*"])
        read = names | ReadAllFromText(skip_header_lines=1, with_filename=True)
        found = [(f"{tmp_path}/a", "a1"), (f"{tmp_path}/b", "b1")]
        assert_that(read, equal_to([found[0], *found]))
    with TestPipeline(host) as p:
        assert_that(
            p | ReadFromTextWithFilename(f"{tmp_path}/*", skip_header_lines=1), equal_to(found)
        )


@HOSTS
@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({}, {"out-00000-of-00001": "1\n2\n3\n4\n5\n"}),
        (
            {"num_shards": 2, "file_name_suffix": ".txt", "header": "h", "footer": "f"},
            {"out-00000-of-00002.txt": "h\n1\n3\n5\nf\n", "out-00001-of-00002.txt": "h\n2\n4\nf\n"},
        ),
        ({"shard_name_template": ""}, {"out": "1\n2\n3\n4\n5\n"}),
        ({"append_trailing_newlines": False}, {"out-00000-of-00001": "12345"}),
    ],
    ids=["as it is", "two shards", "no template", "no newlines"],
)
def test_shards_and_their_names(
    host: Any,
    how: dict[str, Any],
    expected: dict[str, str],
    tmp_path: Path,
) -> None:
    with writing(host) as p:
        _ = p | beam.Create([1, 2, 3, 4, 5]) | WriteToText(f"{tmp_path}/out", **how)
    assert files_in(tmp_path) == expected


@pytest.mark.parametrize("host", ["memory", "local"])
def test_the_names_of_the_files_come_out(host: Any, tmp_path: Path) -> None:
    with TestPipeline(host) as p:
        names = p | beam.Create([1, 2, 3]) | WriteToText(f"{tmp_path}/out", num_shards=2)
        assert_that(names, equal_to([f"{tmp_path}/out-0000{at}-of-00002" for at in (0, 1)]))


@HOSTS
def test_nothing_is_an_empty_file_if_nothing_else_is_said(host: Any, tmp_path: Path) -> None:
    with writing(host) as p:
        nothing = p | beam.Create([])
        _ = nothing | "Default" >> WriteToText(f"{tmp_path}/one", header="h")
        _ = nothing | "Shards" >> WriteToText(f"{tmp_path}/two", num_shards=2)
    assert files_in(tmp_path) == {
        "one-00000-of-00001": "h\n",
        "two-00000-of-00002": "",
        "two-00001-of-00002": "",
    }


def test_older_shards_of_the_same_names_go_and_other_files_stay(tmp_path: Path) -> None:
    for name in ("out-00000-of-00001", "out-00001-of-00002", "out-x-of-00001", "outer"):
        (tmp_path / name).write_text("old")
    with TestPipeline() as p:
        _ = p | beam.Create(["new"]) | WriteToText(f"{tmp_path}/out")
    assert files_in(tmp_path) == {
        "out-00000-of-00001": "new\n",
        "out-00001-of-00002": "old",
        "out-x-of-00001": "old",
        "outer": "old",
    }


@HOSTS
def test_elements_in_windows_that_end_are_written_together(host: Any, tmp_path: Path) -> None:
    timed = [beam.TimestampedValue(f"at {at}", at) for at in (1, 11, 2)]
    with writing(host) as p:
        windowed = p | beam.Create(timed) | beam.WindowInto(beam.window.FixedWindows(10))
        _ = windowed | WriteToText(f"{tmp_path}/out")
    assert {name: sorted(text.split("\n")) for name, text in files_in(tmp_path).items()} == {
        "out-00000-of-00001": ["", "at 1", "at 11", "at 2"]
    }


def a_stream() -> TestStream:
    return (
        TestStream()
        .add_elements(["a", "b", "c"], event_timestamp=1)
        .advance_watermark_to(12)
        .add_elements(["d"], event_timestamp=14)
        .add_elements(["late"], event_timestamp=2)
    )


@HOSTS
def test_a_stream_is_written_by_windows(host: Any, tmp_path: Path):
    with TestPipeline(host) as p:
        windowed = p | a_stream() | beam.WindowInto(beam.window.FixedWindows(10))
        names = windowed | WriteToText(f"{tmp_path}/out", num_shards=2)
        _ = names | "Names" >> beam.Map(str)
    assert files_in(tmp_path) == {
        "out-[0.0, 10.0)-00000-of-00002": "a\nc\n",
        "out-[0.0, 10.0)-00001-of-00002": "b\n",
        "out-[10.0, 20.0)-00000-of-00002": "d\n",
        "out-[10.0, 20.0)-00001-of-00002": "",
    }


@HOSTS
@pytest.mark.parametrize(
    ("mode", "later"),
    [
        (beam.AccumulationMode.DISCARDING, "late\n"),
        (beam.AccumulationMode.ACCUMULATING, "a\nb\nc\nlate\n"),
    ],
)
def test_a_later_pane_of_a_window_does_not_replace_what_was_written(
    host: Any, mode: Any, later: str, tmp_path: Path
) -> None:
    with TestPipeline(host) as p:
        windowed = (
            p
            | a_stream()
            | beam.WindowInto(
                beam.window.FixedWindows(10),
                trigger=beam.AfterWatermark(late=beam.AfterCount(1)),
                accumulation_mode=mode,
                allowed_lateness=60,
            )
        )
        _ = windowed | WriteToText(f"{tmp_path}/out")
    assert files_in(tmp_path) == {
        "out-[0.0, 10.0)-00000-of-00001": "a\nb\nc\n",
        "out-[0.0, 10.0)-00000-of-00001-pane-1": later,
        "out-[10.0, 20.0)-00000-of-00001": "d\n",
    }


def test_a_stream_without_windows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PipelineError) as refused:
        beam.Pipeline() | a_stream() | WriteToText(f"{tmp_path}/out")
    assert str(refused.value) == (
        "To write a GlobalWindow unbounded PCollection, put it into windows with WindowInto(...) "
        "before: each pane becomes files of its own"
    )


@HOSTS
def test_a_write_that_fails_half_way_leaves_nothing_and_what_was_there_stays(
    host: Any, tmp_path: Path
) -> None:
    class Bad(beam.coders.Coder):
        def encode(self, value: Any) -> bytes:
            if value == 3:
                raise ValueError("no bytes for 3")
            return str(value).encode()

        def decode(self, encoded: bytes) -> Any:
            return int(encoded)

    (tmp_path / "out-00000-of-00002").write_text("old")
    p = beam.Pipeline()
    _ = p | beam.Create([1, 2, 3, 4]) | WriteToText(f"{tmp_path}/out", num_shards=2, coder=Bad())
    with pytest.raises(BeamlikeError, match="no bytes for 3"):
        p.run(host)
    assert files_in(tmp_path) == {"out-00000-of-00002": "old"}


@HOSTS
def test_a_failure_elsewhere_leaves_no_part_of_a_file(host: Any, tmp_path: Path) -> None:
    def fail(_element: Any) -> None:
        raise RuntimeError("not today")

    p = beam.Pipeline()
    names = p | beam.Create([1, 2]) | WriteToText(f"{tmp_path}/out")
    _ = names | beam.Map(fail)
    with pytest.raises(BeamlikeError, match="not today"):
        p.run(host)
    # The files were complete before it failed.
    assert set(files_in(tmp_path)) <= {"out-00000-of-00001"}
    assert [path for path in tmp_path.iterdir() if path.is_dir()] == []


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (
            lambda path: ReadFromText(f"{path}/none*.txt"),
            "No files found based on the file pattern {path}/none*.txt; write another, or "
            "validate=False if they come later",
        ),
        (
            lambda path: ReadFromText(3),
            "ReadFromText file_pattern must be a string, got 3; write the path as text",
        ),
        (
            lambda path: ReadFromText(path, skip_header_lines=-1, validate=False),
            "skip_header_lines must be a whole number of 0 or more, got -1",
        ),
        (
            lambda path: WriteToText(path, num_shards=-1),
            "num_shards must be a whole number of 0 or more, got -1",
        ),
        (
            lambda path: WriteToText(path, compression_type="zip"),
            "compression_type must be one of CompressionTypes, got 'zip'; write "
            'CompressionTypes.GZIP, or leave it out: a name that ends with ".gz" says so',
        ),
    ],
)
def test_what_cannot_be_used_is_refused_when_it_is_made(
    make: Callable[[str], Any], problem: str, tmp_path: Path
) -> None:
    with pytest.raises(PipelineError) as raised:
        make(str(tmp_path))
    assert str(raised.value) == problem.replace("{path}", str(tmp_path))


@HOSTS
def test_a_file_that_is_gone_when_the_pipeline_runs(host: Any, tmp_path: Path) -> None:
    (tmp_path / "in.gz").write_bytes(b"not gzip")
    p = beam.Pipeline()
    _ = p | ReadFromText(str(tmp_path / "in.gz")) | WriteToText(f"{tmp_path}/out")
    with pytest.raises(BeamlikeError, match="Not a gzipped file"):
        p.run(host)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.gz"]


def names_of(folder: Path) -> Sequence[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_same_pipeline_writes_again(tmp_path: Path) -> None:
    p = beam.Pipeline()
    _ = p | beam.Create(["a"]) | WriteToText(f"{tmp_path}/out")
    p.run("memory")
    p.run("local")
    assert names_of(tmp_path) == ["out-00000-of-00001"]
