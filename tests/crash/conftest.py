"""The modules of the command, for its own tests."""

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


class Modules:
    """The modules of the command, as they are found from the top of the checkout."""

    def __getattr__(self, name: str) -> ModuleType:
        return importlib.import_module(f"tests.crash.{name}")


@pytest.fixture
def crash(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT))
    return Modules()
