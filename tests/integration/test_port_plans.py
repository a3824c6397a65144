# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The port manager's plans on stock opensm: what guards stop, more than may be done at
once, ports that are phased out, and what is only observed."""

import json
import re
import threading
import time

import pytest

from checks import failed, mentions, succeeded, wait_until
from portlib import DISABLED, managed, switch_guid
from triadlib import health_findings, log_has

LEAF1, LEAF2, LEAF3, SPINE1, SPINE2 = (switch_guid(number) for number in range(1, 6))

# Links of leaf-02 to spines, with the end nearer to the SM second.
UPLINKS = [(5, SPINE1, 3), (6, SPINE1, 4), (7, SPINE2, 3), (8, SPINE2, 4)]


def disable_uplinks(ports):
    for near, spine, far in UPLINKS:
        ports.expected.change(LEAF2, near, state="disabled")
        ports.expected.change(spine, far, state="disabled")


def planned(ports, *words):
    process = ports.lab.run("triadctl", "port", "plan", *words)
    return process.returncode, process.stdout


def found(ports, words):
    return health_findings(ports.lab, words)


# --- guards ---------------------------------------------------------------------

@pytest.mark.row("X3")
def test_last_uplink_stopped_by_its_guard_and_approved_by_hand():
    with managed(port={"grace": 0, "drain": 0, "max_actions": 20}) as ports:
        disable_uplinks(ports)
        ports.load()
        for node, port in (("spine-01", 3), ("spine-01", 4), ("spine-02", 3)):
            ports.wait_for(node, port, "disabled")
        # The far ends of what is disabled stay as they are in the simulator.
        for port in (5, 6, 7):
            ports.wait_for("leaf-02", port, "disabled")
        ports.sweep()
        row = ports.row("spine-02", 4)
        assert (row["found"], row["action"], row["guard"]) == \
            ("active", "disable", "split"), "the last one"
        behind = "leaf-02 (0x0200000200000020), host-"
        assert f"not done: {behind}" in row["text"] and \
            mentions(row["text"], "reached 'port approve NODE PORT'"), row
        assert row["nodes_lost"] == 5, "leaf-02 and its hosts"
        assert ports.row("leaf-02", 8)["note"] == "other_end", "its other end"
        assert ports.row("leaf-02", 1)["found"] == "active", "a host behind it"
        code, text = planned(ports)
        assert (code, "stopped by a guard 1" in text) == (3, True), "the plan"
        assert found(ports, "1 stopped by a guard"), "a finding"
        assert len(ports.sets()) == 6, "what was sent so far"
        assert mentions(ports.ask("port", "approve"), "0 approved")
        ports.sweep()
        assert len(ports.sets()) == 6, "what was sent when all was approved"
        assert mentions(ports.ask("port", "approve", "spine-02", "4"),
                        f"spine-02 port 4 approved {behind}"), "the answer"
        ports.wait_for("spine-02", 4, "disabled")
        wait_until(lambda: ports.row(f"{LEAF2:#x}", 1)["found"] == "absent", 60,
                   "leaf-02 gone")
        wait_until(lambda: not found(ports, "stopped by a guard"), 30, "its end")
        assert ports.status()["state"] == "enforcing", "state"
        ports.check(expected_sets=7)


@pytest.mark.row("X3")
def test_file_of_a_few_rows_cuts_off_nothing_that_it_does_not_name():
    with managed(port={"grace": 0, "drain": 0, "max_actions": 20}) as ports:
        disable_uplinks(ports)
        ports.expected.rows = {(spine, far): ports.expected.rows[spine, far]
                               for _, spine, far in UPLINKS}
        ports.load()
        for node, port in (("spine-01", 3), ("spine-01", 4), ("spine-02", 3)):
            ports.wait_for(node, port, "disabled")
        ports.sweep()
        row = ports.row("spine-02", 4)
        assert (row["found"], row["guard"], row["nodes_lost"]) == ("active", "split", 5)
        assert ports.status()["guarded"] == 1, "stopped, by 'status'"
        ports.check(expected_sets=3)


def test_plan_shows_links_that_get_the_pairs_of_others():
    with managed(port={"mode": "observe", "grace": 0, "drain": 0},
                 state="observing") as ports:
        for near, spine, far in UPLINKS[:3]:
            ports.expected.change(LEAF2, near, state="disabled")
            ports.expected.change(spine, far, state="disabled")
        ports.load()

        def effect():
            return json.loads(planned(ports, "--json")[1]).get("routes")

        answer = wait_until(effect, 30, "what the plan does to routes")
        assert (answer["hosts_lost"], answer["pairs_lost"]) == (0, 0), answer
        gains = {(link["node_name"], link["port"]): link["pairs_then"]
                 for link in answer["links_that_gain"]}
        # Four hosts to eight others, and back.
        assert gains["leaf-02", 8] == gains["spine-02", 4] == 32, answer
        assert answer["pairs_moved"] >= 32, answer


def test_what_the_port_manager_takes_down_is_no_alert():
    with managed(port={"grace": 0, "drain": 0}) as ports:
        ports.lab.run("triadctl", "set", "perfmgr.enabled", "true")
        wait_until(lambda: ports.ask_ok("perf", "sweep"), 30, "counters")
        ports.expected.change(LEAF3, 3, state="disabled")
        ports.expected.change(LEAF2, 3, state="test")
        ports.load()
        ports.wait_for("leaf-03", 3, "disabled")
        wait_until(lambda: ("test", "intended", "expected") in ports.deeds(LEAF2, 3), 30,
                   "the test of a port that was active")
        # The simulator does not bring a link up that was taken down.
        for host in ("host-0007", "host-0011"):
            wait_until(lambda host=host: host in ports.ask("history"), 30, "a loss")
        ports.sweep()
        assert "left the fabric" not in ports.ask("alerts"), "alerts so far"
        found = json.loads(ports.lab.triad("health", "--json").stdout)["findings"]
        assert not [it for it in found if "host-00" in it["at"]], "health"
        ports.lab.sim('Unlink "leaf-02"[4]')
        wait_until(lambda: "left the fabric" in ports.ask("alerts"), 30, "one by itself")
        ports.check()


@pytest.mark.row("X3")
def test_own_link_stopped_by_its_guard():
    with managed(port={"grace": 0, "drain": 0}) as ports:
        ports.expected.change(LEAF1, 1, state="disabled")
        ports.load()
        wait_until(lambda: (ports.row("leaf-01", 1) or {}).get("guard") == "own_way", 30,
                   "a guard")
        assert mentions(ports.row("leaf-01", 1)["text"], "not done SM's own link")
        failed(ports.lab.run("triadctl", "port", "approve", "leaf-01", "1"), 1,
               "this SM's own link")
        ports.expected.rows["by name"] = ["nowhere-01", "1", "disabled"] + [""] * 4
        ports.load()
        wait_until(lambda: "notes 1\n" in planned(ports)[1], 30, "the note")
        notes = [row["note"] for row in
                 json.loads(planned(ports, "--json")[1])["ports"] if row["note"]]
        assert notes == ["no_switch"], "as a row"
        ports.sweep()
        assert ports.status()["guarded"] == 1, "stopped, by 'status'"
        ports.check(expected_sets=0)


def test_files_that_are_not_taken_fail_the_command_that_names_them():
    with managed(more="[qos]\nenabled = true\n") as ports:
        lab, path = ports.lab, ports.file_of(0)
        failed(lab.run("triadctl", "set", "qos.policy_file", "/nowhere"), 1, "/nowhere")
        failed(lab.run("triadctl", "set", "port.expected_file", "/nowhere"), 1, "/nowhere")
        succeeded(lab.run("triadctl", "reload"))
        path.chmod(0o666)
        failed(lab.run("triadctl", "reload"), 1, f"{path}: not loaded")
        ports.check(expected_sets=0)


# --- many -----------------------------------------------------------------------

def sets_by_sweep(ports):
    """How many ports were changed after each heavy sweep, which begins with the NodeInfo
    of the SM's own node."""
    counts = [0]
    for line in (ports.folder / "record").read_text(encoding="ascii").splitlines():
        words = line.split()
        if words[:3] == ["81", "1", "11"] and words[8] == "-":
            counts.append(0)
        elif words[:3] == ["81", "2", "15"] and words[9][66] == str(DISABLED):
            counts[-1] += 1
    return [n for n in counts if n]


