"""The options of `BeamlikeRunner`, for ``PipelineOptions``, and what others mean on Spark."""

from typing import Any

from apache_beam.options.pipeline_options import PipelineOptions, SetupOptions

from beamlike.errors import PipelineError
from beamlike.runtime.graph.main_program import MainProgram


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


def main_program_of(options: Any) -> MainProgram:
    """What goes to Spark's workers of the main program besides what functions use: its classes,
    and its functions if ``--save_main_session`` asks for them.

    Raises:
        PipelineError: The functions are pickled by what leaves those of the main program behind.
    """
    setup = options.view_as(SetupOptions)
    library: str = setup.pickle_library
    if library.startswith("dill"):
        raise PipelineError(
            f"--pickle_library={library} leaves the functions of the main program behind, and "
            "Spark's workers have no copy of it; leave it out: Beam's own choice, cloudpickle, "
            "takes them along"
        )
    return MainProgram.of_this_process(with_functions=bool(setup.save_main_session))
