"""Listens to the queries of a session, and passes on what they count."""

import os
import sys
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self, TextIO

from beamlike.errors import EnvironmentProblem
from beamlike.extras import needs
from beamlike.inspect.metrics.log_lines import LOGGER, line_of, log_batch, log_end, log_start
from beamlike.inspect.metrics.server import MetricsServer
from beamlike.inspect.queries.progress import Progress
from beamlike.inspect.queries.totals import Totals

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FOR_ALL: Final = 0o644


class MetricsListener:
    """Counts what queries do while they run; see `metrics_listener`.

    As a context manager it closes at the end of the block.

    Attributes:
        url: Where the metrics are served; None if they are not.
    """

    def __init__(
        self,
        *,
        lines: TextIO | None = None,
        file: Path | None = None,
        port: int | None = None,
        host: str = "127.0.0.1",
        allowed_hosts: Iterable[str] = (),
        token: str | None = None,
    ) -> None:
        self._totals = Totals()
        self._lines, self._file = lines, file
        self._closing = ExitStack()
        self.url: str | None = None
        if port is not None:
            server = MetricsServer(self.text, port, host, allowed_hosts, token)
            self._closing.callback(server.close)
            self.url = server.url

    def __repr__(self) -> str:
        places = filter(None, (self.url, self._file))
        return f"MetricsListener({', '.join(map(str, places))})"

    def text(self) -> str:
        """All metrics as they are now, in the text form of OpenMetrics.

        Raises:
            EnvironmentProblem: ``prometheus_client`` is not installed.
        """
        needs("metrics as text", "metrics")
        from prometheus_client.openmetrics.exposition import generate_latest

        text: bytes = generate_latest(self._totals)  # type: ignore[no-untyped-call]
        return text.decode()

    # -- what Spark reports --------------------------------------------------------------

    def started(self, query: str, run: str, name: str | None, clock: int) -> None:
        """A query has started, at this clock (epoch ms)."""
        again = self._totals.started(query, run, name, clock)
        log_start(self._totals.name_of(query, run), query, again)
        self._write()

    def progressed(self, progress: Progress) -> None:
        """A micro-batch is done. One that is known already counts once."""
        if not self._totals.progressed(progress):
            return
        name = self._totals.name_of(progress.query, progress.run)
        log_batch(name, progress)
        self._write()
        if self._lines is not None:
            try:
                print(line_of(name, progress), file=self._lines, flush=True)
            except (OSError, ValueError) as error:  # closed, full, or without that character
                LOGGER.error("a line cannot be printed: %s", error)

    def ended(self, query: str, run: str, exception: str | None, clock: int) -> None:
        """A query has stopped, or failed with these words, at this clock (epoch ms)."""
        self._totals.ended(query, run, exception, clock)
        log_end(self._totals.name_of(query, run), query, exception)
        self._write()

    def _write(self) -> None:
        if self._file is None:
            return
        try:
            _replace(self._file, self.text())
        except (OSError, UnicodeError) as error:
            # The query must not fail; the next micro-batch tries again.
            LOGGER.error("the metrics cannot be written to %s: %s", self._file, error)

    # -- from here to there --------------------------------------------------------------

    def listen(self, spark: "SparkSession") -> Self:
        """Listen to all queries of a session from now on, and catch up with those that run."""
        from beamlike.inspect.queries.listening import Listener

        listener = Listener(self)
        self._closing.callback(listener.end, spark.streams)
        listener.begin(spark.streams, spark.streams.active)
        return self

    def close(self) -> None:
        """Stop listening to Spark, and release the port. The queries keep running, the file
        stays."""
        self._closing.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


