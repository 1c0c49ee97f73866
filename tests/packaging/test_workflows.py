"""The workflow files: their matrix is what the package supports, and their commands run."""

import os
import re
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from beamlike.runtime.changes import LAYOUTS
from tests.compatibility.steps import checkout

ROOT: Final = Path(__file__).resolve().parents[2]
WORKFLOWS: Final = ROOT / ".github" / "workflows"


def jobs_of(workflow: str) -> dict[str, Any]:
    jobs: dict[str, Any] = yaml.safe_load((WORKFLOWS / workflow).read_text("utf-8"))["jobs"]
    return jobs


def commands_of(job: dict[str, Any]) -> list[str]:
    return [step["run"] for step in job["steps"] if "run" in step]


def setup() -> ConfigParser:
    parser = ConfigParser(interpolation=None)
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    return parser


def test_the_matrix_has_each_supported_version_of_python_and_spark() -> None:
    matrix = jobs_of("tests.yml")["tests"]["strategy"]["matrix"]
    supported = setup()["metadata"]["classifiers"]
    (first, end) = re.findall(
        r"pyspark>=4\.(\d+),<4\.(\d+)", setup()["options.extras_require"]["spark"]
    )[0]

    assert matrix["python"] == re.findall(r"Python :: (3\.\d+)$", supported, re.MULTILINE)
    assert matrix["pyspark"] == [f"4.{minor}" for minor in range(int(first), int(end))]


def test_the_tests_run_as_the_readme_runs_them() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    *_, last = commands_of(jobs_of("tests.yml")["tests"])

    assert f".venv/bin/{last}\n" in readme
    assert commands_of(jobs_of("tests.yml")["readme"]) == [".ci/run"]


def test_files_that_commands_name_are_in_the_checkout() -> None:
    for workflow in WORKFLOWS.glob("*.yml"):
        for job in jobs_of(workflow.name).values():
            for command in commands_of(job):
                paths = re.findall(r"(?<![\w/])\.?(?:ci|docs)/[\w./]+|setup\.cfg|\w+\.md", command)
                assert [path for path in paths if not (ROOT / path).exists()] == []


@pytest.mark.nightly
@pytest.mark.xdist_group("packaging")
@pytest.mark.parametrize(
    ("workflow", "job"), [("tests.yml", "docs"), ("tests.yml", "wheel"), ("release.yml", "build")]
)
def test_the_commands_of_a_job_run_one_after_the_other(workflow: str, job: str, tmp_path: Path):
    version = setup()["metadata"]["version"]
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTHON")
    } | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "GITHUB_REF_NAME": f"v{version}",
    }
    copy = checkout(ROOT, tmp_path / "checkout")

    for command in commands_of(jobs_of(workflow)[job]):
        if command.startswith("python -m pip install"):
            continue  # What it installs is what runs this test.
        ran = subprocess.run(
            ["bash", "-e", "-c", command],
            cwd=copy,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, f"{command}\n{ran.stdout}\n{ran.stderr}"


def test_the_table_of_releases_has_this_version_and_the_layouts_that_it_reads() -> None:
    version = setup()["metadata"]["version"]
    page = (ROOT / "docs" / "pages" / "releasing.md").read_text("utf-8")
    reads = ", ".join(map(str, LAYOUTS))
    versions = jobs_of("tests.yml")["tests"]["strategy"]["matrix"]
    spark, python = (
        f"{versions[name][0]} to {versions[name][-1]}" for name in ("pyspark", "python")
    )

    assert f"| {version} | {LAYOUTS[-1]} | {reads} | {spark} | {python} |\n" in page
