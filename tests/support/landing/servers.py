"""A server of PostgreSQL for tests: in a folder of its own, on a free port, gone afterwards."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from glob import glob
from pathlib import Path

from tests.support.listening import free_port

_USER = "postgres"


def postgres_programs() -> Path | None:
    """The folder of PostgreSQL's programs; None: it is not installed."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    folders += [Path(it) for it in sorted(glob("/usr/lib/postgresql/*/bin"), reverse=True)]
    return next((folder for folder in folders if (folder / "initdb").exists()), None)


@contextmanager
def postgres_server() -> Iterator[str]:
    """How to connect to a fresh server, which runs until the block is left."""
    programs = postgres_programs()
    assert programs is not None, "PostgreSQL is missing: apt-get install postgresql"
    # Not the folder of pytest: a server under another user has to get there.
    with tempfile.TemporaryDirectory(prefix="beamlike-pg-") as home:
        if os.geteuid() == 0:  # it refuses to run as root
            shutil.chown(home, _USER)
        data, port = f"{home}/data", free_port()
        _run(home, programs / "initdb", "-D", data, "-U", _USER, "-A", "trust", "-N")
        options = f"-p {port} -c listen_addresses=127.0.0.1 -k {home} -c fsync=off"
        start = ["-D", data, "-l", f"{home}/log", "-w", "-o", options, "start"]
        _run(home, programs / "pg_ctl", *start)
        try:
            yield f"postgresql://{_USER}@127.0.0.1:{port}/postgres"
        finally:
            _run(home, programs / "pg_ctl", "-D", data, "-m", "immediate", "stop")


def _run(home: str, *command: str | Path) -> None:
    user = _USER if os.geteuid() == 0 else None
    done = subprocess.run(
        command, user=user, cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert done.returncode == 0, done.stderr.decode()
