"""Any engine against the conformance suite: its results, compared scenario by scenario.

An engine runs the scenarios in whatever way it likes and writes one document::

    {"scenarios": [{"id": "...", "panes": [...], "dropped": [...]}]}

This reads it, compares it with what the scenarios expect and says what differs. From the top
of the checkout ``python -m tests.conformance RESULTS.json`` does it with the suite's cases;
elsewhere name their files: ``python -m tests.support.conformance RESULTS.json CASES...``.
"""

import argparse
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Final

import attrs

from beamlike.errors import BeamlikeError, TranscriptError
from beamlike.machine.events import Drop, DropReason, Element, Pane
from beamlike.model.fingerprint import how_many
from beamlike.model.panes import PaneInfo, Timing
from beamlike.model.windows import GLOBAL_WINDOW, IntervalWindow, Window
from beamlike.runtime.script import Output, Run
from beamlike.testing.scenarios.files import Scenario, differences
from beamlike.testing.scenarios.places import Place, read_json
from beamlike.testing.scenarios.results import read_drops, read_panes
from beamlike.viz.table import pane_table
from tests.support.corpus import scenarios_of

__all__ = ["VERDICTS", "Answer", "Verdict", "judge", "main", "read_results"]

AS_EXPECTED, DIFFERS, FAILED = "as expected", "differs", "failed"
UNSUPPORTED, NO_RESULT = "not supported", "no result"

VERDICTS: Final = (AS_EXPECTED, DIFFERS, FAILED, UNSUPPORTED, NO_RESULT)


@attrs.frozen
class Answer:
    """What an engine says of one scenario: a run, or why there is none."""

    run: Run | None = None
    unsupported: str = ""
    error: str = ""
    says_drops: bool = True


@attrs.frozen
class Verdict:
    """A scenario and how an engine did.

    ``kind`` is one of `VERDICTS`. A contested scenario has a verdict like any other; it does
    not count.
    """

    scenario: Scenario
    kind: str
    differences: tuple[str, ...] = ()
    run: Run | None = None

    @property
    def fails(self) -> bool:
        """Whether the engine does not conform because of it.

        Levels beyond the core may be left out, as long as it shows.
        """
        if self.scenario.contested or self.kind == AS_EXPECTED:
            return False
        return self.kind in (DIFFERS, FAILED) or self.scenario.level == "core"


# -- results -------------------------------------------------------------------------------


