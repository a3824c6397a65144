# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Tests of ports on stock opensm: links that are narrow or bad, hosts that don't say who
they are, or don't answer.  Until it is admitted a port stays in INIT, nobody is told a way
to it, and one that failed ends up disabled."""

import contextlib
import json
import os
import subprocess

import pytest

from checks import mentions, succeeded, wait_until
from pathlab import node_records
from portlib import DISABLED, POLLING, RECORD, managed, switch_guid
from test_console import Session
from triadlib import ask_json, needs_loopback_console, status

LEAF3 = switch_guid(3)
M_KEY = 0x1234


def host(number):
    """The host at leaf-03's port of that number."""
    return f"host-{number + 8:04}"


def host_guid(number):
    return 0x0200000100000001 + 0x10 * (number + 8)


def link_state(ports, number):
    """Of leaf-03's port, as the host at its port 4 sees it."""
    process = ports.lab.run("smpquery", "-D", "portinfo", "0,1", str(number),
                            node=host(4))
    for line in process.stdout.splitlines():
        if line.startswith("LinkState:"):
            return line.split(".")[-1]
    return process.stderr


def plug_in_for_test(ports, numbers, **changes):
    """Hosts are unplugged, are to be tested, and plugged in again."""
    ports.lab.sim(*(f'Unlink "leaf-03"[{number}]' for number in numbers))
    for number in numbers:
        ports.wait_for("leaf-03", number, "down")
        ports.expected.change(LEAF3, number, state="test",
                              **changes.get(f"port_{number}", {}))
    ports.load()
    ports.plug_in(*(f'"leaf-03"[{number}]' for number in numbers))


def deeds(ports, number):
    return ports.deeds(LEAF3, number)


def watch(ports, number, until):
    """Looks at the link until something is so; what states it was in before it was
    admitted."""
    states = set()

    def is_so():
        state = link_state(ports, number)
        if not any(deed == "admit" for deed, _, _ in deeds(ports, number)):
            states.add(state)
        return until()
    wait_until(is_so, 60, f"the end of the test of port {number}")
    return states


def is_admitted(ports, number):
    return ("admit", "done", "expected") in deeds(ports, number)


def is_disabled(ports, number):
    return deeds(ports, number)[-1:] and deeds(ports, number)[-1][:2] == ("disable", "done")


PASSED = [("test", "intended", "expected"), ("admit", "intended", "expected"),
          ("admit", "done", "expected")]


def failed(reason, *before):
    return [("test", "intended", "expected"), *before, ("fail", "done", reason),
            ("disable", "intended", reason), ("disable", "done", reason)]


def last_text(ports, number, deed):
    return next(one["text"] for one in ports.history()
                if one["port"] == number and one["deed"] == deed)


# --- the link -------------------------------------------------------------------

def narrow(text):
    """The link of leaf-03's port 3 runs at a quarter of its width."""
    lines = text.splitlines(keepends=True)
    for at, line in enumerate(lines):
        if '"host-0011"[1]' in line or '"leaf-03"[3]' in line:
            lines[at] = line.replace("4xEDR", "1xEDR")
    return "".join(lines)


@pytest.mark.threads
@pytest.mark.threads_short
@pytest.mark.plain
@pytest.mark.row("E10")
def test_narrow_link_under_test_fails_with_its_step():
    with managed(port={"test_timeout": 4}, edit=narrow) as ports:
        assert ports.expected.rows[(LEAF3, 3)][4] == "1x", "the width in the snapshot"
        plug_in_for_test(ports, [3], port_3={"width": "4x"})
        ports.wait_for("leaf-03", 3, "testing")
        row = ports.row("leaf-03", 3)
        assert (row["test"], row["held"]) == ("presence", True), "step, held"
        states = watch(ports, 3, lambda: is_disabled(ports, 3))
        assert states == {"Initialize"}, "the states of the link"
        assert deeds(ports, 3) == failed("timer"), "what was done"
        assert mentions(last_text(ports, 3, "fail"), "presence 4.0 s 1x EDR 4x")
        ports.wait_for("leaf-03", 3, "failed")
        assert [one.phys_state for one in ports.check()] == [DISABLED], "what was sent"


