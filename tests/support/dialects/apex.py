"""Cases of Apex, played by `beamlike.dialects.apex`."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import attrs

from beamlike.dialects import apex
from beamlike.errors import UnsupportedError
from beamlike.model.combine import CombineFn
from beamlike.model.options import AccumulationMode
from tests.conformance.beamlike_conformance.scenarios import DialectCase
from tests.support.dialects.player import Player, unknown

__all__ = ["play_apex"]

_ACCUMULATIONS: Mapping[str, CombineFn] = {
    "sum": apex.Sum(),
    "cogroup": apex.CoGroup(),
    "inner_join": apex.InnerJoin(),
}


def _option(said: Mapping[str, Any] | None) -> apex.WindowOption | None:
    match said:
        case None:
            return None
        case {"type": "global"}:
            return apex.WindowOption.global_window()
        case {"type": "session", "gap_ms": gap}:
            return apex.WindowOption.session_windows(gap)
        case {"type": "sliding", "size_ms": size, "slide_ms": slide}:
            return apex.WindowOption.sliding_time_windows(size, slide)
        case {"type": "fixed", "size_ms": size}:
            return apex.WindowOption.time_windows(size)
    raise UnsupportedError(f"the window {said}")


def _trigger_option(case: DialectCase) -> apex.TriggerOption:
    option = apex.TriggerOption()
    for name, said in case.document["trigger"].items():
        match name:
            case "at_watermark":
                option = attrs.evolve(option, on_time=said)
            case "early_every_count":
                option = option.with_early_firings_at_every(said)
            case "late_every_count":
                option = option.with_late_firings_at_every(said)
            case "early_every_ms":
                option = option.with_early_firings_at_every(timedelta(milliseconds=said))
            case "late_every_ms":
                option = option.with_late_firings_at_every(timedelta(milliseconds=said))
            case "only_updated_panes":
                option = attrs.evolve(option, only_updated=said)
            case _:
                raise UnsupportedError(f"the trigger {name}")
    return attrs.evolve(option, mode=AccumulationMode(case.document["accumulation"]))


def _generator(said: Mapping[str, Any] | None) -> Any:
    match said:
        case {"type": "event_time_minus", "ms": by}:
            return apex.FixedDiffEventTimeWatermarkGen(by)
        case {"type": "ingestion_time_minus", "ms": by}:
            return apex.FixedDiffProcessingTimeWatermarkGen(by)
    return None


def play_apex(case: DialectCase) -> Player:
    """The case, played to its end."""
    run = _operator(case).run(case.document["batch_interval_ms"])
    player = Player(run)
    for index, step in enumerate(case.steps):
        match step:
            case {"elements": elements}:
                for element in elements:
                    given = (
                        element["value"],
                        element["ts_ms"],
                        element["key"],
                        element.get("windows"),
                    )
                    process = run.process
                    if element.get("stream") == 2 and isinstance(run, apex.MergeOperatorRun):
                        process = run.process2
                    player.note(index, process(*given))
            case {"advance_watermark_to_ms": to, "stream": 2} if isinstance(
                run, apex.MergeOperatorRun
            ):
                run.process_watermark2(to)
            case {"advance_watermark_to_ms": to}:
                run.process_watermark(to)
            case {"end_batches": batches}:
                for _ in range(batches):
                    player.note(index, run.end_batch())
            case _:
                raise unknown(step)
    return player


def _operator(case: DialectCase) -> apex.WindowedOperator:
    settings = case.document
    lateness = settings.get("allowed_lateness_ms", -1)
    of_streams = apex.WindowedMergeOperator if "streams" in settings else apex.WindowedOperator
    return of_streams(
        _option(settings["window"]),
        _ACCUMULATIONS[settings["aggregate"]],
        _trigger_option(case),
        allowed_lateness=None if lateness < 0 else lateness,
        keyed=case.document.get("keyed", True),
        watermark_generator=_generator(settings.get("watermark_generator")),
    )
