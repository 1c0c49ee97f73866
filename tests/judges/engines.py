"""The engines that judge the scenarios, and how each is run."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import attrs

from tests.judges.building import class_path
from tests.support.environments import Requirement, cached_environment, run

_HERE: Final = Path(__file__).parent


@attrs.frozen
class Engine:
    """An engine that reads scenario files and writes one document with what came out.

    Attributes:
        name: What it is called on the command line.
        title: What it is called in tables.
        dialect: The system whose cases it judges; None: the scenarios of Beam's model; ``plain``:
            only the questions, as they stand.
        plays_random: Whether random scenarios are for it.
        keys: The keys of its random scenarios.
        asks_rules: Whether it is asked for the rules that are not streams.
    """

    name: str
    title: str
    dialect: str | None = None
    plays_random: bool = True
    keys: tuple[str, ...] = ("a",)
    asks_rules: bool = False

    @property
    def steps_each(self) -> int:
        """How many steps an element of a question has in its words."""
        return 2 if self.dialect in (None, "flink") else 1

    def command(self, cache: Path) -> list[str | Path]:
        """The program and its first arguments; what it needs is installed and built."""
        raise NotImplementedError

    def play(self, files: Sequence[Path], results: Path, cache: Path, seconds: float) -> None:
        """Play files, and write the results."""
        command = self.command(cache)
        run([*command, results, *files], self.title, seconds)


@attrs.frozen
class JavaEngine(Engine):
    """An engine of the JVM: an adapter in Java, compiled here.

    The second compiler of Java takes more time than it saves: scenarios are short.
    """

    folder: str = ""
    main: str = ""
    arguments: tuple[str, ...] = ()

    def command(self, cache: Path) -> list[str | Path]:
        path = class_path(_HERE / self.folder, cache)
        java = ("java", "-Xmx1500m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
        return [*java, "-cp", path, self.main, *self.arguments]


@attrs.frozen
class PythonEngine(Engine):
    """An engine of Python: a script, run in an environment of its own."""

    folder: str = ""
    needed: tuple[Requirement, ...] = ()

    def command(self, cache: Path) -> list[str | Path]:
        python: str | Path = sys.executable
        if self.needed:
            python = cached_environment(self.name, self.needed, cache)
        return [python, _HERE / self.folder / "adapter.py"]


ENGINES: Final[dict[str, Engine]] = {
    engine.name: engine
    for engine in (
        JavaEngine(
            "beam_java",
            "Beam Java, DirectRunner",
            asks_rules=True,
            folder="beam_java",
            main="BeamJava",
            arguments=("direct",),
        ),
        JavaEngine(
            "beam_core",
            "Beam Java, runners-core",
            keys=("a", "b"),
            folder="beam_java",
            main="BeamJava",
            arguments=("core",),
        ),
        JavaEngine(
            "kafka_streams",
            "Kafka Streams",
            dialect="kafka",
            folder="kafka_streams",
            main="KafkaStreamsJudge",
        ),
        JavaEngine("flink", "Flink", dialect="flink", folder="flink", main="FlinkJudge"),
        PythonEngine(
            "beam_python",
            "Beam Python, its streaming runner",
            plays_random=False,
            asks_rules=True,
            folder="beam_python",
            needed=(Requirement("apache-beam", "2.77.0"),),
        ),
        PythonEngine("spark", "Spark's own windows", dialect="plain", folder="spark"),
        PythonEngine(
            "bytewax",
            "Bytewax",
            dialect="plain",
            folder="bytewax",
            needed=(Requirement("bytewax", "0.21.1"),),
        ),
        PythonEngine(
            "pathway",
            "Pathway",
            dialect="plain",
            folder="pathway",
            needed=(Requirement("pathway", "0.33.0"),),
        ),
    )
}
"""The engines by their names."""
