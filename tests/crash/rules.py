"""What holds whatever the clock says, and wherever micro-batches were cut.

Each element counts once: in one pane that stands, or as dropped. The panes of a window are
numbered without a gap, and a row that withdraws one repeats it. Which elements got into a window,
and which came too late for it or for its on-time pane, does not depend on the clock.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.crash.feed import LAST, rows_of
from tests.crash.played import Plain

Place = tuple[str, int, int]


def broken(
    feed: Path, rows: Iterable[Plain], *, drops: bool = True, merging: bool = False
) -> Iterator[str]:
    """Each rule that a whole output breaks, in words.

    Args:
        feed: What arrived.
        rows: All that came out, in order.
        drops: Whether dropped rows came out too. Else an element may be missing.
        merging: Whether windows merge. A pane's number then counts for all that became its window.
    """
    standing, open_panes = Counter[str](), dict[Place, list[Plain]]()
    for row in rows:
        if "dropped" in row:
            standing[row["tag"]] += 1
            continue
        for tag in row["tags"]:
            standing[tag] += -1 if row["retraction"] else 1
        before = open_panes.setdefault(_place(row), [])
        if not row["retraction"]:
            yield from () if merging else _next(before, row)
            before.append(row)
        elif {**row, "retraction": False} not in before:
            yield f"a pane is withdrawn that was not there: {row}"
    arrived = [row for index in range(len(list(feed.iterdir()))) for row in rows_of(feed, index)]
    for it in arrived:
        count = standing.pop(it["tag"], 0)
        if count > 1 or (count < 1 and drops and it["user"] != LAST):
            yield f"it counts {count} times: {it}"
    for tag in +standing:
        yield f"it was not sent: {tag}"


def _place(row: Plain) -> Place:
    return row["user"], row["start"], row["end"]


TIMINGS: Final = ("EARLY", "ON_TIME", "LATE")


def _next(before: list[Plain], row: Plain) -> Iterator[str]:
    """What is wrong with a pane that follows these of its window."""
    if before and before[-1]["is_last"]:
        yield f"a pane comes after the last one: {row}"
    index = len(before)
    on_time = sum(it["timing"] != "EARLY" for it in before)
    number = -1 if row["timing"] == "EARLY" else on_time
    if (row["index"], row["nonspeculative_index"]) != (index, number):
        yield f"pane {index}, {number} of those not early, has other numbers: {row}"
    if row["is_first"] != (index == 0):
        yield f"pane {index} takes itself for another: {row}"
    if before and TIMINGS.index(row["timing"]) < TIMINGS.index(before[-1]["timing"]):
        yield f"{row['timing']} after {before[-1]['timing']}: {row}"


def content(rows: Iterable[Plain], *, merging: bool = False) -> Mapping[str, Sequence[str]]:
    """What does not depend on the clock: what each window has, what of it came late, the drops.

    Of windows that merge the clock says which of them are ever seen late.
    """
    standing: dict[Place, Counter[str]] = defaultdict(Counter)
    late: dict[Place, set[str]] = defaultdict(set)
    dropped: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        if row["user"] == LAST:
            continue
        if "dropped" in row:
            dropped[row["dropped"]].append(row["tag"])
            continue
        tags = Counter[str](row["tags"])
        if row["retraction"]:
            standing[_place(row)] -= tags
            continue
        standing[_place(row)] += tags
        if row["timing"] == "LATE" and not merging:
            late[_place(row)] |= set(row["tags"])
    found = {f"in {at}": sorted(of.elements()) for at, of in standing.items() if of.total()}
    found |= {f"late in {at}": sorted(of) for at, of in late.items()}
    return found | {f"dropped as {reason}": sorted(of) for reason, of in dropped.items()}
