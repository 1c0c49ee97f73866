"""Whatever is sent to the servers: an answer or none, nothing that may not be read, and no harm.

Bytes go over real sockets, to the live view, the metrics and the playground, each with something to
hide. After every attack a reader who may read is answered.
"""

import logging
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beamlike.inspect.http import serving
from beamlike.inspect.http.serving import CONNECTIONS, Listening
from beamlike.inspect.live.history import History
from beamlike.inspect.live.server import PageServer
from beamlike.inspect.metrics.server import MetricsServer
from beamlike.playground.server import PlaygroundServer
from tests.support.examples import examples

HIDDEN: Final = "only-for-those-who-may-read"
TOKEN: Final = "a-token-of-the-metrics"
SERVERS: Final = ("live view", "metrics", "playground")


@attrs.frozen
class Target:
    """A server, and the request of a reader who may read."""

    server: Listening
    path: str
    authorization: str = ""

    @property
    def request(self) -> bytes:
        bearer = f"Authorization: Bearer {self.authorization}\r\n" if self.authorization else ""
        return f"GET {self.path} HTTP/1.1\r\nHost: localhost\r\n{bearer}\r\n".encode()

    def send(self, words: bytes) -> bytes:
        """All that comes back; nothing where the server hung up on bytes that it did not read."""
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=20) as connection:
            came = b""
            with suppress(OSError):
                connection.sendall(words)
                connection.shutdown(socket.SHUT_WR)
            with suppress(OSError):
                while part := connection.recv(65_536):
                    came += part
            return came

    def is_served(self) -> bool:
        answer = self.send(self.request)
        return answer.startswith(b"HTTP/1.0 200 OK\r\n") and HIDDEN.encode() in answer


@pytest.fixture(scope="module")
def targets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Target]]:
    history = History()
    history.started("q", "r", HIDDEN, clock=0)
    view = PageServer(history)
    metrics = MetricsServer(lambda: f"# {HIDDEN}\n# EOF\n", 0, token=TOKEN)
    home = tmp_path_factory.mktemp("playground")
    folder = home / "folder"
    folder.mkdir()
    (folder / "index.html").write_text(HIDDEN, encoding="utf-8")
    (home / "beside.html").write_text("outside of the folder", encoding="utf-8")
    playground = PlaygroundServer(folder)
    data = view.url.removeprefix(f"http://127.0.0.1:{view.port}") + "data.json"
    yield {
        "live view": Target(view, data),
        "metrics": Target(metrics, "/metrics", TOKEN),
        "playground": Target(playground, "/"),
    }
    for server in (view, metrics, playground):
        server.close()


# -- requests -------------------------------------------------------------------------------

WORDS: Final = st.one_of(
    st.sampled_from([b"", b" ", b"\0", b"\r", b"\n", b"\xff\xfe", b"%00", b"%2e%2e", b"\xc2\xb2"]),
    st.binary(max_size=30),
    st.builds(bytes.__mul__, st.sampled_from([b"a", b"\0", b"/"]), st.just(70_000)),
)
METHODS: Final = st.one_of(
    st.sampled_from([b"GET", b"get", b"HEAD", b"POST", b"CONNECT", b"TRACE", b"__init__"]), WORDS
)
PATHS: Final = st.one_of(
    st.sampled_from(
        [
            *(b"PATH", b"PATH?", b"/PATH", b"PATH/", b"PATH/../PATH", b"PATH\0"),
            *(b"http://localhost/PATH", b"/", b"*", b"//evil.example/", b"/data.json", b"/metrics"),
            *(b"/../beside.html", b"/%2e%2e/beside.html", b"/..\\beside.html", b"/./index.html"),
        ]
    ),
    WORDS,
)
VERSIONS: Final = st.one_of(
    st.sampled_from([b"HTTP/1.1", b"HTTP/1.0", b"HTTP/0.9", b"HTTP/2.0", b"HTTP/1.\xb2", b""]),
    WORDS,
)
NAMES: Final = st.one_of(
    st.sampled_from(
        [
            *(b"Host", b"host", b"Host ", b" Host", b"Hos\0t", b"Authorization", b"X"),
            *(b"Transfer-Encoding", b"Content-Length", b"Expect", b"Connection", b"If-None-Match"),
        ]
    ),
    WORDS,
)
VALUES: Final = st.one_of(
    st.sampled_from(
        [
            *(b"localhost", b"127.0.0.1:80", b"evil.example", b"localhost\r\n evil.example"),
            *(b"[::1", b"localhost\rX: y", b"Bearer TOKEN", b"Bearer", b"Bearer  \xff", b"chunked"),
            *(b"-1", b"1e9", b"100-continue", b"keep-alive", b"bytes=0-", b'"*"', b"9" * 5_000),
        ]
    ),
    WORDS,
)
HEADERS: Final = st.lists(st.tuples(NAMES, VALUES), max_size=6)
BODIES: Final = st.one_of(WORDS, st.just(b"0\r\n\r\nGET PATH HTTP/1.1\r\nHost: localhost\r\n\r\n"))
ENDS: Final = st.sampled_from([b"\r\n", b"\n", b"\r"])


def spelled(target: Target, words: bytes) -> bytes:
    """A part of a request in which the right path, or the right token, may stand."""
    return words.replace(b"PATH", target.path.encode()).replace(b"TOKEN", TOKEN.encode())


