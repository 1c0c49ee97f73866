"""What one key is: the same on every host, whatever ``==`` says; and which objects are keys."""

import random
import sys
from collections import namedtuple
from collections.abc import Iterator
from dataclasses import dataclass, field, make_dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random
from types import ModuleType
from typing import Any, NamedTuple
from uuid import UUID

import attrs
import pytest

import beamlike.beam as beam
from beamlike.beam.options.pipeline_options import PipelineOptions, TypeOptions
from beamlike.errors import PipelineError, StateError
from beamlike.hosts.in_process import run_pipeline
from beamlike.model.coders import Coder, StrUtf8Coder, registry
from beamlike.model.panes import Timing
from beamlike.model.windows import IntervalWindow
from beamlike.runtime.graph.keys import key_bytes, key_of, readable_key
from tests.support.pipelines.in_layers import run_in_letters
from tests.support.refusals import refusal


class Town(NamedTuple):
    """A named tuple."""

    name: str
    country: str


@dataclass(frozen=True, kw_only=True)
class Street:
    """A data class that is made by keywords."""

    name: str
    number: int
    length: int = field(init=False, default=0)


@attrs.frozen
class Door:
    """An attrs class whose fields have other names in the calls that make it."""

    _color: str
    _number: int = attrs.field(alias="no")


@dataclass(frozen=True)
class Nowhere:
    """Without fields."""


KEYS: list[Any] = [
    *(None, True, 1, 1.0, -1, 2**80, 0.1, float("inf"), "", "é", "\ud800", b"", b"\x00"),
    *((), (1,), (1, ("a", None)), frozenset({1, "a"}), Decimal("1.50"), Decimal("1.5")),
    *(date(2020, 1, 1), datetime(2020, 1, 1), datetime(2020, 1, 1, tzinfo=UTC)),
    *(timedelta(days=-1), UUID(int=3), Timing.EARLY, IntervalWindow(1, 2)),
    *(Town("Rome", "IT"), Street(name="Via Appia", number=3), Door("red", 3), Nowhere()),
]


def in_one_order(key: Any) -> str:
    """The same in every process, which a set is not."""
    return f"frozenset of {sorted(key, key=str)}" if isinstance(key, frozenset) else repr(key)


@pytest.mark.parametrize("key", KEYS, ids=in_one_order)
def test_a_key_comes_back_as_it_was(key: Any) -> None:
    back = key_of(key_bytes(key))

    assert (type(back), back) == (type(key), key)


def test_what_differs_in_kind_is_no_one_key() -> None:
    assert len({key_bytes(key) for key in KEYS}) == len(KEYS)


def _data_class(*names: str) -> Any:
    return make_dataclass("Place", names, frozen=True)


def _attrs_class(*names: str) -> Any:
    return attrs.make_class("Place", names, frozen=True)


def _named_tuple(*names: str) -> Any:
    return namedtuple("Place", names)  # type: ignore[misc]


