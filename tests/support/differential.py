"""Many random scenarios, each checked against everything that must not change its outcome.

A scenario has a name: ``"0:17"`` is number 17 of seed 0. Each law of `LAWS` takes a `Case`, a
scenario with its run in memory, and compares it with the same scenario hosted, restarted or
bundled otherwise. `tests.support.generated.shrinking` makes what breaks a law smaller.

Where machines are compared, ``"0:17 streams"`` is a case in which `KEYS` keys each have random
elements of their own: so many scenarios in one pass, each compared key by key.
"""

import pickle
from collections.abc import Sequence
from functools import cached_property
from random import Random
from typing import TYPE_CHECKING, Final

import attrs

from beamlike.hosts.local.nodes import run_in_local
from beamlike.machine.events import AdvanceWatermark, Drop, DropReason
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect, CombineFn
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import AccumulationMode, LateCheck, Unchanged, WindowingStrategy
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive, Output, Run, Script
from beamlike.testing.scenarios.files import AGGREGATIONS
from tests.support.generated.scenarios import RandomScenario, any_scenario
from tests.support.generated.streams import any_streams
from tests.support.laws import Broken, Laws, unlike
from tests.support.machines import laws
from tests.support.machines.bundles import (
    by_content,
    final_contents,
    is_patient,
    keeps_contents,
    keys_apart,
    while_open,
)
from tests.support.machines.either import (
    Setting,
    any_setting_of_shards,
    in_turn,
    never,
    unlike_memory,
    unlike_memory_in_shard,
)
from tests.support.machines.in_shard import micro_batches, plan_of_numbers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEYS: Final = 40
"""Keys of a case of streams, each a scenario."""


@attrs.frozen(slots=False)
class Case:
    """A scenario and what the laws need to know of it, each worked out once.

    ``name`` decides where bundles are cut, keys move and so on, so a case can be repeated.
    ``thorough`` checks each law of it, also those that cost much.
    """

    name: str
    scenario: RandomScenario
    thorough: bool = False

    @property
    def strategy(self) -> WindowingStrategy:
        return self.scenario.strategy

    @property
    def script(self) -> Script:
        return self.scenario.script

    @property
    def combine(self) -> CombineFn:
        return AGGREGATIONS[self.scenario.aggregation] or Collect()

    @cached_property
    def machine(self) -> Grouping:
        return Grouping(self.strategy, self.combine)

    @cached_property
    def run(self) -> Run:
        """What the memory host says: the measure of all others."""
        return run_in_memory(self.machine, self.script)

    @cached_property
    def collecting(self) -> Grouping:
        """The same grouping, with panes that say which elements are in them."""
        return Grouping(self.strategy, Collect())

    @cached_property
    def collected(self) -> Run:
        is_list = self.scenario.aggregation == "list"
        return self.run if is_list else run_in_memory(self.collecting, self.script)

    @cached_property
    def lazy(self) -> laws.LazyRun:
        return laws.run_lazily(self.collecting, self.script)

    def dice(self, law: str) -> Random:
        return Random(f"{self.name} {law}")


def case_of(seed: int, number: int, *, thorough: bool = False) -> Case:
    """One scenario of a seed. The same numbers give the same case, everywhere."""
    name = f"{seed}:{number}"
    return Case(name, any_scenario(Random(name)), thorough)


def streams_of(seed: int, number: int) -> Case:
    """`KEYS` scenarios under one strategy, as one case; see `tests.support.generated.streams`."""
    name = f"{seed}:{number} streams"
    return Case(name, any_streams(Random(name), KEYS))


# -- the laws --------------------------------------------------------------------------------


def _restart(case: Case) -> list[str]:
    restarted = laws.Restarting(case.machine, lambda state: pickle.loads(pickle.dumps(state)))
    again = run_in_memory(restarted, case.script).outputs
    return [] if again == case.run.outputs else _unlike(again, case.run.outputs)


def _due_keys_only(case: Case) -> list[str]:
    found = _unlike(case.lazy.outputs, case.collected.outputs) + list(case.lazy.past_wakes)
    if case.script[-1:] == (AdvanceWatermark(MAX_TIMESTAMP),) and case.lazy.states:
        found.append(f"at the end of time state is left of keys {list(case.lazy.states)}")
    return found


