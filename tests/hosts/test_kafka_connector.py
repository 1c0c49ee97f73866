"""What Spark raises of its Kafka connector, in plain words."""

import pytest

from beamlike.errors import EnvironmentProblem, PipelineError
from beamlike.hosts import kafka_connector


@pytest.mark.parametrize(
    ("words", "kind", "problem"),
    [
        (
            "Kafka option 'enable.auto.commit' is not supported as Kafka source doesn't commit any "
            "offsets.",
            PipelineError,
            "read: Spark refuses an option: Kafka option 'enable.auto.commit'",
        ),
        ("[DATA_SOURCE_NOT_FOUND] kafka", EnvironmentProblem, "needs Spark's Kafka connector"),
    ],
)
def test_an_error_of_spark_is_taken_for_what_it_is(
    words: str, kind: type[Exception], problem: str
) -> None:
    from pyspark.errors import AnalysisException, IllegalArgumentException

    raised = IllegalArgumentException if kind is PipelineError else AnalysisException
    with pytest.raises(kind, match=problem):
        kafka_connector.refused(raised(words), "read")
    other = AnalysisException("the kafka topic has another problem")
    with pytest.raises(AnalysisException, match="another problem"):
        kafka_connector.refused(other, "read")
