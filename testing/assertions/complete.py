"""The complete output as a test expects it: exactly these panes and drops, every field of each."""

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, Final, TypeVar

import attrs

from beamlike.errors import TestStreamError
from beamlike.machine.events import Drop, DropReason, Pane, ReasonLike, RowProblem
from beamlike.model.fingerprint import on_one_line
from beamlike.model.panes import PaneInfo, Timing, TimingLike
from beamlike.model.time import DurationLike, InstantLike, duration_ms, instant_ms, show_duration
from beamlike.model.windows import Window
from beamlike.runtime.script import Output
from beamlike.testing.assertions.equality import unmatched
from beamlike.testing.assertions.failures import Failure
from beamlike.testing.spelling import WindowLike, instant_code, read_window, window_code
from beamlike.testing.streams.results import NO_KEY, Matcher, Results

_FEW: Final = 4
"""An output that differs in more fields is not matched to an expected one."""


@attrs.frozen
class ExpectedPane:
    """Every field of a pane; ``step`` None means that any step may have brought it out."""

    key: Any
    value: Any
    window: Window
    timestamp: int
    info: PaneInfo
    retraction: bool
    step: int | None

    def differences(self, output: Output, results: Results) -> list[str] | None:
        """What is different in an output, field by field; None if it is no pane at all."""
        actual = output.effect
        if not isinstance(actual, Pane):
            return None
        different = _other_step(self.step, output)
        different += self._other_element(output, results)
        different += _different(self.window, actual.window, "window", str)
        different += _different(self.timestamp, actual.timestamp, "timestamp", instant_code)
        different += _different(self.retraction, actual.retraction, "retraction")
        for name in (field.name for field in attrs.fields(PaneInfo)):
            show = attrgetter("value") if name == "timing" else on_one_line
            different += _different(
                getattr(self.info, name), getattr(actual.info, name), name, show
            )
        return different

    def _other_element(self, output: Output, results: Results) -> list[str]:
        key, value = output.key, output.effect.value
        if key is NO_KEY or self.key is NO_KEY:
            want = self.value if self.key is NO_KEY else (self.key, self.value)
            got = results.element(output)
            return [] if results.same_element(want, got) else _different(want, got, "element")
        different = _different(self.key, key, "key")
        if not results.same_element((key, self.value), (key, value)):
            different += _different(self.value, value, "value")
        return different

    def __str__(self) -> str:
        info, step = self.info, self.step
        named = None if self.key is NO_KEY else _NAMED.get(info.timing)
        head = named or ("pane" if self.key is not NO_KEY else "element")
        parts = [on_one_line(part) for part in (self.key, self.value) if part is not NO_KEY]
        parts.append(window_code(self.window))
        is_usual = named or (head == "element" and info.timing is Timing.UNKNOWN)
        parts += [] if is_usual else [f'timing="{info.timing.value}"']
        parts += [f"index={info.index}"] if info.index else []
        if info.nonspeculative_index != _usual_nonspeculative(info.timing, info.index):
            parts.append(f"nonspeculative_index={info.nonspeculative_index}")
        if head != "element" or not info.is_last:
            parts.append(f"is_last={info.is_last}")
        if self.timestamp != self.window.max_timestamp:
            parts.append(f"timestamp={instant_code(self.timestamp)}")
        parts += ["retraction=True"] if self.retraction else []
        parts += [] if step is None else [f"step={step}"]
        return f"{head}({', '.join(parts)})"


@attrs.frozen
class ExpectedDrop:
    """Every field of a drop; ``step`` None means that it may have been dropped at any step."""

    key: Any
    value: Any
    timestamp: int | None
    window: Window | None
    reason: DropReason | RowProblem
    missed_by: int | None
    count: int
    step: int | None

    def differences(self, output: Output, results: Results) -> list[str] | None:
        """What is different in an output, field by field; None if it is no drop at all."""
        actual = output.effect
        if not isinstance(actual, Drop):
            return None
        different = _other_step(self.step, output) + _different(self.key, output.key, "key")
        for name, (label, show) in _FIELDS_OF_DROPS.items():
            different += _different(getattr(self, name), getattr(actual, name), label, show)
        return different

    def __str__(self) -> str:
        parts = [
            f"{on_one_line(self.key)}, {on_one_line(self.value)}",
            *([] if self.timestamp is None else [f"at={instant_code(self.timestamp)}"]),
            *([] if self.window is None else [f"window={_as_one(window_code(self.window))}"]),
            f'reason="{self.reason.value}"',
        ]
        if self.missed_by is not None:
            parts.append(f'missed_by="{show_duration(self.missed_by)}"')
        parts += [] if self.count == 1 else [f"count={self.count}"]
        parts += [] if self.step is None else [f"step={self.step}"]
        return f"dropped({', '.join(parts)})"


def _or(nothing: str, show: Callable[[Any], str]) -> Callable[[Any], str]:
    """What shows a value, and None as this word."""
    return lambda value: nothing if value is None else show(value)


