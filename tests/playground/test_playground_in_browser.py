"""The playground in a real browser: dragging, choosing, stepping, and the ways in and out."""

import itertools
import json
import os
import re
import struct
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from PIL import Image, ImageChops, ImageStat

from beamlike.model.extra_triggers import EXTRA_TRIGGERS
from beamlike.runtime.memory import run_in_memory
from beamlike.testing import differences, load_transcripts
from tests.support.ten_scores import sketch as scores

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("playground")]

BLOG = Path(__file__).parents[1] / "conformance" / "cases" / "blog" / "blog_session.json"

FIRST, SECOND, THIRD, FOURTH = (f"[12:0{start}:00, 12:0{start + 2}:00)" for start in (0, 2, 4, 6))
REST = [
    f"{SECOND} early #0 14",
    f"{SECOND} on time #1 22",
    f"{THIRD} early #0 3",
    f"{THIRD} on time #1 3",
]
ENDING = [f"{FOURTH} early #0 3", f"{FOURTH} on time #1 12"]
WITH_LATE = [f"{FIRST} on time #0 5", *REST, f"{FIRST} late #1 14", *ENDING]
WITHOUT_LATE = [f"{FIRST} on time #0 14", *REST, *ENDING]


def target(player: Any) -> tuple[float, float]:
    """Where the 9 is once it arrives before the watermark: at 12:05:39, as the 7 does."""
    return player.centre("element 9")[0], player.centre("element 7")[1]


def test_the_9_is_dragged_to_before_the_watermark_with_the_mouse(player: Any):
    player.load(scores())
    player.wait_for_panes(WITH_LATE)
    mouse, (x, y) = player.tab.mouse, target(player)
    mouse.move(*player.centre("element 9"))
    mouse.down()
    mouse.move(x, y, steps=6)
    player.wait_for_panes(WITHOUT_LATE)  # before it is let go
    mouse.up()
    player.wait_for_panes(WITHOUT_LATE)
    label = player.handle("element 9").get_attribute("aria-label")
    assert label.startswith("element 9 of 12:01:26, arrives at 12:05:")
    player.tab.get_by_role("button", name="Undo").click()
    player.wait_for_panes(WITH_LATE)
    player.tab.get_by_role("button", name="Redo").click()
    player.wait_for_panes(WITHOUT_LATE)


def test_the_9_is_moved_to_before_the_watermark_with_the_keyboard(player: Any):
    player.load(scores())
    player.wait_for_panes(WITH_LATE)
    player.handle("element 9").focus()
    for _ in range(30):
        player.tab.keyboard.press("ArrowDown")
    player.wait_for_panes(WITHOUT_LATE)
    player.tab.wait_for_function(
        "label => document.activeElement.getAttribute('aria-label') === label",
        arg="element 9 of 12:01:26, arrives at 12:05:49",
    )
    for _ in range(30):
        player.tab.keyboard.press("Control+z")
    player.wait_for_panes(WITH_LATE)


def test_the_9_is_dragged_to_before_the_watermark_by_touch(phone: Any):
    phone.load(scores())
    phone.wait_for_panes(WITH_LATE)
    phone.handle("element 9").scroll_into_view_if_needed()
    fingers = phone.context.new_cdp_session(phone.tab)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        touches = [{"x": x, "y": y} for x, y in points]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})

    (x0, y0), (x1, y1) = phone.centre("element 9"), target(phone)
    touch("touchStart", (x0, y0))
    for part in range(1, 7):
        touch("touchMove", (x0 + (x1 - x0) * part / 6, y0 + (y1 - y0) * part / 6))
    touch("touchEnd")
    phone.wait_for_panes(WITHOUT_LATE)


def test_a_phone_shows_all_of_it_in_its_width(phone: Any):
    phone.load(scores("retracting"))
    wide = "Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)"
    assert phone.tab.evaluate(wide) <= 390


def test_a_point_of_the_watermark_is_dragged(player: Any):
    player.load(scores())
    player.wait_for_panes(WITH_LATE)
    mouse = player.tab.mouse
    start = player.centre("watermark 12:02:00")
    mouse.move(*start)
    mouse.down()
    # Back behind the 9: then the first window is on time with the next move, at 12:07:30.
    mouse.move(start[0] - 60, start[1], steps=4)
    mouse.up()
    panes = [f"{FIRST} early #0 5", f"{SECOND} early #0 14"]
    player.tab.wait_for_function(
        "expected => document.querySelector('#panes').textContent.includes(expected)",
        arg="early #0",
    )
    player.tab.wait_for_function(
        "() => document.querySelector('#panes tbody tr td:nth-child(3)').textContent === 'early #0'"
    )
    assert player.panes[:2] == panes


