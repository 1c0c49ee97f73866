"""Kill children until the input is done, as often as was said."""

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import attrs

from tests.crash.judging import wrong
from tests.crash.moments import MOMENTS, Victim
from tests.crash.outputs import output_of
from tests.crash.processes import Child
from tests.crash.works import WORKS

__all__ = ["Kill", "Round", "deck", "failures", "judged", "kill_until_done", "rounds"]


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
                exposed = [it for it in works if WORKS[it].obeys or moment.point is None]
                if not exposed:
                    continue
                work = draw.choice(exposed)
                victim = Victim.soon(home, WORKS[work], files, kills - len(hit), draw)
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


def rounds(
    home: Path,
    feed: Path,
    undisturbed: Path,
    groups: Sequence[Sequence[str]],
    kills: int,
    draw: random.Random,
    tell: Callable[[Kill], None],
    only: Sequence[str] = (),
    per_run: int | None = None,
) -> Iterator[Round]:
    """Runs with kills, as many as it takes. Each has a group of works, in turn.

    A run has no more kills than files, or than ``per_run``.

    Raises:
        ChildFailed: A child failed by itself.
    """
    moments = deck(draw, only)
    most = len(list(feed.iterdir())) if per_run is None else per_run
    done, number = 0, 0
    while done < kills:
        works = groups[number % len(groups)]
        of_round = home / f"round-{number}"
        hit, starts = kill_until_done(
            of_round, feed, works, min(kills - done, most), moments, draw, tell
        )
        done, number = done + len(hit), number + 1
        yield judged(of_round, feed, undisturbed, works, hit, starts)


def judged(
    home: Path,
    feed: Path,
    undisturbed: Path,
    works: Sequence[str],
    hit: Sequence[Kill],
    starts: int,
) -> Round:
    """A run that is done, and what is wrong with it."""
    different = [
        f"{home.name}, {work}: {it}"
        for work in works
        for it in wrong(WORKS[work], home, feed, undisturbed)
    ]
    repeated = sum(len(output_of(home / work).repeated) for work in works)
    return Round(works, hit, starts, failures(home), repeated, different)


def failures(home: Path) -> int:
    """How many queries of a run have failed so far, and went on."""
    path = home / "failures"
    return len(path.read_text("utf-8").splitlines()) if path.exists() else 0
