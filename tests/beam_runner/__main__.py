"""Run Beam's own tests of runners on ours: ``python -m tests.beam_runner``.

Environments with the newest two releases of Beam are made for it. Each test that passes has run a
pipeline on our runner, or is one that runs none anywhere; with a matcher that raises, the tests of
``FnApiRunnerTest`` that compare elements fail. What does not pass is named in `named`.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import attrs

from tests.beam_runner.capabilities import PAGE, capabilities_of
from tests.beam_runner.capabilities import page as capabilities_page
from tests.beam_runner.named import reason_of
from tests.beam_suite.environment import beam_environment, beam_folder, version_of
from tests.support.commands import command_parser
from tests.support.examples import AT_NIGHT

ROOT: Final = Path(__file__).resolve().parents[2]
LATEST: Final = Path(__file__).resolve().parent / "LATEST.md"
VERSIONS: Final = ("2.77.0", "2.76.0")
"""The newest two releases of Beam: all suites run with the first, the conformance with both."""
CONFORMANCE: Final = "FnApiRunnerTest"
FOLDER: Final = Path(__file__).resolve().parent / "scenarios"
IN_PROCESS: Final = ("local", "memory")
SCENARIOS: Final[Mapping[str, tuple[str, ...]]] = {
    "runner": IN_PROCESS,
    "windows": (*IN_PROCESS, "spark"),
    "merging_windows": (*IN_PROCESS, "spark"),
    "sources": (*IN_PROCESS, "spark"),
    "retractions": (*IN_PROCESS, "spark"),
    "triggers": (*IN_PROCESS, "spark"),
    "capabilities": (*IN_PROCESS, "spark"),
    "spark": ("spark",),
    "tables": ("spark",),
    "kills": ("spark",),
}
"""Ours, see the folder: files, and the hosts that each runs on."""
CAPABILITIES: Final = "scenarios/capabilities"
LAYERS: Final = "layers"
"""In place of a host: the layers of the Spark host without Spark. Streams do not end there."""
ENDS: Final = ("-k", "not et_timer and not unbounded_source")
SUITES: Final[Mapping[str, tuple[str, ...]]] = {
    CONFORMANCE: (),
    **{f"scenarios/{name}": () for name in SCENARIOS},
    "validates_runner": (
        "runners/portability/fn_api_runner/translations_test.py",
        "transforms/ptransform_test.py",
        "transforms/sideinputs_test.py",
        "transforms/combiners_test.py",
        "transforms/deduplicate_test.py",
        "transforms/dofn_lifecycle_test.py",
        "transforms/combinefn_lifecycle_test.py",
        "transforms/util_test.py",
        "metrics/metric_test.py",
        "pipeline_test.py",
    ),
    "trigger_test": ("transforms/trigger_test.py",),
    "test_stream_test": ("testing/test_stream_test.py",),
    "userstate_test": ("transforms/userstate_test.py",),
    "sideinputs_test": ("transforms/sideinputs_test.py",),
    "combiners_test": ("transforms/combiners_test.py",),
    "combinefn_lifecycle_test": ("transforms/combinefn_lifecycle_test.py",),
    "ptransform_test": ("transforms/ptransform_test.py",),
    "util_test": ("transforms/util_test.py",),
    "window_test": ("transforms/window_test.py",),
    "fileio_test": ("io/fileio_test.py",),
    "textio_test": ("io/textio_test.py",),
    "periodicsequence_test": ("transforms/periodicsequence_test.py",),
    "deduplicate_test": ("transforms/deduplicate_test.py",),
    "watch_test": ("io/watch_test.py",),
    "unbounded_source_test": ("io/unbounded_source_test.py",),
    "examples": (
        "examples/cookbook/coders_test.py",
        "examples/cookbook/combiners_test.py",
        "examples/cookbook/custom_ptransform_test.py",
        "examples/cookbook/filters_test.py",
        "examples/cookbook/group_with_coder_test.py",
        "examples/cookbook/mergecontacts_test.py",
        "examples/cookbook/multiple_output_pardo_test.py",
        "examples/complete/autocomplete_test.py",
        "examples/complete/estimate_pi_test.py",
        "examples/complete/game/game_stats_test.py",
        "examples/complete/game/hourly_team_score_test.py",
        "examples/complete/game/leader_board_test.py",
        "examples/complete/game/user_score_test.py",
        "examples/complete/tfidf_test.py",
        "examples/complete/top_wikipedia_sessions_test.py",
        "examples/wordcount_test.py",
        "examples/wordcount_debugging_test.py",
    ),
}
"""Files of the SDK, by the names of suites."""


def notes_of(
    python: Path, suite: str, host: str, extra: Sequence[str] = (), *, raising: bool = False
) -> list[dict[str, Any]]:
    """What each test of a suite did.

    Args:
        python: An interpreter with Beam and beamlike.
        suite: A key of `SUITES`.
        host: Where pipelines run; ``"layers"`` is the layers of Spark's host without Spark.
        extra: More arguments of pytest.
        raising: Whether matchers raise.
    """
    beam = beam_folder(python)
    paths, folder_of_tests = [str(beam / name) for name in SUITES[suite]], beam
    if suite == CONFORMANCE:
        ours = Path(__file__).with_name("conformance.py")
        paths, folder_of_tests = [str(ours)], ours.parent  # no conftest above it is read
    if (name := suite.removeprefix("scenarios/")) in SCENARIOS:
        paths, folder_of_tests = [str(FOLDER / f"test_{name}.py")], FOLDER
    marks = ["-m", "it_validatesrunner"] if suite == "validates_runner" else []
    with TemporaryDirectory(prefix="beamlike-beam-runner-") as folder:
        notes = Path(folder) / "notes.jsonl"
        in_layers = host == LAYERS
        variables = {"BEAMLIKE_BEAM_NOTES": str(notes)}
        variables["BEAMLIKE_BEAM_HOST"] = "local" if in_layers else host
        variables["BEAMLIKE_BEAM_HOSTS"] = host
        variables[AT_NIGHT] = "1"
        plugins = ["-p", "tests.beam_runner.plugin"]
        plugins += ["-p", "tests.beam_runner.in_layers"] if in_layers else []
        if raising:
            variables["BEAMLIKE_BEAM_RAISING"] = "1"
        command = [
            *(str(python), "-m", "pytest", "-q", *plugins),
            *("-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(beam)),
            *("--import-mode=importlib", "--confcutdir", str(folder_of_tests), "-W", "ignore"),
            *(*paths, *marks, *extra),
        ]
        variables |= {"PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": str(python)}
        env = {**os.environ, **variables}
        subprocess.run(command, cwd=folder, env=env, check=False, stdout=sys.stderr)
        lines = notes.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]


def judged(
    notes: Iterable[Mapping[str, Any]], host: str = "local", *, is_ours: bool = False
) -> list[tuple[str, str, str]]:
    """Each test of a host with its verdict and, unless it passed, the reason.

    Args:
        notes: What each test did.
        host: Where it ran.
        is_ours: Whether they are scenarios. Some run their pipelines in other processes, or refuse
            them: it is not counted how many each runs.
    """
    verdicts = []
    for note in notes:
        test, outcome = str(note["test"]), str(note["outcome"])
        reason = reason_of(test, host)
        if outcome == "failed":
            verdicts.append((test, "named" if reason else "FAILED", reason or str(note["error"])))
        elif outcome == "passed" and reason:
            verdicts.append((test, "FAILED", "it is named as one that does not pass, and passes"))
        elif outcome == "passed" and not note["ran"] and not is_ours:
            verdicts.append((test, "without a pipeline", ""))
        else:
            verdicts.append((test, outcome, ""))
    return verdicts


def table(
    results: Mapping[tuple[str, str], Sequence[tuple[str, str, str]]], version: str, vacuous: int
) -> str:
    """The results as a page."""
    lines = [
        "# Beam's own tests on BeamlikeRunner",
        "",
        f"apache-beam {version}, by `python -m tests.beam_runner`. *named* are those that do not",
        "pass, for a reason; *without a pipeline* are tests of Beam that run none anywhere. With a",
        f"matcher that raises, {vacuous} tests of FnApiRunnerTest pass: these compare no elements.",
        "",
        "| suite | host | passed | named | failed | skipped by Beam | without a pipeline |",
        "|---|---|---|---|---|---|---|",
    ]
    for (suite, host), verdicts in results.items():
        kinds = ("passed", "named", "FAILED", "skipped", "without a pipeline")
        counts = (str(sum(verdict == it for _, verdict, _ in verdicts)) for it in kinds)
        lines.append(f"| {suite} | {host} | {' | '.join(counts)} |")
    for verdict, title in ("FAILED", "Failed"), ("named", "Named"):
        rows = [
            f"| {host} | {test.rsplit('/')[-1]} | {reason} |"
            for (_, host), verdicts in results.items()
            for test, found, reason in verdicts
            if found == verdict
        ]
        if rows:
            lines += ["", f"## {title}", "", "| host | test | reason |", "|---|---|---|"]
            lines += dict.fromkeys(row.replace("\n", " ") for row in rows)
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = command_parser("tests.beam_runner", __doc__)
    add = parser.add_argument
    add("--python", action="append", metavar="PYTHON", help="one that has Beam and beamlike")
    add("--host", action="append", choices=("local", "memory", LAYERS, "spark"))
    add("--suite", action="append", choices=SUITES, help="one of them, not all")
    add("--short", action="store_true", help="one host, and nothing is written")
    add("--work", metavar="DIR", help="what ran is kept here, and not run again")
    options = parser.parse_args(arguments)
    hosts = options.host or (["local"] if options.short else ["local", "memory", LAYERS, "spark"])
    with TemporaryDirectory(prefix="beamlike-beam-") as home:
        chosen = [Path(it) for it in options.python or ()]
        pythons = chosen or [beam_environment(Path(home), version) for version in VERSIONS]
        kept = Kept(Path(options.work or home))
        results: dict[tuple[str, str], Sequence[tuple[str, str, str]]] = {}
        shown: dict[str, Mapping[str, bool]] = {}
        for python in pythons:
            newest = python == pythons[0]
            for suite in options.suite or SUITES:
                for host in hosts:
                    if not runs_on(suite, host, newest=newest):
                        continue
                    notes = kept.notes_of(python, suite, host)
                    title = suite if newest else f"{suite} of {version_of(python)}"
                    is_ours = suite.removeprefix("scenarios/") in SCENARIOS
                    results[title, host] = judged(notes, host, is_ours=is_ours)
                    if suite == CAPABILITIES:
                        shown[host] = capabilities_of(notes)
        raising = kept.notes_of(pythons[0], CONFORMANCE, "local", raising=True)
        vacuous = sum(note["outcome"] == "passed" for note in raising)
        page = table(results, version_of(pythons[0]), vacuous)
    print(page)
    if not options.short and not options.suite:
        LATEST.write_text(page, encoding="utf-8")
        PAGE.write_text(capabilities_page(shown), encoding="utf-8")
    failed = [
        verdict for verdicts in results.values() for verdict in verdicts if verdict[1] == "FAILED"
    ]
    return 1 if failed else 0


def runs_on(suite: str, host: str, *, newest: bool) -> bool:
    """Whether a suite runs on a host, with the newest release of Beam or the one before."""
    if suite == CONFORMANCE:
        return newest or host != LAYERS
    if suite == "validates_runner":
        return host != LAYERS
    if (name := suite.removeprefix("scenarios/")) in SCENARIOS:
        return newest and host in SCENARIOS[name]
    return newest and host == "local"


@attrs.frozen
class Kept:
    """What tests did, kept in a folder: a run that was interrupted goes on where it was."""

    folder: Path

    def notes_of(
        self, python: Path, suite: str, host: str, *, raising: bool = False
    ) -> list[dict[str, Any]]:
        """What each test of a suite did; it runs if that is not known. See `notes_of`."""
        parts = (version_of(python), suite.replace("/", "-"), host, *(["raising"] * raising))
        name = f"{'-'.join(parts)}.json"
        file = self.folder / name
        if not file.exists():
            extra = ENDS if host == LAYERS else ()
            notes = notes_of(python, suite, host, extra, raising=raising)
            self.folder.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(notes), encoding="utf-8")
        kept: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
        return kept


if __name__ == "__main__":
    sys.exit(main())
