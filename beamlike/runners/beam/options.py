"""The options of `BeamlikeRunner`, for ``PipelineOptions``."""

from typing import Any

from apache_beam.options.pipeline_options import PipelineOptions


class BeamlikeOptions(PipelineOptions):  # type: ignore[misc]
    """Where and how `BeamlikeRunner` runs a pipeline."""

    @classmethod
    def _add_argparse_args(cls, parser: Any) -> None:
        parser.add_argument(
            "--beamlike_host",
            choices=("local", "memory", "spark"),
            default="local",
            help="local and memory run the pipeline in this process; spark on Spark",
        )
        parser.add_argument(
            "--checkpoint",
            default=None,
            help="the folder that a stream on Spark restarts from",
        )
        parser.add_argument(
            "--shards",
            type=int,
            default=None,
            help="over how many groups Spark spreads the keys of a grouping",
        )
        parser.add_argument(
            "--trigger_interval",
            default=None,
            help="how often a stream on Spark starts a micro-batch, such as '1 second'",
        )
