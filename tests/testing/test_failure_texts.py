"""The text of a failure: what was wanted, everything that came out, a timeline."""

from typing import Any

import pytest

from beamlike.model.windowfns import FixedWindows
from beamlike.testing import (
    PaneAssertionError,
    Results,
    TestStream,
    be_empty,
    contain_in_any_order,
    contain_single_value,
    contain_single_value_at_time,
    contain_value,
    dropped,
    early_pane,
    emit_exactly,
    exist,
    for_all,
    have_size,
    in_final_pane,
    in_late_pane,
    in_on_time_pane,
    in_only_pane,
    in_window,
    late_pane,
    on_time_pane,
)

FIRST = ("00:00:00", "00:01:00")

WINDOWING = (
    "FixedWindows(1m), AfterWatermark(early=AfterCount(2), late=AfterCount(1)), accumulating, "
    "allowed lateness 1m"
)


TIMELINE = """\
* element   o behind the watermark   x dropped   [--) window   | watermark

'joe' key               00:00:00          00:01:00           00:02:00           00:03:00
                        +-----------------+------------------+------------------+------------------+
  0 + 'a'                  *
      opened            [----------------)
  2 + 'b'                        *
      EARLY #0          [----------------) ['a', 'b'] by AfterWatermark.early[AfterCount(2)]
  3 watermark                             | 00:01:00
      ON_TIME #1        [----------------)|['a', 'b'] by AfterWatermark[end of window]
  4 + 'c'                           o     |
      LATE #2           [----------------)|['a', 'b', 'c'] by AfterWatermark.late[AfterCount(1)]
  5 watermark                                                | 00:02:00
      no pane           [----------------) nothing new, expiry of the window
  6 + 'e'                              x                     |
      dropped, expired  [--------------x-) 'e' missed by 1ms |
  7 + 'd'                                                    |                           *
      opened                                                 |                  [-----------------)
  8 watermark                                                                             infinity >
      ON_TIME #0 last                             ['d'] by expiry of the window [-----------------)

'ben' key               00:00:00          00:01:00           00:02:00           00:03:00
                        +-----------------+------------------+------------------+------------------+
  1 + 'x', 'y'                *
      opened            [----------------)
      EARLY #0          [----------------) ['x', 'y'] by AfterWatermark.early[AfterCount(2)]
  3 watermark                             | 00:01:00
      ON_TIME #1        [----------------)|['x', 'y'] by AfterWatermark[end of window]
  5 watermark                                                | 00:02:00
      no pane           [----------------) nothing new, expiry of the window
  8 watermark                                                                             infinity >
""".rstrip("\n")
"""What every failure of this run ends with: the same picture."""


def text_of_failure(results: Results, matcher: Any, *, negated: bool = False) -> str:
    """The whole text but the timeline, which is at the end of every failure."""
    with pytest.raises(PaneAssertionError) as failed:
        (results.should_not if negated else results.should)(matcher)
    text, heading, timeline = str(failed.value).partition("\n\ntimeline:\n")
    assert heading
    assert timeline == TIMELINE
    return text


def test_a_value_that_is_not_the_expected_one(results: Results) -> None:
    text = text_of_failure(
        results,
        in_on_time_pane(
            *FIRST, contain_in_any_order([("joe", ["a", "b"]), ("ben", ["x"]), ("mary", [])])
        ),
    )

    assert text == (
        "in_on_time_pane [00:00:00, 00:01:00) contain_in_any_order does not hold\n"
        "\n"
        "expected    exactly these 3 elements, in any order\n"
        "            ('joe', ['a', 'b'])\n"
        "            ('ben', ['x'])\n"
        "            ('mary', [])\n"
        "missing     ('ben', ['x'])\n"
        "            ('mary', [])\n"
        "unexpected  ('ben', ['x', 'y'])\n"
        f"windowing   {WINDOWING}\n"
        "\n"
        "everything that came out, 2 marked with >:\n"
        "   step  key    window                timing   #  ns  place    timestamp     value\n"
        "   1     'ben'  [00:00:00, 00:01:00)  EARLY    0  -1  first    00:00:59.999  ['x', 'y']\n"
        "   2     'joe'  [00:00:00, 00:01:00)  EARLY    0  -1  first    00:00:59.999  ['a', 'b']\n"
        ">  3     'joe'  [00:00:00, 00:01:00)  ON_TIME  1  0            00:00:59.999  ['a', 'b']\n"
        ">  3     'ben'  [00:00:00, 00:01:00)  ON_TIME  1  0            00:00:59.999  ['x', 'y']\n"
        "   4     'joe'  [00:00:00, 00:01:00)  LATE     2  1            00:00:59.999  "
        "['a', 'b', 'c']\n"
        "   6     'joe'  [00:00:00, 00:01:00)  DROPPED         expired  00:00:50      "
        "'e' (missed by 1ms)\n"
        "   8     'joe'  [00:03:00, 00:04:00)  ON_TIME  0  0   only     00:03:59.999  ['d']"
    )


