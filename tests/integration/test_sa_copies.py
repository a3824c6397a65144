# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What clients told the master's SA is what the next master's SA knows, though no client
registers anew: multicast groups with their MLIDs, members, subscriptions, services, alias
GUIDs."""

import contextlib
import json
import os
import signal
import stat
import subprocess
import sys

import pytest

from checks import mentions, wait_until
from electionlib import SMS, cluster, others
from labs import SRCDIR
from smalldisk import SmallDisk
from triadlab import hosts, process, state
from triadlab.sa_client import Client
from triadlib import ask, ask_json, log_has

KINDS = ["corosync", "peers", "fabric"]
CLIENT = SRCDIR / "scripts" / "triadlab" / "sa_client.py"
KEY = "replicate_sa = true\n"
MGID = "ff12a01cfe80000000000000{:08x}"
IPOIB = "ff12401bffff000000000000{:08x}"
COUNTED = ("groups", "members", "subscriptions", "services", "aliases")


class Copies:
    """A cluster whose SMs copy the SA's records, and a client of the SA."""

    def __init__(self, running, client):
        self.running = running
        self.lab = running.lab
        self.client = client
        self.ports = client.ask("ports")

    def sa(self, sm):
        return ask_json(self.lab, "election", sm=sm)["sa"]

    def records(self):
        return self.client.ask("records")

    def master(self, among=range(len(SMS))):
        holder = self.running.wait_for_holder(among=among)
        self.running.wait_for_master(holder)
        wait_until(lambda: self.sa(holder)["role"] == "gives", 60, "a master that gives")
        return holder

    def do(self, *orders):
        """Each must be done."""
        for order, answer in zip(orders, self.client.ask_all(orders)):
            status = answer[0] if isinstance(answer, list) else answer
            assert status == 0, f"{order}: {answer}"

    def fill(self):
        """Some of everything; returns how many members there are."""
        self.do(*(("join", MGID.format(group), guid) for group in range(1, 6)
                  for guid in self.ports[:1 + group]),
                ("join", IPOIB.format(1), self.ports[0]),
                *(("subscribe", trap) for trap in (66, 67, *range(1000, 1020))),
                ("register", "0x77", b"it's".hex()),
                ("register", "0x78", b"storage".hex(), 3600),
                ("register", "0x79", b'a "name" x=0x1'.hex()))
        return 1 + sum(min(1 + group, len(self.ports)) for group in range(1, 6))

    def wait_until_copied(self, master, among):
        """Until the OpenSMs of these, which may be the master's too, would restore what its SA has
        now."""
        now = self.records()
        expected = {"members": len(now["members"]),
                    "subscriptions": len(now["subscriptions"]),
                    "services": len(now["services"]), "aliases": len(now["aliases"])}

        def has_all(sm):
            sa = self.sa(sm)
            return (sa["complete"] or sm == master) and sa["given"] and sa["current"] and \
                all(sa[name] == n for name, n in expected.items())

        def describe():
            return f"copies of {expected}: " + "; ".join(
                json.dumps(self.sa(sm)) for sm in [master, *among])
        wait_until(lambda: all(map(has_all, among)), 60, describe)
        return now

    def fail_over(self, old):
        """Kills the master; returns the new one."""
        self.lab.host("kill", old, "opensm")
        return self.master(others(old))

    def bring_back(self, sm):
        self.lab.host("start", sm, "opensm")
        wait_until(lambda: self.lab.triad("status", sm=sm).returncode == 0, 60,
                   f"the return of SM {sm}")
        wait_until(lambda: self.sa(sm)["role"] in ("takes", "gives"), 60,
                   f"a role of SM {sm}")

    def files(self):
        return list(self.lab.folder.rglob("sa-0x*.records"))


@contextlib.contextmanager
def sa_client(lab, node="Hca4"):
    with Client(lab.start(sys.executable, str(CLIENT), node=node, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE)) as client:
        yield client


@contextlib.contextmanager
def copying(kind, election=KEY, **options):
    with cluster(kind, election=election, **options) as running:
        running.wait_for_master(running.wait_for_holder())
        with sa_client(running.lab) as client:
            yield Copies(running, client)