def test_a_perfect_watermark_makes_nothing_late_and_can_be_dragged_then(player: Any):
    player.load(scores())
    player.wait_for_panes(WITH_LATE)
    player.tab.get_by_label("watermark", exact=True).select_option("perfect")
    player.tab.wait_for_function(
        "() => !document.querySelector('#panes').textContent.includes('late #')"
    )
    assert f"{FIRST} on time #1 14" in player.panes
    assert player.tab.locator(".handle.watermark").count() == 0
    player.tab.get_by_label("watermark", exact=True).select_option("drawn")
    player.tab.wait_for_selector(".handle.watermark")
    assert f"{FIRST} on time #1 14" in player.panes


def test_the_trigger_is_built_of_blocks(player: Any):
    player.load(scores())
    player.wait_for_panes(WITH_LATE)
    early = player.tab.get_by_role("group", name="early")
    early.get_by_label("kind").select_option("")
    player.wait_for_panes(
        [
            f"{FIRST} on time #0 5",
            f"{SECOND} on time #0 22",
            f"{THIRD} on time #0 3",
            f"{FIRST} late #1 14",
            f"{FOURTH} on time #0 12",
        ]
    )
    player.tab.get_by_label("allowed lateness").fill("1 minute")
    player.tab.keyboard.press("Tab")
    player.wait_for_panes(
        [
            f"{FIRST} on time #0 5",
            f"{SECOND} on time #0 22",
            f"{THIRD} on time #0 3",
            f"{FIRST} dropped 9",
            f"{FOURTH} on time #0 12",
        ]
    )
    player.unfold("What can be said before any data comes")
    report = player.tab.locator(".report pre").inner_text()
    assert "may lose data" in report


def test_a_total_fires_early(player: Any):
    player.load(scores())
    player.wait_for_panes(WITH_LATE)
    early = player.tab.get_by_role("group", name="early")
    early.get_by_label("kind").select_option("after total")
    early.get_by_label("total").fill("14.5")
    player.tab.keyboard.press("Tab")
    player.wait_for_panes(
        [
            f"{FIRST} on time #0 5",
            f"{SECOND} early #0 22",
            f"{SECOND} on time #1 22",
            f"{THIRD} on time #0 3",
            f"{FIRST} late #1 14",
            f"{FOURTH} on time #0 12",
        ]
    )


def test_every_trigger_of_scenario_files_can_be_chosen(player: Any):
    player.load(scores())
    early = player.tab.get_by_role("group", name="early")
    offered = (
        early.get_by_label("kind")
        .first.locator("option")
        .evaluate_all("options => options.map(option => option.value)")
    )
    own = {f"x_{re.sub('(?<!^)(?=[A-Z])', '_', name).lower()}" for name in EXTRA_TRIGGERS}
    assert own <= set(offered)
    early.get_by_label("kind").select_option("after delta")
    player.tab.wait_for_function(
        "() => document.querySelector('.report pre').textContent.includes('AfterDelta(5')"
    )
    assert not player.tab.locator(".problem").first.is_visible()


def test_two_strategies_stand_side_by_side(player: Any):
    both = scores()["strategies"] + scores("discarding")["strategies"]
    player.load(scores(strategies=both))
    player.tab.wait_for_function("() => document.querySelectorAll('.strategy').length === 2")
    player.tab.wait_for_function("() => document.querySelectorAll('.legend').length === 2")
    first, second = (late_pane_of(panel) for panel in player.tab.locator(".strategy").all())
    # Both fire with the 9. One holds the 5 of the pane before it, and one begins where that ends.
    assert (first["title"], second["title"]) == (f"{FIRST} late #1: 14", f"{FIRST} late #1: 9")
    assert first["y"] == pytest.approx(second["y"], abs=1)
    assert first["height"] > second["height"] + 20
    player.tab.get_by_role("button", name="Compare two strategies").click()
    player.tab.wait_for_function("() => document.querySelectorAll('.strategy').length === 1")


