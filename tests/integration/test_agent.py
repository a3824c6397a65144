# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""triad-agent on a node of a fabric whose stock opensm has no Triad: where it has the
topology from, that it counts as perfquery does, how it starts, reloads and ends."""

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

import control
from agentlib import start_agent, triadctl
from checks import failed, mentions, succeeded, wait_until
from labs import (
    AGENT, BUILDDIR, SRCDIR, Lab, Triadd, need, need_for_conf, without_images)
from triadlab import triadd
from triadlab.tcp_ports import free_address
from triadlib import ERRORS, NET, lid_of, perfquery, report_ports

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

    def __init__(self, scratch, lab, conf=QUICK, options=(), node=NODE, variables=None):
        self.folder = Path(scratch.folder())
        self.socket = self.folder / "agent.sock"
        self.conf = self.folder / "agent.conf"
        self.errors = self.folder / "stderr"
        self.write(conf)
        with open(self.errors, "w", encoding="utf-8") as errors:
            self.process = start_agent(
                lab, node, "--conf", self.conf, *options, stderr=errors,
                variables={"TRIAD_RECORD_SERVER": "1", **(variables or {})},
                preload=[RECORD])
        scratch.callback(self._end)
        if triadd.work(conf):
            Triadd(scratch, self.socket, conf)

    def write(self, conf):
        need_for_conf(conf)
        self.conf.write_text(f"{without_images(conf)}[control]\nsocket = {self.socket}\n"
                             f"[state]\ndir = {self.folder}/state\n",
                             encoding="utf-8")

    def _end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=20)

    def log(self):
        return self.errors.read_text(encoding="utf-8")

    def log_has(self, words, timeout_s=20):
        return wait_until(lambda: mentions(self.log(), words), timeout_s,
                          f"{words!r} in the log")

    def pid(self):
        return self.process.pid

    def wait(self):
        """The exit status of one that ends by itself."""
        self.process.communicate(timeout=20)
        return self.process.returncode

    def triadctl(self, *words):
        return triadctl("--socket", self.socket, *words)

    def ask(self, *words):
        return json.loads(succeeded(control.request(self.socket, *words, "--json")).stdout)

    def status(self):
        """None while nobody answers."""
        process = control.request(self.socket, "status", "--json")
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
    need(AGENT)
    return subprocess.run([BUILDDIR / "triad-agent", *map(str, options)], check=False,
                          text=True, stdin=subprocess.DEVNULL, timeout=20,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def stock_lab(scratch, net=NET, opensm=""):
    os.environ["TRIAD_RECORD_NO_SM"] = "1"
    scratch.callback(os.environ.pop, "TRIAD_RECORD_NO_SM", None)
    return Lab(net, plugin="no", opensm_conf=f"sweep_interval 1\n{opensm}",
               preload=[RECORD])


def follows_node_that_goes_and_comes(lab, agent):
    """With reports alone, long before all is looked at again."""
    wait_until(lambda: agent.status()["sa"]["state"] == "reports subscribed", 30,
               "the subscription")
    lab.sim('Unlink "Hca2"[1]')
    agent.wait_for("the node's end", "perfmgr", ports=N_PORTS - 1)
    assert [alert["at"]["node_guid"] for alert in agent.ask("alerts")["alerts"]] == \
        [HCA2], "alerts"
    lab.sim('ReLink "Hca2"[1]')
    agent.wait_for("the node's return", "perfmgr", ports=N_PORTS)


# --- the fabric ------------------------------------------------------------------

@pytest.mark.plain
@pytest.mark.row("A13")
def test_agent_counts_as_perfquery_does(scratch):
    with stock_lab(scratch) as lab:
        agent = Agent(scratch, lab)
        agent.wait_until_it_reads("sa")
        for i, name in enumerate(ERRORS[:3]):
            lab.sim(f'PerformanceSet "Switch1"[3] PortCounters.{name}={7 + i}')
        lid = agent.ask("perf", "show", "--node", SWITCH1, "--port", "3")[0]["lid"]
        before = perfquery(lab, lid, 3)
        succeeded(agent.triadctl("perf", "sweep"))
        row, = agent.ask("perf", "show", "--node", SWITCH1, "--port", "3")
        after = perfquery(lab, lid, 3)
        assert after["SymbolErrorCounter"] == 7, "what was set"
        for name in ERRORS[:3]:
            assert row["counters"][name] == after[name], name
        # MADs are data, too.
        assert before["PortXmitData"] <= row["counters"]["PortXmitData"] <= \
            after["PortXmitData"], (before, row, after)
        topology = agent.status()["topology"]
        assert [topology[name] for name in ("nodes", "switches", "hops")] == \
            [6, 2, 3], "topology"


@pytest.mark.row("A1")
def test_agent_follows_node_that_goes_and_comes(scratch):
    with stock_lab(scratch) as lab:
        agent = Agent(scratch, lab)
        agent.wait_until_it_reads("sa")
        follows_node_that_goes_and_comes(lab, agent)


def test_agent_shows_no_unseen_characters_of_names(scratch):
    """Of a description that changes the direction of text, hides or ends a line: OpenSM
    has blanks there, but the SA and the node itself give it as it is."""
    folder = scratch.folder()
    unseen = "\u202e\u2066\u2028\u200f\ufeff"
    net = folder / "net"
    net.write_text(NET.read_text(encoding="utf-8").replace('"Hca2"', f'"Hca2{unseen}"'),
                   encoding="utf-8")
    address = free_address()
    conf = f"{QUICK}[alerts]\nfile = {folder}/alerts\n[prometheus]\n" \
        f"listen = {address}\n[profile]\nfile = {folder}/profile.csv.zst\n"
    with stock_lab(scratch, net) as lab:
        agent = Agent(scratch, lab, conf)
        agent.wait_until_it_reads("sa")
        lab.sim(f'PerformanceSet "Hca2{unseen}"[1] PortCounters.SymbolErrorCounter=60')
        agent.log_has("raised")
        wait_until((folder / "alerts").exists, 30, "the alert")

        def output_of(*command):
            return subprocess.run(command, check=False, stdout=subprocess.PIPE,
                                  ).stdout.decode(errors="replace")

        outputs = [*(succeeded(agent.triadctl(*words, *more)).stdout
                     for words in (["perf", "show"], ["alerts"])
                     for more in ([], ["--json"])),
                   output_of("curl", "-s", f"http://{address}/metrics"),
                   output_of("zstd", "-dc", folder / "profile.csv.zst"),
                   (folder / "alerts").read_text(encoding="utf-8"), agent.log()]
    for output in outputs:
        assert not set(unseen) & set(output), output
        # A profile has GUIDs alone.
        assert "Hca2????" in output or "triad-profile" in output, output


def test_agent_bounds_what_reports_cost(scratch):
    with stock_lab(scratch) as lab:
        agent = Agent(scratch, lab)
        agent.wait_until_it_reads("sa")
        lid = lid_of(agent.ask("perf", "show"), NODE)
        before = agent.wait_for("the subscription", "sa",
                                state="reports subscribed")["sa"]
        report_ports(lab, lid, 1, 0, "Hca1")
        begun = time.monotonic()
        agent.wait_for("one report's reading", "sa",
                       refreshes=before["refreshes"] + 1)
        print(f"answered after {time.monotonic() - begun:.1f} s")
        report_ports(lab, lid, 80, 250, "Hca1", "Hca2")
        # The last ones may be on their way yet.
        report = wait_until(
            lambda: (now := agent.status()["sa"])["reports"] >= before["reports"] + 81
            and now["reports_not_from_sm"] >= 80 and now, 10, "all reports")
        # After 1, 3, 7 and 15 s, and the one before that.
        assert 3 <= report["refreshes"] - before["refreshes"] <= 6, "readings"
        assert (report["reports"] - before["reports"],
                report["reports_not_from_sm"]) == (81, 80), "true and forged"
        assert agent.log().count("such reports are ignored") == 1, "once"


def test_agent_that_discovers_hears_of_changes(scratch):
    with stock_lab(scratch) as lab:
        agent = Agent(scratch, lab, QUICK + "[collect]\ntopology = discover\n")
        report = agent.wait_until_it_reads("discovery")
        assert (report["sa"]["refreshes"], report["topology"]["hops"]) == (0, 3), \
            "tables read, hops"
        follows_node_that_goes_and_comes(lab, agent)


@pytest.mark.row("A13")
def test_agent_without_sa_discovers_until_one_answers(scratch):
    with stock_lab(scratch) as lab:
        sm_lid = re.search(r"sm lid (\d+)", lab.run("sminfo").stdout)[1]
        lose(lab, f"class 3 lid {sm_lid} direction in")
        agent = Agent(scratch, lab)
        agent.wait_until_it_reads("discovery")
        agent.log_has("counters are read of the ports known before")
        agent.log_has("no SA answers; the fabric is discovered until one does")
        # The very ports and counters that the SA's tables lead to.
        discovered = {(row["node_guid"], row["port"], row["remote_guid"], row["lid"])
                      for row in agent.ask("perf", "show")}
        lab.heal_mads()
        report = agent.wait_until_it_reads("sa")
        assert {(row["node_guid"], row["port"], row["remote_guid"], row["lid"])
                for row in agent.ask("perf", "show")} == discovered, "ports"
        wait_until(lambda: agent.status()["discovery"]["state"] == "not needed", 10,
                   "the end of discovering")
        assert report["perfmgr"]["trouble"] is None, "trouble"


def lose(lab, which):
    lab.harm_mads(f"lose {which}\n")


def discover_under(lab, agent, which):
    """Has it discover while MADs are lost, having done so before."""
    agent.wait_until_it_reads("discovery")
    succeeded(agent.triadctl("set", "collect.topology", "sa"))
    agent.wait_until_it_reads("sa")
    before = agent.status()["discovery"]
    assert before["silent"] == 0, "ports without answers"
    lose(lab, which)
    succeeded(agent.triadctl("set", "collect.topology", "discover"))
    return before


def test_agent_failed_discovery_changes_nothing(scratch):
    with stock_lab(scratch) as lab:
        agent = Agent(scratch, lab, QUICK + "[collect]\ntopology = discover\n")
        discover_under(lab, agent, "class 0x81")
        wait_until(lambda: agent.status()["discovery"]["failed"] >= 2, 30, "two tries")
        report = agent.status()
        assert (report["topology"]["nodes"], report["alerts"]["raised"]) == (6, 0), \
            "nodes, alerts"
        assert agent.log().count("the fabric can't be discovered") == 1, "lines"
        assert [line for line in agent.log().splitlines() if "ib" in line[:20]] == [], \
            "what libibnetdisc says"
        # Its own port doesn't answer, but its node does.
        lose(lab, "class 0x81 attribute 0x15")
        n = agent.status()["discovery"]["failed"]
        wait_until(lambda: agent.status()["discovery"]["failed"] >= n + 2, 30, "others")
        assert agent.status()["topology"]["nodes"] == 6, "nodes"
        lab.heal_mads()
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


def test_agent_whose_discovery_is_killed_says_so_and_tries_again(scratch):
    with stock_lab(scratch) as lab:
        agent = Agent(scratch, lab, QUICK + "[collect]\ntopology = discover\n")
        discover_under(lab, agent, "class 0x81")
        # Some have said all when they are killed.
        wait_until(lambda: kill_discovery(agent) and
                   "process triad-discover was ended by signal 9" in agent.log(), 30,
                   "what it says of who discovers")
        assert agent.status()["topology"]["nodes"] == 6, "nodes"
        n = agent.status()["discovery"]["discoveries"]
        lab.heal_mads()
        wait_until(lambda: agent.status()["discovery"]["discoveries"] > n, 30, "another")


def test_agent_ends_while_it_discovers(scratch):
    with stock_lab(scratch) as lab:
        agent = Agent(scratch, lab, QUICK + "[collect]\ntopology = discover\n")
        discover_under(lab, agent, "class 0x81")
        child = wait_until(lambda: discovery_of(agent), 30, "who discovers")
        begun = time.monotonic()
        os.kill(agent.pid(), signal.SIGTERM)
        assert agent.wait() == 0, "exit status"
        assert time.monotonic() - begun < 3, time.monotonic() - begun
        assert Path(f"/proc/{child}").exists() is False, "who discovers lives"


def test_agent_that_may_not_discover_waits_for_the_sa(scratch):
    with stock_lab(scratch) as lab:
        sm_lid = re.search(r"sm lid (\d+)", lab.run("sminfo").stdout)[1]
        lose(lab, f"class 3 lid {sm_lid} direction in")
        agent = Agent(scratch, lab, QUICK + "[collect]\ntopology = sa\n")
        agent.wait_for("two tries", "sa", timeout_s=40, failed=2)
        report = agent.status()
        assert (report["topology"]["from"], report["discovery"]["state"]) == \
            ("nowhere", "not needed"), "topology"
        assert mentions(report["perfmgr"]["trouble"], "fabric not known"), "why"


# --- start, reload, end ----------------------------------------------------------

def test_agent_bad_file_all_mistakes_reported(scratch):
    with stock_lab(scratch) as lab:
        agent = Agent(scratch, lab, "[perfmgr]\nwindow = 0\nspeed = 3\n[nothing]\na = b\n")
        assert agent.wait() == 2, "exit status"
        for words in ("agent.conf:2:", "agent.conf:3:", "agent.conf:4:", "3 mistake"):
            assert mentions(agent.log(), words), "log"


def test_agent_missing_file_reported(scratch):
    with stock_lab(scratch) as lab:
        agent = Agent(scratch, lab, options=("--conf", "/nowhere/agent.conf"))
        assert agent.wait() == 2, "exit status"
        assert mentions(agent.log(), "/nowhere/agent.conf"), "log"


def test_agent_keys_of_the_plugin_are_reported_once(scratch):
    with stock_lab(scratch) as lab:
        agent = Agent(scratch, lab, QUICK + "role = standby\n[qos]\nenabled = true\n"
                      "[port]\nmode = observe\n[election]\npriority = 3\n")
        agent.wait_until_it_reads("sa")
        # It looks some times a second.
        wait_until(lambda: "an agent has no routes" in agent.triadctl("congestion").stderr,
                   10, "why it explains no congestion")
        assert agent.triadctl("congestion").returncode == 1
        (line,) = [line for line in agent.log().splitlines() if "without effect" in line]
        assert mentions(line, "warning perfmgr.role qos.enabled election.priority"), "log"


def test_agent_sighup_reloads(scratch):
    with stock_lab(scratch) as lab:
        agent = Agent(scratch, lab)
        agent.wait_until_it_reads("sa")
        agent.write("[perfmgr]\nsweep_period = 7\n")
        agent.process.send_signal(signal.SIGHUP)
        agent.log_has("agent.conf: loaded")
        assert agent.status()["configuration"]["values"]["perfmgr.sweep_period"] == 7, \
            "sweep_period"
        agent.write("[perfmgr]\nsweep_period = 0\n")
        agent.process.send_signal(signal.SIGHUP)
        agent.log_has("agent.conf not loaded")
        assert agent.status()["configuration"]["values"]["perfmgr.sweep_period"] == 7, \
            "sweep_period after a mistake"
        agent.write("[perfmgr]\nsweep_period = 9\n[collect]\ntopology = discover\n")
        succeeded(agent.triadctl("reload"))
        agent.wait_for("discovery", "topology", **{"from": "discovery"})


def test_agent_sighup_opens_the_log_again(scratch):
    with stock_lab(scratch) as lab:
        log = scratch.folder() / "agent.log"
        agent = Agent(scratch, lab, options=("--log", log))
        wait_until(lambda: log.exists() and "topology: from the SA" in log.read_text(),
                   20, "the log")
        log.rename(log.with_suffix(".1"))
        agent.process.send_signal(signal.SIGHUP)
        wait_until(lambda: log.exists() and "agent.conf: loaded" in log.read_text(), 10,
                   "a new file")
        assert agent.log() == "", "standard error"


def test_agent_sigterm_ends_in_order(scratch):
    for number in (signal.SIGTERM, signal.SIGINT):
        with stock_lab(scratch) as lab:
            agent = Agent(scratch, lab)
            agent.wait_until_it_reads("sa")
            begun = time.monotonic()
            os.kill(agent.pid(), number)
            assert agent.wait() == 0, "exit status"
            took_s = time.monotonic() - begun
            assert f"{number.name}: it ends" in agent.log(), "log"
            assert agent.socket.exists() is False, "the socket is there"
            assert took_s < 3, f"it took {took_s:.1f} s"


def test_agent_ends_while_it_waits_for_the_sa(scratch):
    with stock_lab(scratch) as lab:
        sm_lid = re.search(r"sm lid (\d+)", lab.run("sminfo").stdout)[1]
        lose(lab, f"class 3 lid {sm_lid} direction in")
        agent = Agent(scratch, lab)
        wait_until(lambda: agent.status(), 10, "the agent")
        begun = time.monotonic()
        agent.process.send_signal(signal.SIGTERM)
        assert agent.wait() == 0, "exit status"
        # The kernel tries for 4 s.
        assert time.monotonic() - begun < 3, time.monotonic() - begun


# --- ports and commands ----------------------------------------------------------

def test_agent_without_port_says_so():
    process = run_agent()
    failed(process, 1, "no InfiniBand port")


def test_agent_other_port_says_which_there_are(scratch):
    with stock_lab(scratch) as lab:
        agent = Agent(scratch, lab, options=("--port", "0x1234"))
        assert agent.wait() == 1, "exit status"
        assert mentions(agent.log(), "no port 0x0000000000001234"), \
            "log"
        assert "0x0000000000100007 is active" in agent.log(), "log"


def test_agent_port_down_says_what_to_do(scratch):
    with stock_lab(scratch) as lab:
        lab.sim('Unlink "Hca3"[1]')
        agent = Agent(scratch, lab)
        assert agent.wait() == 1, "exit status"
        assert mentions(agent.log(), "no ACTIVE"), "log"
        assert mentions(agent.log(), "0x0000000000100007 down"), "log"


def test_agent_leaves_the_plugins_commands_to_it(scratch):
    with stock_lab(scratch) as lab:
        agent = Agent(scratch, lab)
        agent.wait_until_it_reads("sa")
        for words in (("qos", "plan"), ("election",), ("port", "list")):
            failed(agent.triadctl(*words), 1,
                   "Triad plugin triad-agent")
        failed(agent.triadctl("set", "web.max_clients", "0"), 1, "allowed are")
        failed(agent.triadctl("set", "control.socket", "/tmp/x"), 1,
               "then restart triad-agent")


def test_agent_beside_an_opensm_with_triad(scratch):
    """On the same port, each with its socket and its counters."""
    with Lab(NET, sms=("Hca1",), triad_conf=QUICK) as lab:
        agent = Agent(scratch, lab, QUICK, node="Hca1")
        agent.wait_until_it_reads("sa")
        succeeded(lab.run("triadctl", "perf", "sweep"))


def test_agent_has_a_socket_of_its_own_by_default(scratch):
    with stock_lab(scratch) as lab:
        agent = Agent(scratch, lab)
        agent.wait_until_it_reads("sa")
        agent.conf.write_text(QUICK, encoding="utf-8")
        agent.process.send_signal(signal.SIGHUP)
        agent.log_has("agent.conf: loaded")
        process = agent.triadctl("reload")
        succeeded(process)
        assert mentions(process.stderr, "control.socket = "
                        "/run/osmtriad/agent-0x0000000000100007.sock restarted"), "messages"


def test_agent_metrics_name_the_program(scratch):
    with stock_lab(scratch) as lab:
        address = free_address()
        agent = Agent(scratch, lab, f"{QUICK}[prometheus]\nlisten = {address}\n")
        agent.wait_until_it_reads("sa")
        text = subprocess.run(["curl", "-s", f"http://{address}/metrics"], check=True,
                              text=True, stdout=subprocess.PIPE, timeout=20).stdout
        assert 'program="triad-agent"' in text, "metrics"
        assert "triad_fabric_nodes 6" in text, "metrics"
        assert f"triad_ports {N_PORTS}" in text, "metrics"
        assert "triad_sa_reports_not_from_sm_total 0" in text, "metrics"


# --- the command line ------------------------------------------------------------

def test_agent_help_and_manual_name_every_option():
    process = run_agent("--help")
    succeeded(process)
    assert process.stderr == "", "standard error"
    options = re.findall(r"^  --(\w+)", process.stdout, re.MULTILINE)
    assert options == ["conf", "port", "log", "version", "help"], "options"
    manual = (SRCDIR / "docs" / "triad-agent.8").read_text(encoding="utf-8")
    for option in options:
        assert re.compile(rf"^\.B[IR]? \\-\\-{option}\b", re.MULTILINE).search(manual), \
            "triad-agent(8)"


def test_agent_version():
    process = run_agent("--version")
    succeeded(process)
    assert re.search(r"^triad-agent \d+\.\d+\.\d+\n$", process.stdout), \
        "version"


def test_agent_mistyped_options_refused():
    for options, part in ((("--port", "7x"), "a GUID is 0x and"),
                          (("--nothing",), "'triad-agent --help' lists the options"),
                          (("word",), "it takes options alone")):
        failed(run_agent(*options), 2, part)
    failed(run_agent("--log", "/nowhere/log"), 1, "/nowhere/log can't be opened")


@pytest.mark.row("N6")
@pytest.mark.parametrize("source, planes", [("discover", "uuuu"), ("discover", "ddud"),
                                            ("sa", "uu")])
def test_port_of_several_planes_has_two_devices(scratch, source, planes):
    """One takes SMPs alone, by the planes that are up, the other all other MADs."""
    need(AGENT)
    with stock_lab(scratch) as lab:
        Path(lab.folder, "planes").write_text(f"{NODE} {planes}\n", encoding="utf-8")
        agent = Agent(scratch, lab, QUICK + f"[collect]\ntopology = {source}\n"
                      "[devices]\nenabled = true\n")
        agent.wait_until_it_reads("discovery" if source == "discover" else "sa")
        health = agent.ask("health")
        assert health["findings"] == [], health
