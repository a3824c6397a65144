# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Three stock opensms that elect, over Corosync and over datagrams, and what goes wrong
with them: who may enforce when, never two at once, never one without a majority."""

import json
import os
import re
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from checks import mentions, wait_until
from electionlib import LEASE_S, PATIENT, SMS, at_rest, cluster, now_s, others, report
from labs import BUILDDIR
from triadlab import hosts, state
from triadlib import ask, ask_json

KINDS = ["corosync", "peers"]
WHOLE = {sm: (True, len(SMS)) for sm in range(len(SMS))}

# How long a stopped program stays so.
PAUSE_S = 10

N_FAILOVERS = 200 if "TRIAD_SOAK" in os.environ else 20 if "TRIAD_FULL" in os.environ else 5


def harm(running, *words):
    """Returns the moments right before and after: done is what is between."""
    before = now_s()
    running.lab.host(*words)
    return before, now_s()


def kill_opensm(running, sm):
    """Returns the moment."""
    at = now_s()
    hosts.kill(state.load_required(running.lab.folder), sm, "opensm")
    return at


def moves_on(running, sm, at):
    """Until another one than 'sm' may enforce and is master.  Returns it, and how long
    after 'at' it was allowed to."""
    new = running.wait_for_holder(among=others(sm))
    running.wait_for_master(new)
    return new, running.first_held(new, at) - at


def follows(running, sm, master):
    """Whether the SM's election says that it is standby of that master."""
    process = running.lab.run("triadctl", "election", "--json", sm=sm)
    if process.returncode:
        return False
    report = json.loads(process.stdout)
    guid = running.lab.status()["sms"][master]["port_guid"]
    return report["state"] == "STANDBY" and int(report["master"], 16) == int(guid, 16)


def stays_without(running, sm, begin, end):
    """The SM had no permission between, but for what was left of its lease."""
    late = [one for one in running.held(sm)
            if one.end > begin + LEASE_S and one.begin < end]
    assert not late, f"SM {sm} had permission without a majority: {late}"


@pytest.mark.row("E1", "E8", "X4")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", [pytest.param("opensm", marks=pytest.mark.plain), "all"])
def test_program_of_the_master_killed(kind, what):
    with cluster(kind) as running:
        old = running.wait_for_holder()
        at, done = harm(running, "kill", old, what)
        new, took = moves_on(running, old, at)
        print(f"{kind}: {what} of SM {old} killed, SM {new} may enforce "
              f"{took * 1000:.0f} ms later")
        stays_without(running, old, done, now_s())
        harm(running, "start", old, what)
        wait_until(lambda: running.lab.status()["sms"][old]["state"] == "standby", 30,
                   "the old one as standby")
        assert running.wait_for_holder() == new, "who may enforce in the end"
        running.check()


def test_corosync_corosync_of_the_master_killed():
    with cluster("corosync") as running:
        old = running.wait_for_holder()
        at, done = harm(running, "kill", old, "corosync")
        new, took = moves_on(running, old, at)
        print(f"Corosync of SM {old} killed, SM {new} may enforce {took * 1000:.0f} ms "
              "later")
        stays_without(running, old, done, now_s())
        wait_until(lambda: running.masters() == [new], 20, "the old one as standby")
        harm(running, "start", old, "corosync")
        running.lab.wait_for_quorum(WHOLE)
        assert running.wait_for_holder() == new, "who may enforce in the end"
        running.check()


@pytest.mark.row("E12")
@pytest.mark.parametrize("kind, what", [
    ("corosync", "opensm"), ("peers", "opensm"), ("corosync", "corosync"),
    ("corosync", "all")])
def test_program_of_the_master_stopped_and_continued(kind, what):
    with cluster(kind) as running:
        old = running.wait_for_holder()
        at, done = harm(running, "pause", old, what)
        new, took = moves_on(running, old, at)
        print(f"{kind}: {what} of SM {old} stopped, SM {new} may enforce "
              f"{took * 1000:.0f} ms later")
        # It is the length of the stop that is tested, not something to wait for.
        time.sleep(max(0, done + PAUSE_S - now_s()))
        harm(running, "resume", old, what)
        wait_until(lambda: follows(running, old, new), 60, "the old one as STANDBY")
        assert running.wait_for_holder() == new, "who may enforce in the end"
        running.wait_for_master(new)
        stays_without(running, old, done, now_s())
        wait_until(lambda: running.masters() == [new], 30, "one master in the end")
        running.check()


