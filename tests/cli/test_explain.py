"""`beamlike explain`, and `beamlike replay --explain`: the words, and the exit status."""

import json
from pathlib import Path
from typing import Any

import pytest

from beamlike.cli import main
from tests.support.scenario_documents import scenario_document

BLOG = Path(__file__).parents[1] / "conformance" / "cases" / "blog"
SESSIONS = str(BLOG / "blog_session.json")

DROPPED = """\
Sessions(10m), DefaultTrigger(), discarding, allowed lateness 0ms

key 'joe'
  step 3: an element arrives, the watermark at 00:13:00
    - 'add to cart' at 00:03:00 is dropped: its window [00:03:00, 00:13:00) expired when the
      watermark reached 00:13:00. 1ms more of allowed lateness would have saved it. So would
      late_check="merged": it would have joined [00:09:30, 00:19:30) and made it
      [00:03:00, 00:19:30).
"""

EXPLAINED = """\
what happened, and why:

key 'joe'
  step 0: 2 elements arrive, before any watermark
    - 1 at 00:00:00.001 and 2 at 00:00:00.002 open [00:00:00, 00:01:00).
    - Nothing comes out yet: [00:00:00, 00:01:00) waits for the watermark to reach 00:01:00.
  step 1: the watermark moves to 00:01:00
    - [00:00:00, 00:01:00) emits its last pane, ON_TIME 0: 3, by expiry of the window: the watermark
      has reached 00:01:00, and there is no allowed lateness.
"""


def written(folder: Path, *scenarios: dict[str, Any]) -> str:
    file = folder / "scenarios.json"
    file.write_text(json.dumps({"scenarios": scenarios}), encoding="utf-8")
    return str(file)


def test_a_key_and_a_window_of_one_scenario_are_explained(capsys: pytest.CaptureFixture[str]):
    id = "blog_session_07c_late_bridge_dropped"
    chosen = ["explain", SESSIONS, "--scenario", id, "--key", "joe"]

    assert main([*chosen, "--window", "00:03:00", "00:13:00"]) == 0
    assert capsys.readouterr().out == DROPPED
    assert main([*chosen, "--window", "180000", "780000"]) == 0
    assert capsys.readouterr().out == DROPPED


def test_several_scenarios_have_their_titles_and_those_without_the_key_are_left_out(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    one_element = [{"elements": [{"key": 7, "value": 1, "ts_ms": 0}]}]
    file = written(
        tmp_path,
        scenario_document(id="a"),
        scenario_document(id="b", title="b", steps=one_element),
        scenario_document(id="c", title="the third", steps=one_element),
    )

    assert main(["explain", file, "--key", "7"]) == 0

    windowing = "FixedWindows(1m), DefaultTrigger(), discarding, allowed lateness 0ms"
    words = f"""\
{windowing}

key 7
  step 0: an element arrives, before any watermark
    - 1 at 00:00:00 opens [00:00:00, 00:01:00).
    - Nothing comes out yet: [00:00:00, 00:01:00) waits for the watermark to reach 00:01:00.
  at the end, before any watermark
    - [00:00:00, 00:01:00) is open with 1 element that no pane has shown, and waits for the
      watermark to reach 00:01:00.

"""
    assert capsys.readouterr().out == f"== b\n{words}== c: the third\n{words}"


def test_elements_without_a_key_can_be_asked_for(capsys: Any, tmp_path: Path):
    both = [{"elements": [{"key": key, "value": 1, "ts_ms": 0} for key in ("joe", None)]}]
    assert main(["explain", written(tmp_path, scenario_document(steps=both)), "--key", "None"]) == 0

    assert [line for line in capsys.readouterr().out.splitlines() if "key" in line] == ["no key"]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("7", "key 7"),
        ('"7"', "key '7'"),
        ("'7'", "key '7'"),
        ("null", "no key"),
        ("None", "no key"),
        ("true", "key 'true'"),
        ("joe", "key 'joe'"),
        ('"joe"', "key 'joe'"),
    ],
)
def test_a_key_is_read_as_json_and_then_as_text(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, typed: str, meant: str
) -> None:
    keys = [1, "7", 7, None, "true", "joe"]
    steps = [{"elements": [{"key": key, "value": 1, "ts_ms": 0} for key in keys]}]
    assert main(["explain", written(tmp_path, scenario_document(steps=steps)), "--key", typed]) == 0

    printed = capsys.readouterr().out.splitlines()
    assert [line for line in printed if line.startswith(("key", "no key"))] == [meant]


