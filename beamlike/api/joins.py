"""Several streams grouped by one key, and the joins that stand on it.

The windows of a key merge across all streams: a session of orders and a session of payments
that overlap are one session, and each pane joins what that pane holds.

Source: Beam ``CoGroupByKey``; Scio ``cogroup``, ``join``, ``leftOuterJoin``,
``rightOuterJoin``, ``fullOuterJoin``.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

from beamlike.api.arguments import check_choice, column_names
from beamlike.api.stream import Stream, check_streams, flatten
from beamlike.errors import ColumnError, WindowingError
from beamlike.model.aggregates import collect

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql import types as T

__all__ = ["KeyLike", "co_group", "join", "keys_of", "own_columns", "row_type"]

KeyLike = str | Sequence[str] | Mapping[str, str | Sequence[str]]
How = Literal["inner", "left", "right", "full"]

_OF_A_PANE = ("window", "timestamp", "pane", "retraction")
"""Columns that a grouping adds. They speak of a pane before, and are not joined."""


def co_group(streams: Mapping[str, Stream], key: KeyLike, **options: Any) -> Stream:
    """For each key and window, the rows of every stream: a column with a list for each.

    Args:
        streams: At least one, with compatible windows and triggers. The first one's strategy
            is followed. Columns called ``window``, ``timestamp``, ``pane`` or ``retraction`` are
            left out of the rows, because a grouping adds its own; give such a column another name
            to keep it.
        key: The key column or columns, the same for all streams, or a mapping from the name of
            a stream to its own. The result has the names of the first.
        options: As `Stream.group`: ``on_error``, ``wake_every``, ``shards``, ``buckets``,
            ``name``, ``render``.

    Returns:
        A stream with the key columns, for each stream an array of structs in no promised order,
        and the columns of a pane. A stream without rows in a pane has an empty array.

    Raises:
        WindowingError: Windows or triggers that do not fit.
        ColumnError: A key is missing, or has another type in another stream; a stream has the
            name of a key.
    """
    check_streams(streams)
    keys = keys_of(streams, key)
    names = next(iter(keys.values()))
    taken = [name for name in streams if name in (*names, *_OF_A_PANE, "dropped")]
    if taken:
        raise ColumnError(f"streams: {taken[0]!r} is a column of the result; name it otherwise")
    structs = {name: row_type(name, given, keys[name]) for name, given in streams.items()}
    tagged = {
        name: _tagged(given, dict(zip(names, keys[name], strict=True)), name, structs)
        for name, given in streams.items()
    }
    return flatten(tagged).group(names, {name: collect(name) for name in streams}, **options)


def join(left: Stream, right: Stream, on: KeyLike, how: How = "inner", **options: Any) -> Stream:
    """The rows of two streams that have the same key and window, each with each.

    A join is per pane: what a pane holds of both sides is joined. An accumulating pane joins
    again what earlier panes have joined; a discarding one misses pairs whose sides came out in
    different panes. With retractions, a pane that is withdrawn withdraws all that it joined.

    Args:
        on: The key, as in `co_group`, with ``"left"`` and ``"right"`` as names of the streams.
        how: ``"inner"``; ``"left"`` keeps rows of the left side that have no partner,
            ``"right"`` of the right side, ``"full"`` of both, with nulls for the other side.
        options: As `Stream.group`, but for ``render``: a join has many rows for a key and window,
            and none has a name by which it could be put or deleted.

    Returns:
        A stream with the key columns, the columns of the left and of the right side, and the
        columns of a pane.

    Raises:
        WindowingError: Windows or triggers that do not fit; a rendering other than retractions.
        ColumnError: As `co_group`; a column besides the key has the same name on both sides.
    """
    from pyspark.sql import functions as F

    from beamlike.hosts.spark.inputs import column
    from beamlike.hosts.spark.marks import MARKS, is_data

    check_choice("how", how, get_args(How))
    if options.get("render", "retractions") != "retractions":
        raise WindowingError(
            f"render={options['render']!r} calls a row by its key and window, and a join has many "
            "rows for them; leave it out, or use co_group, which has one"
        )
    sides = {"left": left, "right": right}
    grouped = co_group(sides, on, **options)
    keys = keys_of(sides, on)
    shown = {name: own_columns(sides[name], keys[name]) for name in sides}
    both = [name for name in shown["left"] if name in shown["right"]]
    if both:
        raise ColumnError(
            f"on: both sides have a column {both[0]!r}; give one of them another name with "
            "select() or with_columns() before the join"
        )
    found = {name: column(name).isNotNull() for name in sides}
    kept = {
        "inner": found["left"] & found["right"],
        "left": found["left"],
        "right": found["right"],
        "full": found["left"] | found["right"],
    }[how]

    def pairs(df: "DataFrame") -> "DataFrame":
        for side in sides:
            df = df.withColumn(side, F.explode_outer(column(side)))
        df = df.filter(~is_data() | kept)
        rest = [name for name in df.columns if name in _OF_A_PANE]
        return df.select(
            *(column(name) for name in keys["left"]),
            *(F.col(side).getField(name).alias(name) for side in sides for name in shown[side]),
            *rest,
            MARKS,
        )

    return grouped._each(pairs)


def keys_of(streams: Mapping[str, Stream], key: KeyLike) -> dict[str, list[str]]:
    """The key columns of each stream."""
    if isinstance(key, Mapping):
        missing = [name for name in streams if name not in key]
        if missing:
            raise ColumnError(f"key: nothing is said for the stream {missing[0]!r}")
        keys = {name: column_names(key[name], f"key of {name!r}") for name in streams}
    else:
        keys = {name: column_names(key, "key") for name in streams}
    first_name, first = next(iter(keys.items()))
    for name, given in keys.items():
        if len(given) != len(first):
            raise ColumnError(
                f"key: {first_name!r} has {len(first)} column(s) and {name!r} has {len(given)}; "
                "the keys must match one by one"
            )
    return keys


def own_columns(stream: Stream, keys: Sequence[str]) -> list[str]:
    """The columns that are joined: not the key, and none that is called as those of a pane."""
    return [name for name in stream.columns if name not in (*keys, *_OF_A_PANE)]


def row_type(name: str, stream: Stream, keys: Sequence[str]) -> "T.StructType":
    """The type of a stream's rows without their key."""
    from pyspark.sql import types as T

    own = set(own_columns(stream, keys))
    fields = [field for field in stream.rows.schema.fields if field.name in own]
    if not fields:
        raise ColumnError(
            f"streams: {name!r} has no column besides its key; add one, for example "
            'with_columns({"there": F.lit(True)})'
        )
    return T.StructType([T.StructField(it.name, it.dataType) for it in fields])


def _tagged(
    stream: Stream, keys: Mapping[str, str], name: str, structs: Mapping[str, "T.StructType"]
) -> Stream:
    """The stream with its rows in a column of its own, and nulls in those of the others."""
    from pyspark.sql import functions as F

    from beamlike.hosts.spark.inputs import column, type_of

    for key in keys.values():
        type_of(stream.rows, key, f"key of {name!r}")

    def of(other: str, kind: "T.StructType") -> "Column":
        if other != name:
            return F.lit(None).cast(kind).alias(other)
        return F.struct(*(column(it.name) for it in kind.fields)).cast(kind).alias(other)

    renamed = [column(own).alias(shown) for shown, own in keys.items()]
    columns = [of(other, kind) for other, kind in structs.items()]
    return stream.select(*renamed, *columns)
