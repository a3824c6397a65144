# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Which threads of Triad's opensm has.  A further one is a decision: it costs the SM's host,
and ARCHITECTURE.md says why it is there."""

import contextlib
import os
from collections import Counter

import pytest

from agentlib import Broker
from checks import wait_until
from labs import Lab, need
from portlib import managed
from triadlab.tcp_ports import free_address
from triadlib import NET, ask, triad_lab

# Each waits for what may take long, and would keep the others waiting: OpenSM's events and
# its lock; answers of PMAs; the log and syslog; nothing, but it sees that the disk hangs; that
# disk; clients who connect; the one who does, here triadd that hears of changes.
ALWAYS = ("worker", "perf", "alerts", "history", "histfile", "control", "client")
# It waits for answers of ports that withhold their speed, and for the time to ask again, with
# no thread after some sweeps.
SOMETIMES = "triad-speeds"
# What goes to the broker, and comes from there.
OF_MANAGER = ("client", "client")
# A disk and a majority; sysfs; SMs over the fabric; OpenSM's lock.
OF_ELECTION = ("election", "health", "fabric", "sm")
# Policies are compiled, for seconds; one request waits while another is answered.
OF_QOS = ("qos", "sa", "sa")
# Switches, a disk and a majority; the pace of datagrams; OpenSM's lock, for requests that
# the SA must not get; switches that sent a trap; all devices, for hours.
OF_EVERYTHING = (*OF_MANAGER, *OF_ELECTION, *OF_QOS, "ports", "sflow", "shield", "damp",
                 "repair", "audit")

QOS = "qos.enabled", "qos.tables_enabled", "qos.partition_groups"


def threads(lab, sm=0):
    """How many there are of each name, without those of OpenSM, and SOMETIMES."""
    pid = lab.status()["sms"][sm]["pid"]
    names = Counter()
    for thread in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(OSError), \
                open(f"/proc/{pid}/task/{thread}/comm", encoding="ascii") as comm:
            names[comm.read().strip()] += 1
    del names["opensm"], names[SOMETIMES]
    return names


def check(lab, expected, sm=0):
    """Some come for a moment: with a check of routes, a sweep to be explained, a try of the
    disk, a request of this test."""
    expected = Counter(f"triad-{name}" for name in expected)
    try:
        wait_until(lambda: threads(lab, sm) == expected, 20, "these threads alone")
    except AssertionError:
        found = threads(lab, sm)
        print("not expected:", found - expected, "missing:", expected - found)
        raise


def by_role(lab):
    return {sm["state"]: index for index, sm in enumerate(lab.status()["sms"])}


def test_default_has_these_alone():
    conf = f"[prometheus]\nlisten = {free_address()}\n"
    with Lab(NET, sms=("Hca1", "Hca2"), triad_conf=conf, images=True) as lab:
        roles = by_role(lab)
        for sm in ("master", "standby"):
            check(lab, ALWAYS, roles[sm])


@pytest.mark.parametrize("cluster", ("corosync", "peers"))
def test_everything_on_has_these_alone(scratch, cluster):
    need("NATS")
    broker = Broker(scratch)
    conf = ("[qos]\nenabled = true\ntables_enabled = true\n"
            "[sflow]\ncollectors = 127.0.0.1:9\n[shield]\nmode = act\n"
            "[damp]\nmode = act\n[repair]\nmode = act\n[audit]\nperiod = 3600\n"
            f"[collect]\nmode = manager\nservers = {broker.url}\n")
    with managed(cluster, perfmgr="enabled = true\n", more=conf) as ports:
        expected = (*ALWAYS, *OF_EVERYTHING, cluster)
        for sm in by_role(ports.lab).values():
            check(ports.lab, expected, sm)


@pytest.mark.threads
def test_what_is_set_off_has_no_thread():
    with triad_lab(triadd=True) as lab:
        check(lab, ALWAYS)
        for _ in range(3):
            for key in (*QOS, "election.enabled", "port.enabled", "devices.enabled"):
                ask(lab, "set", key, "true")
            ask(lab, "set", "sflow.collectors", "127.0.0.1:9")
            ask(lab, "set", "shield.mode", "watch")
            ask(lab, "set", "damp.mode", "act")
            ask(lab, "set", "repair.mode", "act")
            ask(lab, "set", "heal.mode", "propose")
            ask(lab, "set", "audit.period", "3600")
            wait_until(lambda: {"triad-qos", "triad-sm", "triad-ports", "triad-devices",
                                "triad-sflow", "triad-shield", "triad-damp", "triad-repair", "triad-heal",
                                "triad-audit"}
                       <= set(threads(lab)), 20, "threads for all")
            ask(lab, "set", "sflow.collectors", "")
            ask(lab, "set", "shield.mode", "off")
            ask(lab, "set", "damp.mode", "off")
            ask(lab, "set", "repair.mode", "off")
            ask(lab, "set", "heal.mode", "off")
            ask(lab, "set", "audit.period", "0")
            for key in (*QOS, "port.enabled", "election.enabled", "devices.enabled"):
                ask(lab, "set", key, "false")
            # These stay: OpenSM's threads may be about to leave requests for them.
            check(lab, (*ALWAYS, "election", "sa", "sa"))
