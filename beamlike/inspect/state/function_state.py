"""What saved windows hold: accumulators, and the states, timers and elements of a function.

A row of a stage with states has one accumulator, see `beamlike.machine.userstate.saved.Saved`. It
is a pickle of plain values and of the bytes that coders made. Of what a pickle names only plain
values are made. Coders of plain values are read here, by the names that the identity of the state
has; what other coders made is shown as bytes.
"""

import io
import pickle
import re
import reprlib
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final

import attrs
import pyarrow as pa

from beamlike.errors import BeamlikeError, StateError
from beamlike.model import coders
from beamlike.model.resolution import MILLISECONDS, Resolution
from beamlike.runtime.changes import resolution_in
from beamlike.runtime.graph.wire import Wire

_KNOWN: Final = {
    *(("builtins", name) for name in ("set", "frozenset", "bytearray", "complex", "range")),
    *(("datetime", name) for name in ("datetime", "date", "time", "timedelta", "timezone")),
    ("decimal", "Decimal"),
    ("uuid", "UUID"),
}
"""Classes that only hold plain values."""


class Opaque:
    """Stands for an object of a class. Its parts are not shown."""

    name = ""

    def __new__(cls, *_parts: Any, **_named: Any) -> "Opaque":
        return object.__new__(cls)

    def _ignore(self, *_parts: Any, **_named: Any) -> None:
        """A pickle sets the parts of an object, and adds to what it takes for a list or a set."""

    __init__ = __setstate__ = __setitem__ = append = extend = add = _ignore

    def __repr__(self) -> str:
        return f"<{type(self).name}>"


class _StateUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _KNOWN:
            return super().find_class(module, name)
        return type("Opaque", (Opaque,), {"name": f"{module}.{name}"})

    def persistent_load(self, _id: Any) -> Any:
        return Opaque()


def read_plain(blob: bytes) -> Any:
    """The value of a pickle, with an `Opaque` for each object of a class that is not plain."""
    try:
        return _StateUnpickler(io.BytesIO(blob)).load()
    except Exception as error:
        raise StateError(
            f"{len(blob):,} bytes are no pickle that can be read: {type(error).__name__}: {error}; "
            "the checkpoint is damaged: open a copy of it"
        ) from error


PICKLED = "_pickled"
"""The end of the name of a column of pickles."""


def held(row: Mapping[str, Any], dtypes: Mapping[str, pa.DataType], *, unpickle: bool) -> Any:
    """The accumulators of a window by the names of their columns, without their numbers.

    If it is to unpickle, pickles are opened, which runs code that is in them. Otherwise their size
    is shown, as ``pickled, 128 bytes``.
    """
    return {
        _name(name): _value(row[name], name, dtype, unpickle=unpickle)
        for name, dtype in dtypes.items()
    }


def _name(column: str) -> str:
    """``acc0_total`` is ``total`` to its user; the value of a pipeline has no name."""
    column = column.removesuffix(PICKLED)
    number, _, name = column.partition("_")
    if number.startswith("acc") and number[3:].isdigit():
        return name
    return column or "value"


def _value(value: Any, column: str, dtype: pa.DataType, *, unpickle: bool) -> Any:
    if not (pa.types.is_binary(dtype) and column.endswith(PICKLED)) or value is None:
        return value
    if not unpickle:
        return f"pickled, {len(value):,} bytes"
    try:
        return Wire.declared().loads(value)
    except BeamlikeError as error:
        return f"pickled, {len(value):,} bytes, which cannot be opened: {reprlib.repr(str(error))}"


_KINDS: Final = ("value", "bag", "set", "ordered list", "map", "combined")
_DOMAINS: Final = {"WATERMARK": "event", "REAL_TIME": "processing"}

_READ: Final[Mapping[str, Callable[[bytes], Any]]] = {
    "PickleCoder()": read_plain,
    **{
        str(coder): coder.decode
        for coder in (
            *(coders.VarIntCoder(), coders.BigIntegerCoder(), coders.FloatCoder()),
            *(coders.BooleanCoder(), coders.BytesCoder(), coders.StrUtf8Coder()),
        )
    },
}
"""What reads the bytes of a coder, by its name."""


@attrs.frozen
class SavedCell:
    """A state of a key and window that is not empty.

    Args:
        name: Its name.
        kind: ``value``, ``bag``, ``set``, ``ordered list``, ``map`` or ``combined``; None: the
            checkpoint does not say.
        value: What is in it: of a map and an ordered list, pairs; of a combined state, the
            accumulator. Bytes are what a coder made that is not known here.
        items: How many values are in it.
        bytes: How many bytes they are.
    """

    name: str
    kind: str | None
    value: Any
    items: int
    bytes: int


