#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Agents and their manager when something is wrong: servers of a cluster of brokers
die, the cluster is parted, TLS or passwords don't fit, somebody says nonsense, disks
are full, managers come and go."""

import contextlib
import json
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import threading
import urllib.request
from pathlib import Path

import taplib
from agentlib import (Broker, Member, agents, conf, fat_tree, free_port, owners,
                      triadctl, wait_until_settled)
from taplib import Lab, Skip, lab_command, wait_until
from triadlab import process
from triadlib import ask, ask_json, status, triad_lines

HOSTS = 6
SM, OTHER_SM = "host-0001", "host-0004"
NEAR, FAR = 2, 5
ERROR = "SymbolErrorCounter"
PASSWORD = "tiger-lily-77"


def lab_of(t, broker, sms=(SM,), opensm_conf="", role="master", **collect):
    net = fat_tree(t, HOSTS, "--radix", "6")
    text = conf(broker, "manager", **collect)
    return Lab(net, sms=sms, opensm_conf=opensm_conf,
               triad_conf=text.replace("[perfmgr]\n", f"[perfmgr]\nrole = {role}\n"))


def start(t, lab, broker, number, extra="", **collect):
    return Member(t, lab, f"host-{number:04d}",
                  conf(broker, "agent", extra, name=f"a{number}", **collect))


def set_errors(lab, value, number=FAR):
    lab.sim(f'PerformanceSet "host-{number:04d}"[1] PortCounters.{ERROR}={value}')


def errors_at(lab, number=FAR, sm=None):
    """The manager's total; None while it has none."""
    process = lab.run("triadctl", "perf", "show", "--json", sm=sm)
    for row in json.loads(process.stdout) if process.returncode == 0 else ():
        if row["node_name"].startswith(f"host-{number:04d}"):
            return row["counters"].get(ERROR)
    return None


def wait_for_errors(lab, value, number=FAR, sm=None):
    wait_until(lambda: errors_at(lab, number, sm) == value, 40,
               f"{value} errors at host {number}")


def broker_of(lab):
    """The port of the broker that the manager is connected to, or None."""
    server = status(lab)["collect"]["broker"]
    return server and int(server.rsplit(":", 1)[1])


# --- brokers that die, and that are parted -----------------------------------------

class ClusterBroker(Broker):
    """One of several nats-servers; 'routes' are ports of others."""

    def __init__(self, t, cluster_port, routes, *options):
        self.monitor_port = free_port()
        super().__init__(
            t, "-m", self.monitor_port, "--cluster_name", "test", "--cluster",
            f"nats://127.0.0.1:{cluster_port}", "--routes",
            ",".join(f"nats://127.0.0.1:{port}" for port in routes), *options)

    def n_routes(self):
        with urllib.request.urlopen(
                f"http://127.0.0.1:{self.monitor_port}/routez", timeout=10) as answer:
            return len({route["remote_id"] for route in json.load(answer)["routes"]})

    def wait_for_routes(self, n):
        wait_until(lambda: self.n_routes() == n, 30, f"{n} routes of a broker")


def test_cluster_of_brokers_two_of_three_killed_totals_go_on(t):
    cluster_ports = [free_port() for _ in range(3)]
    brokers = [ClusterBroker(t, port, set(cluster_ports) - {port})
               for port in cluster_ports]
    for broker in brokers:
        broker.wait_for_routes(2)
    every = "; ".join(broker.url for broker in brokers)
    with lab_of(t, brokers[0], servers=every) as lab:
        # Each knows one, and hears of the others from it.
        start(t, lab, brokers[1], NEAR)
        start(t, lab, brokers[2], FAR)
        wait_until_settled(lab, 2)
        set_errors(lab, 3)
        wait_for_errors(lab, 3)
        left = {broker.port: broker for broker in brokers}
        for errors in (5, 8):
            port = wait_until(lambda: broker_of(lab), 20, "the manager's broker")
            left.pop(port).process.kill()
            wait_until(lambda: broker_of(lab) in left, 30, "another broker")
            wait_until_settled(lab, 2)
            set_errors(lab, errors)
            wait_for_errors(lab, errors)
        t.equal(status(lab)["perfmgr"]["ports_unanswered"], 0, "unanswered")