def test_more_than_max_actions_stopped_until_approved():
    places = [(LEAF2, "leaf-02", port) for port in (2, 3, 4)] + \
        [(LEAF3, "leaf-03", port) for port in (1, 2)]
    with managed(port={"grace": 0, "drain": 0, "max_actions": 2}) as ports:
        for guid, _, port in places:
            ports.expected.change(guid, port, state="disabled")
        ports.load()
        ports.wait_for_state("stopped")
        log_has(ports.lab, "STOPPED 5 ports port.max_actions 2 'triadctl port approve'")
        code, text = planned(ports)
        assert code == 3, "exit status of the plan"
        assert mentions(text, "STOPPED 5 ports")
        assert "waits for 'port approve'" in text and "waits for its time" not in text
        ports.sweep()
        assert ports.sets() == [], "what was sent before"
        assert ports.lab.log().count("ports: STOPPED") == 1, "lines in the log"
        assert mentions(ports.ask("port", "approve"), "5 approved")
        for _, node, port in places:
            ports.wait_for(node, port, "disabled")
        ports.wait_for_state("enforcing")
        counts = sets_by_sweep(ports)
        assert max(counts) <= 2, f"between sweeps: {counts}"
        # It was meant once, not for ever.
        for guid, _, port in places:
            ports.expected.change(guid, port, state="enabled")
        ports.load()
        ports.wait_for_state("stopped")
        ports.check(expected_sets=5)


