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
from beamlike.inspect.http.answering import Answering, is_secret
from beamlike.inspect.http.serving import HERE, Listening

_PATH: Final = "/metrics"
_MOST_NAMES: Final = 10
_SHOWN: Final = 80
_SCHEME: Final = "Bearer"
_TOKEN: Final = re.compile(r"[A-Za-z0-9._~+/-]+=*")  # what RFC 6750 takes
_NO_TOKEN: Final = "send the token of metrics_listener as Authorization: Bearer TOKEN"
_ADVICE: Final = "pass it in allowed_hosts= of metrics_listener if it is a name of this server"


class MetricsServer(Listening):
    """Serves the metrics as text, which a function returns; see `Listening`.

    Args:
        token: What ``Authorization: Bearer`` of a request has to say; None for nothing.
    """

    logger, name = logging.getLogger("beamlike.metrics"), "metrics server"

    def __init__(
        self,
        text: Callable[[], str],
        port: int,
        host: str = HERE,
        allowed_hosts: Iterable[str] = (),
        token: str | None = None,
    ) -> None:
        if token is not None and not (isinstance(token, str) and _TOKEN.fullmatch(token)):
            # The value is a secret, also where it is wrong.
            raise EnvironmentProblem(
                "token= of metrics_listener must be letters, digits and any of -._~+/ that a "
                "header can hold, such as secrets.token_urlsafe(); read it from a file or the "
                "environment"
            )
        self._text, self._token = text, token
        self._refused: set[str] = set()
        super().__init__(port, host, allowed_hosts)
        self.url = self.url.removesuffix("/") + _PATH

    def get(self, request: Answering, path: str) -> None:
        from prometheus_client.openmetrics.exposition import CONTENT_TYPE_LATEST

        if not self._may_read(request):
            request.say(HTTPStatus.UNAUTHORIZED, {"WWW-Authenticate": _SCHEME}, detail=_NO_TOKEN)
        elif path == _PATH:
            request.answer(HTTPStatus.OK, CONTENT_TYPE_LATEST, self._text().encode())
        else:
            request.say(HTTPStatus.NOT_FOUND)

    def _may_read(self, request: Answering) -> bool:
        if self._token is None:
            return True
        scheme, _, sent = (request.headers.get("Authorization") or "").partition(" ")
        return scheme.lower() == _SCHEME.lower() and is_secret(sent.strip(), self._token)

    def refused_host(self, request: Answering) -> None:
        # A scraper shows the status alone, so the log has the name. Any reader can send names:
        # each is logged once, and only so many of them.
        name = str(request.headers.get("Host"))[:_SHOWN]
        if name not in self._refused and len(self._refused) < _MOST_NAMES:
            self._refused.add(name)
            self.logger.warning("a request for host %r was refused; %s", name, _ADVICE)
        request.say(HTTPStatus.MISDIRECTED_REQUEST, detail=f"the host is not known here; {_ADVICE}")
