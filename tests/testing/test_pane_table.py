"""The table of panes and drops."""

from beamlike.machine.events import Drop, DropReason, Element, Pane
from beamlike.model.panes import NO_FIRING, PaneInfo, Timing
from beamlike.model.time import END_OF_GLOBAL_WINDOW, instant_ms
from beamlike.model.windows import GLOBAL_WINDOW, IntervalWindow
from beamlike.runtime.script import Output
from beamlike.viz.table import pane_markup, pane_table

HOUR = 3_600_000
NOON = instant_ms("2013-01-01T12:00:00Z", "noon")
FIRST_EARLY = PaneInfo(Timing.EARLY, 0, -1, True, False)
LAST = PaneInfo(Timing.LATE, 11, 10, False, True)


def test_every_field_of_panes_and_drops_has_its_column() -> None:
    window = IntervalWindow(0, 60_000)

    assert pane_table(
        [
            Output(0, "joe", Pane(window, 1, 59_999, FIRST_EARLY)),
            Output(3, "ben", Pane(window, 2, 59_999, FIRST_EARLY, retraction=True)),
            Output(10, 7, Pane(window, [3], 30_000, LAST)),
            Output(11, None, Drop(Element("x", 5), window, DropReason.EXPIRED, 61_000)),
            Output(12, None, Drop(Element("y", 5), window, DropReason.CLOSED)),
            Output(13, "joe", Pane(GLOBAL_WINDOW, None, END_OF_GLOBAL_WINDOW, NO_FIRING)),
        ],
        marked={0, 4},
    ) == (
        "   step  key    window                timing   #   ns  place    timestamp     value\n"
        ">  0     'joe'  [00:00:00, 00:01:00)  EARLY    0   -1  first    00:00:59.999  1\n"
        "   3     'ben'  [00:00:00, 00:01:00)  EARLY    0   -1  first    00:00:59.999  "
        "withdrawn: 2\n"
        "   10    7      [00:00:00, 00:01:00)  LATE     11  10  last     00:00:30      [3]\n"
        "   11    None   [00:00:00, 00:01:00)  DROPPED          expired  00:00:00.005  "
        "'x' (missed by 1m 1s)\n"
        ">  12    None   [00:00:00, 00:01:00)  DROPPED          closed   00:00:00.005  'y'\n"
        "   13    'joe'  global                UNKNOWN  0   0   only     end of time   None"
    )


def test_dates_are_written_once_a_row() -> None:
    one_day = IntervalWindow(NOON, NOON + HOUR)
    two_days = IntervalWindow(NOON, NOON + 24 * HOUR)
    across = IntervalWindow(-HOUR, HOUR)

    assert pane_table(
        [
            Output(0, "UA", Pane(one_day, 1, one_day.max_timestamp, FIRST_EARLY)),
            Output(0, "UA", Pane(two_days, 2, two_days.max_timestamp, FIRST_EARLY)),
            Output(0, "UA", Pane(across, 3, across.max_timestamp, FIRST_EARLY)),
        ]
    ) == (
        "  step  key   window                                      timing  #  ns  place  "
        "timestamp                value\n"
        "  0     'UA'  [2013-01-01 12:00:00, 13:00:00)             EARLY   0  -1  first  "
        "12:59:59.999             1\n"
        "  0     'UA'  [2013-01-01 12:00:00, 2013-01-02 12:00:00)  EARLY   0  -1  first  "
        "2013-01-02 11:59:59.999  2\n"
        "  0     'UA'  [1969-12-31 23:00:00, 01:00:00)             EARLY   0  -1  first  "
        "00:59:59.999             3"
    )


def test_long_keys_and_values_are_cut_to_a_hundred_columns() -> None:
    window = IntervalWindow(0, 60_000)
    words = [f"word number {number}" for number in range(30)]

    table = pane_table(
        [
            Output(0, "a key that goes on", Pane(window, words, 59_999, FIRST_EARLY)),
            Output(
                0, "a key that goes on", Drop(Element(words, 5), window, DropReason.EXPIRED, 61_000)
            ),
        ]
    )

    assert table == (
        "  step  key             window                timing   #  ns  place    timestamp     "
        "value\n"
        "  0     'a key that...  [00:00:00, 00:01:00)  EARLY    0  -1  first    00:00:59.999  "
        "['word number 0', 'word num...\n"
        "  0     'a key that...  [00:00:00, 00:01:00)  DROPPED         expired  00:00:00.005  "
        "['word nu... (missed by 1m 1s)"
    )


def test_a_dropped_value_is_not_pushed_out_by_what_it_nearly_joined() -> None:
    window, nearest_session = IntervalWindow(0, 60_000), IntervalWindow(0, 1_260_500)

    def row(value: str) -> str:
        drop = Drop(Element(value, 5), window, DropReason.EXPIRED, 61_000, nearest_session)
        return pane_table([Output(0, "joe", drop)]).splitlines()[1].partition("00:00:00.005  ")[2]

    assert row("late") == "'late' (missed by 1m 1s, nearly joined [00:00:00, 00:21:00.500))"
    assert row("a visit that came " + "very " * 20 + "late") == (
        "'a visit that came very ver... (missed by 1m 1s, nearly joined [00:00:00, 00:21:00.500))"
    )


