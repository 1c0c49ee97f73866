"""Commands that read a checkpoint and end start a session that compiles as little as it can."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from beamlike.cli import main
from beamlike.errors import EnvironmentProblem

COMMANDS: Mapping[str, tuple[str, ...]] = {"state": (), "capture": ("--key", "ann")}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_seconds_starts_a_session_of_seconds(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    started: list[tuple[str, bool]] = []

    def local_session(app_name: str, *, short_lived: bool, conf: object) -> None:
        assert conf is None
        started.append((app_name, short_lived))
        raise EnvironmentProblem("no Spark in this test")

    monkeypatch.setattr("beamlike.hosts.spark.session.check_environment", lambda: None)
    monkeypatch.setattr("beamlike.hosts.spark.session.local_session", local_session)
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)
    (tmp_path / "offsets").mkdir()
    assert main([command, str(tmp_path), *COMMANDS[command]]) == 2
    assert started == [(f"beamlike {command}", True)]
    assert "no Spark in this test" in capfd.readouterr().err