def late_pane_of(panel: Any) -> dict[str, Any]:
    late_pane: dict[str, Any] = panel.evaluate(
        """panel => {
            const pane = [...panel.querySelectorAll("[data-kind=pane]")].find(
                each => each.querySelector("title").textContent.includes("late"));
            const { y, height } = pane.querySelector("rect.area").getBBox();
            return { title: pane.querySelector("title").textContent, y, height };
        }"""
    )
    return late_pane


def test_steps_go_forward_and_back(player: Any):
    player.load(scores())
    player.wait_for_panes(WITH_LATE)
    player.wait_for_panes(WITH_LATE)
    player.tab.get_by_role("button", name="First").click()
    assert player.tab.locator("#panes tbody").inner_text() == (
        "Nothing came out yet, and nothing was dropped."
    )
    for _ in range(5):
        player.tab.get_by_role("button", name="Forward").click()
    player.wait_for_panes([f"{FIRST} on time #0 5"])
    player.tab.get_by_role("button", name="Last").click()
    player.wait_for_panes(WITH_LATE)


def test_keys_have_figures_of_their_own(player: Any):
    steps = scores()["steps"]
    for step in steps:
        for element in step.get("elements", []):
            element["key"] = "red" if element["value"] in (5, 9) else "blue"
    player.load(scores(steps=steps))
    player.wait_for_panes([WITH_LATE[0], f"{FIRST} late #1 14"])
    player.tab.get_by_label("Key").select_option(label="blue")
    player.wait_for_panes([*REST, *ENDING])
    assert player.tab.locator(".handle.element").count() == 8


def test_the_address_holds_the_stream(player: Any, browser: Any, playground_url: str):
    player.load(scores("discarding"))
    player.tab.get_by_label("allowed lateness").fill("11m")
    player.tab.keyboard.press("Tab")
    player.tab.get_by_role("button", name="Copy the address").click()
    player.tab.wait_for_function("() => document.querySelector('#status').textContent !== ''")
    address = player.tab.url
    assert address.startswith(f"{playground_url}#s=")
    other = player.context.new_page()
    other.goto(address)
    other.wait_for_selector("html[data-drawn]", timeout=120_000)
    values = "rows => rows.map(row => row.children[4].textContent)"
    rows = other.locator("#panes tbody tr").evaluate_all(values)
    lateness = other.get_by_label("allowed lateness").input_value()
    other.close()
    assert (lateness, rows) == ("11m", ["5", "14", "8", "3", "0", "9", "3", "9"])


def test_scenario_files_are_opened(player: Any):
    player.tab.get_by_label("Open a scenario file").set_input_files(BLOG)
    player.tab.wait_for_function("() => !document.querySelector('#opened-choice').hidden")
    scenarios = load_transcripts(BLOG)
    titles = player.tab.locator("#opened option").all_text_contents()
    assert titles == [scenario.title or scenario.id for scenario in scenarios]
    drawn = player.drawn
    (number,) = [
        n
        for n, scenario in enumerate(scenarios)
        if scenario.id == "blog_session_00a_intro_gap10_claim"
    ]
    player.tab.locator("#opened").select_option(str(number + 1))
    player.wait_for_drawing(drawn)
    drawn = player.drawn
    player.tab.locator("#opened").select_option(str(number))
    player.wait_for_drawing(drawn)
    key, *_ = {output.key for output in run_of(scenarios[number]).outputs}
    assert key == "joe"
    assert len(player.panes) == len(run_of(scenarios[number]).outputs)


def run_of(scenario: Any) -> Any:
    return run_in_memory(scenario.machine(), scenario.script)


def test_a_file_that_cannot_be_read_says_where(player: Any, tmp_path: Path):
    broken = tmp_path / "broken.json"
    broken.write_text('{"format": "beamlike-transcript-v1"')
    player.tab.get_by_label("Open a scenario file").set_input_files(broken)
    player.tab.wait_for_selector("#status.bad")
    assert "broken.json" in player.tab.locator("#status").inner_text()


def saved(player: Any, how: str, folder: Path) -> Path:
    with player.tab.expect_download() as waiting:
        player.tab.get_by_label("Save").select_option(how)
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def test_what_is_saved_says_the_same(player: Any, tmp_path: Path):
    player.load(scores("retracting"))
    file = saved(player, "scenario", tmp_path)
    (scenario,) = load_transcripts(file, must_expect=True)
    assert file.name == "ten_scores.json"
    assert differences(scenario, run_of(scenario)) == []
    test = saved(player, "python", tmp_path)
    assert test.name == "test_ten_scores.py"
    names: dict[str, Any] = {}
    exec(compile(test.read_text(), test.name, "exec"), names)
    names["test_of_the_playground"]()


