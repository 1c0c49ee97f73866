"""What listens on a port of this machine: the port checked, a thread of its own, and an end."""

import re
import socketserver
import threading
from collections.abc import Callable
from email.message import Message
from typing import Final, Generic, TypeVar

from beamlike.errors import EnvironmentProblem
from beamlike.model.words import visible

__all__ = ["GONE", "HERE", "PATIENCE", "Listening", "is_asked_as_this_machine"]

HERE: Final = "127.0.0.1"
"""The address that this machine alone can reach."""

PATIENCE: Final = 10
"""Seconds until a connection that says nothing is closed."""

GONE: Final = (ConnectionError, TimeoutError)
"""What is raised once a reader has left."""

_LAST_PORT: Final = 65_535
_OWN_NAMES: Final = re.compile(r"(?:127\.0\.0\.1|localhost)(?::\d{1,5})?", re.IGNORECASE)

Server = TypeVar("Server", bound=socketserver.TCPServer)


def is_asked_as_this_machine(headers: Message) -> bool:
    """Whether the one ``Host`` header names this machine, and not a name that points to it.

    A web page that has its own name point to 127.0.0.1 so learns nothing.
    """
    hosts = headers.get_all("Host") or []
    return len(hosts) == 1 and _OWN_NAMES.fullmatch(hosts[0].strip()) is not None


class Listening(Generic[Server]):
    """A server that answers from when this is made until `close`.

    Args:
        make: Binds the server to an address.
        port: 0 for one that is free.
        host: The address.
        name: What its thread is called.

    Raises:
        EnvironmentProblem: The port is taken, or none; or the address is none.
    """

    def __init__(
        self, make: Callable[[tuple[str, int]], Server], port: int, host: str, name: str
    ) -> None:
        if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= _LAST_PORT:
            raise EnvironmentProblem(
                f"port={port!r} must be a whole number from 0 to {_LAST_PORT}; 0 takes one that "
                "is free"
            )
        if not isinstance(host, str) or not host.strip():
            # Of an empty name Python would make every address that this machine has.
            raise EnvironmentProblem(
                f"host={host!r} is no address; leave it out for this machine alone, or give "
                '"0.0.0.0" for everybody who can reach it'
            )
        try:
            self._server = make((host, port))
        except (OSError, TypeError, UnicodeError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise EnvironmentProblem(
                f"port={port} of {visible(host)} cannot be had ({why}); pass another, or 0 for "
                "one that is free"
            ) from error
        self.address: tuple[str, int] = self._server.socket.getsockname()
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.1,), name=name, daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Let go of the port, and of whatever else the server holds."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
