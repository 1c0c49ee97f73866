"""Cases of other systems, as JSON files: loaded strictly, and compared row by row.

The format is described in ``tests/conformance/dialects/README.md``.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Final

import attrs

from beamlike.errors import TranscriptError
from beamlike.testing.scenarios.places import Place, read_json

__all__ = ["CaseRow", "DialectCase", "load_dialect_cases", "row_differences"]

DIALECTS: Final = ("akka", "apex", "flink", "kafka")
PROVENANCES: Final = ("test", "text", "doc", "derived", "run")
ORDERS: Final = ("strict", "per_step_any")
ROW_KINDS: Final = ("value", "tombstone", "retract", "late", "dropped", "error", "watermark")

_COMMON: Final = ("id", "source", "provenance", "dialect", "kind", "steps", "expect")
_NOTES: Final = ("keyed", "notes", "beam", "defect", "unverified")
_STREAM: Final = ("window", "trigger", "accumulation", "aggregate", "watermark_convention")
_STREAM_TOO: Final = (
    *("allowed_lateness_ms", "batch_interval_ms", "emit", "evictor", "expect_state", "grace_ms"),
    *("late_output", "order", "overflow", "rule", "store", "streams", "watermark_generator"),
)
_KINDS: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    # kind: what else it must have, and may have
    "stream": (_STREAM, _STREAM_TOO),
    "assign": (("window", "cases"), ()),
    "combine": (("function", "output"), ("parts", "inputs", "groups", "separator", "apex_output")),
    "merge_windows": (("windows", "expect_merges"), ()),
    "storage": ((), ()),
    "store": (("retention_ms",), ()),
    "validation": (("cases",), ()),
    "window_set": ((), ()),
}
_STEPS: Final = (
    "elements",
    "advance_watermark_to_ms",
    "advance_watermark_to_infinity",
    "advance_processing_time_by_ms",
    "snapshot_and_restore",
    "flush_cache",
    "end_batches",
    "end_of_input",
)
_STEPS_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "storage": ("batch", "put", "checkpoint", "crash_and_recover_to", "read"),
    "store": ("put", "remove", "find_sessions", "fetch", "fetch_session", "expect"),
    "window_set": ("add", "result", "merged", "state_window_one_of", "retire"),
}


@attrs.frozen
class CaseRow:
    """A row that a system gives out, and the step that brings it.

    ``window`` has the bounds as the system shows them, is ``"global"``, or None where it shows
    none. Without a ``reason`` any will do.
    """

    step: int
    kind: str
    key: Any
    value: Any
    window: tuple[int, int] | str | None
    ts_ms: int | None
    reason: str | None = None

    def matches(self, other: "CaseRow") -> bool:
        """Whether the other is this row. A reason is only compared if this row has one."""
        alike = other if self.reason is not None else attrs.evolve(other, reason=None)
        return self == alike

    def __str__(self) -> str:
        because = f" ({self.reason})" if self.reason else ""
        return (
            f"step {self.step}: {self.kind} {self.key!r} {self.value!r} in {self.window} "
            f"at {self.ts_ms}{because}"
        )


@attrs.frozen
class DialectCase:
    """What one system does with one input.

    ``settings`` has the fields that belong to its kind, as they stand in the file. ``defect`` says
    that beamlike differs on purpose, ``unverified`` that nobody has seen it happen.
    """

    id: str
    source: str
    provenance: str
    dialect: str
    kind: str
    steps: tuple[Mapping[str, Any], ...]
    expect: tuple[CaseRow, ...]
    settings: Mapping[str, Any]
    keyed: bool = True
    order: str = "strict"
    defect: bool = False
    unverified: bool = False
    notes: str = ""
    beam: str = ""


def load_dialect_cases(path: str | PathLike[str]) -> list[DialectCase]:
    """The cases of a file."""
    name = fspath(path)
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise TranscriptError(f"{name}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise TranscriptError(f"{name}: is not UTF-8 text: {error.reason}") from None
    cases = [_case(place) for place in read_json(text, name).items()]
    seen = set[str]()
    for case in cases:
        if case.id in seen:
            raise TranscriptError(f"{name}: the id {case.id!r} is here twice; give each its own")
        seen.add(case.id)
    return cases


def _case(place: Place) -> DialectCase:
    kind = place.variant("kind", _KINDS)
    needed, possible = _KINDS[kind]
    fields = place.fields((*_COMMON, *needed), (*_NOTES, *possible))
    read_step = _step if kind == "stream" else _question(kind)
    steps = [read_step(step) for step in fields["steps"].items()]
    named = fields["id"].text()
    dialect = fields["dialect"].one_of(DIALECTS)
    if not named.startswith(f"{dialect}-"):
        fields["id"].fail(f"must begin with its dialect, {dialect}-, got {named!r}")
    return DialectCase(
        named,
        fields["source"].text(),
        fields["provenance"].one_of(PROVENANCES),
        dialect,
        kind,
        tuple(steps),
        tuple(_row(row, len(steps)) for row in fields["expect"].items()),
        {at: fields[at].value for at in (*needed, *possible) if at in fields and at != "order"},
        "keyed" not in fields or fields["keyed"].flag(),
        fields["order"].one_of(ORDERS) if "order" in fields else "strict",
        "defect" in fields and fields["defect"].flag(),
        "unverified" in fields and fields["unverified"].flag(),
        fields["notes"].text() if "notes" in fields else "",
        fields["beam"].text() if "beam" in fields else "",
    )


def _step(place: Place) -> Mapping[str, Any]:
    fields = place.fields((), (*_STEPS, "stream"))
    names = [name for name in fields if name != "stream"]
    if len(names) != 1:
        place.fail(f"is one thing that happens, one of {', '.join(_STEPS)}; got {names}")
    for element in fields["elements"].items() if "elements" in fields else ():
        element.fields(("key", "value", "ts_ms"), ("gap_ms", "stream", "windows"))
    for name in names:
        if name.endswith("_ms") or name == "end_batches":
            fields[name].integer()
    return dict(place.value)


def _question(kind: str) -> Callable[[Place], Mapping[str, Any]]:
    def read(place: Place) -> Mapping[str, Any]:
        return {
            name: field.value for name, field in place.fields((), _STEPS_OF.get(kind, ())).items()
        }

    return read


def _row(place: Place, steps: int) -> CaseRow:
    fields = place.fields(("step", "kind", "key", "value", "window", "ts_ms"), ("reason",))
    window = fields["window"].value
    if isinstance(window, list):
        start, end = (bound.integer() for bound in _two(fields["window"]))
        window = (start, end)
    elif window not in (None, "global"):
        fields["window"].fail(f'must be [start, end], "global" or null, got {window!r}')
    at = fields["ts_ms"]
    return CaseRow(
        fields["step"].integer(0, steps),
        fields["kind"].one_of(ROW_KINDS),
        fields["key"].value,
        fields["value"].value,
        window,
        None if at.value is None else at.integer(),
        fields["reason"].text() if "reason" in fields else None,
    )


def _two(place: Place) -> Sequence[Place]:
    bounds = place.items()
    if len(bounds) != 2:
        place.fail(f"must be [start, end], got {len(bounds)} numbers")
    return bounds


def row_differences(
    expected: Sequence[CaseRow], rows: Sequence[CaseRow], order: str = "strict"
) -> list[str]:
    """What is missing, what came besides, and what came in another order; nothing if all is well.

    Args:
        order: ``strict``, or ``per_step_any``: rows of one step may come in any order.
    """
    rest = list(rows)
    missing = []
    for row in expected:
        at = next((index for index, other in enumerate(rest) if row.matches(other)), None)
        if at is None:
            missing.append(f"missing: {row}")
        else:
            del rest[at]
    found = [*missing, *(f"not expected: {row}" for row in rest)]
    if found or order == "per_step_any":
        return found
    return list(_misplaced(expected, rows))


def _misplaced(expected: Sequence[CaseRow], rows: Sequence[CaseRow]) -> Iterator[str]:
    for index, (row, other) in enumerate(zip(expected, rows, strict=True)):
        if not row.matches(other):
            yield f"at place {index}: {other}; expected there: {row}"
