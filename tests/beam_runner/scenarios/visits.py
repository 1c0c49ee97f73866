"""Visits of a web site: windows of a user's class, and functions that assign and merge them."""

from typing import Any

from apache_beam import coders
from apache_beam.transforms import window
from apache_beam.utils.timestamp import Timestamp

GAP = 10
"""How long a visit goes on after a click (s)."""


def click_of(seconds: float, click: str, user: str = "ann") -> window.TimestampedValue:
    return window.TimestampedValue((user, click), seconds)


class Visit(window.BoundedWindow):
    """A visit with one device: when it began, and in how many parts it was first seen."""

    def __init__(self, start: float, end: float, device: str, parts: int) -> None:
        super().__init__(end)
        self.began, self.device, self.parts = Timestamp.of(start), device, parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Visit) and self._fields == other._fields

    def __hash__(self) -> int:
        return hash(self._fields)

    @property
    def _fields(self) -> tuple[Any, ...]:
        return self.began, self.end, self.device, self.parts

    def __repr__(self) -> str:
        return f"{self.device} {float(self.began):g} to {float(self.end):g} in {self.parts}"


class VisitCoder(coders.Coder):
    def encode(self, value: Visit) -> bytes:
        times = value.began.micros, value.end.micros
        return ",".join(map(str, (*times, value.device, value.parts))).encode()

    def decode(self, encoded: bytes) -> Visit:
        start, end, device, parts = encoded.decode().split(",")
        times = Timestamp(micros=int(start)), Timestamp(micros=int(end))
        return Visit(*times, device, int(parts))

    def is_deterministic(self) -> bool:
        return True


class Visits(window.WindowFn):
    """Sessions of each device: those of two devices never merge, also where they overlap.

    Elements are pairs of a user and a click, ``device:page``.
    """

    def assign(self, context: Any) -> list[Visit]:
        device, _, _ = context.element[1].partition(":")
        return [Visit(context.timestamp, context.timestamp + GAP, device, 1)]

    def merge(self, merge_context: Any) -> None:
        by_device: dict[str, list[Visit]] = {}
        for visit in merge_context.windows:
            by_device.setdefault(visit.device, []).append(visit)
        for device, visits in by_device.items():
            together: list[Visit] = []
            for visit in sorted(visits, key=lambda visit: (visit.began, visit.end)):
                if together and visit.began >= max(before.end for before in together):
                    self._merge(merge_context, device, together)
                    together = []
                together.append(visit)
            self._merge(merge_context, device, together)

    def _merge(self, merge_context: Any, device: str, visits: list[Visit]) -> None:
        if len(visits) > 1:
            end = max(visit.end for visit in visits)
            parts = sum(visit.parts for visit in visits)
            merge_context.merge(visits, Visit(visits[0].began, end, device, parts))

    def get_window_coder(self) -> VisitCoder:
        return VisitCoder()


class LikeSessions(Visits):
    """Visits that are equal where their bounds are, as those of sessions."""

    def _merge(self, merge_context: Any, device: str, visits: list[Visit]) -> None:
        if len(visits) > 1:
            end = max(visit.end for visit in visits)
            merge_context.merge(visits, Visit(visits[0].began, end, device, 1))


class Moments(Visits):
    """Clicks of a device within a second of each other; one alone has no length."""

    def assign(self, context: Any) -> list[Visit]:
        device, _, _ = context.element[1].partition(":")
        return [Visit(context.timestamp, context.timestamp, device, 1)]

    def merge(self, merge_context: Any) -> None:
        by_second: dict[Any, list[Visit]] = {}
        for visit in merge_context.windows:
            by_second.setdefault((visit.device, visit.began.micros // 1_000_000), []).append(visit)
        for (device, _), visits in by_second.items():
            self._merge(merge_context, device, sorted(visits, key=lambda visit: visit.began))


class TwentySeconds(window.NonMergingWindowFn):
    """Visits that are twenty seconds."""

    def assign(self, context: Any) -> list[Visit]:
        start = context.timestamp.micros // 20_000_000 * 20
        return [Visit(start, start + 20, "any", 1)]

    def get_window_coder(self) -> VisitCoder:
        return VisitCoder()
