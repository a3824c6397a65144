# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Guards on stock opensm, while the fabric changes: the last link of a leaf that is under
test or has failed, and plans that follow each other before a sweep shows what was done."""

import pytest

from checks import wait_until
from electionlib import others
from portlib import managed, switch_guid
from triadlab import hosts, state
from triadlib import ask_json, log_has

LEAF2, SPINE1, SPINE2 = (switch_guid(number) for number in (2, 4, 5))

# leaf-02 is left with its ports 5, to spine-01's port 3, and 8, to spine-02's port 4.
OTHERS = (6, 7)
# A switch that answers slowly makes a sweep last for seconds.
SLOW = "delay ms 80 class 0x81"


# What stops it: with three SMs, one of them is behind leaf-02.
GUARDS = {"none": "split", "peers": "sm_way"}


def wait_for(ports, node, number, found):
    return ports.wait_for(node, number, found, ports.master)


def row_of(ports, node, number):
    return ports.row(node, number, ports.master)


def deeds(ports, guid, number):
    return ports.deeds(guid, number, ports.master)


def leave_two_uplinks(ports):
    ports.lab.sim(*(f'Unlink "leaf-02"[{number}]' for number in OTHERS))
    for number in OTHERS:
        wait_for(ports, "leaf-02", number, "down")


def put_under_test(ports):
    """leaf-02's port 5 is held for its test."""
    ports.lab.sim('Unlink "leaf-02"[5]')
    wait_for(ports, "leaf-02", 5, "down")
    ports.expected.change(LEAF2, 5, state="test")
    ports.load(ports.master)
    ports.plug_in('"leaf-02"[5]')
    wait_for(ports, "leaf-02", 5, "testing")


def check_reached(ports, guard="split"):
    """The SM still manages what is behind leaf-02, over a link that data passes."""
    wait_for(ports, "leaf-02", 5, "active")
    ports.sweep(3, ports.master)
    assert row_of(ports, "leaf-02", 1)["found"] == "active", "a host behind it"
    row = row_of(ports, "leaf-02", 5)
    assert (row["found"], row["guard"]) == ("active", guard), row
    assert not ports.sets(), "Sets of a port's physical state"


@pytest.mark.plain
@pytest.mark.row("X3")
@pytest.mark.parametrize("slow", ["", SLOW], ids=["", "slow"])
@pytest.mark.parametrize("cluster", ["none", "peers"])
def test_link_under_test_that_became_the_last_way_is_released(cluster, slow):
    # So long a test does not end by itself while this one looks.
    with managed(cluster, port={"test_timeout": 200, "test_time": 100}) as ports:
        leave_two_uplinks(ports)
        put_under_test(ports)
        ports.lab.harm_mads(slow + "\n")
        ports.lab.sim('Unlink "leaf-02"[8]')
        wait_for(ports, "leaf-02", 5, "active")
        ports.lab.heal_mads()
        check_reached(ports, GUARDS[cluster])
        assert not any(deed in ("fail", "disable")
                       for deed, _, _ in deeds(ports, LEAF2, 5)), deeds(ports, LEAF2, 5)
        assert log_has(ports.lab, "the only way to ", ports.master), "why"


@pytest.mark.row("X3")
def test_failed_link_that_became_the_last_way_is_not_held():
    with managed(port={"test_timeout": 3, "test_time": 1}) as ports:
        leave_two_uplinks(ports)
        # Another host's name than the spine's: the test of it fails.
        ports.expected.change(LEAF2, 5, check="name=nobody")
        put_under_test(ports)
        ports.lab.sim('Unlink "leaf-02"[8]')
        check_reached(ports)
        # It flaps.
        ports.lab.sim('Unlink "leaf-02"[5]')
        wait_for(ports, "spine-01", 3, "down")
        ports.lab.sim('ReLink "leaf-02"[5]')
        check_reached(ports)


@pytest.mark.plain
@pytest.mark.row("X3")
@pytest.mark.parametrize("cluster", ["none", "peers"])
def test_next_generation_is_planned_on_what_the_last_one_did(cluster):
    with managed(cluster, port={"grace": 0, "drain": 0, "name_grace": 0}) as ports:
        leave_two_uplinks(ports)
        # Rows of a link's two ends must agree.
        for number in (5, 8):
            ports.expected.change(LEAF2, number, remote="")
        before = list(ports.expected.rows[SPINE1, 3])
        ports.lab.harm_mads(SLOW + "\n")
        ports.expected.change(SPINE1, 3, remote="port_guid=0x1234")
        ports.load(ports.master)
        wait_until(lambda: deeds(ports, SPINE1, 3)[-1:] == [("disable", "done", "miswired")],
                   60, "the first one's row")
        # No sweep has shown that yet.
        ports.expected.rows[SPINE1, 3] = before
        ports.expected.change(SPINE2, 4, remote="port_guid=0x1234")
        ports.load(ports.master)
        wait_until(lambda: (row_of(ports, "spine-02", 4) or {}).get("guard") ==
                   GUARDS[cluster], 60, "the second one's row, which its guard stops")
        ports.lab.heal_mads()
        ports.sweep(3, ports.master)
        assert row_of(ports, "spine-02", 4)["found"] == "active", "the last link"
        assert row_of(ports, "leaf-02", 1)["found"] == "active", "a host behind it"
        ports.check(expected_sets=1)


