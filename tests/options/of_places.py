"""Options of sessions, pages and tables elsewhere, which stand-ins are given in their place."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from unittest.mock import MagicMock, patch

import beamlike as bl
from beamlike.errors import EnvironmentProblem
from beamlike.tables import JDBC, Delta, Iceberg, SparkTable
from tests.options.playing import Differs
from tests.support.landing.changes import batch, put


def started(**option: Any) -> Any:
    """What a session of Spark is asked for."""
    from pyspark.sql import SparkSession

    builder = MagicMock()
    for step in (builder.master, builder.appName, builder.config):
        step.return_value = builder
    session = builder.getOrCreate.return_value
    session.version = "4.0.0"
    for taken in (session.conf.get, session.sparkContext.getConf.return_value.get):
        taken.side_effect = lambda name, *_: {**option.get("conf", {}), **fetched}[name]
    fetched = {"spark.jars.packages": ",".join(option.get("packages", ()))}
    with patch.object(SparkSession, "builder", builder):
        bl.local_session(**option)
    return builder.master.mock_calls, builder.appName.mock_calls, builder.config.mock_calls


def viewed(*, is_taken: bool = False) -> Any:
    """Whether a page of queries is there, at a free port or at one that is taken."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = {"port": taken.getsockname()[1]} if is_taken else {}
        try:
            bl.live_view(MagicMock(), **port).close()
        except EnvironmentProblem:
            return "the port cannot be had"
    return "there"


@contextmanager
def catalog() -> Iterator[dict[str, str]]:
    with TemporaryDirectory() as home:
        (Path(home) / "warehouse").mkdir()
        yield {
            "type": "sql",
            "uri": f"sqlite:///{home}/catalog.db",
            "warehouse": f"file://{home}/warehouse",
        }


def landed_in_iceberg(*, with_properties: bool) -> Any:
    """Whether a row reaches a catalog that no configuration names."""
    with catalog() as properties:
        option: Any = {"properties": properties} if with_properties else {}
        write = bl.upsert_into(Iceberg("nowhere", "web.visits", **option), "user")
        try:
            write(batch(put("ann", 0, 5, 1)), 0)
        except Exception as error:  # PyIceberg's own
            return type(error).__name__
    return "landed"


def landed_in_delta(**option: Any) -> Any:
    """What a table of Delta is opened with."""
    with TemporaryDirectory() as home, patch("deltalake.DeltaTable.create") as create:
        create.side_effect = EnvironmentProblem("seen")
        try:
            bl.upsert_into(Delta(f"{home}/visits", **option), "user")(batch(put("ann", 0, 5, 1)), 0)
        except EnvironmentProblem:
            return create.call_args.kwargs
    return "not asked"


def landed_by_jdbc(**option: Any) -> Any:
    """What the driver of a database is given when a table is made."""
    session = MagicMock()
    writer = session.createDataFrame.return_value.write
    writer.option.return_value = writer
    writer.jdbc.side_effect = EnvironmentProblem("seen")
    with patch("beamlike.hosts.landing.jdbc._session", return_value=session):
        try:
            write = bl.upsert_into(JDBC("jdbc:nowhere", "visits", **option), "user")
            write(batch(put("ann", 0, 5, 1)), 0)
        except EnvironmentProblem:
            return writer.jdbc.call_args.kwargs
    return "not asked"


def made_in_a_catalog(**option: Any) -> Any:
    """How a table of Spark's is made."""
    session = MagicMock()
    session.catalog.tableExists.return_value = False
    session.sql.side_effect = EnvironmentProblem("seen")
    with patch("beamlike.hosts.landing.catalogs._session", return_value=session):
        try:
            write = bl.upsert_into(SparkTable("visits", **option), "user")
            write(batch(put("ann", 0, 5, 1)), 0)
        except EnvironmentProblem:
            return session.sql.call_args.args
    return "not asked"


RUNS: Final[dict[str, Differs]] = {
    "local_session.app_name": Differs(started, partial(started, app_name="sales")),
    "local_session.cores": Differs(started, partial(started, cores=3)),
    "local_session.short_lived": Differs(started, partial(started, short_lived=True)),
    "local_session.packages": Differs(started, partial(started, packages=["org:one:1"])),
    "local_session.conf": Differs(started, partial(started, conf={"spark.sql.ansi.enabled": "0"})),
    "tables.SparkTable.using": Differs(
        made_in_a_catalog, partial(made_in_a_catalog, using="delta")
    ),
    "tables.SparkTable.properties": Differs(
        made_in_a_catalog, partial(made_in_a_catalog, properties={"owner": "ann"})
    ),
    "live_view.port": Differs(viewed, partial(viewed, is_taken=True)),
    "tables.Iceberg.properties": Differs(
        partial(landed_in_iceberg, with_properties=False),
        partial(landed_in_iceberg, with_properties=True),
    ),
    "tables.JDBC.properties": Differs(
        landed_by_jdbc, partial(landed_by_jdbc, properties={"user": "ann"})
    ),
    "tables.Delta.storage_options": Differs(
        landed_in_delta, partial(landed_in_delta, storage_options={"timeout": "5s"})
    ),
}