class Wire:
    """Carries TCP connections to a port, until it is cut."""

    def __init__(self, t, to_port):
        self._to_port = to_port
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self._lock = threading.Lock()
        self._is_cut = False
        self._ends = []
        threading.Thread(target=self._accept, daemon=True).start()
        t.cleanup(self._server.close)
        t.cleanup(self.cut)

    def _accept(self):
        while True:
            try:
                one, _ = self._server.accept()
                other = socket.create_connection(("127.0.0.1", self._to_port), 10)
                other.settimeout(None)
            except OSError:
                return
            with self._lock:
                self._ends += [one, other]
                if self._is_cut:
                    self._close()
            for ends in ((one, other), (other, one)):
                threading.Thread(target=self._carry, args=ends, daemon=True).start()

    @staticmethod
    def _carry(source, sink):
        with contextlib.suppress(OSError):
            while octets := source.recv(65536):
                sink.sendall(octets)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_RDWR)

    def _close(self):
        for end in self._ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        self._ends = []

    def cut(self):
        with self._lock:
            self._is_cut = True
            self._close()

    def heal(self):
        with self._lock:
            self._is_cut = False


def test_cluster_of_brokers_parted_each_side_reads_all_and_heals(t):
    ports = [free_port(), free_port()]
    wire = Wire(t, ports[0])
    alone = ("--no_advertise=true",)
    here = ClusterBroker(t, ports[0], (), *alone)
    there = ClusterBroker(t, ports[1], (wire.port,), *alone)
    here.wait_for_routes(1)
    with lab_of(t, here) as lab:
        near, far = start(t, lab, here, NEAR), start(t, lab, there, FAR)
        n_nodes = wait_until_settled(lab, 2)["nodes"]
        set_errors(lab, 3)
        wait_for_errors(lab, 3)
        wire.cut()
        wait_until_settled(lab, 1)
        wait_until(lambda: far.section("collect")["owned"] == n_nodes, 30,
                   "the far side to read all")
        wait_until(lambda: near.section("collect")["owned"] == n_nodes, 20,
                   "the near side to read all")
        t.equal(far.section("collect")["managers"], 0, "managers on the far side")
        # Both sides see somebody reset it.
        set_errors(lab, 1)
        wait_for_errors(lab, 4)
        wire.heal()
        wait_until_settled(lab, 2)
        wait_until(lambda: near.section("collect")["owned"] +
                   far.section("collect")["owned"] == n_nodes, 20, "one owner each")
        set_errors(lab, 6)
        wait_for_errors(lab, 9)


# --- TLS and passwords -------------------------------------------------------------

def certificate(t, name):
    """Paths of a certificate and its key."""
    if not shutil.which("certtool"):
        raise Skip("certtool is not installed")
    folder = t.folder()
    (folder / "template").write_text(
        f'cn = "{name}"\ndns_name = "{name}"\nip_address = "127.0.0.1"\n'
        "expiration_days = 2\nca\nsigning_key\ntls_www_server\n")
    for command in (["--generate-privkey", "--key-type", "ecdsa", "--outfile", "key"],
                    ["--generate-self-signed", "--load-privkey", "key", "--template",
                     "template", "--outfile", "certificate"]):
        t.succeeded(subprocess.run(["certtool", *command], cwd=folder, text=True,
                                   capture_output=True, check=False))
    return folder / "certificate", folder / "key"


def reload(member, text):
    """A new configuration, taken up."""
    member.write(text)
    taplib.Test.succeeded(member.run("reload"))


def wait_for_reason(member, *words):
    """Until 'status' says in these words why there is no connection."""
    reason = ""

    def is_said():
        nonlocal reason
        reason = member.section("collect").get("not_connected") or ""
        return all(word in reason for word in words)
    try:
        wait_until(is_said, 20)
    except AssertionError:
        raise AssertionError(f"the reason is {reason!r}, without {words}") from None
    taplib.Test.note(reason)