@pytest.mark.threads
@pytest.mark.plain
@pytest.mark.row("N12")
@pytest.mark.parametrize("kind", KINDS)
def test_records_outlive_the_master(kind):
    with copying(kind) as it:
        old = it.master()
        n_members = it.fill()
        before = it.wait_until_copied(old, others(old))
        assert len(before["members"]) == n_members and \
            len(before["subscriptions"]) == 22 and len(before["services"]) == 3, before
        # The master writes one of its own, at another time.
        wait_until(lambda: len(it.files()) == len(SMS), 20, "a file of each SM")
        assert {stat.S_IMODE(path.stat().st_mode) for path in it.files()} == {0o600}
        new = it.fail_over(old)
        assert it.records() == before
        # The subscriber is told of a group that is made at the new master.  Its port has no
        # SM, so ibsim does not hand it the report, and OpenSM says so.
        it.do(("join", MGID.format(99), it.ports[0]))
        lid = it.client.ask("lid")
        log_has(it.lab, f"Class 0x3, Method 0x6, Attr 0x2, TID 0x2dab001, LID {lid}", new)
        # The new SM knows where it may put new groups.
        mlids = {record[2][8:12] for record in it.records()["members"]}
        assert len(mlids) == 7, mlids
        text = " ".join(ask(it.lab, "election", sm=new).split())
        assert "Records of the SA" in text and "has its own" in text


@pytest.mark.row("N12")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_records_outlive_a_restart_of_all(number):
    """Nobody is left who could be master meanwhile.  Who is back first has its own file alone."""
    with copying("peers") as it:
        old = it.master()
        it.fill()
        before = it.wait_until_copied(old, range(len(SMS)))
        lab = state.load_required(it.lab.folder)
        ended = [hosts.signal_program(lab, sm, hosts.OPENSM, number)
                 for sm in range(len(SMS))]
        assert process.wait_for_end([it for one in ended for it in one.values()], 20)
        for sm in range(len(SMS)):
            it.bring_back(sm)
        master = it.master()
        assert it.wait_until_copied(master, others(master)) == before


def test_file_left_long_ago_is_not_used():
    with copying("peers") as it:
        old = it.master()
        it.fill()
        it.wait_until_copied(old, others(old))
        for sm in range(len(SMS)):
            it.lab.host("kill", sm, "opensm")
        for path in it.files():
            os.utime(path, (0, 0))
        for sm in range(len(SMS)):
            it.bring_back(sm)
        it.master()
        assert not it.records()["services"]


@pytest.mark.row("N12")
def test_what_was_taken_back_is_not_there_again():
    """Two fail-overs, each with changes before it."""
    with copying("peers") as it:
        first = it.master()
        it.fill()
        it.wait_until_copied(first, others(first))
        second = it.fail_over(first)
        it.bring_back(first)
        # Also at the last moment, and what the first one had.
        it.do(("leave", MGID.format(1), it.ports[0]), ("leave", MGID.format(1), it.ports[1]),
              ("leave", MGID.format(2), it.ports[0]), ("unsubscribe", 1003),
              ("deregister", "0x77"), ("join", MGID.format(7), it.ports[2]),
              ("subscribe", 2000))
        before = it.wait_until_copied(second, others(second))
        third = it.fail_over(second)
        assert it.records() == before
        it.bring_back(second)
        it.do(("deregister", "0x78"), ("unsubscribe", 2000),
              ("leave", MGID.format(7), it.ports[2]))
        before = it.wait_until_copied(third, others(third))
        it.fail_over(third)
        assert it.records() == before


@pytest.mark.row("N12")
def test_records_stay_when_mastership_is_handed_over_and_back():
    with copying("corosync") as it:
        first = it.master()
        n_members = it.fill()
        it.wait_until_copied(first, others(first))
        second = others(first)[0]
        ask(it.lab, "port", "priority", "15", sm=second)
        assert it.master([second]) == second
        before = it.records()
        assert len(before["members"]) == n_members and len(before["subscriptions"]) == 22
        it.do(("leave", MGID.format(3), it.ports[0]), ("unsubscribe", 1004),
              ("deregister", "0x79"), ("subscribe", 2001))
        before = it.wait_until_copied(second, others(second))
        # The first one still has in memory what it had as master.
        ask(it.lab, "port", "priority", "1", sm=second)
        ask(it.lab, "port", "priority", "15", sm=first)
        assert it.master([first]) == first
        assert it.records() == before


@pytest.mark.row("N12")
def test_records_stay_when_a_master_was_cut_off_for_a_moment():
    """It never hears what the next master has."""
    with copying("peers") as it:
        old = it.master()
        it.fill()
        before = it.wait_until_copied(old, others(old))
        it.lab.host("partition", [[old], others(old)])
        it.master(others(old))
        wait_until(lambda: it.sa(old)["role"] == "takes", 30, "a standby")
        for sm in others(old):
            it.lab.host("kill", sm, "opensm")
        wait_until(lambda: it.sa(old)["role"] == "gives", 60, "the old master again")
        assert it.records() == before


