# ruff: noqa: B008 (that is how parameters of a DoFn ask)
"""Rows given to functions with states and timers, as users write them: what comes out, in full."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import Row
from pyspark.sql import types as T

import beamlike as bl
import beamlike.beam as beam
from beamlike.beam.transforms.timeutil import TimeDomain
from beamlike.beam.transforms.userstate import (
    BagStateSpec,
    ReadModifyWriteStateSpec,
    TimerSpec,
    on_timer,
    on_window_expiration,
    requires_time_sorted_input,
)
from beamlike.errors import (
    ColumnError,
    StateError,
    UnsupportedError,
    UserFunctionError,
    WindowingError,
)
from beamlike.testing import QueryTest

VIEWS = "user string, at timestamp, page string"
SMALL: dict[str, Any] = {"shards": 2, "buckets": 2}
MINUTES, HOURS = bl.FixedWindows("1 minute"), bl.FixedWindows("1 hour")
NEVER_FIRED = {
    "timing": "UNKNOWN",
    "index": 0,
    "nonspeculative_index": 0,
    "is_first": True,
    "is_last": True,
}

Step = Callable[[QueryTest], Any]


def view(user: str | None, at: str, page: str = "tea") -> dict[str, Any]:
    return {"user": user, "at": at, "page": page}


def send(*rows: dict[str, Any], to: str | None = None) -> Step:
    return lambda query: query.send(*rows, to=to)


def to(instant: str) -> Step:
    return lambda query: query.advance_watermark_to(instant)


def wait(duration: str) -> Step:
    return lambda query: query.advance_processing_time(duration)


def end(query: QueryTest) -> Any:
    return query.advance_watermark_to_infinity()


def clock(at: datetime | None) -> str | None:
    return None if at is None else at.strftime("%H:%M:%S")


def line(row: dict[str, Any]) -> str:
    """A row as text: the columns, the window, the event time and when its pane fired."""
    if row.get("dropped") is not None:
        it = row["dropped"]
        window = it["window"] and f"{clock(it['window']['start'])}-{clock(it['window']['end'])}"
        return (
            f"dropped by {it['stage']}, {it['reason']}: {it['element']} in {window}, {it['error']}"
        )
    shown = {k: v for k, v in row.items() if k not in ("window", "timestamp", "pane", "dropped")}
    values = " ".join(str(value) for value in shown.values())
    window = f"{clock(row['window']['start'])}-{clock(row['window']['end'])}"
    timing = row["pane"]["timing"]
    return f"{values} at {clock(row['timestamp'])} in {window}" + f" {timing}" * (
        timing != "UNKNOWN"
    )


def came(
    job: Callable[..., Any], *steps: Step, columns: Any = VIEWS, restarts: bool = False, **more: Any
) -> list[list[str]]:
    """What comes out in each step, in order; with a restart after each of them if wanted."""
    found = []
    with QueryTest(job, columns, **more) as query:
        for step in steps:
            found.append(sorted(map(line, step(query))))
            if restarts and step is not end:
                query.restart()
    return found


def stream(df: Any, window: Any = None, **parts: Any) -> bl.Stream:
    rows = bl.stream(df, timestamp="at", watermark="0 s")
    return rows if window is None else rows.window(window, **parts)


# -- plain classes ---------------------------------------------------------------------------------


class Visits:
    """The pages of a visit, which is over after ten minutes without one."""

    pages, quiet = bl.state("list"), bl.timer("event")

    def process(self, row: Row, timestamp: datetime, pages: Any, quiet: Any) -> Any:
        pages.add(row.page)
        quiet.set(timestamp + timedelta(minutes=10))

    def on_quiet(self, key: Row, pages: Any, timestamp: datetime) -> Any:
        yield {"visit": f"{key.user}: {','.join(pages.read())}", "over": timestamp}
        pages.clear()


def visits(views: Any) -> Any:
    found = stream(views).apply_per_key("user", Visits(), "visit string, over timestamp", **SMALL)
    return found.everything


@pytest.mark.parametrize("restarts", [False, True])
def test_a_plain_class_keeps_states_and_sets_timers(restarts: bool) -> None:
    found = came(
        visits,
        send(view("ann", "12:00:00"), view("bob", "12:01:00", "milk")),
        send(view("ann", "12:08:00", "milk"), view(None, "12:08:00")),
        to("12:11:00"),
        to("12:11:01"),
        send(view("ann", "12:17:00", "salt")),
        end,
        restarts=restarts,
    )
    at = "1970-01-01 "
    assert found == [
        [],
        [
            "dropped by per key, null_key: "
            '{"user":null,"at":"1970-01-01T12:08:00.000Z","page":"tea"} in None, None'
        ],
        [],
        [f"bob bob: milk {at}12:11:00+00:00 at 12:11:00 in None-None"],
        [],
        [f"ann ann: tea,milk,salt {at}12:27:00+00:00 at 12:27:00 in None-None"],
    ]


def test_the_result_has_the_columns_of_the_key_its_own_and_those_of_a_pane() -> None:
    with QueryTest(visits, VIEWS) as query:
        query.send(view("ann", "12:00:00"))
        (row,) = query.advance_watermark_to("13:00:00")
    over = datetime(1970, 1, 1, 12, 10, tzinfo=UTC)
    assert row == {
        "user": "ann",
        "window": {"start": None, "end": None},
        "visit": "ann: tea",
        "over": over,
        "timestamp": over,
        "pane": NEVER_FIRED,
        "dropped": None,
    }


class Everything:
    """What a plain class can ask for."""

    last, pages, users, by_page = (bl.state(kind) for kind in ("value", "list", "set", "map"))  # type: ignore[arg-type]
    soon, later = bl.timer(), bl.timer("processing")

    def process(
        self, it: Any, key: Any, timestamp: Any, window: Any, last: Any, pages: Any, users: Any,
        by_page: Any, soon: Any, later: Any,
    ) -> Any:  # fmt: skip
        before = last.read()
        last.write((before or 0) + 1)
        pages.add(it["page"])
        users.add(it.user)
        by_page.put(it.page, last.read())
        soon.set(min(timestamp + timedelta(minutes=5), soon.latest), it.page)
        later.offset("1 minute").set_relative()
        assert (key, timestamp) == (Row(user=it.user), it.at)
        return [(f"{before} {clock(window.start)} {clock(soon.latest)}",)]

    def on_soon(self, tag: str, last: Any, users: Any, by_page: Any) -> Any:
        yield Row(said=f"soon {tag} {last.read()} {users.read()} {by_page.items()}")

    def on_later(self, pages: Any, later: Any) -> Any:
        now = later.current_relative_time
        yield {"user": "ann", "said": f"later {pages.read()} {clock(now)}"}

    def on_window_expiration(self, key: Any, pages: Any) -> Any:
        return [{"said": f"end {key.user} {pages.read()}"}]


@pytest.mark.parametrize("restarts", [False, True])
def test_a_plain_class_may_ask_for_each_kind_of_state_and_both_clocks(restarts: bool) -> None:
    def job(views: Any) -> Any:
        return stream(views, HOURS).apply_per_key(["user"], Everything(), "said string", **SMALL)

    found = came(
        job,
        send(view("ann", "12:01:00"), view("ann", "12:58:00", "milk")),
        wait("61 seconds"),
        to("12:59:30"),
        end,
        restarts=restarts,
    )
    assert found == [
        ["ann 1 12:00:00 12:59:59 at 12:58:00 in 12:00:00-13:00:00",
         "ann None 12:00:00 12:59:59 at 12:01:00 in 12:00:00-13:00:00",
         "ann soon tea 2 ['ann'] [('tea', 1), ('milk', 2)] at 12:06:00 in 12:00:00-13:00:00"],
        ["ann later ['tea', 'milk'] 00:01:01 at 12:58:00 in 12:00:00-13:00:00"],
        [],
        ["ann end ann ['tea', 'milk'] at 12:59:59 in 12:00:00-13:00:00",
         "ann soon milk 2 ['ann'] [('tea', 1), ('milk', 2)] at 12:59:59 in 12:00:00-13:00:00"],
    ]  # fmt: skip


# -- functions of Beam -----------------------------------------------------------------------------


class Counted(beam.DoFn):
    """Says how many rows of a key and window there are so far, and how many there were."""

    SEEN = ReadModifyWriteStateSpec("seen", beam.coders.VarIntCoder())

    def process(
        self,
        row: Any,
        key: Any = beam.DoFn.KeyParam,
        at: Any = beam.DoFn.TimestampParam,
        pane: Any = beam.DoFn.PaneInfoParam,
        seen: Any = beam.DoFn.StateParam(SEEN),
    ) -> Any:
        assert key == Row(user=row.user)
        seen.write((seen.read() or 0) + 1)
        yield {"what": f"{seen.read()} {row['page']} {int(at) % 3600} {pane.timing.value}"}

    @on_window_expiration
    def at_the_end(
        self, key: Any = beam.DoFn.KeyParam, seen: Any = beam.DoFn.StateParam(SEEN)
    ) -> Any:
        yield {"user": key.user, "what": f"{seen.read()} in all"}


def counted(views: Any, **options: Any) -> Any:
    rows = stream(views, MINUTES, allowed_lateness="30 s", accumulation="discarding")
    return rows.apply_per_key("user", Counted(), "what string", **SMALL, **options).everything


LATE = (
    send(view("ann", "12:00:10"), view("ann", "12:00:20", "milk"), view("bob", "12:00:20")),
    to("12:01:10"),
    send(view("ann", "12:00:30", "late")),
    to("12:01:31"),
    send(view("ann", "12:00:40", "too late")),
    end,
)


@pytest.mark.parametrize("restarts", [False, True])
def test_a_dofn_has_states_for_each_key_and_window_until_lateness_is_over(restarts: bool) -> None:
    at = "at 12:00:59 in 12:00:00-12:01:00"
    assert came(counted, *LATE, restarts=restarts) == [
        [
            "ann 1 tea 10 UNKNOWN at 12:00:10 in 12:00:00-12:01:00",
            "ann 2 milk 20 UNKNOWN at 12:00:20 in 12:00:00-12:01:00",
            "bob 1 tea 20 UNKNOWN at 12:00:20 in 12:00:00-12:01:00",
        ],
        [],
        ["ann 3 late 30 UNKNOWN at 12:00:30 in 12:00:00-12:01:00"],
        [f"ann 3 in all {at}", f"bob 1 in all {at}"],
        [
            'dropped by per key, expired: {"user": "ann", "at": "1970-01-01T12:00:40+00:00", '
            '"page": "too late"} in 12:00:00-12:01:00, None'
        ],
        [],
    ]


class InOrder(beam.DoFn):
    PAGES = BagStateSpec("pages", beam.coders.StrUtf8Coder())

    @requires_time_sorted_input
    def process(self, row: Any, pages: Any = beam.DoFn.StateParam(PAGES)) -> Any:
        pages.add(row.page)
        yield (" ".join(pages.read()),)


@pytest.mark.parametrize("restarts", [False, True])
def test_a_dofn_may_ask_for_its_rows_in_order_of_event_time(restarts: bool) -> None:
    found = came(
        lambda views: stream(views).apply_per_key("user", InOrder(), "pages string", **SMALL),
        send(view("ann", "12:03:00", "c"), view("ann", "12:01:00", "a")),
        send(view("ann", "12:03:00", "d")),
        send(view("ann", "12:10:00", "e")),
        end,
        restarts=restarts,
    )
    nowhere = "in None-None"
    assert found == [
        [f"ann a at 12:01:00 {nowhere}", f"ann a c at 12:03:00 {nowhere}"],
        [],
        [f"ann a c d at 12:03:00 {nowhere}", f"ann a c d e at 12:10:00 {nowhere}"],
        [],
    ]


class Ringing(beam.DoFn):
    RING = TimerSpec("ring", TimeDomain.REAL_TIME)

    def process(self, row: Any, ring: Any = beam.DoFn.TimerParam(RING)) -> Any:
        ring.offset(60).set_relative()
        yield beam.window.TimestampedValue({"what": "came later"}, row.at.timestamp() + 5)

    @on_timer(RING)
    def on_ring(self, key: Any = beam.DoFn.KeyParam) -> Any:
        yield [f"rang for {key[0]}"]


@pytest.mark.parametrize("restarts", [False, True])
def test_timers_of_processing_time_and_results_with_an_event_time(restarts: bool) -> None:
    found = came(
        lambda views: stream(views).apply_per_key("user", Ringing(), "what string", **SMALL),
        send(view("ann", "12:03:00")),
        wait("1 minute"),
        wait("1 second"),
        restarts=restarts,
    )
    assert found == [
        ["ann came later at 12:03:05 in None-None"],
        [],
        ["ann rang for ann at 12:03:00 in None-None"],
    ]


# -- failures --------------------------------------------------------------------------------------


class Picky:
    """Raises for some pages, and in some timers."""

    seen, due = bl.state("list"), bl.timer()

    def process(self, row: Any, timestamp: Any, seen: Any, due: Any) -> Any:
        seen.add(row.page)
        due.set(timestamp + timedelta(seconds=1), row.page)
        if row.page == "bad":
            raise KeyError("x")
        yield {"n": "many" if row.page == "unfit" else len(seen.read())}

    def on_due(self, tag: str, seen: Any) -> Any:
        seen.add("lost")
        if tag == "timer":
            raise ZeroDivisionError("no")
        yield {"n": -len(seen.read())}


def picky(views: Any, **options: Any) -> Any:
    found = stream(views, MINUTES).apply_per_key("user", Picky(), "n int", **SMALL, **options)
    return found.everything


@pytest.mark.parametrize("restarts", [False, True])
def test_what_raises_is_dropped_with_key_window_and_timer_and_nothing_else(restarts: bool) -> None:
    found = came(
        picky,
        send(view("ann", "12:00:01", "good"), view("ann", "12:00:02", "bad")),
        send(view("ann", "12:00:03", "unfit"), view("ann", "12:00:04", "timer")),
        end,
        restarts=restarts,
    )
    at, ms = "1970-01-01T12:00", 43205000
    inside = "in 12:00:00-12:01:00"
    assert found == [
        [
            f"ann 1 at 12:00:01 {inside}",
            'dropped by per key, failed: {"user": "ann", "at": "1970-01-01T12:00:02+00:00", '
            f'"page": "bad"}} {inside}, Picky.process raised KeyError: \'x\'',
        ],
        [
            f"ann -3 at 12:00:02 {inside}",
            f"ann 2 at 12:00:04 {inside}",
            f'dropped by per key, failed: {{"user": "ann", "at": "{at}:03+00:00", '
            f'"page": "unfit"}} {inside}, Picky.process raised ColumnError: the column \'n\' of a '
            "result is 'many', which does not fit the declared type 'int': Could not convert "
            "'many' with type str: tried to convert to int32; declare the type that it has, or let "
            "the function return a value of that type",
        ],
        [
            f'dropped by per key, failed: {{"user": "ann"}} {inside}, Picky.on_due raised '
            f"ZeroDivisionError: no; it was called for the timer 'due' ('timer') at 12:00:05 "
            f"({ms} ms)"
        ],
    ]


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("bad", ["Picky.process raised KeyError: 'x'", "the element Row(user='ann', at="]),
        ("unfit", ["the column 'n' of a result is 'many', which does not fit"]),
        (
            "timer",
            ["Picky.on_due raised ZeroDivisionError", "the timer 'due' ('timer') at 12:00:0"],
        ),
    ],
)
def test_what_raises_fails_the_query_if_that_is_wanted(page: str, words: Sequence[str]) -> None:
    with QueryTest(lambda views: picky(views, on_error="fail"), VIEWS) as query:
        with pytest.raises(UserFunctionError) as raised:
            _ = [step(query) for step in (send(view("ann", "12:00:01", page)), end)]
        found = str(raised.value)
    for each in (*words, "window [12:00:00, 12:01:00), key ('ann',)"):
        assert each in found


class ForEver:
    again = bl.timer()

    def process(self, row: Any, timestamp: Any, again: Any) -> None:
        again.set(timestamp)

    def on_again(self, timestamp: Any, again: Any) -> None:
        again.set(timestamp)


ENDLESS = (
    "ForEver.on_again raised UserStateError: the timer was set again, to no later an instant than "
    "it fired at, 100,000 times in one step; set it to a later instant each time, or not at all "
    "once there is nothing left to do; it was called for the timer 'again' at 12:00:01 (43201000 "
    "ms)"
)


def test_a_timer_without_an_end_stops_the_query_with_its_name() -> None:
    def job(views: Any) -> Any:
        options: Any = {"on_error": "fail", **SMALL}
        return stream(views, MINUTES).apply_per_key("user", ForEver(), "n int", **options)

    with QueryTest(job, VIEWS) as query:
        query.send(view("ann", "12:00:01"))
        with pytest.raises(UserFunctionError) as raised:
            query.advance_watermark_to("12:00:30")
    assert str(raised.value).startswith(f"{ENDLESS}, window [12:00:00, 12:01:00), key ('ann',);")


def test_a_timer_without_an_end_is_dropped_where_failures_are() -> None:
    def job(views: Any) -> Any:
        return stream(views, MINUTES).apply_per_key("user", ForEver(), "n int", **SMALL).everything

    assert came(job, send(view("ann", "12:00:01")), to("12:00:30"), end) == [
        [],
        [f'dropped by per key, failed: {{"user": "ann"}} in 12:00:00-12:01:00, {ENDLESS}'],
        [],
    ]


# -- what is refused -------------------------------------------------------------------------------


class NoProcess:
    pass


class NoRow:
    def process(self) -> None: ...


class Undeclared:
    def process(self, row: Any, total: Any) -> None: ...


class NoCallback:
    due = bl.timer()

    def process(self, row: Any) -> None: ...


class Misnamed:
    key = bl.state()

    def process(self, row: Any) -> None: ...


class InBundles(beam.DoFn):
    def process(self, row: Any) -> None: ...

    def finish_bundle(self) -> None: ...


class Uncalled(beam.DoFn):
    DUE = TimerSpec("due", TimeDomain.WATERMARK)

    def process(self, row: Any, due: Any = beam.DoFn.TimerParam(DUE)) -> None: ...


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        ({"key": "who"}, ColumnError, "there is no column 'who'; the columns are 'user', 'at', 'p"),
        ({"key": ["user", "user"]}, ColumnError, "key: column 'user' is named twice"),
        ({"returns": "user string"}, ColumnError, "would have two columns called 'user'"),
        ({"returns": "window string"}, ColumnError, "give the column of returns another name"),
        ({"returns": "dropped string"}, ColumnError, "returns: the name 'dropped' is needed here"),
        ({"returns": "n nonsense"}, ColumnError, "returns='n nonsense' are no columns that Spark"),
        ({"returns": T.IntegerType()}, ColumnError, "returns must say the columns of the results"),
        ({"returns": T.StructType()}, ColumnError, "returns must say the columns of the results"),
        ({"fn": Visits}, ColumnError, "fn must be an object and not its class; write Visits()"),
        ({"fn": NoProcess()}, ColumnError, "an object with a method process(self, row)"),
        ({"fn": NoRow()}, ColumnError, "fn: NoRow.process takes no row"),
        ({"fn": Undeclared()}, ColumnError, "declare total = bl.state() in Undeclared"),
        ({"fn": NoCallback()}, ColumnError, "write def on_due(self) in NoCallback"),
        ({"fn": Misnamed()}, ColumnError, "Misnamed.key has the name of something else"),
        ({"fn": InBundles()}, UnsupportedError, "finish_bundle is not called for rows of a Stream"),
        ({"fn": Uncalled()}, ColumnError, "without an associated on_timer callback"),
        ({"on_error": "ignore"}, WindowingError, "on_error must be one of"),
        ({"shards": 0}, WindowingError, "shards"),
        ({"name": ""}, WindowingError, "name must be a text"),
        ({"keys": "user"}, WindowingError, "no argument 'keys'; write key="),
        ({"window": bl.Sessions("1 hour")}, WindowingError, "merges windows"),
    ],
)
def test_what_cannot_be_is_refused_when_the_query_is_made(
    asked: dict[str, Any], error: Any, words: str
) -> None:
    window = asked.pop("window", None)
    call = {"key": "user", "fn": Visits(), "returns": "n int"} | asked
    with pytest.raises(error) as refused:
        QueryTest(lambda views: stream(views, window).apply_per_key(**call), VIEWS)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"n": 1, "m": 2}, "has 'm', and returns= declares the columns n int, required string"),
        ({"n": 1}, "the column 'required' of a result is null, and returns= declares it as not"),
        ({"user": "bob"}, "is for the key {'user': 'ann'}, and says 'user' is 'bob'"),
        ((1,), "the result (1,) has 1 values, and returns= declares 2 columns"),
        ("text", "the result 'text' is no row"),
        ((2**40, ""), "the column 'n' of a result is 1099511627776, which does not fit"),
        (beam.pvalue.TaggedOutput("other", (1, "")), "is for the output 'other'"),
    ],
)
def test_a_result_that_does_not_fit_is_refused(answer: Any, words: str) -> None:
    class Answers(beam.DoFn):
        def process(self, row: Any) -> Any:
            yield answer

    def job(views: Any) -> Any:
        returns = "n int, required string not null"
        rows = stream(views)
        return rows.apply_per_key("user", Answers(), returns, on_error="fail", **SMALL)

    with QueryTest(job, VIEWS) as query, pytest.raises(UserFunctionError) as refused:
        query.send(view("ann", "12:00:00"))
    assert words in str(refused.value)


def test_state_of_other_states_or_windows_is_refused_at_a_restart() -> None:
    class More(Visits):
        more = bl.state()

    def job(fn: Any, window: Any = None) -> Any:
        returns = "visit string, over timestamp"
        return lambda views: stream(views, window).apply_per_key("user", fn, returns, **SMALL)

    for other, words in (
        (job(More()), "states: the checkpoint has 'pages: bag PickleCoder()', the query has 'more"),
        (job(Visits(), HOURS), "window: the checkpoint has 'GlobalWindows()', the query has"),
    ):
        with QueryTest(job(Visits()), VIEWS) as query:
            query.send(view("ann", "12:00:00"))
            query.restart(other)
            with pytest.raises(StateError) as refused:
                query.send(view("ann", "12:00:00"))
        assert words in str(refused.value)


# -- with other steps ------------------------------------------------------------------------------


class Running:
    """Adds up numbers, and says the greatest event time that it has seen."""

    total = bl.state()

    def process(self, row: Any, total: Any) -> Any:
        total.write((total.read() or 0) + row.n)
        yield {"sum": total.read()}


@pytest.mark.parametrize("restarts", [False, True])
def test_after_a_grouping_rows_are_its_panes_and_before_one_they_are_grouped(
    restarts: bool,
) -> None:
    def job(views: Any) -> Any:
        minutes = stream(views, MINUTES).group(["user", "page"], {"n": bl.count()}, **SMALL)
        hours = minutes.window(HOURS).apply_per_key("user", Running(), "sum long", **SMALL)
        return hours.group([], {"sums": bl.collect("sum")}, **SMALL).everything

    found = came(
        job,
        send(view("ann", "12:00:10"), view("ann", "12:00:20")),
        send(view("ann", "12:02:00", "milk")),
        end,
        restarts=restarts,
    )
    assert found == [[], [], ["[2, 3] at 12:59:59 in 12:00:00-13:00:00 ON_TIME"]]


def test_a_function_sees_of_which_firing_a_row_is_and_keeps_it() -> None:
    class Seen(beam.DoFn):
        def process(self, row: Any, pane: Any = beam.DoFn.PaneInfoParam) -> Any:
            fired = f"{row.pane['timing']} {pane.timing.value}"
            yield {"seen": f"{row.n} {row.window['end']:%H:%M} {fired}"}

    def job(views: Any) -> Any:
        early = bl.AfterWatermark(early=bl.AfterCount(1))
        rows = stream(
            views, MINUTES, trigger=early, accumulation="discarding", allowed_lateness="0 s"
        )
        grouped = rows.group("user", {"n": bl.count()}, **SMALL)
        return grouped.apply_per_key("user", Seen(), "seen string", **SMALL)

    assert came(job, send(view("ann", "12:00:10")), send(view("ann", "12:00:20")), end) == [
        ["ann 1 12:01 EARLY EARLY at 12:00:59 in 12:00:00-12:01:00 EARLY"],
        ["ann 1 12:01 EARLY EARLY at 12:00:59 in 12:00:00-12:01:00 EARLY"],
        ["ann 0 12:01 ON_TIME ON_TIME at 12:00:59 in 12:00:00-12:01:00 ON_TIME"],
    ]


def test_sessions_have_states_once_a_grouping_has_merged_them() -> None:
    def job(views: Any) -> Any:
        sessions = stream(views, bl.Sessions("5 minutes")).group("user", {"n": bl.count()}, **SMALL)
        return sessions.apply_per_key("user", Running(), "sum long", **SMALL)

    rows = [view("ann", "12:00:00"), view("ann", "12:03:00"), view("ann", "12:30:00")]
    assert came(job, send(*rows), end) == [
        ["ann 2 at 12:07:59 in 12:00:00-12:08:00 ON_TIME"],
        ["ann 1 at 12:34:59 in 12:30:00-12:35:00 ON_TIME"],
    ]


@pytest.mark.parametrize("restarts", [False, True])
def test_several_inputs_share_states_and_the_watermark_is_the_least(restarts: bool) -> None:
    def job(web: Any, shop: Any) -> Any:
        both = bl.flatten([stream(web), stream(shop)])
        return both.apply_per_key("user", Visits(), "visit string, over timestamp", **SMALL)

    found = came(
        job,
        send(view("ann", "12:00:00", "web"), to="web"),
        send(view("ann", "12:01:00", "shop"), to="shop"),
        lambda query: query.advance_watermark_to("13:00:00", of="web"),
        lambda query: query.advance_watermark_to("13:00:00", of="shop"),
        columns={"web": VIEWS, "shop": VIEWS},
        restarts=restarts,
    )
    over = "1970-01-01 12:11:00+00:00 at 12:11:00"
    assert found == [[], [], [], [f"ann ann: web,shop {over} in None-None"]]


def test_streams_of_such_rows_are_looked_into_and_grouped_together() -> None:
    columns = {"web": VIEWS, "shop": VIEWS}
    steps = (
        send(view("ann", "12:00:00"), to="web"),
        send(view("ann", "12:00:01", "milk"), to="shop"),
        end,
    )

    def numbered(df: Any, name: str) -> bl.Stream:
        return stream(df, HOURS).apply_per_key("user", Numbered(), "n int", name=name, **SMALL)

    def looking(web: Any, shop: Any) -> Any:
        side = stream(shop, HOURS).deduplicate("user", **SMALL).select("user", "page")
        return bl.look_up(numbered(web, "web"), side, on="user", **SMALL)

    def together(web: Any, shop: Any) -> Any:
        streams = {"web": numbered(web, "web"), "shop": numbered(shop, "shop")}
        return bl.co_group(streams, "user", **SMALL)

    inside = "in 12:00:00-13:00:00"
    assert came(looking, *steps, columns=columns) == [
        [],
        [],
        [f"ann 1 milk at 12:00:00 {inside}"],
    ]
    assert came(together, *steps, columns=columns) == [
        [],
        [],
        [f"ann [{{'n': 1}}] [{{'n': 1}}] at 12:59:59 {inside} ON_TIME"],
    ]


class Numbered:
    seen = bl.state()

    def process(self, row: Any, seen: Any) -> Any:
        seen.write((seen.read() or 0) + 1)
        return [(seen.read(),)]


def test_a_timer_holds_the_watermark_of_what_follows() -> None:
    def job(views: Any) -> Any:
        found = stream(views).apply_per_key("user", Visits(), "visit string, over timestamp")
        return found.window(MINUTES).group([], {"visits": bl.collect("visit")})

    found = came(job, send(view("ann", "12:00:30")), to("12:10:30"), to("12:10:31"), to("12:12:00"))
    assert found == [[], [], [], ["['ann: tea'] at 12:10:59 in 12:10:00-12:11:00 ON_TIME"]]


@pytest.mark.parametrize("render", ["retractions", "changelog", "upserts"])
@pytest.mark.parametrize("step", ["apply_per_key", "deduplicate"])
def test_rows_that_withdraw_others_are_refused(render: Any, step: str) -> None:
    def job(views: Any) -> Any:
        rows = stream(views, HOURS, accumulation="retracting")
        grouped = rows.group("user", {"n": bl.count()}, render=render)
        if step == "deduplicate":
            return grouped.deduplicate("user")
        return grouped.apply_per_key("user", Running(), "sum long")

    with pytest.raises(UnsupportedError, match=r'rows that withdraw others.*"discarding"'):
        QueryTest(job, VIEWS)


@pytest.mark.parametrize(
    ("render", "said"),
    [
        ("retractions", [["1 False"], ["1 True", "2 False"]]),
        ("changelog", [["1 upsert"], ["2 upsert"]]),
        ("upserts", [["1 upsert"], ["2 upsert"]]),
    ],
)
def test_what_a_function_brings_out_may_be_corrected_by_a_grouping(
    render: Any, said: list[list[str]]
) -> None:
    def job(views: Any) -> Any:
        rows = stream(views, HOURS).deduplicate(["user", "page"])
        each = rows.window(
            trigger=bl.AfterWatermark(early=bl.AfterCount(1)),
            accumulation="retracting",
            allowed_lateness="0 s",
        )
        return each.group("user", {"n": bl.count()}, render=render)

    with QueryTest(job, VIEWS) as query:
        for at, page, wanted in (("12:00:00", "tea", said[0]), ("12:00:01", "milk", said[1])):
            rows = query.send(view("ann", at, page), view("ann", at, page))
            shown = "retraction" if render == "retractions" else "change"
            assert sorted(f"{row['n']} {row[shown]}" for row in rows) == wanted


def test_panes_that_repeat_others_are_rows_and_are_not_grouped_again() -> None:
    def job(views: Any, then: Any) -> Any:
        early = bl.AfterWatermark(early=bl.AfterCount(1))
        rows = stream(
            views, MINUTES, trigger=early, accumulation="accumulating", allowed_lateness="0 s"
        )
        grouped = rows.group("user", {"n": bl.count()}, **SMALL)
        return then(grouped.apply_per_key("user", Running(), "sum long", **SMALL))

    found = came(
        lambda views: job(views, lambda it: it),
        send(view("ann", "12:00:10")),
        send(view("ann", "12:00:20")),
    )
    inside = "in 12:00:00-12:01:00 EARLY"
    assert found == [[f"ann 1 at 12:00:59 {inside}"], [f"ann 3 at 12:00:59 {inside}"]]
    with pytest.raises(UnsupportedError, match="would count elements several times"):
        QueryTest(lambda views: job(views, lambda it: it.group([], {"n": bl.count()})), VIEWS)


def test_the_plan_says_what_the_step_does_and_names_are_given() -> None:
    plans = []

    def job(views: Any) -> Any:
        found = stream(views, HOURS).deduplicate("user", **SMALL)
        found = found.apply_per_key("user", Visits(), "visit string, over timestamp", **SMALL)
        plans.append(bl.explain_plan(found))
        return found

    QueryTest(job, VIEWS).close()
    assert plans == [
        "deduplicate: reference machine, because it calls a function with states and timers for "
        "each row\n"
        "  window: FixedWindows(1h)\n"
        "  allowed lateness: 0 ms\n"
        "  states: seen: value BooleanCoder()\n"
        "  timers: forget: WATERMARK\n"
        "  key: user string\n"
        "  inputs: a source\n"
        "  shards: 2\n"
        "  buckets: 2\n"
        "  hot key fanout: none\n"
        "per key: reference machine, because it calls a function with states and timers for each "
        "row\n"
        "  window: FixedWindows(1h)\n"
        "  allowed lateness: 0 ms\n"
        "  states: pages: bag PickleCoder()\n"
        "  timers: quiet: WATERMARK\n"
        "  key: user string\n"
        "  inputs: a grouping of 2 shards\n"
        "  shards: 2\n"
        "  buckets: 2\n"
        "  hot key fanout: none"
    ]


# -- on Spark --------------------------------------------------------------------------------------


class Rung(beam.DoFn):
    """Says what it has seen when the clock rings, and at the end of the window."""

    SEEN = BagStateSpec("seen", beam.coders.StrUtf8Coder())
    RING = TimerSpec("ring", TimeDomain.REAL_TIME)

    def process(
        self,
        row: Any,
        seen: Any = beam.DoFn.StateParam(SEEN),
        ring: Any = beam.DoFn.TimerParam(RING),
    ) -> None:
        seen.add(row["page"])
        ring.offset(60).set_relative()
        if row.page == "bad":
            raise KeyError("x")

    @on_timer(RING)
    def on_ring(self, seen: Any = beam.DoFn.StateParam(SEEN)) -> Any:
        yield [f"rang {' '.join(seen.read())}"]
        if seen.read()[-1] == "cup":
            raise ValueError("cup")

    @on_window_expiration
    def on_end(self, seen: Any = beam.DoFn.StateParam(SEEN)) -> Any:
        yield [f"end {' '.join(seen.read())}"]


def rung(views: Any) -> Any:
    once = stream(views, HOURS).deduplicate(["user", "page"], "5 minutes", **SMALL)
    return once.apply_per_key("user", Rung(), "said string", **SMALL).everything


@pytest.mark.spark
def test_on_spark_it_is_the_same_in_a_stream_that_restarts_and_in_bounded_data(spark: Any) -> None:
    rows = [
        *(view("ann", "12:00:01"), view("ann", "12:00:02"), view("bob", "12:00:03", "bad")),
        *(view("bob", "12:00:04", "cup"), view("ann", "12:00:05", "milk")),
    ]
    steps = (*(send(*rows[:3]), QueryTest.restart, send(*rows[3:]), wait("61 seconds"), end),)
    lost, inside = "dropped by per key, failed:", "in 12:00:00-13:00:00"
    (bad,), *others = local = came(rung, *steps)
    assert bad.startswith(f'{lost} {{"user": "bob", "page": "bad", "window"')
    assert bad.endswith(f"{inside}, Rung.process raised KeyError: 'x'")
    assert others == [
        [],
        [],
        [
            f"ann rang tea milk at 12:00:05 {inside}",
            f'{lost} {{"user": "bob"}} {inside}, Rung.on_ring raised ValueError: cup; it was '
            "called for the timer 'ring' at 2100-01-01 00:01:00 (4102444860000 ms)",
        ],
        [f"ann end tea milk at 12:59:59 {inside}", f"bob end cup at 12:59:59 {inside}"],
    ]
    assert came(rung, *steps, host="spark", spark=spark) == local

    seen = [tuple(it.values()) for it in rows]
    timed = [(user, datetime.fromisoformat(f"2020-01-01T{at}Z"), page) for user, at, page in seen]
    bounded = bl.stream(spark.createDataFrame(timed, VIEWS), timestamp="at").window(HOURS)
    visits = bounded.apply_per_key("user", Visits(), "visit string, over timestamp", **SMALL)
    assert sorted((row.user, row.visit) for row in visits.rows.collect()) == [
        ("ann", "ann: tea,tea,milk"),
        ("bob", "bob: bad,cup"),
    ]