def test_pictures_are_saved(player: Any, tmp_path: Path):
    player.load(scores())
    drawing = ElementTree.parse(saved(player, "svg", tmp_path)).getroot()
    assert "late #1: 14" in [node.text for node in drawing.iter("{http://www.w3.org/2000/svg}text")]
    picture = saved(player, "png", tmp_path).read_bytes()
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", picture[16:24])
    assert (width, height) == (
        2 * int(float(drawing.get("width"))),
        2 * int(float(drawing.get("height"))),
    )


def test_it_needs_no_network_once_it_is_loaded(player: Any):
    player.load(scores())
    player.context.set_offline(True)
    player.tab.get_by_label("accumulation").select_option("discarding")
    player.tab.wait_for_function(
        "() => [...document.querySelectorAll('#panes td')].some(cell => cell.textContent === '9')"
    )
    player.context.set_offline(False)
    assert f"{FIRST} late #1 9" in player.panes


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_control_has_a_name_and_every_text_a_contrast(player: Any, scheme: str):
    player.load(scores())
    player.tab.emulate_media(color_scheme=scheme)
    unnamed = player.tab.evaluate(
        """() => [...document.querySelectorAll("button, select, input")].filter(node =>
            !(node.getAttribute("aria-label") || node.labels?.length || node.textContent.trim())
        ).map(node => node.outerHTML)"""
    )
    twice = player.tab.evaluate(
        """() => { const ids = [...document.querySelectorAll("[id]")].map(node => node.id);
            return ids.filter((id, n) => ids.indexOf(id) !== n) }"""
    )
    weak = player.tab.evaluate(CONTRAST)
    player.tab.emulate_media(color_scheme=None)
    assert (unnamed, twice, weak) == ([], [], [])


CONTRAST = """() => {
    const rgb = text => (text.match(/[\\d.]+/g) ?? []).map(Number);
    const light = ([r, g, b]) => [r, g, b].map(c => c / 255).map(
        c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4
    ).reduce((sum, c, n) => sum + c * [0.2126, 0.7152, 0.0722][n], 0);
    const ground = node => {
        for (let at = node; at; at = at.parentElement) {
            const colour = rgb(getComputedStyle(at).backgroundColor);
            if (colour.length === 3 || colour[3] === 1) return colour;
        }
        return [255, 255, 255];
    };
    const weak = [];
    for (const node of document.querySelectorAll("body *")) {
        const own = [...node.childNodes].some(child => child.nodeType === 3 && child.data.trim());
        if (!own || node.closest("svg") || node.disabled || !node.checkVisibility()) continue;
        const [a, b] = [light(rgb(getComputedStyle(node).color)), light(ground(node))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5) weak.push(node.tagName + " " + node.textContent + " " + ratio);
    }
    return weak;
}"""


def test_all_of_it_is_less_than_ten_megabytes(playground_folder: Path):
    sizes = [path.stat().st_size for path in playground_folder.rglob("*") if path.is_file()]
    assert sum(sizes) < 10e6
    mark = json.loads((playground_folder / "playground.json").read_text())
    assert sorted(mark) == ["attrs", "pages", "pyodide"]


SOONEST = """() => new Promise(done => {
    const began = performance.now();
    new MutationObserver((_, observer) => {
        observer.disconnect();
        requestAnimationFrame(() => done(performance.now() - began));
    }).observe(document.documentElement, { attributeFilter: ["data-drawn"] });
    const press = { key: "ArrowDown", bubbles: true, cancelable: true };
    document.querySelector(".handle[aria-label^='element 9']").dispatchEvent(
        new KeyboardEvent("keydown", press));
})"""


def others_work() -> bool:
    """Whether others use the processors too: then this waits for them."""
    return os.getloadavg()[0] > (os.cpu_count() or 1)


def test_a_change_is_drawn_in_less_than_a_tenth_of_a_second(player: Any):
    player.load(scores())
    player.wait_for_panes(WITH_LATE)
    # What else this machine does takes time too: one change in a hurry shows what it takes.
    took = sorted(player.tab.evaluate(SOONEST) for _ in range(20))
    print(f"a change is drawn in {took[0]:.0f} ms, half of them in {took[10]:.0f} ms")
    assert took[5] < (300 if others_work() else 100)


