"""One Spark session for all tests, the hosts that scenarios run on, and a browser."""

import gc
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import hypothesis
import pytest

from beamlike.errors import BeamlikeError
from beamlike.hosts.spark.session import SESSION_ZONE, SHORT_LIVED
from beamlike.playground.packages import interpreter_files
from tests.support.accessibility import axe_findings, why_no_axe
from tests.support.browser import CHROMIUM, headless_chromium
from tests.support.examples import AT_NIGHT, ONE_OF, examples
from tests.support.landing.servers import postgres_programs
from tests.support.sharing import is_shared, longest_first, put_in_groups, share_well
from tests.support.zones import add_zone_option, session_zone, set_zone, zone_in_words, zone_of_run

# Where beamlike is installed pytest has found it already; tests of a checkout do not rely on that.
pytest_plugins = ["beamlike.testing.plugin"]


def pytest_configure(config: pytest.Config) -> None:
    """How hypothesis works, and that what it keeps is gone afterwards, and not in the checkout.

    Beside it are the time zone of the run and Spark's settings, for all sessions that tests start,
    also in other processes.
    """
    set_zone(config)
    if config.getoption("--nightly"):
        os.environ[AT_NIGHT] = "1"
    # How long an example takes depends on what else the machine does.
    slow = [hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.data_too_large]
    hypothesis.settings.register_profile(
        "beamlike", deadline=None, max_examples=examples(100), suppress_health_check=slow
    )
    hypothesis.settings.load_profile("beamlike")
    _own_folder(config, "HYPOTHESIS_STORAGE_DIRECTORY")
    if (settings := _own_folder(config, "SPARK_CONF_DIR")) is not None:
        # Java as in a session of a minute. Spark compiles its plans as it does in production.
        (settings / "spark-defaults.conf").write_text(
            f"spark.driver.extraJavaOptions {SHORT_LIVED}\n"
        )
    for variable, (folders, why_not) in FETCHED.items():
        if variable not in os.environ and _takes(config, folders):
            os.environ[variable] = why_not()  # for the processes of this run, too
    share_well(config)


def _takes(config: pytest.Config, folders: Sequence[str]) -> bool:
    """Whether this run takes tests of some folders. What they need may have to be fetched."""
    start = config.invocation_params.dir
    paths = [(start / arg.partition("::")[0]).resolve() for arg in config.args]
    tested = [Path(__file__).parent / folder for folder in folders]
    return any(
        it.is_relative_to(path) or path.is_relative_to(it) for it in tested for path in paths
    )


def _no_pyodide() -> str:
    try:
        interpreter_files()
    except BeamlikeError as problem:
        return str(problem)
    return ""


NO_PYODIDE: Final = "BEAMLIKE_NO_PYODIDE"
"""The variable that says why Pyodide cannot be had on this machine; empty if it can."""

NO_AXE: Final = "BEAMLIKE_NO_AXE"
"""The same of axe-core, which looks at pages for what keeps people from using them."""

FETCHED: Final[Mapping[str, tuple[Sequence[str], Callable[[], str]]]] = {
    NO_PYODIDE: (["playground"], _no_pyodide),
    NO_AXE: (["playground", "viz", "inspect"], why_no_axe),
}
"""For each of these variables the folders that need what is fetched, and what fetches it."""


def _own_folder(config: pytest.Config, variable: str) -> Path | None:
    """A folder for this run, which the variable names then; None if it names another already."""
    if variable in os.environ:
        return None
    kept = TemporaryDirectory(prefix=f"beamlike-{variable.lower()}-")
    config.add_cleanup(kept.cleanup)
    os.environ[variable] = kept.name
    return Path(kept.name)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--nightly", action="store_true", help="also the long trials, and all that repeats a query"
    )
    add_zone_option(parser)


def pytest_report_header(config: pytest.Config) -> list[str]:
    """The zone of the run, and what is not tested here."""
    words = [zone_in_words()]
    if CHROMIUM is None:
        words.append("browser: no Chromium on this machine, tests marked 'browser' are left out")
    if problem := os.environ.get(NO_PYODIDE):
        words.append(f"playground: its pages are left out, because {problem}")
    if problem := os.environ.get(NO_AXE):
        words.append(f"accessibility: its tests are left out, because {problem}")
    if postgres_programs() is None:
        words.append("tables: no PostgreSQL on this machine, its tests are left out")
    if not config.getoption("--nightly"):
        words.append("nightly: long trials are left out; --nightly has them too")
    return words


