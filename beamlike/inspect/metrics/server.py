"""The metrics on a port, for a scraper: ``GET /metrics``.

A request has to name the server in its ``Host`` header: by an IP address, as ``localhost``, by the
name of this machine if other machines can reach it, or by one of ``allowed_hosts``. So a web page
that has its own name resolve to this machine cannot read the metrics
(`beamlike.inspect.http.allowed`). Names of queries and groupings are all that can be read here; no
key and no value. With a token a request has to bring that, too.
"""

import logging
import re
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Final

from beamlike.errors import EnvironmentProblem
from beamlike.inspect.http.allowed import AllowedHosts
from beamlike.inspect.http.answering import Answering, is_secret
from beamlike.inspect.http.serving import HERE, Listening

_LOGGER: Final = logging.getLogger("beamlike.metrics")
_NAME: Final = "metrics server"
_PATH: Final = "/metrics"
_MOST_NAMES: Final = 10
_SHOWN: Final = 80
_SCHEME: Final = "Bearer"
_TOKEN: Final = re.compile(r"[A-Za-z0-9._~+/-]+=*")  # what RFC 6750 takes
_NO_TOKEN: Final = "send the token of metrics_listener as Authorization: Bearer TOKEN"
_ADVICE: Final = "pass it in allowed_hosts= of metrics_listener if it is a name of this server"


class MetricsServer(Listening):
    """Serves what a function returns, from when it is made until `close`.

    Args:
        text: Returns the metrics as text.
        port: 0 for one that is free.
        host: The address to listen on.
        allowed_hosts: Further names in the ``Host`` header that it accepts.
        token: What ``Authorization: Bearer`` of a request has to say; None for nothing.

    Raises:
        EnvironmentProblem: The port is taken, or none; or the names are none.
    """

    def __init__(
        self,
        text: Callable[[], str],
        port: int,
        host: str = HERE,
        allowed_hosts: Iterable[str] = (),
        token: str | None = None,
    ) -> None:
        _check(token)
        super().__init__(
            lambda host: _handler(text, AllowedHosts.of_server(host, allowed_hosts), token),
            port,
            host,
            _NAME,
            _LOGGER,
        )
        self.url = self.url.removesuffix("/") + _PATH


def _check(token: str | None) -> None:
    if token is not None and not (isinstance(token, str) and _TOKEN.fullmatch(token)):
        # The value is a secret, also where it is wrong.
        raise EnvironmentProblem(
            "token= of metrics_listener must be letters, digits and any of -._~+/ that a header "
            "can hold, such as secrets.token_urlsafe(); read it from a file or the environment"
        )


def _handler(text: Callable[[], str], hosts: AllowedHosts, token: str | None) -> type[Answering]:
    from prometheus_client.openmetrics.exposition import CONTENT_TYPE_LATEST

    refused: set[str] = set()

    class Handler(Answering):
        allowed, logger, name = hosts, _LOGGER, _NAME

        def get(self, path: str) -> None:
            if not self._may_read():
                self.say(HTTPStatus.UNAUTHORIZED, {"WWW-Authenticate": _SCHEME}, words=_NO_TOKEN)
            elif path == _PATH:
                self.answer(HTTPStatus.OK, CONTENT_TYPE_LATEST, text().encode())
            else:
                self.say(HTTPStatus.NOT_FOUND)

        def _may_read(self) -> bool:
            if token is None:
                return True
            scheme, _, sent = (self.headers.get("Authorization") or "").partition(" ")
            return scheme.lower() == _SCHEME.lower() and is_secret(sent.strip(), token)

        def refused_host(self) -> None:
            # A scraper shows the status alone, so the log has the name. Any reader can send names:
            # each is logged once, and only so many of them.
            name = str(self.headers.get("Host"))[:_SHOWN]
            if name not in refused and len(refused) < _MOST_NAMES:
                refused.add(name)
                _LOGGER.warning("a request for host %r was refused; %s", name, _ADVICE)
            self.say(HTTPStatus.MISDIRECTED_REQUEST, words=f"the host is not known here; {_ADVICE}")

    return Handler
