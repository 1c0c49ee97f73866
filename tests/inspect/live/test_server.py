"""Who may ask the live view's server for what."""

import http.client
import json
import logging
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import attrs
import pytest

from beamlike.errors import EnvironmentProblem
from beamlike.inspect.live.history import History
from beamlike.inspect.live.server import PageServer
from beamlike.inspect.queries.progress import Progress
from tests.support.queries.reports import report


@attrs.define
class Served:
    history: History
    server: PageServer

    @property
    def token(self) -> str:
        return self.server.url.split("/")[-2]

    def ask(self, path: str, method: str = "GET", **headers: str) -> tuple[int, Any, bytes]:
        """Status, headers and body of an answer to one who has the address of the view."""
        return self.ask_without_token(f"/{self.token}{path}", method, **headers)

    def ask_without_token(
        self, path: str, method: str = "GET", **headers: str
    ) -> tuple[int, Any, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=10)
        try:
            sent = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, headers=sent)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def say(self, words: bytes) -> bytes:
        """Everything that the server answers to these bytes."""
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=10) as connection:
            connection.sendall(words)
            connection.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: connection.recv(65_536), b""))


@pytest.fixture
def served() -> Iterator[Served]:
    history = History()
    server = PageServer(history)
    yield Served(history, server)
    server.close()


@pytest.mark.parametrize(
    ("path", "kind", "begins"),
    [
        ("/", "text/html; charset=utf-8", b"<!doctype html>"),
        ("/?from=a-notebook", "text/html; charset=utf-8", b"<!doctype html>"),
        ("/page.css", "text/css; charset=utf-8", b":root {"),
        ("/page.js", "text/javascript; charset=utf-8", b"// Asks for the numbers"),
    ],
)
def test_the_page_comes_in_three_parts(path: str, kind: str, begins: bytes, served: Served) -> None:
    status, headers, body = served.ask(path)
    assert (status, headers["Content-Type"], body[: len(begins)]) == (200, kind, begins)


def test_nothing_is_loaded_from_anywhere_else_and_no_script_stands_in_the_page(served: Served):
    _, headers, _ = served.ask("/")
    assert dict(
        it.strip().split(" ", 1) for it in headers["Content-Security-Policy"].split(";")
    ) == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "connect-src": "'self'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'self' http://127.0.0.1:* http://localhost:*",
    }
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "Access-Control-Allow-Origin" not in headers
    parts = b"".join(served.ask(path)[2] for path in ("/", "/page.css", "/page.js"))
    assert set(re.findall(rb"https?://[^\"'\s]+", parts)) == {b"http://www.w3.org/2000/svg"}
    assert re.findall(rb"<script(?! src=)|<style| style=|\son\w+=|innerHTML|eval\(", parts) == []


def test_the_numbers_are_those_of_the_history(served: Served) -> None:
    served.history.progressed(Progress.of(report(3)))
    status, headers, body = served.ask("/data.json")
    shown = json.loads(body)
    assert (status, headers["Content-Type"]) == (200, "application/json")
    assert shown["queries"] == json.loads(served.history.snapshot()[1])
    assert set(shown) == {"now", "queries"}


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/data.json", "/page.js", "*", "/TOKEN", "/token/data.json", "/TOKEN0/", "/TOKE/"),
        *("//data.json", "/0000000000000000/data.json", "/T%4fKEN/", "/\xff/data.json"),
    ],
)
def test_without_the_token_of_the_view_nothing_is_shown(path: str, served: Served) -> None:
    token = served.token
    sent = path.replace("TOKEN", token).replace("TOKE", token[:-1]).replace("T%4fKEN", token[1:])
    words = (
        "Forbidden: the address of a live view ends in a token, and changes with each view; open "
        "LiveView.url as it is\n"
    )
    raw = b"GET " + sent.encode("latin-1") + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"
    head, _, body = served.say(raw).partition(b"\r\n\r\n")
    assert (head.split()[1], body) == (b"403", words.encode())


def test_each_view_has_another_token(served: Served) -> None:
    other = PageServer(served.history)
    url = other.url
    other.close()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[0-9a-f]{32}/", url)
    assert url.split("/")[-2] != served.token


def test_numbers_that_are_known_already_are_not_sent_again(served: Served) -> None:
    tag = served.ask("/data.json")[1]["ETag"]
    assert served.ask("/data.json", If_None_Match=tag)[::2] == (304, b"")
    served.history.started("q", "r", "sales", clock=0)
    status, headers, _ = served.ask("/data.json", If_None_Match=tag)
    assert status == 200
    assert headers["ETag"] != tag


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost:8888", "LOCALHOST", "[::1]:80", "10.0.0.7:8888"]
)
def test_addresses_and_localhost_are_answered_also_through_a_tunnel(host: str, served: Served):
    assert served.ask("/data.json", Host=host)[0] == 200


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", ""),
        *("127.0.0.1:x", "0", socket.gethostname()),
    ],
)
def test_a_name_that_somebody_else_points_here_learns_nothing(host: str, served: Served) -> None:
    status, _, body = served.ask("/data.json", Host=host)
    assert (status, body) == (421, b"Misdirected Request\n")


