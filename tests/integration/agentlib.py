# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What tests of agents share: a broker, and triad-agents on nodes of a lab."""

import json
import signal
import socket
import struct
import subprocess
from pathlib import Path

import control
from checks import succeeded, wait_until
from labs import (
    AGENT, BUILDDIR, NATS, SRCDIR, Lab, Triadd, need, need_for_conf, sanitizer,
    without_images)
from triadlab import triadd
from triadlab.tcp_ports import free_port



def triadctl(*words):
    return subprocess.run([BUILDDIR / "triadctl", *map(str, words)], check=False,
                          text=True, stdin=subprocess.DEVNULL, timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def start_agent(lab, node, *arguments, variables=None, preload=(), **options):
    """triad-agent on a node of a lab, as a Popen; 'variables' are for its environment,
    'preload' the libraries after the lab's own."""
    need(AGENT)
    return lab.start("triad-agent", *arguments, node=node, before=sanitizer(),
                     after=preload, variables=variables, stdin=subprocess.DEVNULL,
                     stdout=subprocess.PIPE, **options)


class Broker:
    """nats-server on loopback; 'options' are its own."""

    def __init__(self, scratch, *options, port=None):
        need(NATS)
        self.port = port or free_port()
        self.url = f"nats://127.0.0.1:{self.port}"
        self.options = options
        self.log = Path(scratch.folder()) / f"nats-{self.port}.log"
        self.process = None
        self.start()
        scratch.callback(self.end)

    def start(self):
        self.process = subprocess.Popen(
            ["nats-server", "-a", "127.0.0.1", "-p", str(self.port), "-l", self.log,
             *map(str, self.options)], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(self._listens, 20, "the broker")

    def _listens(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        except OSError:
            return False
        return True

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
        self.process.wait(20)


def conf(broker, mode, extra="", sweep_period=1, name=None, fabric="test", **collect):
    """A configuration of an agent or a manager."""
    keys = {"mode": mode, "servers": broker.url, "fabric": fabric,
            "min_change": 0, **({"name": name} if name else {}), **collect}
    lines = "".join(f"{key} = {value}\n" for key, value in keys.items())
    return (f"[perfmgr]\nsweep_period = {sweep_period}\nreset = never\n"
            f"[collect]\n{lines}{extra}")


class Member:
    """triad-agent on a node of a lab; 'text' is its configuration, to which the
    control socket is added."""

    def __init__(self, scratch, lab, node, text):
        self.node = node
        self.folder = Path(scratch.folder())
        self.socket = self.folder / "agent.sock"
        self.conf = self.folder / "agent.conf"
        self.errors = self.folder / "stderr"
        self.lab = lab
        self.process = None
        self.write(text)
        self.start()
        scratch.callback(self.end)
        if triadd.work(text):
            Triadd(scratch, self.socket, text)

    def write(self, text):
        need_for_conf(text)
        self.conf.write_text(f"{without_images(text)}[control]\nsocket = {self.socket}\n"
                             f"[state]\ndir = {self.folder}/state\n",
                             encoding="utf-8")

    def start(self):
        with open(self.errors, "a", encoding="utf-8") as errors:
            self.process = start_agent(self.lab, self.node, "--conf", self.conf,
                                       stderr=errors)

    def pid(self):
        return self.process.pid

    def end(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.process.communicate(timeout=20)

    def log(self):
        return self.errors.read_text(encoding="utf-8")

    def run(self, *words):
        return triadctl("--socket", self.socket, *words)

    def ask(self, *words):
        return json.loads(succeeded(self.control(*words, "--json")).stdout)

    def control(self, *words):
        """What triadctl would get."""
        return control.request(self.socket, *words)

    def section(self, name):
        """None while nobody answers."""
        process = self.control("status", "--json")
        return json.loads(process.stdout)[name] if process.returncode == 0 else {}


def fat_tree(scratch, hosts, *options):
    """A file with a fabric of two levels; host-0001 and so on."""
    path = Path(scratch.folder()) / "fabric.net"
    subprocess.run([SRCDIR / "scripts" / "gen-fabric", "fat-tree", "--levels", "2",
                    "--hosts", str(hosts), *options, "-o", path], check=True)
    return path


def agents(lab):
    """Rows of 'agents' at the manager, by name."""
    process = lab.triad("agents", "--json")
    if process.returncode != 0:
        return {}
    return {row["name"]: row for row in json.loads(process.stdout)["agents"]}


def owners(lab):
    """What the manager says in sum of who owns what."""
    process = lab.triad("agents", "--json")
    return json.loads(process.stdout) if process.returncode == 0 else {}


def is_settled(lab, n_agents):
    """The manager sees that many agents, and all nodes are seen."""
    report = owners(lab)
    # Right after its start it has no answer yet.
    if not report:
        return False
    alive = [row for row in report["agents"] if row["state"] == "alive"]
    return (len(alive) == n_agents and not report["nodes_without_owner"]
            and not report["nodes_not_seen"]
            and sum(row["nodes_owned"] for row in alive) == report["nodes"]) and report


def wait_until_settled(lab, n_agents, timeout_s=40):
    return wait_until(lambda: is_settled(lab, n_agents), timeout_s,
                      f"{n_agents} agents to share the nodes")


# --- a small fabric: agents at NEAR and FAR, a manager at SM ---

HOSTS = 6
SM, OTHER_SM = "host-0001", "host-0004"
NEAR, FAR = 2, 5
ERROR = "SymbolErrorCounter"


def manager_lab(scratch, broker, sms=(SM,), opensm_conf="", role="master", **collect):
    net = fat_tree(scratch, HOSTS, "--radix", "6")
    text = conf(broker, "manager", **collect)
    return Lab(net, sms=sms, opensm_conf=opensm_conf,
               triad_conf=text.replace("[perfmgr]\n", f"[perfmgr]\nrole = {role}\n"))


def member_at(scratch, lab, broker, number, extra="", **collect):
    """An agent on host 'number'."""
    return Member(scratch, lab, f"host-{number:04d}",
                  conf(broker, "agent", extra, name=f"a{number}", **collect))


def near_and_far(scratch, lab, broker, **collect):
    """An agent on each of these hosts."""
    return [member_at(scratch, lab, broker, number, **collect) for number in (NEAR, FAR)]


def set_errors(lab, value, number=FAR):
    lab.sim(f'PerformanceSet "host-{number:04d}"[1] PortCounters.{ERROR}={value}')


def errors_at(lab, number=FAR, sm=None):
    """The manager's total; None while it has none."""
    process = lab.triad("perf", "show", "--json", sm=sm or 0)
    for row in json.loads(process.stdout) if process.returncode == 0 else ():
        if row["node_name"].startswith(f"host-{number:04d}"):
            return row["counters"].get(ERROR)
    return None


def wait_for_errors(lab, value, number=FAR, sm=None):
    wait_until(lambda: errors_at(lab, number, sm) == value, 40,
               f"{value} errors at host {number}")


# --- messages that somebody makes up -----------------------------------------------

MAGIC, VERSION = 0x5443, 1
OWNER, CLEAR, TOPOLOGY = 2, 8, 12
FUTURE = 1 << 62
AT_SENDER = 4


def head(kind, sender, incarnation=FUTURE, version=VERSION):
    return struct.pack(">HBBQQ", MAGIC, version, kind, sender, incarnation)


def owner(sender, number, guids, hops=0):
    """An announcement that claims these nodes."""
    body = struct.pack(">IIBHHBBHII", number, number, 0, 0, 0, 0, 0, 0, len(guids),
                       len(guids))
    return head(OWNER, sender) + body + b"".join(
        struct.pack(">QBB", guid, hops, 0) for guid in guids)


class Stranger:
    """Says to all what it likes; 'user' has the login() of a broker that wants one."""

    def __init__(self, scratch, broker, fabric="test", user=None):
        self._fabric = fabric
        self._socket = socket.create_connection(("127.0.0.1", broker.port), 10)
        scratch.callback(self._socket.close)
        self._input = self._socket.makefile("rb")
        told = json.loads(self._input.readline().split(b" ", 1)[1])
        login = user.login(told["nonce"]) if user else {}
        self._send(b"CONNECT " + json.dumps({"verbose": False, **login}).encode() + b"\r\n")
        self.flush()

    def _send(self, octets):
        self._socket.sendall(octets)

    def say(self, octets, role="agent", speaker=None, subject=None):
        """As the message's sender, unless another speaker or the whole subject is given."""
        if speaker is None:
            sender = octets[AT_SENDER:AT_SENDER + 8]
            speaker = int.from_bytes(sender, "big") if len(sender) == 8 else 0
        subject = subject or f"triad.{self._fabric}.{role}.{speaker:016x}.all"
        self._send(f"PUB {subject} {len(octets)}\r\n".encode() + octets + b"\r\n")

    def listen(self):
        """From now on next_message() has all that is said."""
        self._send(b"SUB > 1\r\n")

    def next_message(self):
        """(subject, octets) that the broker delivers."""
        while True:
            words = self._input.readline().split()
            if words[:1] == [b"PING"]:
                self._send(b"PONG\r\n")
            if words[:1] in ([b"MSG"], [b"HMSG"]):
                octets = self._input.read(int(words[-1]) + 2)[:-2]
                return words[1].decode(), octets

    def refusal(self):
        """The broker's word about what was said."""
        while (line := self._input.readline()) == b"PING\r\n":
            self._send(b"PONG\r\n")
        return line.decode()

    def flush(self):
        """The broker has all of it."""
        self._send(b"PING\r\n")
        while (line := self._input.readline()) != b"PONG\r\n":
            assert line and not line.startswith(b"-ERR"), line
