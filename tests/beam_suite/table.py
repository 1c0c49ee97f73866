"""What passes and what does not, by file and by first cause, as a table."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from tests.beam_runner.named import reason_of
from tests.beam_suite.units import left_out

Entries = Sequence[Mapping[str, Any]]

_VARYING: Final = (
    (re.compile(r"0x[0-9a-f]+|\d+(\.\d+)?"), "N"),
    (re.compile(r"'[^']*'|\"[^\"]*\""), "'...'"),
    (re.compile(r"<[^<>]*>"), "<...>"),
    (re.compile(r"\[.*\]|\{.*\}"), "[...]"),
)


class Compared:
    """A unit with what its tests did, of those that Beam itself passes."""

    def __init__(self, unit: Mapping[str, Any], real: Entries, ours: Entries) -> None:
        self.unit, self.kind = str(unit["unit"]), str(unit["kind"])
        passes = {it["test"]: it for it in real if it["outcome"] == "passed"}
        self.left_out = {name for name in passes if left_out(f"{self.unit}.{name}")}
        self.counted = [name for name in passes if name not in self.left_out]
        found = {our["test"]: our for our in ours}
        self.failed: dict[str, str] = {}
        for name in self.counted:
            mine = (
                found.get(name) or found.get("*") or {"outcome": "failed", "cause": "did not run"}
            )
            if mine["outcome"] != "passed":
                self.failed[name] = mine.get("cause") or f"it was {mine['outcome']}"
            elif not same(passes[name], mine):
                self.failed[name] = "it printed something else"

    @property
    def good(self) -> int:
        """How many of them pass."""
        return len(self.counted) - len(self.failed)


def same(real: Mapping[str, Any], mine: Mapping[str, Any]) -> bool:
    """Whether a program printed the same, if Beam prints the same twice."""
    return not real.get("stable") or real["printed"] == mine["printed"]


def compared(
    units: Iterable[Mapping[str, Any]], real: Mapping[str, Entries], ours: Mapping[str, Entries]
) -> list[Compared]:
    """Each unit that has run with both."""
    return [
        Compared(unit, real[unit["unit"]], ours[unit["unit"]])
        for unit in units
        if unit["unit"] in real and unit["unit"] in ours
    ]


def grouped_cause(cause: str) -> str:
    """A cause without what differs from test to test."""
    for pattern, instead in _VARYING:
        cause = pattern.sub(instead, cause)
    return cause[:160]


def text_of(
    compareds: Sequence[Compared],
    version: str,
    learning: str = "",
    host: str = "local",
    only: str = "",
    left: Sequence[str] = (),
    by_runner: Sequence[Compared] = (),
) -> str:
    """The table, in Markdown.

    Args:
        compareds: What is in it of the pocket edition.
        version: The version of Beam.
        learning: The version of the checkout with the katas and the Tour of Beam.
        host: Where pipelines ran.
        only: What the names of all files have in them; empty: all files are there.
        left: Files that did not run to their end.
        by_runner: What Beam itself did with `BeamlikeRunner`; empty: it did not run.
    """
    command = "" if host == "local" else f" --host {host}"
    command += f" --only {only}" if only else ""
    lines = [
        "# Tests and programs of Apache Beam on beamlike",
        "",
        f"apache-beam {version}, host `{host}`: by `BeamlikeRunner`, and with the pocket edition,",
        "`beamlike.beam`, in Beam's place. Counted is what passes with Beam's own runner, without",
        f"a network. Written by `python -m tests.beam_suite{command}`.",
        "",
    ]
    if left:
        names = ", ".join(f"`{it.removeprefix('apache_beam.')}`" for it in left)
        lines += [f"Not run to the end: {names}.", ""]
    if any(it.unit.startswith("learning/") for it in compareds):
        of_version = f" of {learning}" if learning else ""
        lines += [
            f"With the katas and the Tour of Beam of a checkout{of_version}, `--checkout`:",
            "what they print and write is compared. Short files stand for Google's storage.",
            "",
        ]
    for kind, what in (("tests", "unit tests"), ("programs", "programs")):
        shares = {"the pocket edition": _share(compareds, kind)}
        if by_runner:
            shares = {"`BeamlikeRunner`": _share(by_runner, kind), **shares}
        lines += [f"* {what}, {who}: {share}" for who, share in shares.items()]
    of_unit = {it.unit: it for it in by_runner}
    lines += ["", "| file | runner | pocket | of | internal |", "|---|---|---|---|---|"]
    for it in compareds:
        if it.counted or it.left_out:
            name = it.unit.removeprefix("apache_beam.")
            ran = of_unit.get(it.unit)
            cells = (name, "" if ran is None else ran.good, it.good, len(it.counted))
            lines.append(f"| {' | '.join(map(str, cells))} | {len(it.left_out) or ''} |")
    if by_runner:
        lines += ["", *_failures(by_runner, host)]
    return (
        "\n".join(
            [*lines, "", *_causes(compareds, "of the pocket edition"), "", *_reasons(compareds)]
        ).rstrip()
        + "\n"
    )


def _share(compareds: Iterable[Compared], kind: str) -> str:
    of_kind = [it for it in compareds if it.kind == kind]
    total, good = sum(len(it.counted) for it in of_kind), sum(it.good for it in of_kind)
    return f"{good} of {total} pass ({100 * good / total if total else 0:.1f} %)"


def _failures(by_runner: Iterable[Compared], host: str) -> list[str]:
    """Each test that does not pass with the runner, and why: the reason it is named for, or what
    was raised."""
    rows = []
    for compared_unit in by_runner:
        unit = compared_unit.unit.removeprefix("apache_beam.")
        for name, cause in compared_unit.failed.items():
            known = reason_of(name.replace(".", "::"), host, in_place=True)
            why = known or f"`{cause.replace('|', '/').replace('`', chr(39))}`"
            rows.append(f"| {unit} {name} | {why} |")
    heading = ["## What does not pass with `BeamlikeRunner`", "", "| test | why |", "|---|---|"]
    return [*heading, *rows] if rows else []


def _causes(compareds: Iterable[Compared], whose: str) -> list[str]:
    causes: Counter[str] = Counter()
    example: dict[str, str] = {}
    for it in compareds:
        for name, cause in it.failed.items():
            group = grouped_cause(cause)
            causes[group] += 1
            example.setdefault(group, f"{it.unit.removeprefix('apache_beam.')} {name}".strip())
    lines = [
        f"## First causes of failure, {whose}",
        "",
        "| blocked | cause | such as |",
        "|---|---|---|",
    ]
    for cause, number in causes.most_common():
        shown = cause.replace("|", "\\|").replace("`", "'")
        lines.append(f"| {number} | `{shown}` | {example[cause]} |")
    return lines if causes else []


def _reasons(compareds: Iterable[Compared]) -> list[str]:
    reasons: dict[str, list[str]] = defaultdict(list)
    for it in compareds:
        for name in sorted(it.left_out):
            reasons[left_out(f"{it.unit}.{name}")].append(name)
    lines = ["## Internals, left out"]
    for why, tests in reasons.items():
        lines += ["", f"{why}: {', '.join(f'`{name}`' for name in tests)}."]
    return lines if reasons else []
