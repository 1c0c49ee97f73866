"""Options of a pipeline: what a command line says, for the code that builds it.

Source: Beam Python ``options.pipeline_options``.
"""

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any, Final, Literal, NoReturn, Self, TypeVar

from beamlike.errors import PipelineError

__all__ = ["Host", "PipelineOptions", "SetupOptions", "StandardOptions", "host_of"]

Host = Literal["memory", "local", "spark"]

Options = TypeVar("Options", bound="PipelineOptions")


class PipelineOptions:
    """Values by name, from a command line and from arguments.

    Subclasses declare what may be on the command line, and ``view_as`` reads it::

        class MyOptions(PipelineOptions):
            @classmethod
            def _add_argparse_args(cls, parser):
                parser.add_argument("--input", default="words.txt")

        options = PipelineOptions(["--input=lines.txt"]).view_as(MyOptions)

    What nobody declares on a command line counts for nothing, as in Beam.

    Args:
        flags: The command line; None: that of this process.
        values: Values by name, in place of those of the command line.

    Raises:
        PipelineError: The command line cannot be read, or is no list.

    Source: Beam Python ``PipelineOptions``.
    """

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
        parser = _Parser(allow_abbrev=False, add_help=False)
        for kind in reversed(type(self).__mro__):
            if "_add_argparse_args" in vars(kind):
                kind._add_argparse_args(parser)  # type: ignore[attr-defined]
        self.__dict__.update(
            _flags=flags, _values=values, _declared=vars(parser.parse_known_args(flags)[0])
        )

    @classmethod
    def _add_argparse_args(cls, parser: ArgumentParser) -> None:
        """Declare options, by ``parser.add_argument``."""

    def view_as(self, kind: type[Options]) -> Options:
        """The same options as those that a class declares. What is set there is set here."""
        view = object.__new__(kind)
        view._see(self._flags, self._values)
        return view

    def get_all_options(self, drop_default: bool = False) -> dict[str, Any]:
        """The options by name.

        Args:
            drop_default: Without those that nobody gave.
        """
        plain = type(self)([])._declared if drop_default else {}
        found = {name: self._values.get(name, it) for name, it in self._declared.items()}
        found = {**self._values, **found}
        return {k: it for k, it in found.items() if not (k in plain and plain[k] == it)}

    @classmethod
    def from_dictionary(cls, options: dict[str, Any]) -> Self:
        """Options with these values."""
        return cls([], **options)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__"):
            for where in (self._values, self._declared):
                if name in where:
                    return where[name]
        raise AttributeError(
            f"{type(self).__name__} has no option {name!r}; declare it in _add_argparse_args of a "
            "subclass, and read it with view_as"
        )

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._declared and name not in self._values:
            raise AttributeError(
                f"{type(self).__name__} has no option {name!r}; declare it in _add_argparse_args "
                "of a subclass, and set it with view_as"
            )
        self._values[name] = value

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={it!r}" for name, it in self.get_all_options().items())
        return f"{type(self).__name__}({told})"


class StandardOptions(PipelineOptions):
    """The runner. Source: Beam Python ``StandardOptions``."""

    @classmethod
    def _add_argparse_args(cls, parser: ArgumentParser) -> None:
        parser.add_argument("--runner")
        # Whether something is a stream is for its source to say.
        parser.add_argument("--streaming", action="store_true")


class SetupOptions(PipelineOptions):
    """``save_main_session``, which is so here anyway: functions travel with what they use.

    Source: Beam Python ``SetupOptions``.
    """

    @classmethod
    def _add_argparse_args(cls, parser: ArgumentParser) -> None:
        parser.add_argument("--save_main_session", action="store_true")


class _Parser(ArgumentParser):
    def add_value_provider_argument(self, *args: Any, **kwargs: Any) -> NoReturn:
        name = args[0] if args else "..."
        raise PipelineError(
            f"{name} is no option to be given after a pipeline is built, there are none here; "
            f"write parser.add_argument({name!r})"
        )

    def error(self, message: str) -> NoReturn:
        raise PipelineError(f"the options of the pipeline cannot be read: {message}")


_HOSTS: Final[dict[str, Host]] = {
    "direct": "local",
    "switchingdirect": "local",
    "bundlebaseddirect": "local",
    "fnapi": "local",
    "interactive": "local",
    "prism": "local",
    "test": "local",
    "testdirect": "local",
    "spark": "spark",
}


def host_of(runner: Any) -> Host | None:
    """The host that a runner of Beam stands for, by its name or by itself; None: nobody said.

    Raises:
        PipelineError: There is none, with what to write.
    """
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
