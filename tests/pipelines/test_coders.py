"""Values with a declared coder, values without one, and values that cannot travel."""

import pickle
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, make_dataclass
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any, NamedTuple

import attrs
import pytest

import beamlike.beam as beam
from beamlike.errors import CoderError, PipelineError, StateError
from beamlike.hosts.in_process import run_pipeline
from beamlike.model.coders import Coders, type_name
from beamlike.runtime.graph.keys import key_bytes, key_of
from beamlike.runtime.graph.outputs import PipelineRun
from beamlike.runtime.graph.wire import Wire
from tests.support.pipelines.in_layers import run_in_letters

registry = beam.coders.registry

Run = Callable[[Any], PipelineRun]


def in_letters(nodes: Any) -> PipelineRun:
    return run_in_letters(nodes, dice=Random(0))


HOSTS = pytest.mark.parametrize("run", [run_pipeline, in_letters], ids=["memory", "letters"])


class Money:
    """What only its coder can make bytes of."""

    def __init__(self, cents: int) -> None:
        self.cents = cents

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Money) and other.cents == self.cents

    def __hash__(self) -> int:
        return hash(self.cents)

    def __repr__(self) -> str:
        return f"Money({self.cents})"

    def __reduce__(self) -> Any:
        raise AssertionError("pickled, and not given to the coder")


@attrs.frozen
class MoneyCoder(beam.coders.Coder):
    def encode(self, value: Money) -> bytes:
        return str(value.cents).encode()

    def decode(self, encoded: bytes) -> Money:
        return Money(int(encoded))

    def is_deterministic(self) -> bool:
        return True


class Hasty(MoneyCoder):
    """Makes no promise about equal values."""

    def is_deterministic(self) -> bool:
        return False


