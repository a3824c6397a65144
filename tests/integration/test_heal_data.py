# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Links that are out of routing are tested with data on a data VL before they return."""

import contextlib
import re
import time

import pytest

from checks import mentions, succeeded, wait_until
from electionlib import others
from portlib import LEAF, SPINE
from test_heal_act import ONCE, deeds, explain, healed, healing, n_links, state_of
from triadlab import hosts, state
from triadlib import ask, ask_json

pytestmark = pytest.mark.row("N23")
# With it the LIDs of hosts are even: some below the highest are nobody's.
LMC = "lmc 1\n"
# So many packets each way.
SHORT = ("test_ber = 1e-6\n", 1294)
LONG = ("test_ber = 1e-7\n", 12932)
# The link leaf-02:5 - spine-01:3; no SM is at its ends.
NEAR, FAR = (LEAF(2), 5), (SPINE(1), 3)


@contextlib.contextmanager
def data_lab(test=SHORT, out=1, **options):
    options.setdefault("opensm_conf", LMC)
    with healing(out=out, probation=600, more_heal=test[0], **options) as ports:
        yield ports


def lids(lab):
    """Those that ports have, and those below the highest that none has."""
    used = set()
    for line in (lab.folder / "sm-0" / "cache" / "guid2lid").read_text().splitlines():
        if line.strip():
            first, last = (int(word, 16) for word in line.split()[1:])
            used.update(range(first, last + 1))
    return used, set(range(1, max(used))) - used


def lead_to(ports, lid):
    for sm in range(len(ports.guids)):
        ask(ports.lab, "set", "heal.test_lids", str(lid), sm=sm)



def take(ports, link="leaf-02:5"):
    wait_until(lambda: ports.lab.triad("heal", "take", link, sm=ports.master).returncode == 0,
               20, "a sweep that shows what was done last")


def switches(lab, sm=0):
    """Their LIDs, by name."""
    return {row["name"]: row["lid"] for row in ask_json(lab, "nodes", sm=sm)
            if row["name"].startswith(("leaf", "spine"))}


def n_received(lab, end):
    name, port = end
    text = succeeded(lab.run("perfquery", "-x", switches(lab)[name], port, node="host-0012")).stdout
    return int(re.search(r"PortRcvPkts:\.+(\d+)", text)[1])


def entries(lab, lid, among=None):
    """By switch, the ports by which packets to the LID leave."""
    found = {}
    for name, at in (among or switches(lab)).items():
        table = succeeded(lab.run("ibroute", at, node="host-0012")).stdout
        found |= {name: int(port) for to, port in
                  re.findall(r"^0x([0-9a-f]+) (\d{3}) :", table, re.MULTILINE)
                  if int(to, 16) == lid}
    return found


def returned(ports):
    """What the history says of links that are back."""
    return [row["text"] for row in ask_json(ports.lab, "port", "history", sm=ports.master)
            if (row["deed"], row["outcome"]) == ("return", "done")]


def wait_for_data(ports, end=NEAR):
    wait_until(lambda: mentions(healed(ports, end).get("what") or "", "data there"), 60,
               explain(ports))


def begin_test(ports):
    """Takes the link, and waits until data is on its way; returns the LID."""
    lid = max(lids(ports.lab)[1])
    lead_to(ports, lid)
    take(ports)
    wait_for_data(ports)
    return lid


def test_good_link_carries_data_each_way_and_returns():
    with data_lab() as ports:
        lab, present = ports.lab, n_links(ports)
        lid = max(lids(lab)[1])
        before = [n_received(lab, end) for end in (NEAR, FAR)]
        lead_to(ports, f"{lid:#x}")
        take(ports)
        wait_until(lambda: state_of(ports, NEAR) == "probation", 60, explain(ports))
        assert deeds(ports) == ONCE
        [text] = returned(ports)
        assert mentions(text, f"{SHORT[1]} packets each way none lost"), text
        for end, n in zip((NEAR, FAR), before):
            assert n_received(lab, end) - n >= SHORT[1], end
        assert not entries(lab, lid)
        wait_until(lambda: n_links(ports) == present, 20, "the link in the tables")


def test_link_that_loses_data_does_not_return():
    with data_lab(LONG) as ports:
        lid = begin_test(ports)
        # After its SMPs have passed.
        ports.lab.sim(f'Error "{SPINE(1)}"[3] 1')
        wait_until(lambda: any(mentions(row["text"], "retrained data")
                               for row in ask_json(ports.lab, "port", "history")), 60,
                   explain(ports))
        assert not returned(ports)
        # It may be tested again by now.
        ask(ports.lab, "set", "heal.mode", "off")
        wait_until(lambda: not entries(ports.lab, lid), 30, "no entry")


def test_sweep_that_takes_the_entries_away_is_nothing_against_the_link():
    with data_lab(LONG) as ports:
        lid = begin_test(ports)
        assert entries(ports.lab, lid)[LEAF(2)] == 5
        ports.sweep(2)
        wait_until(lambda: state_of(ports, NEAR) == "probation", 120, explain(ports))
        [text] = returned(ports)
        assert mentions(text, f"{LONG[1]} packets none lost"), text
        assert deeds(ports) == ONCE and not entries(ports.lab, lid)


