"""``beamlike drain``: what it writes, and what it says."""

import json
from pathlib import Path
from typing import Any

import pytest

from beamlike.cli import main


def noted(home: Path, number: int, watermark: int, *, done: bool) -> None:
    """A micro-batch as Spark notes it."""
    for folder, text in (
        ("offsets", f'v1\n{{"batchWatermarkMs":{watermark},"batchTimestampMs":5}}\n{{"a":1}}'),
        *([("commits", "v1\n{}")] if done else []),
    ):
        (home / folder).mkdir(exist_ok=True)
        (home / folder / str(number)).write_text(text)


def test_a_checkpoint_is_marked_once_and_drained_once(tmp_path: Path, capsys: Any):
    noted(tmp_path, 3, 1_000, done=True)

    for _ in range(2):
        assert main(["drain", str(tmp_path)]) == 0
        assert capsys.readouterr().out == (
            f"micro-batch 4 of {tmp_path} will end all windows: start the query once more with "
            "writer.trigger(once=True)\n"
        )
    (tmp_path / "commits" / "4").write_text("v1\n{}")
    assert main(["drain", str(tmp_path)]) == 0

    assert capsys.readouterr().out == (
        f"{tmp_path} is drained: micro-batch 4 has ended all windows\n"
    )
    facts = json.loads((tmp_path / "offsets" / "4").read_text().splitlines()[1])
    assert facts["batchWatermarkMs"] == 9223372036854775


def test_what_is_no_checkpoint_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["drain", str(tmp_path)]) == 2

    assert capsys.readouterr().err == (
        f"beamlike: {tmp_path} is no checkpoint of a query that has run: it has no offsets; give "
        "the folder that the query has as checkpointLocation\n"
    )


def test_the_help_says_what_to_do_then(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["drain", "--help"]) == 0

    printed = capsys.readouterr().out
    assert (
        "  1  start the query with writer.trigger(once=True): it runs that micro-batch\n" in printed
    )
    assert "  beamlike drain /data/checkpoints/orders\n" in printed
