# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The port manager on three stock opensms that elect: the master dies or stops between
what it plans, does and writes down.  In each case everything that was sent was permitted,
within its term, and in a journal; and the next one knows what was done."""

import os
import signal
import time

import pytest

from checks import failed, mentions, succeeded, wait_until
from electionlib import others
from portlib import DISABLED, managed, switch_guid
from triadlab import hosts, state

LEAF1, LEAF2, LEAF3 = (switch_guid(number) for number in (1, 2, 3))

# How long a stopped program stays so.
PAUSE_S = 10


def kill(ports, sm):
    hosts.kill(state.load_required(ports.lab.folder), sm, "opensm")


def next_one(ports, old):
    """Who may enforce after 'old', and does."""
    new = ports.cluster.wait_for_holder(among=others(old))
    ports.wait_for_state("enforcing", new)
    return new


def miswire(ports):
    """A host is where another one should be."""
    ports.lab.sim('Unlink "leaf-03"[2]', 'Unlink "leaf-03"[3]',
                  'Link "leaf-03"[2] "host-0011"[1]')


def signal_at_first_set(scratch, ports_folder, number):
    """Whoever sends the first Set that disables a port has that signal then."""
    marker = ports_folder / "signal"
    os.environ["TRIAD_RECORD_SIGNAL"] = f"{int(number)} {marker}"
    scratch.callback(os.environ.pop, "TRIAD_RECORD_SIGNAL", None)
    return marker


def deeds(ports, sm, node_guid, port):
    return [(one["deed"], one["outcome"]) for one in reversed(ports.history(sm=sm))
            if int(one["node_guid"], 16) == node_guid and one["port"] == port]


@pytest.mark.plain
@pytest.mark.row("E12")
def test_new_generation_reaches_all_and_older_one_is_refused():
    with managed("peers") as ports:
        old = ports.master
        ports.expected.change(LEAF2, 3, state="disabled")
        generation = ports.load(old)
        for sm in range(3):
            ports.wait_for_generation(generation, sm)
        ports.wait_for("leaf-02", 3, "disabled", sm=old)
        stale = others(old)[0]
        ports.expected.generation = 0
        ports.expected.write(ports.file_of(stale))
        wait_until(lambda: ports.status(stale)["mistakes"], 10, "the old one refused")
        report = ports.status(stale)
        assert f"older than {generation}" in report["mistake"], "the reason"
        assert report["generation"] == generation, "generation in force"
        failed(ports.lab.triad("reload", sm=stale), 1, f"older than {generation}")
        succeeded(ports.lab.triad("reload", sm=old))
        ports.check(expected_sets=1)


def test_master_killed_between_warning_and_act_next_one_warns_anew():
    with managed("peers", port={"grace": 4}) as ports:
        old = ports.master
        ports.expected.change(LEAF3, 4, state="disabled")
        ports.load(old)
        wait_until(lambda: "going to be disabled" in ports.lab.log(old), 20, "a warning")
        kill(ports, old)
        assert ports.sets() == [], "what was sent by the old one"
        new = next_one(ports, old)
        ports.wait_for("leaf-03", 4, "disabled", sm=new)
        assert "going to be disabled" in ports.lab.log(new), "the new one's log"
        assert deeds(ports, new, LEAF3, 4) == \
            [("disable", "intended"), ("disable", "done")], "what was done"
        ports.check(expected_sets=1)


def test_master_killed_between_act_and_journal_next_one_knows_the_port_is_ours(scratch):
    folder = scratch.folder()
    marker = signal_at_first_set(scratch, folder, signal.SIGKILL)
    with managed("peers") as ports:
        old = ports.master
        marker.touch()
        miswire(ports)
        new = next_one(ports, old)
        assert [(one.port, one.phys_state) for one in ports.sets()] == \
            [(2, DISABLED)], "what the old one sent"
        row = ports.wait_for("leaf-03", 2, "failed", sm=new)
        assert "leads to host-0011" in row["text"]
        assert deeds(ports, new, LEAF3, 2) == [("disable", "intended")], "what is known"
        ports.check(expected_sets=1)


@pytest.mark.row("E12")
def test_paused_master_sends_nothing_when_it_goes_on(scratch):
    folder = scratch.folder()
    marker = signal_at_first_set(scratch, folder, signal.SIGSTOP)
    with managed("peers", port={"max_actions": 20, "grace": 0, "drain": 0}) as ports:
        old = ports.master
        hosts_of_leaf = [(LEAF2, 2), (LEAF2, 3), (LEAF2, 4), (LEAF3, 2), (LEAF3, 3),
                         (LEAF3, 4)]
        for guid, port in hosts_of_leaf:
            ports.expected.change(guid, port, state="disabled")
        marker.touch()
        ports.load(old)
        stopped = time.monotonic()
        wait_until(lambda: ports.lab.status()["sms"][old]["stopped"], 20, "a stop")
        new = next_one(ports, old)
        for node, port in (("leaf-02", 2), ("leaf-03", 4)):
            ports.wait_for(node, port, "disabled", sm=new)
        # It is the length of the stop that is tested, not something to wait for.
        time.sleep(max(0, stopped + PAUSE_S - time.monotonic()))
        n_sent = len(ports.sets())
        ports.lab.host("resume", old, "opensm")
        wait_until(lambda: not ports.status(old)["state"] == "enforcing", 30,
                   "the old one without permission")
        ports.wait_for_state("enforcing", new)
        sent = ports.sets()
        assert sent[n_sent:] == [], "what was sent when it went on"
        assert len(sent) == len(hosts_of_leaf), "Sets of the two together"
        ports.check()


@pytest.mark.threads
def test_master_killed_in_mid_test_port_stays_held_and_is_tested_by_the_next():
    with managed("peers", port={"test_time": 6, "test_timeout": 60}) as ports:
        old = ports.master
        ports.lab.sim('Unlink "leaf-02"[3]')
        ports.wait_for("leaf-02", 3, "down", sm=old)
        ports.expected.change(LEAF2, 3, state="test")
        generation = ports.load(old)
        for sm in range(3):
            ports.wait_for_generation(generation, sm)
        ports.plug_in('"leaf-02"[3]')
        wait_until(lambda: ports.row("leaf-02", 3, old)["test"] == "quality", 20, "a test")
        kill(ports, old)
        states = set()

        def admitted():
            seen = port_state(ports)
            sm = ports.cluster.holder()
            row = None if sm is None else ports.row("leaf-02", 3, sm)
            is_admitted = bool(row and row["admitted"])
            # What was seen counts when the port was not admitted even after that.
            if row and not is_admitted:
                states.add(seen)
            return is_admitted
        wait_until(admitted, 60, "the port admitted")
        assert states == {"Initialize"}, "the port's states before it was admitted"
        new = ports.cluster.wait_for_holder()
        ports.wait_for("leaf-02", 3, "active", sm=new)
        done = [deed for deed, _ in deeds(ports, new, LEAF2, 3)]
        # The next one may begin before the dead one has left the view, which ends its
        # permission for a moment: then it begins again.
        assert done in (["test"] * n + ["admit"] * 2 for n in (2, 3)), "what was done"
        ports.check(expected_sets=0)


@pytest.mark.row("E12")
@pytest.mark.parametrize("kind", ["corosync", "peers"])
def test_last_one_acts_by_hand_until_another_comes_back(kind):
    """Corosync goes on where an opensm ends: a quorum of hosts knows nothing of ports."""
    with managed(kind) as ports:
        last = others(ports.master)[0]
        gone = others(last)
        for sm in gone:
            kill(ports, sm)
        ports.cluster.wait_for_master(last)

        def health():
            return " ".join(ports.lab.triad("health", sm=last).stdout.split())
        wait_until(lambda: "nobody here may enforce" in health(), 30, "no majority")
        ports.expected.change(LEAF3, 4, state="disabled")
        ports.load(last)
        ports.ask("port", "confirm", sm=last)
        ports.wait_for("leaf-03", 4, "disabled", sm=last)
        told = health()
        assert "by 'port confirm'" in told and "nobody here may enforce" not in told
        assert "count as down" in ports.lab.triad("port", "plan", sm=last).stdout
        ports.lab.host("start", gone[0], "opensm")
        wait_until(lambda: deeds(ports, gone[0], LEAF3, 4)[-1:] == [("disable", "done")],
                   60, "what was done, known to the one that is back")
        ports.wait_for_generation(ports.expected.generation, gone[0])
        wait_until(lambda: "by 'port confirm'" not in health(), 30, "a majority again")
        ports.check(expected_sets=1)


def test_disabled_by_us_and_by_others_are_distinguished_after_restart_and_hand_over():
    with managed("corosync") as ports:
        old = ports.master
        miswire(ports)
        ports.wait_for("leaf-03", 2, "failed", sm=old)
        kill(ports, old)
        new = next_one(ports, old)
        ports.wait_for("leaf-03", 2, "failed", sm=new)
        ports.lab.host("start", old, "opensm")
        wait_until(lambda: ports.lab.status()["sms"][old]["state"] == "standby", 30,
                   "the old one as standby")
        ports.ask("port", "priority", "15", sm=old)
        assert ports.cluster.wait_for_holder(among=(old,)) == old, "who may enforce"
        ports.wait_for_state("enforcing", old)
        row = ports.wait_for("leaf-03", 2, "failed", sm=old)
        assert mentions(row["text"], "disabled port manager"), "the port of ours"
        succeeded(ports.lab.run("ibportstate", "-G", hex(LEAF2), "3", "disable",
                                node="host-0006"))
        # ibsim tells nobody; a heavy sweep sees it.
        os.kill(ports.lab.status()["sms"][old]["pid"], signal.SIGHUP)

        def enabled():
            return [one for one in ports.history(sm=old)
                    if one["deed"] == "enable" and one["outcome"] == "done"]
        done = wait_until(enabled, 30, "the other port enabled")
        assert [(int(one["node_guid"], 16), one["port"]) for one in done] == \
            [(LEAF2, 3)], "what was enabled"
        assert "disabled by somebody else" in done[0]["text"]
        ports.check(expected_sets=2)


def port_state(ports):
    """Of leaf-02's port 3, as its own neighbour on port 2 sees it."""
    process = ports.lab.run("smpquery", "-D", "portinfo", "0,1", "3", node="host-0006")
    for line in process.stdout.splitlines():
        if line.startswith("LinkState:"):
            return line.split(".")[-1]
    return process.stderr
