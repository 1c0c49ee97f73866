"""Programs that import ``apache_beam`` as they are, with this package in its place."""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Self

from beamlike.beam.tree import PACKAGE
from beamlike.errors import PipelineError


class Alias(MetaPathFinder, Loader):
    """This package under another name, until it is removed. A context manager, too."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._before = self._taken()
        self._specs: dict[str, ModuleSpec | None] = {}
        for module in self._before:
            del sys.modules[module]
        sys.meta_path.insert(0, self)

    def _taken(self) -> dict[str, ModuleType]:
        return {
            name: module
            for name, module in sys.modules.items()
            if f"{name}.".startswith(f"{self.name}.")
        }

    def remove(self) -> None:
        """Let the name mean again what it meant before. Once is enough."""
        if self not in sys.meta_path:
            return
        sys.meta_path.remove(self)
        for module in self._taken():
            del sys.modules[module]
        sys.modules.update(self._before)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not f"{fullname}.".startswith(f"{self.name}."):
            return None
        original = PACKAGE + fullname.removeprefix(self.name)
        try:
            module = import_module(original)
        except ModuleNotFoundError as error:
            if error.name != original:
                raise
            return None
        self._specs[fullname] = module.__spec__
        return ModuleSpec(fullname, self, is_package=hasattr(module, "__path__"))

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return sys.modules[PACKAGE + spec.name.removeprefix(self.name)]

    def exec_module(self, module: ModuleType) -> None:
        # It has been executed under its own name, and keeps the specification of that.
        name = self.name + module.__name__.removeprefix(PACKAGE)
        module.__spec__ = self._specs.pop(name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.remove()


def install_as(name: str = "apache_beam") -> Alias:
    """Let imports of Beam get this package, so that programs and tests of Beam run unchanged.

        with beam.install_as("apache_beam"):
            import wordcount

    What was imported under the name before is put aside until `Alias.remove`, or the end of the
    block. Modules that were imported meanwhile keep what they imported.

    Args:
        name: The name of the package that this one stands in for.

    Raises:
        PipelineError: It is no name of a package.
    """
    if not isinstance(name, str) or not name.isidentifier() or name == PACKAGE.partition(".")[0]:
        raise PipelineError(
            f'the name must be that of a package such as "apache_beam", got {name!r}'
        )
    return Alias(name)
