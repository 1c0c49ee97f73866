"""One engine over the scenarios: what agrees, and what each difference is."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import attrs

from tests.conformance.beamlike_conformance.rules import RULES, rules_of
from tests.conformance.beamlike_conformance.scenarios import (
    DialectCase,
    Scenario,
    load_cases,
    load_scenarios,
)
from tests.conformance.beamlike_conformance.schema import read_json
from tests.conformance.beamlike_conformance.verdicts import (
    AS_EXPECTED,
    UNSUPPORTED,
    Verdict,
    judge,
    judge_case,
    read_results,
)
from tests.judges.decision import Decision
from tests.judges.decisions import decision_of
from tests.judges.engines import Engine
from tests.judges.questions import QUESTIONS, documents_for, outcomes
from tests.judges.questions import Outcome as Row
from tests.judges.random_cases import random_cases
from tests.judges.random_scenarios import random_scenarios

__all__ = ["Judged", "Outcome", "judge_engine"]


@attrs.frozen
class Judged:
    """A verdict, and what was decided about it if the engine differs."""

    verdict: Verdict
    decision: Decision | None = None

    @property
    def agrees(self) -> bool:
        """Whether the engine gives out what is expected."""
        return self.verdict.word == AS_EXPECTED

    @property
    def is_open(self) -> bool:
        """Whether the engine differs and nothing was decided about it."""
        return not self.agrees and self.verdict.word != UNSUPPORTED and self.decision is None


@attrs.frozen
class Outcome:
    """What one engine did with the scenarios, and with random ones."""

    engine: Engine
    version: str
    corpus: tuple[Judged, ...]
    random: tuple[Judged, ...]
    seed: int
    questions: Mapping[str, Sequence[Row] | str]

    @property
    def open(self) -> list[Judged]:
        """Differences about which nothing was decided."""
        return [judged for judged in (*self.corpus, *self.random) if judged.is_open]

    def by_rule(self) -> dict[str, tuple[int, int]]:
        """For each feature how many scenarios agree, of those that the engine can express."""
        counts: dict[str, tuple[int, int]] = {}
        for rule in RULES:
            shown = [
                judged
                for judged in self.corpus
                if isinstance(judged.verdict.scenario, Scenario)
                and judged.verdict.word != UNSUPPORTED
                and rule in rules_of(judged.verdict.scenario)
            ]
            if shown:
                counts[rule.feature] = (sum(judged.agrees for judged in shown), len(shown))
        return counts

    def unsupported(self) -> Counter[str]:
        """Why scenarios cannot be expressed, and of how many that is so."""
        return Counter(
            judged.verdict.details[0]
            for judged in self.corpus
            if judged.verdict.word == UNSUPPORTED
        )

    def decided(self) -> Iterator[tuple[Decision, list[str], int]]:
        """Each decision, with the scenarios that it is about, the smallest first, and the number of
        random ones."""
        named: dict[str, list[str]] = {}
        counted: Counter[str] = Counter()
        decisions: dict[str, Decision] = {}
        for judged in (*self.corpus, *self.random):
            if judged.decision is not None:
                decisions[judged.decision.name] = judged.decision
        for judged in sorted(self.corpus, key=_length):
            if judged.decision is not None:
                named.setdefault(judged.decision.name, []).append(judged.verdict.scenario.id)
        for judged in self.random:
            if judged.decision is not None:
                counted[judged.decision.name] += 1
        for name, decision in decisions.items():
            yield decision, named.get(name, []), counted[name]


def _length(judged: Judged) -> int:
    """How long the text of a scenario is."""
    return len(json.dumps(judged.verdict.scenario.document["steps"]))


def judge_engine(
    engine: Engine, cache: Path, *, count: int, seed: int, seconds: float = 3600
) -> Outcome:
    """Play all scenarios and some random ones on an engine, and compare.

    Args:
        engine: Which.
        cache: Where what it needs is installed.
        count: How many random scenarios.
        seed: Which ones.
        seconds: How long it may take.

    Raises:
        NotHere: It cannot run on this machine, or takes longer.
    """
    with TemporaryDirectory(prefix="judges-") as home:
        corpus, drawn = Path(home, "corpus.json"), Path(home, "random.json")
        results, asked = Path(home, "results.json"), Path(home, "questions.json")
        documents = [dict(scenario.document) for scenario in _corpus(engine)]
        corpus.write_text(json.dumps(documents), encoding="utf-8")
        asked.write_text(json.dumps(documents_for(engine.dialect)), encoding="utf-8")
        drawn_documents = _random(engine, count, seed)
        drawn.write_text(json.dumps(drawn_documents), encoding="utf-8")
        engine.play([corpus, asked, drawn], results, cache, seconds)
        document = read_json(results.read_text(encoding="utf-8"), engine.name)
        answers = read_results(document, engine.name)
        random: Sequence[Scenario | DialectCase] = ()
        if drawn_documents:
            random = load_cases([drawn]) if engine.dialect else load_scenarios([drawn])
    return Outcome(
        engine,
        document.get("version", ""),
        tuple(_judge(engine, scenario, answers) for scenario in _corpus(engine)),
        tuple(_judge(engine, scenario, answers) for scenario in random),
        seed,
        {
            question.name: outcomes(answers[f"question-{question.name}"], engine.steps_each)
            for question in QUESTIONS
        },
    )


def _corpus(engine: Engine) -> Sequence[Scenario | DialectCase]:
    if engine.dialect is None:
        return load_scenarios()
    if engine.dialect == "plain":
        return []
    return [case for case in load_cases() if case.dialect == engine.dialect]


def _random(engine: Engine, count: int, seed: int) -> list[Mapping[str, Any]]:
    if count == 0 or engine.dialect == "plain" or not engine.plays_random:
        return []
    if engine.dialect is None:
        return list(random_scenarios(count, seed, engine.keys))
    return list(random_cases(engine.dialect, count, seed))


def _judge(
    engine: Engine, scenario: Scenario | DialectCase, answers: Mapping[str, Mapping[str, Any]]
) -> Judged:
    answer = answers.get(scenario.id)
    if isinstance(scenario, DialectCase):
        verdict = judge_case(scenario, answer)
    else:
        verdict = judge(scenario, answer)
    if verdict.word in (AS_EXPECTED, UNSUPPORTED) or answer is None:
        return Judged(verdict)
    return Judged(verdict, decision_of(engine.name, scenario, answer))