class Rounding(MoneyCoder):
    """Loses what is less than a euro."""

    def encode(self, value: Money) -> bytes:
        return str(value.cents // 100 * 100).encode()


class Raising(MoneyCoder):
    def encode(self, value: Money) -> bytes:
        raise OverflowError("too rich")


class Unreadable(MoneyCoder):
    def decode(self, encoded: bytes) -> Money:
        raise OverflowError("too rich")


class Prefixed(MoneyCoder):
    """Reads only what it wrote itself."""

    def encode(self, value: Money) -> bytes:
        return b"EUR" + super().encode(value)

    def decode(self, encoded: bytes) -> Money:
        currency, cents = encoded[:3], encoded[3:]
        if currency != b"EUR":
            raise LookupError(f"no currency in {encoded!r}")
        return super().decode(cents)


class Texts(MoneyCoder):
    def encode(self, value: Money) -> Any:
        return str(value.cents)


@pytest.fixture(autouse=True)
def undeclared() -> Iterator[None]:
    """No test leaves a coder behind."""
    yield
    for kind in registry.coders.by_type:
        registry.unregister_coder(kind)


def values(run: PipelineRun, pcoll: Any) -> list[Any]:
    return sorted((came.element.value for came in run.out_of(pcoll.edge)), key=repr)


def paid(*amounts: Any) -> tuple[beam.Pipeline, Any]:
    """Amounts grouped by one key."""
    pipeline = beam.Pipeline()
    grouped = (
        pipeline
        | "Paid" >> beam.Create(list(amounts))
        | beam.WithKeys("all")
        | "By key" >> beam.GroupByKey()
    )
    return pipeline, grouped


@HOSTS
def test_a_declared_coder_is_used_for_elements_and_keys_and_inside_of_others(run: Run) -> None:
    registry.register_coder(Money, MoneyCoder)
    pipeline = beam.Pipeline()
    given = [
        ((Money(1), "a"), {"paid": [Money(10), (Money(20), None)]}),
        ((Money(1), "a"), {"paid": [Money(30)]}),
        ((Money(2), "a"), {"paid": []}),
    ]
    grouped = pipeline | beam.Create(given) | beam.GroupByKey()
    counted = grouped | beam.Map(lambda pair: (pair[0][0], len(pair[1]))) | beam.CombinePerKey(sum)

    found = run(pipeline.nodes)

    assert values(found, grouped) == [
        ((Money(1), "a"), [{"paid": [Money(10), (Money(20), None)]}, {"paid": [Money(30)]}]),
        ((Money(2), "a"), [{"paid": []}]),
    ]
    assert values(found, counted) == [(Money(1), 2), (Money(2), 1)]


@HOSTS
def test_a_declared_value_rests_in_state_and_comes_to_its_side_input(run: Run) -> None:
    registry.register_coder(Money, MoneyCoder())
    pipeline = beam.Pipeline()
    fees = pipeline | "Fees" >> beam.Create([Money(5)])
    paid = pipeline | "Paid" >> beam.Create([Money(10), Money(20)])
    totals = paid | beam.Map(
        lambda amount, fee: amount.cents + fee.cents, beam.pvalue.AsSingleton(fees)
    )

    assert values(run(pipeline.nodes), totals) == [15, 25]


@HOSTS
def test_keys_with_a_coder_that_promises_nothing_are_refused(run: Run) -> None:
    registry.register_coder(Money, Hasty())
    pipeline = beam.Pipeline()
    pipeline | beam.Create([((1, Money(3)), "x")]) | "By amount" >> beam.GroupByKey()

    with pytest.raises(PipelineError) as refusal:
        run(pipeline.nodes)

    assert str(refusal.value) == (
        "'By amount': the key Money(3) has the coder Hasty(), which is not deterministic: equal "
        "keys may have different bytes, and be grouped apart; if they never have, let its "
        "is_deterministic() return True, or make the key a text, a number or a tuple"
    )


@HOSTS
@pytest.mark.parametrize(
    ("coder", "problem"),
    [
        (Raising(), "Raising().encode raised OverflowError: too rich for Money(150)"),
        (Unreadable(), "Unreadable().decode raised OverflowError: too rich for Money(150)"),
        (Texts(), "Texts().encode must return bytes, and returned '150' for Money(150)"),
        (
            Rounding(),
            "Money(150) comes back from Rounding() as Money(100), which is not equal to it; let "
            "decode make what encode was given",
        ),
    ],
    ids=["encode", "decode", "no-bytes", "unequal"],
)
def test_a_broken_coder_is_named_with_the_value_and_the_transform(
    run: Run, coder: Any, problem: str
) -> None:
    registry.register_coder(Money, coder)
    pipeline, _ = paid(("rent", Money(150)))

    with pytest.raises(PipelineError) as refusal:
        run(pipeline.nodes)

    assert str(refusal.value) == f"'Paid': {problem}"


@HOSTS
def test_a_broken_coder_is_named_with_the_transform_that_made_the_value(run: Run) -> None:
    registry.register_coder(Money, Rounding())
    pipeline = beam.Pipeline()
    cents = pipeline | beam.Create([("rent", 150)]) | beam.GroupByKey()
    cents | beam.Map(lambda pair: (Money(sum(pair[1])), 1)) | "By sum" >> beam.GroupByKey()

    with pytest.raises(PipelineError) as refusal:
        run(pipeline.nodes)

    assert str(refusal.value) == (
        "'By sum': Money(150) comes back from Rounding() as Money(100), which is not equal to it; "
        "let decode make what encode was given"
    )


def test_without_a_declared_coder_a_value_stays_itself_in_memory() -> None:
    pipeline, grouped = paid(Money(1))

    assert values(run_pipeline(pipeline.nodes), grouped) == [("all", [Money(1)])]


class Token:
    """Equal to nothing but itself."""

    def __init__(self, name: str) -> None:
        self.name = name


class TokenCoder(beam.coders.Coder):
    def encode(self, value: Token) -> bytes:
        return value.name.encode()

    def decode(self, encoded: bytes) -> Token:
        return Token(encoded.decode())


class ShoutingTokens(TokenCoder):
    def decode(self, encoded: bytes) -> Token:
        return Token(encoded.decode().upper())

    def is_deterministic(self) -> bool:
        return True


def test_a_coder_of_a_class_that_another_process_lacks_stays_behind() -> None:
    module = ModuleType("module_of_the_driver")
    module.Lost = type("Lost", (), {"__module__": module.__name__})  # type: ignore[attr-defined]
    sys.modules[module.__name__] = module
    registry.register_coder(Money, MoneyCoder)
    registry.register_coder(module.Lost, MoneyCoder)
    sent = pickle.dumps(Wire.declared())

    del sys.modules[module.__name__]
    received: Wire = pickle.loads(sent)

    assert module.Lost not in received.coders.by_type
    assert received.coders.by_type[Money] == MoneyCoder()
    assert received.loads(Wire.declared().dumps(Money(5))) == Money(5)


def test_what_has_no_equality_is_known_by_its_bytes_if_they_tell() -> None:
    registry.register_coder(Token, TokenCoder)
    assert Wire.declared().round_trip(Token("a")).name == "a"

    registry.register_coder(Token, ShoutingTokens)
    with pytest.raises(CoderError, match="which is not equal to it"):
        Wire.declared().round_trip(Token("a"))


@attrs.frozen
class Bought:
    what: str
    amounts: tuple[int, ...]


@dataclass
class Sold:
    what: str
    to: "Sold | None" = None


@dataclass(frozen=True, slots=True)
class Lent:
    what: str


class Found(NamedTuple):
    what: str
    where: str = "street"


@HOSTS
@pytest.mark.parametrize(
    "value",
    [Bought("tea", (1, 2)), Sold("tea", Sold("cup")), Lent("tea"), Found("tea")],
    ids=lambda value: type(value).__name__,
)
def test_objects_of_classes_with_fields_need_no_coder(run: Run, value: Any) -> None:
    pipeline, grouped = paid(value)

    assert values(run(pipeline.nodes), grouped) == [("all", [value])]


def test_a_class_that_is_not_at_the_top_of_a_module_travels_with_its_objects() -> None:
    @attrs.frozen
    class Hidden:
        what: str

    pipeline, grouped = paid(Hidden("tea"))

    assert values(in_letters(pipeline.nodes), grouped) == [("all", [Hidden("tea")])]


def test_a_key_of_a_class_that_is_not_at_the_top_of_a_module_is_refused() -> None:
    @attrs.frozen
    class Hidden:
        what: str

    pipeline = beam.Pipeline()
    pipeline | beam.Create([(Hidden("tea"), 1)]) | "By what" >> beam.GroupByKey()

    with pytest.raises(PipelineError) as refusal:
        in_letters(pipeline.nodes)
    assert str(refusal.value) == (
        f"'By what': a key is a {Hidden.__qualname__}, and another process cannot import that "
        f"class from {__name__}; define it at the top of a module, declare a deterministic coder "
        "for it, or use a tuple as key"
    )


def test_what_cannot_go_to_another_process_is_named_with_its_transform() -> None:
    pipeline = beam.Pipeline()
    numbers = pipeline | beam.Create([3]) | "Lazy" >> beam.Map(lambda n: iter_of(n))
    counted = numbers | beam.Map(lambda each: sum(each))

    assert values(run_pipeline(pipeline.nodes), counted) == [3]
    with pytest.raises(PipelineError) as refusal:
        in_letters(pipeline.nodes)
    assert str(refusal.value).startswith("'Lazy': <generator ob")
    assert str(refusal.value).endswith(
        " cannot go to another process: TypeError: cannot pickle 'generator' object; bring out "
        "plain values, or declare a coder for its class with coders.registry.register_coder(...)"
    )


def iter_of(number: int) -> Iterator[int]:
    yield from range(number)


@pytest.mark.parametrize(
    ("kind", "coder", "message"),
    [
        ("Money", MoneyCoder, "a coder is declared for a class, got 'Money'; give its class"),
        (
            int,
            MoneyCoder,
            "int needs no coder and takes none: it travels as it is; declare one for a class of "
            "your own",
        ),
        (
            Money,
            str,
            f"the coder of {type_name(Money)} must be a Coder, got <class 'str'>; write a class "
            "with encode and decode below coders.Coder",
        ),
    ],
    ids=["no-class", "plain", "no-coder"],
)
def test_a_declaration_that_means_nothing_is_refused(kind: Any, coder: Any, message: str) -> None:
    with pytest.raises(PipelineError) as refusal:
        registry.register_coder(kind, coder)

    assert str(refusal.value) == message
    assert registry.coders == Coders()


# -- what an earlier run has kept ------------------------------------------------------------


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module of the user's, whose classes change between two runs."""
    module = ModuleType("shop")
    monkeypatch.setitem(sys.modules, "shop", module)
    return module


def order(shop: ModuleType, *fields: str, **options: bool) -> Any:
    """The class ``shop.Order`` as it is from now on."""
    kind = make_dataclass("Order", fields, **options)
    kind.__module__ = "shop"
    shop.Order = kind  # type: ignore[attr-defined]
    return kind


NEW = "or start the query with a new checkpoint"
KEPT = "was kept by an earlier run, or sent by another process, and cannot be made again here: "


def refusal_of(blob: bytes, wire: Wire | None = None) -> str:
    with pytest.raises(StateError) as refusal:
        (wire or Wire()).loads(blob)
    return str(refusal.value)


@pytest.mark.parametrize("slots", [False, True], ids=["plain", "slots"])
def test_a_value_whose_class_has_other_fields_now_is_refused(shop: Any, slots: bool) -> None:
    kept = Wire().dumps([order(shop, "item", "price", slots=slots)("tea", 2)])
    order(shop, "item", "number", slots=slots)

    assert refusal_of(kept) == (
        f"a shop.Order {KEPT}its fields were item, price, and are item, number; bring them back, "
        f"or write and declare a coder before fields change, {NEW}"
    )


def test_a_value_whose_class_is_gone_is_refused(shop: Any) -> None:
    kept = Wire().dumps({"paid": order(shop, "item")("tea")})
    del shop.Order

    assert refusal_of(kept).startswith(f"a shop.Order {KEPT}AttributeError: ")


def test_a_value_whose_module_is_gone_is_refused(shop: Any, monkeypatch: Any) -> None:
    kept = Wire().dumps(order(shop, "item")("tea"))
    monkeypatch.delitem(sys.modules, "shop")

    assert refusal_of(kept) == (
        f"a shop.Order {KEPT}ModuleNotFoundError: No module named 'shop'; bring back the class as "
        f"it was, {NEW}"
    )


def test_a_value_whose_coder_is_gone_is_refused() -> None:
    registry.register_coder(Money, MoneyCoder())
    kept = Wire.declared().dumps((1, Money(3)))

    wanted = (
        f"a {type_name(Money)} {KEPT}it has no coder any more; declare the coder again with "
        f"coders.registry.register_coder(...), {NEW}"
    )
    assert refusal_of(kept) == wanted
    assert refusal_of(kept, Wire(Coders({Token: TokenCoder()}))) == wanted


def test_a_value_that_its_new_coder_cannot_read_is_refused() -> None:
    kept = Wire(Coders({Money: MoneyCoder()})).dumps(Money(3))

    assert refusal_of(kept, Wire(Coders({Money: Unreadable()}))) == (
        f"a {type_name(Money)} {KEPT}Unreadable().decode raised OverflowError: too rich; declare a "
        f"coder that reads what the earlier one wrote, {NEW}"
    )


def test_a_key_whose_class_or_coder_is_gone_is_refused(shop: Any) -> None:
    kept = key_bytes((order(shop, "item", frozen=True)("tea"),))
    coded = key_bytes(Money(3), Coders({Money: MoneyCoder()}))
    del shop.Order

    with pytest.raises(StateError, match="'shop' has no attribute 'Order'; bring back the class"):
        key_of(kept)
    with pytest.raises(
        StateError, match=r"Money .* has no coder any more; declare the coder again"
    ):
        key_of(coded)


# -- on Spark --------------------------------------------------------------------------------


@pytest.mark.nightly
@pytest.mark.spark
def test_a_declared_coder_is_used_on_spark(spark: Any) -> None:
    registry.register_coder(Money, MoneyCoder())
    pipeline, grouped = paid(Money(1), Money(2))
    by_amount = (
        grouped
        | beam.FlatMap(lambda pair: [(amount, amount) for amount in pair[1]])
        | "By amount" >> beam.GroupByKey()
    )

    found = pipeline.run("spark", spark)

    assert values(found, by_amount) == [(Money(1), [Money(1)]), (Money(2), [Money(2)])]


@pytest.mark.nightly
@pytest.mark.spark
def test_a_stream_whose_coder_cannot_read_its_state_does_not_go_on(spark: Any, tmp_path: Path):
    inbox, checkpoint = str(tmp_path / "in"), str(tmp_path / "checkpoint")

    def arrive(cents: int) -> None:
        rows = spark.createDataFrame([(cents, "2020-01-01 00:00:10Z")], "cents long, at string")
        rows = rows.selectExpr("cents", "cast(at as timestamp) at")
        rows.coalesce(1).write.mode("append").parquet(inbox)

    def run() -> None:
        pipeline = beam.Pipeline()
        stream = spark.readStream.schema("cents long, at timestamp").parquet(inbox)
        (
            pipeline
            | beam.FromDataFrame(stream, timestamp="at", watermark="1 minute")
            | beam.Map(lambda row: ("all", Money(row.cents)))
            | beam.WindowInto(beam.FixedWindows("1 hour"))
            | "By key" >> beam.GroupByKey()
            | beam.Map(lambda pair: (pair[0], sum(amount.cents for amount in pair[1])))
            | beam.WriteRows("key string, cents long", lambda rows, number: rows.collect())
        )
        once = {"availableNow": True}
        pipeline.run("spark", spark, checkpoint=checkpoint, trigger=once).wait_until_finish()

    registry.register_coder(Money, MoneyCoder())
    arrive(10)
    run()
    registry.register_coder(Money, Prefixed())
    arrive(20)

    with pytest.raises(StateError, match=r"^'By key': a .*Money was kept .* no currency"):
        run()
