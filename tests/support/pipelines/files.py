"""Scenarios that read and write files, on each host."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from beamlike.beam import Pipeline

HOSTS: Final = pytest.mark.parametrize(
    "host", ["memory", "local", pytest.param("spark", marks=pytest.mark.spark)]
)


@contextmanager
def writing(host: Any) -> Iterator[Pipeline]:
    """A pipeline that writes, as a program has it: on Spark nothing that comes out is kept."""
    pipeline = Pipeline()
    yield pipeline
    pipeline.run(host)


def files_in(folder: Path) -> dict[str, str]:
    """All files below a folder, also hidden ones, with what is in them."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {it.relative_to(folder).as_posix(): it.read_text("utf-8") for it in found}
