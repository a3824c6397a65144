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

pytestmark = pytest.mark.row("N23")
PERFMGR = "sweep_period = 1\nreset = never\n"
CONF = ("[alerts]\nSymbolErrorCounter = off\n[damp]\nmode = act\n"
        "[heal]\nmode = act\nout = {out}\nprobation = {probation}\nmin_capacity = 50\n")
# The link leaf-01:5 - spine-01:1.
BAD = (LEAF(1), 5)


@contextlib.contextmanager
def healing(cluster="none", out=6, probation=5, more_heal="", port=None, **options):
    with managed(cluster, perfmgr=PERFMGR, retrain=True, opensm_conf="",
                 port={"test_time": 1, "test_timeout": 20, **(port or {})},
                 more=CONF.format(out=out, probation=probation) + more_heal, **options) as ports:
        wait_until(lambda: ask_json(ports.lab, "status", sm=ports.master)["heal"]["state"]
                   .startswith("bad links are taken"), 60,
                   lambda: ask(ports.lab, "status", sm=ports.master))
        yield ports


class Worn:
    """A cable that has errors in each reading, as long as it carries data."""

    def __init__(self, ports, end=BAD):
        self._ports, self._lab, self._end, self._n = ports, ports.lab, end, 0

    def wear(self):
        self._n += 3
        self._lab.sim(f'PerformanceSet "{self._end[0]}"[{self._end[1]}] '
                      f"PortCounters.SymbolErrorCounter={self._n}")
        time.sleep(.5)

    def wear_until(self, condition, timeout_s, what):
        def is_so():
            if state_of(self._ports) in (None, "probation"):
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
        [row] = ask_json(ports.lab, "heal", "report", "--since", "1h")
        assert (row["taken"], row["now"]) == (1, "routed") and 0 < row["out_h"] < .1, row
        assert (row["far_name"], row["far_port"]) == (SPINE(1), 1)
        assert mentions(ask(ports.lab, "heal", "report"), "symbol bit error rate")


def test_link_that_is_bad_again_stays_out_until_somebody_releases_it():
    with healing(out=2, probation=600, more_heal="max_taken = 2\n") as ports:
        cable, present = Worn(ports), n_links(ports)
        cable.wear_until(lambda: state_of(ports) == "stays out", 90, explain(ports))
        assert healed(ports)["taken"] == 2
        assert [deed for deed, outcome in deeds(ports) if outcome == "done"] == \
            ["take", "bounce", "return", "take"]
        assert n_links(ports) == present - 1
        # A person wins: it is not taken again, however bad it is.
        succeeded(ports.lab.triad("port", "release", "leaf-01:5", sm=ports.master))
        assert not healed(ports)
        wait_until(lambda: n_links(ports) == present, 20, "the link in the tables")
        cable.wear_until(lambda: "PLAN" in ports.lab.triad("heal", "plan", sm=ports.master).stdout,
                         30, "bad again")
        until = time.monotonic() + 6
        cable.wear_until(lambda: time.monotonic() > until, 20, "some plans")
        assert not healed(ports)


def narrow(text):
    """The link of leaf-01's port 5 runs at a quarter of its width."""
    node, lines = None, []
    for line in text.splitlines(keepends=True):
        if line.startswith(("Switch", "Hca", "Ca")):
            node = line.split('"')[1]
        if (node, line[:3]) in (("leaf-01", "[5]"), ("spine-01", "[1]")):
            line = line.replace("4xEDR", "1xEDR")
        lines.append(line)
    return "".join(lines)


def test_slow_link_is_retrained_once_and_returns_as_it_was():
    with healing(edit=narrow, port={"test_timeout": 2}) as ports:
        # Three times, as the lab's ends never agree on more.
        wait_until(lambda: ("return", "done") in deeds(ports), 60, explain(ports))
        done = [deed for deed, outcome in deeds(ports) if outcome == "done"]
        assert done == ["take", "bounce", "bounce", "bounce", "return"]
        wait_until(lambda: not healed(ports), 10, explain(ports))
        # It is bad still, and is not taken again for a week.
        wait_until(lambda: "slow" in ports.lab.triad("heal", "plan", sm=ports.master).stdout,
                   30, "slow still")
        time.sleep(7)
        assert not healed(ports)


def test_link_that_stays_out_is_tested_and_returns_when_it_was_mended():
    with healing(out=2, more_heal="max_taken = 1\n") as ports:
        cable, present = Worn(ports), n_links(ports)
        cable.wear_until(lambda: state_of(ports) == "stays out", 60, explain(ports))
        ports.lab.sim(f'Unlink "{LEAF(1)}"[5]')
        time.sleep(35)  # who works at a cable needs half a minute (heal/course.c)
        assert state_of(ports) == "stays out"
        ports.lab.sim(f'Link "{LEAF(1)}"[5] "{SPINE(1)}"[1]')
        wait_until(lambda: state_of(ports) == "probation", 60, explain(ports))
        assert [deed for deed, outcome in deeds(ports) if outcome == "done"] == \
            ["take", "bounce", "return"]
        wait_until(lambda: n_links(ports) == present, 20, "the link in the tables")


def test_link_that_somebody_else_lets_go_is_left_alone():
    with healing(out=600) as ports:
        cable = Worn(ports)
        cable.wear_until(lambda: state_of(ports) == "resting", 60, explain(ports))
        [port] = ask_json(ports.lab, "ports", "--node", "leaf-01", "--port", "5")
        assert port["state"] == "init", port
        ask(ports.lab, "damp", "release", "leaf-01:5", sm=ports.master)
        wait_until(lambda: not healed(ports), 10, explain(ports))
        assert ask_json(ports.lab, "port", "history", sm=ports.master)[0]["reason"] == "by-hand"


def test_link_that_a_person_holds_stays_out():
    with healing(out=8) as ports:
        cable, present = Worn(ports), n_links(ports)
        cable.wear_until(lambda: state_of(ports) == "resting", 60, explain(ports))
        ask(ports.lab, "damp", "pin", "leaf-01:5", sm=ports.master)
        assert not healed(ports)
        # Its time out is over.
        time.sleep(9)
        assert n_links(ports) == present - 1 and not healed(ports), explain(ports)()


@pytest.mark.parametrize("cluster", ("corosync", "peers"))
def test_next_master_goes_on_where_the_last_one_was(cluster):
    with healing(cluster, out=20) as ports:
        lab, old = ports.lab, ports.master
        cable, present = Worn(ports), n_links(ports)
        cable.wear_until(lambda: state_of(ports), 60, explain(ports))
        hosts.kill(state.load_required(lab.folder), old, "opensm")
        ports.master = ports.cluster.wait_for_holder(among=others(old))
        wait_until(lambda: healed(ports), 40, explain(ports))
        # Held all the time, taken once, and tested by the new master before it returns.
        assert n_links(ports) == present - 1
        wait_until(lambda: state_of(ports) == "probation", 60, explain(ports))
        done = [deed for deed, outcome in deeds(ports) if outcome == "done"]
        assert done.count("take") == 1 and done[-2:] == ["bounce", "return"], done
        wait_until(lambda: n_links(ports) == present, 20, "the link in the tables")
