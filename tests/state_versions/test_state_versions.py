"""Checkpoints that earlier versions left are opened, and their queries go on from them.

They were made by sessions with three cores and three shuffle partitions; these tests have two.
"""

import json
from pathlib import Path
from typing import Any

import pytest

import beamlike as bl
from beamlike.runtime.changes import LAYOUTS
from tests.state_versions import __main__ as command
from tests.state_versions import expected, stored, works

ROOT = Path(__file__).resolve().parents[2]
NAMES = (
    "columnar",
    "deduplicate",
    "functions",
    "narrow",
    "per_key",
    "pipeline",
    "pipeline_functions",
)
SINCE = {"deduplicate": 6, "narrow": 7}
"""The layout of the first checkpoint that is kept of a work; of all others, the first of all."""
KEPT = [
    (layout, name) for layout in LAYOUTS for name in NAMES if layout >= SINCE.get(name, LAYOUTS[0])
]


def test_each_layout_that_is_read_has_a_checkpoint_of_every_kind() -> None:
    assert sorted(works.WORKS) == sorted(NAMES)
    assert stored.layouts() == KEPT
    assert sum(path.stat().st_size for path in stored.FOLDER.glob("*.tar.xz")) < 350_000


def test_the_command_says_what_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--list"]) == 0
    with pytest.raises(SystemExit):
        command.main(["bananas"])

    printed = capsys.readouterr()
    assert printed.out == "".join(f"layout {layout}, {name}\n" for layout, name in KEPT)
    assert printed.err.endswith(
        f"error: there is no work 'bananas'; there are {', '.join(NAMES)}\n"
    )


RUN = [
    pytest.param(*kept, marks=pytest.mark.nightly if kept[1] == NAMES[-1] else ()) for kept in KEPT
]


@pytest.mark.spark
@pytest.mark.parametrize(("layout", "name"), RUN)
def test_a_query_goes_on_from_a_checkpoint_that_another_session_left(
    spark: Any, tmp_path: Path, layout: int, name: str
) -> None:
    checkpoint = stored.unpack(layout, name, tmp_path)
    kept = bl.open_state(spark, checkpoint)

    came = expected.gone_on(spark, works.WORKS[name], tmp_path)

    assert expected.opened(kept) == expected.OPEN[name]
    assert came == sorted(expected.CAME[name])
    assert expected.remembered(kept) == expected.kept_states(name, layout)
    noted = [
        json.loads(path.read_text().splitlines()[1])["conf"]["spark.sql.shuffle.partitions"]
        for path in (checkpoint / works.WORKS[name].query / "offsets").iterdir()
        if path.name.isdigit()
    ]
    assert set(noted) == {"3"}
