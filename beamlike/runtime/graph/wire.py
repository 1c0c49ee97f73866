"""Values of a pipeline as bytes: on their way between processes, and saved in state.

A value is a pickle. In it an object with a declared coder is the name of its class and the coder's
bytes, whether it is the value or inside of it. An object of a data class, an attrs class or a named
tuple needs no coder; the names of its fields are saved with it, so that it is refused if its class
has other fields later. Tuples of one class, such as rows and named tuples, travel as plain tuples
if they are `Listed`.
"""

import copyreg
import io
import pickle
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from functools import lru_cache, partial
from types import FunctionType
from typing import Any, Final

import attrs
import cloudpickle

from beamlike.errors import BeamlikeError, CoderError, StateError
from beamlike.machine.equality import is_same
from beamlike.model.coders import Coder, Coders, registry, type_name
from beamlike.runtime.graph.main_program import name_in_main
from beamlike.runtime.graph.sending import FunctionPickler
from beamlike.safe_text import USER_RAISED, problem_of, short_repr


def _unreadable(noun: str, problem: str, advice: str) -> StateError:
    return StateError(
        f"a {noun} was kept by an earlier run, or sent by another process, and cannot be made "
        f"again here: {problem}; {advice}, or start the query with a new checkpoint"
    )


MADE_BY: Final = "__beamlike_made_by__"
"""The attribute of a class of tuples with the function that makes its objects of plain tuples, and
that function's arguments. A field must not have this name."""


@attrs.frozen(slots=False)
class Wire:
    """Makes bytes of values, and values of bytes.

    Args:
        coders: The coders that were declared when the pipeline was started.
    """

    coders: Coders = attrs.field(factory=Coders)

    @classmethod
    def declared(cls) -> "Wire":
        """The wire with the coders that are declared in this process now."""
        return cls(registry.coders)

    @classmethod
    def local(cls) -> "Wire":
        """The wire with this process's coders, for keys that do not leave the process."""
        return cls(attrs.evolve(registry.coders, local_classes={}))

    def dumps(self, value: Any) -> bytes:
        """A value as bytes.

        Raises:
            CoderError: The value, or one inside of it, cannot be encoded, or decodes to another.
        """
        (blob,) = self.blobs_of([value])
        return blob

    def blobs_of(self, values: Iterable[Any], *, checks: bool = True) -> list[bytes]:
        """Values as bytes, each by itself.

        Args:
            values: The values.
            checks: Whether each coder has to show that what it encodes comes back.

        Raises:
            CoderError: As `dumps`.
        """
        sink = io.BytesIO()
        pickler = _Pickler(sink, self.coders, checks=checks)
        blobs = []
        for value in values:
            pickler.write(value)
            blobs.append(sink.getvalue())
            sink.seek(0)
            sink.truncate()
        return blobs

    def loads(self, blob: bytes) -> Any:
        """The value that became these bytes.

        Raises:
            StateError: A class or a coder has changed since the bytes were made, or is missing.
        """
        if not self.coders:
            try:
                return pickle.loads(blob)
            except Exception:
                pass  # the slower way knows what it was about to make
        return _Unpickler(io.BytesIO(blob), self.coders).read()

    def round_trip(self, value: Any) -> Any:
        """A value as it comes out of another process, if something in it has a declared coder.

        Any other value stays the object that it is.

        Raises:
            CoderError: A coder raised, or what it brings back is another value.
        """
        if not self.coders:
            return value
        sink = io.BytesIO()
        pickler = _Pickler(sink, self.coders)
        try:
            pickler.write(value)
        except CoderError:
            if pickler.coded:
                raise
            return value  # it stays in this process
        return self.loads(sink.getvalue()) if pickler.coded else value

    def round_trip_all(self, values: list[Any]) -> list[Any]:
        """Each value as `round_trip` returns it."""
        return [*map(self.round_trip, values)] if self.coders else values

    def __getstate__(self) -> dict[str, Any]:
        # Derived values stay behind. A class that another process lacks is not to fail the rest.
        coders = self.coders
        declared = [cloudpickle.dumps(pair) for pair in coders.by_type.items()]
        return {"declared": declared, "others": attrs.evolve(coders, by_type={})}

    def __setstate__(self, state: dict[str, Any]) -> None:
        coders = {}
        for blob in state["declared"]:
            try:
                cls, coder = cloudpickle.loads(blob)
            except (AttributeError, ImportError):
                continue  # its class is not in this process, and so no value of it is
            coders[cls] = coder
        self.__dict__.update(coders=attrs.evolve(state["others"], by_type=coders))


