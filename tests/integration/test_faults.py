# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What goes wrong on fabrics, done to a real opensm's: in each case the totals are
right, sweeps go on, OpenSM answers SA queries, and memory stays flat.

The lab's wire loses, delays, duplicates, cuts and corrupts MADs by rule.  Nodes that
come back with another LID are simulated (tests/unit/perfmgr/test_resets.c): OpenSM
gives a node that comes back its old one."""

import os
import subprocess
import sys
import time

import pytest

from checks import stopped, succeeded, wait_until
from labs import SRCDIR, Lab, sanitizer
from triadlib import Locker, ask, ask_json, ports, status, triad_lab, wait_for_sweep

SWITCH1 = "0x0000000000200000"
SWITCH2 = "0x0000000000200001"
N_PORTS = 2 * 8 + 4
# A time-out that ends before the next sweep, and retries for a lossy wire.
CONF = ("[perfmgr]\nsweep_period = 1\nreset = never\nmode = {mode}\ntimeout = 100\n"
        "retries = {retries}\n")
MEMORY_SLACK = 2_000_000
# Longer than OpenSM waits for an answer, retries included, or for so long that it may think
# its own port down.
STOPPED_S = 10 if "TRIAD_FULL" in os.environ else 4


def fault_lab(mode="triad", retries=5, **options):
    return triad_lab(CONF.format(mode=mode, retries=retries), **options)


def faults(lab, *rules):
    lab.harm_mads("\n".join(["seed 7", *rules, ""]))


def perf_set(lab, node, port, **counters):
    lab.sim(*(f'PerformanceSet "{node}"[{port}] PortCounters.{name}={value}'
              for name, value in counters.items()))


def sweep(lab):
    """One sweep from its beginning to its end, the faults included."""
    return ask_json(lab, "perf", "sweep")


def errors_of(lab, port=3, guid=SWITCH1):
    return ports(lab)[(guid, port)]["counters"].get("SymbolErrorCounter")


def sa_answers(lab):
    """OpenSM, asked from another node, tells of the fabric's nodes."""
    process = lab.run("saquery", "-N", node="Hca3")
    return process.returncode == 0 and process.stdout.count("NodeRecord dump") > 0


def check_sweeps_go_on(lab):
    """Nobody asks for them."""
    wait_for_sweep(lab, status(lab)["perfmgr"]["sweeps"] + 2)


def check_memory(lab, before):
    if not sanitizer():  # a sanitizer keeps what is freed
        after = status(lab)["memory"]["process_octets"]
        assert after <= before + MEMORY_SLACK, f"{before} octets before, {after} after"


def lid_of(lab, guid, port=1):
    return ports(lab)[(guid, port)]["lid"]


def check_under(*rules, retries=5, mode="triad"):
    """Counters that change under these faults are read right, while OpenSM answers.
    Returns the PerfManager's counts."""
    with fault_lab(mode, retries) as lab:
        wait_for_sweep(lab, 2)
        memory = status(lab)["memory"]["process_octets"]
        faults(lab, *rules)
        for value in (5, 50, 500):
            perf_set(lab, "Switch1", 3, SymbolErrorCounter=value)
            wait_until(lambda value=value: errors_of(lab) == value, 20,
                       f"{value} symbol errors")
            assert sa_answers(lab), "no answer of the SA"
        check_sweeps_go_on(lab)
        counts = status(lab)["perfmgr"]
        lab.heal_mads()
        assert sweep(lab)["unanswered"] == 0, "unanswered, without faults"
        assert errors_of(lab) == 500, "symbol errors at the end"
        check_memory(lab, memory)
        return counts


# --- MADs --------------------------------------------------------------------

@pytest.mark.plain
def test_one_mad_in_ten_lost():
    counts = check_under("lose class 0x04 probability 0.1")
    assert counts["timeouts"] and counts["retries"], counts
    assert counts["ports_unanswered"] == 0, "unanswered"


def test_answers_twice():
    counts = check_under("duplicate class 0x04 direction in probability 0.5")
    assert counts["ports_unanswered"] == 0, "unanswered"


def test_questions_twice():
    check_under("duplicate class 0x04 direction out probability 0.5")


def test_answers_too_late():
    counts = check_under("delay class 0x04 direction in ms 150 probability 0.2")
    assert counts["timeouts"], counts


@pytest.mark.plain
def test_questions_garbled():
    """Their answers are about another port, or refusals, or none."""
    counts = check_under("corrupt class 0x04 direction out probability 0.3")
    assert counts["mads_sent"], counts


def test_answers_cut_off():
    counts = check_under("truncate class 0x04 direction in probability 0.3")
    assert counts["mads_malformed"], counts


# --- agents ------------------------------------------------------------------

def check_silent(silent):
    """These nodes' agents are never heard; the others are read right."""
    with fault_lab(retries=1) as lab:
        wait_for_sweep(lab, 2)
        rows = ports(lab)
        lids = {row["lid"] for row in rows.values() if row["node_name"] in silent}
        faults(lab, *(f"lose class 0x04 lid {lid} direction in" for lid in lids))
        perf_set(lab, "Switch1", 3, SymbolErrorCounter=70)
        sweep(lab)
        rows = ports(lab)
        for row in rows.values():
            assert row["answered"] == (row["node_name"] not in silent), \
                f"{row['node_name']} answered"
        assert errors_of(lab) == 70, "symbol errors"
        assert sa_answers(lab), "no answer of the SA"
        check_sweeps_go_on(lab)
        wait_until(lambda: status(lab)["perfmgr"]["ports_left_out"], 10, "back-off")
        lab.heal_mads()
        assert sweep(lab)["unanswered"] == 0, "unanswered when they are back"


