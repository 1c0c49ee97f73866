"""Kills and faults change nothing. ``python -m tests.crash`` kills more often."""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.crash import __main__ as command
from tests.crash import killing, noted, outputs, processes, sinks, surroundings
from tests.crash.moments import MOMENTS


@pytest.mark.spark
@pytest.mark.xdist_group("own sessions")
def test_a_driver_killed_between_state_and_commit_goes_on_as_a_plain_computation_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ["--kills", "1", "--moments", "states", "--works", "no-data", "--files", "4"]
    around = ["--no-faults", "--no-executors", "--most-cores", "2", "--full-disks", "0"]

    status = command.main([*run, *around, "--seed", "1", "--home", str(tmp_path)])

    printed = capsys.readouterr().out
    assert status == 0, printed
    assert "1 kills in 1 runs, 2 starts and 0 queries that failed" in printed
    assert printed.rstrip().endswith("nothing differs"), printed


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.xdist_group("own sessions")
def test_kills_and_faults_lose_nothing_and_double_nothing(tmp_path: Path, capsys: Any):
    moments = ["states", "sink half", "workers early", "workers", "workers later"]
    works = ["sessions", "days", "chain", "clock", "no-data"]
    runs = ["--kills", "5", "--per-run", "3", "--together", "3", "--full-disks", "0"]
    runs += ["--no-executors"]
    feed = ["--files", "8", "--seed", "1"]

    status = command.main(
        [*runs, *feed, "--works", *works, "--moments", *moments, "--home", str(tmp_path)]
    )

    printed = capsys.readouterr().out
    assert status == 0, printed
    assert " nothing differs" in printed
    assert printed.count(" micro-batch ") >= 5, printed
    # There was something to lose.
    rows = [json.loads(line) for line in outputs.output_of(tmp_path / "round-0/sessions").flat]
    kinds = {
        "dropped" if row["dropped"] else (row["pane"]["timing"], row["retraction"]) for row in rows
    }
    withdrawn = {("EARLY", True), ("ON_TIME", True), ("LATE", True)}
    assert kinds == {"dropped", ("EARLY", False), ("ON_TIME", False), ("LATE", False), *withdrawn}
    # Ticks came between the files, and micro-batches without data.
    for work in ("clock", "no-data"):
        notes = noted.noted(tmp_path / "round-1" / work / "checkpoint")
        assert [file for note in notes for file in note.files] == list(range(8))
        assert len(notes) > 8, work
    # Every fault has happened, in its micro-batch.
    faults = tmp_path / "undisturbed-sessions-days-chain" / "faults"
    failed = [json.loads(line) for line in (faults / "failures").read_text().splitlines()]
    causes = [
        "the sink is away, before micro-batch 2",
        "the sink is away, after micro-batch 3",
        "_STATE_STORE",  # cannot be written; on a starved machine, cannot be opened
        "File too large",
    ]
    assert [it["batch"] for it in failed] == [2, 3, 4, 5]
    assert [
        cause for cause, it in zip(causes, failed, strict=True) if cause in it["error"]
    ] == causes
    # What was written before the failure, and what was replayed, came again.
    assert outputs.output_of(faults / "sessions").repeated == [3, 6]


def test_what_a_restart_finds_changed_is_drawn_and_said() -> None:
    around = surroundings
    draw = killing.random.Random(7)
    drawn = [around.surroundings(draw) for _ in range(60)]

    assert {start.cores for start in drawn if not start.executors} == {1, 2, 3, 4}
    assert {start.zone for start in drawn} == set(around.ZONES)
    assert {start.settings[around.CHANGELOG] for start in drawn} == {"true", "false"}
    apart = [start for start in drawn if start.executors]
    assert {start.settings[around.SPECULATION] for start in apart} == {"true", "false"}
    assert [around.Surroundings.of(start.text()) for start in drawn] == drawn
    first = drawn[0]
    other = killing.attrs.evolve(first, zone="Asia/Tokyo", cores=9, executors=0)
    assert other.said(first) == f"master local[9,{first.attempts}], TZ Asia/Tokyo"
    assert first.said(first) == ""


def test_a_run_that_was_broken_off_is_gone_on_with_and_counts_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "feed").mkdir()
    (tmp_path / "feed" / "0000.json").touch()
    ran = []

    def kill(plan: Any, *_: Any) -> None:
        ran.append((plan.home.name, plan.kills))
        plan.home.mkdir(exist_ok=True)
        for number in range(len(killing.kills_of(plan.home)), plan.kills):
            killing.note_kill(plan.home, killing.Kill("task", "sessions", number, 1.0))
            if plan.home.name == "round-1" and len(ran) == 2:
                raise KeyboardInterrupt
        (plan.home / "done").touch()

    monkeypatch.setattr(killing, "kill_until_done", kill)
    monkeypatch.setattr(killing, "wrong", lambda *_: [])

    def rounds() -> list[int]:
        found = killing.rounds(
            *(tmp_path, tmp_path / "feed", lambda _: tmp_path, [["sessions"]], 6, 1, print),
            at_hand={"": None},
            prepare=lambda _: [],
            executors=True,
            most_cores=4,
            steady=lambda _: True,
            per_run=3,
        )
        return [len(of_run.kills) for of_run in found]

    with pytest.raises(KeyboardInterrupt):
        rounds()
    assert rounds() == [3, 3]
    assert ran == [("round-0", 3), ("round-1", 3), ("round-1", 3)]
    assert rounds() == [3, 3]
    assert len(ran) == 3


