"""The page for teachers: each address of its quiz is a stream, and has the answer of the page."""

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

import pytest

from beamlike.playground.answers import answer

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "pages" / "teaching.md").read_text(encoding="utf-8")
QUESTION = re.compile(
    r'^### (\d+)\. (.+?)$.+?<a href="playground/index\.html#s=([\w-]+)">'
    r".+?</summary>\n\n(`.+?`)\n\n.+?</details>",
    re.DOTALL | re.MULTILINE,
)
QUESTIONS = QUESTION.findall(PAGE)


def sketch_in(address: str) -> Any:
    """What the playground reads of an address, see ``fromAddress`` in its ``sketch.js``."""
    packed = base64.urlsafe_b64decode(address + "=" * (-len(address) % 4))
    return json.loads(zlib.decompress(packed, wbits=-15))


def outcome(panel: Any) -> str:
    """The panes of one strategy in order, and what was dropped."""
    (stream,) = panel["scenario"]["streams"]
    panes = [f"{it['timing']} {it['value']}" for it in stream["panes"] if not it["retraction"]]
    return ", ".join(panes + [f"dropped {it['value']}" for it in stream["elements"] if it["lost"]])


def test_the_questions_are_numbered():
    headings = re.findall(r"^### (\d+)\. ", PAGE, re.MULTILINE)
    assert [number for number, *_ in QUESTIONS] == headings
    assert headings == [str(number) for number in range(1, 9)]


@pytest.mark.parametrize(("number", "title", "address", "said"), QUESTIONS)
def test_an_address_of_the_quiz_has_the_answer(number: str, title: str, address: str, said: str):
    drawn = json.loads(answer(json.dumps({"what": "draw", "sketch": sketch_in(address)})))
    assert re.findall(r"`(.+?)`", said) == [outcome(panel) for panel in drawn["panels"]]


def test_the_lesson_asks_each_question_and_lasts_an_hour():
    rows = re.findall(r"^\| (\d+) to (\d+) \|.+\| (.+?) \|$", PAGE, re.MULTILINE)
    assert [start for start, _, _ in rows] == ["0", *(end for _, end, _ in rows[:-1])]
    assert rows[-1][1] == "60"
    asked = re.findall(r"\d+", " ".join(question for _, _, question in rows))
    assert sorted(asked) == [number for number, *_ in QUESTIONS]
