"""Several streams grouped by one key, and the joins that stand on it.

The windows of a key merge across all streams: a session of orders and a session of payments
that overlap are one session, and each pane joins what that pane holds.

Source: Beam ``CoGroupByKey``; Scio ``cogroup``, ``join``, ``leftOuterJoin``,
``rightOuterJoin``, ``fullOuterJoin``.
"""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import attrs

from beamlike.api.arguments import check_choice, column_names
from beamlike.api.dataframe.flatten import check_streams, flatten
from beamlike.api.dataframe.inputs import OF_A_PANE, RETRACTION, check_no_retraction, own_columns
from beamlike.api.dataframe.regrouping import check_kept
from beamlike.api.dataframe.stream import Stream
from beamlike.errors import ColumnError, WindowingError
from beamlike.hosts.frames import How, RowType
from beamlike.model.aggregates import collect

KeyLike = str | Sequence[str] | Mapping[str, str | Sequence[str]]
_Names = dict[str, list[str]]
"""By the name of a stream, some of its columns. Those at the same place belong together."""


def co_group(
    streams: Mapping[str, Stream], key: KeyLike, *, window_input: KeyLike = (), **options: Any
) -> Stream:
    """For each key and window, the rows of every stream: a column with a list for each.

    Args:
        streams: At least one, with compatible windows and triggers. The first one's strategy
            is followed. Columns called ``window``, ``timestamp``, ``pane`` or ``retraction`` are
            left out of the rows, because a grouping adds its own; give such a column another name
            to keep it.
        key: The key column or columns, the same for all streams, or a mapping from the name of
            a stream to its own. The result has the names of the first.
        window_input: As `Stream.group`, given as ``key`` is.
        options: As `Stream.group`: ``on_error``, ``wake_every``, ``shards``, ``buckets``,
            ``name``, ``render``.

    Returns:
        A stream with the key columns, for each stream an array of structs in no particular order,
        and the columns of a pane. A stream without rows in a pane has an empty array.

    Raises:
        WindowingError: Windows or triggers that do not fit; ``streams`` is no mapping of streams.
        ColumnError: A key is missing, or has another type in another stream; a stream has the
            name of a key.

    >>> import beamlike as bl
    >>> from beamlike.testing import QueryTest
    >>> def by_order(orders, payments):
    ...     hour = bl.FixedWindows("1 hour")
    ...     streams = {
    ...         "ordered": bl.stream(orders, timestamp="at", watermark="0 s").window(hour),
    ...         "paid": bl.stream(payments, timestamp="at", watermark="0 s").window(hour),
    ...     }
    ...     return bl.co_group(streams, "no")
    >>> columns = "no int, at timestamp"
    >>> query = QueryTest(by_order, {"orders": columns, "payments": columns})
    >>> rows = query.send({"no": 7, "at": "12:01:00"}, to="orders")
    >>> (row,) = query.advance_watermark_to_infinity()
    >>> row["no"], len(row["ordered"]), len(row["paid"])
    (7, 1, 0)
    """
    if not isinstance(streams, Mapping):
        raise WindowingError(
            'streams must map names to streams, such as {"orders": orders, "payments": payments}, '
            f"got {streams!r}"
        )
    check_streams(streams)
    keys = keys_of(streams, key, "key")
    return _co_group(streams, keys, columns_of(streams, window_input, "window_input"), options)


def _co_group(streams: Mapping[str, Stream], keys: _Names, read: _Names, options: Any) -> Stream:
    names, *_ = keys.values()
    windows_read, *_ = read.values()
    shared = _shared(keys) | _shared(read)
    for name, twin in _shared(keys).items():
        if shared[name] != twin:
            raise ColumnError(
                f"window_input: {name!r} is a key, which goes with {_twins_text(twin)}, and here "
                f"with {_twins_text(shared[name])}; give it another name with with_columns() before"
            )
    columns = next(iter(streams.values())).inputs.frame_columns
    for name, stream in streams.items():
        check_no_retraction(name, stream.inputs, keys[name])
    if any(stream.inputs.retracting for stream in streams.values()):
        for name, named in (*keys.items(), *read.items()):
            if RETRACTION in named:
                raise ColumnError(
                    f"streams: the column {RETRACTION!r} of {name} says which rows withdraw "
                    "others, where panes of a stream do; give a column of yours another name with "
                    "select() or with_columns() before"
                )
        streams = {name: _signed(name, stream) for name, stream in streams.items()}
        shared[RETRACTION] = dict.fromkeys(streams, RETRACTION)
    for name in streams:
        if columns.duplicate(name, [*streams, *shared, *OF_A_PANE, "dropped"]):
            raise ColumnError(f"streams: {name!r} is a column of the result; name it otherwise")
    structs = {name: row_type(name, stream, keys[name]) for name, stream in streams.items()}
    tagged = {}
    for name, stream in streams.items():
        known = {shown: names_by_stream[name] for shown, names_by_stream in shared.items()}
        inputs = stream.inputs.changed_by(stream.inputs.frames.tagged, known, name, structs)
        tagged[name] = attrs.evolve(stream, inputs=inputs)
    lists = {name: collect(name) for name in streams}
    return flatten(tagged).group(names, lists, window_input=windows_read, **options)


