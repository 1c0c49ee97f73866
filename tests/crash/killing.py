"""Kill children until the input is done, as often as was said, and start them again elsewhere."""

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import attrs

from tests.crash.judging import wrong
from tests.crash.moments import MOMENTS, Victim
from tests.crash.needed import AtHand
from tests.crash.outputs import output_of
from tests.crash.processes import Child, ChildFailed
from tests.crash.surroundings import CHECKSUMS, FILES, FORMAT, Surroundings, surroundings
from tests.crash.unsteady import unsteady
from tests.crash.works import WORKS


@attrs.frozen
class Kill:
    """A kill that hit: when, whom, in which micro-batch, and how old the child was (s)."""

    moment: str
    work: str
    batch: int
    age: float


@attrs.frozen
class Round:
    """A run with kills: these, what its works did, and what differs from the undisturbed run.

    ``changes`` has what each start found changed, in words.
    """

    works: Sequence[str]
    kills: Sequence[Kill]
    changes: Sequence[str]
    failures: int
    again: int
    repeated: int
    different: Sequence[str]

    @property
    def starts(self) -> int:
        """How many processes it took."""
        return len(self.changes)


@attrs.frozen
class Plan:
    """How a run goes: its works, so many kills at most, and the settings of all of its sessions."""

    home: Path
    feed: Path
    works: Sequence[str]
    at_hand: AtHand
    kills: int
    executors: bool
    most_cores: int
    settings: Mapping[str, str] = {}


def deck(draw: random.Random, only: Sequence[str] = ()) -> Iterator[str]:
    """Moments by chance, so that each comes up before any comes again."""
    while True:
        names = list(only or MOMENTS)
        draw.shuffle(names)
        yield from names


def kill_until_done(
    plan: Plan, moments: Iterator[str], draw: random.Random, tell: Callable[[Kill], None]
) -> None:
    """Run some works over a feed, with so many kills at most.

    Its folder keeps the kills and what each start found, so that it can be gone on with.
    """
    home = plan.home
    files = len(list(plan.feed.iterdir()))
    while not (home / "done").exists():
        with _start(plan, draw) as child:
            while child.runs and len(kills_of(home)) < plan.kills:
                name = next(moments)
                moment = MOMENTS[name]
                exposed = [it for it in plan.works if WORKS[it].obeys or moment.point is None]
                if not exposed:
                    continue
                work = draw.choice(exposed)
                left = plan.kills - len(kills_of(home))
                victim = Victim.soon(home, WORKS[work], files, left, draw)
                batch = moment.strike(child, victim, draw)
                if batch is None:
                    continue
                kill = Kill(name, work, batch, round(child.age, 1))
                note_kill(home, kill)
                tell(kill)
                if not moment.survives:
                    break
            else:
                child.finish()


def _start(plan: Plan, draw: random.Random) -> Child:
    home = plan.home
    home.mkdir(parents=True, exist_ok=True)
    for order in home.glob("*/out/die"):  # of a command that was broken off
        order.unlink()
    around = surroundings(
        draw, executors=plan.executors and "kafka" not in plan.works, most_cores=plan.most_cores
    )
    before = None
    if (home / "surroundings").exists():
        before = Surroundings.of((home / "surroundings").read_text("utf-8"))
    (home / "surroundings").write_text(around.text(), "utf-8")
    note(home / "starts", around.said(before))
    around = attrs.evolve(around, settings={**around.settings, **plan.settings})
    return Child.start(
        home,
        plan.feed,
        plan.works,
        *("--surroundings", around.text(), "--again", str(draw.randrange(1_000_000))),
        python=plan.at_hand.python,
        environment={**plan.at_hand.environment, "TZ": around.zone},
    )


def note_kill(home: Path, kill: Kill) -> None:
    """Keep a kill in the folder of its run."""
    note(home / "kills", json.dumps(attrs.asdict(kill)))


def note(path: Path, line: str) -> None:
    """Append a line to a file."""
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines() if path.exists() else []


def kills_of(home: Path) -> list[Kill]:
    """The kills that a run has had."""
    return [Kill(**json.loads(line)) for line in _lines(home / "kills")]


def rounds(
    home: Path,
    feed: Path,
    undisturbed: Callable[[str], Path],
    groups: Sequence[Sequence[str]],
    kills: int,
    seed: int,
    tell: Callable[[Kill], None],
    *,
    at_hand: Mapping[str, AtHand],
    prepare: Callable[[Sequence[str]], list[str]],
    executors: bool,
    most_cores: int,
    steady: Callable[[int], bool],
    only: Sequence[str] = (),
    per_run: int | None = None,
    until: Callable[[], bool] = lambda: False,
) -> Iterator[Round]:
    """Runs with kills, as many as it takes. Each has a group of works, in turn.

    A run has no more kills than files, or than ``per_run``. One that is done already, in the same
    folder, is not run again, and one that was broken off goes on.

    Args:
        home: The folder of all runs.
        feed: What arrives.
        undisturbed: Where the output of a work is that must come out.
        groups: The works of each run.
        kills: How many in all.
        seed: Of the chance; each run has its own.
        tell: Called with each kill.
        at_hand: What works need.
        prepare: Called with the works of a run before it; what is wrong already, in words.
        executors: Whether tasks may run in processes of their own.
        most_cores: Of a session.
        steady: Whether the file system of a run, by its number, never fails.
        only: The moments; none: all.
        per_run: Kills of a run.
        until: Whether no other run is to start.
    """
    most = len(list(feed.iterdir())) if per_run is None else per_run
    count, number = 0, 0
    while count < kills and not until():
        works = groups[number % len(groups)]
        folder = home / f"round-{number}"
        # In format 1 a micro-batch that runs again replaces files, whose checksums would stay.
        settings = {FORMAT: "1", FILES: CHECKSUMS} if number % 3 == 2 else {FORMAT: "2"}
        settings |= {} if steady(number) else unsteady(home)
        plan = Plan(
            *(folder, feed, works, at_hand[WORKS[works[0]].needs], min(kills - count, most)),
            executors=executors,
            most_cores=most_cores,
            settings=settings,
        )
        different = prepare(works)
        draw = random.Random(f"{seed} {number} {len(_lines(folder / 'starts'))}")
        if not (folder / "done").exists():
            try:
                kill_until_done(plan, deck(draw, only), draw, tell)
            except ChildFailed as error:
                print(error, flush=True)
                different += [f"{folder.name}: {error.reason()}"]
        if (folder / "done").exists():
            different += _different(folder, feed, undisturbed, works)
        result = _round(folder, works, different)
        count, number = count + len(result.kills), number + 1
        yield result


def judged(
    home: Path, feed: Path, undisturbed: Callable[[str], Path], works: Sequence[str]
) -> Round:
    """A run that is done, and what is wrong with it."""
    return _round(home, works, _different(home, feed, undisturbed, works))


def _different(
    home: Path, feed: Path, undisturbed: Callable[[str], Path], works: Sequence[str]
) -> list[str]:
    return [
        f"{home.name}, {work}: {difference}"
        for work in works
        for difference in wrong(WORKS[work], home, feed, undisturbed(work))
    ]


def _round(home: Path, works: Sequence[str], different: Sequence[str]) -> Round:
    return Round(
        works=works,
        kills=kills_of(home),
        changes=_lines(home / "starts"),
        failures=failures(home),
        again=len(_lines(home / "again")),
        repeated=sum(len(output_of(home / work).repeated) for work in works),
        different=different,
    )


def failures(home: Path) -> int:
    """How many queries of a run have failed so far, and went on."""
    return len(_lines(home / "failures"))
