"""`beamlike replay`: what it prints for people and for programs, and its exit status."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from beamlike.cli import main
from beamlike.runtime.memory import run_in_memory
from beamlike.testing.scenarios.files import load_transcripts
from beamlike.viz.table import pane_table
from tests.support.scenario_documents import scenario_document

Document = dict[str, Any]


def a_scenario(**changes: Any) -> Document:
    pane = {"step": 1, "key": "joe", "value": 3, "window": [0, 60_000], "timestamp_ms": 59_999}
    info = {"timing": "ON_TIME", "index": 0, "nonspeculative_index": 0}
    late = {"key": "joe", "value": 4, "ts_ms": 30_000}
    dropped = {"step": 2, **late, "window": [0, 60_000], "reason": "expired"}
    document = scenario_document(
        complete=True, panes=[pane | info | {"is_first": True, "is_last": True}], dropped=[dropped]
    )
    document["steps"].append({"elements": [late]})
    return document | changes


def expecting(value: int) -> Document:
    document = a_scenario()
    document["panes"][0]["value"] = value
    return document


def with_words() -> Document:
    document = a_scenario(id="words")
    document["steps"][0]["elements"][0]["value"] = "one"
    return document


def save(folder: Path, *documents: Document) -> str:
    file = folder / "case.json"
    file.write_text(json.dumps(list(documents)))
    return str(file)


def without(document: Document, *names: str) -> Document:
    return {name: value for name, value in document.items() if name not in names}


def test_a_scenario_as_expected_is_a_table_and_status_0(tmp_path: Path, capsys: Any):
    file = save(tmp_path, a_scenario())
    (scenario,) = load_transcripts(file)
    table = pane_table(run_in_memory(scenario.machine(), scenario.script).outputs)

    status = main(["replay", file])

    assert table.count("\n") == 2  # a header, a pane and a drop
    assert (status, *capsys.readouterr()) == (
        0,
        f"""\
== minute: a minute of points
FixedWindows(1m), DefaultTrigger(), discarding, allowed lateness 0ms; sum of each pane

{table}

as expected

1 scenario: 1 as expected
""",
        "",
    )


def test_a_difference_is_shown_and_status_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    status = main(["replay", save(tmp_path, expecting(4))])

    assert status == 1
    assert capsys.readouterr().out.endswith("""
differs:
  step 1, key "joe", [0, 60000): pane ON_TIME #0: value is 3 (expected 4)

1 scenario: 1 differs
""")


def test_a_contested_difference_is_shown_and_does_not_count(tmp_path: Path, capsys: Any):
    document = expecting(4) | {"contested": True, "contested_reason": ["runners differ"]}

    assert main(["replay", save(tmp_path, document)]) == 0
    assert capsys.readouterr().out.endswith("""
contested, differs:
  step 1, key "joe", [0, 60000): pane ON_TIME #0: value is 3 (expected 4)
contested, so it does not count: runners differ

1 scenario: 1 contested, differs
""")


def test_a_scenario_that_expects_nothing_is_only_shown(tmp_path: Path, capsys: Any):
    document = without(a_scenario(), "complete", "panes", "dropped")

    assert main(["replay", save(tmp_path, document)]) == 0
    assert capsys.readouterr().out.endswith("""
nothing expected

1 scenario: 1 nothing expected
""")


def test_what_a_failed_test_recorded_is_not_called_expected(tmp_path: Path, capsys: Any):
    test = {"x_recorded_from": "test_taxis.py::test_late"}
    file = save(tmp_path, a_scenario(**test), expecting(4) | {"id": "other"} | test)

    assert main(["replay", file]) == 1
    first, second = capsys.readouterr().out.split("\n== other")
    assert first.endswith(
        "\nas recorded from the failed test test_taxis.py::test_late; what the test expected is in "
        "its failure text\n"
    )
    assert second.endswith("""
differs from what the failed test test_taxis.py::test_late recorded:
  step 1, key "joe", [0, 60000): pane ON_TIME #0: value is 3 (expected 4)

