"""Which hosts and requests the metrics server answers, over real sockets."""

import http.client
import logging
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import pytest
from prometheus_client.openmetrics.exposition import CONTENT_TYPE_LATEST

from beamlike.errors import EnvironmentProblem
from beamlike.inspect.metrics import MetricsListener
from beamlike.inspect.metrics.server import MetricsServer
from tests.support.refusals import refusal

METRICS = "beamlike_batches_total 1\n# EOF\n"
REFUSED = (
    b"Misdirected Request: the host is not known here; pass it in allowed_hosts= of "
    b"metrics_listener if it is a name of this server\n"
)


@attrs.define
class Served:
    server: MetricsServer

    def ask(
        self, host: str | None, path: str = "/metrics", method: str = "GET"
    ) -> tuple[int, bytes]:
        """Status and body of an answer; None for the host that a client names by itself."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=10)
        try:
            connection.request(method, path, headers={} if host is None else {"Host": host})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def send(self, words: bytes) -> bytes:
        """The first line of what the server answers to these bytes."""
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=10) as connection:
            connection.sendall(words)
            connection.shutdown(socket.SHUT_WR)
            answer = b"".join(iter(lambda: connection.recv(65_536), b""))
        return answer.partition(b"\r\n")[0]


Serve = Callable[..., Served]


def has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


@pytest.fixture
def serve() -> Iterator[Serve]:
    servers: list[MetricsServer] = []

    def start(text: Callable[[], str] = lambda: METRICS, **words: Any) -> Served:
        servers.append(MetricsServer(text, port=0, **words))
        return Served(servers[-1])

    yield start
    for server in servers:
        server.close()


# -- the rule of the Host header ------------------------------------------------------------

ALWAYS = ["127.0.0.1", "127.0.0.1:9400", "10.1.2.3:9400", "[::1]", "[fe80::1]:9400", "localhost"]
ALWAYS += ["LOCALHOST:1", "localhost.", "0.0.0.0:9400"]
NEVER = ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "", "127.0.0.1:x"]
NEVER += ["0", "2130706433", "0x7f.1", "::1", "[127.0.0.1]", "[::1", "localhost, evil.example"]
NEVER += ["user@localhost", "localhost/", "..", "."]


@pytest.mark.parametrize("listens_on", ["127.0.0.1", "localhost", "0.0.0.0"])
def test_addresses_and_localhost_are_answered_and_names_of_others_are_not(
    listens_on: str, serve: Serve
) -> None:
    served = serve(host=listens_on)
    assert {host: served.ask(host) for host in [None, *ALWAYS]} == {
        host: (200, METRICS.encode()) for host in [None, *ALWAYS]
    }
    assert {host: served.ask(host) for host in NEVER} == dict.fromkeys(NEVER, (421, REFUSED))


@pytest.mark.parametrize("listens_on", ["0.0.0.0", "127.0.0.1", "localhost"])
def test_the_name_of_this_machine_is_one_of_the_server_if_others_can_reach_it(
    listens_on: str, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "node7")
    monkeypatch.setattr(socket, "getfqdn", lambda _: "node7.example.com")
    served = serve(host=listens_on)
    status = 200 if listens_on == "0.0.0.0" else 421
    assert served.ask("node7:9400")[0] == status
    assert served.ask("node7.example.com:9400")[0] == status
    assert served.ask("node8")[0] == 421


def test_names_that_are_allowed_are_answered_in_any_case_and_with_any_port(serve: Serve) -> None:
    served = serve(host="0.0.0.0", allowed_hosts=["Metrics.example.com", "*.cluster.internal"])
    asked = {
        "metrics.example.com": 200,
        "METRICS.EXAMPLE.COM.:9400": 200,
        "pod-7.cluster.internal": 200,
        "a.b.cluster.internal:80": 200,
        "cluster.internal": 421,
        "evilcluster.internal": 421,
        "example.com": 421,
        "other.metrics.example.com": 421,
        "metrics.example.com.evil.example": 421,
        "localhost": 200,
        "10.0.0.1": 200,
    }
    assert {host: served.ask(host)[0] for host in asked} == asked


@pytest.mark.parametrize(
    "lines", [b"", b"Host: localhost\r\nHost: evil.example\r\n", b"Host: localhost, evil\r\n"]
)
def test_a_request_names_exactly_one_host(lines: bytes, serve: Serve) -> None:
    answer = serve(host="0.0.0.0").send(b"GET /metrics HTTP/1.1\r\n" + lines + b"\r\n")
    assert answer == b"HTTP/1.0 421 Misdirected Request"


@pytest.mark.parametrize(
    ("names", "says"),
    [
        ("metrics.example.com", "allowed_hosts='metrics.example.com' is no list of host names; "),
        (7, "allowed_hosts=7 is no list of host names; "),
        (None, "allowed_hosts=None is no list of host names; "),
        (["http://a.example"], "allowed_hosts: 'http://a.example' is no host name; give names "),
        (["a.example:9400"], "allowed_hosts: 'a.example:9400' is no host name; give names without"),
        (["a.example/metrics"], "allowed_hosts: 'a.example/metrics' is no host name; give names"),
        (["*"], "allowed_hosts: '*' is no host name; give names without scheme, port and path, "),
        (["a.*.example"], "allowed_hosts: 'a.*.example' is no host name; give names without"),
        ([""], "allowed_hosts: '' is no host name; give names without scheme, port and path, such"),
        (["a.example", None], "allowed_hosts: None is no host name; give names without scheme, "),
    ],
)
def test_what_is_no_host_name_is_refused_with_the_form_of_one(names: Any, says: str) -> None:
    with pytest.raises(EnvironmentProblem) as refused:
        MetricsListener(port=0, allowed_hosts=names)
    assert str(refused.value).startswith(says)


def test_a_refused_name_is_logged_once_with_the_argument_that_allows_it(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    served = serve(host="0.0.0.0")
    for host in ["metrics.example.com:9400", "metrics.example.com:9400", "x" * 200]:
        assert served.ask(host)[0] == 421
    advice = "pass it in allowed_hosts= of metrics_listener if it is a name of this server"
    assert [(record.name, record.levelno, record.getMessage()) for record in caplog.records] == [
        ("beamlike.metrics", logging.WARNING, f"a request for host {host!r} was refused; {advice}")
        for host in ["metrics.example.com:9400", "x" * 80]
    ]


def test_many_refused_names_do_not_fill_the_log(serve: Serve, caplog: pytest.LogCaptureFixture):
    served = serve()
    for number in range(15):
        assert served.ask(f"n{number}.example")[0] == 421
    assert len(caplog.records) == 10


# -- the token ------------------------------------------------------------------------------

TOKEN = "dGhlIHRva2Vu-_.~+/=="
BEARERS: dict[str | None, int] = {
    None: 401,
    "": 401,
    "Bearer": 401,
    "Bearer ": 401,
    TOKEN: 401,
    f"Basic {TOKEN}": 401,
    f"Bearer {TOKEN[:-1]}": 401,
    f"Bearer {TOKEN}=": 401,
    f"Bearer {TOKEN.upper()}": 401,
    "Bearer \xe9\xff": 401,
    f"Bearer {TOKEN}": 200,
    f"bearer  {TOKEN} ": 200,
}


@pytest.mark.parametrize("path", ["/metrics", "/", "/other"])
def test_with_a_token_who_does_not_send_that_reads_nothing(path: str, serve: Serve) -> None:
    server = serve(token=TOKEN).server
    answers = {}
    for sent in BEARERS:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
        connection.request("GET", path, headers={} if sent is None else {"Authorization": sent})
        answer = connection.getresponse()
        answers[sent] = (answer.status, answer.headers["WWW-Authenticate"], answer.read())
        connection.close()

    words = b"Unauthorized: send the token of metrics_listener as Authorization: Bearer TOKEN\n"
    right = (200, None, METRICS.encode()) if path == "/metrics" else (404, None, b"Not Found\n")
    assert answers == {
        sent: right if status == 200 else (401, "Bearer", words) for sent, status in BEARERS.items()
    }


@pytest.mark.parametrize(
    "token", ["", " ", "two words", "new\nline", "caf\xe9", "a=b", 7, b"token"]
)
def test_a_token_that_no_header_holds_is_refused_and_not_repeated(token: Any) -> None:
    assert refusal(EnvironmentProblem, lambda: MetricsListener(port=0, token=token)) == (
        "token= of metrics_listener must be letters, digits and any of -._~+/ that a header can "
        "hold, such as secrets.token_urlsafe(); read it from a file or the environment"
    )


# -- other requests -------------------------------------------------------------------------


def test_a_scraper_gets_the_metrics_with_their_type(serve: Serve) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", serve().server.port, timeout=10)
    connection.request("GET", "/metrics?format=openmetrics", headers={"Accept": "text/html"})
    answer = connection.getresponse()
    headers = {name: answer.headers[name] for name in ("Content-Type", "Content-Length")}
    assert (answer.status, headers, answer.read().decode()) == (
        200,
        {"Content-Type": CONTENT_TYPE_LATEST, "Content-Length": str(len(METRICS))},
        METRICS,
    )
    assert "Access-Control-Allow-Origin" not in answer.headers
    connection.close()


@pytest.mark.parametrize("path", ["/", "/metrics/", "/metrics/../etc", "/data.json", "*"])
def test_there_is_one_path(path: str, serve: Serve) -> None:
    assert serve().ask(None, path) == (404, b"Not Found\n")


@pytest.mark.parametrize("method", ["HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_there_is_one_method(method: str, serve: Serve) -> None:
    body = b"" if method == "HEAD" else b"Method Not Allowed\n"
    assert serve().ask(None, "/metrics", method) == (405, body)


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (b"BREW /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", b"501"),
        (b"GET /".ljust(65_537, b"x"), b"414"),
        (b"GET /metrics HTTP/9.1\r\n\r\n", b"505"),
        (b"\x16\x03\x01 hello\r\n\r\n", b"400"),
        (b"GET /metrics HTTP/1.1\r\n" + b"X: y\r\n" * 101 + b"\r\n", b"431"),
    ],
)
def test_after_a_broken_request_the_next_scrape_is_answered(
    words: bytes, status: bytes, serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    served = serve()
    assert served.send(words).split()[1] == status
    assert served.ask(None) == (200, METRICS.encode())
    assert caplog.records == []


def test_slow_clients_hold_up_no_scrape_and_no_end(serve: Serve) -> None:
    before = set(threading.enumerate())
    server = MetricsServer(lambda: METRICS, port=0)
    slow = [socket.create_connection(("127.0.0.1", server.port), timeout=10) for _ in range(40)]
    for connection in slow:
        connection.sendall(b"GET /metrics HT")

    assert Served(server).ask(None) == (200, METRICS.encode())
    server.close()

    assert set(threading.enumerate()) == before
    for connection in slow:
        connection.close()


def test_metrics_that_fail_are_an_answer_and_a_line_in_the_log(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    answers = iter([ValueError("no number"), None])

    def text() -> str:
        error = next(answers)
        if error is not None:
            raise error
        return METRICS

    served = serve(text)
    assert served.ask(None) == (500, b"Internal Server Error\n")
    assert [(record.name, record.levelno, record.getMessage()) for record in caplog.records] == [
        ("beamlike.metrics", logging.ERROR, "the metrics server cannot answer GET '/metrics'")
    ]
    assert served.ask(None) == (200, METRICS.encode())


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
def test_an_address_of_ipv6_is_listened_on_and_shown_in_brackets() -> None:
    server = MetricsServer(lambda: METRICS, port=0, host="::1")
    connection = http.client.HTTPConnection("::1", server.port, timeout=10)
    connection.request("GET", "/metrics")
    assert connection.getresponse().status == 200
    assert server.url == f"http://[::1]:{server.port}/metrics"
    connection.close()
    server.close()
