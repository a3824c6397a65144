# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Bad links are taken out of routing, retrained, tested, and returned."""

import contextlib
import time

import pytest

from checks import mentions, succeeded, wait_until
from electionlib import others
from portlib import DISABLED, LEAF, POLLING, SPINE, managed
from triadlab import hosts, state
from triadlib import ask, ask_json, status

PERFMGR = "sweep_period = 1\nreset = never\n"
CONF = ("[alerts]\nSymbolErrorCounter = off\n[damp]\nmode = act\n"
        "[heal]\nmode = act\nout = {out}\nprobation = {probation}\nmin_capacity = 50\n")
# The link leaf-01:5 - spine-01:1.
BAD = (LEAF(1), 5)


@contextlib.contextmanager
def healing(cluster="none", out=6, probation=5, **options):
    with managed(cluster, perfmgr=PERFMGR, retrain=True, opensm_conf="",
                 port={"test_time": 1, "test_timeout": 20, **options.pop("port", {})},
                 more=CONF.format(out=out, probation=probation), **options) as ports:
        wait_until(lambda: ask_json(ports.lab, "status", sm=ports.master)["heal"]["state"]
                   .startswith("bad links are taken"), 60,
                   lambda: ask(ports.lab, "status", sm=ports.master))
        yield ports


class Worn:
    """A cable that has errors in each reading, until it is mended."""

    def __init__(self, ports, end=BAD):
        self._lab, self._end, self._n = ports.lab, end, 0

    def wear(self):
        self._n += 3
        self._lab.sim(f'PerformanceSet "{self._end[0]}"[{self._end[1]}] '
                      f"PortCounters.SymbolErrorCounter={self._n}")
        time.sleep(.5)

    def wear_until(self, condition, timeout_s, what):
        def is_so():
            self.wear()
            return condition()
        wait_until(is_so, timeout_s, what)


def healed(ports, end=BAD, sm=None):
    """What 'heal' says of the link with this end; {}: nothing."""
    for row in ask_json(ports.lab, "heal", sm=ports.master if sm is None else sm):
        if end in ((row["node_name"], row["port"]), (row["far_name"], row["far_port"])):
            return row
    return {}


def state_of(ports, sm=None):
    return healed(ports, sm=sm).get("state")


def n_links(ports, sm=None):
    return status(ports.lab, sm=ports.master if sm is None else sm)["topology"]["links"]


def deeds(ports, sm=None):
    """Of all ports, the oldest first."""
    rows = ask_json(ports.lab, "port", "history", sm=ports.master if sm is None else sm)
    return [(row["deed"], row["outcome"]) for row in reversed(rows)
            if row["reason"] == "heal"]


def explain(ports):
    return lambda: "\n".join(ask(ports.lab, *words, sm=ports.master)
                             for words in (("heal",), ("port", "history"), ("damp",)))


ONCE = [("take", "intended"), ("take", "done"), ("bounce", "intended"), ("bounce", "done"),
        ("return", "intended"), ("return", "done")]


def test_worn_link_is_out_while_it_is_tested_and_returns():
    with healing() as ports:
        cable, present = Worn(ports), n_links(ports)
        cable.wear_until(lambda: state_of(ports), 30, "the link to be taken")
        wait_until(lambda: state_of(ports) == "probation", 40, explain(ports))
        assert deeds(ports) == ONCE
        # It was taken down when no table had it any longer.
        assert [s.phys_state for s in ports.sets()] == [DISABLED, POLLING]
        wait_until(lambda: n_links(ports) == present, 20, "the link in the tables")
        wait_until(lambda: not healed(ports), 60, explain(ports))
        assert deeds(ports) == ONCE