2 scenarios: 1 as recorded, 1 differs
""")


NOTHING = (
    "(nothing came out; windows that are open at the end stay open: the steps do not end with\n"
    '  {"advance_watermark_to_infinity": true}'
)


@pytest.mark.parametrize(
    ("last", "options", "hint"),
    [
        ([], [], f"{NOTHING}; --explain says what each window waits for)\n"),
        ([], ["--explain"], f"{NOTHING})\n"),
        ([{"advance_watermark_to_infinity": True}], [], "(nothing came out; --explain says why)\n"),
        ([{"advance_watermark_to_infinity": True}], ["--explain"], ""),
    ],
)
def test_a_scenario_of_which_nothing_comes_out_says_where_to_look(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    last: list[Document],
    options: list[str],
    hint: str,
) -> None:
    elements = [] if last else [{"key": "joe", "value": 1, "ts_ms": 0}]
    document = without(a_scenario(), "complete", "panes", "dropped")
    document["steps"] = [{"elements": elements}, *last]

    assert main(["replay", save(tmp_path, document), *options]) == 0
    said = capsys.readouterr().out
    assert said.endswith(f"\n\n{hint}nothing expected\n\n1 scenario: 1 nothing expected\n")


def test_steps_after_the_end_of_time_are_pointed_at(tmp_path: Path, capsys: Any):
    document = without(a_scenario(), "complete", "panes", "dropped")
    document["steps"][1] = {"advance_watermark_to_infinity": True}

    assert main(["replay", save(tmp_path, document)]) == 0
    assert capsys.readouterr().out.endswith("""
(step 1 is the end of time, and no element can be in time after it; in a TestStream it is the last
  step)
nothing expected

1 scenario: 1 nothing expected
""")


@pytest.mark.parametrize("text", ["[]", '{"scenarios": []}'])
def test_a_file_without_a_scenario_is_status_2_and_the_others_are_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    file = tmp_path / "none.json"
    file.write_text(text)
    refusal = (
        f"beamlike: {file}: there is no scenario in this file; beamlike replay --help shows one "
        "to begin with\n"
    )

    assert main(["replay", str(file)]) == 2
    assert capsys.readouterr() == ("", refusal)
    assert main(["replay", save(tmp_path, a_scenario()), str(file)]) == 2
    out, err = capsys.readouterr()
    assert out.endswith("\n1 scenario: 1 as expected\n")
    assert err == f"{refusal}\nbeamlike: not run, it cannot be read: {file}\n"


def test_a_scenario_that_fails_is_reported_and_the_others_run(tmp_path: Path, capsys: Any):
    status = main(["replay", save(tmp_path, with_words(), a_scenario())])
    out = capsys.readouterr().out

    assert status == 1
    assert out.startswith("""\
== words: a minute of points
FixedWindows(1m), DefaultTrigger(), discarding, allowed lateness 0ms; sum of each pane
failed: Sum().add raised TypeError: unsupported operand type(s) for +: 'int' and 'str'; it was \
called for the element 'one' at 00:00:00.001 (1 ms), window [00:00:00, 00:01:00), key 'joe'

== minute: a minute of points
""")
    assert out.endswith("\n2 scenarios: 1 failed, 1 as expected\n")


def test_the_timeline_draws_what_the_table_lists(tmp_path: Path, capsys: Any):
    assert main(["replay", save(tmp_path, a_scenario()), "--format", "timeline"]) == 0
    assert (
        capsys.readouterr().out
        == """\
== minute: a minute of points
FixedWindows(1m), DefaultTrigger(), discarding, allowed lateness 0ms; sum of each pane

* element   o behind the watermark   x dropped   [--) window   | watermark

'joe' key               00:00:00    00:00:10     00:00:20    00:00:30     00:00:40    00:00:50
                        +-----------+------------+-----------+------------+-----------+------------+
  0 + 1, 2              *
      opened            [-------------------------------------------------------------------------)
  1 watermark                                                                             00:01:00 |
      ON_TIME #0 last   [-------------------------------------------------------------------------)|
                        3 by expiry of the window
  2 + 4                                                      x                                     |
      dropped, expired  [------------------------------------x------------------------------------)|
                        4 missed by 1ms

as expected