def test_sm_that_steps_down_has_the_records_of_the_next_master():
    with copying("peers") as it:
        first = it.master()
        it.fill()
        second = others(first)[0]
        it.wait_until_copied(first, others(first))
        ask(it.lab, "port", "priority", "15", sm=second)
        it.running.wait_for_master(it.running.wait_for_holder(among=[second]))
        it.do(("unsubscribe", 1003), ("deregister", "0x77"),
              ("leave", MGID.format(1), it.ports[0]))
        before = it.wait_until_copied(second, [first])
        ask(it.lab, "port", "priority", "1", sm=second)
        ask(it.lab, "port", "priority", "15", sm=first)
        it.master([first])
        assert it.records() == before


def is_alone(it, sweeping):
    """Whether there is one master; has one SM sweep, if none is."""
    if sweeping is not None:
        os.kill(it.lab.status()["sms"][sweeping]["pid"], signal.SIGHUP)
    return len(it.running.masters()) == 1


@pytest.mark.row("N12")
@pytest.mark.parametrize("sweeps", [False, True], ids=["at-rest", "sweeping"])
def test_records_of_a_time_when_the_master_was_stopped(sweeps):
    """OpenSM has the new master begin anew when the old one hands over to it.  If it sweeps
    before, it sees the old one, which is master yet: it waits for that one, or hands over
    to it, where that one's priority is still the higher, and gets mastership back at once."""
    with copying("peers") as it:
        old = it.master()
        it.fill()
        it.wait_until_copied(old, others(old))
        it.lab.host("pause", old, "opensm")
        new = it.master(others(old))
        it.do(("leave", MGID.format(4), it.ports[0]), ("unsubscribe", 1005),
              ("deregister", "0x77"), ("join", MGID.format(8), it.ports[1]))
        before = it.wait_until_copied(new, [sm for sm in others(old) if sm != new])
        wait_until(lambda: it.sa(new)["current"], 20, "a file of the new master's own")
        it.lab.host("resume", old, "opensm")
        wait_until(lambda: is_alone(it, new if sweeps else None), 60, "one master")
        # That may be the old one yet, for a moment: the new one holds the lease.
        master = it.master([new])
        # OpenSM may empty its SA for the hand-over while it is asked.  No client registers
        # anew: what is not restored stays away.
        wait_until(lambda: it.records() == before, 20, "the records of before")
        assert it.wait_until_copied(master, others(master)) == before


@pytest.mark.row("N12")
def test_standby_that_comes_later_gets_all():
    with copying("peers") as it:
        master = it.master()
        late = others(master)[0]
        it.lab.host("kill", late, "opensm")
        it.fill()
        it.bring_back(late)
        before = it.wait_until_copied(master, [late])
        others_too = [sm for sm in others(master) if sm != late]
        it.lab.host("kill", others_too[0], "opensm")
        it.lab.host("kill", master, "opensm")
        wait_until(lambda: it.sa(late)["role"] == "gives", 60, "the late one as master")
        assert it.records() == before


@pytest.mark.row("N12")
def test_aliases_outlive_the_master():
    with copying("peers") as it:
        old = it.master()
        lid = it.client.ask("lid")
        it.do(("alias", lid, 1, "0x00a1"), ("alias", lid, 3, "0x00a3"))
        # A port's alias is lower than its own GUID, and a member without it.
        it.do(("join", MGID.format(1), "0x00a1"), ("join", MGID.format(1), it.ports[-1]),
              ("join", MGID.format(2), "0x00a3"))
        before = it.wait_until_copied(old, others(old))
        assert before["aliases"] and len(before["members"]) == 3, before
        it.fail_over(old)
        assert it.records() == before


@pytest.mark.row("N12")
def test_records_of_a_part_that_the_master_was_cut_off_from():
    """The master loses the members of that part before an SM there notices."""
    conf = "sminfo_polling_timeout 1000\npolling_retry_number 1\n"
    with copying("peers", opensm_conf=conf) as it:
        ask(it.lab, "port", "priority", "15", sm=0)
        assert it.master([0]) == 0
        it.do(*(("join", MGID.format(group), guid) for group in range(1, 6)
                for guid in it.ports))
        before = it.wait_until_copied(0, others(0))
        it.lab.sim(*(f'Unlink "Switch1"[{port}]' for port in (3, 5)))
        there = {it.lab.status()["sms"][1]["port_guid"][2:], it.ports[-1][2:]}
        wait_until(lambda: it.sa(0)["members"] == len(before["members"]) / 2, 30,
                   "members that the master lost")
        wait_until(lambda: 1 in it.running.masters() and it.sa(1)["role"] == "gives", 60,
                   "a master there")
        assert it.records()["members"] == [record for record in before["members"]
                                           if record[1][16:] in there]


