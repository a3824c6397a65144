# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""SMs that ask each other over the fabric: one that hangs is replaced without being asked
by OpenSM, a cut network is told from a dead SM, and nobody who lives is pushed aside."""

import json
import os
import signal

import pytest

from checks import mentions, wait_until
from electionlib import PATIENT, cluster, now_s, others, report, wait_for_votes
from triadlib import ask, log_has

KINDS = ["corosync", "peers"]

# How long a part of the fabric may be without a master.  OpenSM alone needs 54 s.
MASTER_S = 10


def guid(running, sm):
    return int(running.lab.state().sms[sm].port_guid, 16)


def over_fabric(running, asked, whom):
    """What one SM's Triad says of another over the fabric, and whether it elects."""
    for row in report(running, asked)["fabric"]:
        if int(row["id"], 16) == guid(running, whom):
            return row["sm"], row["elects"]
    return None


def wait_for_verdict(running, asked, whom, verdict, elects):
    wait_until(lambda: over_fabric(running, asked, whom) == (verdict, elects), 30,
               lambda: f"SM {whom} is {verdict}: {report(running, asked)['fabric']}")


def at_rest(running):
    """The master, when the others know it over the fabric and each other."""
    master = running.wait_for_holder()
    running.wait_for_master(master)
    for asked in others(master):
        wait_for_verdict(running, asked, master, "master", True)
        for whom in others(master):
            if whom != asked:
                wait_for_verdict(running, asked, whom, "standby", True)
    return master


def n_unasked(running, sm):
    return report(running, sm)["counters"]["take_overs_unasked"]


def findings(running, sm):
    """Its exit status is the verdict."""
    answer = running.lab.triad("health", "--json", sm=sm)
    return [it["what"] for it in json.loads(answer.stdout)["findings"]]


@pytest.mark.threads
@pytest.mark.plain
@pytest.mark.row("N12")
@pytest.mark.parametrize("kind", KINDS)
def test_hung_master_is_replaced_without_being_asked(kind):
    with cluster(kind) as running:
        old = at_rest(running)
        running.lab.host("pause", old, "opensm")
        new = running.wait_for_holder(among=others(old))
        running.wait_for_master(new)
        assert n_unasked(running, new) == 1, report(running, new)["counters"]
        log_has(running.lab, "takes over without asking it", sm=new)
        wait_for_verdict(running, new, old, "sm_silent", False)
        name = f"0x{guid(running, old):016x}"
        assert any(f"SM {name} hangs or has ended" in what for what in findings(running, new)), "health"
        assert "SM silent" in ask(running.lab, "election", sm=new), "the table"
        # It goes on, as master for a moment, and hands over: the new one has asked it.
        running.lab.host("resume", old, "opensm")
        wait_until(lambda: running.masters() == [new], 30, "one master in the end")
        wait_for_verdict(running, new, old, "standby", True)
        wait_until(lambda: not any(name in what for what in findings(running, new)), 30,
                   "health in the end")
        running.check()


def test_cut_network_is_distinguished_from_a_dead_sm():
    with cluster("peers") as running:
        old = at_rest(running)
        running.lab.host("link", old, False)
        new = running.wait_for_holder(among=others(old))
        # It was alive, so it was asked to hand over.
        running.wait_for_master(new)
        assert [n_unasked(running, sm) for sm in others(old)] == [0, 0], "take-overs"
        wait_for_verdict(running, new, old, "standby", False)
        name = f"0x{guid(running, old):016x}"
        wait_until(lambda: any("the network between SMs is cut" in what and name in what
                               for what in findings(running, new)), 30, "health")
        running.lab.host("link", old, True)
        wait_for_verdict(running, new, old, "standby", True)
        running.check()


def told(running, sm, *words):
    return " ".join(running.lab.triad(*words, sm=sm).stdout.split())


