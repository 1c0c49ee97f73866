"""``beamlike demo``: a year of departures from New York, streamed, windowed and checked."""

import argparse
import contextlib
import logging
import signal
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Final

from beamlike.cli.argument_types import Parser, as_path, whole_number
from beamlike.cli.silence_spark import quiet_session
from beamlike.errors import EnvironmentProblem
from beamlike.extras import needs

DESCRIPTION: Final = """\
Stream the 336,776 departures scheduled from New York's airports in 2013 through
Spark, in the order in which they really left. Each carrier's hour gives early,
on-time and late panes of its departures, mean delay and aircraft. The result is
checked against a plain batch aggregation. Nothing is downloaded; it needs
Java 17, and pip install 'beamlike[demo]'.
"""

EPILOG: Final = """\
in the folder of the result:
  panes/        every pane, as Parquet: carrier, hour, timing, values
  dropped/      every departure that came too late, as Parquet, with the reason
  story.png     one carrier's hour in a storm: event time across, when it was
                known upwards, the panes and what was dropped
  summary.txt   what is printed at the end

exit status:
  0   the panes say what a batch aggregation says, and nothing was lost
  1   something was lost, doubled or is different
  2   Java, Spark or a package is missing, or DIR cannot be used

examples:
  beamlike demo --quick                     two days, in less than a minute
  beamlike demo                             the whole year, some minutes
  beamlike demo --first-day 2013-02-08 --days 3 --out blizzard
  beamlike demo --quick --live              and watch it in a browser
"""
_YEAR: Final = 2013
_QUICK_DAY: Final = date(2013, 6, 27)
_QUICK_DAYS: Final = 2


def add_arguments(parser: Parser) -> None:
    """Describe the arguments to argparse."""
    take = parser.take
    take(
        "--out DIR",
        "where the result goes (default: ./beamlike-demo); an earlier result is replaced",
        as_path,
        default=Path("beamlike-demo"),
    )
    take("--first-day YYYY-MM-DD", "start with this day of 2013", _day)
    take("--days N", "stop after N days", whole_number(1))
    take("--quick", f"two stormy days from {_QUICK_DAY} on, in larger steps")
    take("--live", "show the query on a page of this machine while it runs; prints where that is")


def run(args: argparse.Namespace) -> int:
    """Run the demo. Returns 0 if the check holds, 1 if not."""
    needs("the demo", "demo")
    from beamlike.demo import check, report, results, story
    from beamlike.demo.flights import Pace, load_flights, storm_days, write_arrivals
    from beamlike.demo.job import ResultFolders, run_query
    from beamlike.demo.report import Screen
    from beamlike.hosts.spark.session import check_environment
    from beamlike.viz.picture import Picture

    check_environment()
    out: Path = args.out
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EnvironmentProblem(
            f"--out {out} cannot be used as a folder ({error.strerror}); name another one"
        ) from error
    if args.quick:
        pace = Pace(storms=1, storm_minutes=120, storm_hours=32, quiet_days=1)
        flights = load_flights(args.first_day or _QUICK_DAY, args.days or _QUICK_DAYS)
    else:  # about 150 micro-batches for the year: two minutes on a laptop of 2 cores
        pace = Pace(storms=4, storm_minutes=60, storm_hours=32, quiet_days=10)
        flights = load_flights(args.first_day, args.days)
    output = ResultFolders(out)
    output.prepare()
    with tempfile.TemporaryDirectory(prefix="beamlike-demo-") as scratch:
        arrivals, checkpoint = Path(scratch, "arrivals"), Path(scratch, "checkpoint")
        arrivals.mkdir()
        files = write_arrivals(flights, arrivals, pace)
        _say(f"{len(flights):,} departures in {len(files)} files, one for each micro-batch")
        storms = sorted(storm_days(flights, pace.storms))
        if storms:
            _say(
                f"slowly, {pace.storm_minutes} minutes a file, through the storms of "
                + ", ".join(day.strftime("%d %b") for day in storms)
            )
        _say("starting Spark ...")
        with (
            quiet_session("beamlike demo") as spark,
            contextlib.ExitStack() as shown,
            _interruptible() as check_interrupt,
        ):
            if args.live:
                from beamlike.inspect.live import live_view

                _say(f"live on {shown.enter_context(live_view(spark)).url} until the demo ends")
            screen = Screen(_say, files)

            def report_progress(counted: Sequence[Counter[str]], watermark: int | None) -> None:
                check_interrupt()
                screen.show(counted, watermark)

            batches = run_query(spark, arrivals, checkpoint, output, report_progress)
    panes, drops = results.read_panes(output.panes()), results.read_drops(output.dropped())
    verdict = check.check(flights, panes, drops)
    text = report.render(flights, panes, drops, len(batches), verdict)
    (out / "summary.txt").write_text(text + "\n", encoding="utf-8")
    if panes:
        group = story.choose_group(panes, drops)
        scene = story.story_scene(group, panes[group], drops, flights, files, batches)
        Picture([scene]).save(out / "story.png")
    _say("")
    _say(text)
    _say(f"{'written':<10} {out}: panes/ and dropped/ (Parquet), story.png, summary.txt")
    return 1 if verdict.problems else 0


@contextlib.contextmanager
def _interruptible() -> Iterator[Callable[[], None]]:
    """Turn Ctrl-C into a `KeyboardInterrupt` where it does no harm: in the function given.

    An interrupt in the middle of a call into Java breaks the connection, and Spark can then
    neither be asked to stop nor be kept from printing pages of traces.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None  # signals are none of this thread's business
        return
    asked = threading.Event()

    def check() -> None:
        if asked.is_set():
            # The batch under way is cut off, as it should be; Spark calls that an error.
            logging.getLogger("py4j").setLevel(logging.CRITICAL)
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, lambda *_: asked.set())
    try:
        yield check
    finally:
        signal.signal(signal.SIGINT, before)


def _day(text: str) -> date:
    with contextlib.suppress(ValueError):
        if (day := date.fromisoformat(text)).year == _YEAR:
            return day
    raise argparse.ArgumentTypeError(f"must be a day of {_YEAR} such as {_QUICK_DAY}, got {text!r}")


def _say(text: str) -> None:
    print(text, flush=True)