def wait_until_connected(member):
    wait_until(lambda: member.section("collect").get("broker"), 20, "the connection")


def n_complaints(member):
    """Lines of the log that say that there is no connection."""
    return member.log().count("no connection to the broker")


def test_tls_right_authority_connects_and_others_are_told(t):
    path, key = certificate(t, "localhost")
    wrong, _ = certificate(t, "localhost")
    broker = Broker(t, "--tls", "--tlscert", path, "--tlskey", key)
    missing = t.folder() / "authority"

    def text(**collect):
        return conf(broker, "agent", name="a2",
                    **{"servers": f"tls://localhost:{broker.port}", **collect})
    with Lab(fat_tree(t, HOSTS, "--radix", "6"), sms=[SM], plugin="no") as lab:
        member = Member(t, lab, f"host-{NEAR:04d}", text(tls_ca=path))
        wait_until_connected(member)
        t.equal(n_complaints(member), 0, "complaints")
        reload(member, text(tls_ca=wrong))
        wait_for_reason(member, "self-signed certificate")
        # Tried again, but not said again.
        attempts = broker.log.read_text().count("TLS handshake error")
        wait_until(lambda: broker.log.read_text().count("TLS handshake error") >
                   attempts + 1, 20, "more attempts")
        t.equal(n_complaints(member), 1, "complaints")
        reload(member, text(tls_ca=missing))
        wait_for_reason(member, "Error loading", str(missing))
        t.equal(n_complaints(member), 2, "complaints")
        # The file comes; the configuration is what it was.
        shutil.copy(path, missing)
        wait_until_connected(member)


def test_password_wrong_and_right_is_never_shown(t):
    broker = Broker(t, "--user", "triad", "--pass", PASSWORD)

    def url(password):
        return f"nats://triad:{password}@127.0.0.1:{broker.port}"

    def text(password, **collect):
        return conf(broker, "agent", servers=url(password), name="a2", **collect)

    def refused():
        return broker.log.read_text().count("authentication error")
    with Lab(fat_tree(t, HOSTS, "--radix", "6"), sms=[SM], plugin="no") as lab:
        member = Member(t, lab, f"host-{NEAR:04d}", text("wrong-" + PASSWORD))

        def check(*said):
            words = [member.log(), *said]
            for command in (["status"], ["status", "--json"], ["agents"]):
                words.append(member.run(*command).stdout)
            found = [text for text in words if PASSWORD in text]
            t.equal(found, [], "texts with the password")
        wait_for_reason(member, "Authorization Violation")
        # It goes on trying: it may be the broker's password that is mended.
        before = refused()
        wait_until(lambda: refused() > before + 2, 20, "more attempts")
        t.equal(n_complaints(member), 1, "complaints")
        check()
        reload(member, text(PASSWORD))
        wait_until_connected(member)
        t.equal(member.ask("status")["configuration"]["values"]["collect.servers"],
                url("").replace("triad:", "***"), "what is shown")
        check()
        reload(member, text(PASSWORD, tls_ca="/nonexistent"))
        wait_for_reason(member, "/nonexistent")
        check()
        reload(member, text(PASSWORD).replace(str(broker.port), "123456"))
        wait_for_reason(member, "No server available")
        check()
        # What can't be a broker is quoted.
        for wrong in (url(PASSWORD).replace("//", "/"),
                      url(PASSWORD).replace("nats:", "http:")):
            answer = member.run("set", "collect.servers", wrong)
            t.failed(answer, 1, "is no broker")
            check(answer.stderr)
            member.write(text("x").replace(url("x"), wrong))
            answer = member.run("reload")
            t.failed(answer, 1, "is no broker")
            check(answer.stderr)
        answer = member.run("set", "collect.servers", f"{url(PASSWORD)}; {url('b')}")
        t.succeeded(answer)
        check(answer.stdout)


# --- nonsense ----------------------------------------------------------------------

