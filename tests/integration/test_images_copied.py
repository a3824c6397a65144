# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""SMs that copy each other's images, each into a folder of its own, while only the master
reads counters: after whatever happens to one of them, all folders have the same files."""

import contextlib
import json
import subprocess

import pytest

from checks import succeeded, wait_until
from electionlib import SMS, cluster, others
from smalldisk import SmallDisk
from triadlab import hosts, state
from triadlib import ask, ask_json, status

KINDS = ["corosync", "peers"]

CONF = """\
[perfmgr]
sweep_period = 1
[history]
dir = {folder}/%g
replicate = true
"""


class Copying:
    """A cluster whose SMs have folders of images below 'folder'."""

    def __init__(self, running, folder):
        self.running = running
        self.lab = running.lab
        self.folders = [folder / sm["port_guid"] for sm in self.lab.status()["sms"]]

    def files(self, sm):
        """{name: octets}; None while one of them goes."""
        try:
            return {path.name: path.read_bytes() for path in self.folders[sm].iterdir()}
        except FileNotFoundError:
            return None

    def images(self, sm):
        return status(self.lab, sm=sm)["images"]

    def copies(self, sm):
        return status(self.lab, sm=sm)["copies"]

    def nodes_left(self, sm):
        """What that SM's history has of nodes that left."""
        return [event for event in ask_json(self.lab, "history", sm=sm)
                if event["event"] == "node-left"]

    def health(self, sm):
        return self.lab.triad("health", "--json", sm=sm).stdout

    def wait_for_images(self, sm, n):
        """Until that SM has written 'n' more."""
        written = self.images(sm)["written"]
        wait_until(lambda: self.images(sm)["written"] >= written + n, 60, f"{n} images")

    def are_equal(self, among):
        first, *others = [self.files(sm) for sm in among]
        return first and all(other == first for other in others)

    def wait_until_equal(self, among=range(len(SMS)), timeout_s=60):
        """Until all have the same files, while the master goes on writing."""
        def describe():
            return "equal folders: " + "; ".join(
                f"SM {sm}: {len(self.files(sm) or {})} files, {self.copies(sm)}"
                for sm in among)
        wait_until(lambda: self.are_equal(among), timeout_s, describe)

    def wait_for_master(self, among=range(len(SMS))):
        master = self.running.wait_for_holder(among=among)
        self.running.wait_for_master(master)
        return master


@contextlib.contextmanager
def copying(kind, folder, triad_conf=""):
    with cluster(kind, election=CONF.format(folder=folder) + triad_conf) as running:
        yield Copying(running, folder)


def harm(lab, action, *words):
    getattr(hosts, action)(state.load_required(lab.folder), *words)


@pytest.mark.threads
@pytest.mark.plain
@pytest.mark.row("N10")
@pytest.mark.parametrize("kind", KINDS)
def test_images_outlive_the_master_and_its_return(kind, tmp_path):
    with copying(kind, tmp_path) as it:
        old = it.wait_for_master()
        it.wait_for_images(old, 5)
        it.wait_until_equal()
        # Standbys answer about the past, though they read nothing themselves.
        standby = others(old)[0]
        written = it.images(standby)["written"]
        then = it.images(old)["last"][:19]
        it.wait_for_images(old, 2)
        it.wait_until_equal()
        assert it.images(standby)["written"] == written and it.images(standby)["copies"] > 4
        process = it.lab.triad("nodes", "--at", then, sm=standby)
        assert f"SM {it.folders[old].name} was master" in succeeded(process).stderr
        # Also what is kept as rows, or why there are none.
        for words in (("perf", "histogram", "PortXmitData"), ("port", "list"),
                      ("qos", "tables")):
            answers = [it.lab.triad(*words, "--at", then, "--json", sm=sm)
                       for sm in (old, standby)]
            assert answers[0].stdout == answers[1].stdout, words
            assert answers[0].stderr.splitlines()[1:] == answers[1].stderr.splitlines()[1:]
        assert json.loads(it.lab.triad("perf", "histogram", "PortXmitData", "--at", then,
                                       "--json", sm=standby).stdout)["samples"]
        # Nor do they lack what happened meanwhile.
        it.lab.sim('Unlink "Hca4"[1]')
        wait_until(lambda: it.nodes_left(standby), 60,
                   "the standby's history of a node that left")
        assert it.nodes_left(standby) == it.nodes_left(old)
        harm(it.lab, "kill", old, "opensm")
        new = it.wait_for_master(others(old))
        it.wait_for_images(new, 5)
        assert it.nodes_left(new) == it.nodes_left(standby)
        assert ask_json(it.lab, "nodes", "--at", then, sm=new)
        it.wait_until_equal(others(old))
        harm(it.lab, "start", old, "opensm")
        wait_until(lambda: it.lab.triad("status", sm=old).returncode == 0, 60,
                   "the old master's return")
        it.wait_until_equal()
        # What each of them wrote is everywhere.
        names = "\n".join(it.files(old))
        assert it.folders[new].name in names and it.folders[old].name in names


