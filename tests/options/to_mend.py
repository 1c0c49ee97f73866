"""Options that no scenario shows yet. The set only becomes smaller: an option that is new belongs
into a table of runs, or names its test.
"""

from typing import Final

WITHOUT_SCENARIO: Final = frozenset(
    {
        # A session of Spark, a server or a table elsewhere.
        *("local_session.app_name", "local_session.cores", "local_session.short_lived"),
        *("live_view.port", "tables.Delta.storage_options", "tables.Iceberg.properties"),
        "tables.JDBC.properties",
    }
)
"""Options of which no test says yet what they do."""
