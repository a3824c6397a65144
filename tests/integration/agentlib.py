# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What tests of agents share: a broker, and triad-agents on nodes of a lab."""

import json
import os
import signal
import socket
import subprocess
from pathlib import Path

import taplib
from taplib import BUILDDIR, SRCDIR, Lab, wait_until


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def triadctl(*words):
    return subprocess.run([BUILDDIR / "triadctl", *map(str, words)], check=False,
                          text=True, stdin=subprocess.DEVNULL, timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def start_agent(lab, node, *arguments, environment="", preload=(), **options):
    """triad-agent on a node of a lab, as a Popen of the lab's command; 'environment' is
    NAME=VALUE for it alone, 'preload' the libraries after the lab's own."""
    libraries = ":".join(map(str, [*taplib.sanitizer(), "$LD_PRELOAD", *preload]))
    return lab.start("run", "--node", node, "--", "sh", "-c",
                     f'{environment} LD_PRELOAD={libraries} exec triad-agent "$@"', "sh",
                     *arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                     **options)


def pid_of(command):
    """Of what the lab's command runs: it hands on most signals, but not all."""
    children = Path(f"/proc/{command.pid}/task/{command.pid}/children")
    return int(children.read_text(encoding="utf-8").split()[0])


class Broker:
    """nats-server on loopback; 'options' are its own."""

    def __init__(self, t, *options, port=None):
        self.port = port or free_port()
        self.url = f"nats://127.0.0.1:{self.port}"
        self.options = options
        self.log = Path(t.folder()) / f"nats-{self.port}.log"
        self.process = None
        self.start()
        t.cleanup(self.end)

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
    keys = {"mode": mode, "servers": broker.url, "fabric": fabric, "liveness": 1000,
            "min_change": 0, "refresh": 5, **({"name": name} if name else {}), **collect}
    lines = "".join(f"{key} = {value}\n" for key, value in keys.items())
    return (f"[perfmgr]\nsweep_period = {sweep_period}\nreset = never\n"
            f"[collect]\n{lines}{extra}")


class Member:
    """triad-agent on a node of a lab; 'text' is its configuration, to which the
    control socket is added."""

    def __init__(self, t, lab, node, text):
        self.node = node
        self.folder = Path(t.folder())
        self.socket = self.folder / "agent.sock"
        self.conf = self.folder / "agent.conf"
        self.errors = self.folder / "stderr"
        self.lab = lab
        self.process = None
        self.write(text)
        self.start()
        t.cleanup(self.end)

    def write(self, text):
        self.conf.write_text(f"{text}[control]\nsocket = {self.socket}\n",
                             encoding="utf-8")

    def start(self):
        with open(self.errors, "a", encoding="utf-8") as errors:
            self.process = start_agent(self.lab, self.node, "--conf", self.conf,
                                       stderr=errors)

    def pid(self):
        return pid_of(self.process)

    def end(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            os.kill(self.pid(), number)
        self.process.communicate(timeout=20)

    def log(self):
        return self.errors.read_text(encoding="utf-8")

    def run(self, *words):
        return triadctl("--socket", self.socket, *words)

    def ask(self, *words):
        process = self.run(*words, "--json")
        taplib.Test.succeeded(process)
        return json.loads(process.stdout)

    def section(self, name):
        """None while nobody answers."""
        process = self.run("status", "--json")
        return json.loads(process.stdout)[name] if process.returncode == 0 else {}


def fat_tree(t, hosts, *options):
    """A file with a fabric of two levels; host-0001 and so on."""
    path = Path(t.folder()) / "fabric.net"
    subprocess.run([SRCDIR / "scripts" / "gen-fabric", "fat-tree", "--levels", "2",
                    "--hosts", str(hosts), *options, "-o", path], check=True)
    return path


def agents(lab):
    """Rows of 'agents' at the manager, by name."""
    process = lab.run("triadctl", "agents", "--json")
    if process.returncode != 0:
        return {}
    return {row["name"]: row for row in json.loads(process.stdout)["agents"]}


def owners(lab):
    """What the manager says in sum of who owns what."""
    process = lab.run("triadctl", "agents", "--json")
    return json.loads(process.stdout) if process.returncode == 0 else {}


def is_settled(lab, n_agents):
    """The manager sees that many agents, and all nodes are seen."""
    report = owners(lab)
    alive = [row for row in report.get("agents", ()) if row["state"] == "alive"]
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


def manager_lab(t, broker, sms=(SM,), opensm_conf="", role="master", **collect):
    net = fat_tree(t, HOSTS, "--radix", "6")
    text = conf(broker, "manager", **collect)
    return Lab(net, sms=sms, opensm_conf=opensm_conf,
               triad_conf=text.replace("[perfmgr]\n", f"[perfmgr]\nrole = {role}\n"))


def member_at(t, lab, broker, number, extra="", **collect):
    """An agent on host 'number'."""
    return Member(t, lab, f"host-{number:04d}",
                  conf(broker, "agent", extra, name=f"a{number}", **collect))


def near_and_far(t, lab, broker, **collect):
    """An agent on each of these hosts."""
    return [member_at(t, lab, broker, number, **collect) for number in (NEAR, FAR)]


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