@pytest.mark.row("N10")
@pytest.mark.parametrize("what", ["pause", "partition"])
def test_images_of_a_time_without_one(what, tmp_path):
    with copying("peers", tmp_path) as it:
        old = it.wait_for_master()
        it.wait_for_images(old, 3)
        it.wait_until_equal()
        if what == "pause":
            harm(it.lab, "pause", old, "opensm")
        else:
            harm(it.lab, "partition", [[old], others(old)])
        new = it.wait_for_master(others(old))
        it.wait_for_images(new, 5)
        it.wait_until_equal(others(old))
        if what == "pause":
            harm(it.lab, "resume", old, "opensm")
        else:
            harm(it.lab, "heal")
        it.wait_until_equal()


@pytest.mark.row("N10")
def test_images_on_a_disk_that_was_full(tmp_path):
    with copying("peers", tmp_path) as it:
        master = it.wait_for_master()
        it.wait_for_images(master, 3)
        it.wait_until_equal()
        standby = others(master)[0]
        small = tmp_path / "small"
        small.mkdir()
        disk = SmallDisk(small, 16)
        try:
            it.folders[standby] = small
            ask(it.lab, "set", "history.dir", small, sm=standby)
            wait_until(lambda: it.copies(standby)["error"], 90, "a disk that is full")
            report = it.health(standby)
            assert "history.replicate" in report and "No space left" in report
            written = it.images(master)["written"]
            wait_until(lambda: it.images(master)["written"] > written, 60,
                       "images elsewhere")
            subprocess.run(["mount", "-o", "remount,size=64m", small], check=True)
            it.wait_until_equal(timeout_s=120)
            # It says so a moment after the last file.
            wait_until(lambda: it.copies(standby)["error"] is None, 20, "no error")
        finally:
            with contextlib.suppress(AssertionError):
                ask(it.lab, "set", "history.dir", "", sm=standby)
            disk.unmount()


@pytest.mark.row("N10")
def test_images_are_copied_while_the_key_says_so(tmp_path):
    with copying("peers", tmp_path) as it:
        master = it.wait_for_master()
        it.wait_for_images(master, 3)
        it.wait_until_equal()
        standby = others(master)[0]
        ask(it.lab, "set", "history.replicate", "false", sm=standby)
        it.wait_for_images(master, 2)
        before = it.files(standby)
        it.wait_for_images(master, 3)
        assert it.files(standby) == before and not it.copies(standby)["members"]
        ask(it.lab, "set", "history.replicate", "true", sm=standby)
        it.wait_until_equal()
        it.folders[standby] = tmp_path / "elsewhere"
        ask(it.lab, "set", "history.dir", it.folders[standby], sm=standby)
        it.wait_until_equal()
        ask(it.lab, "set", "election.enabled", "false", sm=standby)
        wait_until(lambda: "set election.enabled to true" in it.health(standby), 20,
                   "a finding of the key that can't work")
