"""Saved state from an untrusted source: opening it runs nothing that is in it."""

import pickle
from hashlib import blake2b
from pathlib import Path
from typing import Any

import attrs
import pyarrow as pa
import pytest

from beamlike.cli.state_json import document
from beamlike.cli.state_text import listing
from beamlike.inspect.state.choice import choose, windows_of
from beamlike.inspect.state.report import SavedState
from beamlike.inspect.state.shard import SavedShard
from beamlike.inspect.state.stage import SavedStage
from beamlike.machine.events import Element
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.windowfns import FixedWindows
from beamlike.runtime.graph.keys import readable_key
from beamlike.runtime.script import Arrive
from beamlike.runtime.store.blobs import pack_blob, unpack_blob
from beamlike.runtime.store.index import open_index
from beamlike.runtime.store.pages import PageContents
from beamlike.runtime.store.stores import INDEX
from tests.support.machines.in_shard import run_in_shard

ONE = Arrive((("ann", Element(1, 5)),))
ESCAPES = "\x1b[2J\x1b]0;mine\x07"


class Harm:
    """What becomes of its pickle when it is opened: a file."""

    def __init__(self, left: Path) -> None:
        self.left = left

    def __reduce__(self) -> Any:
        return Path.touch, (self.left,)


def state_of(page: pa.Table, header: dict[str, Any], index: pa.Table) -> SavedState:
    """A checkpoint of one shard, whose digests are right: whoever wrote it knows how."""
    blob = pack_blob(page, {})
    digest = blake2b(blob, digest_size=16).hexdigest()
    contents = attrs.evolve(PageContents.from_json(header["contents"]), digests=(digest,))
    (number,) = contents.pages
    written = pack_blob(index, header | {"contents": contents.to_json()})
    shard = SavedShard.of(0, 0, {INDEX: written, number: blob})
    stage = SavedStage(f"sales{ESCAPES}", 0, (shard,))
    return SavedState("/checkpoint", 0, (0, 0), (stage,), None)  # type: ignore[arg-type]


def harmful(left: Path) -> SavedState:
    """A window whose accumulator is the pickle of `Harm`, and whose key is no friend either."""
    _, store = run_in_shard(WindowingStrategy(FixedWindows(60_000)), "list_by_timestamp", [(ONE,)])
    assert store.index is not None
    index, header = open_index(store.index)
    (blob,) = store.blobs.values()
    page, _ = unpack_blob(blob)
    (name,) = (column_name for column_name in page.column_names if column_name.endswith("_pickled"))
    at = page.column_names.index(name)
    page = page.set_column(at, name, pa.array([pickle.dumps(Harm(left))], pa.binary()))
    keys = pa.array([f"ann{ESCAPES}"], pa.string())
    page = page.set_column(page.column_names.index("key_key"), "key_key", keys)
    return state_of(page.replace_schema_metadata(None), header, pa.table(index))


def test_a_listing_tells_the_size_of_a_pickle_and_does_not_open_it(tmp_path: Path) -> None:
    left = tmp_path / "left"
    state = harmful(left)
    places = choose(state)

    (window,) = windows_of(state, places)
    text = "\n".join(listing(state, (), places, of=1, sort="oldest", in_full=True, unpickle=False))
    shown = "".join(document(state, (), places, None, unpickle=False))

    (held,) = window.holds.values()
    assert held.startswith("pickled, ")
    assert "pickled, " in text
    assert "pickled, " in shown
    assert not left.exists()
    # A terminal gets no commands, neither by a name nor by a key.
    assert all(letter.isprintable() for line in text.split("\n") for letter in line)
    assert shown.isprintable() or "\x1b" not in shown


def test_told_to_it_opens_the_pickle(tmp_path: Path) -> None:
    left = tmp_path / "left"
    state = harmful(left)

    list(windows_of(state, choose(state), unpickle=True))

    assert left.exists()  # so the test before could fail


@pytest.mark.parametrize(
    "blob",
    [
        b'["oos:system \\"touch left\\"", "sx"]',
        b'["opathlib:Path", "sleft"]',
        b'["c pickle", "s..."]',
    ],
)
def test_the_key_of_a_pipeline_is_reported_without_its_class(blob: bytes) -> None:
    shown = readable_key(blob)

    # A text, or a tuple that has its words in it; nothing that these words could have made.
    assert isinstance(shown, str | tuple)