MAGIC, VERSION, OWNER = 0x5443, 1, 2
FUTURE = 1 << 62


class Stranger:
    """Says to all what it likes."""

    def __init__(self, t, broker, fabric="test"):
        self._subject = f"triad.{fabric}.all"
        self._socket = socket.create_connection(("127.0.0.1", broker.port), 10)
        t.cleanup(self._socket.close)
        self._input = self._socket.makefile("rb")
        self._send(b'CONNECT {"verbose":false}\r\n')
        self.flush()

    def _send(self, octets):
        self._socket.sendall(octets)

    def say(self, octets):
        self._send(f"PUB {self._subject} {len(octets)}\r\n".encode() + octets + b"\r\n")

    def flush(self):
        """The broker has all of it."""
        self._send(b"PING\r\n")
        while (line := self._input.readline()) != b"PONG\r\n":
            assert line and not line.startswith(b"-ERR"), line


def head(kind, sender, incarnation=FUTURE, version=VERSION):
    return struct.pack(">HBBQQ", MAGIC, version, kind, sender, incarnation)


def owner(sender, number, guids, hops=0):
    """An announcement that claims these nodes."""
    body = struct.pack(">IIBHHBBHII", number, number, 0, 0, 0, 0, 0, 0, len(guids),
                       len(guids))
    return head(OWNER, sender) + body + b"".join(
        struct.pack(">QBB", guid, hops, 0) for guid in guids)


def collect_of(lab):
    return status(lab)["collect"]


def test_nonsense_is_counted_and_harms_nobody(t):
    seed = int.from_bytes(os.urandom(4), "big")
    t.note(f"seed {seed}")
    rng = random.Random(seed)
    broker = Broker(t)
    with lab_of(t, broker) as lab:
        members = [start(t, lab, broker, number) for number in (NEAR, FAR)]
        wait_until_settled(lab, 2)
        before = collect_of(lab)
        stranger = Stranger(t, broker)
        for _ in range(300):
            stranger.say(rng.randbytes(rng.randrange(1, 400)))
        for kind in range(1, 12):
            stranger.say(head(kind, 77, version=2) + rng.randbytes(50))
            stranger.say(head(kind, 77, incarnation=rng.randrange(1 << 64)) +
                         rng.randbytes(rng.randrange(400)))
        stranger.say(b"x" * ((1 << 20) - 1))
        stranger.say(b"")
        stranger.flush()

        def counted():
            after = collect_of(lab)
            return after["foreign"] >= before["foreign"] + 300 and \
                after["other_version"] >= before["other_version"] + 11
        wait_until(counted, 20, "messages that are counted")
        t.equal(collect_of(lab)["oversize"], 2, "messages too large, and empty")
        set_errors(lab, 3)
        wait_for_errors(lab, 3)
        wait_until(lambda: not owners(lab)["nodes_without_owner"], 20, "owners of all")
        for member in members:
            t.equal(member.process.poll(), None, "how an agent ended")
            assert member.section("collect")["foreign"] >= 300


def test_claims_of_all_nodes_are_refused_and_said(t):
    broker = Broker(t)
    with lab_of(t, broker) as lab:
        members = [start(t, lab, broker, number) for number in (NEAR, FAR)]
        wait_until_settled(lab, 2)
        guids = sorted({int(row["node_guid"], 16)
                        for row in ask_json(lab, "perf", "show")})
        # An agent, and a port of the fabric that has none.
        known = int(agents(lab)[f"a{NEAR}"]["guid"], 16)
        silent = int(lab.status()["sms"][0]["port_guid"], 16)
        stranger = Stranger(t, broker)
        said = 'claims nodes that it cannot have'
        number = 0

        def is_said():
            nonlocal number
            number += 1
            for sender in (0xbad, silent):
                stranger.say(owner(sender, number, guids))
            stranger.flush()
            report = owners(lab)
            # The node of that port may be its to read, and is not read.
            t.equal((report["nodes_without_owner"], report["nodes_not_seen"] <= 1),
                    (0, True), "nodes without an owner, and few not seen")
            return said in lab.log()
        wait_until(is_said, 40, "a line about it")
        lines = [line for line in triad_lines(lab.log()) if said in line]
        t.equal(len(lines), 1, "lines")
        assert "0x0000000000000bad" in lines[0] or f"{silent:016x}" in lines[0], lines
        assert collect_of(lab)["claims_refused"] >= 10
        wait_until_settled(lab, 2)
        for member in members:
            t.equal(member.process.poll(), None, "how an agent ended")


