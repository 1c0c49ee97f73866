"""Every scenario of the conformance suite on Spark: one streaming query runs them side by side."""

from pathlib import Path
from typing import Any

import pytest

from beamlike.runtime.script import Run
from beamlike.testing.scenarios.files import Scenario, differences
from tests.support.corpus import scenarios_of

pytestmark = pytest.mark.spark

CASES = Path(__file__).parent / "cases"
SCENARIOS = {
    scenario.id: scenario
    for file in sorted(CASES.glob("*/*.json"))
    for scenario in scenarios_of(file)
    if not scenario.contested
}


@pytest.fixture(scope="module")
def runs(spark: Any) -> dict[str, Run]:
    """What came out of each scenario. Step n of all of them is one micro-batch."""
    from beamlike.hosts.spark.graph.query import replay_on_spark

    stages = [
        (s.strategy.window_fn if s.combine is None else s.strategy, s.combine, s.script)
        for s in SCENARIOS.values()
    ]
    return dict(zip(SCENARIOS, replay_on_spark(stages, spark), strict=True))


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=list(SCENARIOS))
def test_all_panes_and_drops_are_those_expected(scenario: Scenario, runs: dict[str, Run]) -> None:
    assert differences(scenario, runs[scenario.id]) == []