def may_read(name: str, method: bytes, path: bytes, headers: Sequence[tuple[bytes, bytes]]) -> bool:
    """Whether a request could be one of a reader, by what must be in it at least."""
    values = b" ".join(value for _, value in headers)
    return (
        method == b"GET"
        and (b"PATH" in path or name == "playground")
        and (b"localhost" in values or b"127.0.0.1" in values)
        and (b"TOKEN" in values or name != "metrics")
    )


def check(target: Target, answer: bytes) -> None:
    """An answer is one of HTTP, of a status that says no or yes, and never what is elsewhere."""
    assert answer == b"" or re.match(
        rb"HTTP/1\.0 (200|30\d|4\d\d|50[0-5]) [A-Z][^\r\n]*\r\n", answer
    )
    assert not answer.startswith(b"HTTP/1.0 500")
    head = answer.partition(b"\r\n\r\n")[0]
    assert b"outside of the folder" not in answer
    assert b"evil" not in head
    assert TOKEN.encode() not in answer
    assert b"Access-Control-Allow-Origin" not in head


@pytest.mark.parametrize("name", SERVERS)
@settings(max_examples=examples(150))
@given(method=METHODS, path=PATHS, version=VERSIONS, headers=HEADERS, end=ENDS, body=BODIES)
def test_hostile_methods_paths_headers_and_bodies_read_nothing_and_stop_nothing(
    targets: dict[str, Target],
    name: str,
    method: bytes,
    path: bytes,
    version: bytes,
    headers: list[tuple[bytes, bytes]],
    end: bytes,
    body: bytes,
) -> None:
    target = targets[name]
    lines = [b" ".join([method, path, version]), *(b": ".join(header) for header in headers)]
    answer = target.send(spelled(target, end.join([*lines, b"", body])))

    check(target, answer)
    if not may_read(name, method, path, headers):
        assert HIDDEN.encode() not in answer
    assert target.is_served()


@pytest.mark.parametrize("name", SERVERS)
@settings(max_examples=examples(150))
@given(data=st.data())
def test_a_request_with_bytes_changed_cut_out_or_put_in_stops_nothing(
    targets: dict[str, Target], name: str, data: st.DataObject
) -> None:
    target = targets[name]
    words = bytearray(target.request)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(words)))
        words[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))

    check(target, target.send(bytes(words)))
    assert target.is_served()


@settings(max_examples=examples(60))
@given(words=st.binary(max_size=300))
def test_bytes_of_any_kind_stop_nothing(targets: dict[str, Target], words: bytes) -> None:
    for target in targets.values():
        check(target, target.send(words))
        assert target.is_served()


def test_no_attack_is_an_error_in_the_log(
    targets: dict[str, Target], caplog: pytest.LogCaptureFixture
) -> None:
    for target in targets.values():
        for words in (
            *(
                b"\xff" * 200_000,
                b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 5_000,
                b"GET \0 HTTP/1.1\r\n",
            ),
            target.request.replace(b"localhost", b"localhost\xff"),
            target.request.replace(b"GET", b"POST") + b"body" * 50_000,
            target.request * 50,
        ):
            check(target, target.send(words))
        assert target.is_served()
    assert [log for log in caplog.records if log.levelno >= logging.ERROR] == []


# -- many and slow --------------------------------------------------------------------------


def threads_of_connections() -> int:
    names = [thread.name for thread in threading.enumerate()]
    return sum("process_request_thread" in name for name in names)


@pytest.mark.parametrize("name", SERVERS)
def test_hundreds_of_slow_connections_take_neither_threads_nor_the_place_of_a_reader(
    targets: dict[str, Target], name: str
) -> None:
    target = targets[name]
    slow = []
    try:
        for number in range(2 * CONNECTIONS):
            slow.append(socket.create_connection(("127.0.0.1", target.server.port), timeout=20))
            # Some say nothing, some begin a request, some read nothing of the answer.
            slow[-1].sendall((b"", b"GET / HT", target.request[:-2], target.request)[number % 4])
        began = time.monotonic()
        assert [target.is_served() for _ in range(5)] == [True] * 5
        assert time.monotonic() - began < 10
        wait_until(lambda: threads_of_connections() <= CONNECTIONS)
    finally:
        for connection in slow:
            connection.close()


def test_a_connection_that_says_a_byte_now_and_then_is_closed(
    targets: dict[str, Target], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "LIFETIME", 1)
    target = targets["live view"]
    with socket.create_connection(("127.0.0.1", target.server.port), timeout=20) as connection:
        connection.sendall(b"GET /")
        while not is_closed(connection):
            connection.sendall(b"x")
            time.sleep(0.05)
    assert target.is_served()


def test_a_reader_that_reads_nothing_of_a_long_answer_is_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "LIFETIME", 1)
    (tmp_path / "index.html").write_bytes(b"x" * 50_000_000)
    server = PlaygroundServer(tmp_path)
    before = threads_of_connections()
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.recv(10) == b"HTTP/1.0 2"
        wait_until(lambda: threads_of_connections() == before)
    server.close()


def test_a_request_of_many_long_headers_is_not_read_to_its_end(targets: dict[str, Target]) -> None:
    target = targets["metrics"]
    long = b"X: " + b"y" * 60_000 + b"\r\n"
    answer = target.send(target.request.removesuffix(b"\r\n") + long * 3 + b"\r\n")
    assert (
        answer.startswith(b"HTTP/1.0 431 ") or answer == b""
    )  # it hung up on what it did not read
    assert target.is_served()


def is_closed(connection: socket.socket) -> bool:
    """Whether the server has closed it: an end can be read, and no answer."""
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    finally:
        connection.settimeout(20)


def wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 5
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)
