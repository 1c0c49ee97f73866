"""What is tried: versions of PySpark and Python, Spark Connect, and a cluster."""

from collections.abc import Sequence
from typing import Final, Literal

import attrs

__all__ = ["SETTINGS", "Setting"]

CONNECT: Final = ("grpcio", "grpcio-status", "googleapis-common-protos", "zstandard")
"""What Spark Connect needs besides PySpark."""

PLAIN: Final = ("-m", "not spark and not browser")
"""All that needs no Spark."""
ON_SPARK: Final = ("-m", "spark", "tests/conformance", "tests/stories", "tests/api")
"""What the DataFrame API and every scenario do on a real query."""
_STREAM: Final = "tests/api/test_windowed_stream.py"
OVER_CONNECT: Final = (
    *("-m", "spark", "tests/api/test_windowed_batch.py", _STREAM, "--deselect"),
    f"{_STREAM}::test_a_window_is_early_then_on_time_then_late_then_expired",
)
"""Single groupings, bounded and streaming. The fixture `spark` is told to be remote. One test reads
counts from ``recentProgress``, where Spark Connect does not have them."""
QUICK: Final = ("tests/model", "tests/stories/test_user_sessions.py")
"""Does anything work at all? Both kinds, some of each."""


@attrs.frozen
class Setting:
    """One thing to try, in an environment of its own.

    Attributes:
        name: What it is called.
        python: The version of Python, such as ``3.11``.
        pyspark: What pip is asked for.
        kind: ``tests`` runs the tests, the others a probe: a script that compares the panes of a
            streaming query with what they must be.
        extras: What else pip is asked for.
    """

    name: str
    python: str
    pyspark: str
    kind: Literal["tests", "connect", "local-cluster", "standalone"] = "tests"
    extras: Sequence[str] = ()


SETTINGS: Final = (
    Setting("pyspark-4.1", "3.11", "pyspark>=4.1,<4.2"),
    Setting("pyspark-4.2", "3.11", "pyspark>=4.2,<4.3"),
    Setting("pyspark-4.3", "3.11", "pyspark>=4.3,<4.4"),
    Setting("python-3.12", "3.12", "pyspark>=4.1,<4.4"),
    Setting("python-3.13", "3.13", "pyspark>=4.1,<4.4"),
    Setting("connect", "3.11", "pyspark>=4.1,<4.4", "connect", CONNECT),
    Setting("local-cluster", "3.11", "pyspark>=4.1,<4.4", "local-cluster"),
    Setting("standalone", "3.11", "pyspark>=4.1,<4.4", "standalone"),
)