def join(
    left: Stream,
    right: Stream,
    on: KeyLike,
    how: How = "inner",
    *,
    window_input: KeyLike = (),
    **options: Any,
) -> Stream:
    """The rows of two streams that have the same key and window, each with each.

    A join is per pane: what a pane holds of both sides is joined. An accumulating pane joins
    again what earlier panes have joined; a discarding one misses pairs whose sides came out in
    different panes. With retractions, a pane that is withdrawn withdraws all that it joined.

    Args:
        on: The key, as in `co_group`, with ``"left"`` and ``"right"`` as names of the streams.
        how: ``"inner"``; ``"left"`` keeps rows of the left side that have no partner,
            ``"right"`` of the right side, ``"full"`` of both, with nulls for the other side.
        window_input: As `Stream.group`, given as ``on`` is.
        options: As `Stream.group`, but for ``render``: a join has many rows for a key and window,
            and none has a name by which it could be put or deleted.

    Returns:
        A stream with the key columns, the columns of the left and of the right side, and the
        columns of a pane. Columns ``window``, ``timestamp`` and ``pane`` of either side are left
        out.

    Raises:
        WindowingError: Windows or triggers that do not fit; a rendering other than retractions.
        ColumnError: As `co_group`; a column of the right side, besides its key, has the name of
            one of the left; a key is called ``left`` or ``right``.

    >>> import beamlike as bl
    >>> from beamlike.testing import QueryTest
    >>> def with_payments(orders, payments):
    ...     near = bl.Sessions("10 minutes")
    ...     ordered = bl.stream(orders, timestamp="ordered", watermark="0 s").window(near)
    ...     paid = bl.stream(payments, timestamp="paid", watermark="0 s").window(near)
    ...     return bl.join(ordered, paid, on="no", how="left")
    >>> paid = "no int, paid timestamp, sum int"
    >>> columns = {"orders": "no int, ordered timestamp", "payments": paid}
    >>> query = QueryTest(with_payments, columns)
    >>> rows = query.send({"no": 7, "ordered": "12:01:00"}, to="orders")
    >>> rows = query.send({"no": 8, "ordered": "12:02:00"}, to="orders")
    >>> rows = query.send({"no": 7, "paid": "12:04:00", "sum": 3}, to="payments")
    >>> [(row["no"], row["sum"]) for row in query.advance_watermark_to_infinity()]
    [(7, 3), (8, None)]
    """
    check_choice("how", how, get_args(How))
    if options.get("render", "retractions") != "retractions":
        raise WindowingError(
            f"render={options['render']!r} calls a row by its key and window, and a join has many "
            "rows for them; leave it out, or use co_group, which has one"
        )
    sides = {"left": left, "right": right}
    check_streams(sides)
    keys, read = keys_of(sides, on, "on"), columns_of(sides, window_input, "window_input")
    columns = left.inputs.frame_columns
    for argument, names in (("on", keys["left"]), ("window_input", read["left"])):
        for name in names:
            if columns.duplicate(name, [name, *sides]):
                raise ColumnError(
                    f"{argument}: the column {name!r} has the name of a side of the "
                    "join; give it another name with select() before"
                )
    shown = {name: own_columns(sides[name].inputs, keys[name]) for name in sides}
    check_both(left, [*keys["left"], *shown["left"]], shown["right"])
    grouped = _co_group(sides, keys, read, options)
    frames = grouped.inputs.frames
    pairs = grouped.inputs.changed_by(frames.pairs, keys["left"], shown, OF_A_PANE, how)
    return attrs.evolve(grouped, inputs=pairs)


