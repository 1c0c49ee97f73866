"""What the plugin for pytest adds to a failure, seen as pytest prints it."""

import html
import re
import shlex
from pathlib import Path

import pytest

from beamlike.cli import main
from beamlike.testing.plugin.reports import file_name

pytest_plugins = ["pytester"]

HEAD = """\
import beamlike as bl
from beamlike.testing import *

ONE = TestStream().add_elements_at_time("00:00:00", ("joe", 1)).advance_watermark_to_infinity()

"""

TIMELINE = """\
* element   o behind the watermark   x dropped   [--) window   | watermark

'joe' key               00:00:00    00:00:10     00:00:20    00:00:30     00:00:40    00:00:50
                        +-----------+------------+-----------+------------+-----------+------------+
  0 + 1                 *
      opened            [-------------------------------------------------------------------------)
  1 watermark                                                                             infinity >
      ON_TIME #0 last   [-------------------------------------------------------------------------)
                        [1] by expiry of the window"""


@pytest.fixture
def run(pytester: pytest.Pytester) -> "Run":
    return Run(pytester)


class Run:
    """A run of pytest over one module of tests, as a user starts it."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester

    def __call__(self, tests: str, *options: str) -> pytest.RunResult:
        self.pytester.makepyfile(test_orders=HEAD + tests)
        fixed = ("-p", "no:cacheprovider", "-p", "no:randomly", "--tb=short", "-q")
        return self.pytester.runpytest(*fixed, *options)

    @property
    def folder(self) -> Path:
        return self.pytester.path


def failure_of(result: pytest.RunResult, test: str) -> str:
    """What is printed of the failure of a test, without pytest's margin."""
    lines = result.outlines
    start = next(index for index, line in enumerate(lines) if re.fullmatch(rf"_+ {test} _+", line))
    shown = []
    for line in lines[start + 1 :]:
        if re.match(r"_{3,} |={3,} |-{3,} ", line):
            break
        if line.startswith("E   "):
            shown.append(line[4:].rstrip())
    return "\n".join(shown)


def section_of(result: pytest.RunResult, name: str) -> list[str]:
    """The lines under a heading of pytest's, up to the next one."""
    lines = result.outlines
    headings = [index for index, line in enumerate(lines) if line.startswith("===")] + [len(lines)]
    start = next(
        heading for heading in headings if heading < len(lines) and f" {name} " in lines[heading]
    )
    return lines[start + 1 : headings[headings.index(start) + 1]]


