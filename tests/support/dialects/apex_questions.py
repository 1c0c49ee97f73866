"""Cases of Apex that are no streams: windows, accumulations, storages and settings."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from beamlike.dialects import apex
from beamlike.errors import BeamlikeError, UnsupportedError
from beamlike.model.combine import CombineFn, Last
from beamlike.model.options import AccumulationMode
from beamlike.model.windows import GLOBAL_WINDOW, bounds
from tests.conformance.beamlike_conformance.scenarios import DialectCase
from tests.support.dialects.player import unless

__all__ = ["assigned", "combined", "recovered", "validated"]


def assigned(case: DialectCase) -> Iterator[str]:
    """What is answered otherwise of the windows of timestamps."""
    match case.document["window"]:
        case {"type": "global"}:
            option = apex.WindowOption.global_window()
        case {"type": "sliding", "size_ms": size, "slide_ms": slide}:
            option = apex.WindowOption.sliding_time_windows(size, slide)
        case said:
            raise UnsupportedError(f"the window {said}")
    for it in case.document["cases"]:
        windows: Any = "global"
        if it["windows"] != "global":
            windows = sorted(list(bounds(at)) for at in option.window_fn.assign(it["ts_ms"]))
        elif option.window_fn.assign(it["ts_ms"]) != (GLOBAL_WINDOW,):
            windows = "others"
        yield from unless(f"windows at {it['ts_ms']}", it["windows"], windows)


_PARTS: Mapping[str, CombineFn] = {
    "sum": apex.Sum(),
    "count": apex.Count(),
    "max": apex.Max(),
    "min": apex.Min(),
}


def combined(case: DialectCase) -> Iterator[str]:
    """What an accumulation makes otherwise of its inputs, in groups that are merged."""
    match case.document:
        case {"function": "composite", "parts": names}:
            combine: CombineFn = apex.CompositeAccumulation(*(_PARTS[name] for name in names))
        case {"function": "average"}:
            combine = apex.Average()
        case {"function": "reduce", "separator": between}:
            combine = apex.ReduceFn(lambda one, other: f"{one}{between}{other}")
        case said:
            raise UnsupportedError(f"the accumulation {said['function']}")
    accumulator = combine.create()
    for group in case.document.get("groups", [case.document.get("inputs", [])]):
        added = combine.add(combine.create(), group, [0] * len(group))
        accumulator = combine.merge(accumulator, added)
    got = combine.extract(accumulator)
    yield from unless(
        "output", case.document["output"], list(got) if isinstance(got, tuple) else got
    )


# -- settings ----------------------------------------------------------------------------------


def validated(case: DialectCase) -> Iterator[str]:
    """What is otherwise of settings: the time of an element, or whether they are taken."""
    for it in case.document["cases"]:
        if "tuple" in it:
            expected: Any = [it["ts_ms"]]
            got: Any = _times(it)
        else:
            expected, got = it["ok"], _is_taken(it)
        yield from unless(str(it), expected, got)


def _times(said: Mapping[str, Any]) -> list[Any]:
    """Where an element is, with a timestamp extractor, with a time of its own, or without."""
    run = apex.WindowedOperator(
        apex.WindowOption.time_windows(1),
        apex.Count(),
        timestamp_extractor=None if said["extractor"] is None else lambda value: value * 10,
    ).run()
    if said["tuple"] == "timestamped":
        run.process("any", said["ts_ms"])
    else:
        run.process(said.get("value", "any"))
    return [row.timestamp for row in run.windows()]


_STORAGES = {"window_state_storage": "window_state", "data_storage": "data"}


def _is_taken(said: Mapping[str, Any]) -> bool:
    missing = said.get("missing")
    kept = apex.Storage.IN_MEMORY
    storages = {"retraction": kept if said.get("retraction_storage", True) else None}
    if missing in _STORAGES:
        storages[_STORAGES[missing]] = None
    option = apex.TriggerOption(mode=AccumulationMode(said.get("mode", "discarding")))
    try:
        if said.get("only_updated_panes"):
            option = option.firing_only_updated_panes()
        apex.WindowedOperator(
            apex.WindowOption.global_window(),
            None if missing == "accumulation" else apex.Sum(),  # type: ignore[arg-type]
            option,
            storages=apex.Storages(**storages),
        )
    except BeamlikeError:
        return False
    return True


# -- storages ----------------------------------------------------------------------------------


def recovered(case: DialectCase) -> Iterator[str]:
    """What is in the windows of an operator otherwise after a crash.

    The operator keeps the last value that was put. Values come in their windows.
    """
    keyed, storages = case.document.get("keyed", True), apex.Storages.all_of(apex.Storage.SPILLABLE)
    operator = apex.WindowedOperator(None, Last(), keyed=keyed, storages=storages)
    run, checkpoints = operator.run(), dict[int, apex.OperatorCheckpoint]()
    for index, step in enumerate(case.steps):
        match step:
            case {"put": values}:
                for window, key, value in values:
                    run.process(value, window[0], key, windows=[window])
                run.end_batch()
            case {"checkpoint": batch}:
                checkpoints[batch] = run.checkpoint()
            case {"crash_and_recover_to": batch}:
                run = operator.recover(checkpoints[batch])
            case {"read": values}:
                yield from _read(index, values, run)
            case _:
                raise UnsupportedError(f"a step with {', '.join(step)}")


def _read(step: int, values: Sequence[Any], run: apex.OperatorRun) -> Iterator[str]:
    there = {(row.window, row.key): row.value for row in run.windows()}
    for window, key, value in values:
        yield from unless(f"step {step}, {key} in {window}", value, there.get((tuple(window), key)))
