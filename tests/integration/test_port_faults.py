#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The port manager on stock opensm: cables in the wrong place, links that are bad, switches
that don't obey, SMs that die or stop.  In each case everything that was sent was permitted,
within its term, and in a journal."""

import taplib
from portlib import managed, switch_guid
from taplib import wait_until

LEAF1, LEAF2, LEAF3 = (switch_guid(number) for number in (1, 2, 3))


def test_swapped_cables_both_disabled_and_released(t):
    with managed() as ports:
        ports.lab.sim('Unlink "leaf-03"[1]', 'Unlink "leaf-03"[2]',
                      'Link "leaf-03"[1] "host-0010"[1]', 'Link "leaf-03"[2] "host-0009"[1]')
        for port in (1, 2):
            row = ports.wait_for("leaf-03", port, "failed")
            t.contains(row["text"], "leads to")
        t.equal([(one["port"], one["reason"]) for one in ports.history()
                 if one["deed"] == "disable" and one["outcome"] == "done"],
                [(2, "miswired"), (1, "miswired")], "what was done")
        ports.check(t, expected_sets=2)


def held(ports):
    """Leaf-02's port 3, in a test that goes on."""
    ports.lab.sim('Unlink "leaf-02"[3]')
    ports.wait_for("leaf-02", 3, "down")
    ports.expected.change(LEAF2, 3, state="test", check="name=nobody")
    ports.load()
    ports.lab.sim('ReLink "leaf-02"[3]')
    wait_until(lambda: ports.row("leaf-02", 3)["test"] == "application", 20, "a test")


def test_held_port_no_longer_under_test_comes_up(t):
    with managed(port={"test_timeout": 600}) as ports:
        held(ports)
        ports.expected.change(LEAF2, 3, state="enabled", check="")
        ports.load()
        ports.wait_for("leaf-02", 3, "active", timeout_s=15)
        ports.check(t, expected_sets=0)


def test_held_port_mode_observe_comes_up(t):
    with managed(port={"test_timeout": 600}) as ports:
        held(ports)
        ports.ask("set", "port.mode", "observe")
        ports.wait_for("leaf-02", 3, "active", timeout_s=15)
        ports.check(t, expected_sets=0)


if __name__ == "__main__":
    taplib.main(globals())
