"""What has to hold of each program: on every host and with every cut it brings out the same.

The measure is the memory host. Each law of `LAWS` says in sentences how it is broken, and nothing
if it holds; None if it says nothing about a program.
"""

import pickle
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final

import attrs

from beamlike.hosts.in_process import run_pipeline
from beamlike.hosts.local.nodes import local_worker_of
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.runtime.graph.outputs import PipelineRun
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive, Output, with_elements
from tests.stateful.model import by_the_rules
from tests.stateful.programs import Outcome, Program, one_by_one, outcome_of
from tests.stateful.rows import as_text, run_as_rows
from tests.support.laws import Laws
from tests.support.machines.laws import Restarting, run_lazily
from tests.support.pipelines.in_layers import run_in_letters
from tests.support.pipelines.results_of_runs import readable_run

ON_SPARK = "a streaming query brings out what memory does"

# -- the laws --------------------------------------------------------------------------------------


def _local(program: Program) -> list[str]:
    return unlike_run(program, run_pipeline(program.pipeline.nodes, local_worker_of))


def _rules(program: Program) -> list[str]:
    found, expected = by_the_rules(program), outcome_of(program, program.run)
    # A host passes on an output watermark once it is past the one before.
    passed_on = attrs.evolve(found, reached=_rising(found.reached))
    return _unlike(passed_on, expected)


def _rising(reached: Sequence[int]) -> tuple[int, ...]:
    rising: list[int] = []
    for at in reached:
        if at > max(rising, default=MIN_TIMESTAMP):
            rising.append(at)
    return tuple(rising)


def _restarts(program: Program) -> list[str] | None:
    if _is_left_out(program, "restarts", 5):
        return None
    machine, script = program.machine, program.for_machine
    again = Restarting(machine, lambda state: pickle.loads(pickle.dumps(state)))
    return _unlike_outputs(run_in_memory(again, script).outputs, program.alone.outputs)


def _due_keys(program: Program) -> list[str] | None:
    if _is_left_out(program, "due keys", 5):
        return None
    lazy = run_lazily(program.machine, program.for_machine)
    return [*_unlike_outputs(lazy.outputs, program.alone.outputs), *lazy.past_wakes]


def _key_alone(program: Program) -> list[str] | None:
    """A key comes out alone as it does among others."""
    if _is_left_out(program, "alone", 6):
        return None
    key = program.dice("alone").choice(program.keys)
    alone = with_elements(program.for_machine, lambda of, it: (key, it) if of == key else None)
    script = tuple(step for step in alone if step != Arrive(()))
    found = [
        attrs.evolve(output, step=0) for output in run_in_memory(program.machine, script).outputs
    ]
    among = [attrs.evolve(output, step=0) for output in program.alone.outputs if output.key == key]
    return _unlike_outputs(found, among)


def _cut(program: Program) -> list[str] | None:
    """Where nothing is due in a bundle, it does not matter how it is cut."""
    if _is_left_out(program, "cut", 6):
        return None
    cut = attrs.evolve(program, script=one_by_one(program.script))
    if by_the_rules(program).due_in_bundles or by_the_rules(cut).due_in_bundles:
        return None
    places = [
        number
        for number, step in enumerate(program.script)
        for _ in (step.elements if isinstance(step, Arrive) else [step])
    ]
    found = [attrs.evolve(output, step=places[output.step]) for output in cut.alone.outputs]
    return _unlike_outputs(found, program.alone.outputs)


def _rows(program: Program) -> list[str] | None:
    if _is_left_out(program, "rows", 8):
        return None
    outputs, store = run_as_rows(program)
    expected = [
        attrs.evolve(output, effect=as_text(output.effect)) for output in program.alone.outputs
    ]
    unlike_outputs = _unlike_outputs(outputs, expected)
    if program.ends and store.blobs:
        unlike_outputs.append(f"remembered after the end: {store.blobs.keys()}")
    return unlike_outputs


def _layers(program: Program) -> list[str] | None:
    """In which order a shard sees the elements of one step is open: they come alone."""
    if _is_left_out(program, "layers", 25):
        return None
    dice = program.dice("layers")
    alone = attrs.evolve(program, script=one_by_one(program.script))
    run = run_in_letters(
        alone.pipeline.nodes,
        dice=dice,
        wanted=list(alone.run.came),
        shards=dice.randint(1, 3),
        buckets=dice.randint(1, 3),
    )
    return unlike_run(alone, run)


LAWS: Final[Laws[Program]] = Laws(
    {
        "the local host brings out what memory does": _local,
        "the rules, said once more, bring out what memory does": _rules,
        "a restart before every step changes nothing": _restarts,
        "a key that is stepped only when something is due misses nothing": _due_keys,
        "a key comes out alone as it does among others": _key_alone,
        "where nothing is due in a bundle, its cut changes nothing": _cut,
        "rows in a shard that restarts at every step bring out what pairs do": _rows,
        "the layers of the Spark host bring out what memory does": _layers,
    }
)


def _is_left_out(program: Program, law: str, one_in: int) -> bool:
    """Whether a law is not checked of a program: it takes long, and each is checked of many."""
    return program.dice(f"whether {law}").randrange(one_in) > 0


# -- how two differ --------------------------------------------------------------------------------


def unlike_run(program: Program, run: PipelineRun) -> list[str]:
    """How a run of the pipeline differs from that in memory, that of the grouping included."""
    found = _unlike(outcome_of(program, run), outcome_of(program, program.run))
    if not found and readable_run(run) != readable_run(program.run):
        ours, theirs = readable_run(run), readable_run(program.run)
        names = sorted(name for name in {*ours, *theirs} if ours.get(name) != theirs.get(name))
        found = [f"{name}: {ours.get(name)} and not {theirs.get(name)}" for name in names]
    return found


def _unlike(outcome: Outcome, expected: Outcome) -> list[str]:
    lines = []
    for key in expected.outputs:
        for what in ("outputs", "dropped"):
            ours, theirs = getattr(outcome, what)[key], getattr(expected, what)[key]
            lines += _unlike_lists(f"{what} of {key}", ours, theirs)
    return lines or _unlike_lists("watermarks", outcome.reached, expected.reached)


def _unlike_outputs(outputs: Sequence[Output], expected: Sequence[Output]) -> list[str]:
    """Keys are stepped in any order, each in its own."""
    ours, theirs = _by_key(outputs), _by_key(expected)
    return [
        line
        for key in sorted({*ours, *theirs}, key=repr)
        for line in _unlike_lists(f"key {key!r}", ours.get(key, []), theirs.get(key, []))
    ]


def _by_key(outputs: Sequence[Output]) -> dict[Any, list[Output]]:
    found: dict[Any, list[Output]] = defaultdict(list)
    for output in outputs:
        found[output.key].append(output)
    return found


def _unlike_lists(what: str, found: Sequence[Any], expected: Sequence[Any]) -> list[str]:
    if [*found] == [*expected]:
        return []
    places = range(min(len(found), len(expected)))
    first = next((place for place in places if found[place] != expected[place]), len(places))
    ours = found[first] if first < len(found) else "nothing more"
    theirs = expected[first] if first < len(expected) else "nothing more"
    return [f"{what}, number {first}: {ours} and not {theirs}"]
