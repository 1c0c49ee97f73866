"""Options of a pipeline: a command line, for the code that builds it; and runners in Beam's words,
each a name for a host.

Source: Beam Python ``options.pipeline_options`` and ``runners``.
"""

import os
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any, ClassVar, Final, Literal, NoReturn, TypeVar, cast, get_args

from beamlike.api.arguments import warn_of_hint
from beamlike.api.pipelines.beams_own import OfBeamsSDK
from beamlike.errors import PipelineError

__all__ = [
    "HOST_VARIABLE",
    "BundleBasedDirectRunner",
    "DirectRunner",
    "FnApiRunner",
    "Host",
    "InteractiveRunner",
    "PipelineOptions",
    "PipelineRunner",
    "PrismRunner",
    "SetupOptions",
    "SparkRunner",
    "StandardOptions",
    "SwitchingDirectRunner",
    "TypeOptions",
    "host_of",
    "host_of_environment",
]

Host = Literal["memory", "local", "spark"]

HOST_VARIABLE: Final = "BEAMLIKE_HOST"
"""The environment variable that says where all pipelines of a process run."""

Options = TypeVar("Options", bound="PipelineOptions")


class PipelineOptions:
    """Values by name, from a command line and from arguments.

    Subclasses declare what may be on the command line, and ``view_as`` reads it::

        class MyOptions(PipelineOptions):
            @classmethod
            def _add_argparse_args(cls, parser):
                parser.add_argument("--input", default="words.txt")

        options = PipelineOptions(["--input=lines.txt"]).view_as(MyOptions)

    Undeclared options on a command line are ignored, as in Beam.

    Args:
        flags: The command line; None: that of this process.
        values: Values by name, in place of those of the command line.

    Raises:
        PipelineError: The command line cannot be read, or is no list.
    """

    display_data: ClassVar[Any] = OfBeamsSDK("PipelineOptions.display_data")
    from_dictionary: ClassVar[Any] = OfBeamsSDK("PipelineOptions.from_dictionary")
    get_all_options: ClassVar[Any] = OfBeamsSDK("PipelineOptions.get_all_options")

    def __init__(self, flags: Sequence[str] | None = None, **values: Any) -> None:
        if flags is None:
            flags = sys.argv[1:]
        elif isinstance(flags, str) or not isinstance(flags, Sequence):
            raise PipelineError(
                'flags must be a list of texts such as ["--input=lines.txt"], got '
                f"{flags!r}; make one of a command line with shlex.split(...)"
            )
        self._see(list(flags), values)

    def _see(self, flags: Sequence[str], values: dict[str, Any]) -> None:
        declared = vars(_parser(*reversed(type(self).__mro__)).parse_known_args(flags)[0])
        for name, value in declared.items():
            values.setdefault(name, value)
        self.__dict__.update(_flags=flags, _values=values, _declared=declared)

    @classmethod
    def _add_argparse_args(cls, parser: ArgumentParser) -> None:
        """Declare options, by ``parser.add_argument``."""

    def view_as(self, cls: type[Options]) -> Options:
        """The options that a class declares, of the same values. What is set there is set here.

        Raises:
            PipelineError: It is no class of options.
        """
        if not isinstance(cls, type) or not issubclass(cls, PipelineOptions):
            raise PipelineError(f"view_as needs a class of PipelineOptions, got {cls!r}")
        view = object.__new__(cls)
        view._see(self._flags, self._values)
        return view

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__") and name in self.__dict__.get("_declared", ()):
            return self._values[name]
        raise AttributeError(
            f"{type(self).__name__} has no option {name!r}; declare it in _add_argparse_args of a "
            "subclass, and read and set it with view_as"
        )

    def __setattr__(self, name: str, value: Any) -> None:
        getattr(self, name)  # only what is declared can be set
        self._values[name] = value

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={self._values[name]!r}" for name in self._declared)
        return f"{type(self).__name__}({values})"


