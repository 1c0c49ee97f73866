"""`beamlike state`: what a person reads at night, and what a program does."""

import json
from pathlib import Path
from typing import Any

import pytest

import beamlike as bl
from beamlike.cli import main
from tests.support.queries.checkpoints import leave_checkpoint

EVENTS = "user string, at timestamp, v int"


LISTED = """\
{orders}, after batch {last} (there are 0 to {last})

stage beamlike, operator 0 of the query
  remembered          3 windows of 3 keys in 1 shard, 336 bytes ({size} stored)
  watermark           2020-01-01 00:30:00
  output watermark    2020-01-01 00:03:00, held back 27m by bob [2020-01-01 00:00:00, 01:00:00) \
in shard 0
  next, by watermark  something changes once the watermark reaches 2020-01-01 01:00:00
  window              FixedWindows(1h)
  trigger             AfterWatermark(early=AfterCount(3))
  accumulation        accumulating
  allowed lateness    0ms
  timestamp combiner  earliest
  aggregates          n=Count(), all=Collect(keep_nulls=False) of v int32
  key                 user string
  resolution          microseconds

  shard  windows  keys  bytes  stored  watermark            output watermark     held back by
      0        3     3    336  {size:>6}  2020-01-01 00:30:00  2020-01-01 00:03:00  bob \
[2020-01-01 00:00:00, 01:00:00)

3 windows, oldest first
key  window                           new  last pane  watermark            clock  bytes  waits \
for
ann  [2020-01-01 00:00:00, 01:00:00)    0  EARLY 0    2020-01-01 01:00:00  -        121  the \
watermark to reach 2020-01-01 01:00:00 or 3 more elements (0 of 3)
bob  [2020-01-01 00:00:00, 01:00:00)    1  -          2020-01-01 01:00:00  -        108  the \
watermark to reach 2020-01-01 01:00:00 or 2 more elements (1 of 3)
cy   [2020-01-01 00:00:00, 01:00:00)    1  -          2020-01-01 01:00:00  -        107  the \
watermark to reach 2020-01-01 01:00:00 or 2 more elements (1 of 3)
"""

IN_FULL = """\
key ann, [2020-01-01 00:00:00, 01:00:00)
  stage           beamlike, shard 0
  new elements    0 since the last pane
  last pane       EARLY 0
  changes when    the watermark reaches 2020-01-01 01:00:00
  size            121 bytes
  trigger
    AfterWatermark: the watermark to reach 2020-01-01 01:00:00 or 3 more elements (0 of 3)
    AfterWatermark.early[AfterCount(3)]: 3 more elements (0 of 3)
  holds
    n    3
    all  [1, 2, 3]

key bob, [2020-01-01 00:00:00, 01:00:00)
  stage           beamlike, shard 0
  new elements    1 since the last pane
  last pane       -
  holds back      the output watermark at 2020-01-01 00:03:00
  changes when    the watermark reaches 2020-01-01 01:00:00
  size            108 bytes
  trigger
    AfterWatermark: the watermark to reach 2020-01-01 01:00:00 or 2 more elements (1 of 3)
    AfterWatermark.early[AfterCount(3)]: 2 more elements (1 of 3)
  holds
    n    1
    all  [4]

"""


def event(user: str, time: str, v: int) -> dict[str, Any]:
    return {"user": user, "at": f"2020-01-01T{time}Z", "v": v}