_FIELDS_OF_DROPS: Final[Mapping[str, tuple[str, Callable[[Any], str]]]] = {
    "value": ("value", on_one_line),
    "timestamp": ("at", _or("no time", instant_code)),
    "window": ("window", _or("no window", str)),
    "reason": ("reason", attrgetter("value")),
    "count": ("count", on_one_line),
    "missed_by": ("missed_by", _or("nothing", show_duration)),
}
"""What an argument of `dropped` is called, and how it is shown."""


Expected = ExpectedPane | ExpectedDrop


def pane(
    key: Any,
    value: Any,
    *window: WindowLike | InstantLike,
    timing: TimingLike,
    is_last: bool,
    index: int = 0,
    nonspeculative_index: int | None = None,
    timestamp: InstantLike | None = None,
    retraction: bool = False,
    step: int | None = None,
) -> ExpectedPane:
    """A pane of `emit_exactly`, every field of it.

    Args:
        key: The key.
        value: The value; a list equals any sequence of the same items.
        window: Two instants, or one window.
        timing: ``"EARLY"``, ``"ON_TIME"``, ``"LATE"`` or ``"UNKNOWN"``.
        is_last: Whether no pane can follow.
        index: Counts the panes of the key and window. A pane is first if its index is 0.
        nonspeculative_index: By default -1 for an EARLY pane, 0 for an ON_TIME one, and the
            index for a LATE one, which is right if no EARLY pane came before it.
        timestamp: By default the last millisecond of the window.
        retraction: Whether it withdraws an earlier pane.
        step: The 0-based step of the stream that brought it out; None: any.

    Raises:
        TestStreamError: The timing is none of the four, or the window is no window.
        TimeError: An instant cannot be read.
    """
    when = _timing(timing)
    span = read_window(window, "pane")
    if nonspeculative_index is None:
        nonspeculative_index = _usual_nonspeculative(when, index)
    return ExpectedPane(
        key,
        value,
        span,
        span.max_timestamp if timestamp is None else instant_ms(timestamp, "pane timestamp"),
        PaneInfo(when, index, nonspeculative_index, index == 0, is_last),
        retraction,
        step,
    )


def element(
    value: Any,
    *window: WindowLike | InstantLike,
    timing: TimingLike = Timing.UNKNOWN,
    is_last: bool = True,
    **fields: Any,
) -> ExpectedPane:
    """A `pane` whose value is the whole element, of a collection of a pipeline.

    By default the element was never grouped: its timing is UNKNOWN, and its pane the first and
    the last.
    """
    return pane(NO_KEY, value, *window, timing=timing, is_last=is_last, **fields)


def early_pane(
    key: Any, value: Any, *window: WindowLike | InstantLike, is_last: bool, **fields: Any
) -> ExpectedPane:
    """A `pane` whose timing is EARLY."""
    return pane(key, value, *window, timing=Timing.EARLY, is_last=is_last, **fields)


def on_time_pane(
    key: Any, value: Any, *window: WindowLike | InstantLike, is_last: bool, **fields: Any
) -> ExpectedPane:
    """A `pane` whose timing is ON_TIME."""
    return pane(key, value, *window, timing=Timing.ON_TIME, is_last=is_last, **fields)


def late_pane(
    key: Any, value: Any, *window: WindowLike | InstantLike, is_last: bool, **fields: Any
) -> ExpectedPane:
    """A `pane` whose timing is LATE."""
    return pane(key, value, *window, timing=Timing.LATE, is_last=is_last, **fields)


def dropped(
    key: Any,
    value: Any,
    *,
    at: InstantLike | None = None,
    window: WindowLike | None = None,
    reason: ReasonLike,
    missed_by: DurationLike | None = None,
    count: int = 1,
    step: int | None = None,
) -> ExpectedDrop:
    """A drop of `emit_exactly`: one element that one of its windows did not accept.

    Args:
        key: The key.
        value: The element's value.
        at: The element's timestamp; None only if ``reason`` is ``"failed"`` and all that is left
            of the elements is their number, or if a row became no element.
        window: The window that refused it; None only if ``reason`` is ``"failed"`` and it never
            got as far as a window, or if a row became no element.
        reason: ``"expired"``, ``"closed"`` or ``"failed"``; or why a row of a DataFrame became no
            element, such as ``"null_key"``.
        missed_by: How much earlier the watermark would have had to be. Required for
            ``"expired"``; the other reasons have nothing to do with time.
        count: How many elements were lost.
        step: The 0-based step at which the element arrived; None: any.

    Raises:
        TestStreamError: The reason is none of these, or the rest does not go with it.
        TimeError: An instant or a duration cannot be read.
    """
    why = _reason(reason)
    if (why is DropReason.EXPIRED) != (missed_by is not None):
        need = (
            'reason="expired" needs missed_by, for example missed_by="1 ms"'
            if missed_by is None
            else f'reason="{why.value}" has no missed_by, got {missed_by!r}'
        )
        raise TestStreamError(f"dropped: {need}")
    for argument, absent in (("at", at is None), ("window", window is None)):
        if absent and why in (DropReason.EXPIRED, DropReason.CLOSED):
            raise TestStreamError(f'dropped: reason="{why.value}" needs {argument}')
    if type(count) is not int or count < 1:
        raise TestStreamError(f"dropped count must be a whole number of at least 1, got {count!r}")
    return ExpectedDrop(
        key,
        value,
        None if at is None else instant_ms(at, "dropped at"),
        None if window is None else read_window((window,), "dropped"),
        why,
        None if missed_by is None else duration_ms(missed_by, "dropped missed_by"),
        count,
        step,
    )


