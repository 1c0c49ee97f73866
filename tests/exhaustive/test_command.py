"""``python -m tests.exhaustive``: what it writes, that it goes on, and its exit status."""

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from tests.exhaustive import progress as kept
from tests.exhaustive import search, work
from tests.exhaustive.engines import local, reference
from tests.exhaustive.progress import Done, Piece, Progress

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The command's ``main``, as it is found from the top of the checkout."""
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("tests.exhaustive.__main__").main


def run(command: Any, path: Path, *more: str) -> int:
    status: int = command(["--progress", str(path / "p.jsonl"), "--bounds", "wide", *more])
    return status


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (path / "p.jsonl").read_text().splitlines()]


def test_it_goes_on_where_it_was(command: Any, tmp_path: Path, capsys: Any) -> None:
    assert run(command, tmp_path, "--pieces", "0") == 0
    first = [str(piece) for piece, _ in zip(work.pieces(("wide",)), range(3), strict=False)]
    progress = Progress.at(tmp_path / "p.jsonl")
    progress.add(Done(first[0], 1_000, 1.0))
    progress.add(Done(first[1], 200, 1.0, ("a difference",)))

    assert run(command, tmp_path, "--minutes", "0", "--report", str(tmp_path / "R.md")) == 0
    assert "\n| wide | 1 of 265 | 1,000 | 1 |\n" in capsys.readouterr().out
    text = (tmp_path / "R.md").read_text()
    assert "265 strategies. 1,000 of 3,179,115 streams of one key" in text
    assert set(progress.done()) == {first[0]}


def test_a_piece_is_searched_and_noted(command: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(work, "alphabet_of", small(work.alphabet_of))

    assert run(command, tmp_path, "--pieces", "2") == 0

    header, *pieces = lines(tmp_path)
    assert header == {"sources": kept.digest_of_sources()}
    assert [(piece["piece"], piece["differences"]) for piece in pieces] == [
        ("wide/0", []),
        ("wide/21", []),
    ]


def test_what_differs_is_shown_in_the_smallest_stream(
    command: Any, tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(work, "alphabet_of", small(work.alphabet_of))
    monkeypatch.setattr(
        search.search, "__kwdefaults__", {**(search.search.__kwdefaults__ or {}), "engines": WRONG}
    )

    assert run(command, tmp_path, "--pieces", "1") == 1

    said = capsys.readouterr().out
    assert "wrong: FixedWindows(10ms), DefaultTrigger()" in said
    assert "1 pieces differ" in said
    assert Progress.at(tmp_path / "p.jsonl").done() == {}


WRONG = {
    "local": local,
    "wrong": lambda strategy: reference(strategy.configured(allowed_lateness=100)),
}


def small(alphabet_of: Any) -> Any:
    return lambda bound, strategy, most=None: alphabet_of(bound, strategy, 2)


def test_other_sources_begin_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "p.jsonl"
    Progress.at(path).add(Done("wide/0", 5, 0.1))
    assert set(Progress.at(path).done()) == {"wide/0"}

    monkeypatch.setattr(kept, "digest_of_sources", lambda: "others")

    assert Progress.at(path).done() == {}


def test_a_line_that_was_cut_short_is_done_again(tmp_path: Path) -> None:
    progress = Progress.at(tmp_path / "p.jsonl")
    progress.add(Done("wide/0", 5, 0.1))
    with progress.lines.path.open("a") as file:
        file.write('{"piece": "wide/1", "str')

    assert set(Progress.at(progress.lines.path).done()) == {"wide/0"}


@pytest.mark.nightly
def test_processes_share_the_pieces(command: Any) -> None:
    results = importlib.import_module("tests.exhaustive.__main__").results
    few = [Piece("wide", at) for at in (5, 11)]

    alone = {result.piece: result.streams for result in results(few, 1, None)}
    shared = {result.piece: result.streams for result in results(few, 2, None)}

    assert alone == shared == {"wide/5": 341, "wide/11": 341}


def test_laws_are_pieces_too() -> None:
    assert work.do(Piece("laws", 5)).differences == ()
