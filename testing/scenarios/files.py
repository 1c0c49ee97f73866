"""Transcripts: scenarios as JSON files, loaded strictly and compared completely.

One scenario is a windowing, a script, and every pane and drop that must come of it. The
format is described in ``tests/conformance/README.md``.
"""

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Final

import attrs

from beamlike.errors import TranscriptError
from beamlike.machine.reference.step import Grouping
from beamlike.machine.ungrouped import PassThrough
from beamlike.model import combine as folds
from beamlike.model.combine import CombineFn
from beamlike.model.strategy import WindowingStrategy
from beamlike.runtime.script import Machine, Run, Script
from beamlike.testing.scenarios import limits
from beamlike.testing.scenarios.functions import NamedFn, ScenarioFunction, read_function
from beamlike.testing.scenarios.places import Place, read_json
from beamlike.testing.scenarios.results import Expected, compare, read_drops, read_panes
from beamlike.testing.scenarios.schema import read_script, read_windowing
from beamlike.viz.table import shorten

FORMAT: Final = "beamlike-transcript-v1"
_MOST_PROBLEMS: Final = 10
_LONGEST_ID: Final = 120

LEVELS: Final = ("core", "calendar", "retracting", "ungrouped", "extended")

AGGREGATIONS: Final[Mapping[str, CombineFn | None]] = {
    "list": folds.Collect(),
    "list_by_timestamp": folds.CollectByTimestamp(),
    "count": folds.Count(),
    "sum": folds.Sum(),
    "min": folds.Min(),
    "max": folds.Max(),
    "mean": folds.Mean(),
    "latest": folds.Latest(),
    "none": None,
}

REQUIRED: Final = ("format", "id", "windowing", "aggregation", "steps")
TEXTS: Final = ("title", "source", "notes", "authority", "panes_from")
FUNCTION: Final = "x_function"
"""A function with states and timers, in place of a grouping."""
RECORDED: Final = "x_recorded_from"
"""The id of the failed test that a scenario was written from. What it expects is what came out."""
OPTIONAL: Final = (
    *("level", "unsafe_trigger", "complete", "panes", "dropped", "asserted"),
    *("contested", "contested_reason", *TEXTS, RECORDED, FUNCTION),
)


@attrs.frozen
class Scenario:
    """One grouping, what happens to it, and what must come out.

    ``combine`` is None for aggregation ``none``: the elements pass through ungrouped, or are given
    to ``function``.
    ``expected`` is None if the document states no outcome. ``contested`` scenarios hinge on
    a point where runners differ: they are run and shown, and never counted. One that is
    ``recorded_from`` a failed test expects what came out there, which is not what the test wanted.
    """

    id: str
    title: str
    source: str
    notes: str
    authority: str
    level: str
    strategy: WindowingStrategy
    aggregation: str
    combine: CombineFn | None
    script: Script
    expected: Expected | None
    unsafe_trigger: bool
    contested: bool
    contested_reason: tuple[str, ...]
    recorded_from: str = ""
    function: NamedFn | None = None

    def machine(self) -> Machine:
        """The reference machine that runs it."""
        if self.function is not None:
            lateness = self.strategy.allowed_lateness
            return ScenarioFunction(self.strategy.window_fn, self.function, lateness)
        if self.combine is None:
            return PassThrough(self.strategy.window_fn)
        return Grouping(self.strategy, self.combine)


@attrs.frozen
class TranscriptFile:
    """The scenarios of a file that can be read; what is wrong with the others, or with the file;
    and how many the others are, as far as that is known."""

    scenarios: tuple[Scenario, ...]
    problem: TranscriptError | None = None
    unread: int = 0


def load_transcripts(
    path: str | PathLike[str], *, must_expect: bool = False
) -> tuple[Scenario, ...]:
    """Read a file of one scenario, a list of scenarios, or ``{"scenarios": [...]}``.

    Args:
        path: A JSON file in UTF-8.
        must_expect: Refuse a scenario that expects nothing. A test suite wants this: such a
            scenario would always pass.

    Raises:
        TranscriptError: The file cannot be read, is not JSON, or does not follow the format;
            names the file, the scenario and the place in it. Also if only one scenario cannot be
            read: `read_transcripts` has the others.
    """
    file = read_transcripts(path, must_expect=must_expect)
    if file.problem is not None:
        raise file.problem
    return file.scenarios


def read_transcripts(path: str | PathLike[str], *, must_expect: bool = False) -> TranscriptFile:
    """A file in which some scenarios cannot be read: the others, and what is wrong with these."""
    name = fspath(path)
    most, problem = limits.MOST_BYTES, ""
    try:
        with Path(path).open("rb") as file:
            content = file.read(most + 1)
        if len(content) <= most:
            return transcripts_of(content.decode("utf-8-sig"), name, must_expect=must_expect)
        problem = f"has more than {most // 1024**2} MiB; split it"
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
    except UnicodeDecodeError as error:
        problem = f"is not UTF-8 text: {error.reason}"
    return TranscriptFile((), TranscriptError(f"{name}: {problem}"))


def transcripts_of(text: str, name: str, *, must_expect: bool = False) -> TranscriptFile:
    """The scenarios in a text of this name, and what is wrong with those that cannot be read."""
    try:
        return _read_file(read_json(text, name, limits.MOST_VALUES), must_expect)
    except TranscriptError as error:
        return TranscriptFile((), error)


