"""Scenarios that read and write files, on each host."""

from pathlib import Path
from typing import Any, Final

import pytest

__all__ = ["HOSTS", "files_in", "read_by"]

HOSTS: Final = pytest.mark.parametrize(
    "host", ["memory", "local", pytest.param("spark", marks=pytest.mark.spark)]
)


def read_by(host: str, request: pytest.FixtureRequest) -> Any:
    """The session of tests if the host needs one."""
    return request.getfixturevalue("spark") if host == "spark" else None


def files_in(folder: Path) -> dict[str, str]:
    """All files below a folder, also hidden ones, with what is in them."""
    found = sorted(it for it in folder.rglob("*") if it.is_file())
    return {it.relative_to(folder).as_posix(): it.read_text("utf-8") for it in found}
