"""What checks an exercise: what was written, against what a run says."""

from collections.abc import Iterable
from typing import Any

from beamlike.testing import Results

__all__ = ["check", "clocks", "panes", "time_of_day", "values"]


def check(
    given: Any,
    answer: Any,
    right: str,
    hints: Iterable[tuple[Any, str]] = (),
    shown: object = None,
) -> None:
    """Say whether an exercise is solved, and what to look at if it is not.

    Args:
        given: What was written; three dots stand for what is still to be written.
        answer: What is right, as a run says it.
        right: What to say of it.
        hints: Wrong answers, and what to say of each.
        shown: What came out, for those who are not there yet.
    """
    if _is_open(given):
        print("Not yet. Write your answer in place of the three dots.")
        return
    if given == answer:
        print(f"Right: {right}")
        return
    said = next((words for wrong, words in hints if wrong == given), None)
    print("Not yet.", said or _how_far(given, answer))
    if shown is not None:
        print(f"\nThis came out:\n\n{shown}")


def values(results: Results, timing: str = "") -> list[Any]:
    """The values of the panes in order; of one timing, ``"EARLY"``, ``"ON_TIME"`` or ``"LATE"``."""
    return [value for name, value in panes(results) if timing in ("", name)]


def panes(results: Results) -> list[tuple[str, Any]]:
    """The timing and the value of each pane, in order."""
    effects: list[Any] = [it.effect for it in results.panes]
    return [(it.info.timing.value, it.value) for it in effects if not it.retraction]


def clocks(results: Results) -> list[str]:
    """The reading of the clock at which each pane came, in order."""
    readings = [clock for _, clock in results.run.clocks()]
    return [time_of_day(readings[it.step]) for it in results.panes]


def time_of_day(ms: int) -> str:
    """Milliseconds since the epoch as a time of day, to the second."""
    seconds = ms // 1000
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def _is_open(given: Any) -> bool:
    if isinstance(given, dict):
        return any(map(_is_open, given.values()))
    return given is ... or (isinstance(given, list | tuple) and any(map(_is_open, given)))


def _how_far(given: Any, answer: Any) -> str:
    if isinstance(given, dict) and isinstance(answer, dict):
        given, answer = [given.get(name) for name in answer], list(answer.values())
    if not isinstance(given, list) or not isinstance(answer, list):
        return f"You wrote {given!r}. Look at the picture once more."
    if len(given) != len(answer):
        return f"You wrote {len(given)}, and there are {len(answer)}."
    many = sum(mine == its for mine, its in zip(given, answer, strict=True))
    return f"Right so far: {many} of {len(answer)}."