def test_one_agent_never_answers():
    check_silent({"Hca2"})


def test_third_of_agents_never_answer():
    check_silent({"Hca2", "Switch2"})


def test_node_vanishes_in_mid_sweep_and_returns():
    # Each answer takes 400 ms, one at a time: the sweep takes far longer than the SM
    # does to see the loss.
    with fault_lab("full", opensm_conf="sweep_interval 1\n") as lab:
        wait_for_sweep(lab, 2)
        perf_set(lab, "Switch2", 3, SymbolErrorCounter=11)
        sweep(lab)
        ask(lab, "set", "perfmgr.sweep_period", "3600")
        ask(lab, "set", "perfmgr.window", "1")
        ask(lab, "set", "perfmgr.timeout", "1000")
        ask(lab, "set", "perfmgr.retries", "1")
        faults(lab, "delay class 0x04 direction in ms 400")
        with lab.start("triadctl", "perf", "sweep", "--json",
                       stdout=subprocess.PIPE) as sweeping:
            wait_until(lambda: status(lab)["perfmgr"]["state"] == "sweeping", 10,
                       "a sweep")
            lab.sim('Unlink "Switch2"[3]', 'Unlink "Switch2"[5]')
            wait_until(lambda: status(lab)["topology"]["switches"] == 1, 20,
                       "one switch less")
            assert status(lab)["perfmgr"]["state"] == "sweeping", "state"
            lab.heal_mads()
            answer = sweeping.communicate(timeout=60)[0]
            assert sweeping.returncode == 0, f"status; {answer}"
        assert sweep(lab)["unanswered"] == 0, "unanswered without it"
        lab.sim('ReLink "Switch2"[3]', 'ReLink "Switch2"[5]')
        wait_until(lambda: status(lab)["topology"]["switches"] == 2, 20, "both")
        perf_set(lab, "Switch2", 3, SymbolErrorCounter=4)  # it was rebooted
        sweep(lab)
        assert errors_of(lab, guid=SWITCH2) == 15, "its total goes on"
        assert sa_answers(lab), "no answer of the SA"


def test_counters_reset_from_outside():
    with fault_lab() as lab:
        wait_for_sweep(lab, 2)
        lid, total = lid_of(lab, SWITCH1), 0
        for value in (9, 7, 8):
            perf_set(lab, "Switch1", 3, SymbolErrorCounter=value)
            sweep(lab)
            total += value
            assert errors_of(lab) == total, "total"
            succeeded(lab.run("perfquery", "-R", str(lid), "3"))
            sweep(lab)
        assert errors_of(lab) == total, "total at the end"
        assert sa_answers(lab), "no answer of the SA"


# --- the way -----------------------------------------------------------------

@pytest.mark.plain
def test_window_larger_than_the_socket_holds(scratch):
    with Lab(make_tree(scratch), triad_conf="[perfmgr]\nsweep_period = 3600\nmode = full\n"
             "window = 4096\ntimeout = 500\nretries = 5\n") as lab:
        wait_for_sweep(lab)
        for _ in range(3):
            assert sweep(lab)["unanswered"] == 0, "unanswered"
        process = lab.run("saquery", "-S")
        assert process.returncode == 0, "the SA's answer"


def make_tree(scratch):
    path = scratch.folder() / "tree.net"
    subprocess.run([sys.executable, SRCDIR / "scripts" / "gen-fabric", "fat-tree",
                    "--levels", "2", "--radix", "12", "--hosts", "72", "-o", path],
                   check=True)
    return path


@pytest.mark.plain
def test_simulator_stopped_for_some_seconds():
    with fault_lab(retries=1) as lab:
        wait_for_sweep(lab, 2)
        memory = status(lab)["memory"]["process_octets"]
        pid = lab.status()["simulator"]["pid"]
        perf_set(lab, "Switch1", 3, SymbolErrorCounter=6)
        with stopped(pid):
            end = time.monotonic() + STOPPED_S
            while time.monotonic() < end:
                # triadctl is heard all the time.
                begun = time.monotonic()
                status(lab)
                assert time.monotonic() - begun < 5, "triadctl waits"
        # With all its MADs lost OpenSM may have thought its own port down meanwhile.
        wait_until(lambda: status(lab)["sm"]["state"] == "master", 30, "the master")
        assert ask_json(lab, "perf", "sweep")["unanswered"] == 0, "unanswered"
        assert errors_of(lab) == 6, "symbol errors"
        wait_until(lambda: sa_answers(lab), 30, "an answer of the SA")
        check_sweeps_go_on(lab)
        check_memory(lab, memory)


def test_lock_of_the_sm_held_sweeps_go_on(scratch):
    locker = Locker(scratch)
    with fault_lab(**locker.options,
                   opensm_conf="event_plugin_name osmtriad locker\n") as lab:
        wait_for_sweep(lab, 2)
        before = status(lab)["perfmgr"]["sweeps"]
        with locker.held():
            perf_set(lab, "Switch1", 3, SymbolErrorCounter=8)
            # A new snapshot waits for the lock, and nobody else does.
            lab.sim('Unlink "Hca3"[1]')
            wait_until(lambda: errors_of(lab) == 8, 20, "symbol errors, under the lock")
            wait_until(lambda: status(lab)["perfmgr"]["sweeps"] >= before + 3, 20, "sweeps")
        wait_until(lambda: sa_answers_from(lab, "Hca4"), 20, "an answer of the SA")
        check_sweeps_go_on(lab)


def sa_answers_from(lab, node):
    return lab.run("saquery", "-N", node=node).returncode == 0
