# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The list of what was done to ports, on three stock opensms that elect: it is the same on
all of them, also after some lost theirs."""

import shutil
from pathlib import Path

import pytest

from checks import wait_until
from electionlib import others
from portlib import managed, switch_guid
from triadlab import hosts, state

LEAF3 = switch_guid(3)


def history(ports, sm):
    """Of all ports.  A standby knows no names."""
    return [{name: value for name, value in one.items() if name != "node_name"}
            for one in ports.history(sm=sm)]


def disable_and_enable(ports, times):
    for _ in range(times):
        for wanted, deed in (("disabled", "disable"), ("enabled", "enable")):
            ports.expected.change(LEAF3, 4, state=wanted, remote="")
            ports.load(ports.master)
            wait_until(lambda deed=deed: ports.deeds(LEAF3, 4, ports.master)[-1:] ==
                       [(deed, "done", "expected")], 40, deed)


def state_folder(ports, sm):
    return ports.folder / f"state-{ports.guids[sm]}"


def restart_with(ports, sm, backup=None):
    """Ends the SM's opensm, and starts it with the folder of another day, or with none."""
    lab = state.load_required(ports.lab.folder)
    hosts.kill(lab, sm, "opensm")
    shutil.rmtree(state_folder(ports, sm))
    if backup:
        shutil.copytree(backup, state_folder(ports, sm))
    hosts.start(lab, sm, "opensm")
    wait_until(lambda: ports.ask_ok("status", sm=sm), 30, f"SM {sm} runs again")


def wait_for_same(ports, n):
    wait_until(lambda: all(history(ports, sm) == history(ports, 0) for sm in range(3)),
               30, "all have the same list")
    assert len(history(ports, 0)) == n, "what was done"


@pytest.mark.row("E12")
@pytest.mark.parametrize("cluster", [
    pytest.param("peers", marks=[pytest.mark.plain, pytest.mark.threads]), "corosync",
    "fabric"])
def test_list_is_the_same_after_one_was_lost_and_another_is_old(cluster):
    with managed(cluster, port={"grace": 0, "drain": 0, "max_actions": 20}) as ports:
        lost, old = others(ports.master)
        disable_and_enable(ports, 1)
        wait_for_same(ports, 4)
        backup = Path(shutil.copytree(state_folder(ports, old), ports.folder / "backup"))
        disable_and_enable(ports, 2)
        wait_for_same(ports, 12)
        restart_with(ports, lost)
        restart_with(ports, old, backup)
        wait_for_same(ports, 12)
        numbers = [(one["term"], one["number"]) for one in history(ports, lost)]
        assert numbers == sorted(numbers, reverse=True), "the last one first"
        # They have it on their disks, too.
        for sm in (lost, old):
            assert {(one.term, one.number) for one in ports.journal(sm)} == set(numbers)
        ports.check(expected_sets=6)
