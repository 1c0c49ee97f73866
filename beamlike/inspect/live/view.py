"""A page for what runs: made, shown and closed."""

from contextlib import ExitStack
from html import escape
from typing import TYPE_CHECKING, Any, Self

from beamlike.errors import EnvironmentProblem
from beamlike.extras import needs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery, StreamingQueryManager

    from beamlike.inspect.live.server import PageServer
    from beamlike.inspect.queries.listening import Listener


class LiveView:
    """A page that shows streaming queries while they run; see `live_view`.

    In a notebook it shows itself. As a context manager it closes at the end of the block.

    Attributes:
        url: Where the page is, on this machine only. It ends in a token, without which nothing is
            shown: who has the address can read the page.
    """

    def __init__(
        self, streams: "StreamingQueryManager", listener: "Listener", server: "PageServer"
    ) -> None:
        self._closing = ExitStack()
        self._closing.callback(listener.end, streams)
        self._closing.callback(server.close)
        self._is_open, self.url = True, server.url

    def close(self) -> None:
        """Stop listening to Spark, and release the port. The queries keep running."""
        self._is_open = False
        self._closing.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"LiveView({self.url if self._is_open else 'closed'})"

    def _repr_html_(self) -> str:
        if not self._is_open:
            return "<p>This live view is closed.</p>"
        url = escape(self.url, quote=True)
        return (
            f'<p>Live view: <a href="{url}" target="_blank" rel="noopener">{url}</a></p>'
            f'<iframe src="{url}" title="Live view of streaming queries" '
            'style="width: 100%; height: 720px; border: 1px solid #8a8a8a"></iframe>'
        )


def live_view(source: "SparkSession | StreamingQuery", port: int = 0) -> LiveView:
    """Show what streaming queries do, on a page of this machine, until it is closed::

        with bl.live_view(spark) as view:
            print(view.url)
            query = panes.writeStream.start()
            query.awaitTermination()

    The page shows for each query its watermark and how far that is behind, open windows, panes by
    timing, dropped rows by reason, the size of the state, the time of a micro-batch and what it
    went to, and rows in a second; for each grouping by its name, which is the label of a transform
    in a pipeline. What came before the view was opened is there as far as Spark remembers it.

    Args:
        source: A session, for all of its queries, also those that start later; or one query.
        port: Of 127.0.0.1; 0 for one that is free.

    Raises:
        EnvironmentProblem: The port cannot be had, or ``source`` is neither of both, or a query of
            another session than the active one.
    """
    needs("live_view", "spark")
    from pyspark.sql import SparkSession

    from beamlike.inspect.live.history import History
    from beamlike.inspect.live.server import PageServer
    from beamlike.inspect.queries.listening import Listener

    spark, query = _session_of(source, SparkSession)
    history = History()
    listener = Listener(history, None if query is None else str(query.id))
    view = LiveView(spark.streams, listener, PageServer(history, port))
    try:
        listener.begin(spark.streams, spark.streams.active if query is None else [query])
    except BaseException:
        view.close()
        raise
    return view


def _session_of(source: Any, session: Any) -> "tuple[SparkSession, StreamingQuery | None]":
    """The session to listen to, and the only query of interest."""
    if hasattr(source, "streams"):
        return source, None
    if not (hasattr(source, "runId") and hasattr(source, "recentProgress")):
        raise EnvironmentProblem(
            "live_view takes a SparkSession or a StreamingQuery, got "
            f"{type(source).__name__}; pass the session that the query runs in"
        )
    active = session.getActiveSession()
    known = [] if active is None else [str(query.id) for query in active.streams.active]
    if active is None or (source.isActive and str(source.id) not in known):
        raise EnvironmentProblem(
            "the query belongs to another session than the active one; pass its session to "
            "live_view instead"
        )
    return active, source
