"""`beamlike run`: Beam scripts as they are, with their arguments, output and exit status."""

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from beamlike.api.pipelines.pipeline import Pipeline
from beamlike.cli import main
from beamlike.errors import PipelineError
from tests.support.refusals import refusal

WORD_COUNT = """\
    import argparse
    import logging
    import re

    import apache_beam as beam
    from apache_beam.io import ReadFromText, WriteToText
    from apache_beam.options.pipeline_options import PipelineOptions, SetupOptions


    class Words(beam.DoFn):
        def process(self, element):
            import apache_beam.utils.timestamp  # where the function runs

            return re.findall(r"[a-z']+", element)


    def run(argv=None):
        parser = argparse.ArgumentParser()
        parser.add_argument("--input", required=True)
        parser.add_argument("--output", required=True)
        known, others = parser.parse_known_args(argv)
        options = PipelineOptions(others)
        options.view_as(SetupOptions).save_main_session = True
        with beam.Pipeline(options=options) as p:
            (
                p
                | ReadFromText(known.input)
                | beam.ParDo(Words()).with_output_types(str)
                | beam.combiners.Count.PerElement()
                | beam.MapTuple(lambda word, count: f"{word}: {count}")
                | WriteToText(known.output)
            )


    if __name__ == "__main__":
        logging.getLogger().setLevel(logging.WARNING)
        run()
        print("counted")
"""


def a_script(folder: Path, text: str, name: str = "job.py") -> str:
    path = folder / name
    path.write_text(dedent(text), encoding="utf-8")
    return str(path)


def beamlike_run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "beamlike.cli", "run", *arguments],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        check=False,
    )


@pytest.mark.parametrize(
    "host",
    [
        (),
        ("--host", "memory"),
        ("--host", "local"),
        pytest.param(("--host", "spark"), marks=[pytest.mark.spark, pytest.mark.nightly]),
    ],
    ids=["no host", "memory", "local", "spark"],
)
def test_a_script_reads_and_writes_where_its_arguments_say(host: tuple[str, ...], tmp_path: Path):
    (tmp_path / "words.txt").write_text("to be or not\nto be\n")
    script = a_script(tmp_path, WORD_COUNT)
    paths = ("--input", f"{tmp_path}/words*", "--output", f"{tmp_path}/counts")
    done = beamlike_run(script, *host, "--", *paths)
    assert (done.returncode, done.stdout) == (0, "counted\n"), done.stderr
    written = (tmp_path / "counts-00000-of-00001").read_text().splitlines()
    assert sorted(written) == ["be: 2", "not: 1", "or: 1", "to: 2"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "counts-00000-of-00001",
        "job.py",
        "words.txt",
    ]


def test_the_host_counts_more_than_the_runner_of_the_script(tmp_path: Path, capsys: Any):
    script = a_script(
        tmp_path,
        """\
        import apache_beam as beam
        from apache_beam.testing.test_pipeline import TestPipeline
        from apache_beam.testing.util import assert_that, equal_to

        with beam.Pipeline(runner="SparkRunner") as p:
            p | beam.Create([1]) | beam.Map(print)
        with TestPipeline() as p:
            assert_that(p | beam.Create([1]), equal_to([1]))
        print(p.host, __name__, __file__.endswith("job.py"))
        """,
    )
    assert main(["run", "--host", "local", script]) == 0
    assert capsys.readouterr().out == "1\nlocal __main__ True\n"


def test_the_host_counts_in_every_thread_of_the_script(tmp_path: Path, capsys: Any):
    script = a_script(
        tmp_path,
        """\
        from threading import Thread
        import apache_beam as beam

        thread = Thread(target=lambda: print(beam.Pipeline(runner="SparkRunner").host))
        thread.start()
        thread.join()
        """,
    )
    assert main(["run", "--host", "memory", script]) == 0
    assert capsys.readouterr().out == "memory\n"