def test_what_a_function_raised_for_has_as_many_columns_as_are_known() -> None:
    window, why = IntervalWindow(0, 60_000), "Sum().add raised TypeError: no\nnumber"
    endless = "Sum().add raised TypeError: " + "no number " * 30

    assert pane_table(
        [
            Output(0, "joe", Drop(Element("x", 5), window, DropReason.FAILED, error=why)),
            Output(0, "joe", Drop(Element("y", 5), None, DropReason.FAILED, error=endless)),
            Output(1, "joe", Drop(None, window, DropReason.FAILED, error=why)),
            Output(2, "joe", Drop(None, window, DropReason.FAILED, error=why, count=7)),
        ]
    ) == (
        "  step  key    window                timing   #  ns  place   timestamp     value\n"
        "  0     'joe'  [00:00:00, 00:01:00)  DROPPED         failed  00:00:00.005  "
        "'x' (Sum().add raised TypeError: no number)\n"
        "  0     'joe'                        DROPPED         failed  00:00:00.005  "
        "'y' (Sum().add raised TypeError: no number no number no number no number no number no "
        "number...)\n"
        "  1     'joe'  [00:00:00, 00:01:00)  DROPPED         failed                "
        "an element (Sum().add raised TypeError: no number)\n"
        "  2     'joe'  [00:00:00, 00:01:00)  DROPPED         failed                "
        "7 elements (Sum().add raised TypeError: no number)"
    )


def test_an_element_that_is_none_is_no_lost_element() -> None:
    window = IntervalWindow(0, 60_000)
    drop = Drop(Element(None, 5), window, DropReason.CLOSED)

    assert pane_table([Output(0, "joe", drop)]) == (
        "  step  key    window                timing   #  ns  place   timestamp     value\n"
        "  0     'joe'  [00:00:00, 00:01:00)  DROPPED         closed  00:00:00.005  None"
    )


def test_a_run_without_output_says_so() -> None:
    assert pane_table([]) == "(nothing came out, nothing was dropped)"


def test_for_a_notebook_the_table_is_html_and_nothing_in_it_is_markup() -> None:
    window = IntervalWindow(0, 60_000)
    markup = pane_markup(
        [
            Output(0, "<b>", Pane(window, "</td><script>", 59_999, FIRST_EARLY)),
            Output(1, "<b>", Pane(window, 2, 59_999, FIRST_EARLY, retraction=True)),
            Output(2, "<b>", Drop(Element("&", 5), window, DropReason.EXPIRED, 61_000)),
        ]
    )
    rows = markup.replace(' style="text-align:left"', "").split("<tr>")
    assert [row.removesuffix("</tr>") for row in rows[2:]] == [
        "<td>0</td><td>&#x27;&lt;b&gt;&#x27;</td><td>[00:00:00, 00:01:00)</td><td>EARLY</td>"
        "<td>0</td><td>-1</td><td>first</td><td>00:00:59.999</td>"
        "<td><code>&#x27;&lt;/td&gt;&lt;script&gt;&#x27;</code></td>",
        "<td>1</td><td>&#x27;&lt;b&gt;&#x27;</td><td>[00:00:00, 00:01:00)</td><td>EARLY</td>"
        "<td>0</td><td>-1</td><td>first</td><td>00:00:59.999</td>"
        "<td><s><code>withdrawn: 2</code></s></td>",
        "<td>2</td><td>&#x27;&lt;b&gt;&#x27;</td><td>[00:00:00, 00:01:00)</td><td>DROPPED</td>"
        "<td></td><td></td><td>expired</td><td>00:00:00.005</td>"
        "<td><code>&#x27;&amp;&#x27; (missed by 1m 1s)</code></td></tr></tbody></table>",
    ]


def test_a_notebook_gets_the_first_rows_of_very_many() -> None:
    outputs = [Output(0, "a", Pane(GLOBAL_WINDOW, n, 0, FIRST_EARLY)) for n in range(203)]
    markup = pane_markup(outputs)
    assert markup.count("<tr>") == 201
    assert markup.endswith("</table><p>... and 3 more</p>")
    assert pane_markup([]) == "<p>(nothing came out, nothing was dropped)</p>"


def test_what_differs_between_rows_is_not_cut_off() -> None:
    window = IntervalWindow(0, 60_000)
    page = "https://example.com/a/rather/long/path"

    def pane(user: int, views: int) -> Output:
        value = {"page": page, "referrer": None, "views": views}
        return Output(0, f"customer-{user:06}", Pane(window, value, 59_999, FIRST_EARLY))

    lost = {"page": page, "referrer": None, "views": 9}
    drop = Drop(Element(lost, 5), window, DropReason.EXPIRED, 61_000)
    taken = pane(17, 3)
    withdrawn = Output(
        1, taken.key, Pane(window, taken.effect.value, 59_999, FIRST_EARLY, retraction=True)
    )

    lines = pane_table([pane(17, 3), pane(18, 4), withdrawn, Output(2, "guest", drop)]).splitlines()

    start = "[00:00:00, 00:01:00)  EARLY    0  -1  first    00:00:59.999  "
    assert lines[1:] == [
        f"  0     'cus...000017'  {start}{{'page': '...None, 'views': 3}}",
        f"  0     'cus...000018'  {start}{{'page': '...None, 'views': 4}}",
        f"  1     'cus...000017'  {start}withdrawn: {{'page...views': 3}}",
        "  2     'guest'         [00:00:00, 00:01:00)  DROPPED         expired  00:00:00.005  "
        "{'pa...': 9} (missed by 1m 1s)",
    ]


def test_a_wider_terminal_has_more_of_the_values() -> None:
    window = IntervalWindow(0, 60_000)
    outputs = [Output(0, "joe", Pane(window, list(range(30)), 59_999, FIRST_EARLY))]

    def value(width: int) -> str:
        return pane_table(outputs, width=width).splitlines()[1].partition("59.999  ")[2]

    assert value(100) == "[0, 1, 2, 3, 4, 5, 6, 7, 8,..."
    assert value(60) == value(100)  # so much there always is
    assert value(110) == "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,..."
    assert value(200) == str(list(range(30)))
