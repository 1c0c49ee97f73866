"""Hosts that are network namespaces: each with an address, and a cable to one bridge.

The bridge is in a namespace, too, so that no interface, route or rule of the machine changes, and
nothing of a host reaches anything but the other hosts.
"""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import attrs

from tests.support.environments import NotHere

_SUBNET: Final = "10.213.77"
_FIRST: Final = 10
_SWITCH: Final = "switch"
_ENDS_WITHIN: Final = 20.0


@attrs.frozen
class Network:
    """Hosts by name."""

    prefix: str
    addresses: Mapping[str, str]

    def namespace(self, host: str) -> str:
        return f"{self.prefix}-{host}"

    def inside(self, host: str, command: Sequence[str | Path]) -> list[str]:
        """A command as it runs on a host."""
        return ["ip", "netns", "exec", self.namespace(host), *map(str, command)]

    def processes(self, host: str) -> list[int]:
        """The ids of all that run on a host."""
        return [int(line) for line in _ip("netns", "pids", self.namespace(host)).split()]

    def signal_host(self, host: str, number: signal.Signals) -> None:
        """Send a signal to all that run on a host, as the machine does that loses power."""
        for process in self.processes(host):
            with suppress(ProcessLookupError):
                os.kill(process, number)

    def cut(self, host: str) -> None:
        """Take a host's cable out."""
        self._cable(host, "down")

    def mend(self, host: str) -> None:
        """Put a host's cable in again."""
        self._cable(host, "up")

    def _cable(self, host: str, state: str) -> None:
        _ip("-n", self.namespace(_SWITCH), "link", "set", _port(self.addresses, host), state)


@contextmanager
def network(hosts: Sequence[str]) -> Iterator[Network]:
    """Hosts that are there until the end of the block; what runs on them then is killed."""
    if shutil.which("ip") is None:
        raise NotHere("the program ip is not installed: apt-get install iproute2")
    if os.geteuid() != 0:
        raise NotHere("network namespaces need root")
    addresses = {host: f"{_SUBNET}.{_FIRST + number}" for number, host in enumerate(hosts)}
    built = Network(f"beamlike-{os.getpid()}", addresses)
    namespaces: list[str] = []
    try:
        for host in (_SWITCH, *hosts):
            _added(built.namespace(host))
            namespaces.append(built.namespace(host))
        _wire(built)
        yield built
    finally:
        try:
            for host in hosts[: max(0, len(namespaces) - 1)]:
                _end(built, host)
        finally:
            for namespace in namespaces:
                _ip("netns", "del", namespace)


def _added(namespace: str) -> None:
    try:
        _ip("netns", "add", namespace)
    except subprocess.CalledProcessError as failure:
        raise NotHere(f"network namespaces are not allowed: {failure.stderr.strip()}") from None


def _wire(built: Network) -> None:
    switch = built.namespace(_SWITCH)
    _ip("-n", switch, "link", "add", "bridge", "type", "bridge")
    _ip("-n", switch, "link", "set", "bridge", "up")
    for host, address in built.addresses.items():
        namespace, port = built.namespace(host), _port(built.addresses, host)
        cable = ("type", "veth", "peer", "name", "eth0", "netns", namespace)
        _ip("link", "add", port, "netns", switch, *cable)
        _ip("-n", switch, "link", "set", port, "master", "bridge", "up")
        _ip("-n", namespace, "addr", "add", f"{address}/24", "dev", "eth0")
        for interface in ("lo", "eth0"):
            _ip("-n", namespace, "link", "set", interface, "up")


def _port(addresses: Mapping[str, str], host: str) -> str:
    return f"port{list(addresses).index(host)}"


def _end(built: Network, host: str) -> None:
    """Kill all that runs on a host, and what it starts meanwhile."""
    until = time.monotonic() + _ENDS_WITHIN
    while built.processes(host):
        built.signal_host(host, signal.SIGKILL)
        for process in built.processes(host):
            with suppress(ChildProcessError):
                os.waitpid(process, os.WNOHANG)
        time.sleep(0.1)
        assert time.monotonic() < until, f"processes outlive {host}: {built.processes(host)}"


def _ip(*arguments: str) -> str:
    return subprocess.run(["ip", *arguments], capture_output=True, text=True, check=True).stdout
