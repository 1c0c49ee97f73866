"""Kill children until the input is done, as often as was said."""

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import attrs

from tests.crash.child import last_commit
from tests.crash.moments import MOMENTS, Victim
from tests.crash.outputs import differences, output_of
from tests.crash.processes import Child
from tests.crash.works import WORKS

__all__ = ["Kill", "Round", "deck", "kill_until_done", "rounds"]

OBEYING: Final = ("sessions", "days", "reference", "stages", "beam", "database")
"""Works whose sink kills by itself when it is told to."""


@attrs.frozen
class Kill:
    """A kill that hit: when, whom, in which micro-batch, and how old the child was (s)."""

    moment: str
    work: str
    batch: int
    age: float


@attrs.frozen
class Round:
    """A run with kills: these, what its works did, and what differs from the undisturbed run."""

    works: Sequence[str]
    kills: Sequence[Kill]
    starts: int
    failures: int
    repeated: int
    different: Sequence[str]


def deck(draw: random.Random, only: Sequence[str] = ()) -> Iterator[str]:
    """Moments by chance, so that each comes up before any comes again."""
    while True:
        names = list(only or MOMENTS)
        draw.shuffle(names)
        yield from names


def kill_until_done(
    home: Path,
    feed: Path,
    works: Sequence[str],
    kills: int,
    moments: Iterator[str],
    draw: random.Random,
    tell: Callable[[Kill], None],
) -> tuple[list[Kill], int]:
    """Run some works over a feed, with so many kills at most; the kills, and how many starts.

    Raises:
        ChildFailed: A child failed by itself.
    """
    files = len(list(feed.iterdir()))
    hit: list[Kill] = []
    starts = 0
    while not (home / "done").exists():
        options = ("--retries", draw.choice("14"))
        with Child.start(home, feed, works, *options) as child:
            starts += 1
            while child.runs and len(hit) < kills:
                name = next(moments)
                moment = MOMENTS[name]
                exposed = [it for it in works if it in OBEYING or moment.point is None]
                if not exposed:
                    continue
                work = draw.choice(exposed)
                victim = _victim(home, work, files, kills - len(hit), draw)
                batch = moment.strike(child, victim, draw)
                if batch is None:
                    continue
                hit.append(Kill(name, work, batch, child.age))
                tell(hit[-1])
                if not moment.survives:
                    break
            else:
                child.finish()
    return hit, starts


def _victim(home: Path, work: str, files: int, left: int, draw: random.Random) -> Victim:
    """A micro-batch that comes soon: the kills that are left are spread over the files."""
    checkpoint = home / work / WORKS[work].checkpoint
    coming = last_commit(checkpoint) + 1
    most = max(1, 2 * (files - coming) // (left + 1))
    batch = min(coming + draw.randrange(most), files - 1)
    return Victim(home / work, checkpoint, batch, files - 1)


def rounds(
    home: Path,
    feed: Path,
    undisturbed: Path,
    groups: Sequence[Sequence[str]],
    kills: int,
    draw: random.Random,
    tell: Callable[[Kill], None],
    only: Sequence[str] = (),
) -> Iterator[Round]:
    """Runs with kills, as many as it takes. Each has a group of works, in turn.

    Raises:
        ChildFailed: A child failed by itself.
    """
    moments = deck(draw, only)
    files = len(list(feed.iterdir()))
    done, number = 0, 0
    while done < kills:
        works = groups[number % len(groups)]
        of_round = home / f"round-{number}"
        hit, starts = kill_until_done(
            of_round, feed, works, min(kills - done, files), moments, draw, tell
        )
        done, number = done + len(hit), number + 1
        different, repeated = [], 0
        for work in works:
            found = output_of(of_round / work)
            repeated += len(found.repeated)
            different += [
                f"{of_round.name}, {work}: {it}"
                for it in differences(output_of(undisturbed / work), found)
            ]
        failures = of_round / "failures"
        failed = len(failures.read_text("utf-8").splitlines()) if failures.exists() else 0
        yield Round(works, hit, starts, failed, repeated, different)
