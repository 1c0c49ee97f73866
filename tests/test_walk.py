"""How many files one reads to follow a row, an element or a call, and that the page names them.

A hook of the interpreter notes each file of the product in which a function is called. The harness
of tests, which hands rows in, is not counted.
"""

import gc
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import pytest

import beamlike
import beamlike.beam as beam
from beamlike import FixedWindows, count, windowed
from beamlike.testing import QueryTest

PACKAGE = Path(beamlike.__file__).resolve().parent
PAGE = PACKAGE.parent / "docs" / "pages" / "architecture.md"
Result = TypeVar("Result")


class Walk:
    """The files of the product that are called while a walk is on, in order of their first call."""

    def __init__(self) -> None:
        self._called: dict[str, None] = {}

    @property
    def files(self) -> list[str]:
        """By their paths within the package."""
        names = (Path(name) for name in self._called)
        inside = [name.relative_to(PACKAGE) for name in names if name.is_relative_to(PACKAGE)]
        return [path.as_posix() for path in inside if path.parts[0] != "testing"]

    def follow(self, call: Callable[[], Result]) -> Result:
        """The result of a call, which is followed to its end."""
        self.begin()
        try:
            return call()
        finally:
            self.end()

    def begin(self) -> None:
        """Follow what happens from now on.

        What is garbage is collected before, and not meanwhile: its finalizers are not of the walk.
        """
        gc.collect()
        gc.disable()
        sys.setprofile(self._note)

    def end(self) -> None:
        """Follow no further."""
        sys.setprofile(None)
        gc.enable()

    def _note(self, frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_name != "<module>":
            self._called.setdefault(code.co_filename)


@pytest.fixture
def walk() -> Walk:
    """A walk that has not begun."""
    return Walk()


def visits(df: Any) -> Any:
    return windowed(
        df,
        key="user",
        timestamp="at",
        window=FixedWindows("1 hour"),
        aggregate={"visits": count()},
        watermark="0 s",
    )


def running_query() -> QueryTest:
    return QueryTest(visits, "user string, at timestamp")


def pipeline_of(
    before: Callable[[Any], Any] = lambda element: element,
    after: Callable[[Any], Any] = lambda element: element,
) -> beam.Pipeline:
    """Two elements of a key, grouped; with a function before the grouping and one after it."""
    visited = [beam.window.TimestampedValue(("ann", number), number) for number in (1, 2)]
    pipeline = beam.Pipeline()
    (
        pipeline
        | beam.Create(visited)
        | beam.Map(before)
        | beam.WindowInto(beam.window.FixedWindows(60))
        | beam.CombinePerKey(sum)
        | beam.Map(after)
    )
    return pipeline


def test_describing_a_query_touches_sixty_files_at_most(walk: Walk) -> None:
    running_query()  # so that what is imported on first use has been
    walk.follow(running_query)
    assert len(walk.files) <= 60


def test_a_row_touches_forty_files_at_most_and_the_page_names_them_in_order(walk: Walk) -> None:
    query = running_query()
    assert query.send({"user": "ann", "at": "12:30:00"}) == []
    panes = walk.follow(lambda: query.send({"user": "ann", "at": "13:10:00"}))
    assert [pane["visits"] for pane in panes] == [1]
    assert walk.files == files_of_the_page("On `local`, file by file")
    assert len(walk.files) <= 40


def test_the_first_rows_of_a_query_touch_hardly_more(walk: Walk) -> None:
    running_query().send({"user": "ann", "at": "12:30:00"})
    query = running_query()
    walk.follow(lambda: query.send({"user": "ann", "at": "12:30:00"}))
    walk.follow(lambda: query.send({"user": "ann", "at": "13:10:00"}))
    assert len(walk.files) <= 42


def test_building_a_pipeline_touches_fifty_files_at_most(walk: Walk) -> None:
    pipeline_of()
    walk.follow(pipeline_of)
    assert len(walk.files) <= 50


def test_an_element_touches_fifty_files_from_the_function_before_to_the_one_after_a_grouping(
    walk: Walk,
) -> None:
    summed = []

    def on_the_second(element: tuple[str, int]) -> tuple[str, int]:
        if element[1] == 2:
            walk.begin()
        return element

    def at_the_sum(element: tuple[str, int]) -> None:
        walk.end()
        summed.append(element)

    pipeline_of().run("local")
    pipeline_of(on_the_second, at_the_sum).run("local")
    assert summed == [("ann", 3)]
    assert len(walk.files) <= 50


def files_of_the_page(heading: str) -> list[str]:
    """The files that the section under a heading links to, by their paths within the package."""
    section = PAGE.read_text("utf-8").partition(f"### {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"\]\(\.\./\.\./beamlike/([^)]+)\)", section)
