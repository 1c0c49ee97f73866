"""The states and timers that a plain class declares, for `Stream.apply_per_key`."""

from typing import Any, Final, Literal, get_args

import attrs

from beamlike.api.arguments import check_choice

StateKind = Literal["value", "list", "set", "map"]
Time = Literal["event", "processing"]

TIMES: Final = get_args(Time)


@attrs.frozen
class DeclaredState:
    """A state of a plain class, which has the name of its attribute."""

    container: StateKind


@attrs.frozen
class DeclaredTimer:
    """A timer of a plain class, which has the name of its attribute."""

    time: Time


def state(kind: StateKind = "value") -> Any:
    """A state of a class whose objects are given to `Stream.apply_per_key`.

    There is one for each key and window. It has the name of the attribute that it is assigned to,
    and a method that has a parameter of this name is given it. Its values are anything that can be
    pickled; what is read is a copy, so a value that changed has to be written again.

    ===========  ================================================================================
    kind         methods, besides ``is_empty()`` and ``clear()``
    ===========  ================================================================================
    ``"value"``  ``read()``, which returns None before the first ``write(value)``
    ``"list"``   ``read()``, ``add(value)``
    ``"set"``    ``read()``, ``add(value)``, ``contains(value)``, ``remove(value)``; two values are
                 one if their pickles are equal
    ``"map"``    ``get(key)``, ``put(key, value)``, ``contains(key)``, ``remove(key)``,
                 ``keys()``, ``values()``, ``items()``; likewise of keys
    ===========  ================================================================================

    Args:
        kind: One of these.

    Raises:
        WindowingError: It is none of these.

    Source: Beam ``ValueState``, ``BagState``, ``SetState``, ``MapState``.

    >>> import beamlike as bl
    >>> class Numbered:
    ...     seen = bl.state()
    ...     def process(self, row, seen):
    ...         seen.write((seen.read() or 0) + 1)
    ...         yield {"number": seen.read()}
    >>> from beamlike.testing import QueryTest
    >>> def numbered(orders):
    ...     rows = bl.stream(orders, timestamp="at", watermark="0 s")
    ...     return rows.apply_per_key("item", Numbered(), "number int")
    >>> query = QueryTest(numbered, "item string, at timestamp")
    >>> rows = query.send({"item": "tea", "at": "12:01:00"}, {"item": "tea", "at": "12:07:00"})
    >>> [(row["item"], row["number"]) for row in rows]
    [('tea', 1), ('tea', 2)]
    """
    check_choice("kind", kind, get_args(StateKind))
    return DeclaredState(kind)


def timer(time: Time = "event") -> Any:
    """A timer of a class whose objects are given to `Stream.apply_per_key`.

    There is one for each key and window. It has the name of the attribute that it is assigned to: a
    timer ``quiet`` calls the method ``on_quiet``, and a method that has a parameter ``quiet`` is
    given it. It has these methods and values; instants are datetimes with a zone, in UTC:

    * ``set(instant)``: call back once the clock is past this instant, and forget what it was set
      to before. It may be set as well by a datetime without a zone, which is UTC, or by text.
    * ``offset("10 minutes").set_relative()``: the same, that long after where its clock stands.
    * ``clear()``: do not call back.
    * ``latest``: the last instant that it may be set to, the end of the window plus the allowed
      lateness; of processing time None.
    * ``current_relative_time``: where its clock stands.

    With ``set(instant, "a")``, ``clear("a")`` it is as many timers as there are tags; the method is
    given the tag in its parameter ``tag``.

    Args:
        time: ``"event"``: its clock is the watermark. ``"processing"``: the time of day of the
            micro-batch.

    Raises:
        WindowingError: It is neither.

    Source: Beam ``TimerSpec``.

    >>> import beamlike as bl
    >>> from datetime import timedelta
    >>> class Quiet:
    ...     quiet = bl.timer("event")
    ...     def process(self, row, timestamp, quiet):
    ...         quiet.set(timestamp + timedelta(minutes=10))
    ...     def on_quiet(self, timestamp):
    ...         yield {"since": timestamp}
    >>> from beamlike.testing import QueryTest
    >>> def quiet(orders):
    ...     rows = bl.stream(orders, timestamp="at", watermark="0 s")
    ...     return rows.apply_per_key("item", Quiet(), "since timestamp")
    >>> query = QueryTest(quiet, "item string, at timestamp")
    >>> rows = query.send({"item": "tea", "at": "12:01:00"}, {"item": "tea", "at": "12:07:00"})
    >>> [(row["item"], f"{row['since']:%H:%M}") for row in query.advance_watermark_to("12:20:00")]
    [('tea', '12:17')]
    """
    check_choice("time", time, TIMES)
    return DeclaredTimer(time)
