"""What is typed is read, or refused in a line."""

import argparse
import json
import reprlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NoReturn

from beamlike.model.fingerprint import visible

REFUSED: Final = 2

_MOST_DIGITS: Final = 30
"""Of a number that anything here could be; Python does not read one of any length."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose refusals take two lines, and no usage before them."""

    def __init__(self, **how: Any) -> None:
        if sys.version_info >= (3, 14):  # by itself it names the nearest word from there on
            how["suggest_on_error"] = True
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **how)

    def take(
        self, spec: str, help: str, type: Callable[[str], Any] | None = None, **how: Any
    ) -> None:
        """Describe an argument, as ``add_argument`` of argparse does.

        It is ``"FILE"``, or an option and what its value is called, ``"--batch N"``. An option
        alone is a flag. ``type`` reads it.
        """
        name, _, metavar = spec.partition(" ")
        if not name.startswith("--"):
            name, metavar = name.lower(), name
        if metavar:
            how = {"metavar": metavar} | how
        elif type is None and not how:
            how["action"] = "store_true"
        self.add_argument(name, help=help, **how | ({} if type is None else {"type": type}))

    def error(self, message: str) -> NoReturn:
        """Refuse in two lines; argparse would show the whole usage before its line."""
        refusal = visible(message.removeprefix("argument "))
        self.exit(REFUSED, f"{self.prog}: {refusal}\n{self.prog} --help shows how it is used\n")


def whole_number(least: int) -> Callable[[str], int]:
    """What reads a whole number of so many or more."""

    def read(text: str) -> int:
        number = number_of(text)
        if number is None or number < least:
            raise argparse.ArgumentTypeError(
                f"must be a whole number of {least} or more, got {reprlib.repr(text)}"
            )
        return number

    return read


def number_of(text: str) -> int | None:
    """The whole number that is typed; None if it is none, or one that nothing here can be."""
    digits = text.removeprefix("-")
    return int(text) if digits.isdecimal() and len(digits) < _MOST_DIGITS else None


def json_of(text: str) -> Any:
    """What is typed as JSON; the text itself if it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def place(text: str) -> str:
    """The name of a file or a folder, or its URL.

    An empty one would mean the current folder, and is refused.
    """
    if "\0" in text:
        raise argparse.ArgumentTypeError(f"no name of a file has a NUL in it, got {text!r}")
    if not text.strip():
        raise argparse.ArgumentTypeError(
            f"must be the name of a file or a folder, got {text!r}; is a variable of the shell not "
            "set?"
        )
    return text


def as_path(text: str) -> Path:
    """The `place` of a file or folder of this machine."""
    return Path(place(text))
