"""Several streams as one, and which may go together.

Source: Beam ``Flatten``.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from beamlike.api.dataframe.inputs import Inputs, stages_of
from beamlike.api.dataframe.stream import Stream
from beamlike.errors import ColumnError, WindowingError
from beamlike.model.compatible import check_flatten


def flatten(streams: Sequence[Stream] | Mapping[str, Stream]) -> Stream:
    """Several streams as one. Each row keeps its windows; the strategy is that of the first stream.

    The watermark of the result is the least of those of its inputs.

    Args:
        streams: At least one, all with the same columns; a mapping also gives them names for
            error messages.

    Raises:
        WindowingError: Windows or triggers that do not fit, see `beamlike.check_flatten`.
        ColumnError: The columns differ.

    Source: Beam ``Flatten``, Scio ``union`` and ``unionAll``.

    >>> import beamlike as bl
    >>> from beamlike.testing import QueryTest
    >>> def both(shop, web):
    ...     streams = [bl.stream(df, timestamp="at", watermark="0 s") for df in (shop, web)]
    ...     hours = bl.flatten(streams).window(bl.FixedWindows("1 hour"))
    ...     return hours.group("item", {"n": bl.count()})
    >>> columns = "item string, at timestamp"
    >>> query = QueryTest(both, {"shop": columns, "web": columns})
    >>> rows = query.send({"item": "tea", "at": "12:01:00"}, to="shop")
    >>> rows = query.send({"item": "tea", "at": "12:07:00"}, to="web")
    >>> [(row["item"], row["n"]) for row in query.advance_watermark_to_infinity()]
    [('tea', 2)]
    """
    if not isinstance(streams, Mapping | Sequence) or isinstance(streams, str):
        raise WindowingError(
            f"streams must be a list of streams, or map names to them, got {streams!r}"
        )
    named: dict[str, Stream] = (
        dict(streams)
        if isinstance(streams, Mapping)
        else {f"input {index}": stream for index, stream in enumerate(streams)}
    )
    check_streams(named)
    strategy = check_flatten({name: stream.strategy for name, stream in named.items()})
    (first_name, first), *later_streams = named.items()
    for name, other in later_streams:
        _check_columns(first_name, first, name, other)
    return Stream(
        strategy, Inputs(tuple(row for stream in named.values() for row in stream.inputs.rows))
    )


def check_streams(named: Mapping[Any, Any]) -> None:
    """Refuse what cannot go together in one grouping.

    Raises:
        WindowingError: No stream at all; something that is none; a name that is no text; streaming
            and bounded rows, or rows of two hosts; two groupings of one name.
    """
    if not named:
        raise WindowingError("at least one stream is needed, got none")
    for name, stream in named.items():
        if not isinstance(name, str) or not name:
            raise WindowingError(f"streams: a stream's name must be a text, got {name!r}")
        if not isinstance(stream, Stream):
            raise WindowingError(
                f"{name} must be a Stream, made with bl.stream(df, timestamp=...), got {stream!r}"
            )
    stages_of(stream.inputs for stream in named.values())
    hosts = {type(stream.inputs.frame) for stream in named.values()}
    if len(hosts) > 1:
        raise WindowingError(
            "rows of pyarrow and DataFrames of Spark cannot go together in one grouping; make a "
            "DataFrame of the table with spark.createDataFrame(table)"
        )
    kinds = {stream.inputs.is_streaming for stream in named.values()}
    if len(kinds) > 1:
        raise WindowingError(
            "streaming and bounded rows cannot go together in one grouping, because Spark cannot "
            "union them; read the bounded ones as a stream, too"
        )


def _check_columns(first_name: str, first: Stream, name: str, other: Stream) -> None:
    from beamlike.runtime.sql_types import type_text

    first_types, other_types = (
        {
            field.name: type_text(field)
            for field in stream.inputs.frame_columns.schema
            if field.name in stream.columns
        }
        for stream in (first, other)
    )
    for column in dict.fromkeys([*first_types, *other_types]):
        if first_types.get(column) != other_types.get(column):
            raise ColumnError(
                f"the streams of a Flatten need the same columns: {column!r} is "
                f"{first_types.get(column, 'missing')} in {first_name} and "
                f"{other_types.get(column, 'missing')} in {name}; use select() or "
                "with_columns() before"
            )
