"""What Kafka's session stores make of a case, with sessions that are closed and still in a store.

`beamlike.dialects.kafka` never finds a closed session again, and always an open one. Kafka asks its
store: a record cache shows all of them, and a store with the shortest retention hides a session one
millisecond before it is closed. This is Kafka's algorithm in a few lines, by which a difference is
known to be of these two kinds and no other.
"""

from collections.abc import Mapping
from typing import Any, Final

_Name = tuple[str, int, int]
_NEVER: Final = -1


def rows_of_stores(
    document: Mapping[str, Any], *, shows_closed: bool = True
) -> list[dict[str, Any]]:
    """The rows that come out of a case with one stream.

    Args:
        document: The case.
        shows_closed: Whether what a record joins is what Kafka's stores show; else it is every
            session that is open, and no other.
    """
    gap, grace = document["window"]["gap_ms"], document["grace_ms"]
    retention = document["store"].get("retention_ms", gap + grace)
    is_cached = document["emit"] == "cached_update"
    store: dict[_Name, Any] = {}
    dirty: dict[_Name, Any] = {}
    below: dict[_Name, Any] = {}
    observed = observed_below = stream_time = emitted_until = _NEVER
    rows: list[dict[str, Any]] = []

    def row(step: int, word: str, name: _Name, value: Any, timestamp: int) -> None:
        window = list(name[1:])
        entry = {"step": step, "kind": word, "key": name[0], "value": value}
        rows.append({**entry, "window": window, "ts_ms": timestamp})

    for step, what in enumerate(document["steps"]):
        if "flush_cache" in what:
            for name, value in dirty.items():
                if value is not None:
                    row(step, "value", name, value, name[2])
                    observed_below = max(observed_below, name[2])
                    below[name] = value
                elif name in below and name[2] > observed_below - retention:
                    row(step, "tombstone", name, None, name[2])
                    del below[name]
            dirty.clear()
        for element in what.get("elements", ()):
            key, time = element["key"], element["ts_ms"]
            stream_time = max(stream_time, time)
            closed = stream_time - gap - grace
            joined = sorted(
                (
                    name
                    for name in store
                    if name[0] == key
                    and name[1] - gap <= time <= name[2] + gap
                    and (
                        (is_cached or name[2] > observed - retention)
                        if shows_closed
                        else name[2] >= closed
                    )
                ),
                key=lambda name: (name[2], name[1]),
            )
            start = min([time, *(name[1] for name in joined)])
            end = max([time, *(name[2] for name in joined)])
            if end < closed:
                row(step, "dropped", (key, start, end), element["value"], time)
            else:
                values = [store[name] for name in joined]
                for name in joined if (start, end) != (time, time) else ():
                    del store[name]
                    dirty.pop(name, None)
                    dirty[name] = None
                is_count = document["aggregate"] == "count"
                folded = sum(values) + 1 if is_count else "+".join([*values, element["value"]])
                store[key, start, end] = folded
                dirty.pop((key, start, end), None)
                dirty[key, start, end] = folded
                observed = max(observed, end)
            if document["emit"] == "on_close":
                due = [name for name in store if emitted_until <= name[2] < closed]
                for name in sorted(due, key=lambda name: (name[2], name[1], name[0])):
                    row(step, "value", name, store[name], name[2])
                emitted_until = max(emitted_until, closed)
    return rows