def _read_file(document: Place, must_expect: bool) -> TranscriptFile:
    content = document.value
    if isinstance(content, list):
        places = document.items()
    elif isinstance(content, dict) and "scenarios" in content:
        places = document.fields(("scenarios",))["scenarios"].items()
    elif isinstance(content, dict):
        places = [document]
    else:
        document.fail('must be a scenario, a list of scenarios, or {"scenarios": [...]}')
    ids: set[str] = set()
    scenarios: list[Scenario] = []
    problems: list[str] = []
    limits.check_number(document, len(places))
    for place in places:
        if len(problems) == limits.MOST_UNREADABLE:
            break
        try:
            scenario = _read_scenario(place, must_expect)
            if scenario.id in ids:
                place.fail(
                    f"the id {shorten(scenario.id, _LONGEST_ID)} is used twice; ids are unique"
                )
        except TranscriptError as error:
            problems.append(str(error))
        else:
            ids.add(scenario.id)
            scenarios.append(scenario)
    return TranscriptFile(tuple(scenarios), _together(problems), len(problems))


def _together(problems: Sequence[str]) -> TranscriptError | None:
    """What is wrong with some scenarios of a file, a line each; of very many the first."""
    hidden = len(problems) - _MOST_PROBLEMS
    ending = [f"... and {hidden} more"] if hidden > 0 else []
    shown = "\n".join([*problems[:_MOST_PROBLEMS], *ending])
    return TranscriptError(shown) if problems else None


def _read_scenario(place: Place, must_expect: bool) -> Scenario:
    if isinstance(place.value, dict) and isinstance(place.value.get("id"), str):
        # From here on the name of the scenario is clearer than a position in the file.
        place = place.inside(f"scenario {shorten(place.value['id'], _LONGEST_ID)}")
    fields = place.fields(REQUIRED, OPTIONAL)
    if fields["format"].text() != FORMAT:
        fields["format"].fail(f"this reads {FORMAT!r}, got {fields['format'].value!r}")
    texts = {name: fields[name].text() for name in ("id", *TEXTS, RECORDED) if name in fields}
    level = fields["level"].one_of(LEVELS) if "level" in fields else "core"
    strategy = read_windowing(fields["windowing"])
    aggregation = fields["aggregation"].one_of(AGGREGATIONS)
    function = read_function(fields[FUNCTION]) if FUNCTION in fields else None
    if function is not None:
        _check_function(place, aggregation, level, strategy, function)
    limits.check_steps(fields["steps"])
    script = read_script(fields["steps"])
    limits.check_run(fields["steps"], strategy, AGGREGATIONS[aggregation], function, script)
    if "asserted" in fields:
        _check_asserted(fields["asserted"], len(script))
    reasons = fields["contested_reason"].items() if "contested_reason" in fields else []
    expected = _read_expected(fields, len(script))
    if expected is None and must_expect:
        place.fail(
            "expects nothing, so it would always pass; give 'panes' and 'dropped', "
            'or "complete": true if nothing comes out'
        )
    return Scenario(
        **{name: texts.get(name, "") for name in ("id", "title", "source", "notes", "authority")},
        level=level,
        strategy=strategy,
        aggregation=aggregation,
        combine=AGGREGATIONS[aggregation],
        script=script,
        expected=expected,
        unsafe_trigger="unsafe_trigger" in fields and fields["unsafe_trigger"].flag(),
        contested="contested" in fields and fields["contested"].flag(),
        contested_reason=tuple(map(Place.text, reasons)),
        recorded_from=texts.get(RECORDED, ""),
        function=function,
    )


def _check_function(
    place: Place, aggregation: str, level: str, strategy: WindowingStrategy, function: NamedFn
) -> None:
    """Refuse a function where other engines would not see that there is one, or cannot have it."""
    if aggregation != "none":
        place.fail(
            f"a function with states and timers groups nothing, got the aggregation "
            f'{aggregation!r}; write "aggregation": "none"'
        )
    if level != "extended":
        place.fail(
            f"other engines do not know {FUNCTION!r}, and skip only what is no core, got the level "
            f'{level!r}; write "level": "extended"'
        )
    place.build(lambda: ScenarioFunction(strategy.window_fn, function, strategy.allowed_lateness))


def _check_asserted(place: Place, steps: int) -> None:
    """What an original test states is for people; only its spelling is checked."""
    unread = ("complete", "dropped_count", "matchers", "diverges", "values_of_original_aggregation")
    fields = place.fields((), ("panes", *unread))
    if "panes" in fields:
        read_panes(fields["panes"], False, steps)


def _read_expected(fields: Mapping[str, Place], steps: int) -> Expected | None:
    if not fields.keys() & {"panes", "dropped", "complete"}:
        return None
    complete = "complete" not in fields or fields["complete"].flag()
    # "complete" in so many words is about the whole output, named or not.
    unsaid = () if complete and "complete" in fields else None
    panes = read_panes(fields["panes"], complete, steps) if "panes" in fields else unsaid
    dropped = read_drops(fields["dropped"], complete, steps) if "dropped" in fields else unsaid
    if not complete and not panes and not dropped:
        return None  # an incomplete list of nothing
    return Expected(complete, panes, dropped)


def differences(scenario: Scenario, run: Run) -> list[str]:
    """How a run differs from what the scenario expects, a sentence each.

    Empty if it does not differ, and if the scenario expects nothing.
    """
    if scenario.expected is None:
        return []
    return compare(scenario.expected, run, any_order=scenario.aggregation == "list")
