"""Every error that beamlike raises on purpose, one class per kind of mistake.

Each message says which argument, which value, and what to do instead. Anything that
is not a `BeamlikeError` is a bug in beamlike.
"""

__all__ = [
    "BeamlikeError",
    "ColumnError",
    "EnvironmentProblem",
    "InputRowError",
    "StateError",
    "TestStreamError",
    "TimeError",
    "TranscriptError",
    "TriggerError",
    "UnsafeTriggerError",
    "UnsupportedError",
    "WatermarkError",
    "WindowError",
    "WindowingError",
]


class BeamlikeError(Exception):
    """Root of all errors that beamlike raises on purpose."""


class TimeError(BeamlikeError, ValueError):
    """A duration or an instant cannot be read, or lies outside what Beam can represent."""


class WindowError(BeamlikeError, ValueError):
    """A window or a window function was given parameters that make no windows."""


class TriggerError(BeamlikeError, ValueError):
    """A trigger was given parameters that make no trigger."""


class WindowingError(BeamlikeError, ValueError):
    """The parts of a windowing strategy do not go together."""


class UnsafeTriggerError(WindowingError):
    """The trigger can finish while data may still arrive, and that data would be lost."""


class WatermarkError(BeamlikeError, ValueError):
    """A watermark or a clock was asked to go back."""


class TestStreamError(BeamlikeError, ValueError):
    """A test stream was told something that no stream can do."""

    __test__ = False  # the name starts with Test, but it is no test for pytest to collect


class TranscriptError(BeamlikeError, ValueError):
    """A transcript file does not follow the format."""


class ColumnError(BeamlikeError, ValueError):
    """A DataFrame lacks a column, or the column has a type that cannot be used."""


class InputRowError(BeamlikeError, ValueError):
    """A row cannot be grouped, and the query was told to fail on such rows."""


class StateError(BeamlikeError, RuntimeError):
    """Saved state belongs to another windowing, aggregation, or version of the layout."""


class UnsupportedError(BeamlikeError, NotImplementedError):
    """What was asked is meaningful, but this host or this version cannot do it."""


class EnvironmentProblem(BeamlikeError, RuntimeError):
    """The machine lacks what is needed to run: Java, or a suitable version of Spark."""
