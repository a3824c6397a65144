# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Whatever happens to triadd: what OpenSM's process has of it, what is said of it, and that all
is well after its end."""

import contextlib
import http.client
import os
import re
import resource
import socket
import subprocess

import pytest

from checks import mentions, wait_until
from labs import BUILDDIR
from smalldisk import small_disk
from tablelib import sweep
from triadlab.tcp_ports import free_address
from triadlib import QUICK, health_findings, ports, status, triad_lab, wait_for_sweep
from weblib import get

pytestmark = pytest.mark.row("N15")

PARTITIONS = """\
Default=0x7fff : SELF=limited, ALL=full;
Compute=0x0001 : SELF=full, ALL_CAS=full;
"""
N_ROUNDS = 20
N_CONNECTIONS = 10000
N_ADDRESSES = 100
REQUESTS = {"opened": b"", "half": b"GET /metrics HTTP/1.1\r\nHost: lo",
            "slow": b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"}


def conf(page, metrics, more=""):
    return f"{QUICK}[web]\nlisten = {page}\n[prometheus]\nlisten = {metrics}\n{more}"


def opensm_of(lab):
    return lab.status()["sms"][0]["pid"]


def n_of(pid, what):
    """Of "fd" or "task"."""
    return len(os.listdir(f"/proc/{pid}/{what}"))


def code(address, path="/metrics"):
    """The status of HTTP; None: there was no answer."""
    with contextlib.suppress(OSError, http.client.HTTPException):
        return get(address, path).status
    return None


def line_of(lab, name):
    """What 'health' says in the line of a part, which goes on in others."""
    found = re.search(rf"^{name} +(.*(?:\n {{10}}.*)*)", lab.triad("health").stdout, re.M)[1]
    return " ".join(found.split())


def triadd_log(lab):
    with open(lab.state().triadds[0].log, encoding="utf-8") as log:
        return log.read()


# --- killed and started again --------------------------------------------------------

@pytest.mark.threads
def test_one_that_is_killed_again_and_again_leaves_nothing_in_opensm(scratch):
    page, metrics = free_address(), free_address()
    # Nothing is told of changes meanwhile, which would show that nobody listens.
    with triad_lab(conf(page, metrics, "[alerts]\nwebhook = http://127.0.0.1:9/\n").replace(
            "sweep_period = 1", "sweep_period = 60")) as lab:
        wait_for_sweep(lab)
        opensm = opensm_of(lab)
        wait_until(lambda: code(metrics) == 200, 20, "metrics")
        before = n_of(opensm, "fd"), n_of(opensm, "task")
        for _ in range(N_ROUNDS):
            lab.kill_triadd()
            lab.start_triadd()
            wait_until(lambda: code(metrics) == 200, 20, "metrics again")
        assert status(lab)["triadd"]["refused"] == 0, "for those that were killed"
        wait_until(lambda: (n_of(opensm, "fd"), n_of(opensm, "task")) <= before, 20,
                   f"no more descriptors and threads than before: {before}")


def test_sweeps_while_it_does_not_run_are_counted(scratch):
    folder = scratch.folder()
    more = f"[profile]\nfile = {folder}/profile.csv.zst\n[history]\ndir = {folder}/images\n"
    with triad_lab(QUICK + more, images=True) as lab:
        def written():
            found = status(lab)
            return found["profile"]["frames"] > 1 and found["images"]["written"] > 3 and found
        before = wait_until(written, 30, "sweeps written")
        assert before["profile"]["skipped"] == before["images"]["dropped"] == 0, before
        lab.kill_triadd()
        n = status(lab)["perfmgr"]["sweeps"]
        wait_until(lambda: status(lab)["perfmgr"]["sweeps"] > n + 4, 30, "sweeps")
        lab.start_triadd()

        def counted():
            found = status(lab)
            return found["profile"]["skipped"] >= 4 and found["images"]["dropped"] >= 4
        wait_until(counted, 20, lambda: f"sweeps left out: {status(lab)}")


def test_one_that_has_gone_is_missed_before_one_that_hangs(scratch):
    with triad_lab(conf(free_address(), free_address())) as lab:
        wait_for_sweep(lab)
        assert mentions(line_of(lab, "Exports"), "page on"), "health"
        lab.kill_triadd()
        found = wait_until(lambda: health_findings(lab, "triadd heard"), 20, "a finding")
        assert int(re.search(r"for (\d+) s", found[0]["what"])[1]) < 15, found
        assert mentions(line_of(lab, "Exports"), "Prometheus not known page not known"), "line"
        # Of an OpenSM that never heard of one.
        lab.host("kill", 0)
        lab.host("start", 0)
        wait_for_sweep(lab)
        assert mentions(line_of(lab, "Exports"), "Prometheus not known page not known"), "line"
        web = status(lab)["web"]
        assert [web[it] for it in ("protocol", "token", "client_certificate")] == [None] * 3
        section = lab.triad("status", "--all").stdout.partition("Page and REST")[2]
        assert not re.search(r" 0$", section.partition("Profile")[0], re.M), section
        lab.start_triadd()
        wait_until(lambda: status(lab)["web"]["token"] == "not asked for", 20, "a report")
        assert not health_findings(lab, "triadd heard"), "the end"


# --- disks ---------------------------------------------------------------------------

@pytest.mark.row("N10")
def test_full_disk_of_what_it_writes(scratch):
    disk = small_disk(scratch, 2048)
    more = f"[profile]\nfile = {disk.folder}/profile.csv.zst\n" \
        f"[history]\ndir = {disk.folder}/images\n"
    with triad_lab(QUICK + more, images=True) as lab:
        wait_until(lambda: status(lab)["profile"]["state"] == "written", 30, "a profile")
        disk.fill()
        for at in ("profile", "history.dir"):
            wait_until(lambda at=at: [it for it in health_findings(lab, "No space left")
                                      if it["at"] == at], 30, f"a finding of {at}")
        assert status(lab)["profile"]["state"] == "not written", "status"
        assert mentions(line_of(lab, "Exports"), "profile file not written"), "health"
        lab.kill_triadd()
        lab.start_triadd()
        disk.make_room()
        wait_until(lambda: not health_findings(lab, "No space left"), 30, "its end")
        wait_until(lambda: status(lab)["profile"]["state"] == "written", 20, "a profile again")
        n = status(lab)["images"]["written"]
        wait_until(lambda: status(lab)["images"]["written"] > n, 20, "images again")


def test_no_room_for_answers_is_said(scratch):
    """/var/tmp and /tmp are full where triadd runs."""
    page, metrics = free_address(), free_address()
    with triad_lab(conf(page, metrics)) as lab:
        wait_for_sweep(lab)
        it = lab.state().triadds[0]
        lab.kill_triadd()
        # The lab's folder may be below /tmp, and stays where it is.
        script = "mount --bind $0 /mnt && " \
            "for d in /var/tmp /tmp; do mount -t tmpfs -o size=512k none $d; done; " \
            "mkdir -p $0 && mount --bind /mnt $0; " \
            "for d in /var/tmp /tmp; do head -c 524288 /dev/zero > $d/full; done; exec \"$@\""
        with open(it.log, "a", encoding="utf-8") as log:
            process = subprocess.Popen(
                ["unshare", "-m", "sh", "-c", script, lab.folder, BUILDDIR / "triadd",
                 "--socket", it.socket], stderr=log)
        try:
            for address, path, at in ((metrics, "/metrics", "prometheus"),
                                      (page, "/api/v1/health", "web")):
                wait_until(lambda: code(address, path) == 503, 20, f"no answer at {path}")
                wait_until(lambda: [it for it in health_findings(lab, "room /var/tmp space")
                                    if it["at"] == at], 20, f"a finding of {at}")
            wait_until(lambda: "/var/tmp" in triadd_log(lab), 10, "a line in its log")
            subprocess.run(["nsenter", "-m", "-t", str(process.pid), "rm", "/var/tmp/full"],
                           check=True)
            for address, path in ((metrics, "/metrics"), (page, "/api/v1/health")):
                wait_until(lambda: code(address, path) == 200, 20, f"an answer at {path}")
            wait_until(lambda: not health_findings(lab, "room"), 20, "its end")
        finally:
            process.terminate()
            process.wait(20)
            lab.start_triadd()


# --- clients -------------------------------------------------------------------------

def open_connections(stack, address, octets, n):
    """From many addresses; each sends so much, and reads nothing."""
    host, _, port = address.rpartition(":")
    for i in range(n):
        connection = stack.enter_context(socket.socket())
        connection.setblocking(False)
        connection.bind((f"127.0.0.{1 + i % N_ADDRESSES}", 0))
        with contextlib.suppress(OSError):
            connection.connect((host, int(port)))
        with contextlib.suppress(OSError):
            connection.send(octets)


def pkeys(lab):
    """Those of a host."""
    lid = next(row["lid"] for row in ports(lab).values() if row["node_name"] == "Hca2")
    return lab.run("smpquery", "pkeys", str(lid), "1").stdout


@contextlib.contextmanager
def many_descriptors():
    """Of this process."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limits[1] < N_CONNECTIONS + 200:
        pytest.skip(f"of {limits[1]} descriptors there are too few for the clients")
    resource.setrlimit(resource.RLIMIT_NOFILE, (N_CONNECTIONS + 200, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.mark.row("N11")
def test_clients_leave_opensm_the_descriptors_of_its_files(scratch):
    """Many more clients than opensm may have descriptors, and OpenSM that reads its partitions
    meanwhile, while triadd is killed, too."""
    partitions = scratch.folder() / "partitions.conf"
    partitions.write_text(PARTITIONS)
    page, metrics = free_address(), free_address()
    with many_descriptors(), triad_lab(
            conf(page, metrics), sms=("Hca1",),
            opensm_conf=f"qos TRUE\npartition_config_file {partitions}\n") as lab:
        wait_for_sweep(lab)
        opensm, before = opensm_of(lab), pkeys(lab)
        assert "0x8001" in before, "a partition of the file"
        n_open = n_of(opensm, "fd")
        resource.prlimit(opensm, resource.RLIMIT_NOFILE, (256, 256))
        for what, octets in REQUESTS.items():
            with contextlib.ExitStack() as clients:
                n_refused = status(lab)["prometheus"]["too_many"]
                for address in (page, metrics):
                    open_connections(clients, address, octets, N_CONNECTIONS // 2)
                wait_until(lambda n=n_refused: status(lab)["prometheus"]["too_many"] > n, 20,
                           f"{what}: some are refused")
                # triadd has them; opensm has triadctl's and triadd's.
                assert n_of(opensm, "fd") < n_open + 20, what
                n = status(lab)["perfmgr"]["sweeps"]
                sweep(lab)
                assert pkeys(lab) == before, f"{what}: partitions"
                lab.kill_triadd()
                lab.start_triadd()
                wait_until(lambda n=n: status(lab)["perfmgr"]["sweeps"] > n, 20, "sweeps")
            for address, path in ((metrics, "/metrics"), (page, "/api/v1/health")):
                wait_until(lambda: code(address, path) == 200, 30, f"{what}: {path} again")
            assert not health_findings(lab, "descriptors"), what
        wait_until(lambda: n_of(opensm, "fd") <= n_open + 1, 20, "no more than before")
