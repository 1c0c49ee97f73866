"""Kafka's sessions, and when their results come out.

Source: Kafka Streams ``SessionWindows``, ``EmitStrategy``; KIP-94, KIP-825.
"""

from enum import Enum
from typing import Literal, Self

import attrs

from beamlike.errors import WindowError
from beamlike.model.time import DurationLike, duration_ms, show_duration


def _gap(gap: DurationLike) -> int:
    return duration_ms(gap, "SessionWindows gap")


def _grace(grace: DurationLike) -> int:
    return duration_ms(grace, "SessionWindows grace")


@attrs.frozen
class SessionWindows:
    """The gap that ends a session, and how long after it records are still accepted (ms).

    With a gap of 0, which Kafka takes since 4.1, only records of one instant are a session.

    Raises:
        TimeError: A duration cannot be read, or is negative.

    Source: Kafka Streams ``SessionWindows``.
    """

    inactivity_gap: int = attrs.field(converter=_gap)
    grace: int = attrs.field(converter=_grace)
    answers_expired: bool = False

    @classmethod
    def of_inactivity_gap_and_grace(cls, gap: DurationLike, grace: DurationLike) -> Self:
        """Sessions that end after more than ``gap`` without a record.

        Raises:
            TimeError: A duration cannot be read, or is negative.
        """
        return cls(gap, grace)

    @classmethod
    def of_inactivity_gap_with_no_grace(cls, gap: DurationLike) -> Self:
        """As `of_inactivity_gap_and_grace` with a grace of 0."""
        return cls.of_inactivity_gap_and_grace(gap, 0)

    def until(self, retention: DurationLike) -> Self:
        """KIP-94's own rule, from before there was a grace, in place of it.

        A record is taken while the session that it would make, or make longer, ends not more than
        ``retention`` before stream time. After that it is aggregated alone, and the result comes
        out and is not stored.

        Raises:
            WindowError: The retention is shorter than the gap.
            TimeError: It cannot be read.
        """
        kept = duration_ms(retention, "until retention")
        if kept < self.inactivity_gap:
            raise WindowError(
                f"until({retention!r}) must not be shorter than the gap of "
                f"{show_duration(self.inactivity_gap)}, because sessions would be gone before they "
                "are over; give a longer one"
            )
        return attrs.evolve(self, grace=kept - self.inactivity_gap, answers_expired=True)


class EmitStrategy(Enum):
    """When results come out. Source: Kafka Streams ``EmitStrategy`` (KIP-825)."""

    ON_WINDOW_UPDATE = "on_window_update"
    ON_WINDOW_CLOSE = "on_window_close"

    @classmethod
    def on_window_update(cls) -> "EmitStrategy":
        """A change for every record: the default."""
        return cls.ON_WINDOW_UPDATE

    @classmethod
    def on_window_close(cls) -> "EmitStrategy":
        """One result for each session, when it is closed."""
        return cls.ON_WINDOW_CLOSE


EmitStrategyLike = EmitStrategy | Literal["on_window_update", "on_window_close"]
