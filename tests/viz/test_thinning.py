"""How a long text timeline gets short."""

from beamlike.viz.timeline import DrawnStep, thinned


def element(step: int, row: str = "*", *below: str, drops: int = 0) -> DrawnStep:
    return DrawnStep(step, "+ 'a'", row, below, elements=1, panes=len(below), drops=drops)


def watermark(step: int, row: str = "|") -> DrawnStep:
    return DrawnStep(step, "watermark", row)


def test_a_short_story_is_drawn_as_it_is() -> None:
    trace = [element(0), element(1), watermark(2), watermark(3)]
    assert list(thinned(trace, 8)) == trace


def test_of_what_is_still_too_long_the_middle_is_left_out() -> None:
    trace = [element(step, "*", "EARLY #0") for step in range(9)] + [element(9, "x", drops=1)]
    assert list(thinned(trace, 8)) == [
        *trace[:2],
        "... steps 2 to 7 left out: 6 elements, 6 panes",
        *trace[8:],
    ]


def test_a_single_step_too_many_does_not_vanish_for_a_line_that_says_so() -> None:
    trace = [element(0, "*", *["EARLY"] * 9), element(1, "*", *["LATE"] * 9)]
    assert list(thinned(trace, 4)) == trace
