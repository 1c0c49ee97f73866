"""What the tests of the application assert beside collections."""

from beamlike.api.pipelines.metrics import Counter, MetricResults
from beamlike.hosts.pipeline import PipelineRun
from beamlike.scio import ScioContext


def expect_counter(sc: ScioContext, counter: Counter, wanted: int) -> None:
    """Assert what a counter ends at, over all transforms, when the pipeline has run."""

    def ask(run: PipelineRun) -> str | None:
        found = MetricResults(run.metrics).query()["counters"]
        value = sum(it.committed for it in found if it.key.metric == counter.name)
        return None if value == wanted else f"{counter.name} is {value}, not {wanted}"

    sc.pipeline.checks.open()(ask)
