"""The results of an engine, true and doctored, against the suite: verdicts, text, exit status."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beamlike.cli import main as beamlike
from beamlike.testing import load_transcripts
from tests.support.conformance import main

ROOT = Path(__file__).resolve().parents[2]
CASES = Path(__file__).parent / "cases"

Document = dict[str, Any]
Results = dict[str, Document]
"""What an engine says, by the ids of scenarios."""


@pytest.fixture(scope="module")
def own() -> Results:
    """What beamlike itself says of the whole suite."""
    with pytest.MonkeyPatch.context() as patch:
        said: list[str] = []
        patch.setattr("builtins.print", lambda *words, **_: said.append(" ".join(words)))
        files = map(str, sorted(CASES.glob("*/*.json")))
        assert beamlike(["replay", *files, "--format", "json"]) == 0
    return {entry["id"]: entry for entry in json.loads("\n".join(said))["scenarios"]}


@pytest.fixture(scope="module")
def some_cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite of all levels that is compared in less time than the whole."""
    folder = tmp_path_factory.mktemp("cases")
    for name in ("derived_edges", "derived_java_quirks", "window_fns"):
        (folder / "beam").mkdir(exist_ok=True)
        shutil.copy(CASES / "beam" / f"{name}.json", folder / "beam")
    shutil.copytree(CASES / "blog", folder / "blog")
    return folder


@pytest.fixture(scope="module")
def results_of_some(own: Results, some_cases: Path) -> str:
    """What beamlike says of these, as JSON."""
    ids = {it.id for file in some_cases.glob("*/*.json") for it in load_transcripts(file)}
    return json.dumps({name: entry for name, entry in own.items() if name in ids})