def _replace(file: Path, text: str) -> None:
    """Write a file atomically: no reader gets half of it."""
    handle, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(text)
        Path(name).chmod(_FOR_ALL)  # the collector is another user
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _checked(file: str | os.PathLike[str]) -> Path:
    """Where metrics can be written."""
    if not isinstance(file, str | os.PathLike) or not os.fspath(file):
        raise EnvironmentProblem(f"file={file!r} is no name of a file; give one in a folder")
    path, problem = Path(file), ""
    if path.is_dir():
        problem = "is a folder; name a file in it, such as beamlike.prom"
    elif not path.parent.is_dir():
        problem = f"cannot be written: there is no folder {str(path.parent)!r}; make it first"
    if problem:
        raise EnvironmentProblem(f"file={str(path)!r} {problem}")
    return path


def metrics_listener(
    spark: "SparkSession",
    *,
    file: str | os.PathLike[str] | None = None,
    port: int | None = None,
    host: str = "127.0.0.1",
    allowed_hosts: Iterable[str] = (),
    token: str | None = None,
    lines: bool | TextIO | None = None,
) -> MetricsListener:
    """Count what the streaming queries of a session do, until it is closed::

        with bl.metrics_listener(spark, port=9400):
            panes.writeStream.start().awaitTermination()

    It counts micro-batches and rows of each query, and of each grouping elements, panes by timing,
    retractions, dropped elements by reason, merges, open windows, watermark and deadlines, which a
    query over windows puts into its progress. A micro-batch that is done again after a restart
    counts once. What queries did before is there as far as Spark remembers it. A file and a port
    need ``pip install "beamlike[metrics]"``.

    To the logger ``beamlike.metrics`` go starts and stops (info), what failed (error), one line for
    each micro-batch that dropped something, with an example (warning), and one for each (debug).

    Args:
        spark: The session.
        file: Is written after each micro-batch, in the text form of OpenMetrics. It is replaced as
            a whole, as the textfile collector of Prometheus' node exporter wants it.
        port: Serves the same under ``/metrics``; 0 for a port that is free, see
            `MetricsListener.url`.
        host: The address of the port. All machines that can reach it can read the metrics.
        allowed_hosts: More names that the server answers to in the ``Host`` header of a request,
            such as ``["metrics.example.com", "*.cluster.internal"]``. IP addresses, ``localhost``
            and ``host`` are always allowed, and with a ``host`` that other machines can reach the
            name of this machine. Any other name is refused (421): it may be that of a web page
            which resolves to this server (DNS rebinding).
        token: A secret that a scraper has to send as ``Authorization: Bearer TOKEN``; all others
            are refused (401). Left out, who can reach the port can read the metrics.
        lines: Print a line for each micro-batch: True for the standard output, or where to.
            Left out, it does so if there is neither file nor port.

    Raises:
        EnvironmentProblem: The port or the address cannot be had, ``allowed_hosts`` are no host
            names, a header cannot hold the token, the file is none or its folder is not there,
            nothing can be printed to ``lines``, ``spark`` is not a session, or a package of the
            extra is missing.
    """
    if not hasattr(spark, "streams"):
        raise EnvironmentProblem(
            f"metrics_listener takes a SparkSession, got {type(spark).__name__}; pass the session "
            "that the queries run in"
        )
    if file is not None or port is not None:
        needs("metrics_listener with a file or a port", "metrics", "; lines=True needs nothing")
    if token is not None and port is None:
        raise EnvironmentProblem("token= is for a port, and there is none; give port=, or no token")
    path = None if file is None else _checked(file)
    if lines is None:
        lines = file is None and port is None
    elif not isinstance(lines, bool) and not hasattr(lines, "write"):
        raise EnvironmentProblem(
            f"lines={lines!r} cannot be printed to; give True for the standard output, or a text "
            "file that is open"
        )
    out = (sys.stdout if lines else None) if isinstance(lines, bool) else lines
    listener = MetricsListener(
        lines=out, file=path, port=port, host=host, allowed_hosts=allowed_hosts, token=token
    )
    try:
        return listener.listen(spark)
    except BaseException:
        listener.close()
        raise
