"""What is installed for development is pinned by hash and audited."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests.packaging.audit import CLEAN, NOT_AUDITED, VULNERABLE, audit
from tests.packaging.sbom import LOCK

ROOT: Final = Path(__file__).resolve().parents[2]


def test_each_distribution_of_the_lock_has_hashes() -> None:
    text = LOCK.read_text("utf-8").replace("\\\n", " ")
    lines = [line.split() for line in text.splitlines()]

    assert [line[0] for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", line[0])] == []
    assert [line[0] for line in lines if len(line) < 2] == []
    hashes = [word for line in lines for word in line[1:]]
    assert [word for word in hashes if not re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", word)] == []


def test_no_file_of_the_checkout_that_installs_names_an_index() -> None:
    files = [LOCK, ROOT / ".ci" / "run", ROOT / "setup.cfg"]
    files += [ROOT / "pyproject.toml", ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    files += (ROOT / ".github" / "workflows").glob("*.yml")
    naming = re.compile(r"--(extra-)?index-url|--find-links|--trusted-host|simple/")

    assert [file.name for file in files if naming.search(file.read_text("utf-8"))] == []


def test_what_is_locked_is_installed_by_hash_wherever_the_lock_is_used() -> None:
    files = [ROOT / ".ci" / "run", ROOT / "CONTRIBUTING.md"]
    files += (ROOT / ".github" / "workflows").glob("*.yml")
    uses = [
        line
        for file in files
        for line in file.read_text("utf-8").splitlines()
        if "requirements.lock" in line and "pip install" in line
    ]

    assert uses != []
    assert [line for line in uses if "--require-hashes -r" not in line] == []


# -- the audit ------------------------------------------------------------------------------

STUB: Final = """
import json, sys
report, asked = sys.argv[sys.argv.index("-o") + 1], sys.argv[sys.argv.index("-r") + 1]
assert {"--require-hashes", "--disable-pip"} <= set(sys.argv) and open(asked).read()
"""
REPORTS: Final = "with open(report, 'w') as file: json.dump({'dependencies': %r}, file)\n"
SAFE: Final = {"name": "attrs", "version": "26.1.0", "vulns": []}
BAD: Final = {
    "name": "tar",
    "version": "1.0",
    "vulns": [{"id": "CVE-1", "fix_versions": ["1.1", "2.0"]}, {"id": "CVE-2", "fix_versions": []}],
}
SKIPPED: Final = {"name": "own", "skip_reason": "it is not known to any service"}


@pytest.mark.parametrize(
    ("does", "status", "says"),
    [
        (REPORTS % [SAFE], CLEAN, "1 distributions audited, 0 known vulnerabilities\n"),
        (
            REPORTS % [SAFE, BAD] + "sys.exit(1)",
            VULNERABLE,
            "tar 1.0: CVE-1, mended in 1.1, 2.0\n"
            "tar 1.0: CVE-2, mended in no version yet\n"
            "2 distributions audited, 2 known vulnerabilities\n",
        ),
        (
            REPORTS % [SAFE, SKIPPED],
            NOT_AUDITED,
            "not audited: own: it is not known to any service\n",
        ),
        (
            "print('WARNING', file=sys.stderr); sys.exit('Could not connect to the feed')",
            NOT_AUDITED,
            "nothing was audited, pip-audit failed: Could not connect to the feed\n",
        ),
    ],
    ids=["none", "some", "skipped", "not reached"],
)
def test_an_audit_says_what_it_found_or_that_nothing_was_audited(
    does: str,
    status: int,
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "pip_audit.py").write_text(STUB + does, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    assert audit() == status
    shown: Any = capsys.readouterr()
    assert shown.out + shown.err == says


def test_without_pip_audit_an_audit_says_so(tmp_path: Path) -> None:
    script = "import sys; sys.executable = sys.argv[1]; from tests.packaging.audit import audit; "
    script += "sys.exit(audit())"
    none = tmp_path / "python"
    none.write_text('#!/bin/sh\necho "$0: No module named pip_audit" >&2\nexit 1\n')
    none.chmod(0o755)
    ran = subprocess.run(
        [sys.executable, "-c", script, str(none)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == NOT_AUDITED
    assert ran.stderr == (
        f"nothing was audited, pip-audit failed: {none}: No module named pip_audit\n"
    )
