"""Every block of code in the README and in the pages of the site runs here.

It prints what the page says it prints.
"""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from beamlike.cli import main
from tests.support.pages import blocks_of, check_blocks

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


BLOCKS = {"README.md": blocks_of(README)}
BLOCKS |= {
    page.name: blocks_of(page.read_text(encoding="utf-8"))
    for page in sorted((ROOT / "docs" / "pages").glob("*.md"))
}
ELSEWHERE = {"kafka.md": "the page"}
"""Pages that need a broker, by the trial of `tests.kafka` that runs them."""
COMMANDS = [
    line.removeprefix("$ ")
    for blocks in BLOCKS.values()
    for language, text in blocks
    if language == "console"
    for line in text.splitlines()
]


def test_the_blocks_are_of_languages_that_run_or_are_printed():
    found = {language for blocks in BLOCKS.values() for language, _ in blocks}

    assert found == {"console", "python", "text"}


def _pages_with_code() -> list[Any]:
    pages = []
    for page, blocks in BLOCKS.items():
        code = "".join(text for language, text in blocks if language == "python")
        marks = pytest.mark.spark if "local_session" in code else ()
        pages += [pytest.param(page, marks=marks)] if code and page not in ELSEWHERE else []
    return pages


@pytest.mark.parametrize("page", _pages_with_code())
def test_python_blocks_run_in_order_and_print_what_follows_them(
    page: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    if request.node.get_closest_marker("spark"):
        request.getfixturevalue("utc_session")
    monkeypatch.chdir(tmp_path)
    check_blocks(page, BLOCKS[page], {})


def test_a_page_that_runs_elsewhere_is_a_trial_that_was_played():
    from tests.kafka.__main__ import LATEST, TRIALS

    assert {*ELSEWHERE} <= BLOCKS.keys()
    assert {*ELSEWHERE.values()} <= {*TRIALS}
    assert all(f"| {trial} | holds" in LATEST.path.read_text() for trial in ELSEWHERE.values())


def _replays() -> list[Any]:
    return [
        pytest.param(command, marks=pytest.mark.spark if "--host spark" in command else ())
        for command in COMMANDS
        if command.startswith("beamlike ")
    ]


@pytest.mark.parametrize("command", _replays())
def test_replay_commands_find_everything_as_expected(
    command: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
):
    if "--host spark" in command:
        request.getfixturevalue("spark")
    monkeypatch.chdir(ROOT)
    words = []
    for word in shlex.split(command)[1:]:
        words += sorted(map(str, Path().glob(word))) if "*" in word else [word]

    assert main(words) == 0


def test_the_test_command_is_the_one_that_ci_runs():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    pattern = re.search(r"grep -m1 -o '(.*)' README.md", script)
    assert pattern is not None
    found = re.findall(pattern[1].removesuffix("$") + "$", README, flags=re.MULTILINE)

    assert [f"$ {command}" for command in found] == [f"$ {COMMANDS[1]}"]
    assert COMMANDS[1].endswith(" -m pytest -n 3 --dist loadgroup")


@pytest.mark.spark
@pytest.mark.nightly
@pytest.mark.xdist_group("own sessions")
def test_the_first_command_installs_and_runs_the_main_job(tmp_path: Path):
    home = tmp_path / "checkout"
    shutil.copytree(
        ROOT,
        home,
        ignore=shutil.ignore_patterns(".git", ".venv", ".*_cache", "build", "*.egg-info"),
    )
    # What the environment of this test run says of paths is not for a new user's shell.
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}

    done = subprocess.run(
        ["bash", "-c", COMMANDS[0]],
        cwd=home,
        env=clean,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert sorted(path.name for path in (home / "beamlike-demo").iterdir()) == [
        "dropped",
        "panes",
        "story.png",
        "summary.txt",
    ]