@pytest.fixture(scope="module")
def orders(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint: the watermark is at 00:30, and bob holds the output watermark at 00:03."""

    def query(rows: Any) -> Any:
        return bl.windowed(
            rows,
            key="user",
            timestamp="at",
            watermark="10 minutes",
            window=bl.FixedWindows("1 hour"),
            trigger=bl.AfterWatermark(early=bl.AfterCount(3)),
            accumulation="accumulating",
            allowed_lateness=0,
            timestamp_combiner="earliest",
            aggregate={"n": bl.count(), "all": bl.collect("v")},
            shards=1,
            buckets=2,
        )

    return leave_checkpoint(
        spark,
        tmp_path_factory.mktemp("orders"),
        EVENTS,
        query,
        [event("ann", "00:05:00", 1), event("ann", "00:06:00", 2), event("ann", "00:07:00", 3)],
        [event("bob", "00:03:00", 4), event("cy", "00:40:00", 5)],
    )


def stored(spark: Any, path: Path) -> int:
    """Bytes on disk, which depend on how well they are compressed."""
    (size,) = bl.open_state(spark, path).shards["stored"].to_pylist()
    return int(size)


def last_batch(spark: Any, path: Path) -> int:
    return bl.open_state(spark, path).batch


@pytest.mark.spark
def test_everything_is_listed(spark: Any, orders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    last, size = last_batch(spark, orders), f"{stored(spark, orders):,}"

    assert main(["state", str(orders)]) == 0

    assert capsys.readouterr().out == LISTED.format(orders=orders, last=last, size=size)


@pytest.mark.spark
def test_a_key_is_told_in_full(orders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["state", str(orders), "--key", '"bob"', "--key", "ann"]) == 0

    _, blocks = capsys.readouterr().out.split("\n\nkey ", 1)
    assert f"key {blocks}" == IN_FULL


@pytest.mark.spark
def test_programs_get_a_document(orders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["state", str(orders), "--json", "--key", "cy"]) == 0

    document = json.loads(capsys.readouterr().out)
    (stage,) = document["stages"]
    (shard,) = stage["shards"]
    assert (document["checkpoint"], document["found"]) == (str(orders), 1)
    assert (stage["name"], stage["watermark"]) == ("beamlike", "2020-01-01T00:30:00.000Z")
    assert shard["held_until"] == "2020-01-01T00:03:00.000Z"
    assert (shard["held_key"], shard["held_end"]) == ("bob", "2020-01-01T01:00:00.000Z")
    assert document["windows"] == [
        {
            "stage": "beamlike",
            "shard": 0,
            "key": {"user": "cy"},
            "start": "2020-01-01T00:00:00.000Z",
            "end": "2020-01-01T01:00:00.000Z",
            "closed": False,
            "new_elements": 1,
            "size": None,
            "timing": None,
            "index": None,
            "nonspeculative": None,
            "standing": None,
            "hold": "2020-01-01T00:40:00.000Z",
            "due_event": "2020-01-01T01:00:00.000Z",
            "due_clock": None,
            "bytes": 107,
            "trigger": [
                {
                    "path": "AfterWatermark",
                    "name": "AfterWatermark",
                    "finished": False,
                    "ready": False,
                    "waits_for": "the watermark to reach 2020-01-01 01:00:00 or 2 more elements "
                    "(1 of 3)",
                },
                {
                    "path": "AfterWatermark.early",
                    "name": "AfterCount(3)",
                    "finished": False,
                    "ready": False,
                    "waits_for": "2 more elements (1 of 3)",
                },
            ],
            "holds": {"n": 1, "all": [5]},
        }
    ]


@pytest.mark.spark
def test_some_windows_are_listed(orders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["state", str(orders), "--sort", "largest", "--limit", "1"]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[-4] == "1 of 3 windows, largest first"
    assert lines[-1] == "(--limit N shows more, --key KEY shows all of one key)"


@pytest.mark.spark
def test_opening_pickles_comes_with_a_warning(orders: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["state", str(orders), "--unpickle", "--limit", "0"]) == 0

    told = capsys.readouterr()
    assert told.out.splitlines()[-1] == "3 windows"
    assert told.err == (
        "beamlike: --unpickle opens pickles of the checkpoint, and opening a pickle runs whatever "
        "code its writer put into it; do so only with checkpoints that your own queries wrote\n"
    )


@pytest.mark.spark
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--key", "bo"], "no window of the key 'bo' is open after batch {last}; the nearest is "),
        (["--stage", "x"], "there is no stage 'x' in {path}; there are 'beamlike'"),
        (["--batch", "999"], "batch 999 is not in the checkpoint {path}; there are 0 to {last}"),
    ],
)
def test_what_is_not_there_is_refused(
    spark: Any, orders: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    expected = says.format(path=orders, last=last_batch(spark, orders))

    assert main(["state", str(orders), *arguments]) == 2

    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(f"beamlike: {expected}")


def test_a_folder_that_is_no_checkpoint_is_refused_before_spark_is_started(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["state", str(tmp_path)]) == 2

    assert capsys.readouterr().err == (
        f"beamlike: {tmp_path} is no checkpoint: it has no offsets; give the folder that the query "
        "has as checkpointLocation\n"
    )


def test_the_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["state", "--help"]) == 0

    lines = capsys.readouterr().out.splitlines()
    for line in (
        "why does nothing come out?",
        "  beamlike state /data/checkpoints/orders --sort largest --limit 5",
        "  2   it cannot be: there is no checkpoint, no such batch, stage or key, or",
    ):
        assert line in lines
