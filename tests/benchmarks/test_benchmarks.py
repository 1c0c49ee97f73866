"""``python -m tests.benchmarks``: its options, data, checks, table and picture; no times."""

import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.benchmarks import __main__ as command
from tests.benchmarks import (
    compare,
    data,
    elements,
    measure,
    micro_batches,
    plot,
    queries,
    report,
    starting,
    workers,
    works,
)


@pytest.fixture
def running(spark: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Spark, and a folder for temporary files where it may tidy up long after the test."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return spark


def line(work: str, subject: Any, baseline: Any, worker_mb: int = 300, **more: Any) -> Any:
    """A line of 1,000 events for 400 keys; subject and baseline are times, in ms."""
    times, cpu = report.Times, workers.CpuSeconds(0.5, 4.0, 3.0)
    facts = {"title": "sessions", "events": 1000, "keys": 400, "compared": 7, "bar": None}
    return report.Line(
        work=work,
        subject=subject and times("beamlike", "beamlike", subject, worker_mb << 20, (cpu,)),
        baseline=baseline and times("native", "native", baseline, None),
        **(facts | more),
    )


def test_a_full_run_has_the_sizes_that_the_bars_are_meant_for():
    options = command.parsed([])

    works = {work.name: work for work in command.chosen_works(options)}

    assert (options.scale, options.rounds, options.batches) == (1.0, 3, 8)
    assert {
        name: (work.bar.least, work.bar.stretch) for name, work in works.items() if work.bar
    } == {
        "sessions-500k": (3.0, 5.0),
        "sessions-100k": (1.5, 2.5),
        "fixed": (2.0, 4.0),
        "tree": (2.0, 4.0),
        "lists": (1.5, 3.0),
        "sparse": (0.5, 1.0),
        "per-key": (20.0, 50.0),
        "states": (5.0, 10.0),
        "retracting": (0.7, 0.9),
        "zipf": (0.7, 1.0),
        "pipeline-500k": (1.0, 2.0),
        "pipeline-100k": (1.0, 2.0),
        "pipeline-fn": (0.6, 1.0),
        "globally": (1.0, 1.0),
        "enrichment": (1.0, 1.0),
        "windowed-fn": (1.0, 2.0),
        "stages": (1.0, 2.0),
        "first-100k": (1.0, 2.0),
        "first-500k": (1.0, 2.0),
    }
    assert works["sessions-500k"].subject.shape.sizes == (500_000,) * 8
    assert works["sparse"].subject.shape.sizes == (500_000,) * 4 + (20_000,) * 8
    assert works["sparse"].subject.shape.measured == range(6, 12)
    assert [name for name in works if name.startswith("linear-")] == [
        *("linear-1k", "linear-10k", "linear-30k", "linear-100k"),
        *("linear-300k", "linear-1m", "linear-2m"),
    ]


def test_a_quick_run_is_small_and_what_is_said_holds_all_the_same():
    options = command.parsed(["--quick", "--rounds", "4"])

    assert (options.scale, options.rounds, options.batches) == (0.01, 4, 3)


def test_works_are_chosen_by_name_and_contenders_by_engine():
    def names(*arguments: str) -> list[str]:
        return [work.name for work in command.chosen_works(command.parsed(arguments))]

    assert names("--only", "pipeline-*") == ["pipeline-500k", "pipeline-100k", "pipeline-fn"]
    assert names("--only", "sparse", "zipf*") == ["sparse", "zipf", "zipf-native"]
    assert names("--only", "zipf*", "retracting", "--contenders", "native") == ["zipf-native"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "spare"], "--only: there is no work 'spare'; there are sessions-500k, "),
        (["--batches", "2"], "--batches must be 3 or more: the first two are not measured"),
        (["--scale", "0"], "argument --scale: must be more than 0, got 0"),
        (["--contenders", "flink"], "argument --contenders: invalid choice: 'flink'"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused(capsys: Any, arguments: list[str], message: str):
    with pytest.raises(SystemExit) as stopped:
        command.parsed(arguments)

    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_works_are_listed_without_starting_anything(capsys: Any):
    assert command.main(["--list", "--only", "sparse", "per-key"]) == 0

    assert capsys.readouterr().out == (
        "sparse         2,000,000 open sessions, 1 in 100 touched: beamlike / native\n"
        "per-key        sessions, against one group for each key: beamlike / per-key\n"
    )


def test_data_are_the_same_wherever_they_are_written():
    shape = data.Stream(1000, 400, 3)

    assert np.array_equal(shape.columns(2), data.Stream(1000, 400, 3).columns(2))
    assert not np.array_equal(shape.columns(1)[0], shape.columns(2)[0])


def test_late_events_have_keys_of_their_own():
    keys, times = data.Stream(20_000, 1000, 3, late=True).columns(2)
    late = times < times.max() - 9 * 60_000

    assert 0.005 < late.mean() < 0.015
    assert set(keys[late] % data.LATE_KEYS) == {0}


def test_one_zipf_key_has_a_fifth_of_the_events():
    keys, _ = data.Stream(50_000, 20_000, 1, drawn="zipf").columns(0)

    counts = np.bincount(keys)

    assert 0.19 < counts.max() / 50_000 < 0.21
    assert counts[1] > counts[2] > counts[3]
    assert keys.max() <= 20_000


def test_standing_windows_are_opened_once_and_then_touched_in_part():
    shape = data.Standing(1000, (10, 10, 10))

    opened = np.concatenate([shape.columns(batch)[0] for batch in range(shape.filling)])

    assert sorted(opened) == list(range(1000))
    assert [len(set(shape.columns(batch)[0])) for batch in (4, 5, 6)] == [10, 10, 10]
    assert shape.measured == range(6, 7)


def test_files_are_written_once_for_each_shape_and_removed():
    shape = data.Stream(100, 40, 3, checked=1)
    with data.benchmark_files() as cache:
        files = cache.of(shape)

        assert cache.of(data.Stream(100, 40, 3, checked=1)) is files
        assert [path.name for path in sorted(files.timed.iterdir())] == [
            *("0000-0.parquet", "0000-1.parquet", "0001-0.parquet"),
            *("0001-1.parquet", "0002-0.parquet", "0002-1.parquet"),
        ]
        assert [path.name for path in sorted(files.checked.iterdir())] == [
            *("0000-0.parquet", "0000-1.parquet", "0003-0.parquet", "0003-1.parquet")
        ]
    assert not files.timed.exists()


def sessions(*rows: tuple[str, int]) -> pa.Table:
    keys, counts = zip(*rows, strict=True) if rows else ((), ())
    return pa.table({"key": pa.array(keys, pa.string()), "n": pa.array(counts, pa.int64())})


def test_equal_results_are_counted_in_whatever_order_they_came():
    one, other = sessions(("a", 1), ("b", 2)), sessions(("b", 2), ("a", 1))

    assert measure.refuse_unequal(("beamlike", one), ("native", other)) == 2


@pytest.mark.parametrize(
    ("one", "other", "message"),
    [
        (
            sessions(("a", 1), ("b", 2)),
            sessions(("a", 1), ("b", 3), ("c", 4)),
            "beamlike has 2 results and native 3\n"
            "only beamlike: 1\n  ('b', 2)\n"
            "only native: 2\n  ('b', 3)\n  ('c', 4)",
        ),
        (
            sessions(("a", 1), ("a", 1)),
            sessions(("a", 1)),
            "beamlike has 2 results and native 1\nonly beamlike: 1\n  ('a', 1)\nonly native: 0",
        ),
        (sessions(), sessions(), "neither beamlike nor native has any result"),
        (
            sessions(("a", 1)),
            sessions(("a", 1)).rename_columns(["key", "m"]),
            "beamlike has ['key', 'n'], native ['key', 'm']",
        ),
    ],
)
def test_unequal_results_are_refused_with_what_differs(
    one: pa.Table, other: pa.Table, message: str
):
    with pytest.raises(measure.Unequal) as refused:
        measure.refuse_unequal(("beamlike", one), ("native", other))

    assert str(refused.value) == message


def four_lines() -> list[Any]:
    bar = works.Bar(1.5, 3.0)
    return [
        line("good", (100, 90, 300), (400, 410, 390), bar=bar),
        line("fair", (200,), (400,), bar=bar),
        line("slow", (400,), (400,), bar=bar, worker_mb=1536),
        line("alone", None, (400,)),
    ]


TABLE = """\
work   what      events  keys            median  min  max   ratio    bar  stretch           CPU a run  driver    JVM  workers  worker
good   sessions   1,000   400  beamlike  100 ms   90  300  4.00 x  1.5 x      3 x  stretch      7.5 s   0.5 s  4.0 s    3.0 s  300 MB
                               native    400 ms  390  410                                           -       -      -        -       -
fair   sessions   1,000   400  beamlike  200 ms  200  200  2.00 x  1.5 x      3 x      met      7.5 s   0.5 s  4.0 s    3.0 s  300 MB
                               native    400 ms  400  400                                           -       -      -        -       -
slow   sessions   1,000   400  beamlike  400 ms  400  400  1.00 x  1.5 x      3 x   missed      7.5 s   0.5 s  4.0 s    3.0 s  1.5 GB
                               native    400 ms  400  400                                           -       -      -        -       -
alone  sessions   1,000   400  native    400 ms  400  400                                           -       -      -        -       -
"""  # noqa: E501 (a table is as wide as it is)


def test_the_table_judges_medians_and_memory(monkeypatch: pytest.MonkeyPatch):
    lines = four_lines()
    said_with_rich = report.table_text(lines)
    monkeypatch.setitem(sys.modules, "rich.table", None)  # as if it were not installed

    assert report.table_text(lines) + "\n" == TABLE
    cells = [row.split() for row in TABLE.splitlines()]
    assert [row.split() for row in said_with_rich.splitlines() if row.strip(" ─")] == cells
    assert [each.fits for each in lines] == [True, True, False, True]


def test_json_has_every_single_time():
    (first, *_) = four_lines()

    assert json.loads(json.dumps(report.as_json([first], {"processor": "some"}, 1.0))) == {
        "machine": {"processor": "some"},
        "scale": 1.0,
        "lines": [
            {
                **{"work": "good", "title": "sessions", "events": 1000, "keys": 400},
                "compared": 7,
                "subject": {
                    **{"name": "beamlike", "engine": "beamlike", "samples_ms": [100, 90, 300]},
                    "worker_bytes": 300 << 20,
                    "cpu": [{"driver": 0.5, "jvm": 4.0, "workers": 3.0}],
                },
                "baseline": {
                    **{"name": "native", "engine": "native", "samples_ms": [400, 410, 390]},
                    "worker_bytes": None,
                    "cpu": [],
                },
                "bar": {"least": 1.5, "stretch": 3.0},
                "sweep": "",
                **{"ratio": 4.0, "verdict": "stretch", "fits": True},
            }
        ],
    }


def test_the_picture_has_a_panel_of_ratios_and_one_for_each_sweep(tmp_path: Path):
    described = {"processor": "some", "memory": "1 GB", "spark": "4", "python": "3"}
    lines = four_lines()
    for sweep in works.SWEEPS:
        lines += [line(sweep, (10 * n,), (20 * n,), events=1000 * n, sweep=sweep) for n in (1, 9)]

    plot.draw(lines[:4], described, tmp_path / "one.png")
    plot.draw(lines, described, tmp_path / "three.png")

    assert width_of(tmp_path / "three.png") == 3 * width_of(tmp_path / "one.png")


def width_of(png: Path) -> int:
    head = png.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    return int.from_bytes(head[16:20], "big")


def test_the_peak_of_a_python_process_below_this_one_is_seen():
    script = "kept = bytearray(b'x') * (200 << 20); print(flush=True); input()"
    with workers.WorkerMemory() as memory:
        child = subprocess.Popen(
            [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert child.stdout is not None
        child.stdout.readline()
    child.communicate(b"\n")

    # Elsewhere than on Linux there is nothing to read.
    known = Path("/proc/self/status").exists()
    assert (memory.peak_bytes or 0) > (200 << 20 if known else -1)


SMALL = ("--scale", "0.001", "--batches", "3", "--rounds", "1")


@pytest.mark.nightly
@pytest.mark.spark
def test_a_run_checks_times_and_tells(running: Any, capsys: Any, tmp_path: Path):
    plot, times = tmp_path / "plot.png", tmp_path / "times.json"

    status = command.main([*SMALL, "--only", "lists", "--plot", str(plot), "--json", str(times)])

    assert status == 0
    said = capsys.readouterr().out
    assert " results of beamlike and native are equal\n" in said
    assert "Sizes are 0.001 of the full ones; bars are for these, and not judged.\n" in said
    (shown,) = json.loads(times.read_text(encoding="utf-8"))["lines"]
    assert (shown["work"], shown["events"], shown["bar"]) == ("lists", 500, None)
    assert [len(shown[side]["samples_ms"]) for side in ("subject", "baseline")] == [1, 1]
    assert shown["compared"] > 0
    assert width_of(plot) > 0


@pytest.mark.nightly
@pytest.mark.spark
def test_no_time_is_reported_of_contenders_that_disagree(
    running: Any, capsys: Any, monkeypatch: pytest.MonkeyPatch
):
    shape = data.Stream(100, 20, 3)
    hour, minutes = queries.native_sessions("1 hour"), queries.native_sessions()
    one = works.Contender("one", "native", hour, shape)
    other = works.Contender("other", "native", minutes, shape)
    work = works.Work("odd", "sessions of different gaps", one, other)
    monkeypatch.setattr(command, "all_works", lambda scale, batches: (work,))

    assert command.main([*SMALL]) == 1

    said = capsys.readouterr()
    assert said.err.startswith("\nodd: the results differ.\none has ")
    assert " ms" not in said.out


@pytest.mark.nightly
@pytest.mark.spark
def test_the_tree_fires_early_on_time_and_late(running: Any):
    shape = data.Stream(500, 100, 4, late=True)
    tree = queries.beamlike_tree("accumulating")
    every_pane = works.Contender("tree", "beamlike", tree, shape)

    with data.benchmark_files() as files:
        panes = measure.results(running, files, every_pane)

    assert set(panes["timing"].to_pylist()) == {"EARLY", "ON_TIME", "LATE"}


def test_the_cpu_seconds_of_this_process_and_of_those_below_it_are_counted():
    before = workers.cpu_seconds()
    spinning = "import time\nwhile time.process_time() < 0.6: pass\nprint(flush=True); input()"
    child = subprocess.Popen(
        [sys.executable, "-c", spinning], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    child.stdout.readline()
    took = workers.cpu_seconds() - before
    child.communicate(b"\n")

    assert took.workers >= (0.5 if Path("/proc/self/stat").exists() else 0)
    assert took.driver >= 0


def cost(runner: str, micros: float, *lines: str) -> Any:
    return elements.Cost(runner, micros, Counter(lines))


def test_what_an_element_costs_is_judged_where_the_outputs_agree(capsys: Any):
    costs = [
        cost("local", 12.0, "a 1", "a 1"),
        cost("memory", 61.0, "a 1", "a 1"),
        cost("FnApiRunner", 240.0, "a 1", "a 1"),
    ]

    assert elements.judged(costs, 100_000) == 2
    assert capsys.readouterr().out == (
        "2 results of local, memory, FnApiRunner are equal\n"
        "local            12.0 us of CPU an element   at most 20\n"
        "memory           61.0 us of CPU an element   at most 60\n"
        "FnApiRunner     240.0 us of CPU an element\n"
        "local is 20.0 times as fast as Beam's own runner; at least 10\n"
    )


def test_no_cost_is_printed_of_runners_that_disagree(capsys: Any):
    costs = [cost("local", 12.0, "a 1"), cost("FnApiRunner", 240.0, "a 2")]

    assert elements.judged(costs, 100_000) == 1

    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "local and FnApiRunner differ, as in ['a 1', 'a 2']\n")


def test_the_hosts_of_a_pipeline_agree_on_a_small_job(capsys: Any):
    assert elements.main(["--events", "500", "--without-beam"]) == 0

    assert capsys.readouterr().out.splitlines()[0].endswith(" of local, memory are equal")


def test_two_checkouts_are_compared_by_the_processor_time_of_their_runs():
    def taken(subject: tuple[int, ...], work: str = "tree") -> Any:
        of_works: dict[Any, Any] = {}
        lines = [line(name, subject, None) for name in ("fixed", work)]
        compare.add_lines(of_works, report.as_json(lines, {}, 0.1)["lines"])
        return of_works

    ours, theirs = taken((100, 110, 120)), taken((200, 220, 240), "lists")
    theirs["fixed, beamlike", 1000].cpu[:] = [5.0]

    assert compare.table_text(ours, theirs).splitlines() == [
        "work                                        events     CPU   clock",
        "fixed, beamlike                              1,000    1.50    0.50",
        "only here: tree, beamlike",
        "only there: lists, beamlike",
    ]


def test_no_time_is_shown_of_queries_and_commands_whose_results_differ() -> None:
    first = starting.Waited(2.0, 3.0, [["ann", 1]])
    works = {
        "beamlike": [first, starting.Waited(4.0, 5.0, [["ann", 1]])],
        "native": [starting.Waited(1.0, 2.0, [["ann", 1]])],
        "state": [starting.Waited(6.0, None, "ann 1")],
        "capture": [starting.Waited(6.5, None, "ann")],
    }

    assert starting.differences(works) == ""
    assert starting.table_text(works).splitlines() == [
        "                wall     CPU",
        "beamlike        3.0s    4.0s",
        "native          1.0s    2.0s",
        "state           6.0s",
        "capture         6.5s",
        "of native       3.0x    2.0x",
    ]
    wrong = works | {
        "native": [starting.Waited(1.0, 2.0, [["ann", 2]])],
        "capture": [starting.Waited(1.0, None, "")],
    }
    assert starting.differences(wrong).splitlines() == [
        "native: [['ann', 2]] is not [['ann', 1]]",
        "capture: '' is not ''",
    ]


def test_what_a_micro_batch_costs_is_a_line_for_each_query():
    cost = micro_batches.Cost
    costs = {
        "beamlike": [cost(0.5, 0.25, [3, 9]), cost(0.75, 0.5, [3, 9]), cost(0.625, 0.375, [3, 9])],
        "native": [cost(0.25, 0.125, [3, 9])],
    }

    assert micro_batches.table_text(costs).splitlines() == [
        "CPU          with rows     without",
        "beamlike        0.625s      0.375s",
        "native          0.250s      0.125s",
    ]
