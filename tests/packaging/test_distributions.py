"""What is uploaded: a source archive and a wheel, built, looked into, installed and used."""

import hashlib
import json
import os
import runpy
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path
from typing import Final

import attrs
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.compatibility.steps import checkout
from tests.packaging.sbom import bill_of, locked_versions

ROOT: Final = Path(__file__).resolve().parents[2]
CASE: Final = ROOT / "tests" / "conformance" / "cases" / "blog" / "blog_session.json"
# One process builds them for all tests.
pytestmark = pytest.mark.xdist_group("packaging")


@attrs.frozen
class Built:
    """The two files."""

    archive: Path
    wheel: Path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The archive is made from a copy of this checkout, the wheel from the archive."""
    home = tmp_path_factory.mktemp("built")
    done(sys.executable, "-m", "build", "--outdir", home, checkout(ROOT, home / "checkout"))
    (archive,), (wheel,) = home.glob("*.tar.gz"), home.glob("*.whl")
    return Built(archive, wheel)


def done(*command: str | Path, status: int = 0) -> str:
    """What a command prints. The variables of this process that concern Python are not for it."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    ran = subprocess.run(
        command,
        env=clean,
        cwd="/",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert ran.returncode == status, ran.stdout
    return ran.stdout


def sources() -> set[str]:
    """The files of the package by their paths in the checkout."""
    files = [*(ROOT / "beamlike").rglob("*"), *(ROOT / "testing").rglob("*")]
    paths = {
        str(file.relative_to(ROOT)) for file in files if file.is_file() and file.suffix != ".pyc"
    }
    return {path for path in paths if not path.startswith("beamlike/testing/")}  # a link


@pytest.mark.nightly
def test_the_archive_has_what_the_package_is_built_from(built: Built) -> None:
    with tarfile.open(built.archive) as archive:
        files = {it.name.partition("/")[2] for it in archive if it.isfile()}

    # setuptools adds the files of the first level of tests by itself.
    others = {file for file in files if not file.startswith(("beamlike.egg-info/", "tests/test_"))}
    assert others - sources() == {"LICENSE", "PKG-INFO", "README.md", "pyproject.toml", "setup.cfg"}
    assert sources() - others == set()