@pytest.mark.parametrize("make", [_data_class, _attrs_class, _named_tuple])
@pytest.mark.parametrize(
    "now",
    [("street", "city"), ("city", "town"), ("city",), ("city", "street", "door"), ()],
    ids=str,
)
def test_a_key_whose_class_has_other_fields_by_now_is_refused(
    make: Any, now: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("places")
    monkeypatch.setitem(sys.modules, "places", module)

    def place(*names: str) -> Any:
        kind = make(*names)
        kind.__module__ = "places"
        module.Place = kind  # type: ignore[attr-defined]
        return kind

    kept = key_bytes(place("city", "street")("Rome", "Via Appia"))
    assert key_of(kept) == module.Place("Rome", "Via Appia")
    place(*now)

    assert refusal(StateError, lambda: key_of(kept)) == (
        'the key ["oplaces:Place city street", "sRome", "sVia Appia"] was kept by an earlier run, '
        "and cannot be made again here: TypeError: its fields were (city, street) and are "
        f"({', '.join(now)}); bring back the class as it was, or start the query with a new "
        "checkpoint"
    )


def test_there_is_one_nan_and_one_zero() -> None:
    assert key_bytes(float("nan")) == key_bytes(-float("nan"))
    assert key_bytes(0.0) == key_bytes(-0.0)


def test_equal_texts_are_one_key_whether_or_not_they_are_one_object() -> None:
    shared = "".join(("a", "b"))

    assert key_bytes((shared, shared)) == key_bytes((shared, "".join(("a", "b"))))


class Plain:
    """Nobody knows when two of them are equal."""


def test_what_may_be_equal_or_not_is_no_key() -> None:
    assert refusal(PipelineError, lambda: key_bytes(("a", Plain))).endswith(
        "is a type, which has no deterministic coder: nothing says when two of them are equal; "
        "use a text, a number, a tuple, or a frozen data class"
    )


def test_both_hosts_have_the_same_keys() -> None:
    pipeline = beam.Pipeline()
    pairs = [(key, index) for index, key in enumerate([1, True, 1.0, 0.0, -0.0, float("nan"), 1])]
    sums = pipeline | beam.Create([*pairs, (-float("nan"), 10)]) | beam.CombinePerKey(sum)

    def found(run: Any) -> list[str]:
        return sorted(repr(came.element.value) for came in run.out_of(sums.edge))

    wanted = ["(0.0, 7)", "(1, 6)", "(1.0, 2)", "(True, 1)", "(nan, 15)"]
    assert found(run_pipeline(pipeline.nodes)) == wanted
    assert found(run_in_letters(pipeline.nodes, dice=Random(0))) == wanted


@pytest.mark.parametrize("blob", [b"\xff", b"", b"[]", b'["oos:system","sx"]', b'"tdate x"', b"7"])
def test_bytes_that_are_no_key_are_reported_with_what_to_do(blob: bytes) -> None:
    with pytest.raises(StateError) as refusal:
        key_of(blob)

    message = str(refusal.value)
    assert message.startswith(
        f"the key {blob.decode(errors='backslashreplace')} was kept by an earl"
    )
    assert message.endswith("start the query with a new checkpoint")


class Restored:
    """An object that says what it is made of."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __getstate__(self) -> int:
        return self.value

    def __setstate__(self, value: int) -> None:
        self.value = value


@pytest.mark.parametrize("host", ["memory", "local"])
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1, "b": [2]}, {"b": [2], "a": 1}),
        ([1, [2]], [1, [2]]),
        ({1, 2}, {2, 1}),
        (("a", {"b": 1}), ("a", {"b": 1})),
    ],
)
def test_a_mapping_a_list_or_a_set_may_be_a_key(one: Any, other: Any, host: Any) -> None:
    pipeline = beam.Pipeline()
    pairs = pipeline | beam.Create([(one, 1), (other, 2), ("else", 3)])
    groups = pairs | beam.GroupByKey()
    came = pipeline.run(host).out_of(groups.edge)
    assert [it.element.value for it in came] == [(one, [1, 2]), ("else", [3])]


@pytest.mark.parametrize("host", ["memory", "local"])
def test_an_object_that_says_what_it_is_made_of_may_be_a_key(host: Any) -> None:
    pipeline = beam.Pipeline()
    pairs = pipeline | beam.Create([(Restored(n % 2), n) for n in range(4)])
    groups = pairs | beam.GroupByKey() | beam.MapTuple(lambda key, found: (key.value, found))
    came = pipeline.run(host).out_of(groups.edge)
    assert [it.element.value for it in came] == [(0, [0, 2]), (1, [1, 3])]
    blob = key_bytes(Restored(3))
    assert (key_of(blob).value, str(readable_key(blob))) == (3, f"{__name__}.Restored(3)")


class Named:
    """Has no fields that say when two are equal."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


class StableCoder(Coder):
    def encode(self, value: Named) -> bytes:
        return value.name.encode()

    def decode(self, encoded: bytes) -> Named:
        return Named(encoded.decode())

    def is_deterministic(self) -> bool:
        return True


class RandomCoder(Coder):
    """Equal names have different bytes; keys have another coder."""

    def encode(self, value: Named) -> bytes:
        return f"{random.random()} {value.name}".encode()

    def decode(self, encoded: bytes) -> Named:
        return Named(encoded.decode().partition(" ")[2])

    def as_deterministic_coder(self, step_label: str, error_message: str | None = None) -> Coder:
        return StableCoder()


def grouped(keys: list[Any], options: PipelineOptions | None = None) -> list[tuple[Any, list[int]]]:
    """The numbers of equal keys together, on the host local."""
    with beam.Pipeline(options=options) as pipeline:
        pairs = [(key, index) for index, key in enumerate(keys)]
        made = pipeline | beam.Create(pairs) | beam.GroupByKey()
    assert pipeline.result is not None
    return [output.element.value for output in pipeline.result.out_of(made.edge)]


@pytest.fixture
def clean_registry() -> Iterator[None]:
    yield
    registry.unregister_coder(Named)
    registry._fallback = None


def test_keys_of_classes_that_only_this_process_has_are_grouped_in_it() -> None:
    class Player(NamedTuple):
        name: str

    @dataclass(frozen=True)
    class Team:
        name: str

    assert grouped([Player("a"), Team("a"), Player("a")]) == [
        (Player("a"), [0, 2]),
        (Team("a"), [1]),
    ]


def test_two_such_classes_of_one_name_are_two() -> None:
    def made() -> Any:
        @dataclass(frozen=True)
        class Team:
            name: str

        return Team

    one, other = made(), made()
    assert grouped([one("a"), other("a"), one("a")]) == [(one("a"), [0, 2]), (other("a"), [1])]


@pytest.mark.usefixtures("clean_registry")
def test_keys_have_the_deterministic_coder_that_their_coder_names() -> None:
    registry.register_coder(Named, RandomCoder)
    assert grouped([Named("a"), Named("b"), Named("a")]) == [
        (Named("a"), [0, 2]),
        (Named("b"), [1]),
    ]


def test_a_coder_is_its_own_deterministic_coder_or_has_none() -> None:
    assert StrUtf8Coder().as_deterministic_coder("keys") == StrUtf8Coder()
    with pytest.raises(PipelineError, match="cannot be made deterministic for 'keys'"):
        beam.coders.PickleCoder().as_deterministic_coder("keys")
    with pytest.raises(ValueError, match="take a text"):
        beam.coders.PickleCoder().as_deterministic_coder("keys", "take a text")


def test_an_option_allows_keys_whose_equality_is_not_known() -> None:
    with pytest.raises(PipelineError, match="no deterministic coder"):
        grouped([Named("a")])
    options = PipelineOptions()
    options.view_as(TypeOptions).allow_non_deterministic_key_coders = True
    assert grouped([Named("a"), Named("b"), Named("a")], options) == [
        (Named("a"), [0, 2]),
        (Named("b"), [1]),
    ]
    with pytest.raises(PipelineError, match="no deterministic coder"):
        grouped([Named("a")])


class DeterministicPickles(beam.coders.PickleCoder):
    """Pickles of keys that have one pickle each."""

    def is_deterministic(self) -> bool:
        return True


@pytest.mark.usefixtures("clean_registry")
def test_a_fallback_coder_is_that_of_keys_without_another() -> None:
    with pytest.raises(PipelineError, match="cannot be made deterministic"):
        registry.register_fallback_coder(beam.coders.PickleCoder())
    with pytest.raises(PipelineError, match="must be a Coder, got 3"):
        registry.register_fallback_coder(3)  # type: ignore[arg-type]
    registry.register_fallback_coder(DeterministicPickles())
    assert grouped([Named("a"), Named("a")]) == [(Named("a"), [0, 1])]
