"""Beam's modules: those of a table, made when they are imported.

``names.txt`` has the names of each module of Beam, and where Beam defines each; `here` says which
of them are here. The others are there too, and fail when they are used, see `absent`. So an import
of Beam becomes one of this package by another beginning, and always works.
"""

import sys
from abc import ABCMeta
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.resources import files
from types import ModuleType
from typing import Any, Final, NoReturn

from beamlike.beam.here import added, definition, place_of
from beamlike.errors import UnsupportedError

PACKAGE: Final = "beamlike.beam"

Origin = tuple[str, str]
"""The module that defines something, and its name there; an empty name: the module itself."""


_INSTEAD: Final = (
    'install "beamlike[beam]" and run the pipeline of Beam\'s own SDK with BeamlikeRunner'
)
"""What to write instead of a name that is not here."""


MODULES: Final = frozenset(
    (
        *("coders", "combiners", "io", "metrics", "options", "pvalue", "testing", "transforms"),
        *("trigger", "typehints", "userstate", "utils", "window"),
    )
)
"""Modules that programs take from the root."""
_BY_ACCIDENT: Final = frozenset(("TimeDomain", "Union", "WithTypeHints"))
"""Names that the root has in Beam because it imports them for itself."""


class AbsentError(UnsupportedError, AttributeError):
    """A name of Beam was used that is not here."""


class _Absent(ABCMeta):
    """The class of what is not there. It is one of ABCs, so that those may stand beside it."""

    beam_name: str
    refusal: str

    def __call__(cls, *_args: Any, **_kwargs: Any) -> NoReturn:
        raise UnsupportedError(cls.refusal)

    def __getattr__(cls, name: str) -> NoReturn:
        if name.startswith("_"):  # tools of Python look for these in anything
            raise AttributeError(name)
        raise AbsentError(cls.refusal)

    def __getitem__(cls, _parameters: Any) -> Any:
        return cls

    def __repr__(cls) -> str:
        return f"<{cls.beam_name}, which is not here>"


@cache
def absent(module: str, name: str) -> Any:
    """What stands for a name of Beam that is not here.

    A class that cannot be called. What Beam calls an error is an exception, so that it can be
    caught.
    """
    beam_name = ".".join(("apache_beam", *filter(None, (module, name))))
    bases = (Exception,) if name.endswith(("Error", "Exception", "Warning")) else ()
    refusal = f"{beam_name} is not in beamlike.beam; {_INSTEAD}"
    body = {"__module__": __name__, "__doc__": refusal, "beam_name": beam_name, "refusal": refusal}
    return _Absent(name, bases, body)


@cache
def names() -> Mapping[str, Mapping[str, Origin]]:
    """The names of each module of Beam, and where Beam defines them; the root is ``""``."""
    return _parsed(_lines())


def _lines() -> list[str]:
    return files(PACKAGE).joinpath("names.txt").read_text(encoding="utf-8").splitlines()


def _root() -> Mapping[str, Origin]:
    """The names of the root, which come first: no others are read as the package is imported."""
    lines = _lines()
    end = next(number for number, line in enumerate(lines) if line[0] not in " #.")
    return _parsed(lines[:end])[""]


def _parsed(lines: Iterable[str]) -> Mapping[str, Mapping[str, Origin]]:
    modules: dict[str, dict[str, Origin]] = {}
    module = ""
    for line in lines:
        first, *entries = line.split()
        if first == "#":
            continue
        if not line.startswith(" "):
            module = "" if first == "." else first
            modules[module] = {}
        elif first.startswith("<"):
            source = first[1:].replace(".", "") and first[1:]
            for name, _, original in (entry.partition("=") for entry in entries):
                origin = (original or name, "") if source == "@" else (source, original or name)
                modules[module][name] = origin
        else:
            modules[module].update((name, (module, name)) for name in (first, *entries))
    return modules


def origin_of(module: str, name: str) -> Origin | None:
    """Where Beam defines what a module of it has under a name; None: it has no such name.

    What Beam does not have and this package adds to the module is defined there, too.
    """
    origin = names().get(module, {}).get(name)
    if origin is not None:
        return origin
    if name in added(module) or module.endswith("_pb2"):  # the names of messages are not kept
        return module, name
    inner = f"{module}.{name}".removeprefix(".")
    return (inner, "") if inner in names() else None


class _ModuleGetattr:
    """The ``__getattr__`` of a module."""

    def __init__(self, module: str) -> None:
        self.module = module

    def __call__(self, name: str) -> Any:
        origin = origin_of(self.module, name) if not name.startswith("__") else None
        if name == "__all__":
            listed = {**names()[self.module], **dict.fromkeys(added(self.module))}
            return [name for name in listed if not name.startswith("_")]
        if origin is None:
            owner = f"{PACKAGE}.{self.module}".removesuffix(".")
            raise AttributeError(f"{owner} has no {name!r}, nor has Beam", name=name)
        source, original = origin
        if not original:
            return import_module(f"{PACKAGE}.{source}" if source else PACKAGE)
        try:
            return definition(source, original)
        except LookupError:
            return absent(source, original)


class _Tree(MetaPathFinder, Loader):
    """Finds the modules of the table."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        name = fullname.removeprefix(f"{PACKAGE}.")
        if name == fullname or name not in names():
            return None
        inside = any(module.startswith(f"{name}.") for module in names())
        return ModuleSpec(fullname, self, is_package=inside)

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__.removeprefix(f"{PACKAGE}.")
        module.__doc__ = f"Beam's ``apache_beam.{name}``, see `beamlike.beam.tree`."
        vars(module)["__getattr__"] = getattr_of_module = _ModuleGetattr(name)
        if name.startswith("transforms.") or name == "utils.windowed_value":
            # Programs look at ``vars(window)``, so that what is here has to stand there.
            vars(module).update(
                {
                    name_there: getattr_of_module(name_there)
                    for name_there, (source, original) in names()[name].items()
                    if original and place_of(source, original)
                }
            )
        vars(module)["__dir__"] = lambda: sorted({*vars(module), *names()[name]})


def install() -> None:
    """Let the modules be found, and the package have the names of Beam's."""
    if not any(isinstance(finder, _Tree) for finder in sys.meta_path):
        # Before the finder of files: beside the package lie stubs, which are for type checkers.
        sys.meta_path.insert(0, _Tree())
    package = vars(sys.modules[PACKAGE])
    package["__getattr__"] = _ModuleGetattr("")
    places = root_places()
    package["__all__"] = sorted({*places, *MODULES})
    for name, (module, attribute) in places.items():
        package[name] = getattr(import_module(module), attribute)


def root_places() -> dict[str, tuple[str, str]]:
    """The names that programs take from ``beamlike.beam`` itself, but modules: where each is."""
    origins = {**_root(), **{name: ("", name) for name in added("")}}
    places = {
        name: place_of(source, original)
        for name, (source, original) in origins.items()
        if original and name not in _BY_ACCIDENT
    }
    return {name: place for name, place in places.items() if place is not None}
