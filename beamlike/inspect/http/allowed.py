"""Which names in the ``Host`` header of a request a server answers to.

A web page can have its own name resolve to an address that only its reader can reach, and then read
the answers as if they were its own (DNS rebinding). A browser sends that name as ``Host``, so the
header is compared with the names that are known here. An address needs no list: a page cannot have
``10.0.0.5`` resolve to anything else.
"""

import re
import socket
from collections.abc import Iterable
from email.message import Message
from ipaddress import ip_address
from typing import Final

from beamlike.errors import EnvironmentProblem

_LOOPBACK: Final = "localhost"
_ANY_SUBDOMAIN: Final = "*."
_LABEL: Final = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME: Final = re.compile(rf"(?:\*\.)?{_LABEL}(?:\.{_LABEL})*\.?", re.IGNORECASE)
_WITH_PORT: Final = re.compile(r"(?P<host>\[[^\[\]]*\]|[^\[\]:]*)(?::\d{1,5})?")


class AllowedHosts:
    """The names that a server on ``host`` accepts: ``localhost``, every IP address, its own, and
    those that are given.

    On an address that other machines can reach its own are those of this machine, short and in
    full.

    Args:
        host: What it listens on.
        allowed_hosts: Host names, without scheme, port and path. ``*.example.com`` stands for all
            names below ``example.com``.

    Raises:
        EnvironmentProblem: ``allowed_hosts`` are no host names.
    """

    def __init__(self, host: str, allowed_hosts: Iterable[str] = ()) -> None:
        plain = {_LOOPBACK, *map(_plain, (*_checked(allowed_hosts), *_own_names(host)))}
        self._names = frozenset(name for name in plain if not name.startswith(_ANY_SUBDOMAIN))
        self._domains = tuple(name[1:] for name in plain if name.startswith(_ANY_SUBDOMAIN))

    def permit(self, headers: Message) -> bool:
        """Whether a request with these headers names this server, and names one host only."""
        hosts = headers.get_all("Host") or []
        return len(hosts) == 1 and self._knows(hosts[0].strip())

    def _knows(self, host: str) -> bool:
        split = _WITH_PORT.fullmatch(host)
        if split is None:
            return False
        name = _plain(split["host"])
        return _is_address(name) or name in self._names or name.endswith(self._domains)


def _plain(name: str) -> str:
    """A name as names are compared: in lower case, without the dot of the root."""
    return name.lower().removesuffix(".")


def _is_address(host: str) -> bool:
    bracketed = host.startswith("[")
    try:
        return (ip_address(host.strip("[]")).version == 6) == bracketed
    except ValueError:
        return False


def _own_names(host: str) -> set[str]:
    try:
        is_local = ip_address(host).is_loopback
    except ValueError:
        return set() if _plain(host) == _LOOPBACK else {host, socket.gethostname()}
    return set() if is_local else {socket.gethostname(), socket.getfqdn(host)}


def _checked(names: Iterable[str]) -> tuple[str, ...]:
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise EnvironmentProblem(
            f"allowed_hosts={names!r} is no list of host names; give one such as "
            '["metrics.example.com"]'
        )
    checked = tuple(names)
    for name in checked:
        if not isinstance(name, str) or _NAME.fullmatch(name) is None:
            raise EnvironmentProblem(
                f"allowed_hosts: {name!r} is no host name; give names without scheme, port and "
                'path, such as "metrics.example.com", or "*.example.com" for all names below it. '
                "IP addresses are always allowed"
            )
    return checked
