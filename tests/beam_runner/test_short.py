"""The short form of ``python -m tests.beam_runner``: scenarios, and Beam's conformance of runners
on the local host, in an environment that has the Beam SDK.

That is this one, if it has it, or the Python that ``BEAMLIKE_BEAM_PYTHON`` names; else one that is
kept in the cache of `tests.judges`, and made anew where the tests run with another PySpark.
"""

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.beam_runner import capabilities
from tests.beam_runner.__main__ import (
    CAPABILITIES,
    CONFORMANCE,
    LAYERS,
    ROOT,
    SCENARIOS,
    VERSIONS,
    judged,
    notes_of,
)
from tests.beam_suite.environment import beam_environment
from tests.support.environments import NotHere, cache_folder

SLOW = "not et_timer and not register_finalizations"
"""These wait for many seconds of real time; all tests run in the long form."""


@pytest.fixture(scope="module")
def python() -> Iterator[Path]:
    """A Python with the Beam SDK and what beamlike needs."""
    if chosen := os.environ.get("BEAMLIKE_BEAM_PYTHON"):
        yield Path(chosen)
        return
    if find_spec("apache_beam") is not None:
        yield Path(sys.executable)
        return
    kept = cache_folder() / "beam_runner" / f"pyspark-{version('pyspark')}"
    kept.mkdir(parents=True, exist_ok=True)
    with (kept / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another run may be making it
        try:
            made = beam_environment(kept, VERSIONS[0])
        except NotHere as failed:
            pytest.skip(f"the Beam SDK cannot be installed here: {failed}")
    yield made


@pytest.mark.xdist_group("beam_runner")
@pytest.mark.parametrize(
    "host",
    ["local", *(pytest.param(host, marks=pytest.mark.nightly) for host in ("memory", "spark"))],
)
def test_the_scenarios_of_the_runner_pass(python: Path, host: str) -> None:
    files = [f"test_{name}.py" for name, where in SCENARIOS.items() if host in where]
    scenarios = ROOT / "tests" / "beam_runner" / "scenarios"
    command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull]
    command += ["--rootdir", str(ROOT), "--confcutdir", str(scenarios), "-W", "ignore"]
    command += ["--import-mode=importlib", *(str(scenarios / name) for name in files)]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": str(python)}
    env["BEAMLIKE_BEAM_HOSTS"] = host
    ended = subprocess.run(command, cwd=ROOT, env=env, check=False, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout[-5_000:] + ended.stderr[-1_000:]


@pytest.mark.xdist_group("beam_runner")
def test_beams_conformance_of_runners_passes_on_ours_and_ran_there(python: Path) -> None:
    notes = notes_of(python, CONFORMANCE, "local", ["-k", SLOW])
    assert len(notes) > 60
    assert [it for it in judged(notes) if it[1] not in ("passed", "skipped")] == []


@pytest.mark.xdist_group("beam_runner")
def test_nodes_of_each_kind_go_through_the_layers_of_sparks_host(python: Path) -> None:
    kinds = "multimap_side_input or state_timers or sdf_with or custom_window or pack or reshuffle"
    notes = notes_of(python, CONFORMANCE, LAYERS, ["-k", kinds])
    assert len(notes) > 10
    assert [it for it in judged(notes) if it[1] not in ("passed", "skipped")] == []


@pytest.mark.nightly  # their scenarios run in the tests above, too
@pytest.mark.xdist_group("beam_runner")
def test_the_page_of_capabilities_says_what_their_scenarios_show(python: Path) -> None:
    page = capabilities.PAGE.read_text(encoding="utf-8")
    said = capabilities.read(page)
    assert page == capabilities.page(said), "run python -m tests.beam_runner"
    assert capabilities.capabilities_of(notes_of(python, CAPABILITIES, "local")) == said["local"]
    assert all(said[host].items() >= said["local"].items() for host in said)