1 scenario: 1 as expected
"""
    )


def test_json_is_one_document_for_all_files_and_nothing_else(tmp_path: Path, capsys: Any):
    other = tmp_path / "other.json"
    other.write_text(json.dumps(without(a_scenario(id="other"), "panes", "dropped", "complete")))
    expected = {name: a_scenario()[name] for name in ("panes", "dropped")}

    status = main(["replay", save(tmp_path, a_scenario()), str(other), "--format", "json"])
    out, err = capsys.readouterr()

    assert (status, err) == (0, "")
    assert json.loads(out) == {
        "scenarios": [{"id": "minute", **expected}, {"id": "other", **expected}]
    }


def test_json_keeps_differences_and_failures_to_standard_error(tmp_path: Path, capsys: Any):
    status = main(["replay", save(tmp_path, expecting(4), with_words()), "--format", "json"])
    out, err = capsys.readouterr()

    assert status == 1
    problem = (
        "Sum().add raised TypeError: unsupported operand type(s) for +: 'int' and 'str'; it was "
        "called for the element 'one' at 00:00:00.001 (1 ms), window [00:00:00, 00:01:00), key "
        "'joe'"
    )
    assert json.loads(out)["scenarios"][1] == {"id": "words", "error": problem}
    assert err == (
        'beamlike: minute: step 1, key "joe", [0, 60000): pane ON_TIME #0: value is 3 '
        "(expected 4)\n"
        f"beamlike: words: failed: {problem}\n"
    )


def test_a_value_that_json_cannot_write_is_an_error_of_its_scenario(tmp_path: Path, capsys: Any):
    document = without(a_scenario(), "complete", "panes", "dropped")
    for element in document["steps"][0]["elements"]:
        element["value"] = 1e308

    assert main(["replay", save(tmp_path, document), "--format", "json"]) == 1
    (entry,) = json.loads(capsys.readouterr().out)["scenarios"]
    assert entry.keys() == {"id", "error"}
    assert entry["error"].startswith("a value cannot be written as JSON: ")


def mixed(folder: Path) -> tuple[Path, str]:
    """A file of three scenarios of which the second cannot be read, and what is said of it."""
    file = folder / "mixed.json"
    scenarios = [a_scenario(id="one"), a_scenario(id="two", stepz=[]), a_scenario(id="three")]
    file.write_text(json.dumps(scenarios, indent=1))
    return file, f"{file}: scenario 'two': unknown field 'stepz'; did you mean 'steps'?"


def said_of(file: Path, problem: str) -> str:
    return f"beamlike: {problem}\n\nbeamlike: not run, it cannot be read: 1 scenario of {file}\n"


@pytest.mark.parametrize("format", ["table", "timeline"])
@pytest.mark.parametrize("whole", ["file", "folder"])
def test_a_scenario_that_cannot_be_read_is_shown_and_the_others_are_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], format: str, whole: str
) -> None:
    file, problem = mixed(tmp_path)
    status = main(["replay", str(file if whole == "file" else tmp_path), "--format", format])
    out, err = capsys.readouterr()

    assert (status, err) == (2, said_of(file, problem))
    assert [line for line in out.splitlines() if line.startswith("== ")] == [
        "== one: a minute of points",
        "== three: a minute of points",
    ]
    assert out.endswith("\n2 scenarios: 2 as expected\n")


def test_json_names_what_cannot_be_read_beside_what_came_out(tmp_path: Path, capsys: Any):
    file, problem = mixed(tmp_path)
    expected = {name: a_scenario()[name] for name in ("panes", "dropped")}

    status = main(["replay", str(file), "--format", "json"])
    out, err = capsys.readouterr()

    assert (status, err) == (2, said_of(file, problem))
    assert json.loads(out) == {
        "scenarios": [{"id": "one", **expected}, {"id": "three", **expected}],
        "problems": [problem],
    }


def test_a_page_has_what_can_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, problem = mixed(tmp_path)
    page = tmp_path / "page.html"

    status = main(["replay", str(file), "--format", "html", "--out", str(page)])
    out, err = capsys.readouterr()

    assert (status, err) == (2, said_of(file, problem))
    assert out.endswith(f"\n2 scenarios: 2 as expected\nwritten: {page}\n")
    assert page.exists()


def test_what_comes_out_otherwise_does_not_hide_what_cannot_be_read(tmp_path: Path, capsys: Any):
    mixed(tmp_path)
    save(tmp_path, expecting(4))

    assert main(["replay", str(tmp_path)]) == 2
    assert capsys.readouterr().out.endswith("\n3 scenarios: 1 differs, 2 as expected\n")


@pytest.mark.parametrize("format", ["table", "timeline", "json"])
def test_a_file_that_cannot_be_used_is_status_2_and_the_others_are_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], format: str
) -> None:
    good, bad = save(tmp_path, a_scenario()), tmp_path / "bad.json"
    bad.write_text(json.dumps(a_scenario(stepz=[]), indent=1))
    problem = f"beamlike: {bad}: scenario 'minute': unknown field 'stepz'; did you mean 'steps'?\n"

    assert main(["replay", str(bad), "--format", format]) == 2
    assert capsys.readouterr() == ("", problem)
    assert main(["replay", good, str(bad), "--format", format]) == 2
    out, err = capsys.readouterr()
    assert "joe" in out
    assert err == f"{problem}\nbeamlike: not run, it cannot be read: {bad}\n"


def test_a_missing_file_is_status_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = tmp_path / "none.json"

    assert main(["replay", str(missing)]) == 2
    assert capsys.readouterr().err == (
        f"beamlike: {missing}: cannot be read: No such file or directory\n"
    )


def test_a_windowing_is_reported_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    full = without(a_scenario(id="full"), "complete", "panes", "dropped")
    full["windowing"] = {
        "window": {"fn": "sessions", "gap_ms": 5_000},
        "trigger": {"type": "after_watermark", "late": {"type": "after_count", "count": 1}},
        "accumulation": "accumulating",
        "allowed_lateness_ms": 90_000,
        "timestamp_combiner": "earliest",
        "closing_behavior": "fire_always",
        "on_time_behavior": "fire_if_non_empty",
    }
    main(["replay", save(tmp_path, full, full | {"id": "plain", "aggregation": "none"})])

    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == (
        "Sessions(5s), AfterWatermark(late=AfterCount(1)), accumulating, allowed lateness 1m 30s, "
        "timestamp combiner earliest, closing behavior fire_always, "
        "on-time behavior fire_if_non_empty; "
        "sum of each pane"
    )
    assert "Sessions(5s), not grouped" in lines


def test_a_reader_that_leaves_early_sees_no_traceback(tmp_path: Path) -> None:
    many = save(tmp_path, *(a_scenario(id=f"minute {n}") for n in range(2_000)))
    process = subprocess.Popen(
        [sys.executable, "-m", "beamlike.cli", "replay", many],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "== minute 0: a minute of points\n"
    process.stdout.close()

    assert process.stderr is not None
    assert process.stderr.read() == ""
    assert process.wait() == 141


def test_a_terminal_that_lacks_a_character_shows_its_code(tmp_path: Path) -> None:
    file = save(tmp_path, a_scenario(title="late \N{EM DASH} dropped"))
    shown = subprocess.run(
        [sys.executable, "-m", "beamlike.cli", "replay", file],
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
    )

    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.startswith("== minute: late \\u2014 dropped\n")


@pytest.mark.nightly
@pytest.mark.spark
def test_spark_gives_what_memory_gives(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    passing = a_scenario(id="passing", aggregation="none", complete=False)
    passing |= {"panes": [{"value": 4, "timing": "UNKNOWN"}], "dropped": []}
    wrong = a_scenario(id="wrong", stepz=[])
    file = save(tmp_path, a_scenario(), with_words(), wrong, passing)

    statuses, printed = [], []
    for host in ("memory", "spark"):
        statuses.append(main(["replay", file, "--host", host, "--format", "json"]))
        printed.append(json.loads(capsys.readouterr().out))

    assert statuses == [2, 2]  # one cannot be read
    ids = [entry["id"] for entry in printed[0]["scenarios"] if "error" not in entry]
    assert ids == ["minute", "passing"]  # the words cannot be summed
    assert printed[0] == printed[1]