def test_the_wheel_has_the_package_and_nothing_else(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as wheel:
        files = set(wheel.namelist())
        (license,) = (file for file in files if file.endswith(".dist-info/licenses/LICENSE"))
        info = license.removesuffix("licenses/LICENSE")
        about = message_from_bytes(wheel.read(f"{info}METADATA"))

    package = {file for file in files if not file.startswith(info)}
    assert package == {
        f"beamlike/{path}" if path.startswith("testing/") else path for path in sources()
    }
    wanted = [it for it in about.get_all("Requires-Dist", []) if "extra ==" not in it]
    assert wanted == ["attrs>=23.2", "cloudpickle!=3.1.3,>=3.0"]
    assert {"local", "spark", "demo", "sketches"} <= set(about.get_all("Provides-Extra", []))
    assert (about["Name"], about["Author"]) == ("beamlike", "beamlike maintainers")
    assert "Apache-2.0" in (about["License-Expression"], about["License"])


def test_the_bill_of_materials_has_the_wheel_and_all_that_it_asks_for(built: Built, tmp_path: Path):
    command = [sys.executable, "-m", "tests.packaging.sbom", str(built.wheel), str(tmp_path)]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    (bill,) = tmp_path.iterdir()
    document = json.loads(bill.read_text(encoding="utf-8"))

    assert said == f"{bill}\n"
    assert bill.name == f"{built.wheel.name.removesuffix('.whl')}.cdx.json"
    assert document == bill_of(built.wheel)
    wheel = document["metadata"]["component"]
    digest = hashlib.sha256(built.wheel.read_bytes()).hexdigest()
    assert (wheel["name"], wheel["hashes"]) == ("beamlike", [{"alg": "SHA-256", "content": digest}])
    with zipfile.ZipFile(built.wheel) as files:
        (name,) = (it for it in files.namelist() if it.endswith(".dist-info/METADATA"))
        about = message_from_bytes(files.read(name))
    asked = {
        canonicalize_name(Requirement(line).name) for line in about.get_all("Requires-Dist", [])
    }
    components = {component["name"]: component for component in document["components"]}
    locked = locked_versions()
    assert set(components) == asked
    assert {name for name, component in components.items() if component["scope"] == "required"} == {
        "attrs",
        "cloudpickle",
    }
    # The SDK of Beam and the fuzzer are in environments of their own.
    assert asked - set(locked) == {"apache-beam", "atheris"}
    assert {name: component.get("version") for name, component in components.items()} == {
        name: locked.get(name) for name in asked
    }
    refs = [document["metadata"]["component"]["bom-ref"]]
    refs += [component["bom-ref"] for component in document["components"]]
    assert [it["ref"] for it in document["dependencies"]] == refs
    assert document["dependencies"][0]["dependsOn"] == refs[1:]


LOCAL = (
    'host="local" needs numpy and pyarrow, which are not installed; run: '
    'pip install "beamlike[local]", or run it with host="memory", which needs neither'
)
SPARK = (
    "needs numpy, pyarrow, pandas, protobuf and pyspark, which are not installed; run: "
    'pip install "beamlike[spark]"'
)
PRINTED = f"""\
  step  key        window                timing   #  ns  place    timestamp     value
  1     'table 3'  [12:00:00, 12:05:00)  ON_TIME  0  0   only     12:04:59.999  ['tea']
  2     'table 3'  [12:00:00, 12:05:00)  DROPPED         expired  12:04:00      'milk' (missed by 1ms)
pipeline: [('tea', 2)]
Scio: as expected
scenario on local: {LOCAL}
scenario on Spark: the Spark host {SPARK}
pipeline: {LOCAL}
pipeline on Spark: the Spark host {SPARK}
explain_plan: explain_plan of a pipeline needs numpy and pyarrow, which are not installed; run: \
pip install "beamlike[local]"
windowed: the Spark host {SPARK}
stream: the Spark host {SPARK}
open_state: reading saved state {SPARK}
live_view: live_view {SPARK}
kafka: on_dataframe {SPARK}
approx_distinct: ApproxDistinct needs datasketches, which is not installed; run: \
pip install "beamlike[sketches]", on the workers too
draw: a PNG or a GIF needs pillow and resvg-py, which are not installed; run: pip install "beamlike[png]", \
or draw an SVG, which needs neither
drawn: <svg
installed: attrs beamlike cloudpickle
"""  # noqa: E501


def test_the_wheel_alone_runs_all_that_stays_in_memory_and_says_what_the_rest_needs(
    built: Built, tmp_path: Path
) -> None:
    done(sys.executable, "-m", "venv", "--without-pip", tmp_path)
    bin = tmp_path / "bin"
    pip = (sys.executable, "-m", "pip", "--python", bin / "python", "install", "--quiet")
    done(*pip, built.wheel)

    assert done(bin / "python", Path(__file__).with_name("light_job.py")) == PRINTED
    assert done(bin / "beamlike", "replay", CASE).endswith("\n19 scenarios: 19 as expected\n")
    page = tmp_path / "page.html"
    done(bin / "beamlike", "replay", CASE, "--format", "html", "--out", page)
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert "session" in done(bin / "beamlike", "explain", CASE)
    for command in (["replay", CASE, "--host", "local"], ["state", "/"], ["drain", "/"], ["demo"]):
        assert ', which are not installed; run: pip install "beamlike[' in done(
            bin / "beamlike", *command, status=2
        )

    done(*pip, "pytest")
    test = tmp_path / "test_light.py"
    test.write_text(Path(__file__).with_name("light_scenario.py").read_text(encoding="utf-8"))
    said = done(bin / "pytest", "-q", "-p", "no:cacheprovider", test, status=1)
    assert "  1     'table 3'  [12:00:00, 12:05:00)  ON_TIME  0  0   only" in said
    assert "1 failed, 1 passed in" in said


LISTED = """
from importlib import metadata
print(*sorted(it.metadata["Name"] for it in metadata.distributions()))
"""


@pytest.mark.nightly
def test_the_extra_local_runs_queries_over_tables_and_tests_of_queries(
    built: Built, tmp_path: Path
) -> None:
    done(sys.executable, "-m", "venv", "--without-pip", tmp_path)
    python, script = tmp_path / "bin" / "python", Path(__file__).with_name("table_job.py")
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet")
    done(*pip, f"{built.wheel}[local]")

    listed = done(python, "-c", LISTED)
    rows = json.loads(done(python, script))

    assert listed.split() == ["attrs", "beamlike", "cloudpickle", "numpy", "pyarrow"]
    assert rows == json.loads(json.dumps(runpy.run_path(str(script))["everything"]()))