def encoded(value: Any, coder: Coder, *, checks: bool = True) -> bytes:
    """The bytes of a value by its coder.

    Raises:
        CoderError: The coder raised, or what it brings back is another value.
    """
    doing = "encode"
    try:
        blob = coder.encode(value)
        if isinstance(blob, bytes):
            if not checks:
                return blob
            doing = "decode"
            back = coder.decode(blob)
            doing = "encode"
            if _is_what_it_was(back, value, blob, coder):
                return blob
    except USER_RAISED as cause:
        problem = f"{coder}.{doing} raised {problem_of(cause)}"
        raise CoderError(f"{problem} for {short_repr(value)}") from cause
    if not isinstance(blob, bytes):
        raise CoderError(
            f"{coder}.encode must return bytes, and returned {short_repr(blob)} for "
            f"{short_repr(value)}"
        )
    raise CoderError(
        f"{short_repr(value)} comes back from {coder} as {short_repr(back)}, which is not "
        "equal to it; let decode make what encode was given"
    )


def _is_what_it_was(back: Any, value: Any, blob: bytes, coder: Coder) -> bool:
    if type(back) is not type(value):
        return False
    compared: object = type(value).__eq__
    if compared is not object.__eq__:
        return is_same(back, value)
    # Their equality is not known, but for that of their bytes.
    return not coder.is_deterministic() or coder.encode(back) == blob


def decoded(name: str, blob: bytes, coders: Coders | None = None) -> Any:
    """The value of a class with a coder.

    Raises:
        StateError: The class has no coder any more, or this one cannot read the bytes.
    """
    coder = None if coders is None else coders.by_name.get(name)
    if coder is None:
        advice = "declare the coder again with coders.registry.register_coder(...)"
        raise _unreadable(name, "it has no coder any more", advice)
    try:
        return coder.decode(blob)
    except USER_RAISED as cause:
        problem = f"{coder}.decode raised {problem_of(cause)}"
        advice = "declare a coder that reads what the earlier one wrote"
        raise _unreadable(name, problem, advice) from cause


@attrs.frozen
class Listed:
    """Values that arrive in another process as a list.

    Objects of a class of tuples take ten times as long to pickle as plain tuples. If all values are
    of one such class, they travel as plain tuples with the function that makes its objects.
    """

    values: list[Any]

    def reduced(self, coders: Coders) -> tuple[Any, ...]:
        """What makes the list, as pickle takes it."""
        kinds = set(map(type, self.values))
        if len(kinds) == 1 and not kinds & coders.by_type.keys():
            (cls,) = kinds
            maker = _maker_of(cls)
            if maker is not None:
                return _remade, (*maker, _plain([*map(tuple, self.values)], coders))
            if cls is tuple:
                return list, (_plain(self.values, coders),)
        return list, (self.values,)


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@attrs.frozen
class _TupleColumns:
    """Tuples column by column. Columns of instants are numbers: a pickle of instants takes longer
    than that of all else in a row.
    """

    columns: list[Any]

    def __reduce__(self) -> tuple[Any, ...]:
        return _rows, (self.columns,)


def _plain(rows: list[Any], coders: Coders) -> Any:
    """Plain tuples as they are pickled."""
    if len(set(map(len, rows))) != 1 or datetime in coders.by_type:
        return rows
    if not any(type(item) is datetime for item in rows[0]):
        return rows
    return _TupleColumns([_numbered(column) for column in zip(*rows, strict=True)])


def _numbered(column: Sequence[Any]) -> Any:
    """A column of instants in UTC as lengths of time; any other as it is."""
    if set(map(type, column)) != {datetime}:
        return column
    if any(instant.tzinfo is not UTC or instant.fold for instant in column):
        return column
    import pyarrow as pa

    return pa.array([instant - _EPOCH for instant in column], pa.duration("us")).to_numpy()


def _rows(columns: list[Any]) -> list[Any]:
    """What `_TupleColumns` were made of."""
    opened = (
        column if isinstance(column, tuple) else [_EPOCH + length for length in column.tolist()]
        for column in columns
    )
    return [*zip(*opened, strict=True)]


def _remade(maker: Callable[..., Callable[[Any], Any]], args: Any, values: list[Any]) -> list[Any]:
    return [*map(maker(*args), values)]