Field = TypeVar("Field")


def _different(want: Field, got: Field, name: str, show: Any = on_one_line) -> list[str]:
    return [] if want == got else [f"{name}: expected {show(want)}, got {show(got)}"]


def _other_step(step: int | None, output: Output) -> list[str]:
    return [] if step is None else _different(step, output.step, "step")


def _as_one(code: str) -> str:
    return f"({code})" if "," in code else code


_NAMED: Final = {
    Timing.EARLY: "early_pane",
    Timing.ON_TIME: "on_time_pane",
    Timing.LATE: "late_pane",
}


def _usual_nonspeculative(timing: Timing, index: int) -> int:
    if timing is Timing.EARLY:
        return -1
    return index if timing is Timing.LATE else 0


def _timing(timing: TimingLike) -> Timing:
    try:
        return Timing(timing)
    except ValueError:
        raise TestStreamError(
            f"pane timing must be one of {', '.join(repr(t.value) for t in Timing)}, got {timing!r}"
        ) from None


def _reason(reason: ReasonLike) -> DropReason | RowProblem:
    known: tuple[DropReason | RowProblem, ...] = (*DropReason, *RowProblem)
    for member in known:
        if reason in (member, member.value):
            return member
    names = ", ".join(repr(member.value) for member in known)
    raise TestStreamError(f"dropped reason must be one of {names}, got {reason!r}")


def emit_exactly(*outputs: Expected) -> Matcher:
    """Exactly these panes and drops come out, in any order, and nothing else.

    ``emit_exactly()`` says that nothing comes out and nothing is dropped. A failure prints
    what was not expected as code, ready to be copied.

    Raises:
        TestStreamError: An argument is neither a pane nor a drop.
    """
    for output in outputs:
        if not isinstance(output, Expected):
            raise TestStreamError(
                "emit_exactly takes early_pane, on_time_pane, late_pane, pane, element and "
                f"dropped, got {output!r}"
            )
    return _EmitExactly(outputs)


@attrs.frozen
class _EmitExactly:
    expected: tuple[Expected, ...]

    def failure(self, results: Results, *, negated: bool) -> Failure | None:
        # Those that name their step choose first: the others can take what is left.
        expected = sorted(self.expected, key=lambda wanted: wanted.step is None)
        missing, unexpected = unmatched(
            expected,
            enumerate(results.run.outputs),
            lambda wanted, numbered: wanted.differences(numbered[1], results) == [],
        )
        rest = dict(unexpected)
        if negated and not missing and not rest:
            return Failure(
                "emit_exactly holds, but should not", marked=tuple(range(len(results.run.outputs)))
            )
        if negated or not (missing or rest):
            return None
        return Failure(
            f"emit_exactly does not hold: {len(missing)} missing, {len(rest)} unexpected",
            _differences(missing, rest, results),
            tuple(rest),
        )


def _differences(
    missing: list[Expected], rest: dict[int, Output], results: Results
) -> tuple[tuple[str, str], ...]:
    """What is missing and what came instead; the two side by side where they are alike."""
    facts, left = [], dict(rest)
    for wanted in missing:
        alike = [
            (len(different), index, different)
            for index, output in left.items()
            if (different := wanted.differences(output, results)) is not None
            and (wanted.key == output.key or wanted.key is NO_KEY)
            and len(different) <= _FEW
        ]
        if alike:
            _, index, different = min(alike)
            facts += [("expected", str(wanted)), ("came out", output_code(left.pop(index)))]
            facts.append(("differs in", "\n".join(different)))
        else:
            facts.append(("missing", str(wanted)))
    facts += [("unexpected", output_code(output)) for output in left.values()]
    return tuple(facts)


def output_code(output: Output) -> str:
    """An output as the code that would expect it."""
    match output.effect:
        case Pane(window, value, timestamp, info, retraction):
            return str(
                ExpectedPane(output.key, value, window, timestamp, info, retraction, step=None)
            )
        case Drop() as drop:
            fields = (drop.value, drop.timestamp, drop.window, drop.reason, drop.missed_by)
            return str(ExpectedDrop(output.key, *fields, drop.count, None))