def test_a_failed_assertion_of_a_test_stream_ends_with_a_command_that_replays_it(
    run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    result = run("""
def test_late():
    ONE.run(window=bl.FixedWindows("1 minute")).should(contain_single_value(("joe", [2])))
""")

    text = failure_of(result, "test_late")
    command = text.splitlines()[-1]
    file = shlex.split(command)[2]
    assert text == (
        f"""\
beamlike.testing.assertions.failures.PaneAssertionError: contain_single_value does not hold

expected    exactly one element, ('joe', [2])
missing     ('joe', [2])
unexpected  ('joe', [1])
windowing   FixedWindows(1m), DefaultTrigger(), discarding, allowed lateness 0ms

everything that came out, 1 marked with >:
   step  key    window                timing   #  ns  place  timestamp     value
>  1     'joe'  [00:00:00, 00:01:00)  ON_TIME  0  0   only   00:00:59.999  [1]

timeline:
{TIMELINE}

to replay it:
beamlike replay {file} --format timeline --explain"""
    )
    assert Path(file).name == "test_orders.test_late.json"
    # And that is what it does.
    capsys.readouterr()
    monkeypatch.chdir(run.folder)
    assert main(shlex.split(command)[1:]) == 0
    said = capsys.readouterr().out
    assert said.startswith("== test_orders.test_late: test_orders.py::test_late\n")
    assert TIMELINE in said
    assert said.endswith(
        "\nas recorded from the failed test test_orders.py::test_late; what the test expected is "
        "in its failure text\n\n1 scenario: 1 as recorded\n"
    )


def test_a_plain_assert_shows_the_stream_that_ran_before_it(run: Run) -> None:
    result = run("""
def test_plain():
    results = ONE.run(window=bl.FixedWindows("1 minute"))
    assert len(results.panes) == 2, "one is missing"
""")

    text = failure_of(result, "test_plain")
    *_, command = text.splitlines()
    assert text.partition("\n\n")[2] == (
        f"""\
the last test stream that ran here, on a timeline:
{TIMELINE}

to replay it:
{command}"""
    )


def test_a_failed_assertion_about_a_collection_shows_its_grouping(run: Run) -> None:
    result = run("""
def test_counts():
    with run_with_context() as sc:
        words = TestStream().add_elements_at_time("00:00:00", "foo").advance_watermark_to_infinity()
        counts = sc.test_stream(words).with_fixed_windows("1 minute").count_by_value()
        doubled = counts.map(lambda pair: (pair[0], 2 * pair[1]))
        expect(counts).to(contain_single_value(("foo", 2)))
        expect(doubled).to(contain_single_value(("foo", 1)))
        expect(counts).to(have_size(1))
""")

    text = failure_of(result, "test_counts")
    assert text.startswith(
        "beamlike.testing.assertions.failures.PaneAssertionError: 2 of 3 assertions do not hold:\n"
    )
    *_, command = text.splitlines()
    assert (
        text.partition("timeline of ")[2]
        == f"""\
'count_by_value/Combine', by its own steps:
* element   o behind the watermark   x dropped   [--) window   | watermark

'foo' key               00:00:00    00:00:10     00:00:20    00:00:30     00:00:40    00:00:50
                        +-----------+------------+-----------+------------+-----------+------------+
  0 + 'foo'             *
      opened            [-------------------------------------------------------------------------)
  1 watermark                                                                             infinity >
      ON_TIME #0 last   [-------------------------------------------------------------------------)
                        1 by expiry of the window

to replay it:
{command}"""
    )
    assert main(shlex.split(command)[1:]) == 0


def test_what_no_transcript_can_say_is_shown_as_a_test_stream(run: Run) -> None:
    result = run("""
def test_pairs():
    stream = TestStream().add_elements_at_time("00:00:00", (("a", 1), {2}))
    results = stream.advance_watermark_to_infinity().run(window=bl.FixedWindows("1 minute"))
    results.should(be_empty())
""")

    text = failure_of(result, "test_pairs")
    assert (
        text.partition("the scenario as ")[2] == """\
a test stream:
    import beamlike as bl
    from beamlike.testing import TestStream

    results = (
        TestStream()
        .add_elements_at_time("00:00:00", (('a', 1), {2}))
        .advance_watermark_to_infinity()
        .run(window=bl.FixedWindows("1m"))
    )

(no command replays the scenario: """
        f"{NOT_JSON})"
    )


NOT_JSON = (
    "a scenario file has keys that are texts or whole numbers, values that are JSON, and no code; "
    "some of this is something else, or is not the same after reading"
)


def test_a_collection_that_no_transcript_can_say_says_so(run: Run) -> None:
    result = run("""
def test_sets():
    with run_with_context() as sc:
        words = TestStream().add_elements_at_time("00:00:00", "foo").advance_watermark_to_infinity()
        windows = sc.test_stream(words).with_fixed_windows("1 minute")
        pairs = windows.map(lambda word: (word, {word}))
        expect(pairs.group_by_key()).to(be_empty())
""")

    text = failure_of(result, "test_sets")
    assert "to replay it" not in text
    assert text.splitlines()[-1] == (
        f"(no command replays the scenario of 'group_by_key': {NOT_JSON})"
    )


def test_why_there_is_no_transcript_is_said_as_far_as_it_is_known(run: Run) -> None:
    result = run("""
from beamlike.model.combine import Count, Sum

class Mine(Count):
    def __str__(self):
        return "Mine()"

def test_mine():
    ONE.run(window=bl.FixedWindows("1 minute"), aggregate=Mine()).should(be_empty())

def test_gap():
    results = ONE.run(window=bl.Sessions(lambda value: 5))
    results.should(be_empty())
""")

    mine = failure_of(result, "test_mine").splitlines()[-1]
    assert mine == (
        "(no command replays the scenario: a scenario file has no aggregation for Mine())"
    )
    gap = failure_of(result, "test_gap").splitlines()[-1]
    assert gap == "(no command replays the scenario: a scenario file cannot say gap=<lambda>)"


FOUND = """
from hypothesis import given, settings, strategies as st

@given(st.lists(st.integers(0, 100), min_size=1))
@settings(database=None, derandomize=True)
def test_sums(values):
    stream = TestStream().add_elements_at_time("00:00:00", *[("joe", value) for value in values])
    results = stream.advance_watermark_to_infinity().run(window=bl.FixedWindows("1 minute"))
    {assertion}
"""


@pytest.mark.parametrize(
    "assertion",
    [
        "results.should(for_all(lambda pair: sum(pair[1]) < 5))",
        "assert sum(results.panes[0].effect.value) < 5",
    ],
)
def test_an_example_that_hypothesis_found_can_be_pasted_into_a_test(run: Run, assertion: str):
    result = run(FOUND.format(assertion=assertion))

    _, _, shown = failure_of(result, "test_sums").partition("the scenario as a test stream:\n")
    code, _, rest = shown.partition("\n\nto replay it:\n")
    assert (
        code
        == """\
    import beamlike as bl
    from beamlike.testing import TestStream

    results = (
        TestStream()
        .add_elements_at_time("00:00:00", ('joe', 5))
        .advance_watermark_to_infinity()
        .run(window=bl.FixedWindows("1m"))
    )"""
    )
    assert re.fullmatch(r"beamlike replay \S+\.json --format timeline --explain", rest)


def test_of_plain_asserts_in_a_group_no_one_knows_the_stream(run: Run) -> None:
    result = run("""
def test_group():
    errors = []
    for number in (2, 3):
        try:
            assert len(ONE.run(window=bl.FixedWindows("1 minute")).panes) == number
        except AssertionError as error:
            errors.append(error)
    raise ExceptionGroup("both", errors)
""")

    said = result.stdout.str()
    note = (
        "(no scenario is shown: several assertions failed together, and a plain assert does not "
        "say which test stream it is about; results.should(...) does)"
    )
    assert said.count(note) == 2
    assert "the last test stream" not in said
    assert "to replay it" not in said


SEVERAL = """
import pytest

def test_good():
    ONE.run(window=bl.FixedWindows("1 minute")).should(have_size(1))

def test_late():
    ONE.run(window=bl.FixedWindows("1 minute")).should(have_size(2))

@pytest.mark.parametrize("word", ["a/b", "a b", "<b>"])
def test_words(word, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    stream = TestStream().add_elements_at_time("00:00:00", (word, 1))
    results = stream.advance_watermark_to_infinity().run(window=bl.FixedWindows("1 minute"))
    results.should(be_empty())

def test_of_something_else():
    assert 1 == 2
"""


def test_with_a_folder_each_failed_scenario_has_a_page(run: Run) -> None:
    result = run(SEVERAL, "--beamlike-timeline", "shown/pages")

    tests = ["test_late", "test_words[a/b]", "test_words[a b]", "test_words[<b>]"]
    names = [f"{file_name(f'test_orders.py::{test}')}" for test in tests]
    pages = [f"shown/pages/{name}.html" for name in names]
    assert section_of(result, "beamlike timelines") == pages
    folder = run.folder / "shown" / "pages"
    assert sorted(file.name for file in folder.iterdir()) == sorted(
        [*(f"{name}.html" for name in names), *(f"{name}.json" for name in names)]
    )
    for test, page in zip(tests, pages, strict=True):
        text = (run.folder / page).read_text(encoding="utf-8")
        assert f"<title>{html.escape(f'test_orders.py::{test}')}</title>" in text
    ending = failure_of(result, "test_late").splitlines()[-4:]
    assert ending == [
        f"page: {pages[0]}",
        "",
        "to replay it:",
        "beamlike replay shown/pages/test_orders.test_late.json --format timeline --explain",
    ]


def test_a_good_run_has_no_page(run: Run) -> None:
    result = run(SEVERAL, "-k", "test_late", "--beamlike-timeline", "pages")
    assert section_of(result, "beamlike timelines") == ["pages/test_orders.test_late.html"]

    result = run(SEVERAL, "-k", "test_good", "--beamlike-timeline", "none")
    assert "beamlike timelines" not in result.stdout.str()
    assert list((run.folder / "none").iterdir()) == []


def test_a_folder_that_cannot_be_made_is_refused_before_any_test(run: Run) -> None:
    (run.folder / "taken").write_text("")

    result = run(SEVERAL, "--beamlike-timeline", "taken")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert result.errlines[0] == (
        f"ERROR: --beamlike-timeline {run.folder / 'taken'} cannot be used as a folder "
        "(File exists); name another"
    )


def test_what_cannot_be_written_does_not_hide_the_failure(run: Run) -> None:
    result = run(
        """
import shutil

def test_late(request):
    shutil.rmtree(request.config.getoption("--beamlike-timeline"))
    ONE.run(window=bl.FixedWindows("1 minute")).should(have_size(2))
""",
        "--beamlike-timeline",
        "pages",
    )

    first, *_, last = failure_of(result, "test_late").splitlines()
    assert (
        first == "beamlike.testing.assertions.failures.PaneAssertionError: have_size does not hold"
    )
    assert last.startswith("(what could be done with it is not shown: EnvironmentProblem('the page")


def test_what_cannot_be_known_of_a_failure_does_not_hide_it(run: Run) -> None:
    result = run("""
class Mute(AssertionError):
    def add_note(self, note):
        raise RuntimeError("no notes")

def test_mute():
    ONE.run(window=bl.FixedWindows("1 minute"))
    raise Mute("late")

def test_several_mute():
    ONE.run(window=bl.FixedWindows("1 minute"))
    raise ExceptionGroup("two things", [Mute(1), Mute(2)])
""")

    assert failure_of(result, "test_mute") == "test_orders.Mute: late"
    group = result.outlines.index("  | ExceptionGroup: two things (2 sub-exceptions)")
    assert result.outlines[group : group + 7] == [
        "  | ExceptionGroup: two things (2 sub-exceptions)",
        "  | ",
        "  | (what could be done with it is not shown: RuntimeError('no notes'))",
        "  +-+---------------- 1 ----------------",
        "    | test_orders.Mute: 1",
        "    +---------------- 2 ----------------",
        "    | test_orders.Mute: 2",
    ]


def test_a_run_that_does_not_happen_again_has_a_text_in_place_of_a_page(run: Run) -> None:
    result = run(
        """
from itertools import count
from beamlike.model.combine import Count

class Moody(Count):
    numbers = count()
    def extract(self, accumulator):
        return next(self.numbers)

def test_moody():
    results = ONE.run(window=bl.FixedWindows("1 minute"), aggregate=Moody())
    results.should(have_size(2))
""",
        "--beamlike-timeline",
        "pages",
    )

    assert section_of(result, "beamlike timelines") == ["pages/test_orders.test_moody.txt"]
    text = (run.folder / "pages" / "test_orders.test_moody.txt").read_text(encoding="utf-8")
    assert text.startswith("test_orders.py::test_moody\n\ntimeline:\n* element ")
    assert "\n\nno page: " in text


def test_the_help_says_what_the_option_does(run: Run) -> None:
    lines = [line.strip() for line in run("", "--help").outlines]

    at = lines.index("beamlike: panes on a time axis:")
    assert " ".join(lines[at + 1 : at + 4]).strip() == (
        "--beamlike-timeline=DIR "
        "write a page for each failed scenario, to step through in a browser"
    )


def test_names_of_files_do_not_clash_whichever_process_writes_them() -> None:
    tests = ["a/test_x.py::test_y", "a/test_x.py::test_y[1]", "a/test_x.py::test_y[a b]"]
    tests += ["a/test_x.py::test_y[a_b]", "a/test_x.py::test_y[a/b]", "a/test_x.py::T::test_y"]
    tests += [f"a/test_x.py::test_y[{'x' * 300}{end}]" for end in "12"]

    names = [file_name(test) for test in tests]

    assert names[0] == "a.test_x.test_y"
    assert len(set(names)) == len(tests)
    assert all(re.fullmatch(r"[\w.-]{1,160}", name) for name in names)


def test_what_a_function_raised_for_stays_left_out_of_the_stream_to_paste(run: Run) -> None:
    result = run("""
from beamlike.model.combine import Sum

def test_sums():
    stream = TestStream().add_elements_at_time("00:00:00", ("joe", 1), ("joe", "x"))
    results = stream.advance_watermark_to_infinity().run(
        window=bl.FixedWindows("1 minute"), aggregate=Sum(), on_error="drop"
    )
    results.should(be_empty())
""")

    text = failure_of(result, "test_sums")
    assert (
        text.partition("the scenario as ")[2] == """\
a test stream:
    import beamlike as bl
    from beamlike.combine_fns import Sum
    from beamlike.testing import TestStream

    results = (
        TestStream()
        .add_elements_at_time("00:00:00", ('joe', 1), ('joe', 'x'))
        .advance_watermark_to_infinity()
        .run(window=bl.FixedWindows("1m"), on_error="drop", aggregate=Sum())
    )

(no command replays the scenario: """
        f"{NOT_JSON})"
    )
