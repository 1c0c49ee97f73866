"""What is compared with what, and how fast beamlike has to be."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, Literal

from attrs import evolve, field, frozen
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tests.benchmarks import pipelines, queries
from tests.benchmarks.data import LATE_KEYS, Sent, Shape, Standing, Stream
from tests.benchmarks.floor import empty_operators, empty_pipeline, empty_totals
from tests.benchmarks.perkey import per_key_counts, per_key_sessions

Engine = Literal["beamlike", "native", "per-key", "floor"]
ENGINES: Final[tuple[Engine, ...]] = ("beamlike", "native", "per-key", "floor")


@frozen
class Contender:
    """A query over some data. Two are compared by their results, and by their times."""

    name: str
    engine: Engine
    query: queries.Query
    shape: Shape
    comparable: Callable[[DataFrame], DataFrame] = lambda results: results
    """The results that the other must have too, out of all; columns of plain types."""


_ROUNDS: Final = 100


@frozen
class Bar:
    """So many times as fast as the baseline, at full size: what must be, and what would be fine."""

    least: float
    stretch: float


@frozen
class Work:
    """One line of the table, or a line for each size of micro-batch in a sweep."""

    name: str
    title: str
    subject: Contender
    baseline: Contender
    bar: Bar | None = None
    compared: tuple[Contender, Contender] | None = field()
    """The two whose results must be equal before a time is worth anything: subject and baseline,
    if nothing else is said. None: nothing to compare."""
    sweep: Literal["", "events", "touched"] = ""
    """The curve that its times are points of."""
    rounds: int = _ROUNDS
    """No more runs than this, for what is too slow to be repeated."""

    @compared.default
    def _both(self) -> tuple[Contender, Contender]:
        return self.contenders

    @property
    def contenders(self) -> tuple[Contender, Contender]:
        return self.subject, self.baseline


SWEEPS: Final = {"events": "events in a micro-batch", "touched": "open windows it touches"}


_beamlike = partial(Contender, "beamlike", "beamlike")
_native = partial(Contender, "native", "native")


def all_works(scale: float, batches: int) -> tuple[Work, ...]:
    """Every work.

    Args:
        scale: 1 for the sizes that the bars are meant for; less for a try.
        batches: Micro-batches of a run; the first two are not measured.
    """
    large = Stream(_scaled(500_000, scale), _scaled(200_000, scale), batches)
    # Java has compiled what each micro-batch does anew by then, see `_swept`.
    rows = Stream(large.events, large.keys, batches * 3, warm=batches * 2, checked=4)
    million = evolve(rows, events=_scaled(1_000_000, scale))
    small = Stream(_scaled(100_000, scale), _scaled(50_000, scale), batches)
    few = Stream(small.events, small.keys, min(batches, 4), checked=2)
    late = Stream(large.events, large.keys, batches, late=True)
    hot = Stream(large.events, large.keys, batches, drawn="zipf")
    open_windows = _scaled(2_000_000, scale)
    sparse = Standing(open_windows, (_scaled(20_000, scale),) * batches)
    medium = Standing(open_windows, (_scaled(200_000, scale),) * batches)
    sessions = _beamlike(queries.beamlike_sessions(), large)
    zipf = Contender("zipf", "beamlike", queries.beamlike_sessions(), hot)
    native_zipf = Contender("native, zipf", "native", queries.native_sessions(), hot)
    tree = Contender(
        "beamlike", "beamlike", queries.beamlike_tree("accumulating"), late, _final_panes
    )
    return (
        Work(
            "sessions-500k",
            "sessions, count and sum",
            sessions,
            _native(queries.native_sessions(), large),
            Bar(3.0, 5.0),
        ),
        Work(
            "sessions-100k",
            "sessions, count and sum",
            _beamlike(queries.beamlike_sessions(), small),
            _native(queries.native_sessions(), small),
            Bar(1.5, 2.5),
        ),
        Work(
            "fixed",
            "fixed windows, count and sum",
            _beamlike(queries.beamlike_fixed(), large),
            _native(queries.native_fixed(), large),
            Bar(2.0, 4.0),
        ),
        Work(
            "tree",
            "sessions, early, on time and late, accumulating",
            tree,
            Contender("native", "native", queries.native_sessions(), late, _without_late_keys),
            Bar(2.0, 4.0),
        ),
        Work(
            "lists",
            "sessions, all values",
            _beamlike(queries.beamlike_lists(), large, _sorted_lists),
            _native(queries.native_lists(), large, _sorted_lists),
            Bar(1.5, 3.0),
        ),
        Work(
            "sparse",
            f"{open_windows:,} open sessions, 1 in 100 touched",
            _beamlike(queries.beamlike_sessions("1 hour"), sparse),
            _native(queries.native_sessions("1 hour"), sparse),
            Bar(0.5, 1.0),
        ),
        Work(
            "medium",
            f"{open_windows:,} open sessions, 1 in 10 touched",
            _beamlike(queries.beamlike_sessions("1 hour"), medium),
            _native(queries.native_sessions("1 hour"), medium),
        ),
        Work(
            "per-key",
            "sessions, against one group for each key",
            _beamlike(queries.beamlike_sessions(), few),
            Contender("per-key", "per-key", _per_key, few),
            Bar(20.0, 50.0),
            rounds=1,
        ),
        Work(
            "states",
            "a function with a state, against one group for each key",
            _beamlike(queries.beamlike_states, few),
            Contender("per-key", "per-key", _per_key_states, few),
            Bar(5.0, 10.0),
            rounds=1,
        ),
        Work(
            "retracting",
            "the tree, retracting against accumulating",
            Contender(
                "retracting", "beamlike", queries.beamlike_tree("retracting"), late, _put_forward
            ),
            Contender(
                "accumulating", "beamlike", queries.beamlike_tree("accumulating"), late, _all_panes
            ),
            Bar(0.7, 0.9),
        ),
        Work(
            "zipf",
            "sessions, a key with 20 % of events against uniform",
            zipf,
            Contender("uniform", "beamlike", queries.beamlike_sessions(), large),
            Bar(0.7, 1.0),
            compared=(zipf, native_zipf),
        ),
        Work(
            "zipf-native",
            "the same of session_window",
            native_zipf,
            Contender("native, uniform", "native", queries.native_sessions(), large),
            compared=None,
        ),
        *(
            Work(
                f"pipeline-{name}",
                "sessions, sum, as a pipeline of elements",
                _beamlike(pipelines.pipeline_sessions, shape),
                _native(queries.native_sessions(), shape, _sums),
                Bar(1.0, 2.0),
            )
            for name, shape in (("500k", large), ("100k", small))
        ),
        Work(
            "pipeline-fn",
            "the same with a CombineFn of one's own",
            _beamlike(pipelines.pipeline_sessions_by(pipelines.PlainSum()), large),
            _native(queries.native_sessions(), large, _sums),
            Bar(0.6, 1.0),
        ),
        Work(
            "floor-pipeline",
            "the same operators, with functions that call the pipeline's and do nothing else",
            Contender("floor", "floor", empty_pipeline(small), small),
            _native(queries.native_sessions(), small, _sums),
            compared=None,
        ),
        Work(
            "globally",
            "fixed windows, the sum of a column of all rows, as a pipeline",
            _beamlike(pipelines.pipeline_globally, million),
            _native(queries.native_globally(), million),
            Bar(1.0, 1.0),
        ),
        Work(
            "globally-fn",
            "the same, where a function makes a number of each row",
            _beamlike(pipelines.pipeline_globally_by_fn, million),
            _native(queries.native_globally(), million),
        ),
        Work(
            "floor-globally",
            _NOTHING,
            Contender("floor", "floor", empty_totals, million),
            _native(queries.native_globally(), million),
            compared=None,
        ),
        Work(
            "enrichment",
            "rows with what a side input of 10,000 says, as a pipeline",
            _beamlike(pipelines.pipeline_enriched, rows),
            _native(queries.native_enriched(), rows),
            Bar(1.0, 1.0),
        ),
        Work(
            "enrichment-join",
            "the same against a join, and a function of the column of names alone",
            _beamlike(pipelines.pipeline_enriched, rows),
            _native(queries.native_joined(), rows),
        ),
        Work(
            "enrichment-stream",
            "the same with a side input that is a stream",
            _beamlike(pipelines.pipeline_enriched_by_stream, rows),
            _native(queries.native_enriched(), rows),
        ),
        Work(
            "windowed-fn",
            "sessions, a combine function of one's own",
            _beamlike(queries.beamlike_own_sum(), large),
            _native(queries.native_sessions(), large, _sums),
            Bar(1.0, 2.0),
        ),
        Work(
            "stages",
            "sessions, and how many of them in five minutes: two groupings in a row",
            _beamlike(queries.beamlike_twice, small),
            _native(queries.native_twice, small),
            Bar(1.0, 2.0),
        ),
        *_first_rows(scale, batches),
        *(_sweep_of_events(events, scale) for events in _sizes(scale)),
        *(_floor(events, scale) for events in _sizes(scale)),
        *_floors(large, late, small),
        _sweep_of_touched(open_windows),
    )


def _first_rows(scale: float, batches: int) -> Iterator[Work]:
    """Rows that are sent again: alone, before a window, and that window without them."""
    for events in (3_000, 100_000, 500_000):
        shape = _sent(_scaled(events, scale), scale, batches)
        name, counted = _short(events), _native(queries.native_first_counted, shape)
        first, native = (
            _beamlike(queries.beamlike_first, shape),
            _native(queries.native_first, shape),
        )
        bar = None if events < _FEW else Bar(1.0, 2.0)  # fewer take what empty operators do
        yield Work(f"first-{name}", "the first row of each key", first, native, bar)
        both = _beamlike(queries.beamlike_first_counted, shape)
        yield Work(f"first-counted-{name}", "the same, counted in windows", both, counted)
        alone = evolve(_beamlike(queries.values_counted, shape), name="not deduplicated")
        yield Work(f"first-window-{name}", _ALONE, both, alone, compared=None)
        if events == 3_000:
            floor = evolve(_empty(shape, 0.9), name="floor")
            yield Work("floor-first", _NOTHING, floor, native, compared=None)


def _sent(events: int, scale: float, batches: int) -> Sent:
    """Java compiles what small micro-batches do anew in a longer run, see `_swept`."""
    if events > _FEW or scale < 1:
        return Sent(events, batches)
    return Sent(events, 40, warm=20, checked=4)


_ALONE: Final = "the same against those windows alone"


def _sizes(scale: float) -> tuple[int, ...]:
    full: tuple[int, ...] = (1_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 2_000_000)
    if scale < 0.1:
        full = full[::2]  # a try: so small, the curve says nothing
    return tuple(_scaled(size, scale) for size in full)


def _sweep_of_events(events: int, scale: float) -> Work:
    shape = _swept(events, scale)
    return Work(
        f"linear-{_short(events)}",
        "sessions, count and sum",
        _beamlike(queries.beamlike_sessions(), shape),
        _native(queries.native_sessions(), shape),
        sweep="events",
        rounds=1 if events > _FEW else _ROUNDS,
    )


def _floor(events: int, scale: float) -> Work:
    shape = _swept(events, scale)
    return Work(
        f"floor-{_short(events)}",
        _NOTHING,
        _empty(shape, 1.0),
        _native(queries.native_sessions(), shape),
        compared=None,
        rounds=1 if events > _FEW else _ROUNDS,
    )


def _floors(large: Stream, late: Stream, small: Stream) -> Iterator[Work]:
    """Those of the works with other windows, panes or groupings, on their data."""
    fixed, twice = _native(queries.native_fixed(), large), _native(queries.native_twice, small)
    yield Work("floor-fixed", _NOTHING, _empty(large, 1.0), fixed, compared=None)
    tree = _native(queries.native_sessions(), late)
    yield Work("floor-tree", _NOTHING, _empty(late, _ACCUMULATING), tree, compared=None)
    retracting = evolve(_empty(late, _RETRACTING, retracts=True), name="floor, retracting")
    accumulating = evolve(_empty(late, _ACCUMULATING), name="floor, accumulating")
    yield Work("floor-retracting", _NOTHING, retracting, accumulating, compared=None)
    yield Work("floor-stages", _NOTHING, _empty(small, 1.0, 0.0), twice, compared=None)


_NOTHING: Final = "the same operators of Spark with functions that do nothing"
_ACCUMULATING: Final = 1.8
_RETRACTING: Final = 2.5
"""Rows of the tree for each key that a micro-batch meets, in this mode and in that."""


def _empty(shape: Shape, *rows: float, retracts: bool = False) -> Contender:
    return Contender("floor", "floor", empty_operators(shape, *rows, retracts=retracts), shape)


_FEW: Final = 100_000
"""Events of the largest micro-batch that is measured in several runs."""


def _swept(events: int, scale: float) -> Stream:
    """Small micro-batches come in a longer run, and its second half is measured.

    By then Java has compiled what each micro-batch does anew, such as plans. That takes it some
    twenty of them, which a query that runs for a day has soon behind it.
    """
    batches, warm = (5, 2) if events > _FEW or scale < 1 else (40, 20)
    return Stream(events, events * 2 // 5, batches, checked=2, warm=warm)


def _sweep_of_touched(open_windows: int) -> Work:
    shares = (100, 100, 100, 100, 100, 32, 32, 32, 10, 10, 10, 3, 3, 3, 1, 1, 1)
    shape = Standing(open_windows, tuple(open_windows // share for share in shares), checked=6)
    return Work(
        "touched",
        f"{open_windows:,} open sessions, 1 in 100 to all touched",
        _beamlike(queries.beamlike_sessions("1 hour"), shape),
        _native(queries.native_sessions("1 hour"), shape),
        sweep="touched",
        rounds=1,
    )


def _scaled(size: int, scale: float) -> int:
    return max(100, round(size * scale))


def _short(events: int) -> str:
    for unit, name in ((1_000_000, "m"), (1_000, "k")):
        if events >= unit:
            return f"{events / unit:g}{name}"
    return str(events)


def _per_key(df: DataFrame) -> DataFrame:
    return per_key_sessions(df.withWatermark("ts", queries.DELAY), queries.GAP)


def _per_key_states(df: DataFrame) -> DataFrame:
    return per_key_counts(df.withWatermark("ts", queries.DELAY))


def _sums(results: DataFrame) -> DataFrame:
    return results.select("key", "start", "end", "s")


def _sorted_lists(results: DataFrame) -> DataFrame:
    return results.select("key", "start", "end", F.array_join(F.sort_array("vs"), " ").alias("vs"))


def _without_late_keys(results: DataFrame) -> DataFrame:
    number = F.substring_index("key", "-", -1).cast("long")
    return results.filter(number % LATE_KEYS != 0)


def _final_panes(panes: DataFrame) -> DataFrame:
    """What stands when the window has ended. A late pane here would be one too many."""
    ended = _without_late_keys(panes).filter(F.col("timing") != "EARLY")
    return ended.select("key", "start", "end", "n", "s")


def _all_panes(panes: DataFrame) -> DataFrame:
    return panes.select("key", "start", "end", "timing", "index", "n", "s")


def _put_forward(panes: DataFrame) -> DataFrame:
    """The panes of retracting mode without what they withdraw: those of accumulating mode."""
    return _all_panes(panes.filter(~F.col("retraction")))
