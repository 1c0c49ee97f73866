# ruff: noqa: B008 (that is how parameters ask)
"""A work that is written with the SDK of Apache Beam, and runs by `BeamlikeRunner`."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from tests.crash.feed import arriving
from tests.crash.pipelines import TOTALS
from tests.crash.sinks import Files
from tests.crash.work import Work


def _start(spark: Any, inbox: Path, home: Path) -> Any:
    import apache_beam as beam
    from apache_beam.coders import StrUtf8Coder
    from apache_beam.options.pipeline_options import PipelineOptions
    from apache_beam.transforms.timeutil import TimeDomain
    from apache_beam.transforms.trigger import AccumulationMode, AfterCount, AfterWatermark
    from apache_beam.transforms.userstate import (
        BagStateSpec,
        CombiningValueStateSpec,
        TimerSpec,
        on_timer,
    )

    from beamlike.runners.beam import BeamlikeRunner, FromDataFrame, WriteRows

    class Quiet(beam.DoFn):  # type: ignore[misc]
        """Says what a user has done when it was quiet for half a minute, and at the end."""

        TAGS = BagStateSpec("tags", StrUtf8Coder())
        POINTS = CombiningValueStateSpec("points", combine_fn=sum)
        SILENCE = TimerSpec("silence", TimeDomain.WATERMARK)

        def process(
            self,
            element: tuple[str, tuple[int, str]],
            timestamp: Any = beam.DoFn.TimestampParam,
            tags: Any = beam.DoFn.StateParam(TAGS),
            points: Any = beam.DoFn.StateParam(POINTS),
            silence: Any = beam.DoFn.TimerParam(SILENCE),
        ) -> None:
            _, (count, tag) = element
            tags.add(tag)
            points.add(count)
            silence.set(timestamp + 30)

        @on_timer(SILENCE)
        def on_silence(
            self,
            user: str = beam.DoFn.KeyParam,
            tags: Any = beam.DoFn.StateParam(TAGS),
            points: Any = beam.DoFn.StateParam(POINTS),
            window: Any = beam.DoFn.WindowParam,
        ) -> Iterable[dict[str, Any]]:
            said = ",".join(sorted(tags.read()))
            yield {"user": user, "points": points.read(), "window": str(window), "pane": said}
            tags.clear()
            points.clear()

    def total(
        pair: tuple[str, int],
        window: Any = beam.DoFn.WindowParam,
        pane: Any = beam.DoFn.PaneInfoParam,
    ) -> dict[str, Any]:
        shown = f"{pane.timing} {pane.index} {pane.nonspeculative_index} {pane.is_last}"
        return {"user": pair[0], "points": pair[1], "window": str(window), "pane": shown}

    options = PipelineOptions(
        ["--beamlike_host=spark", f"--checkpoint={home / 'checkpoint'}", "--shards=2"]
    )
    pipeline = beam.Pipeline(runner=BeamlikeRunner(), options=options)
    rows = pipeline | FromDataFrame(arriving(spark, inbox), timestamp="at", watermark="1 minute")
    pairs = (
        rows
        | beam.Filter(lambda row: row.user is not None)
        | "Pairs" >> beam.Map(lambda row: (row.user, (row.points, row.tag)))
    )
    sums = (
        pairs
        | "Points" >> beam.MapTuple(lambda user, points: (user, points[0]))
        | "Sessions"
        >> beam.WindowInto(
            beam.window.Sessions(60),
            trigger=AfterWatermark(early=AfterCount(2), late=AfterCount(1)),
            accumulation_mode=AccumulationMode.ACCUMULATING,
            allowed_lateness=300,
        )
        | beam.CombinePerKey(sum)
        | "Totals" >> beam.Map(total)
    )
    said = (
        pairs
        | "Tens" >> beam.WindowInto(beam.window.FixedWindows(600), allowed_lateness=300)
        | "Quiet" >> beam.ParDo(Quiet())
    )
    _ = (sums, said) | beam.Flatten() | WriteRows(TOTALS, Files(home / "out"))
    return pipeline.run().query


OF_THE_SDK: Final = (
    Work(
        "sdk",
        "a pipeline of Beam's SDK, with a stateful function and timers",
        _start,
        "checkpoint/query",
        needs="beam",
    ),
)
