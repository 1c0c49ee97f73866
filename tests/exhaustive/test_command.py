"""``python -m tests.exhaustive``: what it writes, that it goes on, and its exit status."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.exhaustive import search, work
from tests.exhaustive.__main__ import DECIDING, main
from tests.exhaustive.engines import local, reference
from tests.support.search import Checked, Chunk, Kept, digest_of


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """The command over the first strategy, with streams of two events."""
    alphabet_of = work.alphabet_of
    small = lambda bound, strategy, most=None: alphabet_of(bound, strategy, 2)  # noqa: E731
    monkeypatch.setattr(work, "alphabet_of", small)
    kept = ["--progress", str(tmp_path / "p.jsonl"), "--bounds", "wide", "--minutes", "0"]
    return lambda *more: main([*kept, *more])


def test_a_strategy_is_searched_and_noted(command: Any, tmp_path: Path) -> None:
    assert command() == command("--report", str(tmp_path / "R.md")) == 0

    header, *done = map(json.loads, (tmp_path / "p.jsonl").read_text().splitlines())
    assert header == {"sources": digest_of(DECIDING)}
    assert [line["chunk"] for line in done] == ["wide/0/0-0", "wide/0/21-21"]
    text = (tmp_path / "R.md").read_text()
    assert "Every law holds.\n265 strategies, " in text
    streams = sum(line["scenarios"] for line in done)
    assert f"\n| local | {streams:,} |\n| each element is in panes or dropped, once | " in text


def test_what_differs_is_shown_in_the_smallest_stream(
    command: Any, tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(
        search.search, "__kwdefaults__", {**(search.search.__kwdefaults__ or {}), "engines": WRONG}
    )

    assert command() == 1

    said = capsys.readouterr().out
    assert "wrong: FixedWindows(10ms), DefaultTrigger()" in said
    assert said.endswith(" broken\n")
    assert len((tmp_path / "p.jsonl").read_text().splitlines()) == 1  # not kept as done


WRONG = {
    "local": local,
    "wrong": lambda strategy: reference(strategy.configured(allowed_lateness=100)),
}


def test_other_sources_begin_anew(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    Kept.of(path, "these").add(Checked("wide/0/0-0", 5, {}, 0.1))
    assert set(Kept.of(path, "these").checked()) == {"wide/0/0-0"}
    assert Kept.of(path, "others").checked() == {}


def test_a_line_that_was_cut_short_is_done_again(tmp_path: Path) -> None:
    kept = Kept.of(tmp_path / "p.jsonl", "these")
    kept.add(Checked("wide/0/0-0", 5, {}, 0.1))
    with kept.path.open("a") as file:
        file.write('{"chunk": "wide/0/1-1", "str')

    assert set(Kept.of(kept.path, "these").checked()) == {"wide/0/0-0"}


def test_a_strategy_is_held_against_the_laws_too() -> None:
    applied = Counter[str]()

    streams, broken = work.check(Chunk("laws", 0, range(5, 6)), applied)

    assert (broken, applied["a longer lateness loses nothing that a shorter one kept"]) == (
        [],
        streams,
    )
