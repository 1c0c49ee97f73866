"""The playground in a notebook, with the stream of a run."""

import base64
import json
import zlib
from typing import Any

import pytest

import beamlike as bl
from beamlike.combine_fns import Sum, Top
from beamlike.errors import BeamlikeError
from beamlike.model.time import instant_ms
from beamlike.playground import frame, show
from beamlike.playground.answers import answer
from beamlike.testing import TestStream
from tests.support.refusals import refusal


class AtAnAddress:
    url = "http://127.0.0.1:1/"


@pytest.fixture(autouse=True)
def served(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is built or served: only the address counts here."""
    monkeypatch.setattr(frame, "_served", AtAnAddress)


def run_of(**more: Any) -> Any:
    stream = TestStream().at_processing_time("12:05:19")
    stream = stream.add_elements_at_time("12:00:26", ("team", 5))
    return stream.advance_watermark_to_infinity().run(window=bl.FixedWindows("2 minutes"), **more)


def test_it_begins_with_the_stream_and_the_strategy_of_a_run() -> None:
    shown = show(run_of(aggregate=Sum(), accumulation="accumulating"), height=700)
    address, _, packed = shown.url.partition("#s=")
    assert address == "http://127.0.0.1:1/"
    text = zlib.decompress(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)), -15)
    sketch = json.loads(text)
    clock = instant_ms("12:05:19", "clock")
    element = {"key": "team", "value": 5, "at": instant_ms("12:00:26", "at")}
    assert sketch["steps"] == [
        {"clock": clock, "elements": [element]},
        {"clock": clock, "watermark": None},
    ]
    (strategy,) = sketch["strategies"]
    assert (strategy["aggregation"], strategy["windowing"]["window"]["size_ms"]) == ("sum", 120_000)
    (panel,) = json.loads(answer(json.dumps({"what": "draw", "sketch": sketch})))["panels"]
    assert [pane["value"] for pane in panel["scenario"]["streams"][0]["panes"]] == ["5"]
    assert shown._repr_html_() == (
        f'<iframe title="The playground" src="{shown.url}" '
        'style="width: 100%; height: 700px; border: 1px solid #8a8a8a"></iframe>'
    )


def test_without_a_run_it_begins_with_its_own_example() -> None:
    assert show().url == "http://127.0.0.1:1/"


def test_a_combine_function_that_it_has_not_is_refused() -> None:
    assert refusal(BeamlikeError, lambda: show(run_of(aggregate=Top(3)))) == (
        "the playground has no Top(n=3, by=None, smallest=False); run the stream with one of list, "
        "list_by_timestamp, count, sum, min, max, mean, latest, none"
    )