def test_one_that_takes_no_part_tells_what_it_hears():
    """As a witness, then without a disk, at last without the election."""
    with cluster("peers") as running:
        master = at_rest(running)
        name = f"0x{guid(running, master):016x}"
        one = others(master)[0]
        ask(running.lab, "set", "election.witness", "true", sm=one)
        wait_until(lambda: report(running, one)["master"] == name, 30,
                   "a witness that knows the master")
        answer = report(running, one)
        assert answer["sm_priority"] == answer["own_sm_priority"], "OpenSM's own"
        assert mentions(told(running, one, "election"), "none witness")
        ask(running.lab, "set", "election.witness", "false", sm=one)
        ask(running.lab, "set", "election.state_dir", "/proc/nowhere", sm=one)
        wait_until(lambda: any("election.state_dir" in what
                               for what in findings(running, one)), 30, "the cause")
        wait_until(lambda: report(running, one)["holder"] == name, 30,
                   "who has the lease, by its own word")
        assert not any("nobody has the lease" in what for what in findings(running, one))
        assert "another one has it" in told(running, one, "election")
        ask(running.lab, "set", "election.enabled", "false", sm=one)
        wait_until(lambda: any("or one does not elect" in what
                               for what in findings(running, master)), 30, "both causes")


def test_dead_host_has_a_silent_port():
    with cluster("peers") as running:
        old = at_rest(running)
        running.lab.host("kill", old, "all")
        new = running.wait_for_holder(among=others(old))
        wait_for_verdict(running, new, old, "port_silent", False)
        assert n_unasked(running, new) == 0, "a silent port proves nothing"
        running.lab.host("start", old, "all")
        wait_for_verdict(running, new, old, "standby", True)
        running.check()


def test_hung_master_without_a_majority_is_asked():
    with cluster("peers") as running:
        old = at_rest(running)
        first, last = others(old)
        running.lab.host("pause", first, "opensm")
        wait_for_verdict(running, last, first, "sm_silent", False)
        # Now one of three is left.
        running.lab.host("pause", old, "opensm")
        running.wait_for_master(last)
        assert n_unasked(running, last) == 0, "take-overs"
        for sm in (old, first):
            running.lab.host("resume", sm, "opensm")
        running.wait_for_holder()
        wait_until(lambda: len(running.masters()) == 1, 30, "one master in the end")
        running.check()


def test_master_without_election_is_not_pushed_aside():
    """It has the highest priority and the lowest GUID, and does not elect: as an SM
    without Triad.  Then the elected one hangs, which never was master."""
    sms = ("Hca1", "Hca2", "Hca3", "Hca4")
    with cluster("corosync", sms=sms, opensm_conf="sm_priority 15\n") as running:
        running.wait_for_holder()
        ask(running.lab, "set", "election.enabled", "false", sm=0)
        wait_until(lambda: running.masters() == [0], 60, "the one that does not elect")

        def elected(among):
            return [sm for sm in among if report(running, sm)["state"] == "MASTER"]
        first = wait_until(lambda: elected((1, 2, 3)), 30, "an elected one")[0]
        rest = [sm for sm in (1, 2, 3) if sm != first]
        before = {sm: report(running, sm)["counters"]["take_overs"] for sm in rest}
        running.lab.host("pause", first, "opensm")
        second = wait_until(lambda: elected(rest), 30, "another elected one")[0]
        wait_until(lambda: report(running, second)["counters"]["take_overs"] >
                   before[second], 30, "its attempt to take over")
        wait_until(lambda: running.lab.status()["sms"][second]["state"] == "standby", 30,
                   "the end of the attempt")
        assert n_unasked(running, second) == 0, "take-overs"
        assert running.masters() == [0], "the fabric's masters"
        running.lab.host("resume", first, "opensm")


def test_master_without_election_that_comes_back_with_one_is_replaced_at_once():
    """OpenSM's table has it as a master of the highest priority for a long time yet."""
    sms = ("Hca1", "Hca2", "Hca3", "Hca4")
    with cluster("corosync", sms=sms, opensm_conf="sm_priority 15\n") as running:
        running.wait_for_holder()
        ask(running.lab, "set", "election.enabled", "false", sm=0)
        wait_until(lambda: running.masters() == [0], 60, "the one that does not elect")
        elected = wait_until(lambda: [sm for sm in (1, 2, 3) if
                                      report(running, sm)["state"] == "MASTER"], 30,
                             "an elected one")[0]
        # It has tried, and found the master.
        wait_until(lambda: report(running, elected)["counters"]["take_overs"] > 0 and
                   running.lab.status()["sms"][elected]["state"] == "standby", 30,
                   "its attempt to take over")
        begun = now_s()
        running.lab.host("kill", 0, "opensm")
        running.lab.host("start", 0, "opensm")
        wait_until(running.masters, 30, "a master")
        took = now_s() - begun
        print(f"a master {took:.1f} s after the old one was restarted")
        assert took < MASTER_S
        running.wait_for_holder()
        wait_until(lambda: len(running.masters()) == 1, 30, "one master in the end")
        running.check()