def test_a_table_has_what_stands_of_panes() -> None:
    def pane(user: str, end: int, n: int, *, retraction: bool = False) -> str:
        window = {"start": "1", "end": str(end)}
        row = {"user": user, "window": window, "n": n, "points": n, "dropped": None}
        return json.dumps({**row, "retraction": retraction, "pane": {"timing": "ON_TIME"}})

    out = output(
        [pane("ann", 2, 1), pane("bob", 2, 1), json.dumps({"dropped": {"reason": "expired"}})],
        [pane("ann", 2, 1, retraction=True), pane("ann", 3, 2)],
    )

    assert [json.loads(line) for line in outputs.standing_of(out)] == [
        {"user": "ann", "n": 2, "points": 2, "timing": "ON_TIME"},
        {"user": "bob", "n": 1, "points": 1, "timing": "ON_TIME"},
    ]


def line(user: str, **more: Any) -> str:
    return json.dumps({"user": user, "n": 1} | more)


def output(*batches: list[str], changed: tuple[str, ...] = ()) -> Any:
    return outputs.Output(dict(enumerate(batches)), [], list(changed))


def test_what_is_lost_doubled_moved_or_changed_is_named() -> None:
    ann, bob, more = line("ann"), line("bob"), line("bob", n=2)
    whole = output([ann, bob, more], [ann])

    def differences(*batches: list[str], changed: tuple[str, ...] = ()) -> list[str]:
        lines: list[str] = outputs.differences(whole, output(*batches, changed=changed))
        return lines

    assert differences([ann, bob, more], [ann]) == []
    assert differences([ann, bob], [ann, ann]) == [
        'micro-batch 0 lost 1 of {"user": "bob", "n": 2}',
        'micro-batch 1 has 1 too many of {"user": "ann", "n": 1}',
    ]
    assert differences([ann, more, bob]) == [
        "micro-batch 0 has the rows of a key in another order",
        "micro-batch 1 is missing",
    ]
    assert differences([ann, bob, more], [ann], []) == ["micro-batch 2 should not be there"]
    assert differences([ann, bob, more], [ann], changed=('{"batch": 1}',)) == [
        "micro-batch 1 was another one when it came again"
    ]


def test_rows_without_a_key_are_in_the_order_of_the_keys_that_they_were_dropped_for():
    def dropped(user: str, points: int) -> str:
        element = json.dumps({"user": user, "points": points})
        return json.dumps({"points": None, "dropped": {"element": element}})

    pane = json.dumps({"points": 5, "dropped": None})
    by_shard = [dropped("eva", 2), dropped("ann", 3), pane, dropped("ann", 1)]

    assert sinks.by_key(by_shard) == [by_shard[1], by_shard[3], by_shard[0], pane]


@pytest.mark.parametrize("kind", ["Files", "Database"])
def test_a_micro_batch_that_comes_again_counts_once_and_is_compared(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sinks, "lines_of", list)
    sink = getattr(sinks, kind)(tmp_path / "out")
    for number, rows in ((0, ["a", "b"]), (1, []), (0, ["a", "b"]), (1, ["c"])):
        sink(rows, number)
    found = outputs.output_of(tmp_path)

    assert (found.rows[0], found.repeated) == (["a", "b"], [0, 1])
    assert [json.loads(it) for it in found.changed] == [{"batch": 1, "before": [], "now": ["c"]}]


@pytest.mark.parametrize("kind", ["Files", "Database"])
def test_a_sink_that_fails_half_way_leaves_what_it_had(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sinks, "lines_of", list)
    sink = getattr(sinks, kind)(tmp_path / "out")
    sink(["a"], 0)
    (tmp_path / "out" / "fail").write_text("half 1")
    with pytest.raises(sinks.SinkFailure, match="the sink is away, half micro-batch 1"):
        sink(["b"], 1)

    assert outputs.output_of(tmp_path).rows == {0: ["a"]}
    sink(["b"], 1)
    assert outputs.output_of(tmp_path).rows == {0: ["a"], 1: ["b"]}


def test_a_child_that_fails_is_told_with_its_log(tmp_path: Path) -> None:
    with (
        processes.Child.start(tmp_path, tmp_path / "feed", ["nothing"]) as child,
        pytest.raises(processes.ChildFailed, match="its exit status is 2") as failed,
    ):
        child.finish()

    assert "invalid choice: 'nothing'" in str(failed.value)


def test_a_child_whose_parent_is_gone_ends(tmp_path: Path) -> None:
    with processes.Child.start(tmp_path, tmp_path / "feed", ["sessions"]) as child:
        child._popen.stdin.close()
        status = child._popen.wait()

    assert status == -signal.SIGKILL


def test_no_process_of_a_child_is_left_in_whatever_group_it_is(tmp_path: Path) -> None:
    command = "import os, time; os.fork() or os.setpgid(0, 0); print(flush=True); time.sleep(600)"
    popen = subprocess.Popen(
        ["python3", "-c", command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    with processes.Child(tmp_path, popen):
        assert popen.stdout is not None
        popen.stdout.readline()
        popen.stdout.readline()
        groups = {os.getpgid(process.number) for process in processes.processes_of(popen.pid)}
    popen.stdout.close()

    assert len(groups) == 2
    assert processes.processes_of(popen.pid) == []


def test_each_moment_comes_up_before_any_comes_again() -> None:
    deck = killing.deck(killing.random.Random(1))
    names = [next(deck) for _ in range(2 * len(MOMENTS))]

    assert sorted(names[: len(names) // 2]) == sorted(names[len(names) // 2 :])
    assert set(names) == set(MOMENTS)