def test_one_of_too_many_approved_alone():
    with managed(port={"grace": 0, "drain": 0, "max_actions": 1}) as ports:
        for port in (1, 2, 3):
            ports.expected.change(LEAF3, port, state="disabled")
        ports.load()
        ports.wait_for_state("stopped")
        ports.ask("port", "approve", "leaf-03", "2")
        ports.wait_for("leaf-03", 2, "disabled")
        ports.sweep()
        assert [one.port for one in ports.check()] == [2], "ports that were changed"
        assert ports.status()["state"] == "stopped", "state"


# --- phasing out ----------------------------------------------------------------

# For how long Triad measures a port's traffic.
MEASURED_S = 0.5


class Traffic:
    """Data counters of leaf-03's port 3 that grow all the time, unless a busy machine
    keeps this thread waiting."""

    def __init__(self, ports):
        self._last_s, self._longest_pause_s = time.monotonic(), 0.0
        self._console = ports.lab.console()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self):
        words = 0
        while not self._stop.is_set():
            words += 1 << 20
            for _ in self._console.ask(['PerformanceSet "leaf-03"[3] '
                                        f"PortCountersExtended.PortXmitData={words}"]):
                pass
            self._longest_pause_s, self._last_s = self._pause_s(), time.monotonic()
            time.sleep(0.01)

    def _pause_s(self):
        """The longest one, with that of this moment."""
        now_s = time.monotonic() if self._thread.is_alive() else self._last_s
        return max(self._longest_pause_s, now_s - self._last_s)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()

    def was_stopped(self, ports):
        """Whether there was none, for Triad, because a busy machine kept this thread
        waiting.  A counter may be set a pause before that is known."""
        return min(rates(ports), default=2048) <= 1024 and \
            2 * self._pause_s() >= MEASURED_S


def rates(ports):
    return [int(rate) for rate in re.findall(
        r"ports: leaf-03 port 3: (\d+) octets/s before", ports.lab.log())]


def repeat_while_stopped(attempt):
    """Calls attempt(), three times at most, until it does not return false: that a busy
    machine stopped its traffic."""
    assert any(attempt() for _ in range(3)), "the traffic was stopped each time"


@pytest.mark.row("E9")
def test_active_port_phased_out_after_its_traffic():
    def attempt():
        with managed(port={"grace": 2, "drain": 600, "quiet": 1}) as ports:
            with Traffic(ports) as traffic:
                ports.expected.change(LEAF3, 3, state="disabled")
                ports.load()
                log_has(ports.lab, "port 3: disabled 2 s expected disabled")
                wait_until(lambda: len(rates(ports)) >= 3 or traffic.was_stopped(ports),
                           60, "looks at its traffic")
                if traffic.was_stopped(ports):
                    return False
                row = ports.row("leaf-03", 3)
                assert (row["found"], row["agenda"]) == ("active", "draining"), row
                assert ports.sets() == [], "what was sent while there was traffic"
            ports.wait_for("leaf-03", 3, "disabled")
            found = rates(ports)
            assert min(found[:3]) > 1024 and found[-1] <= 1024, found
            assert ports.lab.log().count("going to be disabled") == 1, "warnings"
            ports.check(expected_sets=1)
        return True

    repeat_while_stopped(attempt)


