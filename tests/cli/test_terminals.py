"""Scenario files are written by others: no text in them is a command to a terminal, or markup."""

import json
from pathlib import Path
from typing import Any

import pytest

from beamlike.cli import main
from beamlike.model.fingerprint import visible
from tests.support.scenario_documents import scenario_document

RUDE = "\x1b[2J\x1b]0;mine\x07\u202e<script>alert(1)</script>\r"
SHOWN = r"\x1b[2J\x1b]0;mine\x07\u202e<script>alert(1)</script>\r"


def scenario(**changes: Any) -> dict[str, Any]:
    rude: dict[str, Any] = {
        "id": f"rude{RUDE}",
        "title": f"title{RUDE}",
        "aggregation": "list",
        "steps": [
            {"elements": [{"key": f"k{RUDE}", "value": f"v{RUDE}", "ts_ms": 0}]},
            {"advance_watermark_to_infinity": True},
        ],
        "panes": [],
        "contested": True,
        "contested_reason": [f"why{RUDE}"],
    }
    return scenario_document(**rude | changes)


@pytest.fixture
def rude(tmp_path: Path) -> Path:
    """A file of two scenarios that are not nice; the second cannot be summed up."""
    path = tmp_path / "rude.json"
    path.write_text(json.dumps([scenario(), scenario(id=f"sum{RUDE}", aggregation="sum")]))
    return path


def is_harmless(text: str) -> bool:
    return all(it.isprintable() or it == "\n" for it in text)


@pytest.mark.parametrize(
    "command",
    [
        ["replay", "--format", "table", "--explain"],
        ["replay", "--format", "timeline"],
        ["replay", "--format", "json"],
        ["explain"],
        ["explain", "--key", "nobody"],
    ],
    ids=" ".join,
)
def test_a_command_prints_what_it_was_given_and_obeys_none_of_it(
    rude: Path, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    name, *options = command
    main([name, str(rude), *options])

    said = capsys.readouterr()
    assert SHOWN[:20] in said.out + said.err
    assert is_harmless(said.out)
    assert is_harmless(said.err)


def test_a_mistake_in_a_file_is_reported_without_obeying_it(tmp_path: Path, capsys: Any):
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps(scenario(aggregation=f"sum{RUDE}"), ensure_ascii=False))

    assert main(["replay", str(path)]) == 2

    said = capsys.readouterr().err
    assert "aggregation: unknown value 'sum\\x1b[2J" in said
    assert is_harmless(said)


def test_a_page_holds_no_markup_but_its_own(rude: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"

    main(["replay", str(rude), "--format", "html", "--out", str(page)])

    text = page.read_text(encoding="utf-8")
    assert "alert(1)" in text
    assert "<script>alert" not in text
    assert "alert(1)</script>" not in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("tea, \u00e9t\u00e9, \u8336 \U0001f375", "tea, \u00e9t\u00e9, \u8336 \U0001f375"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("\x1b[31mred\x9b\x7f\x00", r"\x1b[31mred\x9b\x7f\x00"),
        ("\u202eback\u2028", r"\u202eback\u2028"),
        ("half \ud800", r"half \ud800"),
    ],
)
def test_what_is_no_letter_is_shown_as_python_would_write_it(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    ("terminal", "value"),
    [
        (None, "[0, 1, 2, 3, 4, 5, 6, 7, 8,..."),
        (160, str(list(range(20)))),
        (20, "[0, 1, 2, 3, 4, 5, 6, 7, 8,..."),
    ],
)
def test_the_table_of_a_replay_is_as_wide_as_the_terminal(
    terminal: int | None,
    value: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    elements = [{"key": "k", "value": number, "ts_ms": 0} for number in range(20)]
    steps = [{"elements": elements}, {"advance_watermark_to_infinity": True}]
    path = tmp_path / "wide.json"
    path.write_text(json.dumps(scenario(id="wide", title="wide", steps=steps)))
    if terminal is not None:
        monkeypatch.setattr("sys.stdout.isatty", lambda: True)
        monkeypatch.setenv("COLUMNS", str(terminal))

    main(["replay", str(path)])

    row = next(line for line in capsys.readouterr().out.splitlines() if "ON_TIME" in line)
    assert row.partition("00:00:59.999  ")[2] == value