def _shard(case: Case) -> list[str] | None:
    """The Spark shard, stepped key by key, with steps or keys in micro-batches of their own or as
    many steps as fit into one; its state is packed after each, and every other one has a worker
    that knows nothing."""
    if not _is_drawn(case, "shard drawn"):
        return None
    dice = case.dice("shard")
    script = case.script if dice.randrange(4) else keys_apart(case.script)[0]
    batches, _ = micro_batches(script, together=bool(dice.randrange(2)))
    plan = plan_of_numbers(case.strategy, case.combine, dice.randint(1, 2))
    return unlike_memory_in_shard(Setting(plan, batches, never, restarts=in_turn))


def _local(case: Case) -> list[str] | None:
    """The runtime of production, as `TestStream.run(host="local")` has it."""
    if not _is_drawn(case, "local drawn"):
        return None
    return _unlike(run_in_local(case.strategy, case.combine, case.script).outputs, case.run.outputs)


def _columns(case: Case) -> list[str] | None:
    if _asks_for_gaps(case.strategy) or not _is_drawn(case, "columns drawn"):
        return None
    return unlike_memory(case.strategy, case.script, case.combine)


def _either_machine(case: Case) -> list[str] | None:
    """The Spark shard by turns, with some aggregates, restarts and work that is thrown away.

    It costs as much for one key as for many, and so only streams are asked.
    """
    if not _has_streams(case):
        return None
    dice = case.dice("either machine")
    return unlike_memory_in_shard(any_setting_of_shards(dice, case.strategy, case.script))


def _is_drawn(case: Case, law: str) -> bool:
    """Whether a law that costs much is checked of this case, as of one in three."""
    return case.thorough or case.dice(law).randrange(3) == 0


def _has_streams(case: Case) -> bool:
    return case.name.endswith(" streams")


def _asks_for_gaps(strategy: WindowingStrategy) -> bool:
    """Whether a function of the user's is asked, which only the reference machine does."""
    window_fn = strategy.window_fn
    return isinstance(window_fn, Sessions) and callable(window_fn.gap)


def _keys_apart(case: Case) -> list[str] | None:
    apart, origin = keys_apart(case.script)
    if len(apart) == len(case.script):
        return None
    return _unlike(_at(origin, run_in_memory(case.machine, apart).outputs), case.run.outputs)


def _order_in_bundles(case: Case) -> list[str]:
    dice = case.dice("order")
    shuffled = tuple(
        Arrive(tuple(dice.sample(happens.elements, len(happens.elements))))
        if isinstance(happens, Arrive)
        else happens
        for happens in case.script
    )
    steps = range(len(case.script))
    outputs = run_in_memory(case.collecting, shuffled).outputs
    return unlike(by_content(outputs, steps), by_content(case.collected.outputs, steps))


def _cuts_of_patient(case: Case) -> list[str] | None:
    """While windows are open, nothing: every pane and drop is in its place."""
    if not is_patient(case.strategy):
        return None
    dice = case.dice("cuts")
    script = while_open(case.script, case.strategy.window_fn)
    cut, origin = laws.cut_bundles(script, lambda: dice.randint(1, 2))
    whole, pieces = (run_in_memory(case.collecting, one).outputs for one in (script, cut))
    return unlike(by_content(pieces, origin), by_content(whole, range(len(script))))


def _cuts_and_contents(case: Case) -> list[str] | None:
    """Panes may differ in number, but not in what they say of each window in the end."""
    if not keeps_contents(case.strategy):
        return None
    dice = case.dice("contents")
    script = (*case.script, AdvanceWatermark(MAX_TIMESTAMP))
    cut, _ = laws.cut_bundles(script, lambda: dice.randint(1, 2))
    whole, pieces = (
        final_contents(case.strategy, run_in_memory(case.collecting, one)) for one in (script, cut)
    )
    return unlike(pieces, whole)


