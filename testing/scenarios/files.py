"""Transcripts: scenarios as JSON files, loaded strictly and compared completely.

One scenario is a windowing, a script, and every pane and drop that must come of it. The
format is described in ``tests/conformance/README.md``.
"""

import sys
from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Final

import attrs

from beamlike.errors import TranscriptError
from beamlike.machine.passthrough import PassThrough
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import (
    Collect,
    CollectByTimestamp,
    CombineFn,
    Count,
    Latest,
    Max,
    Mean,
    Min,
    Sum,
)
from beamlike.model.strategy import WindowingStrategy
from beamlike.runtime.script import Machine, Run, Script
from beamlike.testing.scenarios.functions import NamedFn, ScenarioFunction, read_function
from beamlike.testing.scenarios.places import Parts, Place, each, read_json, readable
from beamlike.testing.scenarios.results import (
    Expected,
    compare,
    read_drops,
    read_panes,
)
from beamlike.testing.scenarios.schema import read_script, read_windowing

FORMAT: Final = "beamlike-transcript-v1"

LEVELS: Final = ("core", "calendar", "retracting", "ungrouped", "extended")

AGGREGATIONS: Final[Mapping[str, CombineFn | None]] = {
    "list": Collect(),
    "list_by_timestamp": CollectByTimestamp(),
    "count": Count(),
    "sum": Sum(),
    "min": Min(),
    "max": Max(),
    "mean": Mean(),
    "latest": Latest(),
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
    """What is in a file.

    Args:
        scenarios: Those that can be read.
        problem: What is wrong with the others, or with the file; None if nothing is.
        unread: How many the others are, as far as that is known.
    """

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
    found = read_transcripts(path, must_expect=must_expect)
    if found.problem is not None:
        raise found.problem
    return found.scenarios


def read_transcripts(path: str | PathLike[str], *, must_expect: bool = False) -> TranscriptFile:
    """The same of a file in which some scenarios cannot be read: the others, and what is wrong.

    Args:
        path: As `load_transcripts`.
        must_expect: Likewise.
    """
    name = fspath(path)
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        problem = TranscriptError(f"{name}: cannot be read: {error.strerror}")
    except UnicodeDecodeError as error:
        problem = TranscriptError(f"{name}: is not UTF-8 text: {error.reason}")
    else:
        return transcripts_of(text, name, must_expect=must_expect)
    return TranscriptFile((), problem)


def transcripts_of(text: str, name: str, *, must_expect: bool = False) -> TranscriptFile:
    """The same of the text of a file.

    Args:
        text: JSON.
        name: What the file is called in complaints.
        must_expect: As `load_transcripts`.
    """
    try:
        return _read_file(read_json(text, name), must_expect)
    except RecursionError:
        problem = TranscriptError(f"{name}: is nested too deeply")
    except TranscriptError as error:
        problem = error
    return TranscriptFile((), problem)


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

    def read(place: Place) -> Scenario:
        scenario = _read_scenario(place, must_expect)
        if scenario.id in ids:
            place.fail(f"the id {scenario.id!r} is used twice; ids are unique")
        ids.add(scenario.id)
        return scenario

    found, complaints = readable(places, read)
    return TranscriptFile(tuple(found), complaints.problem, len(places) - len(found))


def _read_scenario(place: Place, must_expect: bool) -> Scenario:
    if isinstance(place.value, dict) and isinstance(place.value.get("id"), str):
        # From here on the name of the scenario is clearer than a position in the file.
        place = place.inside(f"scenario {place.value['id']!r}")
    parts = place.parts(REQUIRED, OPTIONAL)
    read = parts.read
    read("format", _check_format, None)
    texts = {name: read(name, Place.text, "") for name in ("id", *TEXTS, RECORDED)}
    level = read("level", lambda level: level.one_of(LEVELS), "core")
    strategy = read("windowing", read_windowing, WindowingStrategy.unwindowed())
    aggregation = read("aggregation", lambda name: name.one_of(AGGREGATIONS), "list")
    function = read(FUNCTION, read_function, None)
    if function is not None:
        _check_function(place, aggregation, level, strategy, function)
    script = read("steps", read_script, ())
    stated = place.value.get("steps")
    # Where the steps are no list, their number is not checked.
    steps = len(stated) if isinstance(stated, list) else sys.maxsize
    read("asserted", lambda asserted: _check_asserted(asserted, steps), None)
    flags = {name: read(name, Place.flag, False) for name in ("unsafe_trigger", "contested")}
    reasons = read("contested_reason", lambda reasons: each(reasons.items(), Place.text), [])
    expected = _read_expected(parts, steps)
    parts.done()
    if expected is None and must_expect:
        place.fail(
            "expects nothing, so it would always pass; give 'panes' and 'dropped', "
            'or "complete": true if nothing comes out'
        )
    return Scenario(
        id=texts["id"],
        title=texts["title"],
        source=texts["source"],
        notes=texts["notes"],
        authority=texts["authority"],
        level=level,
        strategy=strategy,
        aggregation=aggregation,
        combine=AGGREGATIONS[aggregation],
        script=script,
        expected=expected,
        unsafe_trigger=flags["unsafe_trigger"],
        contested=flags["contested"],
        contested_reason=tuple(reasons),
        recorded_from=texts[RECORDED],
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


def _check_format(place: Place) -> None:
    if place.text() != FORMAT:
        place.fail(f"this reads {FORMAT!r}, got {place.value!r}")


def _check_asserted(place: Place, steps: int) -> None:
    """What an original test states is for people; only its spelling is checked."""
    fields = place.fields(
        (),
        (
            "panes",
            "complete",
            "dropped_count",
            "matchers",
            "diverges",
            "values_of_original_aggregation",
        ),
    )
    if "panes" in fields:
        read_panes(fields["panes"], False, steps)


def _read_expected(parts: Parts, steps: int) -> Expected | None:
    stated = [name for name in ("panes", "dropped", "complete") if name in parts.fields]
    if not stated:
        return None
    complete = parts.read("complete", Place.flag, True)
    # "complete" in so many words is about the whole output, named or not.
    unsaid = () if complete and "complete" in stated else None
    panes = parts.read("panes", lambda panes: read_panes(panes, complete, steps), unsaid)
    dropped = parts.read("dropped", lambda drops: read_drops(drops, complete, steps), unsaid)
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
