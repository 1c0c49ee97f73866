"""What is typed is read, and what is not understood is answered with the nearest that would be."""

import argparse
import difflib
import json
import reprlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn

from beamlike.model.fingerprint import visible

REFUSED: Final = 2

_MOST_DIGITS: Final = 30
"""Of a number that anything here could be; Python does not read one of any length."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose refusals are short, and name the nearest word that it knows."""

    def __init__(self, **how: Any) -> None:
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **how)

    def error(self, message: str) -> NoReturn:
        """Refuse in two lines; argparse would show the whole usage before its line."""
        words = visible(message.removeprefix("argument "))
        self.exit(REFUSED, f"{self.prog}: {words}\n{self.prog} --help shows how it is used\n")

    def read(self, arguments: Sequence[str]) -> argparse.Namespace:
        """The arguments.

        Raises:
            SystemExit: They are not understood, or ask for help only; the message is printed.
        """
        self._check_options(arguments)
        options, unknown = self.parse_known_args(arguments)
        if unknown:
            asked = self._asked(arguments)
            for word in unknown:
                if word.startswith("-"):
                    asked.error(asked._no_option(word))
            asked.error(f"nothing more can be named here, got {' '.join(map(repr, unknown))}")
        return options

    def _check_options(self, arguments: Sequence[str]) -> None:
        """Refuse unknown options before argparse misses what it takes for their values."""
        asked = self._asked(arguments)
        for word in arguments:
            if word == "--":
                return
            name = word.partition("=")[0]
            known = (*asked._option_string_actions, *self._option_string_actions)
            # As in argparse an option may be cut short.
            if word.startswith("--") and not any(option.startswith(name) for option in known):
                asked.error(asked._no_option(name))

    def _asked(self, arguments: Iterable[str]) -> "Parser":
        """The parser of the command that is asked for; this one if there is none."""
        commands = self._commands()
        word = next((word for word in arguments if not word.startswith("-")), "")
        return commands.get(word, self)

    def _commands(self) -> dict[str, "Parser"]:
        found = (it for it in self._actions if isinstance(it, argparse._SubParsersAction))
        return {name: parser for action in found for name, parser in action.choices.items()}

    def _no_option(self, name: str) -> str:
        known = [option for option in self._option_string_actions if option.startswith("--")]
        near = _near(name, known)
        # One dash for two is a mistake, too.
        near = near or _near(f"--{name.lstrip('-')}", known)
        hint = f"did you mean {near}?" if near else f"its options are {', '.join(known)}"
        return f"there is no option {name}; {hint}"

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        choices = action.choices
        if choices is None or value in choices:
            return
        known = list(map(str, choices))
        near = _near(str(value), known)
        if isinstance(action, argparse._SubParsersAction):
            hint = f"did you mean {near!r}?" if near else f"the commands are {', '.join(known)}"
            if not near and str(value).endswith(".json"):
                hint = f"to run the scenarios of a file: {self.prog} replay {value}"
            self.error(f"there is no command {value!r}; {hint}")
        hint = f"did you mean {near!r}?" if near else f"it is one of {', '.join(known)}"
        name = "/".join(action.option_strings) or str(action.metavar or action.dest)
        self.error(f"{name} cannot be {value!r}; {hint}")


def _near(word: str, known: Sequence[str]) -> str:
    """The nearest of these, "" if none is near."""
    return "".join(difflib.get_close_matches(word.lower(), known, n=1))


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
