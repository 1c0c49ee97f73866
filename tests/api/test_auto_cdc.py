"""Auto CDC of Spark Declarative Pipelines, fed by a grouping, keeps the results that stand.

Its target has to take MERGE, which none of Spark's own catalogs does. Auto CDC came with Spark 4.3,
for which neither Delta Lake nor Iceberg has a jar: the catalog of ``tests/support/merging`` is
compiled here in their place. Everywhere else `tests.catalogs` has the jars.
"""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pyspark
import pytest

import beamlike as bl
from beamlike.testing import QueryTest
from tests.api.test_declarative_pipelines import FIRST, HITS, SECOND, run

pytestmark = [
    pytest.mark.spark,
    pytest.mark.nightly,
    pytest.mark.skipif(
        shutil.which("javac") is None
        or tuple(map(int, pyspark.__version__.split(".")[:2])) < (4, 3),
        reason="Auto CDC came with Spark 4.3, and the catalog needs javac",
    ),
]

Row = dict[str, Any]
CATALOG = Path(__file__).resolve().parents[1] / "support" / "merging" / "MergingCatalog.java"
DEFAULTS = """\
spark.driver.extraClassPath {classes}
spark.sql.catalog.merging MergingCatalog
spark.sql.catalog.merging.home {home}
"""
DEFINITIONS = """\
from pyspark import pipelines as dp
from pyspark.sql import SparkSession

from tests.api.test_auto_cdc import HITS, visits

spark = SparkSession.active()
hits = spark.readStream.schema(HITS).option("maxFilesPerTrigger", 1).json({inbox!r})
changes_of_hits = visits(hits).rows.selectExpr(
    "user", "window.start AS start", "window.end AS end", "n", "change",
    "coalesce(pane.index, bigint(9223372036854775807)) AS sequence",
)


@dp.table(name="changes")
def changes():
    return changes_of_hits


dp.create_streaming_table("merging.default.standing")
dp.create_auto_cdc_flow(
    target="merging.default.standing",
    source="changes",
    keys=["user", "start", "end"],
    sequence_by="sequence",
    apply_as_deletes="change = 'delete'",
    except_column_list=["change", "sequence"],
    stored_as_scd_type=1,
)
"""


def visits(hits: Any) -> bl.Stream:
    rows = bl.stream(hits, timestamp="at", watermark="0 s").window(
        bl.Sessions("10 minutes"), **bl.every_update("1 day")
    )
    wanted = {"n": bl.count()}
    return rows.group("user", wanted, name="visits", render="changelog", shards=2, buckets=2)


def standing(rows: list[Row]) -> list[tuple[str, int, int, int]]:
    """What stands after these changes: user, window (us), number of hits."""
    found: dict[tuple[str, int, int], int] = {}
    for row in rows:
        span = (round(row["window"][end].timestamp() * 1_000_000) for end in ("start", "end"))
        if row["change"] == "delete":
            del found[row["user"], *span]
        else:
            found[row["user"], *span] = row["n"]
    return sorted((*key, n) for key, n in found.items())


def test_the_table_has_the_visits_that_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folders = conf, classes, tables = [tmp_path / name for name in ("conf", "classes", "tables")]
    for folder in folders:
        folder.mkdir()
    jars = Path(pyspark.__file__).parent / "jars"
    subprocess.run(["javac", "-nowarn", "-cp", f"{jars}/*", "-d", classes, CATALOG], check=True)
    (conf / "spark-defaults.conf").write_text(DEFAULTS.format(classes=classes, home=tables))
    monkeypatch.setenv("SPARK_CONF_DIR", str(conf))
    run(tmp_path, DEFINITIONS.format(inbox=str(tmp_path / "in")))

    names, *lines = (tables / "standing.tsv").read_text().splitlines()
    columns = names.split("\t")
    came = [dict(zip(columns, line.split("\t"), strict=True)) for line in lines]
    with QueryTest(visits, HITS) as query:
        expected = standing([*query.send(*FIRST), *query.send(*SECOND)])
    assert expected
    assert (
        sorted((row["user"], *(int(row[name]) for name in ("start", "end", "n"))) for row in came)
        == expected
    )
