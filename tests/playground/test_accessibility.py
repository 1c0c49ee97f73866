"""The playground as axe-core sees it: light and dark, narrow and wide, and all that opens."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.playground.conftest import Player
from tests.support.ten_scores import sketch

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("playground")]

Axe = Callable[[Any], list[str]]


@pytest.fixture(
    scope="module",
    params=["desk", *(pytest.param(it, marks=pytest.mark.nightly) for it in ("dark", "phone"))],
)
def looker(request: pytest.FixtureRequest) -> Iterator[Player]:
    """A player who looks at the page in one of several ways."""
    found = request.getfixturevalue("phone" if request.param == "phone" else "player")
    found.tab.emulate_media(color_scheme="dark" if request.param == "dark" else "light")
    yield found
    found.tab.emulate_media(color_scheme=None)


@pytest.fixture(params=["one strategy", "two strategies"])
def shown(looker: Player, request: pytest.FixtureRequest) -> Any:
    """The tab, with the ten scores under one strategy or two."""
    one = sketch()["strategies"]
    both = [*one, *sketch("retracting")["strategies"]]
    looker.load(sketch(strategies=one if request.param == "one strategy" else both))
    return looker.tab


def test_nothing_is_found_as_it_opens_and_where_all_of_it_is_open(shown: Any, axe: Axe):
    assert axe(shown) == []
    for closed in shown.locator("details:not([open]) > summary").all()[::-1]:
        closed.click()
    shown.locator(".handle").first.click()
    shown.locator("#selected input").first.wait_for()
    assert axe(shown) == []


def test_nothing_is_found_in_the_words_of_other_systems(looker: Player, axe: Axe):
    looker.load(sketch())
    words = looker.tab.get_by_label("in the words of").first
    for system, begins in (
        ("Kafka Streams", "kafka."),
        ("Flink", "flink."),
        ("Apex", "apex."),
        ("Akka Streams", "akka."),
    ):
        words.select_option(label=system)
        looker.tab.locator(".code", has_text=begins).wait_for()
        assert (system, axe(looker.tab)) == (system, [])


def test_nothing_is_found_where_something_is_wrong(looker: Player, axe: Axe):
    looker.load(sketch())
    lateness = looker.tab.get_by_label("allowed lateness")
    lateness.fill("tea")
    looker.tab.keyboard.press("Tab")
    looker.tab.wait_for_selector("[aria-invalid=true]")
    assert axe(looker.tab) == []
    windowing = sketch()["strategies"][0]["windowing"] | {"allowed_lateness_ms": -1}
    looker.load(sketch(strategies=[{"windowing": windowing, "aggregation": "sum"}]))
    looker.tab.wait_for_selector(".problem:not([hidden])")
    assert axe(looker.tab) == []


def test_nothing_is_found_before_anything_is_there(looker: Player, axe: Axe):
    looker.load(sketch(steps=[]))
    assert axe(looker.tab) == []