def test_narrow_link_expected_enabled_noted_only():
    with managed(edit=narrow) as ports:
        ports.expected.change(LEAF3, 3, width="4x")
        ports.load()
        wait_until(lambda: (ports.row("leaf-03", 3) or {}).get("note") == "width", 30,
                   "a note")
        row = ports.row("leaf-03", 3)
        assert (row["action"], row["found"]) == ("note", "active"), "the row"
        assert mentions(row["text"], "link 1x 4x")
        plan = ports.lab.run("triadctl", "port", "plan")
        succeeded(plan)
        assert "notes 1\n" in plan.stdout
        ports.sweep()
        ports.check(expected_sets=0)


def wait_for_smps(ports, number):
    wait_until(lambda: "sends SMPs" in (ports.row("leaf-03", number)["text"] or ""), 30,
               "SMPs through the link")


# 16 bits would be full before, and show nothing.
@pytest.mark.row("E10")
@pytest.mark.parametrize("attribute, before", [("PortCounters", 0),
                                               ("PortCountersExtended", 70000)])
def test_errors_during_the_test_fail_its_quality(attribute, before):
    symbols = f'PerformanceSet "leaf-03"[3] {attribute}.SymbolErrorCounter'
    with managed(port={"test_time": 4}) as ports:
        ports.lab.sim(f"{symbols}={before}")
        plug_in_for_test(ports, [2, 3])
        for number in (2, 3):
            wait_for_smps(ports, number)
        ports.lab.sim(f"{symbols}={before + 5}")
        states = watch(ports, 3, lambda: is_disabled(ports, 3))
        assert states == {"Initialize"}, "the states of the link"
        assert deeds(ports, 3) == failed("quality"), "what was done"
        assert mentions(last_text(ports, 3, "fail"), "quality near end 5 errors 0"), "why"
        # The one beside it is as good as it was.
        watch(ports, 2, lambda: is_admitted(ports, 2))
        assert deeds(ports, 2) == PASSED, "what was done at port 2"
        ports.wait_for("leaf-03", 2, "active")
        ports.check(expected_sets=1)


def test_active_link_taken_down_before_its_test():
    with managed() as ports:
        ports.expected.change(LEAF3, 3, state="test")
        ports.load()
        wait_until(lambda: len(ports.sets()) == 2, 30, "a bounce")
        # The simulator's links don't train after that by themselves.
        ports.lab.sim('Unlink "leaf-03"[3]', 'ReLink "leaf-03"[3]')
        states = watch(ports, 3, lambda: is_admitted(ports, 3))
        assert "Armed" not in states, states
        # A sweep before the simulator's cable was out has seen a link to be tested, too.
        done = deeds(ports, 3)
        done = [deed for before, deed in zip([None, *done], done) if deed != before]
        assert done == \
            [("bounce", "intended", "expected"),
             ("bounce", "done", "expected"), *PASSED], "what was done"
        ports.wait_for("leaf-03", 3, "active")
        assert [one.phys_state for one in ports.check(expected_sets=2)] == \
            [DISABLED, POLLING], "what was sent"


# --- the far end ----------------------------------------------------------------

def test_host_without_its_name_fails_by_the_timer():
    with managed(port={"test_timeout": 8}) as ports:
        plug_in_for_test(ports, [2, 3], port_2={"check": "name=compute-*"},
                         port_3={"check": "name=host-0011*"})
        states = watch(ports, 2, lambda: is_disabled(ports, 2))
        assert states == {"Initialize"}, "the states of the link"
        assert deeds(ports, 2) == failed("timer"), "what was done"
        assert mentions(last_text(ports, 2, "fail"), "application 8.0 s")
        assert 'calls itself "host-0010' in last_text(ports, 2, "fail")
        assert deeds(ports, 3) == PASSED, "what was done where the name fits"
        ports.wait_for("leaf-03", 3, "active")
        ports.check(expected_sets=1)


@contextlib.contextmanager
def serving_pings(ports, node):
    server = ports.lab.start("ibping", "-S", node=node, after=[RECORD],
                             variables={"TRIAD_RECORD_SERVER": "1"},
                             stderr=subprocess.PIPE)
    try:
        yield
    finally:
        server.terminate()
        said = server.communicate()[1]
    assert said == "", "what ibping said"


def lead_requests_to_servers(scratch):
    os.environ["TRIAD_RECORD_NO_SM"] = "1"
    scratch.callback(os.environ.pop, "TRIAD_RECORD_NO_SM", None)


