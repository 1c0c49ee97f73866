"""Spark without its log on the terminal, unless something fails."""

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from beamlike.model.fingerprint import visible

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOG_LINES: Final = 30


@contextlib.contextmanager
def quiet_session(
    app_name: str, *, short_lived: bool = False, conf: Mapping[str, str] | None = None
) -> Iterator["SparkSession"]:
    """A local session for one command, stopped at the end. One that runs already is borrowed.

    What its processes write on stderr goes to a file; if the command fails, the end of that
    file is shown. Java and its Python workers inherit the stderr that is in place when they
    start, and keep it; so it is exchanged for the moment of the start only. Arguments are those of
    `local_session`.
    """
    from beamlike.hosts.spark.session import check_environment, local_session

    check_environment()
    from pyspark.sql import SparkSession

    if (running := SparkSession.getActiveSession()) is not None:
        yield running
        return
    handle, name = tempfile.mkstemp(prefix="beamlike-spark-", suffix=".log")
    log = Path(name)
    try:
        with _stderr_to(handle):
            spark = local_session(app_name, short_lived=short_lived, conf=conf)
        try:
            yield spark
        finally:
            spark.stop()
    except Exception:
        lines = visible(log.read_text(errors="replace")).splitlines()[-_LOG_LINES:]
        print("The last lines of Spark's log:", *lines, sep="\n  ", file=sys.stderr)
        raise
    finally:
        os.close(handle)
        log.unlink(missing_ok=True)


@contextlib.contextmanager
def _stderr_to(handle: int) -> Iterator[None]:
    sys.stderr.flush()
    saved = os.dup(2)
    os.dup2(handle, 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
