"""Each rule of the page on states and timers names the tests that show it, and they are there."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from tests.test_semantics import follows

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "pages" / "state_and_timers.md").read_text(encoding="utf-8")
RULES = dict(re.findall(r"^\*\*([\d.]+)\*\* (.+?)(?=\n\n|\Z)", PAGE, re.MULTILINE | re.DOTALL))
FILES = (
    *("machine/test_userstate.py", "stateful/test_stateful.py", "pipelines/test_failing_states.py"),
    *("pipelines/test_beam_guide.py", "ported/test_*.py"),
)
TESTS = {
    name
    for pattern in FILES
    for file in (ROOT / "tests").glob(pattern)
    for name in re.findall(r"^(?:@case\n)?def (\w+)\(", file.read_text(encoding="utf-8"), re.M)
}
ROWS = re.findall(r"^\| `(\w+)`[^|]*\| (yes|no)\b[^|]*\|([^|]*)\|$", PAGE, re.MULTILINE)


def named(text: str) -> list[str]:
    """The tests that a text names."""
    return re.findall(r"`(\w+_\w+)`", text)


def test_the_rules_are_numbered_without_a_gap():
    numbers = [tuple(map(int, number.split("."))) for number in RULES]
    assert numbers == sorted(set(numbers))
    assert [now for before, now in pairwise(numbers) if not follows(before, now)] == []


@pytest.mark.parametrize("number", RULES)
def test_each_rule_names_tests_that_are_there(number: str) -> None:
    shown = named(RULES[number].partition("Shown by")[2])
    assert shown
    assert set(shown) <= TESTS


def test_each_category_that_passes_names_tests_that_are_there():
    assert len(ROWS) == 16
    assert [
        category for category, passes, shown in ROWS if passes == "yes" and not named(shown)
    ] == []
    assert {name for _, _, shown in ROWS for name in named(shown)} <= TESTS
