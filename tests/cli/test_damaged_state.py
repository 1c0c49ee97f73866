"""`beamlike state` of a checkpoint of which a part is damaged: it shows the rest, and says so."""

import json
from pathlib import Path
from typing import Any

import pytest

import beamlike as bl
from beamlike.cli import main
from beamlike.errors import StateError
from beamlike.inspect.state.checkpoint import Checkpoint
from beamlike.inspect.state.report import SavedState
from beamlike.machine.events import Element
from beamlike.runtime.script import Arrive
from beamlike.runtime.store import pages
from tests.support.machines.in_shard import run_in_shard
from tests.support.queries.checkpoints import leave_checkpoint

INDEX = -1


def rows_of_shard(group: int, key: str) -> list[tuple[int, dict[str, int], bytes]]:
    """The blobs of a shard with one window, as Spark hands them out."""
    arrive = Arrive(((key, Element(1, 5)),))
    strategy = bl.WindowingStrategy(bl.FixedWindows(60_000))
    _, store = run_in_shard(strategy, "list_by_timestamp", [(arrive,)])
    assert store.index is not None
    blobs = {INDEX: store.index, **store.blobs}
    return [(group, {"number": number}, blob) for number, blob in blobs.items()]


def opened(monkeypatch: pytest.MonkeyPatch, *partitions: Any) -> SavedState:
    # A changed blob would have the digest of what this process remembers.
    monkeypatch.setattr(pages, "_MEMORY", pages.rows_memory())
    monkeypatch.setattr(Checkpoint, "_partitions", lambda *_: iter(partitions))
    checkpoint = Checkpoint("/checkpoint", 3, (0, 3), (0,), None)  # type: ignore[arg-type]
    stages, damaged = checkpoint.read()
    return SavedState("/checkpoint", 3, (0, 3), stages, None, damaged)  # type: ignore[arg-type]


def spoilt(rows: list[tuple[int, dict[str, int], bytes]], number: int) -> list[Any]:
    """The same rows, with one byte of the index or of a page flipped."""

    def flipped(blob: bytes) -> bytes:
        middle = len(blob) // 2
        return blob[:middle] + bytes([blob[middle] ^ 0x40]) + blob[middle + 1 :]

    is_index = number == INDEX
    return [
        (group, place, flipped(blob) if (place["number"] == INDEX) == is_index else blob)
        for group, place, blob in rows
    ]


@pytest.mark.parametrize("number", [INDEX, 0], ids=["its index", "its page"])
def test_a_shard_with_a_flipped_bit_is_named_and_the_others_are_shown(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bob = rows_of_shard(7, "ann"), rows_of_shard(8, "bob")

    state = opened(monkeypatch, (0, ann), (1, spoilt(bob, number)))

    assert state.windows["key"].to_pylist() == ["ann"]
    ((operator, partition, group),) = [
        (damage.operator, damage.partition, damage.group) for damage in state.damaged
    ]
    assert (operator, partition, group) == (0, 1, 8)
    said = str(state.damaged[0])
    assert said.startswith("the shard with group 8 in partition 1 of operator 0 is damaged: ")
    assert "cannot be read" in said


def test_where_every_shard_is_damaged_nothing_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StateError, match=r"^the state of the group 8 cannot be read: "):
        opened(monkeypatch, (1, spoilt(rows_of_shard(8, "bob"), INDEX)))


@pytest.mark.spark
@pytest.mark.nightly
def test_a_partition_whose_files_are_damaged_is_named_and_the_others_are_shown(
    spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def query(rows: Any) -> Any:
        hours = bl.FixedWindows("1 hour")
        return bl.windowed(
            rows,
            key="user",
            timestamp="at",
            watermark="1 hour",
            window=hours,
            aggregate={"n": bl.count()},
            shards=8,
        )

    rows = [{"user": f"u{number}", "at": "2020-01-01T00:05:00Z"} for number in range(40)]
    checkpoint = leave_checkpoint(spark, tmp_path, "user string, at timestamp", query, rows)
    everything = bl.open_state(spark, str(checkpoint))
    assert everything.damaged == ()
    spoilt_partition = everything.shards["partition"].to_pylist()[0]
    kept = [
        key for key, shard in sorted(keys_and_partitions(everything)) if shard != spoilt_partition
    ]
    for file in (checkpoint / "state" / "0" / str(spoilt_partition)).rglob("*"):
        if file.suffix in (".zip", ".changelog"):
            file.write_bytes(b"\0" * file.stat().st_size)

    assert main(["state", str(checkpoint), "--json"]) == 1
    shown = capsys.readouterr()

    document = json.loads(shown.out)
    assert sorted(window["key"]["user"] for window in document["windows"]) == kept
    assert kept != []
    (damage,) = document["damaged"]
    assert damage.startswith(f"partition {spoilt_partition} of operator 0 is damaged: the state ")
    assert f"beamlike: partition {spoilt_partition} of operator 0 is damaged: " in shown.err


def keys_and_partitions(state: SavedState) -> list[tuple[str, int]]:
    partitions = dict(
        zip(state.shards["shard"].to_pylist(), state.shards["partition"].to_pylist(), strict=True)
    )
    windows = state.windows.select(["key", "shard"]).to_pylist()
    return [(window["key"], partitions[window["shard"]]) for window in windows]
