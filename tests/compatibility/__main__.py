"""Does it work with these versions, and elsewhere? ``python -m tests.compatibility``.

Each setting gets a fresh environment in a temporary folder, into which pip installs this checkout.
Versions of PySpark and Python run the tests that need no Spark, and on Spark the conformance suite,
the stories and the tests of the DataFrame API. Spark Connect, ``local-cluster`` and a standalone
master with two workers run a streaming query and compare its panes; on the clusters the workers
have no beamlike of their own, it is shipped to them. Spark Connect then runs tests of single
groupings. ``--list`` names the settings.

Exit status: 0 if all is well, 1 if something is wrong, or cannot be had here.
"""

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import attrs

from tests.compatibility.settings import ON_SPARK, OVER_CONNECT, PLAIN, QUICK, SETTINGS, Setting

ROOT: Final = Path(__file__).resolve().parents[2]
PROBE: Final = Path(__file__).with_name("probe.py")
NEEDS: Final = ("attrs", "cloudpickle", "numpy", "pandas<3", "protobuf", "pyarrow")
"""What workers need besides beamlike."""
LATEST: Final = Path(__file__).with_name("LATEST.md")


@attrs.frozen
class Outcome:
    """What came of a setting."""

    setting: Setting
    good: bool
    python: str
    pyspark: str
    saw: str
    seconds: int


class Unavailable(Exception):
    """Something that a setting needs cannot be had here."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    options = parsed(arguments)
    settings = [it for it in SETTINGS if not options.only or it.name in options.only]
    if options.list:
        for it in settings:
            print(f"{it.name:15}Python {it.python}, {it.pyspark}, {it.kind}")
        return 0
    outcomes = []
    for setting in settings:
        outcome = tried(setting, quick=options.quick)
        print(f"{setting.name}: {'ok' if outcome.good else 'WRONG'}, {outcome.saw}", flush=True)
        outcomes.append(outcome)
    if options.write:
        LATEST.write_text(page(outcomes, quick=options.quick), encoding="utf-8")
    return 0 if all(it.good for it in outcomes) else 1


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.compatibility",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    names = [it.name for it in SETTINGS]
    add = parser.add_argument
    add("--only", nargs="+", metavar="NAME", choices=names, help=", ".join(names))
    add("--list", action="store_true", help="name the settings and stop")
    add("--quick", action="store_true", help="few tests of each kind")
    add("--write", action="store_true", help=f"write what was seen to {LATEST.name}")
    return parser.parse_args(arguments)


def tried(setting: Setting, *, quick: bool) -> Outcome:
    """Make the environment, run what is to be run."""
    began, version, pyspark = time.monotonic(), setting.python, setting.pyspark
    try:
        with tempfile.TemporaryDirectory(prefix="beamlike-compatibility-") as made:
            home = Path(made)
            python = environment(home / "env", setting.python)
            asked = f"{ROOT}[test]" if setting.kind in ("tests", "connect") else str(ROOT)
            # Editable: from the folder of the checkout, its own ``beamlike`` would be imported
            # first, without ``beamlike.testing``, which lies beside it.
            install(python, "--editable", asked, setting.pyspark, *setting.extras)
            version = told(python, "import platform; print(platform.python_version())")
            pyspark = told(python, "import pyspark; print(pyspark.__version__)")
            good, saw = ran(setting, python, home, quick=quick)
    except Unavailable as missing:
        good, saw = False, str(missing)
    return Outcome(setting, good, version, pyspark, saw, round(time.monotonic() - began))


def environment(home: Path, version: str) -> Path:
    """A fresh virtual environment of this Python; its interpreter.

    Raises:
        Unavailable: There is no such Python.
    """
    found = interpreter(version)
    if found is None:
        raise Unavailable(f"there is no Python {version} on this machine (PATH, pyenv, uv)")
    if found == sys.executable:
        venv.create(home, with_pip=True)
    else:
        subprocess.run([found, "-m", "venv", str(home)], check=True)
    return home / "bin" / "python"


def interpreter(version: str) -> str | None:
    """A Python of this version: this one, one on PATH, or one of pyenv's or uv's."""
    if platform.python_version().startswith(f"{version}."):
        return sys.executable
    candidates = [shutil.which(f"python{version}")]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates += [str(it / "bin" / "python") for it in sorted(pyenv.glob(f"{version}.*"))]
    if (uv := shutil.which("uv")) is not None:
        asked = subprocess.run(
            [uv, "python", "find", version], capture_output=True, text=True, check=False
        )
        candidates.append(asked.stdout.strip())
    for candidate in filter(None, candidates):
        command = [candidate, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.stdout.strip() == version:
            return candidate
    return None


def install(python: Path, *wanted: str) -> None:
    """Have pip install these.

    Raises:
        Unavailable: It could not.
    """
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run([*command, *wanted], capture_output=True, text=True, check=False)
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["no words"]
        raise Unavailable(f"pip could not install it: {last[0]}")


def told(python: Path, script: str) -> str:
    """What a script prints."""
    command = [str(python), "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def ran(setting: Setting, python: Path, home: Path, *, quick: bool) -> tuple[bool, str]:
    """Run the tests, or the probe: whether all is well, and what was seen."""
    if setting.kind == "tests":
        seen = [tests(python, options) for options in ([QUICK] if quick else [PLAIN, ON_SPARK])]
        return all(good for good, _ in seen), "; ".join(saw for _, saw in seen)
    workers = python
    if setting.kind != "connect":
        workers = environment(home / "workers", setting.python)
        install(workers, *NEEDS)
    command = [str(python), str(PROBE), setting.kind, str(workers)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=home)
    lines = (done.stdout if done.returncode == 0 else done.stderr).strip().splitlines()
    last = next((it for it in reversed(lines) if it.startswith("ok: ")), lines[-1] if lines else "")
    good, saw = done.returncode == 0, last.removeprefix("ok: ")
    if good and setting.kind == "connect" and not quick:
        good, told = tests(python, OVER_CONNECT, BEAMLIKE_TEST_REMOTE="local[2]")
        saw = f"{saw}; {told}"
    return good, saw


def tests(python: Path, options: Sequence[str], **variables: str) -> tuple[bool, str]:
    """Run some tests; whether they passed, and pytest's last line."""
    command = [str(python), "-m", "pytest", "-q", *options]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, env=os.environ | variables
    )
    lines = done.stdout.strip().splitlines()
    failed = [it.split(" ")[1] for it in lines if it.startswith(("FAILED ", "ERROR "))]
    last = re.sub(r" in [\d.]+s.*", "", lines[-1].strip("= ")) if lines else "no words"
    if failed:
        last += f" (first: {failed[0]})"
    return done.returncode == 0, last


def page(outcomes: Sequence[Outcome], *, quick: bool) -> str:
    """What was seen, to be kept."""
    lines = [
        "# Latest run",
        "",
        f"`python -m tests.compatibility{' --quick' if quick else ''}` on {platform.system()}, "
        f"{datetime.now(UTC):%Y-%m-%d}.",
        "",
        "| setting | Python | PySpark | | saw | seconds |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {it.setting.name} | {it.python} | {it.pyspark} | {'ok' if it.good else 'wrong'} "
        f"| {it.saw.replace('|', '/')} | {it.seconds} |"
        for it in outcomes
    ]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.exit(main())
