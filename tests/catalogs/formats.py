"""The formats, with the PySpark and the jars that run together."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import attrs

from tests.support.environments import BESIDE_PYSPARK, Requirement, cached_environment, run

_OF_CONNECT: Final = (
    *(("grpcio", "1.85.3"), ("grpcio-status", "1.85.3"), ("zstandard", "0.25.0")),
)
"""What PySpark needs besides for Spark Connect."""
_POM: Final = """\
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>io.beamlike</groupId><artifactId>catalogs</artifactId><version>1</version>
  <dependencies>{dependencies}</dependencies>
</project>
"""
_DEPENDENCY: Final = """
    <dependency>
      <groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>
      <exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>
    </dependency>"""


@attrs.frozen
class Format:
    """A format of tables.

    Attributes:
        name: What ``USING`` calls it.
        pyspark: The version of PySpark that its jar runs on.
        jars: Group, artifact and version of each jar.
        settings: Of the session; ``{home}`` is the folder of a trial.
        namespace: Where its tables are, with the dot behind.
    """

    name: str
    pyspark: str
    jars: tuple[tuple[str, str, str], ...]
    settings: Mapping[str, str]
    namespace: str

    def python(self, cache: Path) -> Path:
        """The Python of an environment with this PySpark; made if there is none."""
        beside = (*BESIDE_PYSPARK, *_OF_CONNECT)
        needed = [Requirement(*pair) for pair in (("pyspark", self.pyspark), *beside)]
        return cached_environment(f"catalogs-{self.name}", needed, cache)

    def class_path(self, cache: Path) -> str:
        """The jars, fetched if they are not in the cache."""
        home = cache / f"catalogs-{self.name}"
        folder = home / "jars"
        names = [f"{artifact}-{version}.jar" for _, artifact, version in self.jars]
        if not all((folder / name).exists() for name in names):
            home.mkdir(parents=True, exist_ok=True)
            pom = home / "pom.xml"
            dependencies = "".join(_DEPENDENCY.format(*jar) for jar in self.jars)
            pom.write_text(_POM.format(dependencies=dependencies), encoding="utf-8")
            command = ["mvn", "-q", "-B", "-f", pom, "dependency:copy-dependencies"]
            run([*command, f"-DoutputDirectory={folder}"], f"Maven for {self.name}", 1200)
        return os.pathsep.join(str(folder / name) for name in names)


FORMATS: Final[Mapping[str, Format]] = {
    "delta": Format(
        "delta",
        "4.2.0",
        (("io.delta", "delta-spark_4.2_2.13", "4.4.0"), ("io.delta", "delta-storage", "4.4.0")),
        {
            "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
            "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
            # A catalog that a driver which is started again finds.
            "spark.sql.catalogImplementation": "hive",
            "spark.hadoop.javax.jdo.option.ConnectionURL": (
                "jdbc:derby:;databaseName={home}/metastore;create=true"
            ),
            # A log of some commits is not worth 50 tasks.
            "spark.databricks.delta.snapshotPartitions": "1",
        },
        "",
    ),
    "iceberg": Format(
        "iceberg",
        "4.1.4",
        (("org.apache.iceberg", "iceberg-spark-runtime-4.1_2.13", "1.11.0"),),
        {
            "spark.sql.extensions": (
                "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
            ),
            "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
            "spark.sql.catalog.lake.type": "hadoop",
            "spark.sql.catalog.lake.warehouse": "{home}/lake",
        },
        "lake.web.",
    ),
}