def read_results(path: str | PathLike[str], scenarios: Sequence[Scenario]) -> Mapping[str, Answer]:
    """An engine's results by the ids of scenarios.

    Entries without ``dropped`` are compared by their panes alone: not every engine says what
    it drops.

    Raises:
        TranscriptError: The file cannot be read, is no such document, says a thing twice, or
            has results of scenarios that are not among these.
    """
    name = fspath(path)
    try:
        text = sys.stdin.read() if name == "-" else Path(path).read_text(encoding="utf-8-sig")
        document = read_json(text, name)
    except OSError as error:
        raise TranscriptError(f"{name}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise TranscriptError(f"{name}: is not UTF-8 text: {error.reason}") from None
    known = {scenario.id: scenario for scenario in scenarios}
    answers: dict[str, Answer] = {}
    for place in document.fields(("scenarios",))["scenarios"].items():
        identifier = place.fields(("id",), ("panes", "dropped", "unsupported", "error"))["id"]
        if identifier.text() not in known:
            identifier.fail(f"no scenario has the id {identifier.value!r}")
        if identifier.value in answers:
            identifier.fail(f"the results of {identifier.value!r} are here twice")
        answers[identifier.value] = _answer(place, known[identifier.value])
    return answers


def _answer(place: Place, scenario: Scenario) -> Answer:
    place = place.inside(f"results of {scenario.id!r}")
    fields = place.fields(("id",), ("panes", "dropped", "unsupported", "error"))
    if "unsupported" in fields:
        return Answer(unsupported=fields["unsupported"].text())
    if "error" in fields:
        return Answer(error=fields["error"].text())
    if "panes" not in fields:
        place.fail("lacks 'panes'; give them, or 'unsupported' or 'error' with the reason")
    steps = len(scenario.script)
    panes = read_panes(fields["panes"], True, steps)
    drops = read_drops(fields["dropped"], True, steps) if "dropped" in fields else ()
    outputs = [
        *place.build(lambda: [_pane(entry) for entry in panes]),
        *place.build(lambda: [_drop(entry) for entry in drops]),
    ]
    return Answer(Run(scenario.script, tuple(outputs)), says_drops="dropped" in fields)


def _pane(entry: Mapping[str, Any]) -> Output:
    info = PaneInfo(
        Timing(entry["timing"]),
        entry["index"],
        entry["nonspeculative_index"],
        entry["is_first"],
        entry["is_last"],
    )
    pane = Pane(
        _window(entry["window"]), entry["value"], entry["timestamp_ms"], info, entry["retraction"]
    )
    return Output(entry["step"], entry["key"], pane)


def _drop(entry: Mapping[str, Any]) -> Output:
    element = Element(entry["value"], entry["ts_ms"])
    drop = Drop(element, _window(entry["window"]), DropReason(entry["reason"]))
    return Output(entry["step"], entry["key"], drop)


def _window(bounds: Any) -> Window:
    return GLOBAL_WINDOW if bounds == "global" else IntervalWindow(*bounds)


# -- verdicts ------------------------------------------------------------------------------


def judge(scenario: Scenario, answer: Answer | None) -> Verdict:
    """How an engine did on a scenario. None: it did not say."""
    if answer is None:
        return Verdict(scenario, NO_RESULT)
    if answer.unsupported:
        return Verdict(scenario, UNSUPPORTED, (answer.unsupported,))
    if answer.run is None:
        return Verdict(scenario, FAILED, (answer.error,))
    compared = scenario
    if not answer.says_drops and scenario.expected is not None:
        expected = attrs.evolve(scenario.expected, dropped=None)
        compared = attrs.evolve(scenario, expected=expected)
    found = differences(compared, answer.run)
    return Verdict(scenario, DIFFERS if found else AS_EXPECTED, tuple(found), answer.run)


# -- the command ---------------------------------------------------------------------------

_EPILOG: Final = """\
exit status:
  0   every scenario that counts came out as expected; levels other than core
      may be unsupported
  1   something came out otherwise, failed, or is missing from the core
  2   a file cannot be read or does not follow the format
"""


def main(arguments: Sequence[str] | None = None, *, cases: Path | None = None) -> int:
    """Run the command and return its exit status.

    Args:
        arguments: By default those of the process.
        cases: A folder with the files to compare with, if none are named.
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m {'tests' if cases else 'beamlike.testing'}.conformance",
        description="Compare an engine's results with what the conformance suite expects.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("results", metavar="RESULTS", help="the engine's document; - reads stdin")
    parser.add_argument(
        "cases",
        nargs="*" if cases else "+",
        metavar="CASES",
        type=Path,
        help=f"files or folders of scenarios{' (default: the whole suite)' if cases else ''}",
    )
    parser.add_argument(
        "--show",
        choices=("sentences", "table", "timeline"),
        default="sentences",
        help="with the differences, show all that came out (default: sentences only)",
    )
    options = parser.parse_args(arguments)
    try:
        scenarios = _load(options.cases or [cases or Path()])
        answers = read_results(options.results, scenarios)
    except BeamlikeError as error:
        print(f"conformance: {error}", file=sys.stderr)
        return 2
    verdicts = [judge(scenario, answers.get(scenario.id)) for scenario in scenarios]
    for verdict in verdicts:
        if verdict.differences and not verdict.scenario.contested:
            print("\n".join(_explained(verdict, options.show)), end="\n\n")
    print("\n".join(_summary(verdicts)))
    unsaid = sum(not answer.says_drops for answer in answers.values())
    if unsaid:
        print(f"{how_many(unsaid, 'result')} said nothing of drops; only their panes were compared")
    return int(any(verdict.fails for verdict in verdicts))


def _load(paths: Sequence[Path]) -> list[Scenario]:
    files = [
        file
        for path in paths
        for file in (sorted(path.rglob("*.json")) if path.is_dir() else [path])
    ]
    scenarios: dict[str, Scenario] = {}
    for file in files:
        for scenario in scenarios_of(file):
            if scenario.id in scenarios:
                raise TranscriptError(f"{file}: the id {scenario.id!r} is used twice")
            scenarios[scenario.id] = scenario
    if not scenarios:
        raise TranscriptError(f"there are no scenarios in {', '.join(map(str, paths))}")
    return list(scenarios.values())


def _explained(verdict: Verdict, show: str) -> Iterator[str]:
    scenario, run = verdict.scenario, verdict.run
    yield f"== {scenario.id}: {verdict.kind}"
    yield f"{scenario.strategy}; {scenario.aggregation} of each pane"
    yield from (f"  {difference}" for difference in verdict.differences)
    if run is None or show == "sentences":
        return
    yield ""
    if show == "table":
        yield pane_table(run.outputs)
        return
    from beamlike.viz.timeline import text_timeline

    yield text_timeline(run, window_fn=scenario.strategy.window_fn)


def _summary(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """A table of levels and authorities, then what is contested."""
    counted = [verdict for verdict in verdicts if not verdict.scenario.contested]
    groups = dict.fromkeys((v.scenario.level, v.scenario.authority) for v in counted)
    rows: list[tuple[str, ...]] = [("level", "authority", "cases", *VERDICTS)]
    for level, authority in sorted(groups, key=lambda group: (group[0] != "core", *group)):
        of_group = [
            verdict
            for verdict in counted
            if (verdict.scenario.level, verdict.scenario.authority) == (level, authority)
        ]
        rows.append((level, authority or "-", *_counts(of_group)))
    rows.append(("all", "", *_counts(counted)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        texts = [row[0].ljust(widths[0]), row[1].ljust(widths[1])]
        texts += [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
        yield "  ".join(texts).rstrip()
    contested = [verdict for verdict in verdicts if verdict.scenario.contested]
    if contested:
        yield f"\n{len(contested)} contested, not counted:"
    by_reason: dict[str, list[Verdict]] = {}
    for verdict in contested:
        by_reason.setdefault("; ".join(verdict.scenario.contested_reason), []).append(verdict)
    for reason, several in by_reason.items():
        yield f"  {reason}"
        for kind in VERDICTS:
            ids = [verdict.scenario.id for verdict in several if verdict.kind == kind]
            if ids:
                yield textwrap.fill(
                    f"{kind}: {', '.join(ids)}",
                    100,
                    initial_indent="    ",
                    subsequent_indent="      ",
                    break_on_hyphens=False,
                )


def _counts(verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    kinds = Counter(verdict.kind for verdict in verdicts)
    return (str(len(verdicts)), *(str(kinds[kind] or "-") for kind in VERDICTS))


if __name__ == "__main__":
    sys.exit(main())
