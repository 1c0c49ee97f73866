"""A program that breaks a law, made smaller: fewer steps and elements."""

from collections.abc import Iterator

import attrs

from beamlike.runtime.script import Arrive
from tests.stateful.laws import LAWS
from tests.stateful.programs import Program
from tests.support.laws import Broken


def smallest(broken: Broken[Program]) -> Broken[Program]:
    """The same law broken by less."""
    return LAWS.smallest(broken, _smaller, attempts=500)


def _smaller(program: Program) -> Iterator[Program]:
    script = program.script
    for index in reversed(range(len(script) if len(script) > 1 else 0)):
        yield attrs.evolve(program, script=script[:index] + script[index + 1 :])
    for index, happens in enumerate(script):
        elements = happens.elements if isinstance(happens, Arrive) else ()
        for one in range(len(elements) if len(elements) > 1 else 0):
            fewer = Arrive(elements[:one] + elements[one + 1 :])
            yield attrs.evolve(program, script=(*script[:index], fewer, *script[index + 1 :]))