def test_agent_that_somebody_played_is_heard_again(t):
    broker = Broker(t)
    with lab_of(t, broker) as lab:
        for number in (NEAR, FAR):
            start(t, lab, broker, number)
        wait_until_settled(lab, 2)
        victim = int(agents(lab)[f"a{NEAR}"]["guid"], 16)
        assert agents(lab)[f"a{NEAR}"]["nodes_owned"] > 1
        stranger = Stranger(t, broker)
        number = 0

        def is_silenced():
            nonlocal number
            number += 1
            stranger.say(owner(victim, number, []))
            stranger.flush()
            row = agents(lab).get(f"a{NEAR}", {"nodes_owned": 0})
            return not row["nodes_owned"]
        wait_until(is_silenced, 20, "its words to be taken for old ones")
        set_errors(lab, 3, NEAR)
        wait_for_errors(lab, 3, NEAR)
        wait_until_settled(lab, 2)
        wait_until(lambda: ask_json(lab, "agents", "owner", f"host-{NEAR:04d} HCA-1")
                   ["agent"] == f"a{NEAR}", 20, "its host to be its own again")
        set_errors(lab, 5, NEAR)
        wait_for_errors(lab, 5, NEAR)


# --- managers ----------------------------------------------------------------------

QUICK_HANDOVER = ("sweep_interval 1\nsminfo_polling_timeout 1000\n"
                  "polling_retry_number 1\n")


def managers_at(lab, sm):
    return ask_json(lab, "status", sm=sm)["collect"]["managers"]


def sees_all(lab, sm):
    report = ask_json(lab, "agents", sm=sm)
    return not report["nodes_without_owner"] and not report["nodes_not_seen"]


def test_two_managers_show_all_and_one_outlives_the_other(t):
    broker = Broker(t)
    with lab_of(t, broker, sms=(SM, OTHER_SM), opensm_conf=QUICK_HANDOVER,
                role="any") as lab:
        for number in (NEAR, FAR):
            start(t, lab, broker, number)
        set_errors(lab, 3)
        for sm in (0, 1):
            wait_for_errors(lab, 3, sm=sm)
            wait_until(lambda sm=sm: managers_at(lab, sm) == 2, 20, "two managers")
            wait_until(lambda sm=sm: sees_all(lab, sm), 30, "all nodes to be seen")
        rows = [len(ask_json(lab, "perf", "show", sm=sm)) for sm in (0, 1)]
        t.equal(rows[0], rows[1], "rows")
        os.kill(lab.status()["sms"][0]["pid"], signal.SIGKILL)
        wait_until(lambda: managers_at(lab, 1) == 1, 20, "the end of a manager")
        set_errors(lab, 5)
        wait_for_errors(lab, 5, sm=1)


