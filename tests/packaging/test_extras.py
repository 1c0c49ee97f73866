"""The names of extras in the code are those of `setup.cfg`, and the lock file is up to date."""

import configparser
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import beamlike
from beamlike.errors import EnvironmentProblem
from beamlike.extras import EXTRAS, missing, needs
from tests.packaging.sbom import locked_versions

ROOT = Path(__file__).resolve().parents[2]
CONFIG = configparser.ConfigParser()
CONFIG.read(ROOT / "setup.cfg", encoding="utf-8")


def requirements(listed: str) -> list[Requirement]:
    """What stands in a list of `setup.cfg`, other extras spelled out."""
    lines = (line.strip() for line in listed.splitlines())
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_installs_what_the_code_says_that_it_does(extra: str) -> None:
    wanted = requirements(CONFIG["options.extras_require"][extra])

    assert sorted(it.name for it in wanted) == sorted(EXTRAS[extra])


def test_what_is_here_is_not_missed() -> None:
    # The Beam SDK wants older versions of some packages: it is in an environment of its own.
    for extra in EXTRAS.keys() - {"beam"}:
        needs("this", extra)


def test_the_runner_of_beams_pipelines_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXTRAS, "beam", ("no_such_beam",))  # type: ignore[arg-type]
    monkeypatch.delitem(sys.modules, "beamlike.runners.beam", raising=False)

    with pytest.raises(EnvironmentProblem) as refused:
        _ = beamlike.BeamlikeRunner

    assert str(refused.value) == (
        "BeamlikeRunner needs no_such_beam, which is not installed; run: "
        'pip install "beamlike[beam]"'
    )


def test_all_that_is_missing_is_named_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXTRAS, "local", ("attrs", "no_such_package", "nor_this"))  # type: ignore[arg-type]

    with pytest.raises(EnvironmentProblem) as refused:
        needs('host="local"', "local", ", or go without")

    assert str(refused.value) == (
        'host="local" needs no_such_package and nor_this, which are not installed; run: '
        'pip install "beamlike[local]", or go without'
    )
    assert str(missing("a PNG", ["resvg-py"], "png")) == (
        'a PNG needs resvg-py, which is not installed; run: pip install "beamlike[png]"'
    )


def test_the_lock_file_has_a_version_of_every_requirement_that_setup_cfg_allows() -> None:
    versions = locked_versions()
    wanted = requirements(CONFIG["options"]["install_requires"])
    wanted += requirements(CONFIG["options.extras_require"]["test"])

    assert [
        str(it) for it in wanted if versions.get(canonicalize_name(it.name)) not in it.specifier
    ] == []