def test_a_variable_of_the_environment_says_where_all_pipelines_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BEAMLIKE_HOST", "memory")
    assert Pipeline(runner="SparkRunner").host == "memory"

    monkeypatch.setenv("BEAMLIKE_HOST", "flink")
    assert refusal(PipelineError, Pipeline().run) == (
        "the environment variable BEAMLIKE_HOST must be memory, local or spark, got 'flink'"
    )


def test_what_was_there_before_is_there_afterwards(tmp_path: Path) -> None:
    before = list(sys.path), list(sys.argv), dict(os.environ)
    script = a_script(tmp_path, "import sys, apache_beam\nsys.path.append('x')\ndel sys.argv[1:]\n")
    assert main(["run", script, "--host", "memory", "--", "--a", "b"]) == 0
    assert "apache_beam" not in sys.modules
    assert (list(sys.path), list(sys.argv), dict(os.environ)) == before


def test_a_module_beside_the_script_and_its_own_arguments(tmp_path: Path, capsys: Any):
    a_script(tmp_path, "import apache_beam as beam\nname = beam.__name__\n", "helper_of_job.py")
    script = a_script(
        tmp_path, "import sys\nimport helper_of_job\nprint(helper_of_job.name, sys.argv[1:])\n"
    )
    assert main(["run", script, "--", "--host", "mine", "x"]) == 0
    assert capsys.readouterr().out == "beamlike.beam ['--host', 'mine', 'x']\n"
    del sys.modules["helper_of_job"]


@pytest.mark.parametrize(
    ("last", "status", "said"),
    [
        ("sys.exit()", 0, ""),
        ("sys.exit(3)", 3, ""),
        ("sys.exit('no input')", 1, "no input\n"),
        ("raise SystemExit(None)", 0, ""),
    ],
)
def test_the_exit_status_is_that_of_the_script(
    last: str, status: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = a_script(tmp_path, f"import sys\nprint('begun')\n{last}\nprint('not here')\n")
    assert main(["run", script]) == status
    assert capsys.readouterr() == ("begun\n", said)


def test_the_traceback_begins_in_the_script(tmp_path: Path) -> None:
    script = a_script(
        tmp_path,
        """\
        def work():
            return 1 / 0


        work()
        """,
    )
    done = beamlike_run(script)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert [line for line in lines if not set(line) <= set(" ~^")] == [
        "Traceback (most recent call last):",
        f'  File "{script}", line 5, in <module>',
        "    work()",
        f'  File "{script}", line 2, in work',
        "    return 1 / 0",
        "ZeroDivisionError: division by zero",
    ]


def test_what_beam_has_and_is_not_here_says_so_where_it_is_used(tmp_path: Path, capsys: Any):
    script = a_script(
        tmp_path, "import apache_beam as beam\nbeam.io.ReadFromBigQuery(table='a.b')\n"
    )
    assert main(["run", script]) == 1
    error = capsys.readouterr().err
    assert f'  File "{script}", line 2, in <module>\n' in error
    assert "apache_beam.io.gcp.bigquery.ReadFromBigQuery is not in beamlike.beam" in error


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda folder: folder / "none.py", "{path} is not there; write the path of a Python file"),
        (lambda folder: folder, "{path} is a folder; write the path of a Python file"),
    ],
)
def test_what_is_no_script(make: Any, problem: str, tmp_path: Path, capsys: Any):
    path = make(tmp_path)
    assert main(["run", str(path)]) == 2
    assert capsys.readouterr().err == f"beamlike: {problem.format(path=path)}\n"


def test_arguments_without_the_dashes_before_them(tmp_path: Path, capsys: Any):
    assert main(["run", a_script(tmp_path, "print('ran')\n"), "--input", "x"]) == 2
    printed = capsys.readouterr()
    assert (printed.out, "unrecognized arguments: --input x" in printed.err) == ("", True)


def test_a_mistake_in_the_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", a_script(tmp_path, "def (:\n")]) == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith("SyntaxError")
