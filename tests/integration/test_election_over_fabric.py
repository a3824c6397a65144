# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Three stock opensms that elect over the fabric alone: MADs from SM's port to SM's port.
A network that is cut does not matter then, and a cut fabric takes away permission."""

import contextlib
import subprocess

import pytest

from checks import mentions, stopped, wait_until
from electionlib import (LEASE_S, PATIENT, SMS, at_rest, cluster, is_whole, now_s, others,
                         report)
from labs import BUILDDIR
from triadlab import hosts
from triadlib import ask, ask_json

FABRIC = "fabric"
FRAGMENT_SAY = BUILDDIR / "tests/integration/fragment_say"


def n_received(running, sm):
    return report(running, sm)["transport"]["received"]


def wait_for_trouble(running, sm, words):
    wait_until(lambda: mentions(report(running, sm)["trouble"] or "", words), 30,
               lambda: f"'{words}': {report(running, sm)['trouble']}")


@pytest.mark.threads
@pytest.mark.plain
@pytest.mark.row("E1", "E8")
def test_killed_master_is_replaced_and_comes_back():
    with cluster(FABRIC) as running:
        old = at_rest(running)
        assert report(running, old)["cluster"] == FABRIC
        hosts.kill(running.lab.state(), old, "opensm")
        new = running.wait_for_holder(among=others(old))
        running.wait_for_master(new)
        running.lab.host("start", old, "opensm")
        # The others know its port; it is told theirs by its own discovery.
        for sm in range(len(SMS)):
            wait_until(lambda sm=sm: is_whole(running, sm), 30, f"SM {sm} knows all")
        assert running.wait_for_holder() == new, "who may enforce in the end"
        running.check()


def test_sm_that_another_ones_tables_lack_is_answered():
    """A standby looks at the fabric once; an SM that comes later is not in its tables."""
    with cluster(FABRIC) as running:
        master = at_rest(running)
        first, late = others(master)
        lab = running.lab
        name = lab.state().sms[late].node

        def state_of_late():
            return [row["state"] for row in ask_json(lab, "nodes", sm=master)
                    if row["name"] == name]
        before = state_of_late()
        lab.host("kill", late, "opensm")
        hosts.hca_link(lab.state(), late, False)
        wait_until(lambda: state_of_late() != before, 30, f"{name} is not {before}")
        lab.host("kill", first, "opensm")
        lab.host("start", first, "opensm")
        wait_until(lambda: report(running, first)["state"] == "STANDBY", 30, "a standby")
        hosts.hca_link(lab.state(), late, True)
        lab.host("start", late, "opensm")
        for sm in range(len(SMS)):
            wait_until(lambda sm=sm: is_whole(running, sm), 30, f"SM {sm} knows all")
        running.check()


def test_hung_master_comes_back_as_standby():
    with cluster(FABRIC) as running:
        old = at_rest(running)
        running.lab.host("pause", old, "opensm")
        new = running.wait_for_holder(among=others(old))
        running.wait_for_master(new)
        running.lab.host("resume", old, "opensm")
        wait_until(lambda: running.masters() == [new], 30, "one master in the end")
        wait_until(lambda: is_whole(running, old), 30, "the old one knows all")
        running.check()


def test_cut_network_does_not_matter():
    with cluster(FABRIC, election=PATIENT) as running:
        master = at_rest(running)
        before = report(running, master)["term"]
        for sm in range(len(SMS)):
            running.lab.host("link", sm, False)
        begin = n_received(running, master)
        wait_until(lambda: n_received(running, master) > begin + 50, 30,
                   "what others send")
        assert running.wait_for_holder() == master and is_whole(running, master)
        assert report(running, master)["term"] == before, "the term"
        running.check()


@pytest.mark.row("E6")
def test_master_whose_links_are_down_has_no_permission():
    with cluster(FABRIC) as running:
        old = at_rest(running)
        hosts.hca_link(running.lab.state(), old, False)
        begin = now_s()
        new = running.wait_for_holder(among=others(old))
        running.wait_for_master(new)
        end = now_s()
        hosts.hca_link(running.lab.state(), old, True)
        wait_until(lambda: running.masters() == [new], 60, "one master in the end")
        for sm in range(len(SMS)):
            wait_until(lambda sm=sm: is_whole(running, sm), 60, f"SM {sm} knows all")
        late = [one for one in running.held(old)
                if one.end > begin + LEASE_S and one.begin < end]
        assert not late, f"permission of the one that was cut off: {late}"
        running.check()


@pytest.mark.row("E12")
def test_list_and_key_that_are_wrong_are_reported(tmp_path):
    key = tmp_path / "other.key"
    key.write_bytes(b"another key of the same size....")
    key.chmod(0o600)
    with cluster(FABRIC) as running:
        master = at_rest(running)
        standby = others(master)[0]
        conf = running.lab.folder / f"sm-{standby}" / "triad.conf"
        good = conf.read_text(encoding="utf-8")

        def configure(text):
            conf.write_text(text, encoding="utf-8")
            running.lab.triad("reload", sm=standby)
        lines = good.splitlines(keepends=True)
        peers = next(line for line in lines if line.startswith("peers = "))
        configure(good.replace(peers, "peers = 10.0.0.1:7; 10.0.0.2:7\n"))
        wait_for_trouble(running, standby, "10.0.0.1:7")
        own = running.lab.state().sms[standby].port_guid
        configure(good.replace(peers, peers.replace(f"{int(own, 16):#018x}", "0x0bad")))
        wait_for_trouble(running, standby, "own address")
        key_line = next(line for line in lines if line.startswith("key_file = "))
        configure(good.replace(key_line, f"key_file = {key}\n"))
        wait_for_trouble(running, standby, "authentic")
        assert running.wait_for_holder() == master, "the others go on"
        configure(good)
        wait_until(lambda: is_whole(running, standby), 30, "all again")
        assert report(running, standby)["trouble"] is None
        running.check()


@contextlib.contextmanager
def forged(running, to, guid, what):
    """Fragments from the host without an SM, as if from the port with that GUID."""
    master = running.masters()[0]
    lid = next(row["lid"] for row in report(running, master)["fabric"]
               if row["id"] == guid_of(running, to))
    with running.lab.start(FRAGMENT_SAY, lid, guid, what, node="Hca4",
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield
        said, _ = process.communicate()
    assert process.returncode == 0 and int(said) > 0, what


def guid_of(running, sm):
    return running.lab.status()["sms"][sm]["port_guid"]


@pytest.mark.row("E12")
def test_forged_fragments_are_counted_and_harm_nobody():
    with cluster(FABRIC, election=PATIENT) as running:
        master = at_rest(running)
        standby = others(master)[0]
        as_master = guid_of(running, master)
        before = report(running, master)["term"]

        def counted(name):
            return report(running, standby)["transport"][name]
        for what, guid, name in (("part", as_master, "malformed"),
                                 ("size", as_master, "malformed"),
                                 ("whole", as_master, "forged"),
                                 ("whole", "0x0bad", "strangers")):
            n = counted(name)
            with forged(running, standby, guid, what):
                wait_until(lambda n=n, name=name: counted(name) > n + 500, 60,
                           f"{what}: {name}")
        assert running.wait_for_holder() == master and running.masters() == [master]
        assert report(running, master)["term"] == before, "the term"
        assert is_whole(running, standby)
        running.check()


def test_sm_with_another_cluster_is_reported():
    with cluster(FABRIC) as running:
        master = at_rest(running)
        standby = others(master)[0]
        ask(running.lab, "set", "election.cluster", "none", sm=standby)

        def said():
            return " ".join(running.lab.triad("health", sm=master).stdout.split())
        wait_until(lambda: f"SM {guid_of(running, standby)} does not elect here" in said() and
                   "compare election.cluster" in said(), 30, said)
        ask(running.lab, "set", "election.cluster", FABRIC, sm=standby)
        wait_until(lambda: is_whole(running, standby), 30, "all again")
        running.check()


def test_images_are_not_copied_over_the_fabric(tmp_path):
    with cluster(FABRIC, triadd=True) as running:
        master = at_rest(running)
        for key, value in (("history.dir", tmp_path / "images"),
                           ("history.replicate", "true")):
            ask(running.lab, "set", key, str(value), sm=master)
        wait_until(lambda: "images would take the SM's port" in
                   " ".join(running.lab.triad("health", sm=master).stdout.split()), 30,
                   lambda: running.lab.triad("health", sm=master).stdout)
        running.check()


def test_paused_fabric_ends_permission_and_gives_it_back():
    """ibsim hangs, and with it every way between the SMs."""
    with cluster(FABRIC) as running:
        at_rest(running)
        with stopped(running.lab.status()["simulator"]["pid"]):
            wait_until(lambda: running.holder() is None, 30, "nobody has permission")
        running.wait_for_holder()
        wait_until(lambda: len(running.masters()) == 1, 60, "one master in the end")
        running.check()
