# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Bad links are taken out of routing, retrained, tested, and returned."""

import contextlib
import datetime
import time
import zlib

import pytest

from checks import mentions, succeeded, wait_until
from electionlib import others
from portlib import DISABLED, LEAF, POLLING, SPINE, managed, switch_guid
from triadlab import hosts, state
from triadlib import ask, ask_json, log_has, status

pytestmark = pytest.mark.row("N23")
PERFMGR = "sweep_period = 1\nreset = never\n"
CONF = ("[alerts]\nSymbolErrorCounter = off\n[damp]\nmode = act\n"
        "[heal]\nmode = act\nout = {out}\nprobation = {probation}\nmin_capacity = 50\n")
# The link leaf-01:5 - spine-01:1.
BAD = (LEAF(1), 5)


@contextlib.contextmanager
def healing(cluster="none", out=6, probation=5, more_heal="", port=None, **options):
    options.setdefault("opensm_conf", "")
    with managed(cluster, perfmgr=PERFMGR, retrain=True,
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


def state_of(ports, end=BAD, sm=None):
    return healed(ports, end, sm).get("state")


def held_links(ports, sm=None):
    """By 'damp'."""
    rows = ask_json(ports.lab, "damp", sm=ports.master if sm is None else sm)
    return [row for row in rows if row["state"].startswith("held")]


def n_links(ports, sm=None):
    return status(ports.lab, sm=ports.master if sm is None else sm)["topology"]["links"]


def has_alert(ports):
    """That a link stays out."""
    return any(finding.get("why") == "links_that_stay_out"
               for alert in ask_json(ports.lab, "alerts", sm=ports.master)["alerts"]
               for finding in alert["findings"])


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
        assert healed(ports)["until"] is None
        assert n_links(ports) == present - 1
        wait_until(lambda: has_alert(ports), 20, lambda: ask(ports.lab, "alerts"))
        # A person wins: it is not taken again, however bad it is.
        succeeded(ports.lab.triad("port", "release", "leaf-01:5", sm=ports.master))
        assert not healed(ports)
        wait_until(lambda: not has_alert(ports), 20, lambda: ask(ports.lab, "alerts"))
        wait_until(lambda: n_links(ports) == present, 20, "the link in the tables")
        assert stays_in_routing(ports, cable)


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


def refused(ports, *words):
    """The message of a command that did nothing."""
    process = ports.lab.triad(*words, sm=ports.master)
    assert process.returncode == 1, process
    return process.stderr


def test_good_link_that_a_person_wants_tested_is_taken_and_returns():
    with healing(out=4, probation=600, more_heal="max_taken = 1\n") as ports:
        present = n_links(ports)
        assert mentions(refused(ports, "heal", "take", "leaf-01:1"), "between switches")
        assert mentions(refused(ports, "heal", "take", "leaf-01:9"), "no link")
        wait_until(lambda: ports.lab.triad("heal", "take", "leaf-01:5", sm=ports.master)
                   .returncode == 0, 20, "a sweep that shows what was done last")
        assert mentions(refused(ports, "heal", "take", "spine-01:1"), "heal")
        wait_until(lambda: n_links(ports) == present - 1, 20, explain(ports))
        wait_until(lambda: state_of(ports) == "probation", 40, explain(ports))
        assert deeds(ports) == ONCE
        assert [s.phys_state for s in ports.sets()] == [DISABLED, POLLING]
        wait_until(lambda: n_links(ports) == present, 20, "the link in the tables")
        ask(ports.lab, "set", "heal.mode", "propose", sm=ports.master)
        wait_until(lambda: mentions(refused(ports, "heal", "take", "leaf-01:6"), "heal.mode"),
                   10, "the other mode")


def test_no_link_is_taken_while_many_come_and_go():
    with healing(out=600, more_heal="max_out = 2\n") as ports:
        cable = Worn(ports)
        ports.lab.sim(*(f'Unlink "{LEAF(leaf)}"[{port}]' for leaf in (2, 3) for port in (5, 6)))
        wait_until(lambda: "came or went" in status(ports.lab)["heal"]["state"], 30,
                   lambda: ask(ports.lab, "status"))
        cable.wear_until(lambda: mentions(ports.lab.triad("heal", "plan").stdout, "take"), 30,
                         lambda: ask(ports.lab, "heal", "plan"))
        assert stays_in_routing(ports, cable), explain(ports)()


def stay_out(ports):
    """By bad tests, as the link is cut."""
    cable = Worn(ports)
    cable.wear_until(lambda: state_of(ports), 30, "the link to be taken")
    ports.lab.sim(f'Unlink "{LEAF(1)}"[5]')
    wait_until(lambda: state_of(ports) == "stays out", 40, explain(ports))


def n_bounces(ports):
    return deeds(ports).count(("bounce", "done"))


def test_link_whose_tests_were_bad_is_tested_again_by_itself():
    with healing(out=5, port={"test_timeout": 1}) as ports:
        stay_out(ports)
        n = n_bounces(ports)
        ask(ports.lab, "set", "port.test_timeout", "20", sm=ports.master)
        # Nobody worked at it: that takes half a minute.
        ports.lab.sim(f'Link "{LEAF(1)}"[5] "{SPINE(1)}"[1]')
        wait_until(lambda: state_of(ports) in ("resting", "probation"), 60, explain(ports))
        assert n_bounces(ports) > n, explain(ports)()


def test_link_whose_counters_cannot_be_read_waits_for_them_and_is_not_bad():
    with healing(out=2, port={"test_time": 1, "test_timeout": 5}) as ports:
        cable = Worn(ports)
        cable.wear_until(lambda: state_of(ports), 60, explain(ports))
        ports.lab.sim(f'Quirk "{SPINE(1)}" silent')
        wait_until(lambda: state_of(ports) == "testing", 30, explain(ports))
        n_sets = len(ports.sets())
        wait_until(lambda: "counters" in (healed(ports)["what"] or ""), 20, explain(ports))
        # As long as two tests last.
        until = time.monotonic() + 11
        wait_until(lambda: time.monotonic() > until or state_of(ports) != "testing", 20, "time")
        assert state_of(ports) == "testing" and len(ports.sets()) == n_sets, explain(ports)()
        ports.lab.sim(f'Quirk "{SPINE(1)}" none')
        wait_until(lambda: state_of(ports) == "probation", 40, explain(ports))


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


def stays_in_routing(ports, cable, time_s=6):
    """However bad it is, for some plans."""
    cable.wear_until(lambda: "PLAN" in ports.lab.triad("heal", "plan", sm=ports.master).stdout,
                     30, "bad again")
    until = time.monotonic() + time_s
    cable.wear_until(lambda: time.monotonic() > until, 20, "some plans")
    return not healed(ports)


def test_person_who_pinned_a_link_and_releases_it_is_on_record():
    with healing(out=600) as ports:
        cable = Worn(ports)
        cable.wear_until(lambda: state_of(ports) == "resting", 60, explain(ports))
        ask(ports.lab, "damp", "pin", "leaf-01:5", sm=ports.master)
        ask(ports.lab, "damp", "release", "leaf-01:5", sm=ports.master)
        wait_until(lambda: ask_json(ports.lab, "heal", "report")[0]["now"] == "routed", 20,
                   explain(ports))
        done = [(row["deed"], row["reason"])
                for row in ask_json(ports.lab, "port", "history", sm=ports.master)
                if row["outcome"] == "done"]
        assert done[:2] == [("return", "by-hand"), ("take", "by-hand")], done


@pytest.mark.parametrize("command", ("port", "damp"))
def test_link_that_is_out_when_healing_is_switched_off_is_listed_and_released(command):
    with healing(out=600) as ports:
        cable, present = Worn(ports), n_links(ports)
        cable.wear_until(lambda: state_of(ports) == "resting", 60, explain(ports))
        ask(ports.lab, "set", "heal.mode", "off", sm=ports.master)
        wait_until(lambda: state_of(ports) == "held", 10, explain(ports))
        assert healed(ports)["taken"] is None
        # Where there is no room for all, the far end is left out.
        for words, column in ((("heal",), "STATE"), (("heal", "report"), "NOW"),
                              (("damp",), "STATE")):
            title = ask(ports.lab, *words, sm=ports.master).splitlines()[0]
            assert title.index(column) < title.index("FAR END"), title
        [row] = ask_json(ports.lab, "heal", "report")
        assert (row["now"], row["far_name"]) == ("out", SPINE(1)), row
        succeeded(ports.lab.triad(command, "release", "leaf-01:5", sm=ports.master))
        wait_until(lambda: n_links(ports) == present, 20, "the link in the tables")
        ask(ports.lab, "set", "heal.mode", "act", sm=ports.master)
        assert stays_in_routing(ports, cable), explain(ports)()


def test_nothing_is_said_to_be_done_while_the_port_manager_is_off():
    with healing(out=600) as ports:
        cable = Worn(ports)
        cable.wear_until(lambda: state_of(ports) == "resting", 60, explain(ports))
        ask(ports.lab, "set", "port.enabled", "false", sm=ports.master)
        wait_until(lambda: state_of(ports) == "held", 10, explain(ports))
        assert "port.enabled" in healed(ports)["what"]
        ask(ports.lab, "set", "port.enabled", "true", sm=ports.master)
        wait_until(lambda: state_of(ports) == "resting", 30, explain(ports))


def test_keys_that_change_hold_for_a_link_that_is_out():
    with healing(out=600, probation=600) as ports:
        cable = Worn(ports)
        cable.wear_until(lambda: state_of(ports) == "resting", 60, explain(ports))
        ask(ports.lab, "set", "heal.out", "1", sm=ports.master)
        wait_until(lambda: state_of(ports) == "probation", 20, explain(ports))
        # What is not read is not good, however short the probation.
        wait_until(lambda: healed(ports)["until"], 30, explain(ports))
        ask(ports.lab, "set", "perfmgr.enabled", "false", sm=ports.master)
        wait_until(lambda: not healed(ports)["until"], 20, explain(ports))
        ask(ports.lab, "set", "heal.probation", "1", sm=ports.master)
        ask(ports.lab, "set", "perfmgr.enabled", "true", sm=ports.master)
        wait_until(lambda: not healed(ports), 30, explain(ports))


def test_nothing_is_taken_or_kept_when_no_link_can_be_held():
    with healing(out=600) as ports:
        cable, present = Worn(ports), n_links(ports)
        cable.wear_until(lambda: state_of(ports) == "resting", 60, explain(ports))
        n_sets = len(ports.sets())
        ask(ports.lab, "set", "damp.mode", "watch", sm=ports.master)
        wait_until(lambda: n_links(ports) == present and not healed(ports), 20, explain(ports))
        # Another one is no better off.
        other = Worn(ports, end=(LEAF(2), 5))
        other.wear_until(lambda: "take" in ports.lab.triad(
            "heal", "plan", sm=ports.master).stdout, 30, "another one")
        assert stays_in_routing(ports, other), explain(ports)()
        assert not ask_json(ports.lab, "heal", sm=ports.master), explain(ports)()
        ask(ports.lab, "set", "heal.mode", "propose", sm=ports.master)
        ask(ports.lab, "set", "damp.mode", "act", sm=ports.master)
        ports.sweep(2, ports.master)
        assert n_links(ports) == present and not held_links(ports), explain(ports)()
        assert len(ports.sets()) == n_sets


def restart(ports, meanwhile=lambda: None):
    lab = state.load_required(ports.lab.folder)
    hosts.kill(lab, 0, "opensm")
    meanwhile()
    hosts.start(lab, 0, "opensm")
    ports.master = ports.cluster.wait_for_holder()
    ports.wait_for_state("enforcing", timeout_s=60)


def test_link_that_returned_right_before_a_restart_is_not_held_by_nobody():
    with healing(out=15, probation=600) as ports:
        cable, present = Worn(ports), n_links(ports)
        cable.wear_until(lambda: state_of(ports) == "resting", 60, explain(ports))
        [path] = ports.lab.folder.glob("**/history-*")
        wait_until(lambda: b"held out of routing" in path.read_bytes(), 10, "it is in the history")
        history = path.read_bytes()
        wait_until(lambda: state_of(ports) == "probation", 60, explain(ports))
        # Its return is in the journal, and was not written to the history.
        restart(ports, lambda: path.write_bytes(history))
        log_has(ports.lab, "held out of routing as before the restart", timeout_s=60)
        wait_until(lambda: state_of(ports) == "probation", 60, explain(ports))
        wait_until(lambda: n_links(ports) == present and not held_links(ports), 20,
                   explain(ports))


def test_link_that_was_taken_and_of_whose_hold_nobody_knows_is_held_again():
    with healing(out=600) as ports:
        [path] = ports.lab.folder.glob("**/history-*")
        history = path.read_bytes()
        cable, present = Worn(ports), n_links(ports)
        cable.wear_until(lambda: state_of(ports), 60, explain(ports))
        restart(ports, lambda: path.write_bytes(history))
        wait_until(lambda: state_of(ports) == "resting", 60, explain(ports))
        assert n_links(ports) == present - 1
        assert [deed for deed, outcome in deeds(ports) if outcome == "done"].count("take") == 1


def test_link_that_was_taken_and_can_be_held_no_more_is_back_on_record():
    with healing(out=600, probation=1) as ports:
        [path] = ports.lab.folder.glob("**/history-*")
        history = path.read_bytes()
        cable = Worn(ports)
        cable.wear_until(lambda: state_of(ports), 60, explain(ports))

        def hold_none():
            path.write_bytes(history)
            conf = ports.lab.folder / "sm-0/triad.conf"
            conf.write_text(conf.read_text().replace("[damp]\nmode = act", "[damp]\nmode = watch"))
        restart(ports, hold_none)
        wait_until(lambda: ("return", "done") in deeds(ports), 60, explain(ports))
        [row] = ask_json(ports.lab, "heal", "report")
        assert row["now"] == "routed", row


def seconds(text):
    return datetime.datetime.fromisoformat(text).timestamp()


def aged(line):
    """The line of an event two days before, with its checksum."""
    at = datetime.datetime.fromisoformat(line[:26].decode()) - datetime.timedelta(days=2)
    line = at.isoformat(timespec="microseconds").encode() + line.rpartition(b" ")[0][26:]
    return line + b" %08x\n" % zlib.crc32(line)


def test_link_is_out_after_a_restart_two_days_later_without_a_journal():
    with healing(out=600) as ports:
        cable, present = Worn(ports), n_links(ports)
        cable.wear_until(lambda: state_of(ports) == "resting", 60, explain(ports))
        [path] = ports.lab.folder.glob("**/history-*")
        wait_until(lambda: b"held out of routing" in path.read_bytes(), 10, "it is in the history")

        def age_history():
            for path in ports.lab.folder.glob("**/history-*"):
                path.write_bytes(b"".join(map(aged, path.read_bytes().splitlines())))
            for path in ports.folder.glob("state-*/ports-*.journal"):
                path.unlink()
        restart(ports, age_history)
        # A sole SM knows which link to hold when its first sweep has shown it the fabric.
        wait_until(lambda: healed(ports) and n_links(ports) == present - 1, 40, explain(ports))


def test_link_that_stays_out_waits_on_after_a_restart():
    with healing(out=600, port={"test_timeout": 1}) as ports:
        stay_out(ports)
        n, until = n_bounces(ports), healed(ports)["until"]
        restart(ports)
        wait_until(lambda: state_of(ports) not in (None, "held"), 40, explain(ports))
        assert (state_of(ports), n_bounces(ports)) == ("stays out", n), explain(ports)()
        assert abs(seconds(healed(ports)["until"]) - seconds(until)) < 5, until


def test_link_that_is_to_be_disabled_is_and_stays_so():
    with healing(out=600) as ports:
        cable = Worn(ports)
        cable.wear_until(lambda: state_of(ports) == "resting", 60, explain(ports))
        n_sets = len(ports.sets())
        ports.expected.change(switch_guid(1), 5, state="disabled")
        ports.expected.change(switch_guid(4), 1, state="disabled")
        ports.load(ports.master)
        wait_until(lambda: [s.phys_state for s in ports.sets()[n_sets:]] == [DISABLED] * 2, 30,
                   explain(ports))
        # Its switches tell that it is down, so it is no longer as it was tested.
        ports.lab.sim('Unlink "leaf-01"[5]')
        wait_until(lambda: state_of(ports) == "retraining", 20, explain(ports))
        time.sleep(1)
        assert len(ports.sets()) == n_sets + 2


def test_link_whose_switch_restarts_is_on_probation():
    with healing(out=600, probation=600) as ports:
        cable, present = Worn(ports), n_links(ports)
        cable.wear_until(lambda: state_of(ports) == "resting", 60, explain(ports))
        places = [f'"{SPINE(1)}"[{number}]' for number in range(1, 7)]
        ports.lab.sim(*(f"Unlink {place}" for place in places))
        wait_until(lambda: state_of(ports) == "probation", 30, explain(ports))
        wait_until(lambda: ask_json(ports.lab, "heal", "report")[0]["now"] == "down", 20,
                   explain(ports))
        wait_until(lambda: not held_links(ports) and healed(ports)["until"] is None, 20,
                   explain(ports))
        ports.lab.sim(*(f"ReLink {place}" for place in places))
        wait_until(lambda: state_of(ports) == "probation", 30, explain(ports))
        # No person did that.
        assert ("return", "done", "heal") in ports.deeds(switch_guid(1), 5)
        wait_until(lambda: n_links(ports) == present and state_of(ports) == "probation", 30,
                   explain(ports))


def test_link_that_is_another_one_by_now_is_let_go():
    with healing(out=600) as ports:
        for row in ports.expected.rows.values():
            row[3:7] = [""] * 4
        ports.load(ports.master)
        cable, present = Worn(ports), n_links(ports)
        cable.wear_until(lambda: state_of(ports) == "resting", 60, explain(ports))
        n_sets = len(ports.sets())
        # Two cables change places so quickly that no port is ever read as down.
        ports.lab.sim('Unlink "leaf-01"[5]', 'Unlink "leaf-01"[6]',
                      'Link "leaf-01"[5] "spine-01"[2]', 'Link "leaf-01"[6] "spine-01"[1]')
        wait_until(lambda: n_links(ports) == present and not healed(ports)
                   and not held_links(ports), 30, explain(ports))
        assert len(ports.sets()) == n_sets


def test_port_that_is_miswired_while_its_link_is_out_stays_disabled():
    with healing(out=600) as ports:
        cable = Worn(ports)
        cable.wear_until(lambda: state_of(ports) == "resting", 60, explain(ports))
        ports.lab.sim('Unlink "leaf-01"[5]')
        wait_until(lambda: state_of(ports) == "testing", 20, explain(ports))
        ports.lab.sim('Link "leaf-01"[5] "spine-01"[7]')

        def deeds_of_port():
            return [deed for deed, outcome, _ in ports.deeds(switch_guid(1), 5)
                    if outcome == "done"]
        wait_until(lambda: {"return", "disable"} <= set(deeds_of_port()), 30, explain(ports))
        ports.sweep(3)
        assert "enable" not in deeds_of_port(), explain(ports)()
        assert not healed(ports) and not held_links(ports), explain(ports)()


@pytest.mark.parametrize("cluster", ("corosync", "peers"))
def test_next_master_goes_on_where_the_last_one_was(cluster):
    with healing(cluster, out=20) as ports:
        lab, old = ports.lab, ports.master
        cable, present = Worn(ports), n_links(ports)
        cable.wear_until(lambda: state_of(ports), 60, explain(ports))
        for sm in others(old):
            wait_until(lambda sm=sm: held_links(ports, sm), 10, "each has heard that it is held")
        hosts.kill(state.load_required(lab.folder), old, "opensm")
        ports.master = ports.cluster.wait_for_holder(among=others(old))
        wait_until(lambda: healed(ports), 40, explain(ports))
        # Held all the time, taken once, and tested by the new master before it returns.
        assert n_links(ports) == present - 1
        wait_until(lambda: state_of(ports) == "probation", 60, explain(ports))
        done = [deed for deed, outcome in deeds(ports) if outcome == "done"]
        assert done.count("take") == 1 and done[-2:] == ["bounce", "return"], done
        wait_until(lambda: n_links(ports) == present, 20, "the link in the tables")