TABLE = (
    "everything that came out:\n"
    "  step  key    window                timing   #  ns  place    timestamp     value\n"
    "  1     'ben'  [00:00:00, 00:01:00)  EARLY    0  -1  first    00:00:59.999  ['x', 'y']\n"
    "  2     'joe'  [00:00:00, 00:01:00)  EARLY    0  -1  first    00:00:59.999  ['a', 'b']\n"
    "  3     'joe'  [00:00:00, 00:01:00)  ON_TIME  1  0            00:00:59.999  ['a', 'b']\n"
    "  3     'ben'  [00:00:00, 00:01:00)  ON_TIME  1  0            00:00:59.999  ['x', 'y']\n"
    "  4     'joe'  [00:00:00, 00:01:00)  LATE     2  1            00:00:59.999  ['a', 'b', 'c']\n"
    "  6     'joe'  [00:00:00, 00:01:00)  DROPPED         expired  00:00:50      "
    "'e' (missed by 1ms)\n"
    "  8     'joe'  [00:03:00, 00:04:00)  ON_TIME  0  0   only     00:03:59.999  ['d']"
)


def test_a_window_that_is_a_millisecond_off(results: Results) -> None:
    text = text_of_failure(
        results,
        in_late_pane(
            "00:00:00",
            "00:01:00.001",
            contain_single_value_at_time("00:01:00", ("joe", ["a", "b", "c"])),
        ),
    )

    assert text == (
        "in_late_pane [00:00:00, 00:01:00.001) contain_single_value_at_time does not hold: "
        "no pane was selected\n"
        "\n"
        "expected   exactly one element, ('joe', ['a', 'b', 'c']) at 00:01:00\n"
        "missing    ('joe', ['a', 'b', 'c']) at 00:01:00\n"
        f"windowing  {WINDOWING}\n"
        "\n"
        f"{TABLE}"
    )


def test_a_negation_of_a_window_that_does_not_occur(results: Results) -> None:
    text = text_of_failure(
        results, in_on_time_pane("00:02:00", "00:04:00", have_size(2)), negated=True
    )

    assert text == (
        "should_not in_on_time_pane [00:02:00, 00:04:00) have_size says nothing: "
        "no pane was selected, and no such window occurs\n"
        "\n"
        "expected   anything but 2 elements\n"
        "windows    [00:00:00, 00:01:00)\n"
        "           [00:03:00, 00:04:00)\n"
        "to do      name a window that occurs, or write be_empty if that is meant\n"
        f"windowing  {WINDOWING}\n"
        "\n"
        f"{TABLE}"
    )


def test_a_complete_output_that_is_not_the_expected_one(results: Results) -> None:
    text = text_of_failure(
        results,
        emit_exactly(
            early_pane("ben", ["x", "y"], *FIRST, is_last=False),
            early_pane("joe", ["b", "a"], *FIRST, is_last=False),
            on_time_pane("joe", ["a", "b"], *FIRST, is_last=False),
            on_time_pane("ben", ["x", "y"], *FIRST, index=1, is_last=False),
            late_pane("mary", ["m"], *FIRST, is_last=False),
            dropped("joe", "e", at="00:00:50", window=FIRST, reason="expired", missed_by="1 ms"),
            on_time_pane("joe", ["d"], "00:03:00", "00:04:00", is_last=True),
        ),
    )

    assert text.partition("\n\neverything that came out")[0] == (
        "emit_exactly does not hold: 2 missing, 2 unexpected\n"
        "\n"
        "expected    on_time_pane('joe', ['a', 'b'], \"00:00:00\", \"00:01:00\", is_last=False)\n"
        "came out    on_time_pane('joe', ['a', 'b'], \"00:00:00\", \"00:01:00\", index=1, "
        "is_last=False)\n"
        "differs in  index: expected 0, got 1\n"
        "            is_first: expected True, got False\n"
        "missing     late_pane('mary', ['m'], \"00:00:00\", \"00:01:00\", is_last=False)\n"
        "unexpected  late_pane('joe', ['a', 'b', 'c'], \"00:00:00\", \"00:01:00\", index=2, "
        "nonspeculative_index=1, is_last=False)\n"
        f"windowing   {WINDOWING}"
    )
    assert [line[8:34] for line in text.splitlines() if line.startswith(">  ")] == [
        " 'joe'  [00:00:00, 00:01:0",
        " 'joe'  [00:00:00, 00:01:0",
    ]


def first_lines(text: str) -> str:
    """A failure up to its windowing."""
    return text.partition("\nwindowing")[0]


def test_a_final_pane_that_is_missing(results: Results) -> None:
    assert first_lines(text_of_failure(results, in_final_pane(*FIRST, have_size(1)))) == (
        "in_final_pane [00:00:00, 00:01:00) have_size does not hold: no pane was selected\n"
        "\n"
        "expected   1 element\n"
        "because    no elements selected"
    )


