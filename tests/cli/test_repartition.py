"""``beamlike repartition`` looks at the checkpoint before it starts Spark."""

from pathlib import Path
from typing import Any

import pytest

from beamlike.cli import main, repartition


@pytest.fixture(autouse=True)
def without_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    def started(name: str) -> Any:
        raise AssertionError("Spark was started")

    monkeypatch.setattr(repartition, "quiet_session", started)


def stopped_after(home: Path, *, done: bool) -> Path:
    """A checkpoint whose last micro-batch is number 3."""
    for folder in ("offsets", *(["commits"] if done else [])):
        (home / folder).mkdir()
        (home / folder / "3").write_text("v1\n{}")
    return home


def test_what_is_no_checkpoint_is_refused_at_once(tmp_path: Path, capsys: Any):
    assert main(["repartition", str(tmp_path), "3"]) == 2
    assert capsys.readouterr().err == (
        f"beamlike: {tmp_path} is no checkpoint of a query that has run: it has no offsets; give "
        "the folder that the query has as checkpointLocation\n"
    )


def test_so_is_a_query_that_has_not_run_to_its_end(tmp_path: Path, capsys: Any):
    home = stopped_after(tmp_path, done=False)
    assert main(["repartition", str(home), "3"]) == 2
    assert capsys.readouterr().err == (
        f"beamlike: micro-batch 3 of the checkpoint {home} has not run to its end: start the query "
        "once more, until it waits for data, stop it, and repartition it then\n"
    )


def test_so_is_an_output_that_is_no_folder_of_the_query(tmp_path: Path, capsys: Any):
    home = stopped_after(tmp_path, done=True)
    assert main(["repartition", str(home), "3", "--output", str(tmp_path / "out")]) == 2
    assert "is no folder that the query writes to" in capsys.readouterr().err


def test_a_checkpoint_that_can_be_has_spark_started(tmp_path: Path, capsys: Any):
    assert main(["repartition", str(stopped_after(tmp_path, done=True)), "3"]) != 0
    assert "Spark was started" in capsys.readouterr().err
