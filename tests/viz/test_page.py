"""The page as a file: what is in it, what is not, and what a reader is told in words."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import attrs
import pytest

import beamlike as bl
from beamlike.errors import EnvironmentProblem, RecordingError
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Drop, Element
from beamlike.machine.reference.step import Grouping
from beamlike.machine.ungrouped import PassThrough
from beamlike.model.combine import Collect
from beamlike.model.strategy import WindowingStrategy
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive, ScriptStep
from beamlike.testing import TestStream
from beamlike.viz.page import page, save_page
from beamlike.viz.recording import Recording
from tests.support.recordings import BY_FIVE, ordered, recorded


def tea(value: Any = "tea", key: Any = "table 3") -> Recording:
    return recorded(ordered(value, key), **BY_FIVE | {"accumulation": "retracting"})


class Read(HTMLParser):
    """Elements with their attributes, and the text of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[int, str] = {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.texts[len(self.tags) - 1] = ""
        self.inside = True

    def handle_endtag(self, tag: str) -> None:
        self.inside = False

    def handle_data(self, data: str) -> None:
        if self.tags and self.inside:
            self.texts[len(self.tags) - 1] += data

    def text_of(self, tag: str, **attributes: str) -> str:
        found = [
            self.texts[index]
            for index, (name, given) in enumerate(self.tags)
            if name == tag and attributes.items() <= given.items()
        ]
        assert len(found) == 1
        return found[0]


def data_of(text: str) -> Any:
    return json.loads(Read(text).text_of("script", type="application/json"))


def said(text: str) -> list[list[str]]:
    """What a reader is told of the only key, step by step."""
    (stream,) = data_of(text)["scenarios"][0]["streams"]
    moments = [moment or {"said": []} for moment in stream["moments"]]
    return [[sentence for _, sentence in moment["said"]] for moment in moments]


def test_a_window_that_has_merged_away_does_not_expire_when_its_pane_is_withdrawn():
    grown = recorded(
        TestStream()
        .add_elements_at_time("12:00:00", ("ann", "a"))
        .advance_processing_time("2 minutes")
        .add_elements_at_time("12:05:00", ("ann", "b")),
        window=bl.Sessions("10 minutes"),
        trigger=bl.AfterWatermark(early=bl.AfterProcessingTime("1 minute")),
        accumulation="retracting",
        allowed_lateness=0,
    )
    *_, last = said(page(grown))
    assert last == [
        "[12:00:00, 12:15:00) withdraws EARLY pane 0 of [12:00:00, 12:10:00), which it grew from: "
        "['a'].",
        "[12:00:00, 12:15:00) emits its last pane, ON_TIME 0: ['a', 'b'], by expiry of the window: "
        "the watermark has reached 12:15:00, and there is no allowed lateness. Its panes are "
        "counted from 0 again, because the session has grown.",
    ]


def test_each_step_is_reported_in_words():
    assert said(page(tea())) == [
        ["'tea' at 12:01:00 opens [12:00:00, 12:05:00)."],
        [
            "[12:00:00, 12:05:00) emits ON_TIME pane 0: ['tea'], by AfterWatermark[end of window]: "
            "the watermark has reached 12:05:00."
        ],
        [
            "'milk' at 12:04:00 goes into [12:00:00, 12:05:00).",
            "[12:00:00, 12:05:00) withdraws its ON_TIME pane 0: ['tea'].",
            "[12:00:00, 12:05:00) emits LATE pane 1: ['tea', 'milk'], by "
            "AfterWatermark.late[AfterCount(1)]: an element came.",
        ],
        [
            "[12:00:00, 12:05:00) expires without a pane: nothing came since its last pane "
            '(closing_behavior="fire_if_non_empty").'
        ],
        [
            "'salt' at 12:04:30 is dropped: its window [12:00:00, 12:05:00) expired when the "
            "watermark reached 12:15:00, its end plus the allowed lateness of 10m."
        ],
        [],
    ]


def test_the_figure_gets_every_element_pane_and_window_of_the_key():
    (stream,) = data_of(page(tea()))["scenarios"][0]["streams"]
    noon = [43_200_000, 43_500_000]
    assert [(e["step"], e["value"], e["late"], e["lost"]) for e in stream["elements"]] == [
        (0, "'tea'", False, ""),
        (2, "'milk'", True, ""),
        (4, "'salt'", True, "all"),
    ]
    panes = [
        (p["step"], p["window"], p["timing"], p["index"], p["retraction"], p["withdrawn"])
        for p in stream["panes"]
    ]
    assert panes == [
        (1, noon, "on time", 0, False, 2),
        (2, noon, "on time", 0, True, None),
        (2, noon, "late", 1, False, None),
    ]
    assert stream["lives"] == [
        {
            "window": noon,
            "name": "[12:00:00, 12:05:00)",
            "start": 0,
            "end": 3,
            "fate": "expired",
            "closed": None,
        }
    ]


def test_the_state_of_each_trigger_node_is_there_for_every_step():
    scenario = data_of(page(tea()))["scenarios"][0]
    (stream,) = scenario["streams"]

    def nodes(node: Any) -> list[tuple[str, str]]:
        state = "finished" if node["finished"] else "ready" if node["ready"] else node["waits"]
        return [(node["path"], state)] + [pair for sub in node["subs"] for pair in nodes(sub)]

    states = [
        moment and [nodes(scenario["views"][number]["trigger"]) for number in moment["windows"]]
        for moment in stream["moments"]
    ]
    before = ["the watermark to reach 12:05:00", "its turn"]
    after = ["1 more element (0 of 1)", "1 more element (0 of 1)"]
    paths = ["AfterWatermark", "AfterWatermark.late"]
    assert states == [
        [list(zip(paths, before, strict=True))],
        [list(zip(paths, after, strict=True))],
        [list(zip(paths, after, strict=True))],
        [],
        [],
        None,  # as before
    ]


def test_the_windowing_names_every_option_that_is_not_the_default():
    stream = TestStream().add_elements_at_time("00:00:00", ("joe", "open"))
    plain = recorded(stream, window=bl.Sessions("10 minutes"))
    chosen = recorded(
        stream,
        window=bl.Sessions("10 minutes"),
        trigger=bl.AfterWatermark(early=bl.AfterCount(1)),
        accumulation="retracting",
        allowed_lateness="0 s",
        timestamp_combiner="earliest",
        closing_behavior="fire_always",
        on_time_behavior="fire_if_non_empty",
        late_check="retain",
        unchanged="omit",
    )
    always = ["windows", "trigger", "accumulation", "allowed lateness"]

    def parts(recording: Recording) -> list[list[str]]:
        return list(data_of(page(recording))["scenarios"][0]["windowing"])

    assert [label for label, _ in parts(plain)] == always
    assert [label for label, _ in parts(chosen)[:4]] == always
    assert parts(chosen)[4:] == [
        ["timestamp combiner", "earliest"],
        ["closing behavior", "fire_always"],
        ["on-time behavior", "fire_if_non_empty"],
        ["late check", "retain"],
        ["unchanged panes", "omit"],
    ]


def test_sessions_that_merge_hand_over_their_lives():
    recording = recorded(
        TestStream()
        .add_elements_at_time("00:00:00", ("joe", "open"))
        .add_elements_at_time("00:15:00", ("joe", "close"))
        .add_elements_at_time("00:08:00", ("joe", "look")),
        window=bl.Sessions("10 minutes"),
    )
    (stream,) = data_of(page(recording))["scenarios"][0]["streams"]
    lives = [(life["name"], life["start"], life["end"], life["fate"]) for life in stream["lives"]]
    assert lives == [
        ("[00:00:00, 00:10:00)", 0, 2, "merged"),
        ("[00:15:00, 00:25:00)", 1, 2, "merged"),
        ("[00:00:00, 00:25:00)", 2, 3, "expired"),
    ]
    (sentence,) = said(page(recording))[2]
    assert sentence.startswith("'look' at 00:08:00 bridges [00:00:00, 00:10:00) and [00:15:00, ")


def test_a_window_on_another_day_is_not_dated_twice():
    recording = recorded(
        TestStream().add_elements_at_time("2013-01-01T06:01:00", ("UA", 1)),
        window=bl.FixedWindows("5 minutes"),
    )
    (view,) = data_of(page(recording))["scenarios"][0]["views"]
    assert view["name"] == "[2013-01-01 06:00:00, 06:05:00)"


def test_steps_of_other_keys_take_no_room():
    stream: Any = TestStream()
    for second in range(100):
        stream = stream.add_elements_at_time(second * 1_000, (second, "tea"))
    recording = recorded(stream, window=bl.FixedWindows("5 minutes"))
    streams = data_of(page(recording))["scenarios"][0]["streams"]
    assert [sum(moment is not None for moment in stream["moments"]) for stream in streams] == [
        2
    ] * 100  # its element, and the pane at the end


def test_an_element_that_one_of_two_windows_refuses_is_lost_in_part():
    recording = recorded(
        TestStream().advance_watermark_to("00:10:00").add_elements_at_time("00:07:00", ("a", 1)),
        window=bl.SlidingWindows("10 minutes", "5 minutes"),
    )
    (stream,) = data_of(page(recording))["scenarios"][0]["streams"]
    assert [(e["lost"], e["refused"]) for e in stream["elements"]] == [
        ("some", "[00:00:00, 00:10:00)")
    ]


NASTY = "</script><script>alert('1')</script><!-- <b> & \u2028 \udc00 {{style}}"


def test_what_users_values_look_like_ends_no_script_and_starts_none():
    text = page(tea(value=NASTY, key=NASTY), title=NASTY)
    read = Read(text)
    assert [tag for tag, _ in read.tags].count("script") == 2
    assert "b" not in [tag for tag, _ in read.tags]
    assert re.findall("[<>&\u2028\u2029]", read.text_of("script", type="application/json")) == []
    assert [
        element["value"] for element in data_of(text)["scenarios"][0]["streams"][0]["elements"]
    ] == [repr(NASTY), "'milk'", "'salt'"]
    assert data_of(text)["scenarios"][0]["streams"][0]["key"] == repr(NASTY)


def test_a_long_value_is_shortened():
    (stream,) = data_of(page(tea(value="x" * 100_000)))["scenarios"][0]["streams"]
    assert stream["elements"][0]["value"] == "'" + "x" * 196 + "..."
    assert len(page(tea(value="x" * 100_000))) < len(page(tea())) + 5_000


def test_only_what_is_in_the_file_may_run_and_nothing_may_be_fetched():
    text = page(tea())
    read = Read(text)

    def hash_of(part: str) -> str:
        return base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()

    (policy,) = [
        attributes["content"]
        for tag, attributes in read.tags
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    (script,) = [
        read.texts[index]
        for index, (tag, given) in enumerate(read.tags)
        if (tag, given) == ("script", {})
    ]
    assert policy is not None
    assert policy.split("; ") == [
        "default-src 'none'",
        f"script-src 'sha256-{hash_of(script)}'",
        f"style-src 'sha256-{hash_of(read.text_of('style'))}'",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
    addressed = {name for _, given in read.tags for name in given} & {"src", "href", "style"}
    assert addressed == {"href"}
    assert [given["href"] for _, given in read.tags if "href" in given] == ["#said"]
    assert "innerHTML" not in script
    assert "url(http" not in text


def test_the_same_recording_gives_the_same_page():
    assert page(tea()) == page(tea())


def test_several_recordings_share_a_page():
    document = data_of(page({"with tea": tea(), "with rum": tea("rum")}, "two drinks"))
    assert [scenario["title"] for scenario in document["scenarios"]] == ["with tea", "with rum"]


def test_a_stream_without_elements_still_has_its_clocks():
    recording = recorded(
        TestStream().advance_watermark_to("00:01:00"), window=bl.FixedWindows("5 minutes")
    )
    scenario = data_of(page(recording))["scenarios"][0]
    assert [step["title"] for step in scenario["steps"]] == [
        "The watermark moved to 00:01:00",
        "The watermark moved to infinity",
    ]
    assert [stream["key"] for stream in scenario["streams"]] == ["no key"]


def test_no_recording_is_no_page():
    with pytest.raises(RecordingError, match="a page needs a recording, got none"):
        page({})


def test_a_page_is_saved_where_its_folder_is(tmp_path: Path):
    path = save_page(tea(), tmp_path / "tea.html", "Tea")
    assert path == tmp_path / "tea.html"
    assert path.read_bytes() == page(tea(), "Tea").encode()
    with pytest.raises(EnvironmentProblem, match=r"cannot be written to .*none.*name a file"):
        save_page(tea(), tmp_path / "none" / "tea.html")


def test_results_save_their_page(tmp_path: Path):
    results = (
        TestStream()
        .add_elements_at_time("12:01:00", ("table 3", "tea"))
        .advance_watermark_to_infinity()
        .run(window=bl.FixedWindows("5 minutes"))
    )
    path = results.save_page(tmp_path / "tea.html", title="Tea")
    assert path.read_text(encoding="utf-8") == page(results.recording, "Tea")


def test_a_notebook_shows_results_as_a_table():
    results = TestStream().advance_watermark_to_infinity().run(window=bl.FixedWindows("1 hour"))
    assert results._repr_html_() == "<p>(nothing came out, nothing was dropped)</p>"


def test_results_are_a_table_too_where_html_is_not_shown():
    class Printer:
        shown = ""

        def text(self, text: str) -> None:
            self.shown += text

    results = (
        TestStream()
        .add_elements_at_time("12:01:00", ("table 3", "tea"))
        .advance_watermark_to_infinity()
        .run(window=bl.FixedWindows("5 minutes"))
    )
    printer = Printer()
    results._repr_pretty_(printer, cycle=False)
    assert printer.shown == str(results)


def test_what_was_not_grouped_is_in_windows_of_which_nothing_is_remembered() -> None:
    """It has a list of windows and no trigger, panes without a timing, and nothing expires."""
    strategy = WindowingStrategy(bl.FixedWindows("5 minutes"))
    script = (Arrive((("joe", Element("tea", 60_000)),)), AdvanceWatermark(900_000))
    run = run_in_memory(PassThrough(strategy.window_fn), script)

    text = page(Recording.of(run, strategy, None))

    (scenario,) = data_of(text)["scenarios"]
    (stream,) = scenario["streams"]
    assert scenario["windowing"] == [["windows", "FixedWindows(5m), not grouped"]]
    assert (scenario["grouped"], stream["lives"]) == (False, [])
    assert [(pane["timing"], pane["last"]) for pane in stream["panes"]] == [("unknown", False)]
    assert said(text) == [
        ["'tea' at 00:01:00 comes out at once, in [00:00:00, 00:05:00): nothing is grouped."],
        [],
    ]


def test_without_a_grouping_nothing_is_guessed_from_what_came_out() -> None:
    """Nothing came out of either run, and only one of them groups."""
    strategy = WindowingStrategy(bl.FixedWindows("5 minutes"))
    passed = run_in_memory(PassThrough(strategy.window_fn), (AdvanceWatermark(0),))
    grouped = run_in_memory(Grouping(strategy, Collect()), (AdvanceWatermark(0),))

    assert not Recording.of(passed, strategy, None).is_grouped
    assert Recording.of(grouped, strategy, Collect()).is_grouped


def test_an_expired_session_that_is_retained_rests_until_it_is_forgotten() -> None:
    recording = recorded(
        TestStream()
        .add_elements_at_time("00:01:00", ("joe", "open"))
        .advance_watermark_to("00:15:00")
        .add_elements_at_time("00:10:00", ("joe", "look"))
        .advance_watermark_to("00:25:00"),
        window=bl.Sessions("10 minutes"),
        late_check="retain",
    )

    (scenario,) = data_of(page(recording))["scenarios"]
    (stream,) = scenario["streams"]
    windows = [
        [
            (view["name"], view["resting"], view["expires"], view["forgotten"])
            for view in (scenario["views"][number] for number in moment["windows"])
        ]
        for moment in stream["moments"]
    ]
    short, whole = "[00:01:00, 00:11:00)", "[00:01:00, 00:20:00)"
    assert windows == [
        [(short, False, "00:10:59.999", "00:20:59.998")],
        [(short, True, "00:10:59.999", "00:20:59.998")],
        [(whole, False, "00:19:59.999", "00:29:59.998")],
        [(whole, True, "00:19:59.999", "00:29:59.998")],
        [],
    ]
    lives = [(life["name"], life["start"], life["end"], life["fate"]) for life in stream["lives"]]
    assert lives == [(short, 0, 2, "merged"), (whole, 2, 4, "expired")]


def from_elsewhere(element: Element) -> Element:
    """As it comes back from another process: equal, were it not for NaN."""
    return Element(float("nan"), element.timestamp)


def test_an_element_that_came_back_from_another_process_is_dropped_though_it_is_nan() -> None:
    strategy = WindowingStrategy(bl.FixedWindows("1 minute"), None, "discarding")
    late = Element(float("nan"), 0)
    script = (AdvanceWatermark(60_000), Arrive((("joe", late), ("joe", Element("tea", 60_000)))))
    run = run_in_memory(Grouping(strategy, Collect()), script)
    (dropped,) = run.drops
    assert isinstance(dropped.effect, Drop)
    drop = attrs.evolve(dropped.effect, element=from_elsewhere(late))
    elsewhere = attrs.evolve(run, outputs=(attrs.evolve(dropped, effect=drop),))

    text = page(Recording.of(elsewhere, strategy, Collect()))

    (stream,) = data_of(text)["scenarios"][0]["streams"]
    assert [(it["label"], it["lost"]) for it in stream["elements"]] == [
        ("nan", "all"),
        ("'tea'", ""),
    ]


def test_processing_time_that_moves_in_the_first_step_only_is_processing_time() -> None:
    strategy = WindowingStrategy(bl.FixedWindows("1 minute"), None, "discarding")
    came = Arrive((("joe", Element("tea", 0)),))

    def moves(*script: ScriptStep) -> bool:
        run = run_in_memory(Grouping(strategy, Collect()), script)
        return bool(
            data_of(page(Recording.of(run, strategy, Collect())))["scenarios"][0]["clockMoves"]
        )

    assert moves(AdvanceClock(1), came)
    assert not moves(AdvanceWatermark(1), came)
