#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""triad-agent on a node of a fabric whose stock opensm has no Triad: where it has the
topology from, that it counts as perfquery does, how it starts, reloads and ends."""

import json
import os
import re
import signal
import socket
import subprocess
import time
from pathlib import Path

import taplib
from agentlib import pid_of, start_agent, triadctl
from taplib import BUILDDIR, SRCDIR, Lab, wait_until
from triadlib import ERRORS, NET, perfquery

# ibsim leads what is no response, such as the SA's reports, to SMs alone: with this the
# agent says that it is one, and opensm doesn't see that.
RECORD = BUILDDIR / "tests/lab/.libs/librecord.so"
NODE = "Hca3"
HCA2 = "0x0000000000100003"
SWITCH1 = "0x0000000000200000"
QUICK = "[perfmgr]\nsweep_period = 1\nreset = never\n"
N_PORTS = 20


class Agent:
    """triad-agent on a node of a lab; 'conf' is the text of its configuration, to which
    the control socket is added."""

    def __init__(self, t, lab, conf=QUICK, options=(), node=NODE):
        self.folder = Path(t.folder())
        self.socket = self.folder / "agent.sock"
        self.conf = self.folder / "agent.conf"
        self.errors = self.folder / "stderr"
        self.write(conf)
        with open(self.errors, "w", encoding="utf-8") as errors:
            self.process = start_agent(
                lab, node, "--conf", self.conf, *options, stderr=errors,
                environment="TRIAD_RECORD_SERVER=1", preload=[RECORD])
        t.cleanup(self._end)

    def write(self, conf):
        self.conf.write_text(f"{conf}[control]\nsocket = {self.socket}\n",
                             encoding="utf-8")

    def _end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=20)

    def log(self):
        return self.errors.read_text(encoding="utf-8")

    def log_has(self, text, timeout_s=20):
        return wait_until(lambda: text in self.log(), timeout_s, f"{text!r} in the log")

    def pid(self):
        return pid_of(self.process)

    def wait(self):
        """The exit status of one that ends by itself."""
        self.process.communicate(timeout=20)
        return self.process.returncode

    def triadctl(self, *words):
        return triadctl("--socket", self.socket, *words)

    def ask(self, *words):
        process = self.triadctl(*words, "--json")
        taplib.Test.succeeded(process)
        return json.loads(process.stdout)

    def status(self):
        """None while nobody answers."""
        process = self.triadctl("status", "--json")
        return json.loads(process.stdout) if process.returncode == 0 else None

    def wait_for(self, what, section, timeout_s=30, **values):
        """Until the members of a section of the status are as 'values'; returns it."""
        def is_so():
            report = self.status()
            return report if report and values.items() <= report[section].items() \
                else None
        return wait_until(is_so, timeout_s, what)

    def wait_until_it_reads(self, source):
        self.wait_for(f"the topology from {source}", "topology", **{"from": source})
        return self.wait_for("a sweep", "perfmgr", ports_answered=N_PORTS)


def run_agent(*options):
    """Where there is no fabric."""
    return subprocess.run([BUILDDIR / "triad-agent", *map(str, options)], check=False,
                          text=True, stdin=subprocess.DEVNULL, timeout=20,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def stock_lab(t):
    os.environ["TRIAD_RECORD_NO_SM"] = "1"
    t.cleanup(os.environ.pop, "TRIAD_RECORD_NO_SM", None)
    return Lab(NET, plugin="no", opensm_conf="sweep_interval 1\n", preload=[RECORD])


def follows_node_that_goes_and_comes(t, lab, agent):
    """With reports alone, long before all is looked at again."""
    wait_until(lambda: agent.status()["sa"]["state"] == "reports subscribed", 30,
               "the subscription")
    lab.command("sim", 'Unlink "Hca2"[1]')
    agent.wait_for("the node's end", "perfmgr", ports=N_PORTS - 1)
    t.equal([alert["at"]["node_guid"] for alert in agent.ask("alerts")["alerts"]],
            [HCA2], "alerts")
    lab.command("sim", 'ReLink "Hca2"[1]')
    agent.wait_for("the node's return", "perfmgr", ports=N_PORTS)


# --- the fabric ------------------------------------------------------------------

def test_agent_counts_as_perfquery_does(t):
    with stock_lab(t) as lab:
        agent = Agent(t, lab)
        agent.wait_until_it_reads("sa")
        for i, name in enumerate(ERRORS[:3]):
            lab.sim(f'PerformanceSet "Switch1"[3] PortCounters.{name}={7 + i}')
        lid = agent.ask("perf", "show", "--node", SWITCH1, "--port", "3")[0]["lid"]
        before = perfquery(lab, lid, 3)
        t.succeeded(agent.triadctl("perf", "sweep"))
        row, = agent.ask("perf", "show", "--node", SWITCH1, "--port", "3")
        after = perfquery(lab, lid, 3)
        t.equal(after["SymbolErrorCounter"], 7, "what was set")
        for name in ERRORS[:3]:
            t.equal(row["counters"][name], after[name], name)
        # MADs are data, too.
        assert before["PortXmitData"] <= row["counters"]["PortXmitData"] <= \
            after["PortXmitData"], (before, row, after)
        topology = agent.status()["topology"]
        t.equal([topology[name] for name in ("nodes", "switches", "hops")], [6, 2, 3],
                "topology")


def test_agent_follows_node_that_goes_and_comes(t):
    with stock_lab(t) as lab:
        agent = Agent(t, lab)
        agent.wait_until_it_reads("sa")
        follows_node_that_goes_and_comes(t, lab, agent)


def test_agent_that_discovers_hears_of_changes(t):
    with stock_lab(t) as lab:
        agent = Agent(t, lab, QUICK + "[collect]\ntopology = discover\n")
        report = agent.wait_until_it_reads("discovery")
        t.equal((report["sa"]["refreshes"], report["topology"]["hops"]), (0, 3),
                "tables read, hops")
        follows_node_that_goes_and_comes(t, lab, agent)


def test_agent_without_sa_discovers_until_one_answers(t):
    with stock_lab(t) as lab:
        sm_lid = re.search(r"sm lid (\d+)", lab.run("sminfo").stdout)[1]
        lose(t, lab, f"class 3 lid {sm_lid} direction in")
        agent = Agent(t, lab)
        agent.wait_until_it_reads("discovery")
        agent.log_has("gives none, counters are read of the ports known before")
        agent.log_has("no SA answers; the fabric is discovered until one does")
        # The very ports and counters that the SA's tables lead to.
        discovered = {(row["node_guid"], row["port"], row["remote_guid"], row["lid"])
                      for row in agent.ask("perf", "show")}
        t.succeeded(lab.command("faults", "--clear", stdin=None))
        report = agent.wait_until_it_reads("sa")
        t.equal({(row["node_guid"], row["port"], row["remote_guid"], row["lid"])
                 for row in agent.ask("perf", "show")}, discovered, "ports")
        wait_until(lambda: agent.status()["discovery"]["state"] == "not needed", 10,
                   "the end of discovering")
        t.equal(report["perfmgr"]["trouble"], None, "trouble")


def lose(t, lab, which):
    t.succeeded(lab.command("faults", "-", stdin=None, input=f"lose {which}\n"))


def discover_under(t, lab, agent, which):
    """Has it discover while MADs are lost, having done so before."""
    agent.wait_until_it_reads("discovery")
    t.succeeded(agent.triadctl("set", "collect.topology", "sa"))
    agent.wait_until_it_reads("sa")
    before = agent.status()["discovery"]
    t.equal(before["silent"], 0, "ports without answers")
    lose(t, lab, which)
    t.succeeded(agent.triadctl("set", "collect.topology", "discover"))
    return before


def test_agent_failed_discovery_changes_nothing(t):
    with stock_lab(t) as lab:
        agent = Agent(t, lab, QUICK + "[collect]\ntopology = discover\n")
        discover_under(t, lab, agent, "class 0x81")
        wait_until(lambda: agent.status()["discovery"]["failed"] >= 2, 30, "two tries")
        report = agent.status()
        t.equal((report["topology"]["nodes"], report["alerts"]["raised"]), (6, 0),
                "nodes, alerts")
        t.equal(agent.log().count("the fabric can't be discovered"), 1, "lines")
        t.equal([line for line in agent.log().splitlines() if "ib" in line[:20]], [],
                "what libibnetdisc says")
        # Its own port doesn't answer, but its node does.
        lose(t, lab, "class 0x81 attribute 0x15")
        n = agent.status()["discovery"]["failed"]
        wait_until(lambda: agent.status()["discovery"]["failed"] >= n + 2, 30, "others")
        t.equal(agent.status()["topology"]["nodes"], 6, "nodes")
        t.succeeded(lab.command("faults", "--clear", stdin=None))
        wait_until(lambda: agent.status()["discovery"]["error"] is None, 30, "the end")


def discovery_of(agent):
    """The pid of the process that discovers; None when there is none."""
    pid = agent.pid()
    for child in Path(f"/proc/{pid}/task").glob("*/children"):
        for word in child.read_text(encoding="utf-8").split():
            try:
                command = Path(f"/proc/{word}/cmdline").read_text(encoding="utf-8")
            except OSError:
                continue
            # While it is being started it still has the agent's.
            if command.startswith("triad-discover"):
                return int(word)
    return None


def kill_discovery(agent):
    """Returns whether there was one that had not ended by itself."""
    pid = discovery_of(agent)
    try:
        if pid:
            os.kill(pid, signal.SIGKILL)
    except OSError:
        return False
    return bool(pid)


def test_agent_whose_discovery_is_killed_says_so_and_tries_again(t):
    with stock_lab(t) as lab:
        agent = Agent(t, lab, QUICK + "[collect]\ntopology = discover\n")
        discover_under(t, lab, agent, "class 0x81")
        # Some have said all when they are killed.
        wait_until(lambda: kill_discovery(agent) and
                   "process triad-discover was ended by signal 9" in agent.log(), 30,
                   "what it says of who discovers")
        t.equal(agent.status()["topology"]["nodes"], 6, "nodes")
        n = agent.status()["discovery"]["discoveries"]
        t.succeeded(lab.command("faults", "--clear", stdin=None))
        wait_until(lambda: agent.status()["discovery"]["discoveries"] > n, 30, "another")


def test_agent_ends_while_it_discovers(t):
    with stock_lab(t) as lab:
        agent = Agent(t, lab, QUICK + "[collect]\ntopology = discover\n")
        discover_under(t, lab, agent, "class 0x81")
        child = wait_until(lambda: discovery_of(agent), 30, "who discovers")
        begun = time.monotonic()
        os.kill(agent.pid(), signal.SIGTERM)
        t.equal(agent.wait(), 0, "exit status")
        assert time.monotonic() - begun < 3, time.monotonic() - begun
        t.equal(Path(f"/proc/{child}").exists(), False, "who discovers lives")


def test_agent_that_may_not_discover_waits_for_the_sa(t):
    with stock_lab(t) as lab:
        sm_lid = re.search(r"sm lid (\d+)", lab.run("sminfo").stdout)[1]
        lose(t, lab, f"class 3 lid {sm_lid} direction in")
        agent = Agent(t, lab, QUICK + "[collect]\ntopology = sa\n")
        agent.wait_for("two tries", "sa", timeout_s=40, failed=2)
        report = agent.status()
        t.equal((report["topology"]["from"], report["discovery"]["state"]),
                ("nowhere", "not needed"), "topology")
        t.contains(report["perfmgr"]["trouble"], "the fabric is not known yet", "why")


# --- start, reload, end ----------------------------------------------------------

def test_agent_bad_file_all_mistakes_told(t):
    with stock_lab(t) as lab:
        agent = Agent(t, lab, "[perfmgr]\nwindow = 0\nspeed = 3\n[nothing]\na = b\n")
        t.equal(agent.wait(), 2, "exit status")
        for part in ("agent.conf:2: ", "agent.conf:3: ", "agent.conf:4: ",
                     "3 mistake(s): mend the file and start triad-agent again"):
            t.contains(agent.log(), part, "log")


def test_agent_missing_file_told(t):
    with stock_lab(t) as lab:
        agent = Agent(t, lab, options=("--conf", "/nowhere/agent.conf"))
        t.equal(agent.wait(), 2, "exit status")
        t.contains(agent.log(), "/nowhere/agent.conf: the file can't be read", "log")


def test_agent_keys_of_the_plugin_are_told_once(t):
    with stock_lab(t) as lab:
        agent = Agent(t, lab, QUICK + "role = standby\n[qos]\nenabled = true\n"
                      "[port]\nmode = observe\n[election]\npriority = 3\n")
        agent.wait_until_it_reads("sa")
        t.equal([line.split(" ", 2)[1:] for line in agent.log().splitlines()
                 if "without effect" in line],
                [["warning", "perfmgr.role, qos.enabled, election.priority: without "
                  "effect here, for the Triad plugin in OpenSM alone"]], "log")


def test_agent_sighup_reloads(t):
    with stock_lab(t) as lab:
        agent = Agent(t, lab)
        agent.wait_until_it_reads("sa")
        agent.write("[perfmgr]\nsweep_period = 7\n")
        agent.process.send_signal(signal.SIGHUP)
        agent.log_has("agent.conf: loaded")
        t.equal(agent.status()["configuration"]["values"]["perfmgr.sweep_period"], 7,
                "sweep_period")
        agent.write("[perfmgr]\nsweep_period = 0\n")
        agent.process.send_signal(signal.SIGHUP)
        agent.log_has("agent.conf: not loaded; the configuration in force stays")
        t.equal(agent.status()["configuration"]["values"]["perfmgr.sweep_period"], 7,
                "sweep_period after a mistake")
        agent.write("[perfmgr]\nsweep_period = 9\n[collect]\ntopology = discover\n")
        t.succeeded(agent.triadctl("reload"))
        agent.wait_for("discovery", "topology", **{"from": "discovery"})


def test_agent_sighup_opens_the_log_again(t):
    with stock_lab(t) as lab:
        log = t.folder() / "agent.log"
        agent = Agent(t, lab, options=("--log", log))
        wait_until(lambda: log.exists() and "topology: from the SA" in log.read_text(),
                   20, "the log")
        log.rename(log.with_suffix(".1"))
        agent.process.send_signal(signal.SIGHUP)
        wait_until(lambda: log.exists() and "agent.conf: loaded" in log.read_text(), 10,
                   "a new file")
        t.equal(agent.log(), "", "standard error")


def test_agent_sigterm_ends_in_order(t):
    for number in (signal.SIGTERM, signal.SIGINT):
        with stock_lab(t) as lab:
            agent = Agent(t, lab)
            agent.wait_until_it_reads("sa")
            begun = time.monotonic()
            os.kill(agent.pid(), number)
            t.equal(agent.wait(), 0, "exit status")
            took_s = time.monotonic() - begun
            t.contains(agent.log(), f"{number.name}: it ends", "log")
            t.equal(agent.socket.exists(), False, "the socket is there")
            assert took_s < 3, f"it took {took_s:.1f} s"


def test_agent_ends_while_it_waits_for_the_sa(t):
    with stock_lab(t) as lab:
        sm_lid = re.search(r"sm lid (\d+)", lab.run("sminfo").stdout)[1]
        lose(t, lab, f"class 3 lid {sm_lid} direction in")
        agent = Agent(t, lab)
        wait_until(lambda: agent.status(), 10, "the agent")
        begun = time.monotonic()
        agent.process.send_signal(signal.SIGTERM)
        t.equal(agent.wait(), 0, "exit status")
        # The kernel tries for 4 s.
        assert time.monotonic() - begun < 3, time.monotonic() - begun


# --- ports and commands ----------------------------------------------------------

def test_agent_without_port_says_so(t):
    process = run_agent()
    t.failed(process, 1, "this host has no InfiniBand port: is the driver loaded")


def test_agent_other_port_says_which_there_are(t):
    with stock_lab(t) as lab:
        agent = Agent(t, lab, options=("--port", "0x1234"))
        t.equal(agent.wait(), 1, "exit status")
        t.contains(agent.log(), "this host has no port 0x0000000000001234; it has: ",
                   "log")
        t.contains(agent.log(), "0x0000000000100007 is active", "log")


def test_agent_port_down_says_what_to_do(t):
    with stock_lab(t) as lab:
        lab.command("sim", 'Unlink "Hca3"[1]')
        agent = Agent(t, lab)
        t.equal(agent.wait(), 1, "exit status")
        t.contains(agent.log(), "no InfiniBand port of this host is ACTIVE: ", "log")
        t.contains(agent.log(), "0x0000000000100007 is down; connect one", "log")


def test_agent_leaves_the_plugins_commands_to_it(t):
    with stock_lab(t) as lab:
        agent = Agent(t, lab)
        agent.wait_until_it_reads("sa")
        for words in (("qos", "plan"), ("election",), ("port", "list")):
            t.failed(agent.triadctl(*words), 1,
                     "this needs the Triad plugin in OpenSM, and triad-agent answers")
        t.failed(agent.triadctl("set", "control.max_clients", "0"), 1, "allowed are")
        t.failed(agent.triadctl("set", "control.socket", "/tmp/x"), 1,
                 "then restart triad-agent")


def test_agent_beside_an_opensm_with_triad(t):
    """On the same port, each with its socket and its counters."""
    with Lab(NET, sms=("Hca1",), triad_conf=QUICK) as lab:
        agent = Agent(t, lab, QUICK, node="Hca1")
        agent.wait_until_it_reads("sa")
        t.succeeded(lab.run("triadctl", "perf", "sweep"))


def test_agent_has_a_socket_of_its_own_by_default(t):
    with stock_lab(t) as lab:
        agent = Agent(t, lab)
        agent.wait_until_it_reads("sa")
        agent.conf.write_text(QUICK, encoding="utf-8")
        agent.process.send_signal(signal.SIGHUP)
        agent.log_has("agent.conf: loaded")
        process = agent.triadctl("reload")
        t.succeeded(process)
        t.contains(process.stderr,
                   "control.socket = /run/osmtriad/agent-0x0000000000100007.sock takes "
                   "effect when triad-agent is restarted", "messages")


def test_agent_metrics_name_the_program(t):
    with stock_lab(t) as lab:
        with socket.create_server(("127.0.0.1", 0)) as free:
            address = f"127.0.0.1:{free.getsockname()[1]}"
        agent = Agent(t, lab, f"{QUICK}[prometheus]\nlisten = {address}\n")
        agent.wait_until_it_reads("sa")
        text = subprocess.run(["curl", "-s", f"http://{address}/metrics"], check=True,
                              text=True, stdout=subprocess.PIPE, timeout=20).stdout
        t.contains(text, 'program="triad-agent"', "metrics")
        t.contains(text, "triad_fabric_nodes 6", "metrics")
        t.contains(text, f"triad_ports {N_PORTS}", "metrics")


# --- the command line ------------------------------------------------------------

def test_agent_help_and_manual_name_every_option(t):
    process = run_agent("--help")
    t.succeeded(process)
    t.equal(process.stderr, "", "standard error")
    options = re.findall(r"^  --(\w+)", process.stdout, re.MULTILINE)
    t.equal(options, ["conf", "port", "log", "version", "help"], "options")
    manual = (SRCDIR / "docs" / "triad-agent.8").read_text(encoding="utf-8")
    for option in options:
        t.matches(manual, re.compile(rf"^\.B[IR]? \\-\\-{option}\b", re.MULTILINE),
                  "triad-agent(8)")


def test_agent_version(t):
    process = run_agent("--version")
    t.succeeded(process)
    t.matches(process.stdout, re.compile(r"^triad-agent \d+\.\d+\.\d+\n$"), "version")


def test_agent_mistyped_options_refused(t):
    for options, part in ((("--port", "7x"), "a GUID is 0x and"),
                          (("--nothing",), "'triad-agent --help' lists the options"),
                          (("word",), "it takes options alone")):
        t.failed(run_agent(*options), 2, part)
    t.failed(run_agent("--log", "/nowhere/log"), 1, "/nowhere/log can't be opened")


if __name__ == "__main__":
    taplib.main(globals())
