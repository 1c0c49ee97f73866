"""A plugin of pytest for Beam's tests: their pipelines run on `BeamlikeRunner`, and it is noted.

``BEAMLIKE_BEAM_HOST`` is the host, ``BEAMLIKE_BEAM_NOTES`` the file for what each test did: its
outcome, and how many pipelines of it our runner ran. With ``BEAMLIKE_BEAM_RAISING`` each
``assert_that`` has a matcher that raises: a test that passes all the same checks nothing.
"""

import atexit
import json
import os
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from apache_beam.testing import test_pipeline, util

from beamlike.runners.beam.runner import BeamlikeRunner

HOST = os.environ.get("BEAMLIKE_BEAM_HOST", "local")
NOTES = os.environ.get("BEAMLIKE_BEAM_NOTES")
MARKS = (
    *("it_validatesrunner", "it_postcommit", "no_xdist", "no_sickbay_streaming"),
    *("no_sickbay_batch", "sickbay_batch", "sickbay_dataflow", "sickbay_direct", "sickbay_flink"),
    *("sickbay_spark", "sickbay_streaming", "uses_dill", "uses_mock_api", "uses_transformers"),
)

ran: Counter[str] = Counter()
outcomes: dict[str, dict[str, Any]] = {}
_running = {"test": ""}


def pytest_configure(config: pytest.Config) -> None:
    for mark in MARKS:
        config.addinivalue_line("markers", f"{mark}: of Beam's")
    _run_on_ours()
    if os.environ.get("BEAMLIKE_BEAM_RAISING"):
        _raise_in_matchers()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--test-pipeline-options", default=None)  # which Beam's tests read


def _run_on_ours() -> None:
    """Let every pipeline of a test run on our runner, unless the test names another one."""
    folder = tempfile.mkdtemp(prefix="beamlike-beam-files-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    runner = f"--runner=beamlike.BeamlikeRunner --beamlike_host={HOST}"
    options = f"{runner} --temp_location={folder}"
    test_pipeline.TestPipeline.pytest_test_pipeline_options = options
    run = BeamlikeRunner.run_pipeline

    def noted(self: Any, pipeline: Any, options: Any) -> Any:
        ran[_running["test"]] += 1
        return run(self, pipeline, options)

    BeamlikeRunner.run_pipeline = noted  # type: ignore[method-assign]
    init = test_pipeline.TestPipeline.__init__

    def on_ours(self: Any, runner: Any = None, *args: Any, **kwargs: Any) -> None:
        init(self, BeamlikeRunner(HOST) if runner is None else runner, *args, **kwargs)

    test_pipeline.TestPipeline.__init__ = on_ours


def _raise_in_matchers() -> None:
    assert_that = util.assert_that

    def raising(actual: Any, matcher: Any, *args: Any, **kwargs: Any) -> Any:
        def match(elements: Any) -> None:
            raise AssertionError("reached")

        return assert_that(actual, match, *args, **kwargs)

    util.assert_that = raising


def pytest_runtest_logstart(nodeid: str, location: Any) -> None:
    _running["test"] = nodeid


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" or report.outcome != "passed":
        error = ""
        if report.failed:
            lines = str(report.longrepr).strip().splitlines()
            error = next((line for line in reversed(lines) if line.startswith("E  ")), lines[-1])[
                :300
            ]
        outcomes[report.nodeid] = {"outcome": report.outcome, "error": error}


def pytest_sessionfinish(session: pytest.Session) -> None:
    if NOTES:
        notes = [{"test": it, "ran": ran[it], **outcome} for it, outcome in outcomes.items()]
        text = "".join(f"{json.dumps(note)}\n" for note in notes)
        Path(NOTES).write_text(text, encoding="utf-8")
