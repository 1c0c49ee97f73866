"""JobTest: a job with a test's elements in place of its inputs, and what it must make of them."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from beamlike.api.pipelines.dofn import DoFn, TimestampedValue
from beamlike.api.pipelines.elements import Create, Map
from beamlike.api.pipelines.job_io import Read
from beamlike.api.pipelines.metrics import DistributionData, Metrics
from beamlike.api.pipelines.pardo import ParDo
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.errors import PipelineError, TestStreamError
from beamlike.scio import ScioContext
from beamlike.testing import (
    JobTest,
    PaneAssertionError,
    TestStream,
    TransformOverride,
    contain_in_any_order,
    contain_in_any_order_at_time,
    contain_single_value,
    emit_exactly,
    expect,
    have_size,
    on_time_pane,
    test_stream_of,
)
from tests.support.refusals import refusal

EMPTY = Metrics.counter("lines", "empty")
LENGTHS = Metrics.distribution("lines", "length")
LAST = Metrics.gauge("lines", "last")


class Words(DoFn[str, str]):
    def process(self, line: str, *args: Any, **kwargs: Any) -> list[str]:
        EMPTY.inc(0 if line else 1)
        LENGTHS.update(len(line))
        LAST.set(line)
        return line.split()


def word_count(sc: ScioContext, args: Mapping[str, str]) -> None:
    """Words, counted in windows; and the names of the users whose lines these are."""
    words = sc.read("lines") | ParDo(Words())
    words.with_fixed_windows(args["window"]).count_by_value().save_as("counts")
    sc.custom_input("users").map(str.title).save_as("names")


UPPER = TransformOverride.of("upper", str.upper)

LINES = (
    test_stream_of()
    .add_elements_at_time("00:00:00", "foo bar", "")
    .advance_watermark_to("00:01:00")
    .add_elements_at_time("00:01:30", "foo foo")
    .advance_watermark_to_infinity()
)


def counted(counts: PCollection[Any]) -> None:
    expect(counts).to(
        emit_exactly(
            on_time_pane("foo", 1, "00:00:00", "00:01:00", is_last=True),
            on_time_pane("bar", 1, "00:00:00", "00:01:00", is_last=True),
            on_time_pane("foo", 2, "00:01:00", "00:02:00", is_last=True),
        )
    )


def one_of(out: PCollection[Any]) -> None:
    expect(out).to(have_size(1))


def of_word_count() -> JobTest:
    """The test of the job; there is more to say of it."""
    return (
        JobTest(word_count)
        .args(window="1 minute")
        .input("users", ["joe"])
        .input_stream("lines", LINES)
        .output("names")(lambda names: expect(names).to(contain_single_value("Joe")))
    )


def test_a_job_reads_and_saves_what_the_test_has() -> None:
    assert of_word_count().output("counts")(counted).run().state == "DONE"


def test_arguments_can_be_written_as_on_a_command_line() -> None:
    seen: list[dict[str, Any]] = []

    def job(sc: ScioContext, args: Mapping[str, Any]) -> None:
        seen.append(dict(args))

    JobTest(job).args("--window=1 minute", "--title=a=b").args(size=3).run()

    assert seen == [{"window": "1 minute", "title": "a=b", "size": 3}]


def test_a_job_needs_no_arguments() -> None:
    def job(sc: ScioContext) -> None:
        sc.read("numbers").save_as("the same")

    (
        JobTest(job)
        .input("numbers", [TimestampedValue(1, "00:00:01"), TimestampedValue(2, "00:00:02")])
        .output("the same")(
            lambda out: expect(out).to(
                contain_in_any_order_at_time([("00:00:01", 1), ("00:00:02", 2)])
            )
        )
        .run()
    )


def test_a_job_may_run_its_context_itself() -> None:
    states: list[str] = []

    def job(sc: ScioContext) -> None:
        sc.read("numbers").save_as("the same")
        states.append(sc.run().wait_until_finish())

    JobTest(job).input("numbers", [1]).output("the same")(one_of).run()

    assert states == ["DONE"]


def test_what_a_job_really_reads_and_writes_plays_no_part_in_its_test() -> None:
    written: list[int] = []

    def job(sc: ScioContext) -> None:
        sc.read("numbers", Create([1, 2, 3])).save_as("the same", Map(written.append))

    JobTest(job).input("numbers", [4]).output("the same")(
        lambda out: expect(out).to(contain_single_value(4))
    ).run()
    assert written == []

    with ScioContext() as sc:
        job(sc)
    assert written == [1, 2, 3]


def test_without_a_test_a_name_alone_means_nothing() -> None:
    sc = ScioContext()

    assert refusal(PipelineError, lambda: sc.read("lines")) == (
        "\"Read('lines')\": nothing says what input 'lines' is; write Read('lines', source), or "
        "run the job in a JobTest that has it"
    )
    assert refusal(PipelineError, lambda: sc.parallelize([1]).save_as("counts")) == (
        "\"SaveAs('counts')\": nothing says where output 'counts' goes; write "
        "SaveAs('counts', sink), or run the job in a JobTest that looks at it"
    )
    with pytest.raises(PipelineError, match=r"the source of Read\('lines'\) must be a transform"):
        sc.read("lines", [1])  # type: ignore[arg-type]
    with pytest.raises(PipelineError, match="SaveAs needs a name, got ''"):
        sc.parallelize([1]).save_as("")


# -- metrics -----------------------------------------------------------------------------------


def test_metrics_are_looked_at_over_all_transforms() -> None:
    def job(sc: ScioContext) -> None:
        lines = sc.read("lines")
        lines | "Once" >> ParDo(Words())
        lines | "Twice" >> ParDo(Words())

    def is_of_four_lines(lengths: DistributionData) -> None:
        assert lengths == DistributionData(sum=6, count=4, min=0, max=3)

    (
        JobTest(job)
        .input("lines", ["", "foo"])
        .counter(EMPTY)(2)
        .counters({EMPTY.name: 2})
        .distribution(LENGTHS)(is_of_four_lines)
        .distributions(lambda every: is_of_four_lines(every[LENGTHS.name]))
        .gauge("last")(lambda line: line == "foo")
        .gauges(lambda every: every == {LAST.name: "foo"})
        .run()
    )


def test_metrics_that_are_wrong_are_reported_with_everything_else() -> None:
    def job(sc: ScioContext) -> None:
        lines = sc.read("lines")
        lines | ParDo(Words())
        lines.save_as("the same")

    def is_long(length: DistributionData) -> bool:
        return length.max > 5

    test = JobTest(job).input("lines", ["", "foo"])
    test.counter(EMPTY)(2)
    test.counters({})
    test.distribution(LENGTHS)(is_long)
    test.gauge("first")("foo")
    test.output("the same")(one_of)

    with pytest.raises(PaneAssertionError) as failed:
        test.run()

    heading, *failures = str(failed.value).split("\n\n")
    assert heading == "5 of 5 assertions do not hold:"
    assert [failures[at] for at in (1, 3, 5, 7)] == [
        "    the counter lines:empty is 1, not 2",
        "    the counters are {'lines:empty': 1}, not {}",
        "    the distribution lines:length is DistributionData(sum=3, count=2, min=0, max=3), for "
        "which is_long is False",
        "    the job never touched the gauge 'first'; its gauges are: lines:last",
    ]
    assert failures[9] == "    have_size does not hold"


def test_a_metric_without_a_value_asks_nothing_and_is_reported() -> None:
    test = JobTest(lambda sc: sc.parallelize([1]))
    test.counter(EMPTY)
    test.gauge("last")

    with pytest.raises(PaneAssertionError) as failed:
        test.run()

    heading, *failures = str(failed.value).split("\n\n")
    assert heading == "2 of 2 assertions do not hold:"
    assert [failures[at] for at in (1, 3)] == [
        "    this checks nothing; write counter(...)(value)",
        "    this checks nothing; write gauge(...)(value)",
    ]


def test_metrics_of_two_kinds_may_have_one_name() -> None:
    def counts_lengths(line: str) -> None:
        Metrics.counter("lines", "length").inc()
        LENGTHS.update(len(line))

    (
        JobTest(lambda sc: sc.read("lines") | ParDo(counts_lengths))
        .input("lines", ["foo"])
        .counter(LENGTHS.name.name)(1)
        .distribution(LENGTHS.name.name)(DistributionData(sum=3, count=1, min=3, max=3))
        .run()
    )


# -- wiring --------------------------------------------------------------------------------------


def reads_too_much(sc: ScioContext) -> None:
    sc.read("lines")
    sc.read("dictionary")


def reads_twice(sc: ScioContext) -> None:
    sc.read("lines")
    sc.pipeline | "again" >> Read("lines")


def saves_too_much(sc: ScioContext) -> None:
    sc.read("lines").save_as("counts")
    sc.parallelize([1]).save_as("numbers")


def saves_twice(sc: ScioContext) -> None:
    sc.read("lines").save_as("counts")
    sc.parallelize([1]).save_as("counts")


def does_nothing(sc: ScioContext) -> None:
    pass


@pytest.mark.parametrize(
    ("job", "message"),
    [
        (
            reads_too_much,
            "the job reads input 'dictionary', which the test does not have; its inputs are: "
            "'lines'; add .input('dictionary', [...])",
        ),
        (reads_twice, "the job reads input 'lines' twice; use the collection twice"),
        (
            saves_too_much,
            "the job saves output 'numbers', which the test does not have; its outputs are: "
            "'counts'; add .output('numbers')(...)",
        ),
        (saves_twice, "the job saves output 'counts' twice"),
        (does_nothing, "the job never reads input 'lines'; the job never saves output 'counts'"),
    ],
)
def test_a_job_and_its_test_have_the_same_inputs_and_outputs(
    job: Callable[[ScioContext], None], message: str
) -> None:
    test = JobTest(job).input("lines", ["foo"]).output("counts")(one_of)

    assert refusal(PipelineError, test.run) == message


def test_a_test_that_asserts_nothing_of_an_output_says_so() -> None:
    def job(sc: ScioContext) -> None:
        sc.read("lines").save_as("the same")

    test = JobTest(job).input("lines", ["foo"]).output("the same")(lambda out: out is not None)

    assert refusal(PaneAssertionError, test.run).endswith(
        "this asserts nothing of output 'the same'; write expect(out).to(...) in it"
    )


@pytest.mark.parametrize(
    ("write", "error", "message"),
    [
        (lambda test: test.input("users", []), PipelineError, "has an input 'users' already"),
        (lambda test: test.input_stream("users", LINES), PipelineError, "an input 'users' already"),
        (lambda test: test.output("names"), PipelineError, "has an output 'names' already"),
        (lambda test: test.counter(EMPTY)(1).counter(EMPTY), PipelineError, "lines:empty already"),
        (lambda test: test.args("window=1"), PipelineError, 'written "--name=value", got \'window'),
        (lambda test: test.args(window="1"), PipelineError, "the argument 'window' twice"),
        (
            lambda test: test.dist_cache("a.txt", 1).dist_cache("a.txt", 2),
            PipelineError,
            "JobTest has a dist cache 'a.txt' already",
        ),
        (
            lambda test: test.dist_cache_func(["a.txt", "b.txt"], 1),
            PipelineError,
            "dist_cache_func(['a.txt', 'b.txt']) needs a function without arguments, got 1; write "
            "dist_cache(['a.txt', 'b.txt'], content)",
        ),
        (
            lambda test: test.transform_override(str),
            PipelineError,
            'an override is a TransformOverride, such as TransformOverride.of("name", function), '
            "got <class 'str'>",
        ),
        (
            lambda test: test.transform_override(UPPER).transform_override(UPPER),
            PipelineError,
            "the transform 'upper' is overridden twice",
        ),
        (
            lambda test: test.input_stream("more", TestStream()),
            TestStreamError,
            "needs a finished stream, got TestStream(); end it with "
            "advance_watermark_to_infinity()",
        ),
        (
            lambda test: test.output("counts")([("foo", 1)]),
            PipelineError,
            "output('counts') needs a function that asserts something, got [('foo', 1)]; write "
            ".output('counts')(lambda out: expect(out).to(...))",
        ),
    ],
)
def test_a_job_test_refuses(
    write: Callable[[JobTest], object], error: type[Exception], message: str
) -> None:
    test = of_word_count()

    assert message in refusal(error, lambda: write(test))
    test.output("counts")(counted).input("more", [])
    with pytest.raises(PipelineError, match="the job never reads input 'more'"):
        test.run()


def test_a_job_is_a_function() -> None:
    not_a_job: Any = "word_count"
    with pytest.raises(PipelineError, match="needs a job, a function of a context, got 'word_c"):
        JobTest(not_a_job)


def test_what_a_job_raises_while_it_is_built_is_the_failure() -> None:
    def job(sc: ScioContext) -> None:
        expect(sc.read("lines")).to(contain_in_any_order([]))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        JobTest(job).input("lines", ["foo"]).run()