@attrs.frozen
class SavedTimer:
    """A timer of a key and window that is set.

    Args:
        tag: Which of its family; empty if it has no tags.
        domain: ``event`` or ``processing``; None: the checkpoint does not say.
        at: The instant that its clock has to be past (ms).
        output: Where it holds the output watermark, and when what it brings out happens (ms); None:
            it holds nothing.
    """

    name: str
    tag: str
    domain: str | None
    at: int
    output: int | None


@attrs.frozen
class SavedFunction:
    """All that is saved of a window.

    Args:
        cells: Its states, by name.
        timers: Its timers, in the order in which they fire: those of event time first.
        waiting: The event times of the elements that wait to be given in order (ms).
    """

    cells: tuple[SavedCell, ...]
    timers: tuple[SavedTimer, ...]
    waiting: tuple[int, ...]

    @property
    def next_event(self) -> int | None:
        """The earliest instant of its timers of event time (ms)."""
        return min((timer.at for timer in self.timers if timer.domain == "event"), default=None)


@attrs.frozen
class Specs:
    """The states and timers of a function, as the identity of its state has them.

    Args:
        states: In words, see `StateSpec.state_identity`.
        timers: Likewise.
        unit: What saved instants count.
    """

    states: str
    timers: str
    unit: Resolution = MILLISECONDS

    @classmethod
    def known(cls, identity: Mapping[str, str]) -> "Specs | None":
        """Those of a stage; None if it is no function with states and timers."""
        if not {"states", "timers"} <= identity.keys():
            return None
        return cls(identity["states"], identity["timers"], resolution_in(identity))

    def read(self, blob: bytes) -> SavedFunction:
        """What is in the accumulator of a window.

        Raises:
            StateError: It is none.
        """
        saved = read_plain(blob)
        try:
            _, cells, timers, waiting = saved
            by_turn = sorted(map(self._timer, timers.items()), key=attrgetter("at", "tag", "name"))
            return SavedFunction(
                tuple(self._cell(name, cells[name]) for name in sorted(cells)),
                tuple(sorted(by_turn, key=lambda timer: timer.domain != "event")),
                tuple(sorted(self.unit.to_ms(int(instant)) for instant, _ in waiting)),
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise StateError(
                f"the states and timers of a window cannot be read: {type(error).__name__}: "
                f"{error}; the checkpoint is damaged: open a copy of it"
            ) from error

    def _cell(self, name: str, saved: Any) -> SavedCell:
        state_kind, coders = self._spec(name)
        coder = coders[-1]
        if isinstance(saved, bytes):
            return SavedCell(name, state_kind, _read(coder, saved), 1, len(saved))
        items = [*saved]
        if state_kind == "map":
            value = [(_read(coders[0], key), _read(coder, item)) for key, item in items]
            size = sum(len(key) + len(item) for key, item in items)
        elif state_kind == "ordered list":
            value = [(int(instant), _read(coder, item)) for instant, item in items]
            size = sum(len(item) for _, item in items)
        else:
            value = [_read(coder, item) for item in items]
            size = sum(len(item) for item in items if isinstance(item, bytes))
        return SavedCell(name, state_kind, value, len(items), size)

    def _spec(self, name: str) -> tuple[str | None, Sequence[str]]:
        """The kind of a state, and its coders in words: that of a map's keys first."""
        kinds = "|".join(_KINDS)
        spec = re.search(
            rf"(?:^|, ){re.escape(name)}: ({kinds}) (.*?)(?=, [^,]*: (?:{kinds}) |$)", self.states
        )
        if spec is None:
            return None, ("",)
        coders = spec[2].split() if spec[1] in ("map", "combined") else (spec[2],)
        return spec[1], coders

    def _timer(self, item: tuple[Any, Any]) -> SavedTimer:
        (name, tag), (target, output) = item
        spec = re.search(rf"(?:^|, ){re.escape(name)}: (WATERMARK|REAL_TIME)\b", self.timers)
        domain = None if spec is None else _DOMAINS[spec[1]]
        held = None if output is None else self.unit.to_ms(int(output))
        return SavedTimer(str(name), str(tag), domain, self.unit.to_ms(int(target)), held)


def saved_column(names: Sequence[str]) -> str:
    """The column of a stage that has what is saved, among these."""
    for name in names:
        if name.endswith(PICKLED):
            return name
    raise StateError(
        "the windows of a function with states and timers have no column of states; the checkpoint "
        "is damaged: open a copy of it"
    )


def _read(coder: str, blob: Any) -> Any:
    """The value of some bytes; they themselves, if their coder is not known or cannot read them."""
    read = _READ.get(coder)
    if read is None or not isinstance(blob, bytes):
        return blob
    try:
        return read(blob)
    except Exception:
        return blob
