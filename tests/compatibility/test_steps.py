"""Commands that are run one after the other: what came of each, and why."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.compatibility.steps import Ended, asked_to_end, checkout, ran


def script(text: str, home: Path, **more: float) -> Ended:
    return ran("a step", [sys.executable, "-c", text], log=home / "log", **more)


def test_a_step_that_succeeds_tells_its_last_line(tmp_path: Path) -> None:
    ended = script("print('first'); print('4.3.0')", tmp_path)

    assert (ended.good, ended.saw, ended.last) == (True, "4.3.0", ())
    assert str(ended) == f"a step: ok, 4.3.0 ({ended.seconds} s)"


def test_what_pytest_counted_is_reported_and_not_how_long_it_took(tmp_path: Path) -> None:
    said = "== 7 passed, 12 deselected, 1 warning in 61.02s (0:01:01) ==\nbye"

    assert script(f"print({said!r})", tmp_path).saw == "7 passed, 12 deselected, 1 warning"


def test_a_step_that_fails_tells_its_last_lines_and_the_first_test_that_failed(tmp_path: Path):
    said = (
        "FAILED tests/a.py::test_one[x y] - assert 1 == 2\n"
        "ERROR tests/b.py\n"
        "1 failed, 3 passed, 1 error in 0.12s"
    )

    ended = script(f"print({said!r}); raise SystemExit(1)", tmp_path)

    assert not ended.good
    assert (
        ended.saw == "1 failed, 3 passed, 1 error, exit status 1, first tests/a.py::test_one[x y]"
    )
    assert ended.last == said.splitlines()


@pytest.mark.parametrize(
    ("end", "saw"),
    [
        (
            "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
            "ended by SIGKILL from outside",
        ),
        ("raise SystemExit(137)", "ended by SIGKILL from outside"),
        ("raise SystemExit(3)", "exit status 3"),
    ],
)
def test_no_step_fails_without_a_word(end: str, saw: str, tmp_path: Path) -> None:
    ended = script(end, tmp_path)

    assert (ended.good, ended.saw, ended.last) == (False, saw, ["it wrote nothing"])
    assert str(ended).splitlines() == [
        f"a step: WRONG, {saw} ({ended.seconds} s)",
        "    | it wrote nothing",
    ]


def test_a_step_that_never_ends_is_ended_at_its_limit(tmp_path: Path) -> None:
    ended = script("import threading; threading.Event().wait()", tmp_path, limit=0.2, grace=1)

    assert (ended.good, ended.saw) == (False, "it took longer than 0.2 s")


def test_at_its_limit_a_step_may_tell_what_it_has_seen_so_far() -> None:
    text = (
        "import signal, threading\n"
        "signal.signal(signal.SIGINT, lambda *_: exit('3 passed'))\n"
        "print('ready', flush=True)\n"
        "threading.Event().wait()\n"
    )
    command = [sys.executable, "-c", text]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"ready\n"

        asked_to_end(process)

        assert process.stderr.read() == b"3 passed\n"


def test_a_copy_of_the_checkout_has_what_is_to_be_tried_and_replaces_the_one_before(tmp_path: Path):
    root, to = tmp_path / "root", tmp_path / "copy"
    for name in (".git/HEAD", "beamlike/a.py", "beamlike/__pycache__/a.pyc", "x.egg-info/top"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")
    to.mkdir()
    (to / "old").write_text("")

    assert checkout(root, to) == to

    assert [str(path.relative_to(to)) for path in to.rglob("*") if path.is_file()] == [
        "beamlike/a.py"
    ]