BETWEEN_SWITCHES = ('"Switch1"[3]', '"Switch1"[5]')


@pytest.mark.plain
@pytest.mark.row("N12")
@pytest.mark.parametrize("elected", [0, 1], ids=["of two", "of one"])
def test_divided_fabric_has_a_master_in_each_part(elected):
    """The network of the SMs stays whole, so the election has one master for both; it
    is in the part of two SMs, or alone in its part."""
    near, far = ((0, 2), (1,)) if elected == 0 else ((1,), (0, 2))
    with cluster("peers", election=PATIENT) as running:
        if at_rest(running) != elected:
            ask(running.lab, "port", "priority", "12", sm=elected)
        running.wait_for_holder(among=[elected])
        running.wait_for_master(elected)
        at_rest(running)
        begun = now_s()
        running.lab.sim(*(f"Unlink {port}" for port in BETWEEN_SWITCHES))
        wait_until(lambda: set(running.masters()) & set(far), 30, "one in the other part")
        took = now_s() - begun
        print(f"the other part has a master after {took:.1f} s")
        assert took < MASTER_S
        leader = (set(running.masters()) & set(far)).pop()
        wait_until(lambda: any(mentions(it, "fabric divided own part")
                               for it in findings(running, leader)), 30, "health")
        sweeps = [report(running, sm)["counters"]["sweeps"] for sm in range(3)]
        # What would sweep again and again does so now.
        until = now_s() + 5
        wait_until(lambda: now_s() > until, 10, "time for sweeps")
        assert len(running.masters()) == 2, "one master in each part"
        assert [report(running, sm)["counters"]["sweeps"] for sm in range(3)] == sweeps, \
            "sweeps of a fabric at rest"
        assert running.holder() == elected and elected in near, "who may enforce"
        running.lab.sim(*(f"ReLink {port}" for port in BETWEEN_SWITCHES))
        wait_until(lambda: running.masters() == [elected], 30, "one master")
        assert running.holder() == elected, "who may enforce in the end"
        running.check()


@pytest.mark.parametrize("forgets", ["master", "other"])
def test_shorter_list_of_peers_on_one_sm_leaves_no_fabric_without_a_master(forgets):
    """It does not hear the one that its list lacks, over the network; over the fabric it
    does."""
    with cluster("peers") as running:
        master = at_rest(running)
        one, other = others(master)
        missing = master if forgets == "master" else other
        peers = [f"10.77.0.{sm + 1}:7070" for sm in others(missing)]
        ask(running.lab, "set", "election.peers", "; ".join(peers), sm=one)
        wait_until(lambda: len(running.masters()) == 1, 10, "one master")
        begun = now_s()
        running.lab.host("kill", master, "opensm")
        wait_until(lambda: len(running.masters()) == 1, 30, "another master")
        assert now_s() - begun < MASTER_S, "how long there was none"
        running.lab.host("start", master, "opensm")
        wait_until(lambda: len(running.masters()) == 1, 30, "one master")
        running.check()


@pytest.mark.row("N12")
def test_master_that_was_cut_off_is_none_when_the_fabric_is_whole_again():
    """Neither a trap nor a look at switches tells it, and the next master waits for it."""
    with cluster("fabric", opensm_conf="sweep_interval 0\nsweep_on_trap FALSE\n") as running:
        at_rest(running)
        old = 1
        ask(running.lab, "port", "priority", "15", sm=old)
        running.wait_for_master(running.wait_for_holder(among=[old]))
        wait_for_votes(running, old)
        running.lab.sim(*(f"Unlink {place}" for place in BETWEEN_SWITCHES))
        new = running.wait_for_holder(among=others(old))
        running.wait_for_master(new)
        assert old in running.masters(), "the master of its own part"
        running.lab.sim(*(f"ReLink {place}" for place in BETWEEN_SWITCHES))
        # Now the next master knows of the old one, and waits.
        os.kill(running.lab.status()["sms"][new]["pid"], signal.SIGHUP)
        wait_until(lambda: len(running.masters()) == 1, 60, "one master")
        running.check()