def _cuts_and_lateness(case: Case) -> list[str] | None:
    """Whatever the trigger, the same elements come too late, at the same step."""
    if case.strategy.is_merging and case.strategy.late_check is LateCheck.MERGED:
        return None
    dice = case.dice("lateness")
    cut, origin = laws.cut_bundles(case.script, lambda: dice.randint(1, 2))
    pieces = run_in_memory(case.collecting, cut).outputs
    whole = case.collected.outputs
    return unlike(
        by_content(filter(_is_expired, pieces), origin),
        by_content(filter(_is_expired, whole), range(len(case.script))),
    )


def _is_expired(output: Output) -> bool:
    effect = output.effect
    return isinstance(effect, Drop) and effect.reason is DropReason.EXPIRED


def _conservation(case: Case) -> list[str]:
    return laws.broken_conservation(case.strategy, case.collected, case.lazy.states)


def _panes(case: Case) -> list[str]:
    return laws.broken_pane_laws(case.run, merging=case.strategy.is_merging)


def _retractions(case: Case) -> list[str] | None:
    """They withdraw what stands; those of equal panes may be left out, and what stands stays."""
    strategy = case.strategy
    if strategy.accumulation is not AccumulationMode.RETRACTING:
        return None
    all_said = strategy.configured(unchanged=Unchanged.RE_EMIT)
    accumulating = all_said.configured(accumulation=AccumulationMode.ACCUMULATING)
    retracting, plain = (
        run_in_memory(Grouping(one, Collect()), case.script) for one in (all_said, accumulating)
    )
    return [
        *laws.broken_retractions(retracting, plain, merging=strategy.is_merging),
        *unlike(final_contents(strategy, case.collected), final_contents(strategy, retracting)),
    ]


EITHER_MACHINE: Final = (
    "a Spark shard that either machine steps says and remembers what memory does, to the last row"
)

ON_LOCAL: Final = "the local host emits what memory does"

LAWS: Final[Laws[Case]] = Laws(
    {
        "a restart before every step changes nothing": _restart,
        "a key may be stepped only when it is due": _due_keys_only,
        "the Spark shard says and remembers what memory does": _shard,
        ON_LOCAL: _local,
        "the columnar machine says what the reference machine says, and remembers it": _columns,
        EITHER_MACHINE: _either_machine,
        "keys of a bundle may arrive one after the other": _keys_apart,
        "the order inside a bundle changes only the order of values": _order_in_bundles,
        "a patient strategy does not care how bundles are cut": _cuts_of_patient,
        "bundle cuts change no final content": _cuts_and_contents,
        "bundle cuts change no lateness": _cuts_and_lateness,
        "every element is emitted, buffered or dropped": _conservation,
        "panes are early, on time, late, and counted": _panes,
        "retractions withdraw what stands": _retractions,
    }
)
"""Every law by what it says."""

_IN_MEMORY: Final = (_restart, _due_keys_only, _conservation, _panes, _retractions)


def _at(origin: Sequence[int], outputs: Sequence[Output]) -> list[Output]:
    return [attrs.evolve(output, step=origin[output.step]) for output in outputs]


def _unlike(outputs: Sequence[Output], expected: Sequence[Output]) -> list[str]:
    return unlike(laws.in_any_order(outputs), laws.in_any_order(expected))


def broken_in_memory(strategy: WindowingStrategy, script: Script) -> list[str]:
    """What is wrong with a run in memory by the laws that no strategy may break."""
    case = Case("in memory", RandomScenario(strategy, "list", script))
    return [sentence for law in _IN_MEMORY for sentence in law(case) or ()]


ON_SPARK: Final = "a streaming query on Spark emits what memory does"


def broken_on_spark(
    cases: Sequence[Case], spark: "SparkSession | None" = None
) -> list[Broken[Case]]:
    """The cases that come out otherwise on Spark, where all run side by side in one query."""
    from beamlike.hosts.spark.graph.query import replay_on_spark

    stages = [(case.strategy, case.combine, case.script) for case in cases]
    compared = [
        Broken(case, ON_SPARK, tuple(_unlike(run.outputs, case.run.outputs)))
        for case, run in zip(cases, replay_on_spark(stages, spark), strict=True)
    ]
    return [broken for broken in compared if broken.differences]
