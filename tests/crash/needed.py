"""What a work needs that not every environment has: servers, and a Python with other packages.

Each is at hand, or says why not: its works are then left out, with a line.
"""

import contextlib
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import attrs

from tests.support.environments import (
    BESIDE_PYSPARK,
    NotHere,
    Requirement,
    cache_folder,
    cached_environment,
    has_environment,
)

SERVER_OF_KAFKA: Final = "BEAMLIKE_CRASH_KAFKA"
SERVER_OF_POSTGRES: Final = "BEAMLIKE_CRASH_POSTGRES"
JARS: Final = "BEAMLIKE_JARS"
"""The class path of Spark's connector, in the environment of a child."""


@attrs.frozen
class AtHand:
    """What the children of a work are started with."""

    python: str = sys.executable
    environment: Mapping[str, str] = {}


Need = Callable[[Path | None, Path], contextlib.AbstractContextManager[AtHand]]


@contextlib.contextmanager
def _nothing(python: Path | None, home: Path) -> Iterator[AtHand]:
    yield AtHand(str(python or sys.executable))


@contextlib.contextmanager
def _beam(python: Path | None, home: Path) -> Iterator[AtHand]:
    chosen = str(python or sys.executable)
    if subprocess.run([chosen, "-c", "import apache_beam"], capture_output=True).returncode:
        raise NotHere(f"{chosen} has no Apache Beam SDK")
    yield AtHand(chosen)


@contextlib.contextmanager
def _postgres(python: Path | None, home: Path) -> Iterator[AtHand]:
    from tests.support.landing.servers import postgres_programs, postgres_server

    if postgres_programs() is None:
        raise NotHere("PostgreSQL is not installed")
    with postgres_server() as server:
        yield AtHand(str(python or sys.executable), {SERVER_OF_POSTGRES: server})


@contextlib.contextmanager
def _kafka(python: Path | None, home: Path) -> Iterator[AtHand]:
    from tests.kafka.__main__ import PYSPARK
    from tests.kafka.broker import CONNECTOR, KAFKA, broker, class_path

    cache = cache_folder()
    needed = [Requirement(*pair) for pair in (("pyspark", PYSPARK), *BESIDE_PYSPARK)]
    fetched = [cache / name / "class_path.txt" for name in ("kafka-broker", "kafka-connector")]
    if not all(path.exists() for path in fetched) or not (
        python or has_environment("kafka", needed, cache)
    ):
        raise NotHere("python -m tests.kafka has not fetched a broker yet")
    jars, connector = (
        class_path("kafka-broker", KAFKA, cache),
        class_path("kafka-connector", CONNECTOR, cache),
    )
    chosen = python or cached_environment("kafka", needed, cache)
    folder = home / "broker"
    folder.mkdir(parents=True, exist_ok=True)
    with broker(jars, folder) as server:
        yield AtHand(str(chosen), {SERVER_OF_KAFKA: server, JARS: connector})


NEEDS: Final[Mapping[str, Need]] = {
    "": _nothing,
    "beam": _beam,
    "postgres": _postgres,
    "kafka": _kafka,
}


@contextlib.contextmanager
def all_at_hand(
    needs: Sequence[str], pythons: Mapping[str, Path], home: Path
) -> Iterator[tuple[Mapping[str, AtHand], Sequence[str]]]:
    """What is at hand of some needs until the block ends, and why the rest is not, in words."""
    with contextlib.ExitStack() as servers:
        at_hand, missing = dict[str, AtHand](), list[str]()
        for need in needs:
            try:
                at_hand[need] = servers.enter_context(NEEDS[need](pythons.get(need), home))
            except (NotHere, OSError) as reason:
                missing.append(f"{need} is left out: {reason}")
        yield at_hand, missing
