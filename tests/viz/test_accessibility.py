"""The stepping page as axe-core sees it: light and dark, narrow and wide, and all that opens."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import beamlike as bl
from beamlike.testing import TestStream
from beamlike.viz.page import save_page
from beamlike.viz.recording import Recording
from tests.support.ten_scores import FIGURES

pytestmark = pytest.mark.browser

Axe = Callable[[Any], list[str]]


def without_clock() -> Any:
    """Two keys, sessions that merge, a late element and one that is dropped."""
    stream = TestStream().add_elements_at_time("00:00:10", ("ann", 1), ("bob", 2))
    stream = stream.add_elements_at_time("00:00:40", ("ann", 3)).advance_watermark_to("00:10:00")
    stream = stream.add_elements_at_time("00:01:00", ("ann", 4))
    stream = stream.add_elements_at_time("00:09:59", ("bob", 5)).advance_watermark_to_infinity()
    return stream.run(
        window=bl.Sessions("1 minute"), allowed_lateness="9 minutes", accumulation="retracting"
    )


RUNS = {
    **{name: FIGURES[name] for name in ("retracting", "sliding")},
    "without a clock": without_clock,
}
READERS = {
    "desk": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "is_mobile": True},
}


@pytest.mark.parametrize(
    ("run", "how"),
    [
        pytest.param(
            RUNS[run],
            READERS[reader],
            id=f"{run}-{reader}",
            marks=[] if "retracting" in run or reader == "desk" else [pytest.mark.nightly],
        )
        for run in RUNS
        for reader in READERS
    ],
)
def test_nothing_is_found(run: Any, how: Any, browser: Any, axe: Axe, tmp_path: Path):
    results = run()
    recording = Recording.of(results.run, results.strategy, results.aggregate)
    tab = browser.new_page(**how)
    tab.goto(save_page(recording, tmp_path / "page.html", "a title").as_uri() + "#step=3")
    assert axe(tab) == []
    tab.keyboard.press("End")
    for closed in tab.locator("details:not([open]) > summary").all()[::-1]:
        closed.click()
    assert axe(tab) == []
    tab.locator("#density").click()
    assert axe(tab) == []
    tab.close()


def test_what_is_wrong_is_found(browser: Any, axe: Axe):
    tab = browser.new_page()
    tab.set_content("<html lang=en><title>a</title><main><h1>a</h1><input></main></html>")
    assert [each.split()[0] for each in axe(tab)] == ["label"]
    tab.close()
