"""The trials on a cluster: what is kept of them, and what of them needs no cluster."""

from pathlib import Path

import pyarrow as pa
import pytest

import beamlike as bl
from tests.cluster import __main__ as command
from tests.cluster import events, network
from tests.cluster.__main__ import LATEST
from tests.cluster.job import COLUMNS, hours
from tests.cluster.network import Network
from tests.cluster.trials import TRIALS
from tests.support.environments import NotHere


def test_each_trial_has_held() -> None:
    rows = [line.split(" | ") for line in LATEST.rows().values()]
    kept = {row[0].strip("| "): row[2] for row in rows}
    assert list(kept.items()) == [(name, "holds") for name in TRIALS]


def test_the_job_gives_what_the_plain_computation_does() -> None:
    lines = events.lines_of(7, 600)
    assert COLUMNS == events.COLUMNS

    rows = hours(pa.Table.from_pylist(lines), bl).rows.to_pylist()

    came = sorted(
        (
            row["country"],
            f"{row['window']['start']:%Y-%m-%d %H:%M:%S}",
            *(row[name] for name in ("visits", "hits", "longest")),
        )
        for row in rows
        if row["country"]  # not the lines that only end windows
    )
    assert came == events.expected(lines)
    assert sum(hits for *_, hits, _ in came) == 600


def test_lines_are_out_of_order_by_less_than_the_watermark_waits() -> None:
    times = [line["at"] for line in events.lines_of(7, 600)]

    assert times != sorted(times)
    newest = ""
    for time in times:
        newest = max(newest, time)
        assert events.seconds_of(newest) - events.seconds_of(time) < 300


def test_a_host_is_left_out_where_namespaces_are_not_allowed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(network.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(network.shutil, "which", lambda name: f"/sbin/{name}")
    with pytest.raises(NotHere, match="network namespaces need root"), network.network(["a"]):
        pass
    monkeypatch.setattr(network.shutil, "which", lambda name: None)
    with pytest.raises(NotHere, match="apt-get install iproute2"), network.network(["a"]):
        pass

    def refuse(name: str, cache: str | None, keep: Path | None) -> bool:
        raise NotHere("network namespaces need root")

    monkeypatch.setattr(command, "_run", refuse)
    assert command.main(["--only", next(iter(TRIALS))]) == 0
    assert capsys.readouterr().out == "the cluster is left out: network namespaces need root\n"


def test_a_command_runs_on_its_host() -> None:
    hosts = Network("beamlike-7", {"worker1": "10.213.77.10"})
    assert hosts.inside("worker1", ["spark-class", Path("/a")]) == [
        *("ip", "netns", "exec", "beamlike-7-worker1", "spark-class", "/a")
    ]


def _may_have_namespaces() -> bool:
    try:
        with network.network(["alone"]):
            return True
    except NotHere:
        return False


def test_hosts_reach_each_other_until_a_cable_is_cut_and_leave_nothing() -> None:
    if not _may_have_namespaces():
        pytest.skip("network namespaces are not allowed here")
    serve = (
        "import socket; s = socket.create_server(('0.0.0.0', 7000)); print('up', flush=True)\n"
        "while True: s.accept()[0].sendall(b'hello')"
    )
    with network.network(["left", "right"]) as hosts:
        server = network.subprocess.Popen(
            hosts.inside("left", ["python3", "-c", serve]), stdout=network.subprocess.PIPE
        )
        assert server.stdout is not None
        assert server.stdout.readline() == b"up\n"
        assert server.pid in hosts.processes("left")
        address = hosts.addresses["left"]
        ask = f"import socket; print(socket.create_connection(('{address}', 7000), 2).recv(9))"

        def answer() -> str:
            command = hosts.inside("right", ["python3", "-c", ask])
            ran = network.subprocess.run(command, capture_output=True, text=True, check=False)
            return str(ran.stdout.strip() or ran.stderr.splitlines()[-1])

        assert answer() == "b'hello'"
        hosts.cut("left")
        assert answer() == "TimeoutError: timed out"
        hosts.mend("left")
        assert answer() == "b'hello'"
        namespaces = [hosts.namespace(host) for host in ("left", "right")]
    server.wait(10)  # Its status is lost if the network has asked before.
    assert not Path(f"/proc/{server.pid}").exists()
    assert not [name for name in namespaces if Path("/run/netns", name).exists()]
