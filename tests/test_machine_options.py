"""Hosts hand on to a machine all that its constructor takes: what has a default is easy to miss."""

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

import beamlike
from beamlike.machine.reference.step import Grouping
from beamlike.machine.side_input import SideInputs
from beamlike.machine.ungrouped import PassThrough
from beamlike.machine.userstate.machine import StatefulParDo
from beamlike.runtime.look_up import LookUp
from beamlike.runtime.per_key import PerKeyOperation

ROOT = Path(beamlike.__file__).parent
MADE = {
    it.__name__: it
    for it in (Grouping, LookUp, PassThrough, PerKeyOperation, SideInputs, StatefulParDo)
}
LAYERS = ("machine", "runtime", "hosts")


def constructions() -> Iterator[tuple[str, ast.Call]]:
    """Each call that makes a machine, or what makes one, and where it stands."""
    for layer in LAYERS:
        for file in sorted((ROOT / layer).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.Call) and getattr(node.func, "id", None) in MADE:
                    yield f"{file.relative_to(ROOT)}, {ast.unparse(node.func)}", node


CALLS = list(constructions())


def test_the_machines_are_made_in_the_layers_below_the_apis() -> None:
    assert {call.func.id for _, call in CALLS if isinstance(call.func, ast.Name)} == {*MADE}


@pytest.mark.parametrize("call", [call for _, call in CALLS], ids=[place for place, _ in CALLS])
def test_a_machine_is_given_all_that_it_takes(call: ast.Call) -> None:
    assert isinstance(call.func, ast.Name)
    taken = [*inspect.signature(MADE[call.func.id]).parameters]
    given = {*taken[: len(call.args)], *(keyword.arg for keyword in call.keywords)}
    assert set(taken) - given == set()
