"""What a Spark host needs of a machine, and what it says when something is missing."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from beamlike.errors import EnvironmentProblem
from beamlike.hosts.spark import session
from beamlike.hosts.spark.ticks import ticks


def fake_java(folder: Path, report: str) -> Path:
    """A java that only tells its version, as java does, on the error stream."""
    folder.mkdir(parents=True)
    java = folder / "java"
    java.write_text(f"#!/bin/sh\nprintf '%s\\n' '{report}' >&2\n")
    java.chmod(0o755)
    return java


def refusal() -> str:
    with pytest.raises(EnvironmentProblem) as problem:
        session.check_environment()
    return str(problem.value)


def test_without_java_it_says_how_to_install_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert refusal() == (
        "Spark needs Java 17 or later, and there is no java on PATH; install a JRE, for example "
        '"apt-get install openjdk-17-jre-headless" or "brew install openjdk@17"'
    )


def test_a_java_home_without_java_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))

    assert refusal() == (
        f"Spark needs Java 17 or later, and JAVA_HOME is {str(tmp_path)!r}, which has no bin/java; "
        'install a JRE, for example "apt-get install openjdk-17-jre-headless" or "brew install '
        'openjdk@17"'
    )


def test_an_old_java_is_named_with_its_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    java = fake_java(tmp_path / "bin", 'openjdk version "11.0.21" 2023-10-17')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))

    assert refusal() == (
        f"Spark needs Java 17 or later, and {java} is Java 11; install a newer JRE, for example "
        '"apt-get install openjdk-17-jre-headless", and point JAVA_HOME to it'
    )


def test_a_session_is_not_even_tried_without_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))

    with pytest.raises(EnvironmentProblem):
        session.local_session()


@pytest.mark.parametrize(
    ("report", "version"),
    [
        ('openjdk version "17.0.9" 2023-10-17', 17),
        ('java version "1.8.0_392"', 8),
        ('openjdk version "21" 2023-09-19', 21),
        ("a toaster", None),
    ],
)
def test_the_version_of_java_is_read_in_its_old_and_its_new_form(
    tmp_path: Path, report: str, version: int | None
) -> None:
    assert session.java_version(str(fake_java(tmp_path / "bin", report))) == version


def test_a_java_whose_version_cannot_be_read_is_tried(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake_java(tmp_path / "bin", "a toaster")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))

    session.check_environment()  # not refused: Spark will say what is wrong with it, if anything

    assert session.java_version(str(tmp_path / "nothing")) is None


def test_an_old_pyspark_is_refused_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setattr("pyspark.__version__", "4.0.1")

    assert refusal() == (
        "the Spark host needs PySpark 4.1 or later, and this is 4.0.1; run: "
        'pip install -U "pyspark>=4.1"'
    )


class SparkOfVersion:
    """A session as far as it is asked for its version and its settings."""

    def __init__(self, version: str, **settings: str) -> None:
        self.version, self.conf = version, settings


def test_a_spark_that_would_take_the_backlog_at_once_gets_no_ticks() -> None:
    for settings in ({}, {session.AVAILABLE_NOW_WRAPPER: "false"}):
        old: Any = SparkOfVersion("4.1.2", **settings)
        with pytest.raises(EnvironmentProblem) as refused:
            ticks(old, 1000)

        assert str(refused.value) == (
            "a trigger on processing time or idle_after adds a source of ticks to the query, with "
            "which Spark 4.1.2 gives no panes under trigger(availableNow=True); add "
            '.config("spark.sql.streaming.triggerAvailableNowWrapper.enabled", "true") to the '
            "builder of the session, or call spark.conf.set with the same before the query starts, "
            "or use Spark 4.2 or later"
        )

    fit: list[Any] = [
        SparkOfVersion("4.1.2", **{session.AVAILABLE_NOW_WRAPPER: "true"}),
        SparkOfVersion("4.2.0"),
        SparkOfVersion("4.10.0.dev1"),
    ]
    for spark in fit:
        session.refuse(session.available_now_problem(spark))


def test_beside_a_session_of_spark_connect_it_says_what_to_use(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")

    with pytest.raises(EnvironmentProblem) as problem:
        session.local_session()

    assert str(problem.value) == (
        "local_session starts Spark in this process, which has a session of Spark Connect; use "
        "that one, SparkSession.builder.getOrCreate(), or start another process"
    )


@pytest.mark.spark
def test_a_session_that_runs_takes_settings_of_a_query_and_refuses_those_of_its_start(spark: Any):
    setting = "spark.sql.session.timeZone"
    zone = spark.conf.get(setting)

    assert session.local_session(conf={setting: zone}).conf.get(setting) == zone
    with pytest.raises(EnvironmentProblem) as problem:
        session.local_session(packages=["org.example:connector:1.0"])

    assert str(problem.value) == (
        "local_session: Spark runs already, with spark.jars.packages = None, and takes "
        "'org.example:connector:1.0' only as it starts; stop the session before, spark.stop()"
    )


@pytest.mark.parametrize("short_lived", [False, True])
def test_the_garbage_collector_of_the_user_goes_before_that_of_beamlike(
    short_lived: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS"):
        monkeypatch.delenv(name, raising=False)

    def collectors(asked: str = "") -> list[str]:
        options = session.java_options(asked, short_lived).split()
        return [option for option in options if option.endswith("GC")]

    assert collectors() == ["-XX:+UseSerialGC" if short_lived else "-XX:+UseParallelGC"]
    assert collectors("-Xms1g -XX:+UseZGC") == ["-XX:+UseZGC"]
    monkeypatch.setenv("JDK_JAVA_OPTIONS", "-XX:+UseG1GC")
    assert collectors() == []


@pytest.mark.nightly
@pytest.mark.spark
def test_options_of_java_are_taken_beside_those_of_spark_and_of_beamlike() -> None:
    script = (
        "import beamlike as bl\n"
        "name, heap = 'spark.driver.extraJavaOptions', '-Xms256m -Dcolour=blue'\n"
        "spark = bl.local_session(conf={name: heap})\n"
        "again = bl.local_session(conf={name: heap})\n"
        "java = spark.sparkContext._jvm.java.lang.System\n"
        "print(java.getProperty('colour'), java.getProperty('log4j2.configurationFile'))\n"
    )

    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)

    colour, log = ran.stdout.split()
    assert (colour, log.rsplit("/", 1)[1]) == ("blue", "log4j2.properties"), ran.stderr