def test_links_are_tested_one_after_the_other():
    with data_lab(LONG) as ports:
        lead_to(ports, max(lids(ports.lab)[1]))
        ends = (NEAR, (LEAF(3), 7))
        take(ports)
        take(ports, "leaf-03:7")
        wait_until(lambda: all(state_of(ports, end) == "probation" for end in ends), 120,
                   explain(ports))
        assert [mentions(text, "each way none lost") for text in returned(ports)] == [True] * 2


@pytest.mark.parametrize("lid, why", (("used", "is a port's"), ("49000", "above")))
def test_lid_that_can_not_be_used_is_said_and_the_link_returns(lid, why):
    with data_lab() as ports:
        lead_to(ports, max(lids(ports.lab)[0]) if lid == "used" else lid)
        before = n_received(ports.lab, FAR)
        take(ports)
        wait_until(lambda: state_of(ports, NEAR) == "probation", 60, explain(ports))
        [text] = returned(ports)
        assert mentions(text, f"not known {why}"), text
        assert n_received(ports.lab, FAR) - before < SHORT[1]


def test_link_of_the_switch_at_which_the_sm_is_is_tested_one_way():
    with data_lab() as ports:
        lead_to(ports, max(lids(ports.lab)[1]))
        take(ports, "leaf-01:5")
        wait_until(lambda: state_of(ports) == "probation", 60, explain(ports))
        [text] = returned(ports)
        assert mentions(text, "data passes not known"), text


def test_master_that_is_killed_in_a_test_leaves_no_entries():
    with data_lab(LONG, cluster="peers") as ports:
        lab, old = ports.lab, ports.master
        lid, among = max(lids(lab)[1]), switches(lab, old)
        lead_to(ports, lid)
        take(ports)
        wait_for_data(ports)
        assert entries(lab, lid, among)
        hosts.kill(state.load_required(lab.folder), old, "opensm")
        ports.master = ports.cluster.wait_for_holder(among=others(old))
        wait_until(lambda: not entries(lab, lid, among), 60, "the new master's tables")
        wait_until(lambda: state_of(ports, NEAR) == "probation", 120, explain(ports))


@pytest.mark.parametrize("opensm_conf, is_deaf", ((LMC, False), (LMC, True),
                                                  (LMC + "use_ucast_cache TRUE\n", True)))
def test_nothing_is_led_any_more_when_healing_is_switched_off(opensm_conf, is_deaf):
    """Also where switches do not take the entries' end, and OpenSM keeps its tables."""
    with data_lab(LONG, opensm_conf=opensm_conf) as ports:
        lab, lid = ports.lab, begin_test(ports)
        if is_deaf:
            lab.harm_mads("lose class 0x81 attribute 0x19 direction out")
        ask(lab, "set", "heal.mode", "off")
        wait_until(lambda: state_of(ports, NEAR) == "held", 30, explain(ports))
        if is_deaf:
            lab.heal_mads()
        wait_until(lambda: not entries(lab, lid), 60, "no entry")
        ask(lab, "set", "heal.mode", "act")
        wait_until(lambda: state_of(ports, NEAR) == "probation", 120, explain(ports))
        assert not entries(lab, lid)


def test_nothing_is_led_any_more_over_a_link_that_a_person_keeps_out():
    with data_lab(LONG) as ports:
        lid = begin_test(ports)
        ask(ports.lab, "damp", "pin", "leaf-02:5", sm=ports.master)
        wait_until(lambda: not entries(ports.lab, lid), 20, "no entry")


def test_key_that_is_taken_away_ends_the_test_and_the_link_returns():
    with data_lab(LONG) as ports:
        lid = begin_test(ports)
        ask(ports.lab, "set", "heal.test_lids", "")
        wait_until(lambda: state_of(ports, NEAR) == "probation", 60, explain(ports))
        [text] = returned(ports)
        assert not mentions(text, "data") and not entries(ports.lab, lid), text


def test_link_does_not_return_while_counters_of_its_end_are_not_told():
    with data_lab() as ports:
        lab = ports.lab
        lead_to(ports, max(lids(lab)[1]))
        far = switches(lab)[FAR[0]]
        take(ports)
        wait_until(lambda: state_of(ports, NEAR) == "testing", 30, explain(ports))
        # Its test with SMPs does without, once it has begun.
        wait_for_data(ports)
        lab.harm_mads(f"lose class 0x04 lid {far} direction out")
        wait_until(lambda: mentions(healed(ports, NEAR).get("what") or "", "counters")
                   or returned(ports), 60, explain(ports))
        assert state_of(ports, NEAR) == "testing" and not returned(ports), explain(ports)()
        lab.heal_mads()
        wait_until(lambda: state_of(ports, NEAR) == "probation", 90, explain(ports))
        assert mentions(returned(ports)[0], "each way none lost")


def test_counters_that_others_set_back_are_nothing_against_the_link():
    with data_lab(LONG) as ports:
        lab = ports.lab
        begin_test(ports)
        for _ in range(3):
            lab.sim(f'PerformanceSet "{FAR[0]}"[{FAR[1]}] PortCountersExtended.PortRcvPkts=0')
            time.sleep(.5)
        wait_until(lambda: state_of(ports, NEAR) == "probation", 120, explain(ports))
        assert deeds(ports) == ONCE
        assert mentions(returned(ports)[0], "each way none lost")