@pytest.mark.parametrize(
    "lines", [b"", b"Host: localhost\r\nHost: evil.example\r\n", b"Host: localhost, evil\r\n"]
)
def test_one_host_has_to_be_named(lines: bytes, served: Served) -> None:
    path = f"/{served.token}/data.json".encode()
    answer = served.say(b"GET " + path + b" HTTP/1.1\r\n" + lines + b"\r\n")
    assert answer.startswith(b"HTTP/1.0 421 ")


@pytest.mark.parametrize(
    "path", ["/page.html", "/server.py", "/../view.py", "/%2e%2e/view.py", "/data.json/", "/*"]
)
def test_there_are_no_other_paths(path: str, served: Served) -> None:
    assert served.ask(path)[::2] == (404, b"Not Found\n")


@pytest.mark.parametrize("method", ["HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_nothing_but_get_is_answered(method: str, served: Served) -> None:
    status, headers, body = served.ask("/data.json", method)
    assert (status, headers["Allow"]) == (405, "GET")
    assert body == (b"" if method == "HEAD" else b"Method Not Allowed\n")


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (b"BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"501"),
        # As much as is read of a line: to hang up on unread words resets the connection.
        (b"GET /".ljust(65_537, b"x"), b"414"),
        (b"GET / HTTP/9.1\r\n\r\n", b"505"),
        (b"\x16\x03\x01 what\r\n\r\n", b"400"),
    ],
)
def test_what_is_no_request_is_refused_in_plain_text(words: bytes, status: bytes, served: Served):
    head, _, body = served.say(words).partition(b"\r\n\r\n")
    assert head.split()[1] == status
    assert b"Content-Security-Policy: default-src 'none'" in head
    assert b"<" not in body


def test_a_port_that_is_taken_is_refused_by_name(served: Served) -> None:
    port = served.server.port
    words = rf"port={port} of 127\.0\.0\.1 cannot be had \(Address already in use\)"
    with pytest.raises(EnvironmentProblem, match=words):
        PageServer(History(), port)


@pytest.mark.parametrize("port", [-1, 65_536, "80", 1.5])
def test_what_is_no_port_is_refused(port: Any) -> None:
    with pytest.raises(EnvironmentProblem, match=r"port=.* must be a whole number"):
        PageServer(History(), port)


def test_only_this_machine_is_listened_to(served: Served) -> None:
    assert served.server.address == ("127.0.0.1", served.server.port)


def test_closing_leaves_no_thread_and_no_port_even_if_somebody_is_still_connected() -> None:
    before = set(threading.enumerate())
    server = PageServer(History())
    silent = socket.create_connection(("127.0.0.1", server.port), timeout=10)
    half = socket.create_connection(("127.0.0.1", server.port), timeout=10)
    half.sendall(b"GET / HT")
    assert Served(History(), server).ask("/")[0] == 200  # so both have been accepted

    server.close()

    assert set(threading.enumerate()) == before
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", server.port), timeout=10)
    silent.close()
    half.close()


FORGETFUL = """
import http.client, socket, threading
from beamlike.inspect.live.history import History
from beamlike.inspect.live.server import PageServer

server = PageServer(History())
silent = socket.create_connection(("127.0.0.1", server.port), timeout=10)
asking = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
asking.request("GET", server.url.removeprefix(f"http://127.0.0.1:{server.port}"))
print(asking.getresponse().status, [it.name for it in threading.enumerate() if not it.daemon])
"""


def test_a_script_that_never_closes_waits_for_no_silent_connection() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", FORGETFUL], capture_output=True, text=True, timeout=60, check=False
    )

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "200 ['MainThread']\n", "")


def fail_with(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on the history raises this when it is asked."""

    def shown(_: History) -> tuple[int, str]:
        raise error

    monkeypatch.setattr(History, "snapshot", shown)


def test_what_goes_wrong_here_is_answered_and_logged(
    served: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    fail_with(ValueError("no JSON"), monkeypatch)

    status, headers, body = served.ask("/data.json")

    assert (status, body) == (500, b"Internal Server Error\n")
    assert headers["Content-Security-Policy"].startswith("default-src 'none'")
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("beamlike.live_view", logging.ERROR)
    assert record.getMessage() == "the live view cannot answer GET '/TOKEN/data.json'"
    assert record.exc_info is not None
    assert repr(record.exc_info[1]) == "ValueError('no JSON')"


@pytest.mark.parametrize("error", [BrokenPipeError(), ConnectionResetError(), TimeoutError()])
def test_a_reader_that_went_away_is_no_news(
    error: Exception,
    served: Served,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    fail_with(error, monkeypatch)

    path = f"/{served.token}/data.json".encode()
    assert served.say(b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\n\r\n") == b""
    assert caplog.records == []


def test_a_connection_that_gets_no_thread_is_logged(
    served: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", start)
        # Not a word, because a server that hangs up on unread words resets the connection.
        assert served.say(b"") == b""

    assert [record.getMessage() for record in caplog.records] == ["the live view lost a connection"]
    assert served.ask("/")[0] == 200