@pytest.mark.nightly
def test_it_starts_in_less_than_five_seconds(browser: Any, playground_url: str):
    machine = browser.new_browser_cdp_session()

    def worked() -> float:
        """What the processors did for all of the browser so far (seconds)."""
        processes = machine.send("SystemInfo.getProcessInfo")["processInfo"]
        return sum(process["cpuTime"] for process in processes)

    took, work = [], []
    for _ in range(4):
        context = browser.new_context()  # with a cache of its own, which is empty
        tab = context.new_page()
        before, began = worked(), time.monotonic()
        tab.goto(playground_url)
        tab.wait_for_selector("html[data-drawn]", timeout=120_000)
        took.append(time.monotonic() - began)
        work.append(worked() - before)
        context.close()
        enough = 15 if others_work() else 5
        if min(took[-1], work[-1]) < enough:
            break
    print(f"from the address to the first figure: {min(took):.1f} s, {min(work):.1f} s of work")
    assert min(*took, *work) < enough


def test_an_animation_has_a_picture_for_each_step(player: Any, tmp_path: Path):
    player.load(scores())
    player.wait_for_panes(WITH_LATE)
    drawing = ElementTree.parse(saved(player, "svg", tmp_path)).getroot()
    with Image.open(saved(player, "gif", tmp_path)) as image:
        assert image.size == (int(drawing.get("width")), int(drawing.get("height")))
        lengths, shades = [], []
        for number in range(image.n_frames):
            image.seek(number)
            lengths.append(image.info["duration"])
            shades.append(image.convert("RGB"))
        assert image.info["loop"] == 0
    steps = int(player.tab.locator("#count").inner_text().split(" of ")[1])
    assert lengths == [700] * (steps - 1) + [3000]
    with Image.open(saved(player, "png", tmp_path)) as still:
        wanted = still.convert("RGB").resize(shades[-1].size)
    apart = ImageStat.Stat(ImageChops.difference(shades[-1], wanted)).mean
    assert max(apart) < 2  # of 256
    seen = [image.tobytes() for image in shades]
    assert all(one != other for one, other in itertools.pairwise(seen))
    assert f"{steps} of {steps}" == player.tab.locator("#count").inner_text()


def test_a_strategy_is_chosen_in_the_words_of_other_systems(player: Any):
    player.load(scores())
    player.wait_for_panes(WITH_LATE)
    words = player.tab.get_by_label("in the words of")
    words.select_option(label="Flink")
    on_time = [f"{FIRST} on time #0 5", f"{SECOND} on time #0 22", f"{THIRD} on time #0 3"]
    player.wait_for_panes([*on_time, f"{FIRST} late #1 14", f"{FOURTH} on time #0 12"])
    code = player.tab.locator(".code")
    assert code.inner_text() == (
        'flink.key_by().window(\n    flink.TumblingEventTimeWindows.of("2m")\n'
        ').trigger(flink.EventTimeTrigger.create()).allowed_lateness("10m")'
    )
    player.tab.get_by_label("purging").select_option("yes")
    player.wait_for_panes([*on_time, f"{FIRST} late #1 9", f"{FOURTH} on time #0 12"])
    # Back in the words of Beam it is what it was in those of Flink.
    words.select_option(label="Beam")
    player.tab.wait_for_selector(".code", state="detached")
    player.wait_for_panes([*on_time, f"{FIRST} late #1 9", f"{FOURTH} on time #0 12"])
    assert player.tab.get_by_label("accumulation").input_value() == "discarding"
    for system, begins in (
        ("Kafka Streams", "kafka.group_by_key().windowed_by("),
        ("Apex", "apex.WindowedOperator("),
        ("Akka Streams", 'akka.SessionWindow("1m")'),
    ):
        words.select_option(label=system)
        player.tab.wait_for_function(
            "begins => document.querySelector('.code')?.textContent.startsWith(begins)", arg=begins
        )
    player.tab.get_by_label("inactivity").fill("2m")
    player.tab.keyboard.press("Tab")
    player.tab.locator(".code", has_text='akka.SessionWindow("2m")').wait_for()
    player.wait_for_panes(
        [
            "[12:01:26, 12:03:26.001) dropped 9",
            "[12:00:26, 12:06:19.001) on time #0, last 30",
            "[12:06:39, 12:09:46.001) on time #0, last 12",
        ]
    )
