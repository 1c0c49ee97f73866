"""A program that breaks a law, made smaller: fewer steps and elements."""

from collections.abc import Iterator

import attrs

from beamlike.runtime.script import Arrive
from tests.stateful.laws import LAWS, Broken, differences
from tests.stateful.programs import Program


def smallest(broken: Broken, attempts: int = 500) -> Broken:
    """The same law broken by less, found in so many attempts at most."""
    if broken.law not in LAWS:  # found on Spark, where an attempt takes too long
        return broken
    left, improved = attempts, True
    while improved:
        improved = False
        for program in _smaller(broken.program):
            left -= 1
            if left < 0:
                return broken
            if found := differences(program, broken.law):
                broken, improved = Broken(program, broken.law, tuple(found)), True
                break
    return broken


def _smaller(program: Program) -> Iterator[Program]:
    script = program.script
    for index in reversed(range(len(script) if len(script) > 1 else 0)):
        yield attrs.evolve(program, script=script[:index] + script[index + 1 :])
    for index, happens in enumerate(script):
        elements = happens.elements if isinstance(happens, Arrive) else ()
        for one in range(len(elements) if len(elements) > 1 else 0):
            fewer = Arrive(elements[:one] + elements[one + 1 :])
            yield attrs.evolve(program, script=(*script[:index], fewer, *script[index + 1 :]))
