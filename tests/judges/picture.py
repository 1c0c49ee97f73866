"""A question as a picture: what came in, and what each engine gave out, over event time."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Final

from tests.judges.questions import Question

_LEFT: Final = 190
_WIDTH: Final = 520
_BAR: Final = 18
_COLOURS: Final = {
    "early": "#7aa6d8",
    "on-time": "#3b7d4f",
    "result": "#3b7d4f",
    "late": "#c8762b",
    "withdrawn": "#9a9a9a",
    "dropped": "#b03a3a",
    "unknown": "#3b7d4f",
}


def picture(question: Question, rows: Mapping[str, Sequence[Any] | str]) -> str:
    """The picture as SVG.

    Args:
        question: Which.
        rows: By the titles of engines what each gives out, as ``[after, elements, window, word]``,
            or why it gives out nothing.
    """
    furthest = max([*question.times, *_ends(rows)]) + 2
    scale = _WIDTH / furthest
    lines, top = [], 34
    for number, time in enumerate(question.times, 1):
        x = _LEFT + time * scale
        lines.append(f'<circle cx="{x:.1f}" cy="16" r="8" fill="#444"/>')
        lines.append(_text(x, 20, str(number), "middle", "#fff"))
        lines.append(_text(x, 34, str(time), "middle", "#777"))
    lines.append(_text(8, 20, "element, at", "start", "#777"))
    top = 46
    for title, outcomes in rows.items():
        count = 1 if isinstance(outcomes, str) else max(1, len(outcomes))
        lines.append(f'<line x1="0" y1="{top}" x2="{_LEFT + _WIDTH}" y2="{top}" stroke="#ddd"/>')
        lines.append(_text(8, top + 15, title, "start", "#111"))
        if isinstance(outcomes, str):
            lines.append(_text(_LEFT, top + 15, _short(outcomes), "start", "#777"))
        for index, (after, elements, window, word) in enumerate(
            () if isinstance(outcomes, str) else outcomes
        ):
            lines += _bar(question, scale, top + 3 + index * _BAR, after, elements, window, word)
        top += count * _BAR + 6
    height, width = top + 4, _LEFT + _WIDTH + 8
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="11" role="img" '
        f'aria-label="{escape(question.title)}">\n'
        f'<rect width="{width}" height="{height}" fill="#fff"/>\n' + "\n".join(lines) + "\n</svg>\n"
    )


def _ends(rows: Mapping[str, Sequence[Any] | str]) -> list[int]:
    return [
        window[1]
        for outcomes in rows.values()
        if not isinstance(outcomes, str)
        for _, _, window, _ in outcomes
        if window is not None
    ]


def _bar(
    question: Question,
    scale: float,
    top: float,
    after: int,
    elements: Sequence[int],
    window: Sequence[int] | None,
    word: str,
) -> list[str]:
    instant = (
        question.times[elements[0] - 1] if elements and elements[0] <= len(question.times) else 0
    )
    start, end = window or (instant, instant)
    x, width = _LEFT + start * scale, max((end - start) * scale, 3)
    held = " ".join(map(str, elements))
    when = "at the end" if after > len(question.times) else f"after {after}"
    label = f"{word} {held} ({when})".replace("  ", " ")
    return [
        f'<rect x="{x:.1f}" y="{top:.1f}" width="{width:.1f}" height="{_BAR - 4}" rx="3" '
        f'fill="{_COLOURS[word]}" fill-opacity="0.35" stroke="{_COLOURS[word]}"/>',
        _text(x + 4, top + 11, label, "start", "#111"),
    ]


def _short(text: str) -> str:
    return text if len(text) <= 84 else f"{text[:81]}..."


def _text(x: float, y: float, text: str, anchor: str, colour: str) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">'
        f"{escape(text)}</text>"
    )
