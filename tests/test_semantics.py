"""Each rule of the page on semantics names what shows it, and that is there."""

import json
import re
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "pages" / "semantics.md").read_text(encoding="utf-8")
RULES = dict(re.findall(r"^\*\*([\d.]+)\*\* (.+?)(?=\n\n|\Z)", PAGE, re.MULTILINE | re.DOTALL))
SCENARIOS = {
    scenario["id"]
    for file in (ROOT / "tests" / "conformance" / "cases").glob("*/*.json")
    for scenario in json.loads(file.read_text(encoding="utf-8"))
}


def named(rule: str) -> list[str]:
    """The scenarios, and the files of tests, that a rule names after saying what it says."""
    shown = rule.partition("Shown by")[2].replace("\n", " ")
    return re.findall(r"`(\w+_\w+)`|\]\(([^)]+\.py)\)", shown)


def test_the_rules_are_numbered_without_a_gap():
    numbers = [tuple(map(int, number.split("."))) for number in RULES]

    assert numbers == sorted(set(numbers))
    assert [now for before, now in pairwise(numbers) if not follows(before, now)] == []


def follows(before: tuple[int, ...], now: tuple[int, ...]) -> bool:
    return now in ((before[0], before[1] + 1), (before[0] + 1, 1))


def test_each_rule_names_a_scenario_or_a_test_that_is_there():
    silent = [number for number, rule in RULES.items() if not named(rule)]
    missing = [
        f"{number}: {scenario or file}"
        for number, rule in RULES.items()
        for scenario, file in named(rule)
        if scenario not in SCENARIOS and not (ROOT / "docs" / "pages" / (file or "-")).is_file()
    ]

    assert len(RULES) > 45
    assert silent == []
    assert missing == []
