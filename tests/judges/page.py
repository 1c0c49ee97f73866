"""What is kept of a run, and the page of the documentation that is made from it."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from tests.judges.decision import Decision
from tests.judges.decisions import DECISIONS
from tests.judges.engines import ENGINES
from tests.judges.judging import Outcome
from tests.judges.picture import picture
from tests.judges.questions import QUESTIONS, outcomes_here

_SHOWN: Final = 6


def keep(outcome: Outcome, latest: Path) -> None:
    """Put an engine's outcome beside those of the others."""
    kept = json.loads(latest.read_text(encoding="utf-8")) if latest.exists() else {}
    kept[outcome.engine.name] = {
        "version": outcome.version,
        "scenarios": _counts(outcome, "corpus"),
        "random": {**_counts(outcome, "random"), "seed": outcome.seed},
        "features": outcome.by_rule(),
        "unsupported": dict(outcome.unsupported().most_common()),
        "decisions": {
            decision.name: {"scenarios": named, "random": drawn}
            for decision, named, drawn in outcome.decided()
        },
        "rules": {
            "agree": sum(rule.word == "agrees" for rule in outcome.rules),
            "differ": [rule.id for rule in outcome.rules if rule.word == "differs"],
            "cannot": Counter(rule.detail for rule in outcome.rules if rule.word == "cannot"),
        },
        "questions": {
            name: rows if isinstance(rows, str) else [attrs.astuple(row) for row in rows]
            for name, rows in outcome.questions.items()
        },
    }
    ordered = {name: kept[name] for name in ENGINES if name in kept}
    latest.write_text(_lines(ordered), encoding="utf-8")


def _lines(kept: Mapping[str, Mapping[str, Any]]) -> str:
    """JSON with a line for each thing that is kept of an engine."""
    engines = [
        f"{json.dumps(name)}: {{\n"
        + ",\n".join(f" {json.dumps(what)}: {json.dumps(value)}" for what, value in engine.items())
        + "\n}"
        for name, engine in kept.items()
    ]
    return "{" + ",\n".join(engines) + "}\n"


def _counts(outcome: Outcome, which: str) -> dict[str, int]:
    all_judged = getattr(outcome, which)
    agree = sum(judged.agrees for judged in all_judged)
    decided = sum(bool(judged.decisions) for judged in all_judged)
    open_ones = sum(judged.is_open for judged in all_judged)
    return {
        "all": len(all_judged),
        "agree": agree,
        "decided": decided,
        "open": open_ones,
        "unsupported": len(all_judged) - agree - decided - open_ones,
    }


def write_page(latest: Path, page: Path) -> None:
    """Write the page and its pictures from what is kept."""
    kept = json.loads(latest.read_text(encoding="utf-8"))
    page.write_text(page_text(kept), encoding="utf-8")
    for name, text in pictures(kept).items():
        (page.parent / "pictures" / name).write_text(text, encoding="utf-8")


def pictures(kept: Mapping[str, Any]) -> dict[str, str]:
    """The pictures by the names of their files."""
    answers = _answers(kept)
    return {
        f"engines_{question.name}.svg": picture(
            question, {title: answered[question.name] for title, answered in answers.items()}
        )
        for question in QUESTIONS
    }


