"""One engine over the scenarios: what agrees, and what each difference is."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import attrs

from tests.conformance.beamlike_conformance import verdicts
from tests.conformance.beamlike_conformance.rules import RULES, rules_of
from tests.conformance.beamlike_conformance.scenarios import (
    DialectCase,
    Scenario,
    load_cases,
    load_scenarios,
)
from tests.conformance.beamlike_conformance.schema import read_json
from tests.judges.decision import Decision
from tests.judges.decisions import accidents_of, decisions_of, scenario_inside, turns_on
from tests.judges.engines import Engine
from tests.judges.questions import QUESTIONS, documents_for, outcomes
from tests.judges.questions import Outcome as Row
from tests.judges.random_cases import random_cases
from tests.judges.random_scenarios import random_scenarios
from tests.judges.rules import RuleJudged, judge_rule, load_rules


@attrs.frozen
class Judged:
    """A verdict, and what was decided about it if the engine differs."""

    verdict: verdicts.Verdict
    decisions: tuple[Decision, ...] = ()

    @property
    def agrees(self) -> bool:
        """Whether the engine gives out what is expected."""
        return self.verdict.word == verdicts.AS_EXPECTED

    @property
    def is_open(self) -> bool:
        """Whether the engine differs and nothing was decided about it."""
        return not self.agrees and self.verdict.word != verdicts.UNSUPPORTED and not self.decisions


@attrs.frozen
class Outcome:
    """What one engine did with the scenarios, and with random ones."""

    engine: Engine
    version: str
    corpus: tuple[Judged, ...]
    random: tuple[Judged, ...]
    seed: int
    questions: Mapping[str, Sequence[Row] | str]
    rules: tuple[RuleJudged, ...] = ()

    @property
    def fails(self) -> bool:
        """Whether there is a difference about which nothing was decided."""
        return bool(self.open) or any(rule.word == "differs" for rule in self.rules)

    @property
    def open(self) -> list[Judged]:
        """Scenarios in which it differs, and about which nothing was decided."""
        return [judged for judged in (*self.corpus, *self.random) if judged.is_open]

    def by_rule(self) -> dict[str, tuple[int, int]]:
        """For each feature how many scenarios agree, of those that the engine can express."""
        counts: dict[str, tuple[int, int]] = {}
        for rule in RULES:
            shown = [
                judged
                for judged in self.corpus
                if isinstance(judged.verdict.scenario, Scenario)
                and judged.verdict.word != verdicts.UNSUPPORTED
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
            if judged.verdict.word == verdicts.UNSUPPORTED
        )

    def decided(self) -> Iterator[tuple[Decision, list[str], int]]:
        """Each decision, with the scenarios that it is about, the smallest first, and the number of
        random ones."""
        named: dict[str, list[str]] = {}
        counted: Counter[str] = Counter()
        decisions: dict[str, Decision] = {}
        for judged in sorted(self.corpus, key=_length):
            for decision in judged.decisions:
                decisions[decision.name] = decision
                named.setdefault(decision.name, []).append(judged.verdict.scenario.id)
        for judged in self.random:
            for decision in judged.decisions:
                decisions[decision.name] = decision
                counted[decision.name] += 1
        for name, decision in decisions.items():
            yield decision, named.get(name, []), counted[name]


def _length(judged: Judged) -> int:
    """How long the text of a scenario is."""
    return len(json.dumps(judged.verdict.scenario.document["steps"]))


def judge_engine(
    engine: Engine, cache: Path, *, count: int, seed: int, seconds: float = 3600
) -> Outcome:
    """Play all scenarios and some random ones on an engine, and compare."""
    with TemporaryDirectory(prefix="judges-") as home:
        corpus, drawn = Path(home, "corpus.json"), Path(home, "random.json")
        results, asked = Path(home, "results.json"), Path(home, "questions.json")
        rules = load_rules() if engine.asks_rules else []
        documents = [dict(scenario.document) for scenario in _corpus(engine)]
        if engine.dialect is None:
            documents += filter(None, map(scenario_inside, documents))
        corpus.write_text(json.dumps(documents), encoding="utf-8")
        asked.write_text(json.dumps([*documents_for(engine.dialect), *rules]), encoding="utf-8")
        drawn_documents = _random(engine, count, seed)
        drawn.write_text(json.dumps(drawn_documents), encoding="utf-8")
        engine.play([corpus, asked, drawn], results, cache, seconds)
        document = read_json(results.read_text(encoding="utf-8"), engine.name)
        answers = verdicts.read_results(document, engine.name)
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
        tuple(judge_rule(rule, answers[rule["id"]]) for rule in rules),
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
        return _until_enough(engine, random_scenarios(seed, engine.keys), count)
    return list(random_cases(engine.dialect, count, seed))


def _judge(
    engine: Engine, scenario: Scenario | DialectCase, answers: Mapping[str, Mapping[str, Any]]
) -> Judged:
    answer = answers.get(scenario.id)
    if isinstance(scenario, DialectCase):
        verdict = verdicts.judge_case(scenario, answer)
    else:
        verdict = verdicts.judge(scenario, answer)
    if verdict.word in (verdicts.AS_EXPECTED, verdicts.UNSUPPORTED) or answer is None:
        return Judged(verdict)
    inside = answers.get(f"{scenario.id}_inside")
    return Judged(verdict, decisions_of(engine.name, scenario, answer, inside))


def _until_enough(
    engine: Engine, drawn: Iterator[Mapping[str, Any]], count: int
) -> list[Mapping[str, Any]]:
    """Scenarios until so many of them turn on no accident of the engine."""
    accidents = accidents_of(engine.name)
    scenarios = []
    while count > 0:
        scenarios.append(next(drawn))
        count -= not turns_on(scenarios[-1], accidents)
    return scenarios
