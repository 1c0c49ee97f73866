"""All readers of beamlike, as functions of bytes."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import attrs
import pyarrow as pa

from beamlike.errors import BeamlikeError
from beamlike.hosts.keys import key_bytes, told_key
from beamlike.hosts.script import Arrive
from beamlike.hosts.spark import pages
from beamlike.hosts.spark.blobs import pack_blob, unpack_blob
from beamlike.hosts.spark.columns import ListColumn
from beamlike.hosts.spark.graph.checkpoint import nodes_in
from beamlike.hosts.spark.index import Index, open_index
from beamlike.hosts.spark.pages import Contents
from beamlike.hosts.spark.plan import Part, Plan
from beamlike.hosts.spark.saved.choice import choose, windows_of
from beamlike.hosts.spark.saved.report import SavedState
from beamlike.hosts.spark.saved.shard import INDEX, SavedShard
from beamlike.hosts.spark.saved.stage import SavedStage
from beamlike.machine.events import AdvanceWatermark, Element
from beamlike.model.combine import Collect
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import duration_ms, instant_ms
from beamlike.model.trigger_text import trigger_of
from beamlike.model.triggers import AfterCount, AfterWatermark
from beamlike.model.windowfns import FixedWindows
from beamlike.testing.conformance import read_results
from beamlike.testing.in_shard import run_in_shard
from beamlike.testing.transcripts import Scenario, load_transcripts

__all__ = ["CORPUS", "READERS", "Reader", "Unexpected", "attempt"]

HERE: Final = Path(__file__).parent
CORPUS: Final = HERE / "corpus"
"""Inputs that were once answered badly, a folder for each reader."""
CASES: Final = HERE.parent / "conformance" / "cases"


class Unexpected(AssertionError):
    """A reader raised what is no `BeamlikeError`, or one without a word."""


@attrs.frozen
class Reader:
    """A function of bytes that may refuse them.

    Args:
        name: What it reads.
        read: Reads them.
        seeds: Makes a few that are well-formed.
        words: What is worth to be put in somewhere.
    """

    name: str
    read: Callable[[bytes], object]
    seeds: Callable[[], tuple[bytes, ...]]
    words: tuple[bytes, ...] = ()

    @property
    def kept(self) -> Iterator[Path]:
        """What is in the corpus for it."""
        folder = CORPUS / self.name
        return iter(sorted(folder.iterdir()) if folder.is_dir() else ())


def attempt(reader: Reader, data: bytes) -> bool:
    """Have it read these bytes; whether it took them.

    Raises:
        Unexpected: It neither took nor properly refused them.
    """
    try:
        reader.read(data)
    except BeamlikeError as refusal:
        if not str(refusal).strip():
            raise Unexpected(f"{reader.name} refused {data[:60]!r} without a word") from refusal
        return False
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
        raise Unexpected(f"{reader.name} answered with {problem[:200]}: {data[:60]!r}") from error
    return True


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _seeds(*texts: str) -> Callable[[], tuple[bytes, ...]]:
    return lambda: tuple(text.encode() for text in texts)


def _words(*texts: str) -> tuple[bytes, ...]:
    return tuple(text.encode() for text in texts)


# -- texts ---------------------------------------------------------------------------------------


def _duration(data: bytes) -> None:
    duration_ms(_text(data), "the duration")


def _instant(data: bytes) -> None:
    instant_ms(_text(data), "the instant")


def _trigger(data: bytes) -> None:
    told = trigger_of(_text(data))
    again = trigger_of(str(told))
    assert again == told, f"{told} is read as {again}"


# -- files ---------------------------------------------------------------------------------------


@cache
def _folder() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="beamlike-fuzz-")  # gone with the process


def _in_file(data: bytes, name: str) -> Path:
    path = Path(_folder().name) / name
    path.write_bytes(data)
    return path


def _scenario(data: bytes) -> None:
    for scenario in load_transcripts(_in_file(data, "scenario.json")):
        scenario.machine()


def _results(data: bytes) -> None:
    read_results(_in_file(data, "results.json"), _known())


@cache
def _known() -> Sequence[Scenario]:
    return load_transcripts(CASES / "blog" / "blog_session.json")


def _small_cases() -> tuple[bytes, ...]:
    files = sorted(CASES.rglob("*.json"), key=lambda it: (it.stat().st_size, it.name))
    return tuple(path.read_bytes() for path in files[:: max(1, len(files) // 12)][:8])


def _some_results() -> tuple[bytes, ...]:
    first, second, *_ = _known()
    pane = {
        "step": 5,
        "key": "joe",
        "value": ["open app"],
        "window": [0, 780_000],
        "timestamp_ms": 779_999,
        "timing": "ON_TIME",
        "index": 0,
        "nonspeculative_index": 0,
        "is_first": True,
        "is_last": True,
    }
    entries = (
        [{"id": first.id, "panes": [pane], "dropped": []}, {"id": second.id, "panes": []}],
        [{"id": first.id, "unsupported": "sessions"}, {"id": second.id, "error": "no idea"}],
    )
    return tuple(json.dumps({"scenarios": some}).encode() for some in entries)


def _nodes(data: bytes) -> None:
    nodes_in(_text(data).splitlines(), "/checkpoint")


# -- saved state ---------------------------------------------------------------------------------

_ARRIVE = Arrive((("ann", Element(1, 5)), ("bob", Element(2, 9_000)), ("ann", Element(3, 70_000))))
_STRATEGIES: Final = (
    (WindowingStrategy(FixedWindows(60_000)), "list"),
    (
        WindowingStrategy(
            Sessions(60_000),
            AfterWatermark(early=AfterCount(1)),
            "retracting",
            allowed_lateness=60_000,
        ),
        "sum",
    ),
)


@cache
def _plan() -> Plan:
    """The plan that the first of these shards belongs to."""
    part = Part("value", Collect(), 0, ListColumn(pa.int64()), pa.list_(pa.int64()))
    keys, values = {"key": pa.string()}, {"value": pa.int64()}
    return Plan(_STRATEGIES[0][0], keys, values, (part,), shards=1, buckets=1)


@cache
def _shards() -> tuple[Mapping[int, bytes], ...]:
    """Blobs of shards by their numbers, as a checkpoint has them."""
    found = []
    for strategy, aggregation in _STRATEGIES:
        _, store = run_in_shard(strategy, aggregation, [(_ARRIVE,), (AdvanceWatermark(100),)])
        assert store.index is not None
        found.append({INDEX: store.index, **store.buckets})
    return tuple(found)


def _joined(blobs: Mapping[int, bytes]) -> bytes:
    """The blobs of a shard as one, each after its number and its length."""
    parts = [
        number.to_bytes(2, "big", signed=True) + len(blob).to_bytes(4, "big") + blob
        for number, blob in blobs.items()
    ]
    return b"".join(parts)


def _taken_apart(data: bytes) -> dict[int, bytes]:
    blobs: dict[int, bytes] = {}
    while len(data) >= 6:
        number, length = int.from_bytes(data[:2], "big", signed=True), data[2:6]
        end = 6 + min(int.from_bytes(length, "big"), len(data))
        blobs[number], data = data[6:end], data[end:]
    return blobs


def _saved(data: bytes) -> None:
    """As ``beamlike state`` does: the shard, its windows, a line for each."""
    pages._MEMORY = pages._Memory()  # a changed blob may have the digest of what was read before
    blobs = _taken_apart(data)
    if INDEX not in blobs:
        return
    shard = SavedShard.of(0, 0, blobs)
    stage = SavedStage("a grouping", 0, (shard,))
    state = SavedState("/checkpoint", 0, (0, 0), (stage,), None)  # type: ignore[arg-type]
    state.shards_of(stage)
    for sort in ("oldest", "largest", "deadline"):
        for window in windows_of(state, choose(state, sort=sort)):  # type: ignore[arg-type]
            repr((window.window, window.trigger, window.key, window.holds))


def _index(data: bytes) -> None:
    """As a shard does at the beginning of a step."""
    Index.load(_plan(), data)


def _index_seeds() -> tuple[bytes, ...]:
    index = _shards()[0][INDEX]
    return index, pack_blob(*open_index(index))


def _rows(data: bytes) -> None:
    """Rows whose digest is right, and which need not be what beamlike writes."""
    blobs = dict(_shards()[1])
    table, header = open_index(blobs[INDEX])
    told = Contents.from_json(header["contents"])
    digest = blake2b(data, digest_size=16).hexdigest()
    header["contents"] = attrs.evolve(told, digests=(digest,)).to_json()
    (page,) = told.pages
    _saved(_joined({INDEX: pack_blob(table, header), page: data}))


def _row_seeds() -> tuple[bytes, ...]:
    # Without compression, behind which nothing would be reached.
    (page,) = (blob for number, blob in _shards()[1].items() if number != INDEX)
    return (pack_blob(*unpack_blob(page)),)


def _saved_seeds() -> tuple[bytes, ...]:
    """As they are, and as earlier versions left them: without a digest of the index."""
    before = [{**blobs, INDEX: pack_blob(*open_index(blobs[INDEX]))} for blobs in _shards()]
    return tuple(map(_joined, (*_shards(), *before)))


def _key_bytes(data: bytes) -> None:
    repr(told_key(data))


def _key_seeds() -> tuple[bytes, ...]:
    return tuple(map(key_bytes, ("ann", 7, None, True, 1.5, ("ann", (7, b"x")), -0.0)))


_JSON = _words('"', "{", "}", "[", "]", ":", ",", "null", "true", "1e999", "-1", "\\ud800", "\\")
_MARKS = _words("(", ")", ",", "=", "AfterCount(", "early=", "AlignTo(", "offset=", "1m 30s")

READERS: Final = (
    Reader(
        "durations",
        _duration,
        _seeds("10 minutes", "1h 30m", "500 ms", "00:10:00"),
        _words(":", " ", "9" * 30, "days", "ms", "\u0661", "-"),
    ),
    Reader(
        "instants",
        _instant,
        _seeds("2013-01-01T06:00:00Z", "00:01:30", "00:10:59.999", "2020-02-29T23:59:59+14:00"),
        _words("9999-12-31", "0001-01-01", "+23:59", "-00:00", "24:00", ".", "W", "\u0661"),
    ),
    Reader(
        "triggers",
        _trigger,
        _seeds(
            "AfterWatermark(early=AfterProcessingTime(1m 30s), late=AfterCount(2))",
            "Repeatedly(AfterFirst(AfterCount(3), AfterProcessingTime(AlignTo(1h, offset=5m))))",
            "OrFinally(Repeatedly(AfterCount(1)), until=AfterWatermark())",
            "DefaultTrigger()",
        ),
        _MARKS,
    ),
    Reader("scenarios", _scenario, _small_cases, _JSON),
    Reader("results", _results, _some_results, _JSON),
    Reader(
        "nodes",
        _nodes,
        _seeds(
            '{"number": 0, "label": "Create", "state": false}\n{"number": 1, "label": "Sum", '
            '"state": true}'
        ),
        _JSON,
    ),
    Reader("saved_state", _saved, _saved_seeds, (b"\xff\xff\xff\xff", b"\x00" * 8, *_JSON)),
    Reader("saved_rows", _rows, _row_seeds, (b"\xff\xff\xff\xff", b"\x00" * 8)),
    Reader("index", _index, _index_seeds, (b"\xff\xff\xff\xff", b"\x00" * 8, *_JSON)),
    Reader("keys", _key_bytes, _key_seeds, _JSON),
)