def restart_sm(ports):
    lab = state.load_required(ports.lab.folder)
    hosts.kill(lab, 0, "opensm")
    hosts.start(lab, 0, "opensm")
    ports.master = ports.cluster.wait_for_holder()
    ports.wait_for_state("enforcing", timeout_s=60)


@pytest.mark.plain
@pytest.mark.row("X3")
@pytest.mark.parametrize("meanwhile", [lambda _: None, restart_sm], ids=["", "restart"])
def test_last_link_that_is_down_for_a_moment_is_not_disabled(meanwhile):
    with managed(port={"grace": 0, "drain": 0}) as ports:
        leave_two_uplinks(ports)
        ports.lab.sim('Unlink "leaf-02"[8]')
        wait_for(ports, "leaf-02", 8, "down")
        ports.expected.change(LEAF2, 5, state="disabled")
        ports.expected.change(SPINE1, 3, state="disabled")
        # Nothing was ever there.
        ports.expected.change(SPINE1, 7, state="disabled")
        ports.load()
        ports.wait_for("spine-01", 7, "disabled")
        wait_until(lambda: (ports.row("spine-01", 3) or {}).get("guard") == "split", 30,
                   "the last link guarded")
        ports.lab.sim('Unlink "leaf-02"[5]')
        ports.wait_for("spine-01", 3, "down")
        meanwhile(ports)
        ports.expected.change(SPINE1, 8, state="disabled")
        ports.load()
        ports.sweep()
        for number in (3, 8):
            row = ports.row("spine-01", number)
            assert (row["found"], row["note"]) == ("down", "missing"), row
            assert "missing" in row["text"], row
        ports.lab.sim('ReLink "leaf-02"[5]')
        ports.wait_for("spine-01", 8, "disabled")
        row = ports.wait_for("spine-01", 3, "active")
        assert row["guard"] == "split", row
        ports.sweep()
        assert ports.row("leaf-02", 1)["found"] == "active", "a host behind it"
        # Its two ends without a cable, of 6 and 7 and 8, are as they are expected.
        assert [(one.path, one.port) for one in ports.check()].count(3) == 0, "its link"


def written(ports):
    return ask_json(ports.lab, "status")["images"]["written"]


@pytest.mark.plain
@pytest.mark.row("X3")
def test_switch_that_the_last_image_has_is_missing(tmp_path):
    images = f"[history]\ndir = {tmp_path}\n"
    with managed(port={"grace": 0, "drain": 0}, perfmgr="sweep_period = 1\n",
                 more=images) as ports:
        # The configuration does not name the leaf.
        for place, row in list(ports.expected.rows.items()):
            if place[0] == LEAF2:
                del ports.expected.rows[place]
            elif place[0] in (SPINE1, SPINE2):
                row[3] = ""
        ports.load()
        before = written(ports)
        wait_until(lambda: written(ports) > before, 30, "an image with the leaf")
        ports.lab.sim(*(f'Unlink "leaf-02"[{number}]' for number in (5, 6, 7, 8)))
        wait_for(ports, "spine-01", 3, "down")
        restart_sm(ports)
        ports.expected.change(SPINE1, 3, state="disabled")
        ports.load()
        ports.sweep()
        row = ports.row("spine-01", 3)
        assert (row["found"], row["note"]) == ("down", "missing"), row
        assert "leaf-02" in row["text"], row


# The switch and port that each of portlib's SMS is at.
PLACES = {0: (switch_guid(1), 1), 1: (LEAF2, 1), 2: (switch_guid(3), 1)}


def check_way_is_kept(ports, place):
    """Its port is not disabled, though the expected configuration wants that."""
    ports.expected.change(*place, state="disabled")
    ports.load(ports.master)
    wait_until(lambda: (row_of(ports, f"{place[0]:#x}", place[1]) or {}).get("guard") ==
               "sm_way", 30, "its link, which the guard keeps")
    ports.sweep(3, ports.master)
    assert not ports.sets(), "Sets of a port's physical state"


@pytest.mark.row("X3")
def test_way_to_an_sm_that_has_ended_is_guarded():
    with managed("peers", port={"grace": 0, "drain": 0}) as ports:
        gone = 2 if ports.master != 2 else 1
        place = PLACES[gone]
        hosts.kill(state.load_required(ports.lab.folder), gone, "opensm")
        # Its opensm has ended when OpenSM no longer counts it among the SMs.
        wait_until(lambda: len(ask_json(ports.lab, "election", sm=ports.master)["members"])
                   == 2, 60, "a view without it")
        ports.sweep(3, ports.master)
        check_way_is_kept(ports, place)


@pytest.mark.row("X3")
def test_way_to_an_sm_that_has_ended_is_guarded_by_those_that_were_restarted():
    with managed("peers", port={"grace": 0, "drain": 0}) as ports:
        gone = 2 if ports.master != 2 else 1
        place = PLACES[gone]
        lab = state.load_required(ports.lab.folder)
        assert not ports.history(sm=ports.master), "what the gone one did to ports"
        for sm in range(3):
            hosts.kill(lab, sm, "opensm")
        for sm in others(gone):
            hosts.start(lab, sm, "opensm")
        ports.master = ports.cluster.wait_for_holder(among=others(gone))
        ports.wait_for_state("enforcing", ports.master, timeout_s=60)
        ports.sweep(3, ports.master)
        check_way_is_kept(ports, place)
