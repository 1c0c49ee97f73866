"""The playground as a folder, and the server of it."""

import io
import json
import signal
import subprocess
import sys
import zipfile
from http.client import HTTPConnection
from pathlib import Path

import pytest

from beamlike.errors import EnvironmentProblem
from beamlike.playground import folder, packages
from beamlike.playground.server import PlaygroundServer


def get(server: PlaygroundServer, path: str, **headers: str) -> tuple[int, str | None, bytes]:
    connection = HTTPConnection(*server.address, timeout=10)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    found = answer.status, answer.getheader("Content-Type"), answer.read()
    connection.close()
    return found


def test_the_sources_are_all_that_the_page_imports():
    content = folder._own_files()
    names = zipfile.ZipFile(io.BytesIO(content["beamlike.zip"])).namelist()
    for name in ("beamlike/playground/answers.py", "beamlike/testing/streams/as_code.py"):
        assert name in names
    assert {name.split("/")[0] for name in names} == {"beamlike", "attr", "attrs", "cloudpickle"}
    assert len(names) == len(set(names))
    assert folder._own_files() == content


def test_the_page_imports_without_anything_but_attrs(tmp_path: Path):
    archive = tmp_path / "beamlike.zip"
    archive.write_bytes(folder._own_files()["beamlike.zip"])
    worker = (Path(folder.__file__).parent / "assets" / "worker.mjs").read_text()
    begin = worker.split("`")[1].replace("/beamlike.zip", str(archive))
    ask = "import json; print(json.loads(answer('{\"what\": \"tea\"}'))['problem'])"
    done = subprocess.run(
        [sys.executable, "-S", "-I", "-c", f"{begin}\n{ask}"], capture_output=True, text=True
    )
    assert (done.stderr, done.stdout.split(";")[0]) == ("", "there is no question 'tea'")


def test_a_folder_is_served_and_nothing_else(tmp_path: Path):
    inside = tmp_path / "site"
    inside.mkdir()
    (inside / "index.html").write_text("<p>hello</p>")
    (inside / "worker.mjs").write_text("1")
    (tmp_path / "secret").write_text("no")
    server = PlaygroundServer(inside)
    try:
        assert get(server, "/") == (200, "text/html; charset=utf-8", b"<p>hello</p>")
        assert get(server, "/worker.mjs")[:2] == (200, "text/javascript; charset=utf-8")
        assert get(server, "/../secret")[0] == 404
        assert get(server, "/", Host="evil.example")[0] == 421
    finally:
        server.close()


def test_another_package_is_refused(tmp_path: Path):
    package = tmp_path / "pyodide.tgz"
    package.write_bytes(b"tea")
    with pytest.raises(EnvironmentProblem, match=r"is not the package pyodide@314\.0\.7; remove"):
        folder.build_folder(tmp_path / "site", package)
    assert not (tmp_path / "site").exists()


def test_without_npm_the_way_out_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentProblem, match=r"there is no npm here; install Node\.js, or get"):
        packages.interpreter_files()


def test_the_last_line_of_npm_is_in_the_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\necho 'no such registry' >&2\nexit 1\n")
    npm.chmod(0o755)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(EnvironmentProblem, match=r"npm cannot fetch .* \(no such registry\); run"):
        packages.interpreter_files()


@pytest.mark.usefixtures("playground_folder")
def test_the_command_builds_a_folder_and_serves_it(tmp_path: Path):
    command = [sys.executable, "-m", "beamlike.cli", "playground"]
    built = subprocess.run(
        [*command, "--build", str(tmp_path / "site")], capture_output=True, text=True
    )
    assert (built.returncode, built.stderr) == (0, "")
    assert built.stdout.startswith(f"{tmp_path / 'site'}: 11 files, ")
    mark = json.loads((tmp_path / "site" / "playground.json").read_text())
    assert mark["pyodide"] == packages.VERSION
    # A run in the background ignores interrupts, and what it starts would, too.
    serving = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert serving.stdout is not None
    announced = serving.stdout.readline()
    address = announced.split("http://")[1].split("/")[0].split(":")
    connection = HTTPConnection(address[0], int(address[1]), timeout=10)
    connection.request("GET", "/beamlike.zip")
    assert connection.getresponse().status == 200
    connection.close()
    serving.send_signal(signal.SIGINT)
    _, errors = serving.communicate(timeout=30)
    assert (serving.returncode, errors) == (130, "beamlike: interrupted\n")
