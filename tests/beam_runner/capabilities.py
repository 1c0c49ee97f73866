"""The table of capabilities of Beam's site, with a column that tests fill in.

The columns of other runners are those of the site (``capability_matrix.yaml`` of Apache Beam). The
site has none of Prism: that column says whether the tests of Beam's conformance that belong to a
row are run by ``prism_runner_test`` of the SDK, or skipped there.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import attrs

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "pages" / "beam_capabilities.md"
SITE: Final = "https://beam.apache.org/documentation/runners/capability-matrix/"
SCENARIOS: Final = "test_capabilities.py"
HOSTS: Final = ("local", "memory", "spark")
OTHERS: Final = ("Dataflow", "Flink", "Spark (RDD)", "Spark (Structured)", "Prism")

_YES: Final = ("Yes", "Yes", "Yes", "Partially: batch")


@attrs.frozen
class Row:
    """A capability.

    Args:
        name: As the site calls it.
        others: What the site says of Dataflow, Flink and the two Spark runners, and the column of
            Prism.
        note: What there is to say of ours.
    """

    name: str
    others: tuple[str, ...]
    note: str = ""


def _row(name: str, *others: str, prism: str = "", note: str = "") -> Row:
    return Row(name, (*(others or _YES), prism), note)


_V2: Final = "Partially: Runner V2"
_PORTABLE: Final = "Partially: portable"

TABLE: Final[Mapping[str, tuple[Row, ...]]] = {
    "What is being computed?": (
        _row("ParDo", prism="runs"),
        _row("GroupByKey", "Yes", "Yes", "Partially: batch", "Partially: batch", prism="runs"),
        _row("Flatten", prism="runs"),
        _row("Combine", prism="runs"),
        _row(
            "Composite transforms",
            *("Partially: inlined", "Partially: inlined", "Partially: inlined"),
            "Partially: batch",
            prism="runs",
        ),
        _row("Side inputs", prism="runs"),
        _row("Source API", "Yes", "Yes", "Yes", "Partially: bounded", prism="runs"),
        _row(
            "Metrics",
            *("Partially: no gauges", "Partially: attempted", "Partially: attempted"),
            "Partially: batch",
            prism="runs",
        ),
        _row(
            "Stateful processing",
            *("Partially: non-merging", "Partially: non-merging", "Partially: batch", "No"),
            prism="runs",
        ),
    ),
    "Bounded splittable DoFns": (
        _row("Base", _V2, _PORTABLE, "", "", prism="runs"),
        _row("Side inputs of it", _V2, _PORTABLE, "", "", prism="runs"),
        _row("Checkpoints of its own", _V2, _PORTABLE, "", "", prism="runs"),
        _row(
            *("Dynamic splitting", _V2, "No", "", ""),
            note="a call runs to the end of its restriction",
        ),
        _row("Bundle finalization", _V2, "No", "", "", prism="runs"),
    ),
    "Unbounded splittable DoFns": (
        _row("Unbounded base", "Yes", "Yes", "", "", prism="runs"),
        _row("Unbounded side inputs", "Yes", _PORTABLE, "", ""),
        _row("Unbounded checkpoints", "Yes", "Yes", "", "", prism="runs"),
        _row(
            *("Unbounded dynamic splitting", "No", "No", "", ""),
            note="the rest is split off after 10,000 outputs or a second",
        ),
        _row("Unbounded bundle finalization", _V2, _PORTABLE, "", ""),
    ),
    "Where in event time?": (
        _row("Global windows", prism="runs"),
        _row("Fixed windows", prism="runs"),
        _row("Sliding windows", prism="runs"),
        _row("Session windows", prism="runs"),
        _row("Custom windows", prism="skips", note="of any class, also without a length"),
        _row("Custom merging windows", prism="skips", note="also of a class of your own"),
        _row("Timestamp control"),
    ),
    "When in processing time?": (
        _row("Configurable triggering"),
        _row("Event-time triggers"),
        _row("Processing-time triggers"),
        _row("Count triggers"),
        _row("Composite triggers"),
        _row("Allowed lateness", "Yes", "Yes", "No", "No"),
        _row(
            "Timers",
            *("Partially: non-merging", "Partially: non-merging", "Partially: batch", "No"),
            prism="runs",
        ),
    ),
    "How do refinements relate?": (
        _row("Discarding"),
        _row("Accumulating", "Yes", "Yes", "No", "No"),
    ),
    "Not yet part of the Beam model": (
        _row("Drain", "Partially", "Partially: savepoint", "", "", prism="skips"),
        _row(
            *("Checkpoint", "No", "Partially: savepoint", "Partially: native", "No"),
            note="of a stream, by `--checkpoint`",
        ),
        _row(
            *("Key-ordered delivery", "Partially: streaming", "Partially: streaming"),
            *("Unverified", "Unverified"),
        ),
    ),
}


def rows() -> Mapping[str, Row]:
    """All rows by their names."""
    return {row.name: row for group in TABLE.values() for row in group}


def capabilities_of(notes: Iterable[Mapping[str, Any]]) -> dict[str, bool]:
    """Whether the test of each capability passed, by its name."""
    of_host: dict[str, bool] = {}
    for note in notes:
        test, outcome = str(note["test"]), note["outcome"]
        if test.endswith("]") and outcome != "skipped":
            name = test[test.index("[") + 1 : -1]
            for host in HOSTS:
                name = name.removeprefix(f"{host}-").removesuffix(f"-{host}")
            of_host[name] = outcome == "passed"
    unknown = of_host.keys() - rows().keys()
    assert not unknown, f"the table has no rows {sorted(unknown)}"
    return of_host


def page(passed: Mapping[str, Mapping[str, bool]]) -> str:
    """The page of documentation.

    Args:
        passed: By host and capability, whether its test passed there. A capability without a test
            is not there: the page says No. A host on which none ran has no column.
    """
    lines = [
        "# Capabilities",
        "",
        f"The [table of capabilities]({SITE}) of Apache Beam's site, with columns for",
        "`BeamlikeRunner`. A cell of these columns is the result of a scenario of",
        f"`tests/beam_runner/scenarios/{SCENARIOS}` on that host, or *No* if there is no scenario.",
        "`python -m tests.beam_runner` writes the page. The site has no column for Prism: *runs*",
        "and *skips* say whether Beam's own tests of Prism run or skip the conformance tests.",
        "On Spark a cell is about streams, unless the row is about bounded data.",
        "",
    ]
    hosts = [host for host in HOSTS if passed.get(host)]
    for title, group in TABLE.items():
        head = ("", *hosts, *OTHERS, "")
        lines += [f"## {title}", "", _line(head), _line("---" for _ in head)]
        for row in group:
            ours = (_cell(passed[host].get(row.name)) for host in hosts)
            lines.append(_line((row.name, *ours, *row.others, row.note)))
        lines.append("")
    return "\n".join(lines)


def read(text: str) -> dict[str, dict[str, bool]]:
    """What a page says of ours: by host and capability, whether its test passed there."""
    said: dict[str, dict[str, bool]] = {}
    hosts: list[str] = []
    for line in text.splitlines():
        cells = [it.strip() for it in line.strip("|").split("|")]
        if HOSTS[0] in cells:
            hosts = [host for host in HOSTS if host in cells]
            said |= {host: said.get(host, {}) for host in hosts}
        elif cells[0] in rows():
            for host, cell in zip(hosts, cells[1:], strict=False):
                if cell != "No":
                    said[host][cells[0]] = cell == _cell(True)
    return said


def _cell(passed: bool | None) -> str:
    return "No" if passed is None else "**Yes**" if passed else "**fails**"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