@pytest.mark.row("E10")
def test_host_answers_ping_or_fails(scratch):
    lead_requests_to_servers(scratch)
    with managed(port={"test_timeout": 15}) as ports, serving_pings(ports, host(3)):
        plug_in_for_test(ports, [2, 3], port_2={"check": "ping"}, port_3={"check": "ping"})
        wait_until(lambda: is_admitted(ports, 3), 40, "the host that answers")
        assert deeds(ports, 3) == PASSED, "what was done at its port"
        wait_until(lambda: is_disabled(ports, 2), 40, "the other one disabled")
        assert deeds(ports, 2) == failed("timer", PASSED[1]), "what was done there"
        assert "is ibping -S running there?" in last_text(ports, 2, "fail")
        ports.wait_for("leaf-03", 3, "active")
        ports.check(expected_sets=1)


def test_errors_of_the_far_end_fail_the_admission(scratch):
    lead_requests_to_servers(scratch)
    with managed(port={"test_timeout": 60}) as ports:
        plug_in_for_test(ports, [3], port_3={"check": "ping"})
        # Its counters were read before it was asked.
        wait_until(lambda: "no answer to a ping" in (ports.row("leaf-03", 3)["text"] or ""),
                   40, "the admission")
        assert ports.row("leaf-03", 3)["state"] == "active", "the port's state"
        ports.lab.sim('PerformanceSet "host-0011"[1] PortCounters.PortRcvErrors=7')
        with serving_pings(ports, host(3)):
            wait_until(lambda: is_disabled(ports, 3), 40, "the port disabled")
        assert deeds(ports, 3) == failed("application", PASSED[1]), "what was done"
        assert mentions(last_text(ports, 3, "fail"), "admission far end 7 errors")
        ports.check(expected_sets=1)


# --- while it is held -----------------------------------------------------------

def path_records(ports, source, target):
    """How many PathRecords there are from one LID to the other, as a host asks."""
    process = ports.lab.run("saquery", "PR", "--slid", str(source), "--dlid", str(target),
                            node="host-0002")
    return process.stdout.count("PathRecord dump")


def look_at_held(ports):
    """What Triad, which answers, says of the two requests and of the next one."""
    words = ["qos", "explain", "--src", host(1), "--dst", host(3), "--json"]
    explained = json.loads(ports.ask(*words))
    assert mentions(explained["answer"], f"no path {host(3)} HCA-1 port 1 held")
    assert explained["path"] is None
    qos = json.loads(ports.ask("status", "--json"))["qos"]
    assert qos["held"] >= 2, "requests to and from the port"
    clients = json.loads(ports.ask("qos", "clients", "--json"))
    assert [one["without_path"] for one in clients] == [qos["held"]], "the client's"


def check_shown_in_init(lab):
    """A link that is held is in INIT, wherever it is shown, and nothing passes it."""
    def state(*words):
        process = lab.run("triadctl", *words, "--node", "leaf-03:3", "--json")
        return [row["state"] for row in json.loads(process.stdout or "[]")]

    wait_until(lambda: state("links") == ["init"], 10, lambda: f"init: {state('links')}")
    assert state("perf", "show") == ["init"], "counters"
    assert ask_json(lab, "links", "--down") == [], "links that are down"
    wait_until(lambda: lab.triad("routes", "check").returncode != 3, 10, "a check of routes")
    assert ask_json(lab, "routes", "check")["pairs"] == 110, "pairs of the other hosts"


@pytest.mark.row("E10")
@pytest.mark.parametrize("more", ["", "[qos]\nenabled = true\n"],
                         ids=["by OpenSM", "by Triad"])
