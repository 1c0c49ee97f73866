"""Tables in which the results of queries land, for `beamlike.upsert_into`.

Each is named by where it is, and needs an extra of the installation, but for SQLite:

=============  ===============================  ==========================================
table          needs                            a batch is one
=============  ===============================  ==========================================
`SQLite`       nothing                          transaction of the database
`DuckDB`       ``beamlike[duckdb]``             transaction of the database
`Postgres`     ``beamlike[postgres]``           transaction of the database
`JDBC`         a driver on Spark's class path   transaction of the database
`Delta`        ``beamlike[delta]``              commit of the table
`Iceberg`      ``beamlike[iceberg]``            commit of the table
`SparkTable`   a catalog of Spark with MERGE    commit of the table
=============  ===============================  ==========================================
"""

from beamlike.hosts.landing.catalogs import SparkTable
from beamlike.hosts.landing.databases import DuckDB, Postgres, SQLite
from beamlike.hosts.landing.delta import Delta
from beamlike.hosts.landing.iceberg import Iceberg
from beamlike.hosts.landing.jdbc import JDBC
from beamlike.hosts.landing.target import Target

__all__ = ["JDBC", "Delta", "DuckDB", "Iceberg", "Postgres", "SQLite", "SparkTable", "Target"]
