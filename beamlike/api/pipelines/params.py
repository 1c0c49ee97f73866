"""What the methods of a ``DoFn`` ask for by the defaults of their parameters.

Source: Beam Python ``DoFn.ElementParam`` and its siblings.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import attrs

from beamlike.api.user_timers import Clockface
from beamlike.errors import PipelineError
from beamlike.model.state_specs import StateSpec, TimerSpec


@attrs.frozen
class Param:
    """What a ``process`` may ask for by the default of a parameter.

    Args:
        name: What it is.
        shown: What a function sees of it; None: what the core has.
    """

    is_asked_for: ClassVar[bool] = True
    """It is no default, but says what is asked for."""

    name: str
    shown: Callable[[Any], Any] | None = None

    def __repr__(self) -> str:
        return f"DoFn.{self.name}"


@attrs.frozen(repr=False)
class StateAsked(Param):
    """A state that a function of pairs asks for.

    What it is given has ``read``, ``clear``, ``is_empty`` and, of a single value, ``write``; of
    what holds several, ``add``: see `beamlike.machine.userstate.cells`.
    """

    spec: StateSpec = attrs.field(kw_only=True)

    @classmethod
    def of(cls, spec: object) -> "StateAsked":
        """What asks for this state.

        Raises:
            PipelineError: It is no spec of a state.
        """
        if not isinstance(spec, StateSpec):
            raise PipelineError(
                f"DoFn.StateParam expected StateSpec object, got {spec!r}; write "
                'StateParam(ReadModifyWriteStateSpec("name", coder)), or another state of userstate'
            )
        return cls("StateParam", spec=spec)


@attrs.frozen(repr=False)
class TimerAsked(Param):
    """A timer that a function of pairs asks for: it is given a `UserTimer`."""

    spec: TimerSpec = attrs.field(kw_only=True)

    @classmethod
    def of(cls, spec: object, times: Clockface) -> "TimerAsked":
        """What asks for this timer.

        Args:
            spec: The timer.
            times: In which form its users write instants.

        Raises:
            PipelineError: It is no spec of a timer.
        """
        if not isinstance(spec, TimerSpec):
            raise PipelineError(
                f"DoFn.TimerParam expected TimerSpec object, got {spec!r}; write "
                'TimerParam(TimerSpec("name", TimeDomain.WATERMARK))'
            )
        return cls("TimerParam", times.timer, spec=spec)