# First, because pytest-xdist reads the marks in this hook too.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What is left out, and what stays together where several processes share the tests.

    Without a browser, what needs one is no part of the run; the header says so. What needs Spark
    is in two halves, those of the DataFrame API and the others, each done by one process with one
    session; but for tests that start Spark in processes of their own and say so. Other tests of a
    module stay together, so that what they share is made once.

    Long trials run with ``--nightly``. So do streaming queries of one test that differ by their
    parameters, but for the first, and what needs Spark, but for the first test of a module and the
    corpus. Of tests with a random ``seed``, or marked as samples, each fifth runs for each change.
    """
    put_in_groups(items)
    if is_shared(config):
        items.sort(key=longest_first(items))
    left_out = set()
    if CHROMIUM is None:
        left_out |= {item for item in items if item.get_closest_marker("browser")}
    if postgres_programs() is None:
        of_tables = {item for item in items if item.path.parent.name == "landing"}
        left_out |= {item for item in of_tables if "server" in getattr(item, "fixturenames", ())}
        left_out |= {item for item in items if "[postgres" in item.name}
    if os.environ.get(NO_PYODIDE):
        left_out |= {
            item for item in items if "playground_folder" in getattr(item, "fixturenames", ())
        }
    if os.environ.get(NO_AXE):
        left_out |= {item for item in items if "axe" in getattr(item, "fixturenames", ())}
    if not config.getoption("--nightly"):
        left_out |= {item for item in items if item.get_closest_marker("nightly")}
        left_out |= {*_repeated_queries(items), *_more_samples(items)}
        left_out |= {*_more_on_spark([item for item in items if item not in left_out])}
    if left_out:
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=list(left_out))


def pytest_collection_finish() -> None:
    """What is there by now stays: garbage is looked for among what comes later."""
    gc.collect()
    gc.freeze()


def _more_on_spark(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """Tests that need Spark after the first of their module, but for the corpus.

    A second or more goes into each query, and the local host runs what Spark's workers run.
    """
    taken: Counter[Path] = Counter()
    for item in items:
        if item.get_closest_marker("spark") and item.path.parent.name != "conformance":
            taken[item.path] += 1
            if taken[item.path] > 1:
                yield item


def _repeated_queries(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """Tests that feed a streaming query, and differ from one before only by their parameters."""
    seen = set()
    for item in items:
        if isinstance(item, pytest.Function) and {"feed", "sink"} & set(item.fixturenames):
            if item.function in seen:
                yield item
            seen.add(item.function)


def _more_samples(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """Four of five tests of a function whose parameters are samples, such as random seeds."""
    seen: Counter[Any] = Counter()
    for item in items:
        if isinstance(item, pytest.Function) and _is_sample(item):
            if seen[item.function] % ONE_OF:
                yield item
            seen[item.function] += 1


def _is_sample(item: pytest.Function) -> bool:
    return "seed" in _parameters(item) or item.get_closest_marker("samples") is not None


def _parameters(item: pytest.Function) -> Mapping[str, Any]:
    spec = getattr(item, "callspec", None)
    return {} if spec is None else spec.params


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium. It is closed with the module that asked."""
    with headless_chromium() as opened:
        yield opened


@pytest.fixture(scope="session")
def axe() -> Callable[[Any], list[str]]:
    """What axe-core finds on the page in a tab. npm fetches it where it is not kept yet."""
    return axe_findings


@pytest.fixture(scope="session")
def mypy(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., tuple[int, str]]:
    """Runs the type checker from the top of the checkout: exit status, and what it says.

    Tests that ask for it are marked ``xdist_group("mypy")``: what one run has found out of
    beamlike, the next one knows.
    """
    root, cache = Path(__file__).resolve().parents[1], tmp_path_factory.mktemp("mypy")

    def run(*arguments: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(cache), *arguments]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    return run


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """The one local session. Nothing of it is left when the tests are over.

    ``BEAMLIKE_TEST_REMOTE=local[2]``, or ``sc://host:port``, makes it one of Spark Connect.
    """
    from beamlike.hosts.spark.session import (
        AVAILABLE_NOW_WRAPPER,
        ROCKSDB,
        STATE_STORE,
        local_session,
    )

    if (remote := os.environ.get("BEAMLIKE_TEST_REMOTE")) is not None:
        from pyspark.sql import SparkSession

        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = SparkSession.builder.remote(remote).config(STATE_STORE, ROCKSDB)
        builder = builder.config("spark.sql.shuffle.partitions", 2)
        builder = builder.config(AVAILABLE_NOW_WRAPPER, "true")
        # For the server, if it starts here.
        builder = builder.config("spark.driver.memory", "4g").config("spark.ui.enabled", "false")
        session = builder.config(SESSION_ZONE, zone_of_run()).getOrCreate()
    else:
        session = local_session("beamlike tests")
    session.conf.set(SESSION_ZONE, zone_of_run())
    yield session
    session.stop()


@pytest.fixture
def setting(spark: Any) -> Iterator[Callable[[str, str], None]]:
    """Sets one of the session's settings, until the test is over."""
    before: dict[str, str | None] = {}

    def set_to(name: str, value: str) -> None:
        before.setdefault(name, spark.conf.get(name, None))
        spark.conf.set(name, value)

    yield set_to
    for name, value in before.items():
        spark.conf.unset(name) if value is None else spark.conf.set(name, value)


@pytest.fixture
def folders_for_kafka(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders take the place of Kafka's brokers."""
    from beamlike.hosts import kafka_connector
    from tests.support import topics

    spark.dataSource.register(topics.Topics)
    monkeypatch.setattr(kafka_connector, "FORMAT", topics.FORMAT)


@pytest.fixture(autouse=True)
def _session_of_host(request: pytest.FixtureRequest) -> None:
    """A test with the parameter ``host="spark"`` has the one session, also if it does not ask."""
    spec = getattr(request.node, "callspec", None)
    if spec is not None and spec.params.get("host") == "spark":
        request.getfixturevalue("spark")


@pytest.fixture
def utc_session(spark: Any) -> Iterator[Any]:
    """The session in UTC, as `local_session` makes it: where documentation prints what it says."""
    with session_zone(spark, "UTC"):
        yield spark


@pytest.fixture(
    params=["memory", pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.nightly])]
)
def host(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What to pass to `TestStream.run` so that a scenario runs on this host.

    On Spark it does at night: the scenarios of the conformance suite run there for each change.
    """
    if request.param == "memory":
        return {"host": "memory"}
    return {"host": "spark", "spark": request.getfixturevalue("spark")}