def test_a_pane_that_is_not_the_only_one_is_marked(results: Results) -> None:
    text = text_of_failure(results, in_only_pane(*FIRST, be_empty))

    assert first_lines(text) == (
        "in_only_pane [00:00:00, 00:01:00): the window has panes that are not the only one of "
        "their key\n"
        "\n"
        "expected   every pane of the window is both first and last"
    )
    assert "everything that came out, 5 marked with >:" in text


@pytest.mark.parametrize(
    ("matcher", "negated", "lines"),
    [
        (
            be_empty,
            False,
            "be_empty does not hold\n\nexpected    no elements\n"
            "unexpected  ('ben', ['x', 'y'])\n"
            "            ('joe', ['a', 'b'])\n"
            "            ('joe', ['a', 'b'])\n"
            "            ('ben', ['x', 'y'])\n"
            "            ('joe', ['a', 'b', 'c'])\n"
            "            ('joe', ['d'])\n"
            "because     6 elements selected",
        ),
        (
            in_late_pane(*FIRST, contain_value(("joe", ["a", "b", "c"]))),
            True,
            "in_late_pane [00:00:00, 00:01:00) contain_value holds, but should not\n\n"
            "expected   anything but an element ('joe', ['a', 'b', 'c'])",
        ),
        (
            in_window("00:03:00", "00:04:00", contain_single_value(("joe", ["e"]))),
            False,
            "in_window [00:03:00, 00:04:00) contain_single_value does not hold\n\n"
            "expected    exactly one element, ('joe', ['e'])\n"
            "missing     ('joe', ['e'])\n"
            "unexpected  ('joe', ['d'])",
        ),
    ],
)
def test_the_first_lines_say_what_is_wrong(
    results: Results, matcher: Any, negated: bool, lines: str
) -> None:
    assert first_lines(text_of_failure(results, matcher, negated=negated)) == lines


def test_a_failed_predicate_shows_its_name_and_the_data(results: Results) -> None:
    def is_short(pair: tuple[str, list[str]]) -> bool:
        return len(pair[1]) < 2

    place = f"is_short of test_failure_texts.py:{is_short.__code__.co_firstlineno}"
    late = text_of_failure(results, in_late_pane(*FIRST, for_all(is_short)))
    on_time = text_of_failure(results, in_on_time_pane(*FIRST, exist(is_short)))

    assert first_lines(late) == (
        "in_late_pane [00:00:00, 00:01:00) for_all does not hold\n\n"
        f"expected    that every element satisfies {place}\n"
        "unexpected  ('joe', ['a', 'b', 'c'])"
    )
    assert first_lines(on_time) == (
        "in_on_time_pane [00:00:00, 00:01:00) exist does not hold\n\n"
        f"expected   that at least one element satisfies {place}\n"
        "because    it is False for all of\n"
        "           ('joe', ['a', 'b'])\n"
        "           ('ben', ['x', 'y'])"
    )


def test_a_long_list_of_elements_is_cut(results: Results) -> None:
    many = [("joe", [number]) for number in range(20)]

    text = text_of_failure(results, in_late_pane(*FIRST, contain_in_any_order(many)))

    assert "            ('joe', [11])\n            ... and 8 more\n" in text
    assert "('joe', [12])" not in text


class Sneaky:
    """A value whose text clears the screen, goes to another line and then back on it."""

    def __repr__(self) -> str:
        return "<a\x1b[2J\n  b\r>"


SHOWN = r"<a\x1b[2J b\r>"
"""Its text on one line, with nothing in it that a terminal would do."""


@pytest.mark.parametrize(
    "matcher",
    [
        contain_single_value(("joe", [Sneaky()])),
        in_on_time_pane("00:00:00", "00:01:00", contain_value(("joe", [Sneaky()]))),
        emit_exactly(on_time_pane(Sneaky(), [Sneaky()], *FIRST, is_last=True)),
        emit_exactly(dropped(Sneaky(), Sneaky(), at=5, window=FIRST, reason="closed")),
        emit_exactly(on_time_pane("joe", ["a"], *FIRST, is_last=True)),
        for_all(lambda element: element == "a"),
        have_size(3),
        in_final_pane("00:01:00", "00:02:00", have_size(1)),
    ],
)
def test_what_a_value_shows_of_itself_is_no_command_to_a_terminal(matcher: Any) -> None:
    stream = TestStream().add_elements_at_time(0, ("joe", Sneaky()), (Sneaky(), 5))
    results = stream.advance_watermark_to_infinity().run(window=FixedWindows("1 minute"))

    with pytest.raises(PaneAssertionError) as failed:
        results.should(matcher)
    lines = str(failed.value).splitlines()
    assert [line for line in lines if not line.isprintable()] == []
    assert f"{SHOWN} key" in [line.split("   ")[0] for line in lines]
    assert f"  0 + {SHOWN}" in [line.split("   ")[0] for line in lines]
    # Each pane stands on one line of the table, whole.
    start = next(index for index, line in enumerate(lines) if "step  key" in line)
    assert [line.lstrip("> ").split()[:2] for line in lines[start + 1 : start + 3]] == [
        ["1", "'joe'"],
        ["1", "<a\\x1b[2J"],
    ]
    assert lines[start + 3] == ""