@lru_cache(maxsize=1_000)
def _maker_of(cls: type) -> tuple[Any, tuple[Any, ...]] | None:
    """The function that makes objects of a class of tuples, and its arguments; None: there is
    none."""
    if not issubclass(cls, tuple) or cls.__iter__ is not tuple.__iter__:
        return None
    if MADE_BY in vars(cls):
        return vars(cls)[MADE_BY]  # type: ignore[no-any-return]
    if cls.__dictoffset__:  # there may be more in an object than its fields
        return None
    is_plain = cls.__reduce__ is object.__reduce__ and cls.__reduce_ex__ is object.__reduce_ex__
    names = _fields_of(cls)
    if names is None or not is_plain or cls in copyreg.dispatch_table:
        return None
    return _named_maker, (cls, names)


def _named_maker(cls: Any, names: tuple[str, ...]) -> Callable[[Any], Any]:
    """The function that makes named tuples of a class."""
    _check_fields(cls, names)
    return partial(tuple.__new__, cls)


class _Pickler(FunctionPickler):
    """Hands values of some classes to their coders."""

    def __init__(self, sink: io.BytesIO, coders: Coders, *, checks: bool = True) -> None:
        super().__init__(sink, protocol=pickle.HIGHEST_PROTOCOL)
        self._coders, self._checks = coders, checks
        self._by_reference = dict[int, Any]()
        self.coded = False

    def write(self, value: Any) -> None:
        """Add a value."""
        try:
            self.dump(value)
        except BeamlikeError:
            raise
        except USER_RAISED as cause:
            raise CoderError(
                f"{short_repr(value)} cannot go to another process: {problem_of(cause)}; bring out "
                "plain values, or declare a coder for its class with "
                "coders.registry.register_coder(...)"
            ) from cause
        self.clear_memo()  # the next one is read without this one

    def reducer_override(self, obj: Any) -> Any:
        cls = type(obj)
        coder = self._coders.by_type.get(cls)
        if coder is not None:
            self.coded = True
            return decoded, (type_name(cls), encoded(obj, coder, checks=self._checks))
        if id(obj) in self._by_reference:
            return NotImplemented
        if isinstance(obj, Listed):
            return obj.reduced(self._coders)
        names = _fields_of(cls)  # type: ignore[arg-type]
        if names is not None:
            reduced = obj.__reduce_ex__(pickle.HIGHEST_PROTOCOL)
            if reduced[0] is copyreg.__newobj__:  # type: ignore[attr-defined]
                _, *arguments = reduced[1]
                return _empty, (cls, names, *arguments), *reduced[2:]
        if isinstance(obj, type | FunctionType):
            known = name_in_main(obj)
            if known is not None:
                return known  # it is read by the main program of then
        reduction = super().reducer_override(obj)
        if reduction is NotImplemented and isinstance(obj, type | FunctionType):
            # To find that out takes longer than to write the name.
            self._by_reference[id(obj)] = obj
        return reduction


@lru_cache(maxsize=1_000)
def _fields_of(cls: type) -> tuple[str, ...] | None:
    """The names of the fields of a class that has fields."""
    if attrs.has(cls):
        return tuple(field.name for field in attrs.fields(cls))
    if is_dataclass(cls):
        return tuple(field.name for field in fields(cls))
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return tuple(cls._fields)
    return None


def _empty(cls: type, names: tuple[str, ...], *arguments: Any) -> Any:
    """An object of a class that has fields, before these are filled."""
    _check_fields(cls, names)
    return cls.__new__(cls, *arguments)


def _check_fields(cls: type, names: tuple[str, ...]) -> None:
    now = _fields_of(cls)
    if now != names:
        problem = f"its fields were {', '.join(names)}, and are {', '.join(now or ())}"
        advice = "bring them back, or write and declare a coder before fields change"
        raise _unreadable(type_name(cls), problem, advice)


class _Unpickler(pickle.Unpickler):
    def __init__(self, source: io.BytesIO, coders: Coders) -> None:
        super().__init__(source)
        self._coders = coders
        self._making = "value"

    def read(self) -> Any:
        """The value."""
        try:
            return self.load()
        except BeamlikeError:
            raise
        except USER_RAISED as cause:
            advice = "bring back the class as it was"
            raise _unreadable(self._making, problem_of(cause), advice) from cause

    def find_class(self, module: str, name: str) -> Any:
        if module == __name__ and name == decoded.__name__:
            return self._decoded
        if module != __name__:
            self._making = f"{module}.{name}"
        return super().find_class(module, name)

    def _decoded(self, name: str, blob: bytes) -> Any:
        return decoded(name, blob, self._coders)
