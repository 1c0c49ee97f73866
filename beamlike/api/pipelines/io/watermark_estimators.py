"""What a splittable function knows of the times of what it has yet to make.

An element's work is done in one go here, and its watermark is that of its input until then, so that
an estimator decides nothing. A function may ask it, and set it, as it would elsewhere.

Source: Beam Python ``iobase.WatermarkEstimator``, ``io.watermark_estimators``.
"""

from typing import Any

from beamlike.api.pipelines.python.timestamps import Timestamp
from beamlike.api.pipelines.splittable import WatermarkEstimatorProvider

__all__ = [
    "ManualWatermarkEstimator",
    "MonotonicWatermarkEstimator",
    "WalltimeWatermarkEstimator",
    "WatermarkEstimator",
]


class WatermarkEstimator:
    """A watermark of a function's own. Source: Beam ``WatermarkEstimator``."""

    def get_estimator_state(self) -> Any:
        """What a new estimator is made of when the work goes on."""
        raise NotImplementedError(f"{type(self).__name__} does not define get_estimator_state")

    def current_watermark(self) -> Any:
        """No output will happen before it."""
        raise NotImplementedError(f"{type(self).__name__} does not define current_watermark")

    def observe_timestamp(self, timestamp: Timestamp) -> None:
        """An output happens then."""
        raise NotImplementedError(f"{type(self).__name__} does not define observe_timestamp")


class _Kept(WatermarkEstimator):
    """A watermark that is all of the state."""

    def __init__(self, watermark: Timestamp | None = None) -> None:
        self._watermark = watermark

    def get_estimator_state(self) -> Timestamp | None:
        return self._watermark

    def current_watermark(self) -> Timestamp | None:
        return self._watermark

    def observe_timestamp(self, timestamp: Timestamp) -> None:
        """It changes nothing."""

    @classmethod
    def default_provider(cls) -> WatermarkEstimatorProvider:
        """What makes one for each restriction, with no watermark at first."""
        return _Default(cls)


class _Default(WatermarkEstimatorProvider):
    def __init__(self, kind: type[_Kept]) -> None:
        self._kind = kind

    def initial_estimator_state(self, element: Any, restriction: Any) -> None:
        return None

    def create_watermark_estimator(self, estimator_state: Any) -> _Kept:
        return self._kind(estimator_state)


class MonotonicWatermarkEstimator(_Kept):
    """The time of the last output; none may happen before another that was made earlier."""

    def observe_timestamp(self, timestamp: Timestamp) -> None:
        if self._watermark is not None and timestamp < self._watermark:
            raise ValueError(
                "A MonotonicWatermarkEstimator expects output timestamp to be increasing "
                f"monotonically: {timestamp} came after {self._watermark}"
            )
        self._watermark = timestamp


class WalltimeWatermarkEstimator(_Kept):
    """The time of day."""

    def current_watermark(self) -> Timestamp:
        now = Timestamp.now()
        self._watermark = now if self._watermark is None else max(self._watermark, now)
        return self._watermark

    def get_estimator_state(self) -> Timestamp:
        return self.current_watermark()


class ManualWatermarkEstimator(_Kept):
    """What the function sets."""

    def set_watermark(self, timestamp: Timestamp) -> None:
        """No output will happen before this.

        Raises:
            ValueError: It is no `Timestamp`, or earlier than the watermark is.
        """
        if not isinstance(timestamp, Timestamp):
            raise ValueError(f"set_watermark expects a Timestamp as input, got {timestamp!r}")
        if self._watermark is not None and self._watermark > timestamp:
            raise ValueError(
                "Watermark must be monotonically increasing. Provided watermark "
                f"{timestamp} is less than current watermark {self._watermark}"
            )
        self._watermark = timestamp