@pytest.mark.row("E6")
@pytest.mark.parametrize("kind", KINDS)
def test_link_of_the_master_down(kind):
    with cluster(kind) as running:
        old = running.wait_for_holder()
        at, done = harm(running, "link", old, False)
        new, took = moves_on(running, old, at)
        print(f"{kind}: SM {old} cut off, SM {new} may enforce {took * 1000:.0f} ms "
              "later")
        harm(running, "link", old, True)
        end = now_s()
        stays_without(running, old, done, end)
        if kind == "corosync":
            running.lab.wait_for_quorum(WHOLE)
        # Who had the lease last goes on, unless it is starved for a lease just now.
        last = running.wait_for_holder()
        if last != new:
            print(f"SM {last} may enforce in the end")
        running.check()


def says_alone(running, sm, quorum):
    text = ask(running.lab, "election", sm=sm)
    return re.search(r"has the lease +nobody known\n", text) and mentions(text, quorum)


@pytest.mark.row("E1")
@pytest.mark.parametrize("kind", KINDS)
def test_partitions_that_heal(kind):
    with cluster(kind) as running:
        old = running.wait_for_holder()
        standby, rest = others(old)
        at, done = harm(running, "partition", [[standby, rest], [old]])
        new, _ = moves_on(running, old, at)
        stays_without(running, old, done, now_s())
        harm(running, "heal")
        assert running.wait_for_holder() == new, "after the first"
        # Now nobody has a majority.
        _, done = harm(running, "partition", [[sm] for sm in range(len(SMS))])
        wait_until(lambda: running.holder() is None, 20, "nobody may enforce")
        for sm in range(len(SMS)):
            stays_without(running, sm, done, now_s())
        assert len(running.masters()) == 1, "the fabric's masters"
        wait_until(lambda: all(says_alone(running, sm, "1 member 2 votes")
                               for sm in range(len(SMS))), 20,
                   lambda: "\n".join(ask(running.lab, "election", sm=sm)
                                     for sm in range(len(SMS))))
        harm(running, "heal")
        running.wait_for_holder()
        running.check()


def test_member_with_another_lease_is_reported_and_not_handed_over_to():
    """Nobody would vote for it, so as master it would leave all without permission."""
    with cluster("peers", election=PATIENT) as running:
        sm = at_rest(running)
        other = others(sm)[0]
        ask(running.lab, "set", "election.lease", "4500", sm=other)
        ask(running.lab, "set", "election.priority", "15", sm=other)
        for one, mine, theirs in ((sm, 3000, 4500), (other, 4500, 3000)):
            said = f"election.lease = {theirs} ms here {mine} ms"
            wait_until(lambda one=one, said=said: mentions(
                " ".join(running.lab.triad("health", sm=one).stdout.split()), said), 30,
                       f"a word of it on SM {one}")
        # Longer than the keepalive, after which the SM would hand over.
        at = now_s()
        wait_until(lambda: now_s() > at + 8, 20, "time for a hand-over")
        n_won = report(running, other)["counters"]["won"]
        assert n_won == 0, "elections won while they differ"
        ask(running.lab, "set", "election.lease", "3000", sm=other)
        wait_until(lambda: "election.lease" not in running.lab.triad("health", sm=sm).stdout,
                   30, "the end of it")
        running.wait_for_holder(among=[other])
        running.wait_for_master(other)
        running.check()


@pytest.mark.row("X4")
@pytest.mark.parametrize("kind", KINDS)
def test_failovers_in_a_row(kind):
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
        print(f"{kind}: {len(took)} fail-overs, permission after "
              f"{took[len(took) // 2] * 1000:.0f} ms in the middle, "
              f"{took[-1] * 1000:.0f} ms at worst")
        running.check()


# --- a member that has gone wild ---------------------------------------------------

RUNAWAY = str(BUILDDIR / "tests/integration/election_runaway")


