"""Run the trials against a real broker: ``python -m tests.kafka [TRIAL ...]``.

Maven fetches Kafka and Spark's connector, pip the PySpark that this one is made for, into a cache
folder. What came of each trial is kept in ``LATEST.md``.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.kafka.broker import CONNECTOR, KAFKA, broker, class_path
from tests.support.commands import command_parser
from tests.support.environments import (
    BESIDE_PYSPARK,
    NotHere,
    Requirement,
    cache_folder,
    cached_environment,
)
from tests.support.latest import Latest

ROOT: Final = Path(__file__).resolve().parents[2]
TRIALS: Final = (
    "there and back",
    "a partition that lags",
    "from a time on",
    "what is refused",
    "the page",
    "avro",
    "windows that are over",
    "a million events",
    "a driver that dies around a commit",
)
PYSPARK: Final = "4.2.0"
"""The last for which the connector is served."""
LATEST: Final = Latest(
    Path(__file__).with_name("LATEST.md"),
    f"""# The latest trials of Kafka

`python -m tests.kafka`, with a broker {KAFKA[0][2]} on loopback and PySpark {PYSPARK}.

""",
    ("trial", "result", "seen", "on"),
)
FAILED: Final = "kafka-failed.log"
"""What a run said in which a trial failed, in the cache folder."""
_SECONDS: Final = 3600
_SAID: Final = re.compile(r"^.+: holds, ")
"""Lines of trials, as against those of Java."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the trials; 1 if one of them fails."""
    parser = command_parser("tests.kafka", __doc__)
    parser.add_argument("trial", nargs="*", choices=[*TRIALS, []], help="by default all")
    parser.add_argument("--cache", help="the folder for what is fetched")
    parser.add_argument("--python", type=Path, help="a Python with this PySpark, in place of one")
    options = parser.parse_args(arguments)
    try:
        said = play(options.trial or TRIALS, cache_folder(options.cache), options.python)
    except NotHere as reason:
        print(f"Kafka is left out: {reason}")
        return 0
    print(said)
    held = re.findall(r"^(.+): holds, (\d+) s \| (.*)$", said, re.MULTILINE)
    for name, seconds, detail in held:
        LATEST.keep(name, f"holds, {seconds} s", detail, order=TRIALS)
    return int(len(held) < len(options.trial or TRIALS))


def play(trials: Sequence[str], cache: Path, python: Path | None = None) -> str:
    """What the trials print, against a broker that is started and stopped for them."""
    kafka, connector = (
        class_path("kafka-broker", KAFKA, cache),
        class_path("kafka-connector", CONNECTOR, cache),
    )
    needed = [Requirement(*pair) for pair in (("pyspark", PYSPARK), *BESIDE_PYSPARK)]
    python = python or cached_environment("kafka", needed, cache)
    with (
        tempfile.TemporaryDirectory(prefix="beamlike-kafka-") as home,
        broker(kafka, Path(home)) as servers,
    ):
        ran = subprocess.run(
            [python, "-m", "tests.kafka.trials", servers, home, *trials],
            cwd=ROOT,
            env=os.environ
            | {
                "BEAMLIKE_JARS": connector,
                "PYTHONPATH": str(ROOT),
                "SPARK_LOCAL_IP": "127.0.0.1",
                "PYSPARK_PYTHON": str(python),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=_SECONDS,
        )
    if ran.returncode:
        (cache / FAILED).write_text(ran.stdout, encoding="utf-8")
        print(f"all that was said is in {cache / FAILED}")
    lines = [line[:400] for line in ran.stdout.splitlines()]
    return "\n".join(line for line in lines if _SAID.search(line) or ran.returncode)


if __name__ == "__main__":
    sys.exit(main())
