"""What the page asks of Python, and what it gets: JSON in, JSON out.

A request has ``what``, the name of a function below, and its arguments. An answer has what the
function returns, or ``problem``: what to change, in words.
"""

import json
import re
from collections.abc import Callable, Mapping
from textwrap import indent
from typing import Final

from beamlike.errors import BeamlikeError, TranscriptError
from beamlike.machine.events import AdvanceWatermark
from beamlike.model.report import report
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.playground.sketches import Plain, grouped, script_of, sketch_of, windowing_of
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Script
from beamlike.testing.scenarios.files import transcripts_of
from beamlike.testing.scenarios.writing import scenario_text, write_scenario
from beamlike.viz.document import document_of
from beamlike.viz.recording import Recording


def answer(request: str) -> str:
    """Answer one request.

    Args:
        request: ``{"what": "draw", ...}`` as JSON.

    Returns:
        JSON. A request that cannot be answered gets ``{"problem": "..."}``.

    >>> answer('{"what": "tea"}')
    '{"problem": "there is no question \\'tea\\'; they are draw, open, python, scenario"}'
    """
    arguments = json.loads(request)
    question = arguments.pop("what")
    try:
        if question not in _QUESTIONS:
            known = ", ".join(sorted(_QUESTIONS))
            raise BeamlikeError(f"there is no question {question!r}; they are {known}")
        return json.dumps(_QUESTIONS[question](**arguments))
    except BeamlikeError as error:
        return json.dumps({"problem": str(error)})


def _draw(sketch: Plain) -> Plain:
    """The stream under each strategy, drawn as the stepping page draws it, with its report."""
    script = script_of(sketch)
    return {
        "panels": [_panel(plain, script, sketch["title"]) for plain in sketch["strategies"]],
        # Where the watermark moves: the step, and to what; None is the end of time.
        "moves": [
            {"step": number, "to": None if step.to >= MAX_TIMESTAMP else step.to}
            for number, step in enumerate(script)
            if isinstance(step, AdvanceWatermark)
        ],
    }


def _panel(plain: Plain, script: Script, title: str) -> Plain:
    try:
        chosen = grouped(plain)
        run = run_in_memory(chosen.machine(), script)
        recording = Recording.of(run, chosen.strategy, chosen.combine)
    except BeamlikeError as error:
        return {"problem": str(error)}
    windowing_report = report(chosen.strategy, chosen.combine)
    panel: Plain = {}
    if chosen.code:
        windowing = windowing_of(chosen.strategy, chosen.aggregation)
        panel = {"code": chosen.code, "windowing": windowing}
    return panel | {
        "scenario": document_of(recording, title),
        "trigger": str(chosen.strategy.trigger),
        "warnings": list(windowing_report.warnings),
        "report": str(windowing_report),
    }


def _open(text: str, name: str) -> Plain:
    """The scenarios of a file as sketches, and what could not be read of it."""
    transcripts = transcripts_of(text, name)
    if not transcripts.scenarios and transcripts.problem is not None:
        raise transcripts.problem
    problem = "" if transcripts.problem is None else str(transcripts.problem)
    drawn = [scenario for scenario in transcripts.scenarios if scenario.function is None]
    if len(drawn) < len(transcripts.scenarios):
        refusal = (
            f"{name}: a function with states and timers cannot be drawn here; beamlike replay "
            "shows what it brings out"
        )
        if not drawn:
            raise TranscriptError(refusal)
        problem = "\n".join(filter(None, (problem, refusal)))
    sketches = [
        sketch_of(case.script, case.strategy, case.aggregation, case.title or case.id)
        for case in drawn
    ]
    return {"sketches": sketches, "problem_of_others": problem}


def _scenario(sketch: Plain, strategy_index: int) -> Plain:
    """A scenario file that expects what came out."""
    chosen = grouped(sketch["strategies"][strategy_index])
    run = run_in_memory(chosen.machine(), script_of(sketch))
    windowing = chosen.strategy, chosen.aggregation
    document = write_scenario("playground", *windowing, run, title=sketch["title"])
    return {"text": scenario_text(document) + "\n"}


def _python(sketch: Plain, strategy_index: int) -> Plain:
    """A test in Python that expects what came out."""
    # These bring the whole harness along, which takes a while in a browser.
    from beamlike.testing.assertions.complete import output_code
    from beamlike.testing.streams.as_code import as_test_stream

    chosen = grouped(sketch["strategies"][strategy_index])
    run = run_in_memory(chosen.machine(), script_of(sketch))
    code = as_test_stream(run.script, chosen.strategy, chosen.combine)
    imports, _, body = code.partition("\n\n")
    expected = "".join(f"    {output_code(output)},\n" for output in run.outputs)
    test = f"{body.strip()}\nresults.should(emit_exactly(\n{expected}))"
    names = ", ".join(name for name in _EXPECTED if re.search(rf"\b{name}\(", test))
    head = f"{imports}\nfrom beamlike.testing import {names}"
    return {"text": f"{head}\n\n\ndef test_of_the_playground():\n{indent(test, '    ')}\n"}


_EXPECTED: Final = (
    *("dropped", "early_pane", "element", "emit_exactly", "late_pane", "on_time_pane", "pane"),
)

_QUESTIONS: Final[Mapping[str, Callable[..., Plain]]] = {
    "draw": _draw,
    "open": _open,
    "python": _python,
    "scenario": _scenario,
}
