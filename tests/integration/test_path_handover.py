# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Requests for paths while another SM takes over from one that lives: none is lost."""

import os
import time

import pytest

from checks import succeeded, wait_until
from electionlib import cluster, others
from labs import COROSYNC, need
from pathlab import is_answering
from triadlab import failover, state
from triadlib import ask

FULL = "TRIAD_FULL" in os.environ
CLIENT = "Hca4"
# For so long a standby answers who still asks it (plugin/qos/server.h).
AFTER_HAND_OVER_S = 30
# More than a thread may be late.
AWAY_S = 2
# A simulator that gets no processor for a second loses nothing; with OpenSM's 200 ms an SM
# would take its own port for dead, and forget its paths.
PATIENT = "transaction_timeout 1000\n"


def prefer(lab, sm, wanted):
    ask(lab, "port", "priority", "12" if wanted else "8", sm=sm)


def explain(lab, sm):
    """Fails when the SM has no snapshot."""
    return lab.triad("qos", "explain", "--src", "1", "--dst", "2", sm=sm)


def hand_over(group, stream, old, new):
    """Has another SM preferred; returns the requests that got no path meanwhile."""
    old_lid = wait_until(stream.last, 20, "an answer").lid
    begin_us = failover.now_us()
    prefer(group.lab, new, True)
    wait_until(lambda: stream.first_after(begin_us, old_lid), 60, "another SM's answer")
    wait_until(lambda: is_answering(group.lab, sm=new), 60, "answers of the new one")
    lost = stream.lost_between(begin_us, failover.now_us())
    prefer(group.lab, new, False)
    return lost


@pytest.mark.plain
@pytest.mark.row("N12")
@pytest.mark.parametrize("kind, engine", [
    ("peers", "minhop"), ("corosync", "minhop"),
    # Has a word on SLs.
    ("peers", "dfsssp")])
def test_hand_over_loses_no_request(kind, engine):
    if kind == "corosync":
        need(COROSYNC)
    with cluster(kind, election="[qos]\nenabled = true\n",
                 opensm_conf=f"routing_engine {engine}\n{PATIENT}") as group:
        old = group.wait_for_holder()
        wait_until(lambda: is_answering(group.lab, sm=old), 60, "answers")
        with failover.Stream(state.load_required(group.lab.folder), CLIENT) as stream:
            # There and back: what the first one knew is old when it is master again.
            for new in (others(old)[0], old):
                before = next(sm for sm in range(3) if is_answering(group.lab, sm=sm))
                assert hand_over(group, stream, before, new) == [], "requests without a path"


@pytest.mark.row("N12")
def test_new_master_answers_what_opensm_has_to_answer():
    """Paths to a port that it does not know: OpenSM says so, but not in its first sweep."""
    with cluster("peers", election="[qos]\nenabled = true\n", opensm_conf=PATIENT) as group:
        old = group.wait_for_holder()
        wait_until(lambda: is_answering(group.lab, sm=old), 60, "answers")
        lab = state.load_required(group.lab.folder)
        with failover.Stream(lab, CLIENT) as known, \
                failover.Stream(lab, CLIENT, to="0xdead") as unknown:
            for new in (others(old)[0], old):
                before = next(sm for sm in range(3) if is_answering(group.lab, sm=sm))
                old_lid = wait_until(known.last, 20, "an answer").lid
                begin_us = failover.now_us()
                assert hand_over(group, known, before, new) == [], "requests without a path"
                said = {it.why for it in unknown.lost_between(begin_us, failover.now_us())
                        if it.lid != old_lid}
                assert said == {"refused"}, "there is no such port"


def n_times_up(group, sm):
    return group.lab.log(sm).count("SUBNET UP")


def forgets(group):
    """Stops the master until another one is, and waits until it has forgotten its paths;
    false when it has brought the subnet up as master once more: then what it knows is
    new."""
    old = group.wait_for_holder()
    wait_until(lambda: is_answering(group.lab, sm=old), 60, "answers")
    group.lab.host("pause", old, "opensm")
    group.wait_for_master(group.wait_for_holder(among=others(old)))
    time.sleep(AWAY_S)
    n_up = n_times_up(group, old)
    group.lab.host("resume", old, "opensm")
    wait_until(lambda: group.lab.status()["sms"][old]["state"] == "standby", 60, "a standby")
    wait_until(lambda: explain(group.lab, old).returncode or n_times_up(group, old) > n_up,
               AFTER_HAND_OVER_S / 3, "the old one's paths are forgotten")
    return n_times_up(group, old) == n_up


@pytest.mark.row("N12")
def test_master_that_was_stopped_does_not_answer_on():
    """The other one has been master meanwhile, and may have changed what it knows."""
    with cluster("peers", election="[qos]\nenabled = true\n") as group:
        # The new master may be too busy to stay one.
        assert any(forgets(group) for _ in range(5)), "it was master again each time"


@pytest.mark.skipif(not FULL, reason="it takes half a minute")
@pytest.mark.row("N12")
def test_who_handed_over_does_not_answer_for_ever():
    with cluster("peers", election="[qos]\nenabled = true\n") as group:
        old = group.wait_for_holder()
        wait_until(lambda: is_answering(group.lab, sm=old), 60, "answers")
        with failover.Stream(state.load_required(group.lab.folder), CLIENT) as stream:
            hand_over(group, stream, old, others(old)[0])
        succeeded(explain(group.lab, old))
        wait_until(lambda: explain(group.lab, old).returncode, AFTER_HAND_OVER_S + 10,
                   "the old one's paths are forgotten")
