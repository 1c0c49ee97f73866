"""Queries whose columns have any names: each verb, with the columns that it is given.

What a query gives with plain names it gives with others, renamed.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import attrs
import pyarrow as pa

import beamlike as bl
from beamlike.runtime.row_metadata import canonical
from beamlike.testing import QueryTest
from beamlike.testing.dataframes.rows import typed_rows

AWKWARD: Final = (
    *("a.b", "window.start", "two words", " ", "tick`ed", "`quoted`", 'quo"ted', "it's"),
    *("żółw", "🐢", "ünï", "a\nb", "a\tb", "a\\b", "%s", "{x}", "$1", "*", "#", "?", "a/b", "-"),
    *("select", "from", "null", "group by", "true", "1", "1a", "key.key", "Window", "TIMESTAMP"),
    *("values", "interval", "current_date", "a,b", "a:b", "a;b", "(a)", "[0]", "<a>", "a=b", "--"),
)
"""Names with what SQL, JSON and patterns have a meaning for."""

TIME: Final = "the time"
_OTHER_TIME: Final = "the other time"
_HOUR: Final = bl.FixedWindows("1 hour")
_AT: Final = "2024-01-01 {}Z"


@attrs.frozen
class Job:
    """A verb over columns of any names.

    Args:
        roles: What names are used for: ``key``, ``value`` and so on, each for as many as one likes.
        make: From the names of each role to the function of a query.
        inputs: From the names of each role to the columns of the query's frames.
    """

    roles: Sequence[str]
    make: Callable[[Mapping[str, Sequence[str]]], Callable[..., Any]]
    inputs: Callable[[Mapping[str, Sequence[str]]], Mapping[str, Mapping[str, str]]]


def _columns(strings: Sequence[str], numbers: Sequence[str], time: str = TIME) -> dict[str, str]:
    return {
        time: "timestamp",
        **dict.fromkeys(strings, "string"),
        **dict.fromkeys(numbers, "bigint"),
    }


def _hours(rows: Any, time: str = TIME) -> bl.Stream:
    watermark = "1 minute" if getattr(rows, "isStreaming", False) else None
    return bl.stream(rows, timestamp=time, watermark=watermark).window(_HOUR)


def _windowed(names: Mapping[str, Sequence[str]]) -> Callable[..., Any]:
    keys, values, outputs = names["key"], names["value"], names["output"]
    (time,) = names["time"] or [TIME]
    aggregate: dict[str, Any] = {}
    for index, output in enumerate(outputs):
        value, by = values[index % len(values)], values[(index + 1) % len(values)]
        aggregate[output] = (bl.max_by(value, by=by), bl.collect_set(value), bl.sum(value))[
            index % 3
        ]

    def job(rows: Any) -> Any:
        return bl.windowed(
            rows,
            key=list(keys),
            timestamp=time,
            watermark="1 minute" if getattr(rows, "isStreaming", False) else None,
            window=_HOUR,
            aggregate=aggregate,
            carry=list(names["carry"]),
            output="all",
            shards=1,
        )

    return job


def _grouped_twice(names: Mapping[str, Sequence[str]]) -> Callable[..., Any]:
    def job(rows: Any) -> Any:
        first = {name: bl.sum(name) for name in names["value"]}
        second = {name: bl.max(name) for name in names["value"]}
        keys = list(names["key"])
        return _hours(rows).group(keys, first, shards=1).window(_HOUR).group(keys, second, shards=1)

    return job


def _joined(names: Mapping[str, Sequence[str]]) -> Callable[..., Any]:
    def job(left: Any, right: Any) -> Any:
        return bl.join(_hours(left), _hours(right, _OTHER_TIME), on=list(names["key"]), shards=1)

    return job


def _looked_up(names: Mapping[str, Sequence[str]]) -> Callable[..., Any]:
    def job(main: Any, side: Any) -> Any:
        return bl.look_up(_hours(main), _hours(side, _OTHER_TIME), on=list(names["key"]), shards=1)

    return job


def _deduplicated(names: Mapping[str, Sequence[str]]) -> Callable[..., Any]:
    return lambda rows: _hours(rows).deduplicate(list(names["key"]), "1 hour", shards=1)


def _per_key(names: Mapping[str, Sequence[str]]) -> Callable[..., Any]:
    key, values = list(names["key"]), list(names["value"])

    class Last:
        kept = bl.state()

        def process(self, row: Any, kept: Any) -> Any:
            before, now = kept.read() or [0] * len(values), [row[name] for name in values]
            kept.write(now)
            yield {name: a + b for name, a, b in zip(values, before, now, strict=True)}

    returns = pa.schema([(name, pa.int64()) for name in values])
    return lambda rows: _hours(rows).apply_per_key(key, Last(), returns, shards=1)


def _one_input(names: Mapping[str, Sequence[str]]) -> Mapping[str, Mapping[str, str]]:
    (time,) = names.get("time") or [TIME]
    strings = [*names["key"], *names.get("carry", ())]
    return {"rows": _columns(strings, names["value"], time)}


def _two_inputs(one: str, other: str) -> Any:
    return lambda names: {
        one: _columns(names["key"], names["value"]),
        other: _columns(names["key"], names["other"], _OTHER_TIME),
    }


JOBS: Final[Mapping[str, Job]] = {
    "windowed": Job(("key", "value", "output", "carry", "time"), _windowed, _one_input),
    "grouped twice": Job(("key", "value"), _grouped_twice, _one_input),
    "join": Job(("key", "value", "other"), _joined, _two_inputs("left", "right")),
    "look_up": Job(("key", "value", "other"), _looked_up, _two_inputs("main", "side")),
    "deduplicate": Job(("key", "value"), _deduplicated, _one_input),
    "apply_per_key": Job(("key", "value"), _per_key, _one_input),
}


# -- rows -------------------------------------------------------------------------------------


def _rows(columns: Mapping[str, str]) -> list[dict[str, Any]]:
    """Rows of two keys, twice the same, and one without a key."""
    rows = []
    for place, key in enumerate("aab"):
        row: dict[str, Any] = {}
        for index, (name, dtype) in enumerate(columns.items()):
            text = f"{key}{index}"
            row[name] = {"timestamp": _AT.format(f"00:0{place}:00"), "string": text}.get(
                dtype, 10 * index + place
            )
        rows.append(row)
    no_key = next(name for name, dtype in columns.items() if dtype == "string")
    return [*rows, rows[0] | {no_key: None}]


def played(
    job: Job, names: Mapping[str, Sequence[str]], host: Any, *, streaming: bool, spark: Any = None
) -> list[dict[str, Any]]:
    """The rows that come out, in some order."""
    inputs, query = job.inputs(names), job.make(names)
    if not streaming:
        out = query(*(_frame(columns, host, spark) for columns in inputs.values()))
        rows = out.everything if isinstance(out, bl.Stream) else out
        found: list[dict[str, Any]] = (
            rows if host == "local" else canonical(rows.toArrow())
        ).to_pylist()
        return found
    schemas = {name: _schema(columns) for name, columns in inputs.items()}
    sent = schemas if len(schemas) > 1 else next(iter(schemas.values()))
    session = {} if spark is None else {"spark": spark}
    with QueryTest(query, sent, host=host, **session) as test:
        for name, columns in inputs.items():
            test.send(*_rows(columns), to=name if len(inputs) > 1 else None)
        test.advance_watermark_to_infinity()
        return test.rows


def _schema(columns: Mapping[str, str]) -> pa.Schema:
    types = {"timestamp": pa.timestamp("us", "UTC"), "string": pa.string(), "bigint": pa.int64()}
    return pa.schema([(name, types[dtype]) for name, dtype in columns.items()])


def _frame(columns: Mapping[str, str], host: str, spark: Any) -> Any:
    table = typed_rows("rows", _schema(columns), _rows(columns))
    return table if host == "local" else spark.createDataFrame(table)


# -- with other names -------------------------------------------------------------------------


def renamed_rows(rows: Sequence[Mapping[str, Any]], names: Mapping[str, str | None]) -> list[str]:
    """Rows with other names of columns, as texts in order; without those that have none.

    The elements of dropped rows have them, too.
    """
    return sorted(str(_renamed(row, names)) for row in rows)


def _renamed(value: Any, names: Mapping[str, str | None]) -> Any:
    if not isinstance(value, dict):
        return value
    pairs = ((names.get(name, name), item) for name, item in value.items())
    row = {name: _renamed(item, names) for name, item in pairs if name is not None}
    dropped = row.get("dropped")
    if isinstance(dropped, dict) and dropped["element"] is not None:
        element = _renamed(json.loads(dropped["element"]), names)
        row["dropped"] = dropped | {"element": element}
    return dict(sorted(row.items()))
