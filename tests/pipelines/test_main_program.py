"""Classes of a main program in processes whose main program is another one."""

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import pickle, sys
from pathlib import Path
from typing import NamedTuple
from beamlike.runtime.graph.main_program import MainProgram

class Order(NamedTuple):
    item: str

    def says(self):
        return {says!r} + self.item

class Locked:
    pass

def shown(order):
    return order.says()

lock = Locked.lock = __import__("threading").Lock()
program = MainProgram.of_this_process(with_functions={with_functions})
Path(sys.argv[1]).write_bytes(pickle.dumps(program))
"""
"""A main program. One of its classes cannot go to another process."""

WORKER = """
import __main__, pickle, sys
from pathlib import Path
from beamlike.runtime.graph.wire import Wire

program, saved = map(Path, sys.argv[1:])
pickle.loads(program.read_bytes())
if not saved.exists():
    saved.write_bytes(Wire().dumps(__main__.Order("tea")))
order = Wire().loads(saved.read_bytes())
again = pickle.loads(pickle.dumps(order))
print(type(order) is type(again) is __main__.Order, order.says(), sorted(vars(__main__)))
"""


def run(folder: Path, says: str, *, with_functions: bool) -> str:
    """Start the program, and a worker that goes on with what an earlier one has saved."""
    program, worker = folder / "program.py", folder / "worker.py"
    program.write_text(PROGRAM.format(says=says, with_functions=with_functions), encoding="utf-8")
    worker.write_text(WORKER, encoding="utf-8")
    members, saved = folder / "members", folder / "saved"
    subprocess.run([sys.executable, program, members], check=True)
    command = [sys.executable, worker, members, saved]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_a_saved_object_is_of_the_class_that_the_program_has_now(tmp_path: Path) -> None:
    assert run(tmp_path, "one ", with_functions=False).startswith("True one tea")
    assert run(tmp_path, "two ", with_functions=False).startswith("True two tea")


def test_classes_go_along_and_functions_if_asked_for(tmp_path: Path) -> None:
    without = run(tmp_path, "", with_functions=False)
    assert "'Order'" in without
    assert "'shown'" not in without
    assert "'Locked'" not in without
    assert "'shown'" in run(tmp_path, "", with_functions=True)
