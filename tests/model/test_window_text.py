"""Window functions from their text."""

from datetime import date
from random import Random

import pytest

import beamlike as bl
from beamlike.errors import WindowError
from beamlike.model.texts import window_fn_of
from tests.support.generated.strategies import any_window_fn
from tests.support.refusals import refusal


@pytest.mark.parametrize(
    "window_fn",
    [
        bl.FixedWindows("1h", offset="5 minutes"),
        bl.SlidingWindows("1h", "10 minutes", offset="1 s"),
        bl.GlobalWindows(),
        bl.Sessions("30m", max_duration="1 day", max_elements=100, merge_touching=True),
        bl.Sessions("30m", ends_with="logout"),
        bl.Sessions("30m", ends_with=True),
        bl.CalendarWeeks(2, time_zone="Europe/Warsaw", start=date(2026, 1, 5)),
        bl.CalendarYears(1),
    ],
    ids=str,
)
def test_a_window_function_comes_back_from_its_text(window_fn: bl.WindowFn) -> None:
    assert window_fn_of(str(window_fn)) == window_fn


@pytest.mark.parametrize("seed", range(50))
def test_any_window_function_comes_back_from_its_text(seed: int) -> None:
    window_fn = any_window_fn(Random(seed))
    if isinstance(window_fn, bl.Sessions) and window_fn.ends_with is not None:
        # A function has no text that leads back to it.
        window_fn = bl.Sessions(window_fn.gap, ends_with=seed)

    assert window_fn_of(str(window_fn)) == window_fn


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Moons(1h)",
        "FixedWindows()",
        "Sessions(gap)",
        "Sessions(30m, most=3)",
        "CalendarDays(1)",
    ],
)
def test_what_is_no_window_function_is_refused(text: str) -> None:
    assert refusal(WindowError, lambda: window_fn_of(text)) == (
        f'{text!r} is not the text of a window function; write it as "FixedWindows(1h)" or '
        '"Sessions(30m)"'
    )
