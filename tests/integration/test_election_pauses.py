# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The SM that may enforce stops for some seconds and comes back: soon there is one master,
in every SM's word, and no SM goes on sweeping.

The stopped one has the lowest GUID: when it comes back and meets the new master, both of
the highest priority, OpenSM takes itself for the one to whom the other hands over."""

import os
import random
import re
import time

import pytest

from checks import succeeded, wait_until
from electionlib import SMS, cluster
from triadlib import ask

KINDS = ["corosync", "peers"]
LOWEST = 0
# It takes about a second, which is printed; a loaded machine may need more.
BACK_S = 30
# In a second.  An SM at rest answers and polls, also those that ask ten times a second whether
# it lives; one that sweeps sends hundreds, and thousands when it does for ever.
MADS_AT_REST = 80
REST_S = 0.5

SEED = int(os.environ.get("TRIAD_SEED", "0")) or random.randrange(1 << 30)
N_PAUSES = 20 if "TRIAD_FULL" in os.environ else 2


def pauses_s(kind):
    """From a second on, for which nothing is noticed but the lease's end, to some more
    than OpenSM's 10 s between two sweeps."""
    if N_PAUSES == 2:
        return [3.0, 11.5]
    print(f"seed {SEED}")
    return [round(random.Random(f"{SEED} {kind} {i}").uniform(1, 15), 1)
            for i in range(N_PAUSES)]


def prefer(running, sm):
    """That SM gets the lease and is master, and nobody is preferred any more."""
    ask(running.lab, "port", "priority", "12", sm=sm)
    running.wait_for_holder(among=[sm])
    running.wait_for_master(sm)
    ask(running.lab, "port", "priority", "8", sm=sm)


def sminfo(running, host, *whom):
    """The GUID, activity count and state of an SM, that of the host's master unless a LID
    is given; None where it does not answer, as while routes change."""
    said = running.lab.run("sminfo", *whom, host=host).stdout
    words = re.search(r"sm guid (0x[0-9a-f]+), activity count (\d+) .* state \d (\w+)", said)
    return (int(words[1], 16), int(words[2]), words[3]) if words else (None, 0, None)


def lids(running):
    """Of the SMs' ports."""
    return [re.search(r"^Lid:\.*(\d+)", succeeded(running.lab.run(
        "smpquery", "-D", "portinfo", "0", "1", host=sm)).stdout, re.MULTILINE)[1]
        for sm in range(len(SMS))]


def is_one_master(running, where, new):
    guid = int(running.lab.state().sms[new].port_guid, 16)
    for sm in range(len(SMS)):
        own_state = "SMINFO_MASTER" if sm == new else "SMINFO_STANDBY"
        if sminfo(running, sm)[0] != guid or sminfo(running, new, where[sm])[2] != own_state:
            return False
    return True


def are_at_rest(running, where):
    def counted():
        return [(*sminfo(running, 0, lid)[:2], time.monotonic()) for lid in where]
    before = counted()
    time.sleep(REST_S)
    return all(one[0] and other[0] and
               other[1] - one[1] < MADS_AT_REST * (other[2] - one[2])
               for one, other in zip(before, counted()))


def brings_a_host_back(running):
    """A sweep of the master comes through: a port that was away is ACTIVE again."""
    def state():
        return running.lab.run("smpquery", "portinfo", "-D", "0", "1", node="Hca4").stdout
    running.lab.sim('Unlink "Hca4"[1]', 'ReLink "Hca4"[1]')
    wait_until(lambda: "LinkState:.......................Active" in state(), 30,
               "a relinked host's port is active")


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.row("E12")
@pytest.mark.parametrize("kind", KINDS)
def test_paused_master_comes_back_to_one_master(kind):
    with cluster(kind) as running:
        prefer(running, LOWEST)
        where = lids(running)
        for pause_s in pauses_s(kind):
            if running.holder() != LOWEST:
                prefer(running, LOWEST)
            running.lab.host("pause", LOWEST, "opensm")
            new = running.wait_for_holder(among=[1, 2])
            # It is the length of the pause that is tested, not something to wait for.
            time.sleep(pause_s)
            running.lab.host("resume", LOWEST, "opensm")
            back = time.monotonic()
            what = f"after a pause of {pause_s} s"
            wait_until(lambda to=new: is_one_master(running, where, to), BACK_S,
                       f"one master {what}")
            wait_until(lambda: are_at_rest(running, where), BACK_S,
                       f"no SM sweeps {what}")
            print(f"{what}: one master, no sweep, after {time.monotonic() - back:.1f} s")
        brings_a_host_back(running)
        running.check()