@pytest.fixture
def compare(
    results_of_some: str, some_cases: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    """Compare doctored results with these cases; the exit status and what was printed."""

    def compare(doctor: Callable[[Results], object], *arguments: str) -> tuple[int, str]:
        results = json.loads(results_of_some)
        doctor(results)
        file = tmp_path / "results.json"
        file.write_text(json.dumps({"scenarios": list(results.values())}), encoding="utf-8")
        status = main([str(file), *arguments], cases=some_cases)
        printed = capsys.readouterr()
        return status, printed.out + printed.err

    return compare


def test_an_engine_that_does_everything_as_expected_conforms(
    own: Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "results.json"
    file.write_text(json.dumps({"scenarios": list(own.values())}), encoding="utf-8")

    status = main([str(file)], cases=CASES)

    said = capsys.readouterr().out
    table, contested = said.split("\n\n")
    assert status == 0
    assert table.splitlines()[:2] == [
        "level       authority    cases  as expected  differs  failed  not supported  no result",
        "core        blog            31           31        -       -              -          -",
    ]
    assert table.splitlines()[-1].split() == ["all", "646", "646", "-", "-", "-", "-"]
    assert contested.splitlines()[0] == "23 contested, not counted:"
    assert "    as expected: quirk_early_composite_after_all" in contested.splitlines()


def change(scenario: str, **fields: Any) -> Callable[[Results], object]:
    """Results whose first pane of a scenario says something else."""
    return lambda results: results[scenario]["panes"][0].update(fields)


def test_a_difference_is_named_and_counted(compare: Any) -> None:
    status, said = compare(change("edge_pt_exact_delay", step=1))

    assert status == 1
    assert said.startswith(
        "== edge_pt_exact_delay: differs\n"
        "FixedWindows(1s), Repeatedly(AfterProcessingTime(10ms)), discarding, "
        "allowed lateness 10ms; list of each pane\n"
        '  step 2, key "k", [0, 1000): pane EARLY #0: step is 1 (expected 2)\n\n'
        "level "
    )
    derived = next(line for line in said.splitlines() if line.startswith("core       derived"))
    assert derived.split() == ["core", "derived", "58", "57", "1", "-", "-", "-"]


@pytest.mark.parametrize(
    ("show", "line"),
    [
        ("table", "  1     'k'  [00:00:00, 00:00:01)  EARLY   0  -1  first  00:00:00.999  [1]"),
        ("timeline", "  1 clock 10ms"),
    ],
)
def test_what_came_out_can_be_shown(compare: Any, show: str, line: str) -> None:
    _, said = compare(change("edge_pt_exact_delay", step=1), "--show", show)

    assert line in said.splitlines()


def test_a_contested_scenario_may_come_out_otherwise(compare: Any) -> None:
    status, said = compare(change("quirk_early_composite_after_all", value=["otherwise"]))

    assert status == 0
    assert "== " not in said
    assert "    differs: quirk_early_composite_after_all" in said.splitlines()


def replace(scenario: str, **entry: Any) -> Callable[[Results], object]:
    return lambda results: results.update({scenario: {"id": scenario, **entry}})


@pytest.mark.parametrize(
    ("doctor", "status", "column"),
    [
        (replace("calendar_days", unsupported="no calendars"), 0, "not supported"),
        (lambda results: results.pop("calendar_days"), 0, "no result"),
        (replace("calendar_days", error="ZeroDivisionError"), 1, "failed"),
        (replace("edge_two_keys", unsupported="one key only"), 1, "not supported"),
        (lambda results: results.pop("edge_two_keys"), 1, "no result"),
        (replace("edge_two_keys", error="ZeroDivisionError"), 1, "failed"),
    ],
)
def test_only_levels_beyond_the_core_may_be_left_out(
    compare: Any, doctor: Callable[[Results], object], status: int, column: str
) -> None:
    found, said = compare(doctor)

    lines = said.splitlines()
    header = next(line for line in lines if line.startswith("level"))
    total = next(line for line in lines if line.startswith("all"))
    at = header.index(column) + len(column) - 1
    assert found == status
    assert total[at] == "1"
    assert total.split()[:3] == ["all", "103", "102"]


def test_the_reason_why_there_is_no_run_is_shown(compare: Any) -> None:
    _, said = compare(replace("edge_two_keys", error="ZeroDivisionError: by zero"))

    assert said.splitlines()[0] == "== edge_two_keys: failed"
    assert said.splitlines()[2] == "  ZeroDivisionError: by zero"


def test_an_engine_that_tells_no_drops_is_compared_by_its_panes(compare: Any) -> None:
    def forget_drops(results: Results) -> None:
        for entry in results.values():
            del entry["dropped"]

    status, said = compare(forget_drops)
    assert status == 0
    assert said.splitlines()[-1] == (
        "111 results said nothing of drops; only their panes were compared"
    )

    status, said = compare(
        lambda results: results["blog_session_07b_late_boundary"].update(dropped=[])
    )
    assert status == 1
    assert 'missing drop of "x"' in said


def test_some_of_the_cases_can_be_named(compare: Any, some_cases: Path) -> None:
    def keep_blog(results: Results) -> None:
        for scenario in [name for name in results if not name.startswith("blog_")]:
            del results[scenario]

    status, said = compare(keep_blog, str(some_cases / "blog"))

    assert (status, said.splitlines()[-1].split()[:3]) == (0, ["all", "40", "40"])


@pytest.mark.parametrize(
    ("doctor", "says"),
    [
        (
            replace("edge_two_kyes", panes=[]),
            "scenarios[111].id: no scenario has the id 'edge_two_kyes'",
        ),
        (
            lambda results: results.update(again=results["edge_two_keys"]),
            "scenarios[111].id: the results of 'edge_two_keys' are here twice",
        ),
        (
            replace("edge_two_keys", dropped=[]),
            "results of 'edge_two_keys': lacks 'panes'; give them, or 'unsupported' or 'error' "
            "with the reason",
        ),
        (
            change("edge_two_keys", timming="EARLY"),
            "results of 'edge_two_keys': panes[0]: unknown field 'timming'; did you mean 'timing'?",
        ),
        (
            change("edge_two_keys", index=None),
            "results of 'edge_two_keys': panes[0].index: null means \"not asserted\"",
        ),
        (
            change("edge_two_keys", window=[5, 5]),
            "results of 'edge_two_keys': a window needs start < end",
        ),
    ],
)
def test_results_that_cannot_be_read_are_refused(
    compare: Any, doctor: Callable[[Results], object], says: str
) -> None:
    status, said = compare(doctor)

    assert status == 2
    assert said.startswith("conformance: ")
    assert f"results.json: {says}" in re.sub(r":\d+:\d+: ", ": ", said)


def test_a_file_that_is_missing_or_no_json_is_refused(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "text.json").write_text("all passed", encoding="utf-8")

    assert main([str(tmp_path / "none.json")], cases=CASES) == 2
    assert "none.json: cannot be read: No such file" in capsys.readouterr().err
    assert main([str(tmp_path / "text.json")], cases=CASES) == 2
    assert "text.json:1:1: is not JSON: " in capsys.readouterr().err


def test_the_command_runs_from_the_top_of_the_checkout(own: Results) -> None:
    document = json.dumps({"scenarios": list(own.values())})

    done = subprocess.run(
        [sys.executable, "-m", "tests.conformance", "-"],
        input=document,
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert "\nall  " in done.stdout
