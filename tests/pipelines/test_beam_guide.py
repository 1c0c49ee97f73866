"""What Beam's programming guide teaches, as its readers write it."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

import beamlike.beam as beam
from beamlike.beam.coders import Coder, VarIntCoder, registry
from beamlike.beam.testing.test_pipeline import TestPipeline
from beamlike.beam.testing.util import assert_that, equal_to
from beamlike.beam.transforms.userstate import BagStateSpec, TimeDomain, TimerSpec, on_timer
from beamlike.beam.utils.windowed_value import PaneInfoTiming
from beamlike.errors import PipelineError


class Purchase(NamedTuple):
    bank: str
    amount: float
    user: str | None = None
    items: list[int] | None = None


@dataclass(frozen=True)
class Shop:
    name: str
    best: Purchase
    place: tuple[int, bytes]
    seen: dict[str, bool]
    other: Any = None


class PurchaseCoder(Coder):
    """Purchases as JSON: equal ones have equal bytes."""

    def encode(self, value: Purchase) -> bytes:
        return json.dumps(value).encode()

    def decode(self, encoded: bytes) -> Purchase:
        return Purchase(*json.loads(encoded))

    def is_deterministic(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PurchaseCoder)

    def __hash__(self) -> int:
        return hash(PurchaseCoder)


@pytest.fixture
def declared() -> Iterable[None]:
    registry.register_coder(Purchase, PurchaseCoder)
    yield
    registry.unregister_coder(Purchase)


@pytest.mark.usefixtures("declared")
def test_values_with_a_coder_of_their_own_are_grouped_by_their_fields_and_as_keys():
    paid = [Purchase("A", 1.5), Purchase("B", 2.5, "ann"), Purchase("A", 4.0)]
    with TestPipeline() as pipeline:
        purchases = pipeline | beam.Create(paid).with_output_types(Purchase)
        sums = purchases | beam.GroupBy("bank").aggregate_field("amount", sum, "total")
        assert_that(sums | beam.Map(tuple), equal_to([("A", 5.5), ("B", 2.5)]), label="sums")
        counts = (purchases, purchases) | beam.Flatten() | beam.combiners.Count.PerElement()
        assert_that(counts, equal_to([(it, 2) for it in paid]), label="counts")


@pytest.mark.usefixtures("declared")
def test_the_registry_says_the_coder_of_a_class():
    assert registry.get_coder(int) == VarIntCoder()
    assert [type(registry.get_coder(it)).__name__ for it in (bool, bytes, float, str)] == [
        *("BooleanCoder", "BytesCoder", "FloatCoder", "StrUtf8Coder")
    ]
    assert registry.get_coder(Purchase) == PurchaseCoder()
    with pytest.raises(PipelineError, match=r"has no coder of its own, .* declare one with"):
        registry.get_coder(Shop)


class Gather(beam.DoFn[Any, Any]):
    """Brings out what came of a key, at the end of its window."""

    VALUES = BagStateSpec("values", VarIntCoder())
    END = TimerSpec("end", TimeDomain.WATERMARK)

    def process(
        self,
        element: tuple[str, int],
        window: Any = beam.DoFn.WindowParam,
        values: Any = beam.DoFn.StateParam(VALUES),  # noqa: B008
        end: Any = beam.DoFn.TimerParam(END),  # noqa: B008
    ) -> None:
        values.add(element[1])
        end.set(window.end)

    @on_timer(END)
    def on_end(
        self,
        key: str = beam.DoFn.KeyParam,
        at: beam.Timestamp = beam.DoFn.TimestampParam,
        values: Any = beam.DoFn.StateParam(VALUES),  # noqa: B008
    ) -> Iterable[tuple[str, list[int], float]]:
        yield key, sorted(values.read()), float(at)


@pytest.mark.parametrize("lateness", [0, 5])
def test_a_timer_may_be_set_to_the_end_of_its_window(lateness: int):
    with TestPipeline() as pipeline:
        timed = [("a", 1, 1), ("a", 2, 2), ("b", 3, 11), ("a", 4, 15)]
        pairs = pipeline | beam.Create([beam.TimestampedValue((k, v), t) for k, v, t in timed])
        windowed = pairs | beam.WindowInto(
            beam.window.FixedWindows(10),
            accumulation_mode=beam.trigger.AccumulationMode.DISCARDING,
            allowed_lateness=lateness,
        )
        over = 0 if lateness else 0.001
        found = windowed | beam.ParDo(Gather())
        expected = [("a", [1, 2], 10 - over), ("b", [3], 20 - over), ("a", [4], 20 - over)]
        assert_that(found, equal_to(expected))


def test_a_pane_is_printed_as_in_beam_and_its_timing_has_a_text():
    with TestPipeline() as pipeline:
        shown = pipeline | beam.Create(["x"]) | beam.Map(_pane)
        words = (
            "PaneInfo(first: True, last: True, timing: UNKNOWN, index: 0, nonspeculative_index: 0)"
        )
        assert_that(shown, equal_to([(words, "UNKNOWN")]))
    assert PaneInfoTiming("EARLY") is PaneInfoTiming.EARLY


def _pane(element: str, pane: Any = beam.DoFn.PaneInfoParam) -> tuple[str, str]:
    return f"{pane}", pane.timing.value


def test_the_package_says_which_beam_its_names_are_of():
    with beam.install_as("apache_beam"):
        import apache_beam

        assert apache_beam.__version__ == apache_beam.version.__version__ == beam.__version__
    assert beam.__version__ == "2.77.0"


def test_create_refuses_a_text_as_beam_does():
    with pytest.raises(TypeError, match="Create needs a list of elements, got 'abc'"):
        beam.Create("abc")
