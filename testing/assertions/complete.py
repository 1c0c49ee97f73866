"""The matcher of the complete output: exactly these panes and these drops, nothing else."""

from typing import Final

import attrs

from beamlike.errors import TestStreamError
from beamlike.machine.events import Drop, Pane
from beamlike.runtime.script import Output
from beamlike.testing.assertions.expected import Expected, ExpectedDrop, ExpectedPane
from beamlike.testing.assertions.failures import Failure
from beamlike.testing.streams.results import NO_KEY, Matcher, Results

_FEW: Final = 4
"""An output that differs in more fields is not matched to an expected one."""


def emit_exactly(*outputs: Expected) -> Matcher:
    """Exactly these panes and drops come out, in any order, and nothing else.

    ``emit_exactly()`` says that nothing comes out and nothing is dropped. A failure prints
    what was not expected as code, ready to be copied.

    Raises:
        TestStreamError: An argument is neither a pane nor a drop.
    """
    for output in outputs:
        if not isinstance(output, ExpectedPane | ExpectedDrop):
            raise TestStreamError(
                "emit_exactly takes early_pane, on_time_pane, late_pane, pane, element and "
                f"dropped, got {output!r}"
            )
    return _EmitExactly(outputs)


@attrs.frozen
class _EmitExactly:
    expected: tuple[Expected, ...]

    def failure(self, results: Results, *, negated: bool) -> Failure | None:
        rest = dict(enumerate(results.run.outputs))
        missing: list[Expected] = []
        # Those that name their step choose first: the others can take what is left.
        for wanted in sorted(self.expected, key=lambda one: one.step is None):
            match = next(
                (at for at, o in rest.items() if wanted.differences(o, results) == []), None
            )
            if match is None:
                missing.append(wanted)
            else:
                del rest[match]
        if negated and not missing and not rest:
            return Failure(
                "emit_exactly holds, but should not", marked=tuple(range(len(results.run.outputs)))
            )
        if negated or not (missing or rest):
            return None
        return Failure(
            f"emit_exactly does not hold: {len(missing)} missing, {len(rest)} unexpected",
            _differences(missing, rest, results),
            tuple(rest),
        )


def _differences(
    missing: list[Expected], rest: dict[int, Output], results: Results
) -> tuple[tuple[str, str], ...]:
    """What is missing and what came instead; the two side by side where they are alike."""
    facts, left = [], dict(rest)
    for wanted in missing:
        alike = [
            (len(found), at, found)
            for at, output in left.items()
            if (found := wanted.differences(output, results)) is not None
            and (wanted.key == output.key or wanted.key is NO_KEY)
            and len(found) <= _FEW
        ]
        if alike:
            _, at, found = min(alike)
            facts += [("expected", str(wanted)), ("came out", output_code(left.pop(at)))]
            facts.append(("differs in", "\n".join(found)))
        else:
            facts.append(("missing", str(wanted)))
    facts += [("unexpected", output_code(output)) for output in left.values()]
    return tuple(facts)


def output_code(output: Output) -> str:
    """An output as the code that would expect it."""
    match output.effect:
        case Pane(window, value, timestamp, info, retraction):
            return str(
                ExpectedPane(output.key, value, window, timestamp, info, retraction, step=None)
            )
        case Drop() as drop:
            fields = (drop.value, drop.timestamp, drop.window, drop.reason, drop.missed_by)
            return str(ExpectedDrop(output.key, *fields, drop.count, None))
