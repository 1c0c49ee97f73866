"""DataFrames into pipelines, where a bare number counts seconds."""

from typing import TYPE_CHECKING

from beamlike.api.pipelines import frames
from beamlike.api.pipelines.python.reading import Length, in_millis
from beamlike.machine.clocks import Idle
from beamlike.model.coders import Coder
from beamlike.runtime.options import MAX_AHEAD

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class FromDataFrame(frames.FromDataFrame):
    """The rows of a DataFrame, batch or streaming, as elements: `pyspark.sql.Row`.

    As `beamlike.api.pipelines.frames.FromDataFrame`, where ``watermark``, ``max_ahead`` and
    ``idle_after`` are a number of seconds, `Duration`, a ``timedelta`` or text.
    """

    def __init__(
        self,
        rows: "DataFrame",
        *,
        timestamp: str | None = None,
        watermark: Length | None = None,
        max_ahead: Length | None = MAX_AHEAD,
        idle_after: Length | None = None,
        idle: Idle | str = Idle.RELEASE,
        encoded: str | None = None,
        coder: Coder | None = None,
    ) -> None:
        super().__init__(
            rows,
            timestamp=timestamp,
            watermark=_millis(watermark, "watermark"),
            max_ahead=_millis(max_ahead, "max_ahead"),
            idle_after=_millis(idle_after, "idle_after"),
            idle=idle,
            encoded=encoded,
            coder=coder,
        )


def _millis(value: Length | None, argument: str) -> int | None:
    return None if value is None else in_millis(value, argument)
