"""Programs that listen on a port of the loopback, for as long as a test needs them."""

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager


class DoesNotListen(Exception):
    """A program has ended, or does not listen in time."""


def free_port() -> int:
    """A port of the loopback that is free."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def listening(process: "subprocess.Popen[bytes]", port: int, seconds: float) -> Iterator[None]:
    """A block in which a program listens; at its end the program is stopped."""
    try:
        _wait_for(process, port, seconds)
        yield
    finally:
        process.terminate()
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_for(process: "subprocess.Popen[bytes]", port: int, seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if process.poll() is not None:
            raise DoesNotListen(f"it ended with {process.returncode}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.5)
    raise DoesNotListen(f"it did not listen within {seconds:.0f} seconds")
