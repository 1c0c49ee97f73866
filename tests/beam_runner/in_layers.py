"""A plugin of pytest beside `plugin`: pipelines run through the layers of the Spark host without
Spark, in which all nodes travel as bytes and shards forget everything but their stores."""

from random import Random
from typing import Any

import pytest

from beamlike.runners.beam import runner
from beamlike.runners.beam.translation import Translation
from tests.support.pipelines.in_layers import run_in_letters


def pytest_configure(config: pytest.Config) -> None:
    def run_pipeline(nodes: Any, *args: Any, **kwargs: Any) -> Any:
        return run_in_letters(nodes, dice=Random(3))

    def translated(*args: Any, **kwargs: Any) -> Translation:
        return Translation(*args, **kwargs | {"on_spark": True, "clock": None})

    runner.run_pipeline = run_pipeline  # type: ignore[assignment]
    runner.Translation = translated  # type: ignore[assignment,misc]
