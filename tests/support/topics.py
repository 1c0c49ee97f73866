"""A format with the options and columns of Spark's ``kafka``, whose servers are a folder.

A topic is a file of lines of JSON: key and value in hexadecimal digits, or null, the partition,
seconds from the first of January 2026 on, and headers.
"""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceWriter
from pyspark.sql.datasource import WriterCommitMessage as Message

FORMAT: Final = "beamlike topics"
START: Final = datetime(2026, 1, 1, tzinfo=UTC)
HEADERS: Final = "array<struct<key: string, value: binary>>"

Record = tuple[bytes | None, bytes | None, dict[str, str]]


def send(
    folder: Path, topic: str, *records: tuple[bytes | None, bytes | None], seconds: float = 40
) -> None:
    """Put records into partition 0 of a topic, so many seconds apart."""
    lines = [[_hex(key), _hex(value)] for key, value in records]
    text = "".join(
        json.dumps([*line, 0, index * seconds, {"trace": str(index)}]) + "\n"
        for index, line in enumerate(lines)
    )
    (folder / topic).write_text(text)


def received(folder: Path, topic: str) -> list[Record]:
    """The records that were written to a topic, in the order of one task."""
    place = folder / "written"
    paths = sorted(place.iterdir()) if place.exists() else []
    lines = [json.loads(line) for path in paths for line in path.read_text().splitlines()]
    return [
        (_bytes(key), _bytes(value), dict(headers))
        for name, key, value, headers in lines
        if name == topic
    ]


def _hex(data: bytes | None) -> str | None:
    return None if data is None else bytes(data).hex()


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)


class Topics(DataSource):
    """Stands for ``kafka``, a name that Spark lets no other have."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> str:
        return (
            "key binary, value binary, topic string, partition int, offset long, "
            f"timestamp timestamp, timestampType int, headers {HEADERS}"
        )

    def reader(self, schema: Any) -> DataSourceReader:
        return _Reader(self.options)

    def writer(self, schema: Any, overwrite: bool) -> DataSourceWriter:
        assert not overwrite
        return _Writer(self.options)


class _Reader(DataSourceReader):
    def __init__(self, options: Any) -> None:
        self.folder = Path(options["kafka.bootstrap.servers"])
        self.topics: Sequence[str] = options["subscribe"].split(",")
        self.has_headers = options.get("includeHeaders") == "true"

    def read(self, partition: Any) -> Iterator[tuple[Any, ...]]:
        for topic in self.topics:
            for offset, line in enumerate((self.folder / topic).read_text().splitlines()):
                key, value, part, seconds, headers = json.loads(line)
                time = START + timedelta(seconds=seconds)
                pairs = [(name, text.encode()) for name, text in headers.items()]
                pairs = pairs if self.has_headers else None
                yield _bytes(key), _bytes(value), topic, part, offset, time, 0, pairs


class _Writer(DataSourceWriter):
    def __init__(self, options: Any) -> None:
        self.folder = Path(options["kafka.bootstrap.servers"]) / "written"
        self.topic = options.get("topic")

    def write(self, iterator: Iterator[Any]) -> Message:
        lines = [
            [
                *(topic or self.topic, _hex(key), _hex(value)),
                [[header.key, bytes(header.value).decode()] for header in headers],
            ]
            for topic, key, value, headers in map(_fields, iterator)
        ]
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / uuid4().hex).write_text("".join(json.dumps(line) + "\n" for line in lines))
        return Message()


def _fields(row: Any) -> tuple[Any, ...]:
    fields = row.asDict()
    return fields.get("topic"), row.key, row.value, fields.get("headers") or ()
