"""The page in a frame of a notebook, in a real browser: it unpacks, steps, and asks for nothing."""

from pathlib import Path
from typing import Any

import pytest

import beamlike as bl
from beamlike.combine_fns import Sum
from beamlike.testing import stream_by_clock

pytestmark = pytest.mark.browser


def test_the_page_in_a_frame_steps_and_asks_for_nothing(browser: Any, tmp_path: Path):
    scores = [(("team", 5), "12:00:26", "12:05:19"), (("team", 9), "12:01:26", "12:08:19")]
    results = stream_by_clock(scores).run(window=bl.FixedWindows("2 minutes"), aggregate=Sum())
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<!DOCTYPE html>{results.embedded('Two scores')._repr_html_()}")
    noticed: list[str] = []
    requested: list[str] = []
    tab = browser.new_page()
    tab.on("console", lambda message: noticed.append(message.text))
    tab.on("pageerror", lambda error: noticed.append(str(error)))
    tab.on("request", lambda request: requested.append(request.url))
    tab.goto(notebook.as_uri())
    frame = tab.frame_locator('iframe[title="Two scores"]')
    frame.locator("#last").click()
    assert frame.locator("#count").inner_text() == "5 of 5"
    assert "on time" in frame.locator("#panes").inner_text()
    assert (noticed, requested) == ([], [notebook.as_uri()])
    tab.close()
