#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Three stock opensms that elect, over Corosync and over datagrams, and what goes wrong
with them: who may enforce when, never two at once, never one without a majority."""

import os
import signal
import time

import taplib
from electionlib import LEASE_S, SMS, cluster
from taplib import wait_until
from triadlab import hosts, state
from triadlib import ask

WHOLE = {sm: (True, len(SMS)) for sm in range(len(SMS))}

# How long a stopped program stays so.
PAUSE_S = 10

N_FAILOVERS = 200 if os.environ.get("TRIAD_SOAK") else 20


def others(one):
    return [sm for sm in range(len(SMS)) if sm != one]


def harm(running, *words):
    """Returns the moments right before and after: done is what is between."""
    before = time.monotonic()
    running.lab.host(*map(str, words))
    return before, time.monotonic()


def kill_opensm(running, sm):
    """Returns the moment."""
    at = time.monotonic()
    hosts.kill(state.load_required(running.lab.folder), sm, "opensm")
    return at


def moves_on(running, sm, at):
    """Until another one than 'sm' may enforce and is master.  Returns it, and how long
    after 'at' it was allowed to."""
    new = running.wait_for_holder(among=others(sm))
    running.wait_for_master(new)
    return new, running.first_held(new, at) - at


def stays_without(running, sm, begin, end):
    """The SM had no permission between, but for what was left of its lease."""
    late = [one for one in running.held(sm)
            if one.end > begin + LEASE_S and one.begin < end]
    assert not late, f"SM {sm} had permission without a majority: {late}"


def killed(t, kind, what):
    with cluster(kind) as running:
        old = running.wait_for_holder()
        at, done = harm(running, "kill", old, what)
        new, took = moves_on(running, old, at)
        t.note(f"{kind}: {what} of SM {old} killed, SM {new} may enforce "
               f"{took * 1000:.0f} ms later")
        stays_without(running, old, done, time.monotonic())
        harm(running, "start", old, what)
        wait_until(lambda: running.lab.status()["sms"][old]["state"] == "standby", 30,
                   "the old one as standby")
        t.equal(running.wait_for_holder(), new, "who may enforce in the end")
        running.check(t)


def test_corosync_opensm_of_the_master_killed(t):
    killed(t, "corosync", "opensm")


def test_peers_opensm_of_the_master_killed(t):
    killed(t, "peers", "opensm")


def test_corosync_whole_node_of_the_master_killed(t):
    killed(t, "corosync", "all")


def test_peers_whole_node_of_the_master_killed(t):
    killed(t, "peers", "all")


def test_corosync_corosync_of_the_master_killed(t):
    with cluster("corosync") as running:
        old = running.wait_for_holder()
        at, done = harm(running, "kill", old, "corosync")
        new, took = moves_on(running, old, at)
        t.note(f"Corosync of SM {old} killed, SM {new} may enforce {took * 1000:.0f} ms "
               "later")
        stays_without(running, old, done, time.monotonic())
        wait_until(lambda: running.masters() == [new], 20, "the old one as standby")
        harm(running, "start", old, "corosync")
        running.lab.wait_for_quorum(WHOLE)
        t.equal(running.wait_for_holder(), new, "who may enforce in the end")
        running.check(t)


def paused(t, kind, what):
    with cluster(kind) as running:
        old = running.wait_for_holder()
        at, done = harm(running, "pause", old, what)
        new, took = moves_on(running, old, at)
        t.note(f"{kind}: {what} of SM {old} stopped, SM {new} may enforce "
               f"{took * 1000:.0f} ms later")
        # It is the length of the stop that is tested, not something to wait for.
        time.sleep(max(0, done + PAUSE_S - time.monotonic()))
        harm(running, "resume", old, what)
        wait_until(lambda: running.lab.status()["sms"][old]["state"] == "standby", 30,
                   "the old one as standby")
        t.equal(running.wait_for_holder(), new, "who may enforce in the end")
        wait_until(lambda: running.masters() == [new], 20, "one master")
        stays_without(running, old, done, time.monotonic())
        running.check(t)


def test_corosync_opensm_of_the_master_stopped_and_continued(t):
    paused(t, "corosync", "opensm")


def test_peers_opensm_of_the_master_stopped_and_continued(t):
    paused(t, "peers", "opensm")


def test_corosync_corosync_of_the_master_stopped_and_continued(t):
    paused(t, "corosync", "corosync")


def test_corosync_both_of_the_master_stopped_and_continued(t):
    paused(t, "corosync", "all")


def cut_off(t, kind):
    with cluster(kind) as running:
        old = running.wait_for_holder()
        at, done = harm(running, "link", old, "down")
        new, took = moves_on(running, old, at)
        t.note(f"{kind}: SM {old} cut off, SM {new} may enforce {took * 1000:.0f} ms "
               "later")
        harm(running, "link", old, "up")
        end = time.monotonic()
        stays_without(running, old, done, end)
        if kind == "corosync":
            running.lab.wait_for_quorum(WHOLE)
        t.equal(running.wait_for_holder(), new, "who may enforce in the end")
        running.check(t)


def test_corosync_link_of_the_master_down(t):
    cut_off(t, "corosync")


def test_peers_link_of_the_master_down(t):
    cut_off(t, "peers")


def parted(t, kind):
    with cluster(kind) as running:
        old = running.wait_for_holder()
        standby, rest = others(old)
        at, done = harm(running, "partition", f"{standby},{rest} {old}")
        new, _ = moves_on(running, old, at)
        stays_without(running, old, done, time.monotonic())
        harm(running, "heal")
        t.equal(running.wait_for_holder(), new, "after the first")
        # Now nobody has a majority.
        _, done = harm(running, "partition", " ".join(map(str, range(len(SMS)))))
        wait_until(lambda: running.holder() is None, 20, "nobody may enforce")
        for sm in range(len(SMS)):
            stays_without(running, sm, done, time.monotonic())
        t.equal(len(running.masters()), 1, "the fabric's masters")
        harm(running, "heal")
        running.wait_for_holder()
        running.check(t)


def test_corosync_partitions_that_heal(t):
    parted(t, "corosync")


def test_peers_partitions_that_heal(t):
    parted(t, "peers")


def failovers(t, kind):
    """One after the other: whoever may enforce is killed and started again."""
    with cluster(kind) as running:
        took = []
        for _ in range(N_FAILOVERS):
            old = running.wait_for_holder()
            at = kill_opensm(running, old)
            new = running.wait_for_holder(among=others(old))
            took.append(running.first_held(new, at) - at)
            harm(running, "start", old, "opensm")
            wait_until(lambda sm=old: running.lab.status()["sms"][sm]["state"] ==
                       "standby", 30, "the old one as standby")
        took.sort()
        t.note(f"{kind}: {len(took)} fail-overs, permission after "
               f"{took[len(took) // 2] * 1000:.0f} ms in the middle, "
               f"{took[-1] * 1000:.0f} ms at worst")
        running.check(t)


def test_corosync_failovers_in_a_row(t):
    failovers(t, "corosync")


def test_peers_failovers_in_a_row(t):
    failovers(t, "peers")


def test_blacklisted_master_is_replaced_and_may_come_back(t):
    with cluster("corosync") as running:
        old = running.wait_for_holder()
        guid = running.lab.status()["sms"][old]["port_guid"]
        ask(running.lab, "port", "blacklist", "add", guid, sm=others(old)[0])
        new, _ = moves_on(running, old, time.monotonic() - 1)
        os.kill(running.lab.status()["sms"][new]["pid"], signal.SIGKILL)
        last, = set(others(old)) - {new}
        t.equal(running.wait_for_holder(among=[sm for sm in (0, 1, 2) if sm != new]),
                last, "the one that is neither dead nor listed")
        ask(running.lab, "port", "blacklist", "remove", guid, sm=old)
        os.kill(running.lab.status()["sms"][last]["pid"], signal.SIGKILL)
        t.equal(running.wait_for_holder(among=[old, new]), old, "the last one")
        running.check(t)


if __name__ == "__main__":
    taplib.main(globals())
