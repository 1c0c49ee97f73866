"""The trials of Kafka: what is kept of them, and against a broker where Maven is there."""

import os
import re
from pathlib import Path

import pytest

from tests.kafka.__main__ import LATEST, TRIALS, play
from tests.kafka.broker import KAFKA, class_path
from tests.support.environments import NotHere, cache_folder


def test_each_trial_has_been_run_and_held() -> None:
    from tests.kafka.trials import TRIALS as PLAYED

    text = LATEST.path.read_text(encoding="utf-8")
    held = re.findall(r"^\| (.+?) \| holds, \d+ s \|", text, re.MULTILINE)
    assert held == list(TRIALS) == list(PLAYED)


def test_without_maven_the_broker_is_left_out_with_a_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotHere, match="mvn is not installed"):
        class_path("kafka-broker", KAFKA, tmp_path)


@pytest.mark.nightly
@pytest.mark.spark
def test_pipelines_read_from_a_broker_and_write_to_it() -> None:
    try:
        said = play(TRIALS, cache_folder(os.environ.get("BEAMLIKE_JUDGES_CACHE")))
    except NotHere as reason:
        pytest.skip(f"Kafka is left out: {reason}")
    assert re.findall(r"^(.+): holds, \d+ s \|", said, re.MULTILINE) == list(TRIALS), said