def _answers(kept: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """What comes out for each question, by the titles of engines; first what beamlike gives out."""
    beamlike = {name: list(map(attrs.astuple, rows)) for name, rows in outcomes_here().items()}
    engines = {ENGINES[name].title: engine["questions"] for name, engine in kept.items()}
    return {"beamlike": beamlike, **engines}


def page_text(kept: Mapping[str, Any]) -> str:
    """The page, from the last outcome of each engine."""
    parts = [_head(kept), _features(kept), _questions(kept), _differences(kept)]
    return "\n".join([*(line for part in parts for line in part), _part("porting")])


def _part(name: str) -> str:
    """A part of the page that is written by hand."""
    return (Path(__file__).parent / f"{name}.txt").read_text(encoding="utf-8")


def _head(kept: Mapping[str, Any]) -> Iterator[str]:
    yield _part("introduction")
    yield "## The engines\n"
    columns = ("engine", "version", "scenarios", "agree", "differ, decided", "cannot be expressed")
    yield f"| {' | '.join(columns)} | random streams that agree |"
    yield "|---|---|---|---|---|---|---|"
    for name, engine in kept.items():
        counts, drawn = engine["scenarios"], engine["random"]
        if not counts["all"]:
            yield f"| {ENGINES[name].title} | {engine['version']} | the ten streams below | | | | |"
            continue
        streams = f"{drawn['agree']:,} of {drawn['all']:,}" if drawn["all"] else "not played"
        yield (
            f"| {ENGINES[name].title} | {engine['version']} | {counts['all']} | {counts['agree']} "
            f"| {counts['decided']} | {counts['unsupported']} | {streams} |"
        )
    yield (
        "\nThe random streams that do not agree show one of the [differences](#differences) below. "
        "For Beam Java, streams are drawn until the requested number shows none of its accidents. "
        "Contested scenarios are counted among those that differ.\n"
    )
    for name, engine in kept.items():
        rules = engine.get("rules", {})
        if rules.get("agree"):
            reasons = [f"{times}: {reason}" for reason, times in rules["cannot"].items()]
            yield (
                f"* {ENGINES[name].title} agrees with {rules['agree']} rules that are not streams "
                "(checks at construction, continuations of triggers, functions), and differs in "
                f"{len(rules['differ'])}. Rules that it cannot answer: {'; '.join(reasons)}."
            )
    for name, engine in kept.items():
        for reason, times in engine["unsupported"].items():
            yield f"* {ENGINES[name].title} cannot express {times}: {reason}."
    yield ""


def _features(kept: Mapping[str, Any]) -> Iterator[str]:
    engines = {name: engine for name, engine in kept.items() if engine["features"]}
    yield "## Beam's features\n"
    yield (
        "The number of scenarios that agree, of those that show a feature and that the engine can "
        "express; there is a [decision](#differences) about each other one.\n"
    )
    yield f"| feature | {' | '.join(ENGINES[name].title for name in engines)} |"
    yield f"|---|{'---|' * len(engines)}"
    features = dict.fromkeys(
        feature for engine in engines.values() for feature in engine["features"]
    )
    for feature in features:
        cells = [
            "{} of {}".format(*engine["features"][feature])
            if feature in engine["features"]
            else "-"
            for engine in engines.values()
        ]
        yield f"| {feature} | {' | '.join(cells)} |"
    yield ""


def _questions(kept: Mapping[str, Any]) -> Iterator[str]:
    yield "## Ten differences that users meet\n"
    yield (
        "Each engine runs the same stream, written for its API. Numbers are elements in order of "
        "arrival. A bar is a result, drawn over its window, with its elements and the element "
        "after which it came.\n"
    )
    answers = _answers(kept)
    yield f"| stream | {' | '.join(answers)} |"
    yield f"|---|{'---|' * len(answers)}"
    for question in QUESTIONS:
        cells = [_results(answered[question.name]) for answered in answers.values()]
        link = f"[{question.title}](#{question.title.lower().replace(',', '').replace(' ', '-')})"
        yield f"| {link} | {' | '.join(cells)} |"
    yield ""
    for question in QUESTIONS:
        yield f"### {question.title}\n"
        yield f"{question.text}\n"
        file = f"pictures/engines_{question.name}.svg"
        yield f"![{question.title}: what each engine gives out]({file})\n"


def _results(outcomes: Any) -> str:
    """What comes out, in a cell: the elements of each result, and a word for what is not one."""
    if isinstance(outcomes, str):
        return outcomes.partition(":")[0]
    words = {"dropped": "dropped", "withdrawn": "withdrawn"}
    texts = [
        f"{words[word]} {' '.join(map(str, elements))}".strip()
        if word in words
        else f"({' '.join(map(str, elements))})"
        for _, elements, _, word in outcomes
    ]
    return ", ".join(texts)


def _differences(kept: Mapping[str, Any]) -> Iterator[str]:
    yield "## Differences\n"
    for decision in DECISIONS:
        occurrences = {
            name: kept[name]["decisions"][decision.name]
            for name in decision.engines
            if name in kept and decision.name in kept[name]["decisions"]
        }
        yield from _difference(decision, occurrences)


def _difference(decision: Decision, occurrences: Mapping[str, Any]) -> Iterator[str]:
    yield f"### {decision.name[0].upper()}{decision.name[1:]}\n"
    engines = ", ".join(ENGINES[name].title for name in decision.engines)
    verdict = (
        "an accident of the engine" if decision.verdict == "theirs" else "not defined by the model"
    )
    yield f"{engines}: {verdict}. {decision.text}\n"
    if decision.verdict == "theirs" and decision.smallest:
        yield f"> **Text of a report.** {decision.smallest} {decision.cause}\n"
    else:
        shown = [name for where in occurrences.values() for name in where["scenarios"][:1]]
        smallest = decision.smallest or (f"Smallest: `{shown[0]}`." if shown else "")
        yield f"{smallest} Where: {decision.cause}\n".lstrip()
    for name, where in occurrences.items():
        named = ", ".join(f"`{one}`" for one in where["scenarios"][:_SHOWN])
        more = len(where["scenarios"]) - _SHOWN
        words = [named + (f" and {more} more" if more > 0 else "")] if named else []
        words += [f"{where['random']} random streams"] if where["random"] else []
        yield f"* {ENGINES[name].title}: {'; '.join(words)}."
    yield ""
