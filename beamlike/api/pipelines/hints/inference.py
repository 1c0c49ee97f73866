"""The type of what a function makes, where its code says so: read, and not run.

Only code without branches is read. What is not known is ``Any``, and nothing is refused for it.

Source: Beam Python ``trivial_inference``, which reads bytecode, too.
"""

import builtins
import dis
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from inspect import CO_GENERATOR, isclass, ismethod
from types import CodeType, FunctionType
from typing import Any, Final

from beamlike.api.pipelines.hints.forms import form, normal, parts_of
from beamlike.api.pipelines.hints.values import type_of

__all__ = ["infer_return_type"]

_ANSWERS: Final[Mapping[Any, Any]] = {
    len: int,
    ord: int,
    hash: int,
    id: int,
    chr: str,
    repr: str,
    format: str,
    hex: str,
    isinstance: bool,
    callable: bool,
    any: bool,
    all: bool,
}
"""Functions of Python that always answer the same type."""
_MADE: Final = frozenset((int, str, float, bool, bytes, complex, list, dict, set, tuple, frozenset))
_NUMBERS: Final = frozenset((int, float, bool))


class _GiveUp(Exception):
    """The code is more than is read here."""


class _Called:
    """Something that stands on the stack to be called."""

    def __init__(self, function: Any) -> None:
        self.function = function


def infer_return_type(function: Callable[..., Any], given: Sequence[Any]) -> Any:
    """The type of what a function makes of arguments of these types; ``Any`` if unknown.

    >>> infer_return_type(lambda word: (word, 1), [str]) == normal(tuple[str, int])
    True

    Source: Beam Python ``trivial_inference.infer_return_type``.
    """
    try:
        return _answer(function, given)
    except (_GiveUp, LookupError, TypeError, ValueError, AttributeError):
        return Any


def _answer(function: Any, given: Sequence[Any]) -> Any:
    if isclass(function):
        return function if function in _MADE else Any
    if isinstance(function, partial) or not isinstance(function, FunctionType):
        if not ismethod(function):
            return _ANSWERS.get(function, Any)
        # What a method is bound to is no type.
        return _read(function.__func__, [Any, *given])
    return _read(function, given)


def _read(function: Any, given: Sequence[Any]) -> Any:
    code: CodeType = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    places = dict.fromkeys(names, Any) | dict(zip(names, given, strict=False))
    made = list(_Reader(function, places).run())
    if not made:
        return Any
    kinds = [kind if isinstance(kind, type) or parts_of(kind)[1] else Any for kind in made]
    whole = kinds[0] if len(kinds) == 1 or len(set(kinds)) == 1 else Any
    return form(Iterator, whole) if code.co_flags & CO_GENERATOR else normal(whole)


