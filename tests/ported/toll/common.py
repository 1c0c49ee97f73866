"""Messages, what became of them, and what there is to say about them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, TypeVar

from beamlike.scio import SCollection, WindowOptions
from toll.syntax import Either, Left, Right, map_with_timestamp, sum_by_key_in_fixed_window

T = TypeVar("T")
U = TypeVar("U")

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def instant(milliseconds: int) -> datetime:
    """An event time as a time."""
    return EPOCH + timedelta(milliseconds=milliseconds)


def parse(time: str | datetime) -> datetime:
    """``"2014-09-10T12:01:00Z"`` as a time."""
    return datetime.fromisoformat(time) if isinstance(time, str) else time


def written(time: datetime) -> str:
    """A time as ``"2014-09-10T12:01:00.000Z"``."""
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True)
class Message(Generic[T]):
    payload: T
    attributes: Mapping[str, str]


@dataclass(frozen=True)
class DeadLetter(Generic[T]):
    data: T
    error: str


def decoding(
    decode: Callable[[T, Mapping[str, str]], U], failures: Any
) -> Callable[[Message[T]], Either[DeadLetter[T], U]]:
    """What a message means; where it means nothing, why, which is counted."""

    def decoded(message: Message[T]) -> Either[DeadLetter[T], U]:
        try:
            return Right(decode(message.payload, message.attributes))
        except Exception as error:
            failures.inc()
            return Left(DeadLetter(message.payload, str(error)))

    return decoded


@dataclass(frozen=True)
class Diagnostic:
    id: str
    reason: str
    count: int = 1

    @property
    def key(self) -> str:
        return f"{self.id}|@|{self.reason}"

    def __add__(self, other: "Diagnostic") -> "Diagnostic":
        return replace(self, count=self.count + other.count)


@dataclass(frozen=True)
class DiagnosticRecord:
    created_at: datetime
    id: str
    reason: str
    count: int


def aggregate_and_encode_record(
    diagnostics: SCollection[Diagnostic], window_duration: str, window_options: WindowOptions
) -> SCollection[DiagnosticRecord]:
    def record(diagnostic: Diagnostic, timestamp: int) -> DiagnosticRecord:
        return DiagnosticRecord(
            instant(timestamp), diagnostic.id, diagnostic.reason, diagnostic.count
        )

    summed = sum_by_key_in_fixed_window(diagnostics, window_duration, window_options)
    return map_with_timestamp(summed, record)


def to_diagnostic(dead_letters: SCollection[DeadLetter[Any]], id: str) -> SCollection[Diagnostic]:
    return dead_letters.map(lambda dead: Diagnostic(id, dead.error))