def let_loose(running, host, *words):
    return running.lab.start("env", "-u", "LD_PRELOAD", RUNAWAY, *words, host=host,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def wait_for_rounds(running, sm):
    """Until the lease was confirmed many times."""
    n = len(running.lines(sm))
    wait_until(lambda: len(running.lines(sm)) > n + 20, 30, "rounds beside a runaway")


def end_wild(process):
    said, _ = process.communicate(timeout=20)
    print(f"it said {said.strip()} things")
    assert int(said) > 100, said


@pytest.mark.row("E12")
def test_corosync_runaway_gets_nothing_and_stops_nobody():
    with cluster("corosync") as running:
        old = running.wait_for_holder()
        process = let_loose(running, 2, "corosync", "triad", "0x0000000000100fff")
        try:
            wait_for_rounds(running, old)
            assert running.holder() == old, "who may enforce beside it"
            kill_opensm(running, old)
            new = running.wait_for_holder(among=others(old))
            running.wait_for_master(new)
            wait_for_rounds(running, new)
        finally:
            end_wild(process)
        running.check()


@pytest.mark.row("E12")
def test_peers_runaway_gets_nothing():
    with cluster("peers") as running:
        old = running.wait_for_holder()
        guid = running.lab.status()["sms"][2]["port_guid"]
        kill_opensm(running, 2)
        process = let_loose(running, 2, "peers", guid, "10.77.0.3:7070",
                            "10.77.0.1:7070; 10.77.0.2:7070; 10.77.0.3:7070",
                            str(Path(running.lab.folder) / "peers.key"))
        try:
            wait_for_rounds(running, old)
            assert running.holder() == old, "who may enforce beside it"
            # With the runaway there are two of three, but it grants nothing.
            at = kill_opensm(running, old)
            wait_until(lambda: now_s() > at + 3, 10, "time for many elections")
            stays_without(running, 1, at, now_s())
        finally:
            end_wild(process)
        running.check()


# --- configurations and clocks -------------------------------------------------------

@pytest.mark.row("E12")
def test_older_generation_is_never_enforced():
    with tempfile.TemporaryDirectory(prefix="triad-test-expected-") as folder, \
            cluster("corosync") as running:
        running.wait_for_holder()
        for generation, sms in ((5, (0, 1)), (4, (2,))):
            path = Path(folder, f"{generation}.csv")
            path.write_text(f"generation {generation}\n", encoding="ascii")
            for sm in sms:
                ask(running.lab, "set", "port.expected_file", str(path), sm=sm)
                # The port manager's thread reads it.
                wait_until(lambda sm=sm, generation=generation: ask_json(
                    running.lab, "election", sm=sm)["generation"] == generation, 20,
                    f"generation {generation} on SM {sm}")
        first = running.wait_for_holder(among=(0, 1))
        kill_opensm(running, first)
        second = running.wait_for_holder(among=others(first))
        assert second != 2, "an old generation is in force"
        kill_opensm(running, second)
        wait_until(lambda: running.masters() == [2], 20, "the last one is master")
        wait_until(lambda: {"old_config", "no_quorum"} <= set(running.lines(2)[-1]) and
                   "not_master" not in running.lines(2)[-1], 20, "why it may not")
        # A majority again, whose newest generation only the state files know.
        harm(running, "start", first, "opensm")
        wait_until(lambda: "no_quorum" not in running.lines(2)[-1], 30, "a majority")
        assert "old_config" in running.lines(2)[-1], "why it may not"
        assert running.held(2) == [], "what it ever held"
        ask(running.lab, "set", "port.expected_file", str(Path(folder, "5.csv")), sm=2)
        # The dead one's permission lasts until its lease ends.
        running.wait_for_holder(among=[2])
        running.check()


def test_clock_steps_change_nothing():
    with tempfile.TemporaryDirectory(prefix="triad-test-clock-") as folder:
        step = Path(folder, "step")
        step.write_bytes(b"0".ljust(32, b"\0"))
        os.environ["TRIAD_CLOCK_STEP"] = str(step)
        library = str(BUILDDIR / "tests/lab/.libs/libclockstep.so")
        try:
            # Long, so that it is not a loaded machine that ends a term.
            with cluster("peers", preload=[library],
                         election="lease = 3000\n") as running:
                holder = running.wait_for_holder()
                for seconds in (3600, -86400, 10 ** 8, 0):
                    n = len(running.lines(holder))
                    with open(step, "r+b") as stream:
                        stream.write(str(seconds).encode().ljust(32, b"\0"))
                    wait_until(lambda n=n: len(running.lines(holder)) > n + 5, 20,
                               "rounds after a step")
                assert running.holder() == holder, "who may enforce"
                assert len({one.term for one in running.all_held()}) == 1, "terms"
                running.check()
        finally:
            del os.environ["TRIAD_CLOCK_STEP"]


@pytest.mark.row("E8")
def test_blacklisted_master_is_replaced_and_may_come_back():
    with cluster("corosync") as running:
        old = running.wait_for_holder()
        guid = running.lab.status()["sms"][old]["port_guid"]
        ask(running.lab, "port", "blacklist", "add", guid, sm=others(old)[0])
        new, _ = moves_on(running, old, now_s() - 1)
        os.kill(running.lab.status()["sms"][new]["pid"], signal.SIGKILL)
        last, = set(others(old)) - {new}
        assert running.wait_for_holder(among=[sm for sm in (0, 1, 2) if sm != new]) == \
            last, "the one that is neither dead nor listed"
        ask(running.lab, "port", "blacklist", "remove", guid, sm=old)
        ask(running.lab, "port", "priority", "15", sm=old)
        running.wait_for_holder(among=[old])
        running.check()