def test_nothing_is_copied_while_the_key_is_off():
    with copying("peers", election="") as it:
        old = it.running.wait_for_holder()
        it.fill()
        for sm in range(len(SMS)):
            sa = it.sa(sm)
            assert not sa["enabled"] and not sa["given"] and not sa["written"], sa
        # Switched on and off again.
        for sm in range(len(SMS)):
            ask(it.lab, "set", "election.replicate_sa", "true", sm=sm)
        it.wait_until_copied(old, others(old))
        wait_until(lambda: len(it.files()) == len(SMS), 20, "a file of each SM")
        for sm in range(len(SMS)):
            ask(it.lab, "set", "election.replicate_sa", "false", sm=sm)
        wait_until(lambda: not any(it.sa(sm)["given"] for sm in range(len(SMS))), 20,
                   "files taken back")
        assert not it.files()
        it.lab.host("kill", old, "opensm")
        new = it.running.wait_for_holder(among=others(old))
        it.running.wait_for_master(new)
        assert not it.records()["members"] and not it.records()["services"]


def test_file_of_opensm_conf_stays(tmp_path):
    own = tmp_path / "own.dump"
    own.write_text("", encoding="ascii")
    with copying("peers", opensm_conf=f"sa_db_file {own}\n") as it:
        master = it.master()
        it.fill()
        standby = others(master)[0]
        wait_until(lambda: it.sa(standby)["complete"], 30, "a complete copy")
        assert not it.sa(standby)["given"] and not it.files()
        health = it.lab.triad("health", sm=standby)
        text = " ".join(health.stdout.split())
        assert health.returncode == 1 and \
            mentions(text, "election.replicate_sa sa_db_file opensm.conf"), text


@contextlib.contextmanager
def full_disk(folder):
    """In place of the folder, with its files."""
    kept = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    disk = SmallDisk(folder, 64)
    try:
        for name, octets in kept.items():
            (folder / name).write_bytes(octets)
            (folder / name).chmod(0o600)
        disk.fill()
        yield disk
    finally:
        disk.unmount()


def test_full_disk_of_a_standby_is_reported_until_there_is_room():
    with copying("peers") as it:
        master = it.master()
        standby, third = others(master)
        it.fill()
        it.wait_until_copied(master, others(master))
        guid = it.lab.status()["sms"][standby]["port_guid"]
        file = next(path for path in it.files() if guid in path.name)
        with full_disk(file.parent) as disk:
            it.do(*(("join", MGID.format(group), it.ports[1]) for group in range(20, 40)))
            it.wait_until_copied(master, [third])
            wait_until(lambda: it.sa(standby)["error"], 30, "a disk that is full")
            health = it.lab.triad("health", sm=standby)
            text = " ".join(health.stdout.split())
            assert health.returncode and "No space left" in text and \
                mentions(text, "election.state_dir disk"), text
            # OpenSM would begin with an older file, had it stayed.
            assert not file.exists() and not it.sa(standby)["given"]
            disk.make_room()
            before = it.wait_until_copied(master, [standby])
            assert it.sa(standby)["error"] is None and file.exists()
            it.lab.host("kill", third, "opensm")
            it.lab.host("kill", master, "opensm")
            it.running.wait_for_master(standby)
            assert it.records() == before


def test_standby_says_when_nobody_gives_records():
    with copying("peers") as it:
        master = it.master()
        standby = others(master)[0]
        it.fill()
        it.wait_until_copied(master, others(master))
        assert it.lab.triad("health", sm=standby).returncode == 0
        ask(it.lab, "set", "election.replicate_sa", "false", sm=master)
        for sm in others(master):
            wait_until(lambda sm=sm: "the key must be true on all SMs" in
                       " ".join(it.lab.triad("health", sm=sm).stdout.split()), 60,
                       f"a finding of SM {sm}, which nobody tells the master's records")
        ask(it.lab, "set", "election.enabled", "false", sm=standby)
        wait_until(lambda: "set election.enabled to true" in
                   " ".join(it.lab.triad("health", sm=standby).stdout.split()), 20,
                   "a finding of the key that can't work")
