"""Sentences about a run, and how they are set: by key and step, at most 100 columns wide."""

import re
import textwrap
from typing import Any, Final

import attrs

from beamlike.machine.reference.running import TriggerView
from beamlike.model.windows import GlobalWindow, Window
from beamlike.viz.table import shorten, show_window

_WIDTH: Final = 100
_SHOWN_KEY: Final = 40


_GLOBAL: Final = "the global window"


def window_in_words(window: Window) -> str:
    """A window in a sentence: its times."""
    return _GLOBAL if isinstance(window, GlobalWindow) else show_window(window)


def _capitalized(text: str) -> str:
    return f"T{text[1:]}" if text.startswith(_GLOBAL) else text


@attrs.frozen
class Sentence:
    """One happening and why.

    Args:
        step: The step of the script; None for how things stand at the end.
        topic: ``"arrived"``, ``"merged"``, ``"fired"``, ``"withdrawn"``, ``"suppressed"``,
            ``"dropped"``, ``"homeless"`` (in no window), ``"forgotten"``, ``"passed"`` (not
            grouped), ``"quiet"`` (nothing was due), or ``"waiting"``.
        windows: The windows that it is about.
        text: In words, on one line.
        timing: Of the pane that fired, as ``early``; "" if it is about none.
    """

    step: int | None
    topic: str
    windows: tuple[Window, ...]
    text: str = attrs.field(converter=_capitalized)
    timing: str = ""


@attrs.frozen
class KeyStory:
    """What happened to one key.

    Args:
        headings: What each step was, for the steps that brought something about.
        sentences: In order.
        end: How the clocks stand at the end.
    """

    key: Any
    headings: dict[int, str]
    sentences: tuple[Sentence, ...]
    end: str

    def __str__(self) -> str:
        lines = ["no key" if self.key is None else f"key {shorten(self.key, _SHOWN_KEY)}"]
        step: int | None = -1
        for sentence in self.sentences:
            if sentence.topic == "quiet":
                lines += wrapped(sentence.text, "  ", "    ")
                continue
            if sentence.step != step:
                step = sentence.step
                heading = self.end if step is None else self.headings[step]
                lines += wrapped(heading, "  ", "    ")
            lines += wrapped(sentence.text, "    - ", "      ")
        return "\n".join(lines)


_INSEPARABLE: Final = re.compile(
    r"\[-?\d[^\[\]()']*\)"  # a window
    r"|\b\d+(?:ms|[dhms])(?: \d+(?:ms|[dhms]))+"  # a duration
)


def wrapped(text: str, first: str, rest: str) -> list[str]:
    """Lines of at most 100 columns, after what the first one and the others begin with."""
    text = _INSEPARABLE.sub(lambda part: part[0].replace(" ", "\0"), text)
    style: dict[str, Any] = dict.fromkeys(("break_long_words", "break_on_hyphens"), False)
    lines = textwrap.wrap(text, _WIDTH, initial_indent=first, subsequent_indent=rest, **style)
    return [line.replace("\0", " ") for line in lines]


OVER: Final = "nothing: the early phase is over"
"""What an early trigger waits for after the end of its window."""
_DEFAULT_EARLY: Final = "Never"


def spoken(view: TriggerView) -> TriggerView:
    """The tree without an early trigger that was not written.

    One that was written is over once the end of the window has been dealt with. What is below
    it counts no more, and is left out.
    """
    subs = []
    for sub in view.subs:
        if view.name == "AfterWatermark" and sub.path == f"{view.path}.early":
            if sub.name == _DEFAULT_EARLY:
                continue
            if sub.finished:
                subs.append(attrs.evolve(sub, waits_for=OVER, subs=()))
                continue
        subs.append(spoken(sub))
    return attrs.evolve(view, subs=tuple(subs))
