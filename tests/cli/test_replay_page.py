"""`beamlike replay --format html`: the page that is written, and when none is."""

import json
from pathlib import Path
from typing import Any

import pytest

from beamlike.cli import main
from beamlike.testing.scenarios.files import load_transcripts

BLOG = Path(__file__).parents[1] / "conformance" / "cases" / "blog"
SESSIONS = BLOG / "blog_session.json"


def titles_on(page: Path) -> list[str]:
    text = page.read_text(encoding="utf-8")
    data = text.partition('<script type="application/json" id="data">')[2].partition("<")[0]
    return [scenario["title"] for scenario in json.loads(data)["scenarios"]]


def test_all_scenarios_of_a_file_are_on_one_page(tmp_path: Path, capsys: Any):
    page = tmp_path / "sessions.html"
    assert main(["replay", str(SESSIONS), "--format", "html", "--out", str(page)]) == 0
    assert titles_on(page) == [scenario.title for scenario in load_transcripts(SESSIONS)]
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "19 scenarios: 19 as expected",
        f"written: {page}",
    ]


def test_scenarios_of_the_same_title_are_told_apart_by_their_names(tmp_path: Path):
    document = json.loads(SESSIONS.read_text(encoding="utf-8"))
    scenarios = document["scenarios"] if isinstance(document, dict) else document
    twins = [scenarios[0] | {"id": name, "title": "a title"} for name in ("one", "two")]
    file, page = tmp_path / "twins.json", tmp_path / "twins.html"
    file.write_text(json.dumps(twins), encoding="utf-8")
    assert main(["replay", str(file), "--format", "html", "--out", str(page)]) == 0
    assert titles_on(page) == ["a title", "a title (two)"]


def test_scenarios_of_the_same_title_and_name_are_all_on_the_page(tmp_path: Path):
    document = json.loads(SESSIONS.read_text(encoding="utf-8"))
    scenarios = document["scenarios"] if isinstance(document, dict) else document
    files = [tmp_path / f"{number}.json" for number in range(4)]
    for file in files:
        one = scenarios[0] | {"id": "one", "title": "a title"}
        file.write_text(json.dumps(one), encoding="utf-8")
    page = tmp_path / "triplets.html"
    assert main(["replay", *map(str, files), "--format", "html", "--out", str(page)]) == 0
    assert titles_on(page) == ["a title", "a title (one)", "a title (one, 2)", "a title (one, 3)"]


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        (["--format", "html"], "--format html needs a file; add --out FILE.html"),
        (
            ["--out", "page.html"],
            "--out page.html is where a page goes, and --format table writes none; add "
            "--format html",
        ),
        (
            ["--format", "html", "--out", "nowhere/page.html"],
            "--out nowhere/page.html has no folder nowhere; name a file in a folder that exists",
        ),
        (
            ["--format", "html", "--out", "."],
            "--out . is a folder; name a file in a folder that exists",
        ),
    ],
)
def test_a_page_without_a_place_is_refused_before_anything_runs(
    arguments: list[str],
    refusal: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.chdir(tmp_path)
    assert main(["replay", str(SESSIONS), *arguments]) == 2
    assert capsys.readouterr() == ("", f"beamlike: {refusal}\n")
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_replayed_leaves_no_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    document = json.loads((BLOG / "blog_misc.json").read_text(encoding="utf-8"))
    scenarios = document["scenarios"] if isinstance(document, dict) else document
    broken = next(scenario for scenario in scenarios if scenario["aggregation"] == "sum")
    for step in broken["steps"]:
        for element in step.get("elements", ()):
            element["value"] = "no number"
    file, page = tmp_path / "broken.json", tmp_path / "broken.html"
    file.write_text(json.dumps([broken]), encoding="utf-8")
    assert main(["replay", str(file), "--format", "html", "--out", str(page)]) == 1
    assert capsys.readouterr().err == f"beamlike: nothing could be shown, {page} is not written\n"
    assert not page.exists()
