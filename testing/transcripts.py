"""Transcripts: scenarios as JSON files, loaded strictly and compared completely.

One scenario is a windowing, a script, and every pane and drop that must come of it. The
format is described in ``tests/conformance/README.md``.
"""

import json
from collections.abc import Mapping
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Final, Never

import attrs

from beamlike.errors import TranscriptError
from beamlike.hosts.script import Machine, Run, Script
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
from beamlike.testing.transcript_results import (
    Expected,
    compare,
    read_drops,
    read_panes,
    to_document,
)
from beamlike.testing.transcript_schema import Place, read_script, read_windowing

__all__ = ["FORMAT", "Scenario", "differences", "load_transcripts", "to_document"]

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

TEXTS: Final = ("title", "source", "notes", "authority", "panes_from")


@attrs.frozen
class Scenario:
    """One grouping, what happens to it, and what must come out.

    ``combine`` is None for aggregation ``none``: the elements pass through ungrouped.
    ``expected`` is None if the document states no outcome. ``contested`` scenarios hinge on
    a point where runners differ: they are run and shown, and never counted.
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

    def machine(self) -> Machine:
        """The reference machine that runs it."""
        if self.combine is None:
            return PassThrough(self.strategy.window_fn)
        return Grouping(self.strategy, self.combine)


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
            names the file, the scenario and the place in it.
    """
    name = fspath(path)
    try:
        document = _parse(name, Path(path).read_bytes().decode("utf-8-sig"))
        return _read_file(Place(document, "", name), must_expect)
    except OSError as error:
        raise TranscriptError(f"{name}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise TranscriptError(f"{name}: is not UTF-8 text: {error.reason}") from None
    except RecursionError:
        raise TranscriptError(f"{name}: is nested too deeply") from None


def _parse(name: str, text: str) -> Any:
    def no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) < len(pairs):
            names = [member for member, _ in pairs]
            twin = next(member for member in names if names.count(member) > 1)
            raise TranscriptError(f"{name}: an object has the field {twin!r} twice")
        return members

    def no_constant(constant: str) -> Never:
        raise TranscriptError(f"{name}: {constant} is not a JSON value")

    try:
        return json.loads(text, object_pairs_hook=no_twins, parse_constant=no_constant)
    except json.JSONDecodeError as error:
        raise TranscriptError(
            f"{name}: is not JSON: {error.msg} at line {error.lineno} column {error.colno}"
        ) from None
    except TranscriptError:
        raise
    except ValueError as error:  # a number with thousands of digits
        raise TranscriptError(f"{name}: is not usable JSON: {error}") from None


def _read_file(document: Place, must_expect: bool) -> tuple[Scenario, ...]:
    content = document.value
    if isinstance(content, list):
        places = document.items()
    elif isinstance(content, dict) and "scenarios" in content:
        places = document.fields(("scenarios",))["scenarios"].items()
    elif isinstance(content, dict):
        places = [document]
    else:
        document.fail('must be a scenario, a list of scenarios, or {"scenarios": [...]}')
    scenarios: dict[str, Scenario] = {}
    for place in places:
        scenario = _read_scenario(place, must_expect)
        if scenario.id in scenarios:
            place.fail(f"the id {scenario.id!r} is used twice; ids are unique")
        scenarios[scenario.id] = scenario
    return tuple(scenarios.values())


def _read_scenario(place: Place, must_expect: bool) -> Scenario:
    if isinstance(place.value, dict) and isinstance(place.value.get("id"), str):
        # From here on the scenario says better than a position in the file where we are.
        place = Place(place.value, "", f"{place.document}: scenario {place.value['id']!r}")
    fields = place.fields(
        ("format", "id", "windowing", "aggregation", "steps"),
        (
            "level",
            "unsafe_trigger",
            "complete",
            "panes",
            "dropped",
            "asserted",
            "contested",
            "contested_reason",
            *TEXTS,
        ),
    )
    if fields["format"].text() != FORMAT:
        fields["format"].fail(f"this reads {FORMAT!r}, got {fields['format'].value!r}")
    texts = {name: fields[name].text() if name in fields else "" for name in TEXTS}
    aggregation = fields["aggregation"].one_of(AGGREGATIONS)
    script = read_script(fields["steps"])
    if "asserted" in fields:
        _check_asserted(fields["asserted"], len(script))
    expected = _read_expected(fields, len(script))
    if expected is None and must_expect:
        place.fail(
            "expects nothing, so it would always pass; give 'panes' and 'dropped', "
            'or "complete": true if nothing comes out'
        )
    return Scenario(
        id=fields["id"].text(),
        title=texts["title"],
        source=texts["source"],
        notes=texts["notes"],
        authority=texts["authority"],
        level=fields["level"].one_of(LEVELS) if "level" in fields else "core",
        strategy=read_windowing(fields["windowing"]),
        aggregation=aggregation,
        combine=AGGREGATIONS[aggregation],
        script=script,
        expected=expected,
        unsafe_trigger="unsafe_trigger" in fields and fields["unsafe_trigger"].flag(),
        contested="contested" in fields and fields["contested"].flag(),
        contested_reason=tuple(
            reason.text()
            for reason in (
                fields["contested_reason"].items() if "contested_reason" in fields else ()
            )
        ),
    )


def _check_asserted(place: Place, steps: int) -> None:
    """What an original test says informs people; only its spelling is checked."""
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


def _read_expected(fields: Mapping[str, Place], steps: int) -> Expected | None:
    stated = [name for name in ("panes", "dropped", "complete") if name in fields]
    if not stated:
        return None
    complete = "complete" not in fields or fields["complete"].flag()
    read = partial(_read_outcome, fields, complete, steps)
    panes, dropped = read("panes"), read("dropped")
    if not complete and not panes and not dropped:
        return None  # an incomplete list of nothing
    return Expected(complete, panes, dropped)


def _read_outcome(
    fields: Mapping[str, Place], complete: bool, steps: int, name: str
) -> tuple[Mapping[str, Any], ...] | None:
    if name in fields:
        reader = read_panes if name == "panes" else read_drops
        return reader(fields[name], complete, steps)
    # "complete" in so many words is about the whole output, named or not.
    return () if complete and "complete" in fields else None


def differences(scenario: Scenario, run: Run) -> list[str]:
    """How a run differs from what the scenario expects, a sentence each.

    Empty if it does not differ, and if the scenario expects nothing.
    """
    if scenario.expected is None:
        return []
    return compare(scenario.expected, run, any_order=scenario.aggregation == "list")
