"""Transforms of texts, and those that make texts of elements.

Source: Beam Python ``util.ToString`` and ``util.Regex``.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any, Final, Generic

from beamlike.api.pipelines.elements import FlatMap, Map
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.transform import PTransform
from beamlike.api.pipelines.variables import R
from beamlike.errors import PipelineError

__all__ = ["Regex", "ToString"]

Pattern = str | re.Pattern[str]
Group = int | str


class ToString:
    """Elements as texts. Source: Beam Python ``ToString``."""

    @staticmethod
    def Element() -> Map[Any, str]:
        """Each element as a text."""
        return "ElementToString" >> Map(str)

    @staticmethod
    def Iterables(delimiter: str | None = None) -> Map[Iterable[Any], str]:
        """The items of each element as texts, with something between them: a comma."""
        return "IterablesToString" >> Map(_Joined("," if delimiter is None else delimiter))

    Kvs = Iterables
    """The key and the value of each pair, likewise."""


class _Joined:
    def __init__(self, delimiter: str) -> None:
        self.delimiter = delimiter

    def __call__(self, items: Iterable[Any]) -> str:
        return self.delimiter.join(map(str, items))


class Regex:
    """What a regular expression finds in texts. Each of these is a transform of texts.

    ``regex`` is a text or a compiled pattern, and ``group`` the number or the name of a group; 0
    is all that matched. A text that does not match goes nowhere.

    Source: Beam Python ``Regex``.
    """

    ALL: Final = "__regex_all_groups"

    @staticmethod
    def matches(regex: Pattern, group: Group = 0) -> "_Found[str]":
        """A group of what matches at the beginning of each text."""
        return _Found("matches", regex, lambda it, text: [m[group] for m in _begin(it, text)])

    @staticmethod
    def all_matches(regex: Pattern) -> "_Found[list[str]]":
        """All groups of what matches at the beginning of each text, group 0 first."""
        return _Found(
            "all_matches", regex, lambda it, text: [[m[0], *m.groups()] for m in _begin(it, text)]
        )

    @staticmethod
    def matches_kv(
        regex: Pattern, keyGroup: Group, valueGroup: Group = 0
    ) -> "_Found[tuple[str, str]]":
        """Two groups of what matches at the beginning of each text."""
        return _Found(
            "matches_kv",
            regex,
            lambda it, text: [(m[keyGroup], m[valueGroup]) for m in _begin(it, text)],
        )

    @staticmethod
    def find(regex: Pattern, group: Group = 0) -> "_Found[str]":
        """A group of what matches first, anywhere in each text."""
        return _Found(
            "find", regex, lambda it, text: [m[group] for m in [it.search(text)] if m is not None]
        )

    @staticmethod
    def find_all(regex: Pattern, group: Group = 0, outputEmpty: bool = True) -> "_Found[list[Any]]":
        """A group of all that matches in each text, as one list for each; pairs of groups 0 and 1
        if the group is `Regex.ALL`.

        Args:
            outputEmpty: Whether groups of nothing are in it.
        """

        def found(it: re.Pattern[str], text: str) -> list[list[Any]]:
            decides = 1 if group == Regex.ALL else group
            hits = [m for m in it.finditer(text) if outputEmpty or m[decides]]
            return [[(m[0], m[1]) if group == Regex.ALL else m[group] for m in hits]]

        return _Found("find_all", regex, found)

    @staticmethod
    def find_kv(
        regex: Pattern, keyGroup: Group, valueGroup: Group = 0
    ) -> "_Found[tuple[str, str]]":
        """Two groups of all that matches in each text, one after the other."""
        return _Found(
            "find_kv",
            regex,
            lambda it, text: [(m[keyGroup], m[valueGroup]) for m in it.finditer(text)],
        )

    @staticmethod
    def replace_all(regex: Pattern, replacement: str) -> "_Found[str]":
        """Each text with all that matches replaced."""
        return _Found("replace_all", regex, lambda it, text: [it.sub(replacement, text)])

    @staticmethod
    def replace_first(regex: Pattern, replacement: str) -> "_Found[str]":
        """Each text with what matches first replaced."""
        return _Found("replace_first", regex, lambda it, text: [it.sub(replacement, text, count=1)])

    @staticmethod
    def split(regex: Pattern, outputEmpty: bool = False) -> "_Found[list[str]]":
        """The parts of each text between what matches, as one list for each.

        Args:
            outputEmpty: Whether empty parts are in it.
        """
        return _Found(
            "split",
            regex,
            lambda it, text: [[part for part in it.split(text) if part or outputEmpty]],
        )


def _begin(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    found = pattern.match(text)
    return [] if found is None else [found]


class _Found(PTransform[PCollection[str], PCollection[R]], Generic[R]):
    def __init__(
        self,
        name: str,
        regex: Pattern,
        found: Callable[[re.Pattern[str], str], Iterable[R]],
    ) -> None:
        self.name, self.found = name, found
        try:
            self.pattern = re.compile(regex)
        except (re.error, TypeError) as error:
            raise PipelineError(
                f"Regex.{name} needs a regular expression, got {regex!r}: {error}"
            ) from error

    def default_label(self) -> str:
        return f"Regex.{self.name}({self.pattern.pattern})"

    def expand(self, given: PCollection[str]) -> PCollection[R]:
        return given | "Find" >> FlatMap(_Finding(self.found, self.pattern))


class _Finding:
    def __init__(self, found: Callable[..., Iterable[Any]], pattern: re.Pattern[str]) -> None:
        self.found, self.pattern = found, pattern

    def __call__(self, text: str) -> Iterable[Any]:
        return self.found(self.pattern, text)
