# ruff: noqa: B008 (that is how parameters of a DoFn ask)
"""Functions over rows that raise, or that cannot be: what is dropped, and what is refused."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from pyspark.sql import types as T

import beamlike as bl
import beamlike.beam as beam
from beamlike.beam.transforms import userstate
from beamlike.beam.transforms.timeutil import TimeDomain
from beamlike.errors import (
    ColumnError,
    StateError,
    UnsupportedError,
    UserFunctionError,
    WindowingError,
)
from beamlike.testing import QueryTest
from tests.support.queries.page_views import (
    HOURS,
    MINUTES,
    SMALL,
    VIEWS,
    Visits,
    came,
    end,
    send,
    stream,
    to,
    view,
)

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
            'dropped by per key, failed: {"user":"ann","at":"1970-01-01T12:00:02.000000Z",'
            f'"page":"bad"}} {inside}, Picky.process raised KeyError: \'x\'',
        ],
        [
            f"ann -3 at 12:00:02 {inside}",
            f"ann 2 at 12:00:04 {inside}",
            f'dropped by per key, failed: {{"user":"ann","at":"{at}:03.000000Z",'
            f'"page":"unfit"}} {inside}, Picky.process raised ColumnError: the column \'n\' of a '
            "result is 'many', which does not fit the declared type 'int': Could not convert "
            "'many' with type str: tried to convert to int32; declare the type that it has, or let "
            "the function return a value of that type",
        ],
        [
            f'dropped by per key, failed: {{"user":"ann"}} {inside}, Picky.on_due raised '
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
        [f'dropped by per key, failed: {{"user":"ann"}} in 12:00:00-12:01:00, {ENDLESS}'],
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


class NeverSet:
    due = bl.timer()

    def process(self, row: Any) -> None: ...

    def on_due(self) -> None: ...


class NoTimer:
    def process(self, row: Any) -> None: ...

    def on_due(self) -> None: ...


class OrderedLater:
    due = bl.timer()

    def process(self, row: Any, due: Any) -> None: ...

    @userstate.requires_time_sorted_input
    def on_due(self) -> None: ...


class Ending:
    def process(self, row: Any) -> None: ...

    @userstate.on_window_expiration
    def farewell(self) -> None: ...


class PlainInBundles:
    def process(self, row: Any) -> None: ...

    def start_bundle(self) -> None: ...


class OrderedDoFn(beam.DoFn):
    DUE = userstate.TimerSpec("due", TimeDomain.WATERMARK)

    def process(self, row: Any, due: Any = beam.DoFn.TimerParam(DUE)) -> None: ...

    @userstate.on_timer(DUE)
    @userstate.requires_time_sorted_input
    def when_due(self) -> None: ...


class Misnamed:
    key = bl.state()

    def process(self, row: Any) -> None: ...


class InBundles(beam.DoFn):
    def process(self, row: Any) -> None: ...

    def finish_bundle(self) -> None: ...


class Uncalled(beam.DoFn):
    DUE = userstate.TimerSpec("due", TimeDomain.WATERMARK)

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
        (
            {"fn": NeverSet()},
            ColumnError,
            "NeverSet.due is never set, because no method asks for it",
        ),
        ({"fn": NoTimer()}, ColumnError, "declare due = bl.timer() in NoTimer"),
        ({"fn": OrderedLater()}, ColumnError, "orders the rows of process; write it over process"),
        ({"fn": Ending()}, ColumnError, "farewell is under @on_window_expiration, and in a plain"),
        ({"fn": PlainInBundles()}, UnsupportedError, "start_bundle is not called for rows of a"),
        (
            {"fn": OrderedDoFn()},
            ColumnError,
            "orders the elements of process. Write it over process",
        ),
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
        return stream(views).apply_per_key("user", Answers(), returns, on_error="fail", **SMALL)

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