def start_again(lab, sm=0):
    """Kills an opensm and starts it with the same words and variables."""
    pid = lab.status()["sms"][sm]["pid"]
    folder = Path(f"/proc/{pid}")
    words = (folder / "cmdline").read_bytes().split(b"\0")[:-1]
    variables = dict(it.split(b"=", 1) for it in
                     (folder / "environ").read_bytes().split(b"\0") if b"=" in it)
    where = os.readlink(folder / "cwd")
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not process.record_of(pid), 20, "the end of opensm")
    return subprocess.Popen(words, env=variables, cwd=where, stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def test_manager_killed_and_started_has_all_totals_again(t):
    broker = Broker(t)
    with lab_of(t, broker, refresh=10000) as lab:
        for number in (NEAR, FAR):
            start(t, lab, broker, number, refresh=10000)
        wait_until_settled(lab, 2)
        set_errors(lab, 3)
        wait_for_errors(lab, 3)
        n_rows = len(ask_json(lab, "perf", "show"))
        opensm = start_again(lab)
        try:
            wait_for_errors(lab, 3)
            wait_until_settled(lab, 2)
            wait_until(lambda: len(ask_json(lab, "perf", "show")) == n_rows, 20,
                       "all rows")
            t.equal(status(lab)["collect"]["nodes_not_seen"], 0, "nodes not seen")
            wait_until(lambda: status(lab)["perfmgr"]["ports_unanswered"] == 0, 20,
                       "all ports")
        finally:
            opensm.terminate()
            opensm.wait(20)


def test_mode_changes_while_agents_run_totals_never_go_back(t):
    broker = Broker(t)
    with lab_of(t, broker) as lab:
        for number in (NEAR, FAR):
            start(t, lab, broker, number)
        wait_until_settled(lab, 2)
        errors = 0
        for mode in ("local", "manager", "local", "manager"):
            ask(lab, "set", "collect.mode", mode)
            wait_until(lambda mode=mode: collect_of(lab)["mode"] == mode, 20, mode)
            errors += 2
            set_errors(lab, errors)

            def is_there(errors=errors):
                now = errors_at(lab)
                assert now is None or errors - 2 <= now <= errors, f"{now} of {errors}"
                return now == errors
            wait_until(is_there, 20, f"{errors} errors in mode {mode}")
        wait_until_settled(lab, 2)


# --- agents ------------------------------------------------------------------------

def test_agent_with_a_full_disk_goes_on_telling(t):
    broker = Broker(t)
    folder = t.folder()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", folder],
                   check=True)
    t.cleanup(subprocess.run, ["umount", folder])
    (folder / "filler").write_bytes(b"x" * 12288)
    with lab_of(t, broker) as lab:
        member = start(t, lab, broker, NEAR, f"[profile]\nfile = {folder}/profile\n")
        wait_until_settled(lab, 1)
        wait_until(lambda: member.section("profile")["dropped"], 40, "a full disk")
        t.contains(member.section("profile")["error"], "No space left", "why")
        for errors in (3, 5):
            set_errors(lab, errors)
            wait_for_errors(lab, errors)
        t.contains(member.log(), "No space left", "its log")
        # It ends before its disk does.
        member.end()


# --- the lab -----------------------------------------------------------------------

def test_lab_with_agents_names_them_and_ends_them(t):
    net = fat_tree(t, HOSTS, "--radix", "6")
    with Lab(net, sms=[SM], agents=3) as lab:
        wait_until_settled(lab, 3)
        report = lab.status()
        t.equal(sorted(row["node"] for row in report["agents"]),
                sorted(agents(lab)), "names")
        t.equal([row["alive"] for row in [*report["agents"], report["broker"]]],
                [True] * 4, "what lives")
        for row in report["agents"]:
            t.succeeded(triadctl("--socket", row["control_socket"], "status"))
        pids = [row["pid"] for row in report["agents"]]
        socket.create_connection(("127.0.0.1", report["broker"]["port"]), 10).close()
        t.succeeded(lab.down())
        t.equal([pid for pid in pids if process.record_of(pid)], [], "agents that live")
        report = lab.status()
        t.equal([row["alive"] for row in [*report["agents"], report["broker"]]],
                [False] * 4, "what lives")


def test_lab_with_too_many_agents_is_refused(t):
    net = fat_tree(t, HOSTS, "--radix", "6")
    for n, why in ((HOSTS, "5 hosts without an SM"), (9, "ibsim serves 9")):
        refused = lab_command("up", "--dir", t.folder() / "lab", "--net", net, "--sm",
                              SM, "--builddir", taplib.BUILDDIR, "--agents", n)
        t.failed(refused, 2, why)


if __name__ == "__main__":
    taplib.main(globals())
