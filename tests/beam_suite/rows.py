"""What Beam Python makes of the scenarios of the table where Beam's runners differ.

``python -m tests.beam_suite --rows`` plays them as `tests.judges` does, and writes ``ROWS.md``:
beside each point what comes out here, and there.
"""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from tests.conformance.beamlike_conformance.scenarios import load_scenarios
from tests.test_runners_table import POINTS, named, outcome, pane_text

PLAYER: Final = Path(__file__).resolve().parents[1] / "judges" / "beam_python" / "adapter.py"


def write_rows(python: Path, version: str, target: Path) -> str:
    """Play the scenarios with Beam, and write the table."""
    points = {row[0]: named(row) for row in POINTS}
    asked = {scenario.id for scenario in points.values()}
    documents = [it.document for it in load_scenarios() if it.id in asked]
    with TemporaryDirectory(prefix="beamlike-rows-") as home:
        played, scenarios = Path(home) / "played.json", Path(home) / "scenarios.json"
        scenarios.write_text(json.dumps(documents), encoding="utf-8")
        subprocess.run([python, PLAYER, played, scenarios], check=True)
        answers = json.loads(played.read_text(encoding="utf-8"))["scenarios"]
    found = {answer["id"]: sentences(answer) for answer in answers}
    lines = [
        "# The scenarios of the runners' table, in Beam Python",
        "",
        f"apache-beam {version}, its streaming runner on this machine. The points are those of",
        "`docs/pages/beams_runners.md`. Written by `python -m tests.beam_suite --rows`.",
        "",
        "| point | scenario | beamlike | Beam Python |",
        "|---|---|---|---|",
    ]
    for point, scenario in points.items():
        here, there = "<br>".join(outcome(scenario)), "<br>".join(found[scenario.id])
        lines.append(f"| {point} | `{scenario.id}` | {here or 'nothing'} | {there or 'nothing'} |")
    text = "\n".join(lines) + "\n"
    target.write_text(text, encoding="utf-8")
    return text


def sentences(answer: Mapping[str, Any]) -> list[str]:
    """What came of a scenario: its panes, and how its run ended if it failed."""
    if "unsupported" in answer:
        return [f"cannot be said: {answer['unsupported']}"]
    if "error" in answer:
        return [f"the run fails: {answer['error']}"]
    return [*map(pane_text, answer["panes"]), *answer.get("notes", ())]