def test_paths_to_held_port_none(more):
    with managed(port={"test_time": 5}, more=more) as ports:
        lids = {int(guid, 16): lid for lid, guid in node_records(ports.lab)}
        here, there = lids[host_guid(2)], lids[host_guid(3)]
        other = lids[host_guid(1)]
        assert path_records(ports, other, there) == 1, "no path before"
        succeeded(ports.lab.run("triadctl", "set", "perfmgr.enabled", "true"))
        plug_in_for_test(ports, [3])
        wait_for_smps(ports, 3)
        check_shown_in_init(ports.lab)
        assert path_records(ports, other, there) == 0, "paths to a port that is held"
        assert path_records(ports, there, other) == 0, "paths from it"
        assert path_records(ports, other, here) == 1, "paths to its neighbour"
        if more:
            look_at_held(ports)
        assert deeds(ports, 3) == PASSED[:1], "what was done meanwhile"
        assert link_state(ports, 3) == "Initialize", "the link"
        assert ports.status()["held"] == 1, "ports held, by 'status'"
        wait_until(lambda: is_admitted(ports, 3), 40, "the port admitted")
        ports.wait_for("leaf-03", 3, "active")
        assert path_records(ports, other, there) == 1, "paths after its admission"
        assert path_records(ports, there, other) == 1, "paths from it"
        ports.check(expected_sets=0)


# --- keys -----------------------------------------------------------------------

def test_m_key_of_opensm_in_every_set(scratch):
    os.environ["TRIAD_RECORD_M_KEY"] = f"{M_KEY:#x}"
    scratch.callback(os.environ.pop, "TRIAD_RECORD_M_KEY", None)
    conf = f"sweep_interval 1\nm_key {M_KEY:#x}\nm_key_protection_level 1\n"
    with managed(opensm_conf=conf, port={"grace": 0, "drain": 0}) as ports:
        ports.expected.change(LEAF3, 3, state="disabled")
        ports.expected.change(LEAF3, 2, state="test")
        ports.load()
        ports.wait_for("leaf-03", 3, "disabled")
        wait_until(lambda: len(ports.sets()) == 3, 30, "a bounce")
        assert {one.m_key for one in ports.check()} == {M_KEY}, "the M_Keys of Set()"


def silent_lids(lab, node):
    """LIDs of hosts and switches that no SMP by LID reaches from there."""
    lids = " ".join(str(lid) for lid, _ in node_records(lab))
    return lab.run("sh", "-c", f"for lid in {lids}; do "
                   "smpquery nodeinfo $lid >/dev/null 2>&1 || echo $lid; done",
                   node=node).stdout.split()


@pytest.mark.parametrize("engine, cache", [("minhop", "FALSE"), ("minhop", "TRUE"),
                                           ("updn", "FALSE"), ("lash", "FALSE")])
def test_only_link_between_two_switches_is_routed_around_while_held(engine, cache):
    with managed(fabric=("fat-tree", "--hosts", "8", "--radix", "4"),
                 opensm_conf=f"sweep_interval 1\nrouting_engine {engine}\n"
                             f"use_ucast_cache {cache}\n",
                 port={"test_timeout": 60}, retrain=True) as ports:
        # Routes lead over it; it is taken down for the test for a moment.
        ports.expected.change(switch_guid(2), 3, state="test", check="name=nobody")
        ports.load()
        wait_until(lambda: ports.row("leaf-02", 3)["held"], 40, "the link held")
        ports.sweep()
        assert ask_json(ports.lab, "repair", "plan", "leaf-02:4")["engine"] == engine
        for node in ("host-0002", "host-0003"):
            assert not silent_lids(ports.lab, node), f"from {node}"
        assert ports.row("leaf-02", 3)["state"] == "init", "the link"
        process = ports.lab.triad("repair", "settle")
        assert process.returncode == 1 and mentions(process.stderr, "under test"), process
        ports.check(expected_sets=2)


def test_routes_without_a_sweep_are_soon_without_a_held_link():
    needs_loopback_console()
    with managed(fabric=("fat-tree", "--hosts", "8", "--radix", "4"), console="loopback",
                 opensm_conf="sweep_interval 0\n", port={"test_timeout": 60},
                 retrain=True) as ports:
        ports.expected.change(switch_guid(2), 3, state="test", check="name=nobody")
        ports.load()
        wait_until(lambda: ports.row("leaf-02", 3)["held"], 40, "the link held")
        n_sweeps = status(ports.lab)["topology"]["sm_sweeps"]
        session = Session(ports.lab.status()["sms"][0]["console_port"])
        session.type("reroute")
        session.close()
        wait_until(lambda: status(ports.lab)["topology"]["sm_sweeps"] > n_sweeps, 20, "a sweep")
        wait_until(lambda: not silent_lids(ports.lab, "host-0002"), 20, "all are reached")
