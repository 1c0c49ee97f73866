"""Where the clocks of a group of Spark stand: a shard, or a group of the fanout before it."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import attrs

from beamlike.hosts.spark.plan import Plan
from beamlike.machine.clocks import Heard, InputState
from beamlike.model.time import MIN_TIMESTAMP

__all__ = ["Clock"]


@attrs.frozen
class Clock:
    """The clocks of a group at the end of a step, and what its inputs told.

    =============  =========================================  ============================
    field          stored                                     cleared
    =============  =========================================  ============================
    ``watermark``  the input watermark, ms                    never, only forward
    ``clock``      processing time, ms                        never, only forward
    ``inputs``     what is known of each input's own          never, see `InputState`
                   watermark; none if Spark's is used
    =============  =========================================  ============================
    """

    watermark: int = MIN_TIMESTAMP
    clock: int = 0
    inputs: tuple[InputState, ...] = ()

    def after(self, plan: Plan, watermark: int | Sequence[Heard], clock: int) -> Self:
        """The clocks now. Neither ever goes back: a restarted query may report older ones.

        Args:
            plan: What the group works on.
            watermark: The input watermark (ms), or what the plan's inputs told about theirs.
            clock: Processing time (ms).
        """
        clock, inputs = max(clock, self.clock), self.inputs
        if not isinstance(watermark, int):
            assert plan.clocks is not None, "only inputs with clocks of their own tell them"
            inputs, watermark = plan.clocks.listen(inputs, watermark, clock)
        return type(self)(max(watermark, self.watermark), clock, inputs)

    def to_json(self) -> dict[str, Any]:
        inputs = [state.to_json() for state in self.inputs]
        return {"watermark": self.watermark, "clock": self.clock, "inputs": inputs}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Self:
        inputs = tuple(map(InputState.from_json, saved["inputs"]))
        return cls(saved["watermark"], saved["clock"], inputs)
