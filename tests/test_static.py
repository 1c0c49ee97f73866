"""The type checker and the linter have nothing to say."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def run(*command: str, cwd: Path) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=cwd, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.xdist_group("mypy")
def test_mypy_finds_nothing(mypy: Callable[..., tuple[int, str]]):
    status, output = mypy("-p", "beamlike")
    assert status == 0, output


def test_ruff_finds_nothing():
    status, output = run("ruff", "check", "--no-cache", ".", cwd=ROOT)
    assert status == 0, output
