"""``with_name`` names the next verb, wherever Scio has it: on contexts and every collection."""

from collections.abc import Callable
from typing import Any

import pytest

from beamlike.errors import PipelineError
from beamlike.scio import ScioContext, SideOutput, TimestampedValue
from beamlike.testing import TestStream, contain_in_any_order, expect, run_with_context
from tests.support.refusals import refusal

SIDE = SideOutput[str]("odd")


def with_side_input(sc: ScioContext, numbers: Any) -> Any:
    return numbers.with_side_inputs(sc.parallelize([10], "ten").as_singleton_side_input())


def with_side_output(sc: ScioContext, numbers: Any) -> Any:
    return numbers.with_side_outputs(SIDE)


def to_windowed(sc: ScioContext, numbers: Any) -> Any:
    return numbers.to_windowed()


def plain(sc: ScioContext, numbers: Any) -> Any:
    return numbers


Kind = Callable[[ScioContext, Any], Any]
KINDS: list[tuple[Kind, str, tuple[Any, ...]]] = [
    (plain, "map", (str,)),
    (plain, "count", ()),
    (plain, "sum", ()),
    (plain, "with_fixed_windows", ("1 minute",)),
    (lambda sc, numbers: numbers.with_fanout(2), "sum", ()),
    (lambda sc, numbers: numbers.key_by(str).with_hot_key_fanout(2), "sum_by_key", ()),
    (with_side_input, "map", (lambda it, context: it,)),
    (with_side_input, "flat_map", (lambda it, context: [it],)),
    (with_side_input, "filter", (lambda it, context: True,)),
    (with_side_input, "collect", (lambda it, context: it,)),
    (with_side_input, "key_by", (lambda it, context: it,)),
    (with_side_output, "map", (lambda it, context: it,)),
    (with_side_output, "flat_map", (lambda it, context: [it],)),
    (to_windowed, "map", (lambda it: it,)),
    (to_windowed, "flat_map", (lambda it: [it],)),
    (to_windowed, "filter", (lambda it: True,)),
    (to_windowed, "key_by", (lambda it: it.value,)),
]


def steps(sc: ScioContext) -> list[str]:
    """The outermost names in the pipeline, in order."""
    return list(dict.fromkeys(node.label.partition("/")[0] for node in sc.pipeline.nodes))


@pytest.mark.parametrize(("kind", "verb", "arguments"), KINDS)
def test_every_verb_of_every_collection_takes_the_name_once(
    kind: Kind, verb: str, arguments: tuple[Any, ...]
) -> None:
    sc = ScioContext()
    given = kind(sc, sc.parallelize([1, 2], "numbers"))
    before = steps(sc)

    getattr(given.with_name("mine"), verb)(*arguments)
    getattr(given, verb)(*arguments)

    mine, second = steps(sc)[len(before) :]
    assert mine == "mine"
    assert second.startswith(verb.split("_")[0]) or second == "Combine"


@pytest.mark.parametrize("kind", [plain, with_side_input, with_side_output, to_windowed])
@pytest.mark.parametrize("name", ["", None, 5])
def test_a_name_is_a_text(kind: Kind, name: Any) -> None:
    sc = ScioContext()
    given = kind(sc, sc.parallelize([1]))
    assert refusal(PipelineError, given.with_name, name) == f"with_name needs a text, got {name!r}"


@pytest.mark.parametrize("kind", [with_side_input, to_windowed])
def test_a_name_that_no_verb_took_does_not_go_on(kind: Kind) -> None:
    sc = ScioContext()
    kind(sc, sc.parallelize([1], "numbers")).with_name("unused").to_scollection().map(str)
    assert steps(sc)[-1] == "map(str)"


def test_a_chain_has_a_name_for_each_verb() -> None:
    sc = ScioContext()
    ten = sc.with_name("ten").parallelize([10]).as_singleton_side_input()
    seeing = sc.with_name("numbers").parallelize([1]).with_side_inputs(ten)
    named = seeing.with_name("added").map(lambda it, context: it + context(ten))
    evens = named.with_name("evens").filter(lambda it, context: it % 2 == 0)
    stamped = evens.to_scollection().with_name("again").map(str).to_windowed()
    stamped.with_name("kept").filter(lambda it: True).to_scollection()
    assert steps(sc) == ["ten", "numbers", "added", "evens", "again", "kept"]


def test_the_context_names_the_collections_that_it_makes() -> None:
    sc = ScioContext()
    one = sc.with_name("one").parallelize([1])
    timed = sc.with_name("timed").parallelize_timestamped([TimestampedValue(1, 0)])
    finished = TestStream().add_elements(2).advance_watermark_to_infinity()
    steps_of = sc.with_name("stream").test_stream(finished)
    sc.with_name("both").union_all([one, timed])
    sc.with_name("none").empty()
    sc.with_name("nothing").union_all([])
    sc.with_name("unused").parallelize([1], "own")
    steps_of.map(str)
    assert steps(sc) == ["one", "timed", "stream", "both", "none", "nothing", "own", "map(str)"]


@pytest.mark.parametrize("name", ["", None, 5])
def test_the_name_of_a_context_is_a_text(name: Any) -> None:
    with pytest.raises(PipelineError) as refused:
        ScioContext().with_name(name)
    assert str(refused.value) == f"with_name needs a text, got {name!r}"


def test_a_name_changes_no_result() -> None:
    with run_with_context() as sc:
        ten = sc.parallelize([10]).as_singleton_side_input()
        numbers = sc.parallelize([1, 2]).with_side_inputs(ten).with_name("added")
        added = numbers.map(lambda it, see: it + see(ten)).to_scollection()
        expect(added).to(contain_in_any_order([11, 12]))
        main, sides = (
            sc.parallelize([1, 2])
            .with_side_outputs(SIDE)
            .with_name("split")
            .flat_map(lambda it, out: [it] if it % 2 == 0 else out.output(SIDE, str(it)) and [])
        )
        expect(main).to(contain_in_any_order([2]))
        expect(sides(SIDE)).to(contain_in_any_order(["1"]))
