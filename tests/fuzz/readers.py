"""All readers of beamlike, as functions of bytes."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import attrs
import pyarrow as pa

import beamlike as bl
from beamlike.cli.state_json import document
from beamlike.cli.state_text import listing
from beamlike.errors import BeamlikeError, StateError, TranscriptError
from beamlike.hosts.spark.drain import Log
from beamlike.hosts.spark.graph.checkpoint import nodes_in
from beamlike.inspect.state.choice import choose
from beamlike.inspect.state.keys import key_texts
from beamlike.inspect.state.report import SavedState
from beamlike.inspect.state.shard import SavedShard
from beamlike.inspect.state.stage import SavedStage
from beamlike.machine.events import AdvanceWatermark, Element
from beamlike.model.combine import Collect
from beamlike.model.texts import trigger_of
from beamlike.model.time import duration_ms, instant_ms
from beamlike.runtime.accumulator_columns import ListColumn
from beamlike.runtime.graph.keys import key_bytes
from beamlike.runtime.plan import Part, Plan
from beamlike.runtime.script import Arrive
from beamlike.runtime.store import pages
from beamlike.runtime.store.blobs import pack_blob, unpack_blob
from beamlike.runtime.store.index import Index, open_index
from beamlike.runtime.store.pages import PageContents
from beamlike.runtime.store.stores import INDEX, DictStore
from beamlike.testing.scenarios.files import Scenario, load_transcripts
from tests.conformance.beamlike_conformance.schema import FormatError, read_json
from tests.conformance.beamlike_conformance.verdicts import read_results
from tests.support.corpus import scenarios_of
from tests.support.machines.in_shard import run_in_shard

HERE: Final = Path(__file__).parent
CORPUS: Final = HERE / "corpus"
"""Inputs that were once answered badly, a folder for each reader."""
CASES: Final = HERE.parent / "conformance" / "cases"


class Unexpected(AssertionError):
    """A reader raised what is no `BeamlikeError`, or one without a word."""


@attrs.frozen
class Reader:
    """A function of bytes that may refuse them."""

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
    """Have it read these bytes; whether it took them."""
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
    shown = trigger_of(_text(data))
    again = trigger_of(str(shown))
    assert again == shown, f"{shown} is read as {again}"


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
    try:
        read_results(read_json(data.decode("utf-8-sig"), "results.json"), "results.json")
    except (FormatError, UnicodeDecodeError) as error:
        raise TranscriptError(str(error)) from None


@cache
def _known() -> Sequence[Scenario]:
    return scenarios_of(CASES / "blog" / "blog_session.json")


def _small_cases() -> tuple[bytes, ...]:
    files = sorted(CASES.rglob("*.json"), key=lambda path: (path.stat().st_size, path.name))
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
    return tuple(json.dumps({"scenarios": entry}).encode() for entry in entries)


def _nodes(data: bytes) -> None:
    nodes_in(_text(data).splitlines(), "/checkpoint")


def _offsets(data: bytes) -> None:
    """The last micro-batch that Spark has noted, as ``beamlike drain`` reads it."""
    home = Path(_folder().name) / "drained"
    for folder in ("offsets", "commits"):
        (home / folder).mkdir(parents=True, exist_ok=True)
        (home / folder / "7").write_bytes(data)
    Log.read(str(home)).is_drained  # noqa: B018


# -- saved state ---------------------------------------------------------------------------------

_ARRIVE = Arrive((("ann", Element(1, 5)), ("bob", Element(2, 9_000)), ("ann", Element(3, 70_000))))
_STRATEGIES: Final = (
    (bl.WindowingStrategy(bl.FixedWindows(60_000)), "list"),
    (
        bl.WindowingStrategy(
            bl.Sessions(60_000),
            bl.AfterWatermark(early=bl.AfterCount(1)),
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
        found.append({INDEX: store.index, **store.blobs})
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
    blobs = _taken_apart(data)
    if INDEX in blobs:
        _shown(blobs)


def _shown(blobs: Mapping[int, bytes], *, in_pipeline: bool = False) -> None:
    """As ``beamlike state`` does: the shard, its windows, all of them in lines and as JSON."""
    pages._MEMORY = (
        pages.rows_memory()
    )  # a changed blob may have the digest of what was read before
    shard = SavedShard.of(0, 0, blobs)
    stage = SavedStage("a grouping", 0, (shard,), in_pipeline)
    state = SavedState("/checkpoint", 0, (0, 0), (stage,), None)  # type: ignore[arg-type]
    for sort in ("oldest", "largest", "deadline"):
        places = choose(state, sort=sort)  # type: ignore[arg-type]
        for in_full in (False, True):
            lines = listing(
                state, (), places, of=len(places), sort=sort, in_full=in_full, unpickle=False
            )
            odd = [line for line in lines if not line.isprintable()]
            assert not odd, f"a terminal is sent {odd[0]!r}"
    json.loads("".join(document(state, (), places, None, unpickle=False)))


@cache
def _some_state() -> SavedState:
    stage = SavedStage("a grouping", 0, (SavedShard.of(0, 0, _shards()[1]),))
    return SavedState("/checkpoint", 0, (0, 0), (stage,), None)  # type: ignore[arg-type]


def _typed_key(data: bytes) -> None:
    """As ``--key`` of ``beamlike state`` does."""
    choose(_some_state(), keys=[_text(data)])


def _headers(data: bytes) -> None:
    """An index whose words are any, and whose numbers and rows are those of a shard."""
    blobs = dict(_shards()[1])
    columns, _ = open_index(blobs[INDEX])
    sink = pa.BufferOutputStream()
    table = pa.table(columns).replace_schema_metadata({b"beamlike": data})
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    _shown({**blobs, INDEX: sink.getvalue().to_pybytes()})


def _header_seeds() -> tuple[bytes, ...]:
    _, header = open_index(_shards()[1][INDEX])
    shown = {"trigger": "Repeatedly(AfterCount(2))", "allowed lateness": 0, "retained": 5}
    others = {**header, "inputs": [[7, 9, []], [None, 0, [3, 4]]], "side": 5, "about": shown}
    return tuple(json.dumps(it).encode() for it in (header, others))


def _index(data: bytes) -> None:
    """As a shard does at the beginning of a step."""
    store = DictStore()
    store.index = data
    Index.load(_plan(), store)


def _unsealed(index: bytes) -> bytes:
    """The index as earlier versions left it: without a digest."""
    columns, header = open_index(index)
    return pack_blob(pa.table(columns), header)


def _index_seeds() -> tuple[bytes, ...]:
    index = _shards()[0][INDEX]
    return index, _unsealed(index)


def _rows(data: bytes) -> None:
    """Rows whose digest is right, and which need not be what beamlike writes."""
    blobs = dict(_shards()[1])
    columns, header = open_index(blobs[INDEX])
    shown = PageContents.from_json(header["contents"])
    digest = blake2b(data, digest_size=16).hexdigest()
    header["contents"] = attrs.evolve(shown, digests=(digest,)).to_json()
    (page,) = shown.pages
    changed = {INDEX: pack_blob(pa.table(columns), header), page: data}
    _shown(changed)
    with suppress(StateError):  # the keys of a pipeline are bytes, and these are texts
        _shown(changed, in_pipeline=True)


def _row_seeds() -> tuple[bytes, ...]:
    # Without compression, behind which nothing would be reached.
    (page,) = (blob for number, blob in _shards()[1].items() if number != INDEX)
    return (pack_blob(*unpack_blob(page)),)


def _saved_seeds() -> tuple[bytes, ...]:
    """As they are, and as earlier versions left them: without a digest of the index."""
    before = [{**blobs, INDEX: _unsealed(blobs[INDEX])} for blobs in _shards()]
    return tuple(map(_joined, (*_shards(), *before)))


def _key_bytes(data: bytes) -> None:
    key_texts([pa.chunked_array([[data]])], 1, in_bytes=True)


def _key_seeds() -> tuple[bytes, ...]:
    return tuple(map(key_bytes, ("ann", 7, None, True, 1.5, ("ann", (7, b"x")), -0.0, "\udcff")))


_JSON = _words('"', "{", "}", "[", "]", ":", ",", "null", "true", "1e999", "-1", "\\ud800", "\\")
_MARKS = _words("(", ")", ",", "=", "AfterCount(", "early=", "AlignTo(", "offset=", "1m 30s")

READERS: Final = (
    Reader(
        "durations",
        _duration,
        _seeds("10 minutes", "1h 30m", "500 ms", "00:10:00"),
        _words(":", " ", "9" * 30, "9" * 4_400, "days", "ms", "\u0661", "-"),
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
    Reader(
        "offsets",
        _offsets,
        _seeds('v1\n{"batchWatermarkMs":0,"batchTimestampMs":5,"conf":{}}\n{"logOffset":1}\n-'),
        (*_words("v1", "v2", "\n", "batchWatermarkMs"), *_JSON),
    ),
    Reader(
        "typed_keys",
        _typed_key,
        _seeds("ann", '"bob"', '["ann"]', '{"key": "bob"}'),
        (*_words("ann", "key", "9" * 4_400, "[" * 2_000), *_JSON),
    ),
    Reader("saved_state", _saved, _saved_seeds, (b"\xff\xff\xff\xff", b"\x00" * 8, *_JSON)),
    Reader("headers", _headers, _header_seeds, (*_MARKS, *_JSON)),
    Reader("saved_rows", _rows, _row_seeds, (b"\xff\xff\xff\xff", b"\x00" * 8)),
    Reader("index", _index, _index_seeds, (b"\xff\xff\xff\xff", b"\x00" * 8, *_JSON)),
    Reader("keys", _key_bytes, _key_seeds, _JSON),
)
