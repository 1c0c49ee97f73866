"""What is tried: versions of PySpark and Python, Spark Connect, and clusters.

In each setting runs what can differ there. Versions of PySpark run all that meets Spark: the
scenarios, the DataFrame API, pipelines, saved state, the Spark host itself. Versions of Python run
all tests without Spark, and the scenarios on Spark. The newest PySpark with the oldest Python is
what all tests run with anyway, and has no setting.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

import attrs


@attrs.frozen
class Suite:
    """Some tests of this checkout."""

    what: str
    options: Sequence[str]
    variables: Mapping[str, str] = {}


@attrs.frozen
class Probe:
    """A script that compares the panes of a streaming query with what they must be."""

    kind: Literal["connect", "local-cluster", "standalone", "submit"]

    @property
    def what(self) -> str:
        return f"probe {self.kind}"


@attrs.frozen
class Setting:
    """One thing to try, in an environment of its own.

    Attributes:
        name: What it is called.
        python: The version of Python, such as ``3.11``.
        pyspark: What pip is asked for.
        does: What runs there, in this order.
        extras: What else pip is asked for.
        at_bounds: Whether all that `setup.cfg` needs has its lowest version: a bound that no test
            tries is a guess.
    """

    name: str
    python: str
    pyspark: str
    does: Sequence[Suite | Probe]
    extras: Sequence[str] = ()
    at_bounds: bool = False

    @property
    def tests(self) -> bool:
        """Whether it needs what tests need."""
        return any(isinstance(it, Suite) for it in self.does)


CONNECT: Final = ("grpcio", "grpcio-status", "googleapis-common-protos", "zstandard")
"""What Spark Connect needs besides PySpark."""

_TWO: Final = ("-n", "2", "--dist", "loadgroup")
_SCENARIOS: Final = ("tests/conformance", "tests/stories")
_FACES: Final = ("tests/api", "tests/pipelines", "tests/hosts")

HOSTS: Final = Suite("hosts without Spark", (*_TWO, "-m", "not spark", "tests/hosts"))
ON_SPARK: Final = Suite(
    "on Spark",
    # State first: Spark 4.1 opens it otherwise in a session that has not run a query.
    ("-m", "spark", "tests/state_versions", *_SCENARIOS, *_FACES),
)
PLAIN: Final = Suite(
    "without Spark",
    (
        *(*_TWO, "-m", "not spark and not browser"),
        # They look at how the code is written, and not at what it works with.
        *("--ignore", "tests/test_architecture.py", "--ignore", "tests/test_static.py"),
    ),
)
SCENARIOS: Final = Suite("scenarios on Spark", ("-m", "spark", *_SCENARIOS))

AT_BOUNDS: Final = (
    Suite(
        "without Spark",
        (
            *(*_TWO, "-m", "not spark and not browser"),
            *("tests/model", "tests/machine", "tests/laws", "tests/hosts", "tests/fuzz"),
        ),
    ),
    Suite(
        "on Spark",
        ("-m", "spark", "tests/api/test_windowed_batch.py", "tests/api/test_far_future.py"),
    ),
)

CANNOT_CONNECT: Final[Mapping[str, str]] = {}
"""Tests that cannot hold over Spark Connect, and why."""
OVER_CONNECT: Final = Suite(
    "over Spark Connect",
    (
        *("-m", "spark", "tests/conformance", "tests/api"),
        *(word for it in CANNOT_CONNECT for word in ("--deselect", it)),
    ),
    # The fixture `spark` is remote then.
    {"BEAMLIKE_TEST_REMOTE": "local[2]"},
)
QUICK: Final = Suite("a few", ("tests/model", "tests/stories/test_user_sessions.py"))
"""Does anything work at all? Both kinds, some of each."""

NEWEST: Final = "pyspark>=4.1,<4.4"
SETTINGS: Final = (
    Setting("pyspark-4.1", "3.11", "pyspark>=4.1,<4.2", (HOSTS, ON_SPARK)),
    Setting("pyspark-4.2", "3.11", "pyspark>=4.2,<4.3", (HOSTS, ON_SPARK)),
    Setting("python-3.12", "3.12", NEWEST, (PLAIN, SCENARIOS)),
    Setting("python-3.13", "3.13", NEWEST, (PLAIN, SCENARIOS)),
    Setting("connect", "3.11", NEWEST, (Probe("connect"), OVER_CONNECT), CONNECT),
    Setting("local-cluster", "3.11", NEWEST, (Probe("local-cluster"),)),
    Setting("standalone", "3.11", NEWEST, (Probe("standalone"),)),
    Setting("submit", "3.11", NEWEST, (Probe("submit"),)),
    Setting("lower-bounds", "3.11", "the lowest versions", AT_BOUNDS, at_bounds=True),
)