def test_active_port_with_traffic_disabled_when_drain_is_over():
    def attempt():
        with managed(port={"grace": 1, "drain": 4, "quiet": 1}) as ports:
            with Traffic(ports) as traffic:
                ports.expected.change(LEAF3, 3, state="disabled")
                ports.load()
                ports.wait_for("leaf-03", 3, "disabled")
            ports.check(expected_sets=1)
            if traffic.was_stopped(ports):
                return False
            assert len(rates(ports)) > 1 and min(rates(ports)) > 1024, rates(ports)
        return True

    repeat_while_stopped(attempt)


def test_port_expected_enabled_again_in_its_grace_left_alone():
    with managed(port={"grace": 3600}) as ports:
        ports.expected.change(LEAF3, 3, state="disabled")
        ports.load()
        log_has(ports.lab, "port 3: disabled 3600 s")
        assert ports.row("leaf-03", 3)["agenda"] == "grace", \
            "the port's state in the agenda"
        ports.expected.change(LEAF3, 3, state="enabled")
        ports.load()
        wait_until(lambda: planned(ports)[0] == 0, 30, "a plan with nothing to do")
        ports.sweep()
        assert ports.row("leaf-03", 3)["found"] == "active", "the port"
        ports.check(expected_sets=0)


# --- observing ------------------------------------------------------------------

@pytest.mark.row("X3")
def test_observe_mode_plans_and_does_nothing():
    port = {"mode": "observe", "grace": 0, "drain": 0}
    with managed(port=port, state="observing") as ports:
        assert planned(ports)[0] == 0, "exit status of the first plan"
        ports.expected.change(LEAF3, 3, state="disabled")
        ports.expected.change(LEAF3, 2, state="test")
        ports.load()
        wait_until(lambda: planned(ports)[0] == 3, 30, "a plan")
        text = planned(ports)[1]
        assert mentions(text, "disable 1 enable 0 test 1 guard 0")
        assert mentions(text, "nothing port.mode observe")
        assert found(ports, "1 is not expected configuration"), "a deviation is a finding"
        wait_until(lambda: "nor have 2 hosts\n" in planned(ports)[1], 30,
                   "what the plan does to routes")
        for words in (("release", "leaf-03", "3"), ("approve", "leaf-03", "3"),
                      ("approve",)):
            failed(ports.lab.run("triadctl", "port", *words), 1,
                   f"port {words[0]} port.mode observe")
        ports.sweep()
        for number in (2, 3):
            assert ports.row("leaf-03", number)["found"] == "active", "a port"
        assert ports.history() == [], "what was done"
        ports.ask("set", "port.mode", "enforce")
        ports.wait_for("leaf-03", 3, "disabled")
        wait_until(lambda: not found(ports, "expected configuration"), 30, "its end")
        wait_until(lambda: len(ports.sets()) == 3, 30, "a bounce for the test")
        ports.check(expected_sets=3)


# --- words that are wrong -------------------------------------------------------

@pytest.mark.plain
def test_commands_with_wrong_words_refused():
    with managed() as ports:
        for words, code, part in (
                (("release", "leaf-03", "0"), 2, "switch 1 254"),
                (("release", "leaf-03", "255"), 2, "switch 1 254"),
                (("approve", "leaf-03", "x"), 2, "switch 1 254"),
                (("release", "leaf-03"), 2, "port release"),
                (("approve", "leaf-03"), 2, "port approve"),
                (("release", "leaf-09", "1"), 1, "no switch 'leaf-09'"),
                (("release", "leaf-09:1"), 1, "'leaf-09' 'leaf-01'"),
                (("release", "leaf-03:2", "1"), 1, "port 2"),
                (("approve", "host-0002", "1"), 1, "no switch 'host-0002'"),
                (("history", "--node", "leaf-09"), 1, "no switch 'leaf-09'"),
                (("plan", "--node", "leaf-09"), 1, "no switch 'leaf-09'"),
                (("release", "0x99", "1"), 1, "not disabled as failed"),
                (("release", "leaf-03", "200"), 1, "not disabled as failed"),
                (("release", "leaf-03:200"), 1, "not disabled as failed"),
                (("release", "leaf-03:0"), 1, "ports from 1"),
                (("approve", "0x99", "1"), 1, "nothing to do"),
                (("approve", "leaf-03", "1"), 1, "nothing to do")):
            failed(ports.lab.run("triadctl", "port", *words), code, part)
        assert ports.history() == [], "what was done"
        ports.check(expected_sets=0)
