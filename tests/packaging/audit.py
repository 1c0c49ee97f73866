"""``python -m tests.packaging.audit`` looks for known vulnerabilities in what the lock pins.

It is `pip-audit`, from ``pip install pip-audit``. Exit status 0: none is known; 1: there are some;
3: the advisories could not be asked for, and nothing was audited.
"""

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.packaging.sbom import LOCK

CLEAN: Final = 0
VULNERABLE: Final = 1
NOT_AUDITED: Final = 3


def audit(lock: Path = LOCK) -> int:
    """Audit a lock with hashes, say what came of it, and return the exit status."""
    with TemporaryDirectory() as home:
        report = Path(home) / "report.json"
        options = ["--require-hashes", "--disable-pip", "-r", str(lock)]
        command = [sys.executable, "-m", "pip_audit", *options, "-f", "json", "-o", str(report)]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        # It ends with 1 where there are vulnerabilities, and where it could not ask for them.
        if not report.exists():
            said = ran.stderr.strip().splitlines() or ["without a word"]
            print(f"nothing was audited, pip-audit failed: {said[-1]}", file=sys.stderr)
            return NOT_AUDITED
        audited = json.loads(report.read_text(encoding="utf-8"))["dependencies"]
    skipped = [f"{one['name']}: {one['skip_reason']}" for one in audited if "skip_reason" in one]
    known = [
        f"{one['name']} {one['version']}: {vulnerability['id']}, mended in "
        f"{', '.join(vulnerability['fix_versions']) or 'no version yet'}"
        for one in audited
        for vulnerability in one.get("vulns", ())
    ]
    for line in (*known, *(f"not audited: {reason}" for reason in skipped)):
        print(line)
    if skipped:
        return NOT_AUDITED if not known else VULNERABLE
    print(f"{len(audited)} distributions audited, {len(known)} known vulnerabilities")
    return VULNERABLE if known else CLEAN


if __name__ == "__main__":
    sys.exit(audit())