class _Reader:
    """Code, one instruction after the other, over types in place of values."""

    def __init__(self, function: Any, places: Mapping[str, Any]) -> None:
        self.function, self.places = function, dict(places)
        self.stack: list[Any] = []

    def run(self) -> Iterator[Any]:
        """The types of what is returned or yielded."""
        generates = bool(self.function.__code__.co_flags & CO_GENERATOR)
        for it in dis.get_instructions(self.function):
            name = it.opname
            if it.is_jump_target or "JUMP" in name or name in ("FOR_ITER", "SEND"):
                raise _GiveUp
            if name == "YIELD_VALUE":
                yield self.stack.pop()
                self.stack.append(Any)
            elif name in ("RETURN_VALUE", "RETURN_CONST"):
                answer = type(it.argval) if name == "RETURN_CONST" else self.stack.pop()
                if not generates:
                    yield answer
                return
            else:
                self.step(name, it)

    def step(self, name: str, it: dis.Instruction) -> None:
        """One instruction."""
        if name in _NOTHING:
            return
        if name.startswith("LOAD_FAST"):
            read = it.argval if isinstance(it.argval, tuple) else (it.argval,)
            self.stack += [self.places.get(each, Any) for each in read]
        elif name == "STORE_FAST":
            self.places[it.argval] = self.stack.pop()
        elif name == "STORE_FAST_STORE_FAST":
            for each in it.argval:
                self.places[each] = self.stack.pop()
        elif name in ("LOAD_CONST", "LOAD_SMALL_INT"):
            self.stack.append(type_of(it.argval))
        elif name == "LOAD_GLOBAL":
            self._load_global(it.argval, has_null="NULL" in it.argrepr)
        elif name in ("PUSH_NULL", "RETURN_GENERATOR", "LOAD_DEREF"):
            self.stack.append(Any)
        elif name == "BINARY_SUBSCR":
            del self.stack[-2:]
            self.stack.append(Any)
        elif name in ("BUILD_TUPLE", "BUILD_LIST"):
            self._build(name, it.arg or 0)
        elif name == "UNPACK_SEQUENCE":
            self._unpack(it.arg or 0)
        elif name == "BINARY_OP":
            second, first = self.stack.pop(), self.stack.pop()
            self.stack.append(_of_operation(first, second, it.argrepr))
        elif name in ("COMPARE_OP", "CONTAINS_OP", "IS_OP"):
            # Types of the user's may answer a comparison with anything.
            second, first = self.stack.pop(), self.stack.pop()
            plain = name != "COMPARE_OP" or {first, second} <= _MADE
            self.stack.append(bool if plain else Any)
        elif name == "FORMAT_VALUE":
            del self.stack[-1 - bool((it.arg or 0) & 4) :]
            self.stack.append(str)
        elif name == "BUILD_STRING":
            del self.stack[len(self.stack) - (it.arg or 0) :]
            self.stack.append(str)
        elif name in ("LOAD_METHOD", "LOAD_ATTR"):
            self.stack.pop()
            is_method = name == "LOAD_METHOD" or "NULL" in it.argrepr
            self.stack += [Any, Any] if is_method else [Any]
        elif name in ("CALL", "CALL_FUNCTION"):
            self._call(it.arg or 0)
        elif name == "POP_TOP":
            self.stack.pop()
        else:
            raise _GiveUp

    def _load_global(self, name: str, has_null: bool) -> None:
        known = self.function.__globals__.get(name, getattr(builtins, name, Any))
        self.stack += [_Called(known), Any] if has_null else [_Called(known)]

    def _build(self, name: str, number: int) -> None:
        items = self.stack[len(self.stack) - number :]
        del self.stack[len(self.stack) - number :]
        plain = [Any if isinstance(item, _Called) else item for item in items]
        if name == "BUILD_TUPLE":
            self.stack.append(form(tuple, *plain) if plain else tuple)
        else:
            same = plain and len(set(plain)) == 1
            self.stack.append(form(list, plain[0]) if same else list)

    def _unpack(self, number: int) -> None:
        origin, parts = parts_of(self.stack.pop())
        if origin is not tuple or len(parts) != number or ... in parts:
            parts = (Any,) * number
        self.stack += reversed(parts)

    def _call(self, number: int) -> None:
        del self.stack[len(self.stack) - number :]
        # Where the function stands beside what it is called on differs from Python to Python.
        beside = [self.stack.pop(), self.stack.pop()]
        function = next((it.function for it in beside if isinstance(it, _Called)), None)
        known = function if function in _MADE else None
        self.stack.append(known or _ANSWERS.get(function, Any))


_NOTHING: Final = frozenset(("RESUME", "PRECALL", "KW_NAMES", "NOP", "CACHE", "COPY_FREE_VARS"))


def _of_operation(first: Any, second: Any, operator: str) -> Any:
    """The type of ``first + second`` and the like, of types that Python itself has."""
    operator = operator.removesuffix("=")
    if isinstance(first, _Called) or isinstance(second, _Called):
        return Any
    if {first, second} <= _NUMBERS and operator in ("+", "-", "*", "/", "//", "%"):
        return float if float in (first, second) or operator == "/" else int
    if first is second is str and operator == "+":
        return str
    return str if first is str and operator == "%" else Any
