"""Puts the questions to Spark's own ``window`` and ``session_window`` in a streaming query.

``adapter.py OUT.json FILE...`` writes one document with what came out. Each element is a file, and
so a micro-batch.
"""

import json
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F


class Unsupported(Exception):
    """Spark cannot express the question."""


def windowed(df: DataFrame, question: Mapping[str, Any]) -> DataFrame:
    """The sums of a question's windows."""
    window, time = question["window"], F.timestamp_millis("ts_ms")
    delay = question["delay"] + question["lateness"]
    rows = df.withColumn("at", time).withWatermark("at", f"{delay} milliseconds")
    if window["type"] == "session":
        if question["early"]:
            raise Unsupported("session_window refuses the output mode update")
        column = F.session_window("at", f"{window['gap_ms']} milliseconds")
    else:
        slide = window.get("slide_ms", window["size_ms"])
        column = F.window("at", f"{window['size_ms']} milliseconds", f"{slide} milliseconds")
    return rows.groupBy(column.alias("w"), "key").agg(F.sum("value").alias("value"))


def play(spark: SparkSession, question: Mapping[str, Any]) -> dict[str, Any]:
    """What comes of a question."""
    rows: list[dict[str, Any]] = []

    def note(batch: DataFrame, number: int) -> None:
        bounds = [(F.unix_millis(f"w.{name}")).alias(name) for name in ("start", "end")]
        for row in batch.select("key", "value", *bounds).orderBy("start").collect():
            rows.append(
                {
                    "step": number,
                    "kind": "value",
                    "key": row["key"],
                    "value": row["value"],
                    "window": [row["start"], row["end"]],
                    "ts_ms": None,
                }
            )

    with tempfile.TemporaryDirectory() as home:
        for number, element in enumerate(question["elements"]):
            file = Path(home, f"{number}.json")
            file.write_text(json.dumps(element), encoding="utf-8")
            os.utime(file, (1_000_000 + number, 1_000_000 + number))
        stream = spark.readStream.schema("key string, value long, ts_ms long")
        df = stream.option("maxFilesPerTrigger", 1).json(home)
        try:
            query = (
                windowed(df, question)
                .writeStream.outputMode("update" if question["early"] else "append")
                .foreachBatch(note)
                .trigger(availableNow=True)
                .start()
            )
            query.awaitTermination()
        except Unsupported as reason:
            return {"id": question["id"], "unsupported": str(reason)}
        except Exception as error:
            return {"id": question["id"], "error": str(error).splitlines()[0][:200]}
    return {"id": question["id"], "rows": rows}


def main() -> None:
    """Play the questions of the files, and write the document."""
    target, *files = sys.argv[1:]
    questions = [load for file in files for load in json.loads(Path(file).read_text("utf-8"))]
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    for name in ("spark.sql.shuffle.partitions", "spark.sql.session.timeZone"):
        builder = builder.config(name, "UTC" if "Zone" in name else "1")
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    answers = [play(spark, question) for question in questions]
    document = {"engine": "Spark", "version": pyspark.__version__, "scenarios": answers}
    Path(target).write_text(json.dumps(document), encoding="utf-8")
    spark.stop()


if __name__ == "__main__":
    main()
