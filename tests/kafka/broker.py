"""A broker of Kafka on this machine: one JVM of 512 MB, on loopback, with files of its own.

Maven fetches the broker and Spark's connector into a cache folder.
"""

import os
import shutil
import subprocess
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.support.environments import NotHere, run
from tests.support.listening import DoesNotListen, free_port, listening

KAFKA: Final = (("org.apache.kafka", "kafka_2.13", "4.4.0", True),)
"""Group, artifact, version, and whether with what it needs itself."""
CONNECTOR: Final = (
    ("org.apache.spark", "spark-sql-kafka-0-10_2.13", "4.2.0", False),
    ("org.apache.spark", "spark-token-provider-kafka-0-10_2.13", "4.2.0", False),
    ("org.apache.spark", "spark-avro_2.13", "4.2.0", False),
    ("org.apache.kafka", "kafka-clients", "3.9.2", True),
    ("org.apache.commons", "commons-pool2", "2.12.0", True),
)
_POM: Final = """<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion>
<groupId>beamlike</groupId><artifactId>{name}</artifactId><version>1</version>
<dependencies>{dependencies}</dependencies>
</project>
"""
_ALONE: Final = (
    "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
)
_SETTINGS: Final = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={home}/logs
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
log.retention.ms=-1
"""
_STARTS_WITHIN: Final = 90


def class_path(name: str, jars: tuple[tuple[str, str, str, bool], ...], cache: Path) -> str:
    """The jars of these artifacts, fetched if they are not in the cache."""
    for program in ("mvn", "java"):
        if shutil.which(program) is None:
            raise NotHere(f"{program} is not installed")
    home = cache / name
    home.mkdir(parents=True, exist_ok=True)
    pom, listed = home / "pom.xml", home / "class_path.txt"
    dependencies = "".join(
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
        f"<version>{version}</version>{'' if needs_others else _ALONE}</dependency>"
        for group, artifact, version, needs_others in jars
    )
    text = _POM.format(name=name, dependencies=dependencies)
    if not listed.exists() or pom.read_text(encoding="utf-8") != text:
        pom.write_text(text, encoding="utf-8")
        command = ["mvn", "-q", "-B", "-f", pom, "dependency:build-classpath"]
        run([*command, f"-Dmdep.outputFile={listed}"], f"Maven for {name}", 1200)
    return listed.read_text(encoding="utf-8").strip()


@contextmanager
def broker(jars: str, home: Path) -> Iterator[str]:
    """A broker that runs until the end of the block; its address.

    Args:
        jars: The class path of Kafka.
        home: A folder for its files; those of a broker before are gone on with.
    """
    port, controller = free_port(), free_port()
    settings = home / "server.properties"
    settings.write_text(
        _SETTINGS.format(home=home, port=port, controller=controller), encoding="utf-8"
    )
    java = ["java", "-Xmx512m", "-cp", jars]
    identity = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    if not (home / "logs" / "meta.properties").exists():  # else it goes on with what it has
        tool = "kafka.tools.StorageTool"
        identified = f"--cluster-id={identity}"  # one in 64 begins with a dash
        run([*java, tool, "format", identified, "-c", settings], "the storage of Kafka", 120)
    with (home / "broker.log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen([*java, "kafka.Kafka", settings], stdout=log, stderr=log)
    try:
        with listening(process, port, _STARTS_WITHIN):
            yield f"127.0.0.1:{port}"
    except DoesNotListen as problem:
        raise NotHere(f"the broker: {problem}, on {os.uname()[0]}") from problem