def check_both(left: Stream, names_of_left: Sequence[str], names_of_right: Sequence[str]) -> None:
    """Refuse a name that both sides give to a column of the result, as Spark reads names."""
    columns = left.inputs.frame_columns
    for name in names_of_right:
        if columns.duplicate(name, [*names_of_left, *names_of_right]):
            raise ColumnError(
                f"on: both sides have a column {name!r}; give one of them another name with "
                "select() or with_columns() before the join"
            )


# -- columns that belong together ------------------------------------------------------------


def keys_of(streams: Mapping[str, Stream], key: KeyLike, argument: str) -> _Names:
    """The key columns of each stream."""
    from beamlike.runtime.frame_columns import check_key

    names = columns_of(streams, key, argument)
    for name, key_names in names.items():
        columns = streams[name].inputs.frame_columns
        for column in key_names:
            check_key(columns, column, f"{argument} of {name!r}")
    return names


def columns_of(streams: Mapping[str, Stream], columns: KeyLike, argument: str) -> _Names:
    """Columns of each stream that belong together: its key, or what its windows read."""
    if isinstance(columns, Mapping):
        unknown = [name for name in columns if name not in streams]
        if unknown:
            known = ", ".join(map(repr, streams))
            raise ColumnError(
                f"{argument}: {unknown[0]!r} is the name of no stream; those are {known}"
            )
        missing = [name for name in streams if name not in columns]
        if missing:
            raise ColumnError(f"{argument}: the stream {missing[0]!r} is missing")
        names = {name: column_names(columns[name], f"{argument} of {name!r}") for name in streams}
    else:
        names = {name: column_names(columns, argument) for name in streams}
    first = next(iter(names))
    for index, column in enumerate(names[first]):
        if column in names[first][:index]:
            raise ColumnError(f"{argument}: column {column!r} is named twice; leave one out")
    for name, stream_names in names.items():
        if len(stream_names) != len(names[first]):
            raise ColumnError(
                f"{argument}: {first!r} has {len(names[first])} column(s) and {name!r} has "
                f"{len(stream_names)}; they must match one by one"
            )
    _check_types(streams, names, argument)
    return names


def _check_types(streams: Mapping[str, Stream], names: _Names, argument: str) -> None:
    from beamlike.runtime.sql_types import type_text

    columns = {name: stream.inputs.frame_columns for name, stream in streams.items()}
    types = {
        name: [
            type_text(columns[name].field(column, f"{argument} of {name!r}"))
            for column in names[name]
        ]
        for name in streams
    }
    first = next(iter(types))
    for name, stream_types in types.items():
        for index, (wanted, actual) in enumerate(zip(types[first], stream_types, strict=True)):
            if wanted != actual:
                raise ColumnError(
                    f"{argument}: {names[first][index]!r} of the {first} stream is {wanted} and "
                    f"{names[name][index]!r} of the {name} stream is {actual}; cast one of them "
                    "before"
                )


def _shared(names: _Names) -> dict[str, dict[str, str]]:
    """What each stream calls a column, by what the first one calls it."""
    first = next(iter(names.values()))
    return {
        shown: {name: stream_columns[index] for name, stream_columns in names.items()}
        for index, shown in enumerate(first)
    }


def _twins_text(by_stream: Mapping[str, str]) -> str:
    _, *twins = by_stream.items()
    return ", ".join(f"{column!r} of {name}" for name, column in twins)


# -- the rows of a stream --------------------------------------------------------------------


def row_type(name: str, stream: Stream, keys: Sequence[str]) -> RowType:
    """The type of a stream's rows without their key."""
    shown = own_columns(stream.inputs, keys)
    if not shown:
        raise ColumnError(
            f"streams: {name!r} has no column besides its key; add one, for example "
            'with_columns({"there": F.lit(True)})'
        )
    columns = stream.inputs.frame_columns
    for column in shown:
        columns.field(column, f"{name} stream")
    return stream.inputs.frames.row_type(stream.inputs.frame, shown)


def _signed(name: str, stream: Stream) -> Stream:
    """The stream with a column that says which of its rows withdraw others: maybe none."""
    inputs = stream.inputs
    if inputs.retracting:
        check_kept(inputs, f"of {name}")
        return stream
    return attrs.evolve(stream, inputs=inputs.changed_by(inputs.frames.without_retractions))