def test_a_file_without_a_scenario_is_status_2(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    file = written(tmp_path)

    assert main(["explain", file]) == 2
    assert capsys.readouterr() == (
        "",
        f"beamlike: {file}: there is no scenario in this file; beamlike replay --help shows one "
        "to begin with\n",
    )


@pytest.mark.parametrize("command", ["explain", "state"])
def test_the_help_says_how_a_key_is_read(capsys: pytest.CaptureFixture[str], command: str) -> None:
    assert main([command, "--help"]) == 0

    shown = " ".join(capsys.readouterr().out.split())
    assert "It is read as JSON first" in shown
    assert "null stands for no key" in shown
    assert "as the text that is listed" in shown


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ["--scenario", "blog_session_10"],
            f"{SESSIONS}: there is no scenario 'blog_session_10'; the nearest are "
            "'blog_session_10_speculative', 'blog_session_10b_speculative_clock_plus_1ms', "
            "'blog_session_10c_speculative_discarding'",
        ),
        (["--key", "jo"], "there is no key 'jo'; the only key is 'joe'"),
        (
            ["--window", "00:00:01", "00:10:00"],
            "there is no window [00:00:01, 00:10:00); the nearest are [00:00:00, 00:10:00), "
            "[00:00:00, 00:11:30), [00:01:30, 00:11:30)",
        ),
        (
            ["--window", "noon", "00:10:00"],
            "--window START is not an instant: 'noon'; write epoch milliseconds, a datetime, "
            '"2013-01-01T06:00:00Z", or a time of day such as "00:01:30"',
        ),
        (
            ["--window", "00:10:00", "00:00:00"],
            "a window needs start < end, got start=00:10:00, end=00:00:00; give an end that is "
            "later",
        ),
    ],
)
def test_what_is_not_in_the_file_is_status_2_and_the_nearest_is_named(
    capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    assert main(["explain", SESSIONS, *arguments]) == 2

    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == f"beamlike: {says}\n"


def test_a_file_that_is_not_there_is_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "nowhere.json"]) == 2
    assert capsys.readouterr().err == (
        "beamlike: nowhere.json: cannot be read: No such file or directory\n"
    )


def test_a_scenario_that_fails_is_status_1_and_the_others_are_explained(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = [{"elements": [{"key": "joe", "value": v, "ts_ms": 0} for v in (1, "one")]}]
    file = written(tmp_path, scenario_document(id="words", steps=words), scenario_document())

    assert main(["explain", file]) == 1

    captured = capsys.readouterr()
    assert captured.err.startswith("beamlike: words: failed: Sum().add raised TypeError: ")
    assert captured.out.startswith("== minute: a minute of points\nFixedWindows(1m), ")


@pytest.mark.parametrize("format", ["table", "timeline"])
def test_replay_explains_below_what_it_shows(capsys: Any, tmp_path: Path, format: str):
    file = written(tmp_path, scenario_document())
    assert main(["replay", file, "--format", format]) == 0
    shown, verdict = capsys.readouterr().out.split("\nnothing expected\n")

    assert main(["replay", file, "--format", format, "--explain"]) == 0

    assert capsys.readouterr().out == f"{shown}\n{EXPLAINED}\nnothing expected\n{verdict}"


def test_replay_has_no_words_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", SESSIONS, "--format", "json", "--explain"]) == 2
    assert capsys.readouterr().err == (
        "beamlike: --explain is for people, and --format json is for programs; use --format "
        "table or timeline\n"
    )


def test_the_help_says_what_is_explained_and_how_to_ask(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--help"]) == 0

    shown = capsys.readouterr().out.splitlines()
    for line in (
        "every pane and the part of the trigger that brought it out, every dropped",
        "  2   a file cannot be read or does not follow the format, or there is no such",
        "  beamlike explain scenario.json --key joe --window 00:00:00 00:10:00",
    ):
        assert line in shown


@pytest.mark.nightly
@pytest.mark.spark
def test_replay_on_spark_draws_and_explains_as_in_memory(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, spark: object
) -> None:
    file = written(tmp_path, scenario_document())
    arguments = ["replay", file, "--format", "timeline", "--explain"]
    assert main(arguments) == 0
    in_memory = capsys.readouterr().out

    assert main([*arguments, "--host", "spark"]) == 0

    assert capsys.readouterr().out == in_memory


def test_a_scenario_that_cannot_be_read_is_status_2_and_the_others_are_explained(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = written(
        tmp_path, scenario_document(), scenario_document(id="wrong", aggregation="median")
    )

    assert main(["explain", file]) == 2
    out, err = capsys.readouterr()
    assert out.startswith("FixedWindows(1m), DefaultTrigger(), discarding")
    assert err.startswith(f"beamlike: {file}: scenario")
    assert "scenario 'wrong': aggregation: unknown value 'median'" in err
    assert err.endswith(f"\nbeamlike: not run, it cannot be read: 1 scenario of {file}\n")

    # One that is asked for by its id is all that counts.
    assert main(["explain", file, "--scenario", "minute"]) == 0
    assert capsys.readouterr() == (out, "")
    assert main(["explain", file, "--scenario", "wrong"]) == 2
    assert "scenario 'wrong': aggregation: unknown value 'median'" in capsys.readouterr().err
