# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Agents and their manager over what brokers have to offer: clusters, leaf nodes, TLS,
passwords, credentials."""

import contextlib
import json
import shutil
import socket
import struct
import threading
import urllib.request

import pytest

from agentlib import (CLEAR, FAR, HOSTS, NEAR, SM, TOPOLOGY, Broker, Member, Stranger,
                      conf, fat_tree, free_port, head, manager_lab, member_at, owner,
                      set_errors, wait_for_errors, wait_until_settled)
from checks import failed, mentions, succeeded, wait_until
from labs import Lab
from natskeys import ACCOUNT, OPERATOR, NKey, User
from tlslib import certificate
from triadlib import status, triadd_says

PASSWORD = "tiger-lily-77"


def broker_of(lab):
    """The port of the broker that the manager is connected to, or None."""
    server = status(lab)["collect"]["broker"]
    return server and int(server.rsplit(":", 1)[1])


# --- brokers that die, and that are parted -----------------------------------------

class ClusterBroker(Broker):
    """One of several nats-servers; 'routes' are ports of others."""

    def __init__(self, scratch, cluster_port, routes, *options):
        self.monitor_port = free_port()
        super().__init__(
            scratch, "-m", self.monitor_port, "--cluster_name", "test", "--cluster",
            f"nats://127.0.0.1:{cluster_port}", "--routes",
            ",".join(f"nats://127.0.0.1:{port}" for port in routes), *options)

    def n_routes(self):
        with urllib.request.urlopen(
                f"http://127.0.0.1:{self.monitor_port}/routez", timeout=10) as answer:
            return len({route["remote_id"] for route in json.load(answer)["routes"]})

    def wait_for_routes(self, n):
        wait_until(lambda: self.n_routes() == n, 30, f"{n} routes of a broker")


def test_cluster_of_brokers_two_of_three_killed_totals_go_on(scratch):
    cluster_ports = [free_port() for _ in range(3)]
    brokers = [ClusterBroker(scratch, port, set(cluster_ports) - {port})
               for port in cluster_ports]
    for broker in brokers:
        broker.wait_for_routes(2)
    every = "; ".join(broker.url for broker in brokers)
    with manager_lab(scratch, brokers[0], servers=every) as lab:
        # Each knows one, and hears of the others from it.
        member_at(scratch, lab, brokers[1], NEAR)
        member_at(scratch, lab, brokers[2], FAR)
        wait_until_settled(lab, 2)
        triadd_says(lab, "broker whoever collect.servers")
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
        # As of the end of a round, which may have begun before all were seen again.
        wait_until(lambda: status(lab)["perfmgr"]["ports_unanswered"] == 0, 20,
                   "all ports")


class Wire:
    """Carries TCP connections to a port, until it is cut."""

    def __init__(self, scratch, to_port):
        self._to_port = to_port
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self._lock = threading.Lock()
        self._is_cut = False
        self._ends = []
        threading.Thread(target=self._accept, daemon=True).start()
        scratch.callback(self._server.close)
        scratch.callback(self.cut)

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


@pytest.mark.row("M4")
def test_cluster_of_brokers_parted_each_side_reads_all_and_heals(scratch):
    ports = [free_port(), free_port()]
    wire = Wire(scratch, ports[0])
    alone = ("--no_advertise=true",)
    here = ClusterBroker(scratch, ports[0], (), *alone)
    there = ClusterBroker(scratch, ports[1], (wire.port,), *alone)
    here.wait_for_routes(1)
    with manager_lab(scratch, here) as lab:
        near, far = member_at(scratch, lab, here, NEAR), member_at(scratch, lab, there, FAR)
        n_nodes = wait_until_settled(lab, 2)["nodes"]
        set_errors(lab, 3)
        wait_for_errors(lab, 3)
        wire.cut()
        wait_until_settled(lab, 1)
        wait_until(lambda: far.section("collect")["owned"] == n_nodes, 30,
                   "the far side to read all")
        wait_until(lambda: near.section("collect")["owned"] == n_nodes, 20,
                   "the near side to read all")
        # It was heard last at another moment than the agent was.
        wait_until(lambda: far.section("collect")["managers"] == 0, 20,
                   "no manager on the far side")
        # Both sides see somebody reset it.
        set_errors(lab, 1)
        wait_for_errors(lab, 4)
        wire.heal()
        wait_until_settled(lab, 2)
        wait_until(lambda: near.section("collect")["owned"] +
                   far.section("collect")["owned"] == n_nodes, 20, "one owner each")
        set_errors(lab, 6)
        wait_for_errors(lab, 9)


def test_leaf_node_of_a_broker_carries_both_ways_and_heals(scratch):
    port, folder = free_port(), scratch.folder()
    (folder / "hub").write_text(f"leafnodes {{ listen: 127.0.0.1:{port} }}\n")
    (folder / "leaf").write_text(
        f'leafnodes {{ remotes: [ {{ url: "nats://127.0.0.1:{port}" }} ] }}\n')
    hub = Broker(scratch, "-c", folder / "hub")
    leaf = Broker(scratch, "-c", folder / "leaf")
    with manager_lab(scratch, hub) as lab:
        member_at(scratch, lab, hub, NEAR)
        member_at(scratch, lab, leaf, FAR)
        wait_until_settled(lab, 2)
        set_errors(lab, 3)
        wait_for_errors(lab, 3)
        leaf.end()
        wait_until_settled(lab, 1)
        set_errors(lab, 5)
        wait_for_errors(lab, 5)
        leaf.start()
        wait_until_settled(lab, 2)
        set_errors(lab, 8)
        wait_for_errors(lab, 8)


# --- TLS, passwords and credentials -------------------------------------------------

def reload(member, text):
    """A new configuration, taken up."""
    member.write(text)
    succeeded(member.run("reload"))


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
    print(reason)


def wait_until_connected(member):
    wait_until(lambda: member.section("collect").get("broker"), 20, "the connection")


def complaints(member):
    """Lines of the log that say that there is no connection; but for a broker that a busy
    machine keeps from answering in time."""
    return [line for line in member.log().splitlines()
            if "no connection to the broker" in line and "Timeout" not in line]


def test_tls_right_authority_connects_and_others_are_reported(scratch):
    path, key = certificate(scratch)
    wrong, _ = certificate(scratch)
    broker = Broker(scratch, "--tls", "--tlscert", path, "--tlskey", key)
    missing = scratch.folder() / "authority"

    def text(**collect):
        return conf(broker, "agent", name="a2",
                    **{"servers": f"tls://localhost:{broker.port}", **collect})
    with Lab(fat_tree(scratch, HOSTS, "--radix", "6"), sms=[SM], plugin="no") as lab:
        member = Member(scratch, lab, f"host-{NEAR:04d}", text(tls_ca=path))
        wait_until_connected(member)
        assert complaints(member) == [], "complaints"
        reload(member, text(tls_ca=wrong))
        wait_for_reason(member, "self-signed certificate")
        # Tried again, but not said again.
        attempts = broker.log.read_text().count("TLS handshake error")
        wait_until(lambda: broker.log.read_text().count("TLS handshake error") >
                   attempts + 1, 20, "more attempts")
        assert len(complaints(member)) == 1, "complaints"
        reload(member, text(tls_ca=missing))
        wait_for_reason(member, "Error loading", str(missing))
        wait_until(lambda: str(missing) in member.log(), 10, "its line in the log")
        assert len(complaints(member)) == 2, "complaints"
        # The file comes; the configuration is what it was.
        shutil.copy(path, missing)
        wait_until_connected(member)


def test_password_wrong_and_right_is_never_shown(scratch):
    broker = Broker(scratch, "--user", "triad", "--pass", PASSWORD)

    def url(password):
        return f"nats://triad:{password}@127.0.0.1:{broker.port}"

    def text(password, **collect):
        return conf(broker, "agent", servers=url(password), name="a2", **collect)

    def refused():
        return broker.log.read_text().count("authentication error")
    with Lab(fat_tree(scratch, HOSTS, "--radix", "6"), sms=[SM], plugin="no") as lab:
        member = Member(scratch, lab, f"host-{NEAR:04d}", text("wrong-" + PASSWORD))

        def check(*said):
            words = [member.log(), *said]
            for command in (["status"], ["status", "--json"], ["agents"]):
                words.append(member.run(*command).stdout)
            found = [text for text in words if PASSWORD in text]
            assert found == [], "texts with the password"
        wait_for_reason(member, "Authorization Violation")
        # It goes on trying: it may be the broker's password that is mended.
        before = refused()
        wait_until(lambda: refused() > before + 2, 20, "more attempts")
        assert len(complaints(member)) == 1, "complaints"
        check()
        reload(member, text(PASSWORD))
        wait_until_connected(member)
        assert not mentions(member.log(), "broker whoever collect.servers"), "it has a user"
        assert member.ask("status")["configuration"]["values"]["collect.servers"] == \
            url("").replace("triad:", "***"), "what is shown"
        check()
        reload(member, text(PASSWORD, tls_ca="/nonexistent"))
        wait_for_reason(member, "/nonexistent")
        check()
        reload(member, text(PASSWORD).replace(str(broker.port), "1"))
        wait_for_reason(member, "No server available")
        check()
        # What can't be a broker is quoted.
        for wrong in (url(PASSWORD).replace("//", "/"),
                      url(PASSWORD).replace("nats:", "http:"),
                      url(PASSWORD).replace(str(broker.port), "123456")):
            answer = member.run("set", "collect.servers", wrong)
            failed(answer, 1, "is no broker")
            check(answer.stderr)
            member.write(text("x").replace(url("x"), wrong))
            answer = member.run("reload")
            failed(answer, 1, "is no broker")
            check(answer.stderr)
        answer = member.run("set", "collect.servers", f"{url(PASSWORD)}; {url('b')}")
        succeeded(answer)
        check(answer.stdout)


class Realm:
    """An operator, its account, and a user who may do all."""

    def __init__(self, folder):
        folder.mkdir()
        self._operator = NKey(folder, OPERATOR)
        self._account = NKey(folder, ACCOUNT)
        self._folder = folder
        self.user = User(folder, self._account)
        self.credentials = self.user.credentials

    def user_for(self, name, publish, listen):
        return User(self._folder / name, self._account, publish, listen)

    def broker_conf(self):
        limits = dict.fromkeys(
            ("subs", "data", "payload", "imports", "exports", "conn", "leaf"), -1)
        account = self._operator.sign(self._account, {
            "type": "account", "limits": {"wildcards": True, **limits}})
        operator = self._folder / "operator"
        operator.write_text(self._operator.sign(self._operator, {"type": "operator"}))
        path = self._folder / "broker"
        # A busy machine takes longer to authenticate than the 2 s that are the default.
        path.write_text(f"operator: {operator}\nresolver: MEMORY\n"
                        "authorization: { timeout: 60 }\n"
                        f'resolver_preload: {{ {self._account.public}: "{account}" }}\n')
        return path


@pytest.mark.plain
def test_credentials_right_connect_and_others_are_reported(scratch):
    folder = scratch.folder()
    realm, other = Realm(folder / "realm"), Realm(folder / "other")
    broker = Broker(scratch, "-c", realm.broker_conf())
    missing = folder / "missing"

    def text(path):
        return conf(broker, "agent", name="a2", credentials=path)
    with Lab(fat_tree(scratch, HOSTS, "--radix", "6"), sms=[SM], plugin="no") as lab:
        member = Member(scratch, lab, f"host-{NEAR:04d}", text(realm.credentials))
        wait_until_connected(member)
        assert complaints(member) == [], "complaints"
        reload(member, text(other.credentials))
        wait_for_reason(member, "Authorization Violation")
        reload(member, text(missing))
        wait_for_reason(member, str(missing))
        # The file comes; the configuration is what it was.
        shutil.copy(realm.credentials, missing)
        wait_until_connected(member)
        shown = member.log() + member.run("status").stdout
        assert [key for key in (realm.user.seed, other.user.seed) if key in shown] == \
            [], "keys that are shown"


class RefusesFirst(Wire):
    """A wire whose first connection is refused, as one whose signature is missing."""

    def _accept(self):
        with contextlib.suppress(OSError):
            one, _ = self._server.accept()
            with one:
                one.sendall(b'INFO {"server_id":"x","version":"2.9.10","proto":1,'
                            b'"max_payload":1048576,"nonce":"abcdefghijklmno"}\r\n')
                self.was_asked = b"CONNECT" in one.recv(65536)
                one.sendall(b"-ERR 'Authorization Violation'\r\n")
        super()._accept()


def test_credentials_refused_once_are_shown_again(scratch):
    realm = Realm(scratch.folder() / "realm")
    broker = Broker(scratch, "-c", realm.broker_conf())
    wire = RefusesFirst(scratch, broker.port)
    with Lab(fat_tree(scratch, HOSTS, "--radix", "6"), sms=[SM], plugin="no") as lab:
        member = Member(scratch, lab, f"host-{NEAR:04d}", conf(
            broker, "agent", name="a2", credentials=realm.credentials,
            servers=f"nats://127.0.0.1:{wire.port}"))
        wait_until_connected(member)
        assert wire.was_asked and complaints(member) == [], "complaints"


# --- who may say what ------------------------------------------------------------------

def id_of_agent(number):
    return 0x0200000100000001 + (number << 4)


ID_OF_MANAGER = ~id_of_agent(1) & (1 << 64) - 1


def may_speak_as(realm, role, member_id):
    """A user with the permissions that docs/scaling.md gives."""
    name = f"{member_id:016x}"
    listens = ["triad.test.*.*.all", f"triad.test.*.*.to.{name}"]
    return realm.user_for(name, [f"triad.test.{role}.{name}.>"],
                          listens + ["triad.test.*.*.managers"] * (role == "manager"))


@pytest.mark.plain
@pytest.mark.row("M12")
def test_permissions_of_the_broker_bind_who_speaks(scratch):
    realm = Realm(scratch.folder() / "realm")
    broker = Broker(scratch, "-c", realm.broker_conf())
    manager = may_speak_as(realm, "manager", ID_OF_MANAGER)
    with manager_lab(scratch, broker, credentials=manager.credentials) as lab:
        for number in (NEAR, FAR):
            user = may_speak_as(realm, "agent", id_of_agent(number))
            member_at(scratch, lab, broker, number, credentials=user.credentials)
        wait_until_settled(lab, 2)
        set_errors(lab, 5)
        wait_for_errors(lab, 5)
        victim = id_of_agent(FAR)
        mallory = Stranger(scratch, broker, user=may_speak_as(realm, "agent", 0xbad))
        for role, member_id in (("agent", victim), ("manager", ID_OF_MANAGER)):
            mallory.say(owner(victim, 1, []), role, member_id)
            assert "Permissions Violation" in mallory.refusal(), f"as {role}"
        before = status(lab)["collect"]["words_refused"]
        clear = struct.pack(">QQBB", 1, 0, 255, 7)
        for number in range(1, 4):
            # In the victim's name, and as itself what is a manager's to say.
            mallory.say(owner(victim, number, []), "agent", 0xbad)
            mallory.say(head(CLEAR, 0xbad) + clear, "agent", 0xbad)
            mallory.say(head(TOPOLOGY, 0xbad) + bytes(60), "agent", 0xbad)
        mallory.flush()
        wait_until(lambda: status(lab)["collect"]["words_refused"] >= before + 9, 20,
                   "words that are refused")
        assert status(lab)["collect"]["refused_speaker"] == "0x0000000000000bad"
        wait_until_settled(lab, 2)
        set_errors(lab, 8)
        wait_for_errors(lab, 8)