class StandardOptions(PipelineOptions):
    """The runner."""

    @classmethod
    def _add_argparse_args(cls, parser: ArgumentParser) -> None:
        parser.add_argument("--runner")
        # Whether something is a stream is for its source to say.
        for flag in ("--streaming", "--auto_unique_labels", "--no_wait_until_finish"):
            parser.add_argument(flag, action="store_true")


class SetupOptions(PipelineOptions):
    """``save_main_session`` has no effect: functions travel with what they use."""

    @classmethod
    def _add_argparse_args(cls, parser: ArgumentParser) -> None:
        parser.add_argument("--save_main_session", action="store_true")
        parser.add_argument(
            "--no_save_main_session", dest="save_main_session", action="store_false"
        )


class TypeOptions(PipelineOptions):
    """What is allowed as a pipeline is built."""

    @classmethod
    def _add_argparse_args(cls, parser: ArgumentParser) -> None:
        for flag in ("--allow_non_deterministic_key_coders", "--allow_unsafe_triggers"):
            parser.add_argument(flag, action="store_true")


def _parser(*classes: type) -> "_Parser":
    """What reads the options that these classes declare, each its own."""
    parser = _Parser(allow_abbrev=False, add_help=False)
    for cls in classes:
        if "_add_argparse_args" in vars(cls):
            cls._add_argparse_args(parser)  # type: ignore[attr-defined]
    return parser


class _Parser(ArgumentParser):
    """Takes an option that several classes declare as the last one does."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how, conflict_handler="resolve")

    add_value_provider_argument = OfBeamsSDK("add_value_provider_argument")

    def error(self, message: str) -> NoReturn:
        raise PipelineError(f"the options of the pipeline cannot be read: {message}")


_HOSTS: Final[dict[str, Host]] = {
    "memory": "memory",
    "spark": "spark",
    **dict.fromkeys(("local", "direct", "switchingdirect", "bundlebaseddirect"), "local"),
    **dict.fromkeys(("fnapi", "interactive", "prism", "test", "testdirect"), "local"),
}


def host_of(runner: Any) -> Host | None:
    """The host that a runner of Beam stands for, by its name or by itself; None: none is set."""
    if runner is None:
        return None
    host: Host | None = getattr(runner, "host", None)  # of a runner, or of a class of them
    if isinstance(runner, str):
        # Beam takes the full name of a runner's class, too.
        host = _HOSTS.get(runner.rpartition(".")[2].lower().removesuffix("runner"))
    if host is None:
        raise PipelineError(
            f'there is no runner {runner!r} here; write runner="DirectRunner" for this process, or '
            'runner="SparkRunner", which is run(host="spark")'
        )
    return host


def host_of_environment() -> Host | None:
    """The host that `HOST_VARIABLE` names, whatever runner a pipeline names; None: none is set."""
    name = os.environ.get(HOST_VARIABLE)
    if name and name not in get_args(Host):
        raise PipelineError(
            f"the environment variable {HOST_VARIABLE} must be memory, local or spark, got {name!r}"
        )
    return cast(Host, name) if name else None


class PipelineRunner:
    """What runs pipelines: ``Pipeline(runner=DirectRunner())``."""

    host: ClassVar[Host] = "local"

    run: ClassVar[Any] = OfBeamsSDK("PipelineRunner.run")
    run_pipeline: ClassVar[Any] = OfBeamsSDK("PipelineRunner.run_pipeline")

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        """Settings of Beam's runner have no effect, and are warned of."""
        for name, value in {**({"arguments": arguments} if arguments else {}), **settings}.items():
            why = "a runner only says where a pipeline runs"
            warn_of_hint(type(self).__name__, name, value, why)


class DirectRunner(PipelineRunner):
    """This process."""


SwitchingDirectRunner = BundleBasedDirectRunner = FnApiRunner = DirectRunner
PrismRunner = InteractiveRunner = DirectRunner


class SparkRunner(PipelineRunner):
    """Spark."""

    host = "spark"
