# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Links that go down again and again are held out of routing; traps that say nothing new do
not make OpenSM sweep ([damp])."""

import contextlib
import subprocess
import threading
import time

import pytest

from checks import failed, mentions, succeeded, wait_until
from electionlib import others
from labs import BUILDDIR, SRCDIR
from portlib import RECORD, managed
from triadlab import hosts, state
from triadlib import (TriadLab, ask, ask_json, health_findings, log_has, status, sweep_heavily,
                      wait_for_sweep)

pytestmark = pytest.mark.row("N19")

SMP_ASK = BUILDDIR / "tests/integration/smp_ask"
TREE = ("fat-tree", "--levels", "2", "--radix", "8", "--hosts", "16")
FLAPPER = ("spine-01", 1)
FAR_END = ("leaf-01", 5)
HALF_S = 0.3


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """Four leaves with two links to each of two spines; the SM is on host-0001, leaf-01:1."""
    net = tmp_path_factory.mktemp("damp") / "tree.net"
    subprocess.run([SRCDIR / "scripts" / "gen-fabric", *TREE, "-o", net], check=True)
    return net


def damp_lab(net, mode, half_life=600, **options):
    """Heavy sweeps come by traps alone: a light one each 10 s, as by default."""
    conf = f"[perfmgr]\nsweep_period = 1\n[damp]\nmode = {mode}\nhalf_life = {half_life}\n"
    return TriadLab(net, triad_conf=conf, **options)


def wait_for_damping(lab):
    wait_for_sweep(lab)
    wait_until(lambda: mentions(status(lab)["damp"]["state"], "links"), 10, "the hook")


class Fabric:
    """The simulator's console, for more than one thread."""

    def __init__(self, lab):
        self._lab = lab
        self._lock = threading.Lock()

    def cut(self, end):
        self._type("Unlink", end)

    def join(self, end):
        self._type("ReLink", end)

    def flap(self, end, times=1):
        for _ in range(times):
            self.cut(end)
            time.sleep(HALF_S)
            self.join(end)
            time.sleep(HALF_S)

    def _type(self, word, end):
        with self._lock:
            self._lab.sim(f'{word} "{end[0]}"[{end[1]}]')


@contextlib.contextmanager
def flapping(fabric, end):
    """Within it the link goes down and up all the time."""
    must_end = threading.Event()

    def flap():
        while not must_end.is_set():
            fabric.flap(end)

    thread = threading.Thread(target=flap)
    thread.start()
    try:
        yield
    finally:
        must_end.set()
        thread.join()


def n_links(lab, **of):
    return status(lab, **of)["topology"]["links"]


def n_heavy(lab, **of):
    return status(lab, **of)["topology"]["sm_sweeps"]


def link(lab, end=FLAPPER, **of):
    """What 'damp' says of the link with this end; {}: nothing."""
    for row in ask_json(lab, "damp", **of):
        if end in ((row["node_name"], row["port"]), (row["far_name"], row["far_port"])):
            return row
    return {}


def held_links(lab):
    """What 'links --held' lists."""
    rows = ask_json(lab, "links", "--held")
    assert all(row["held"] for row in rows), rows
    return rows


def is_held(lab, end=FLAPPER, **of):
    return link(lab, end, **of).get("state", "").startswith("held")


def flap_until_held(lab, fabric, end=FLAPPER, **of):
    for _ in range(8):
        fabric.flap(end)
        if is_held(lab, end, **of):
            return
    raise AssertionError(f"not held: {ask_json(lab, 'damp')}")


def test_flapper_is_held_and_costs_no_sweeps_until_it_is_good(tree):
    with damp_lab(tree, "act", half_life=5, opensm_conf="sweep_interval 1\n") as lab:
        wait_for_damping(lab)
        before = n_links(lab)
        fabric = Fabric(lab)
        flap_until_held(lab, fabric)
        wait_until(lambda: n_links(lab) == before - 1, 10, "the link out of OpenSM's tables")
        swept = n_heavy(lab)
        fabric.flap(FLAPPER, 20)
        # A light sweep has come in each second of that time.
        assert n_heavy(lab) == swept, status(lab)["damp"]
        row = link(lab)
        assert row["state"].startswith("held") and row["bounces"] > 10, row
        assert {(row["node_name"], row["port"]), (row["far_name"], row["far_port"])} == \
            {FLAPPER, FAR_END}
        assert status(lab)["damp"]["links_held"] == 1
        # That is an alert, which the one that it went down has become.
        wait_until(lambda: mentions(ask(lab, "alerts"), "held out"), 10, "an alert")
        assert len(ask_json(lab, "alerts")["alerts"]) == 1, ask(lab, "alerts")
        assert lab.triad("health").returncode == 1
        assert [held["state"] for held in held_links(lab)] == ["held"]
        # It is good from now on.
        wait_until(lambda: n_links(lab) == before, 60, "the link in OpenSM's tables")
        assert not is_held(lab)
        assert not status(lab)["damp"]["links_held"]
        wait_until(lambda: not mentions(ask(lab, "alerts"), "held out"), 10,
                   "the alert's end")
        assert not held_links(lab)
        events = [row["text"] for row in ask_json(lab, "history")
                  if row["event"] == "damp"]
        assert len(events) == 2 and mentions(events[1], "held out") and \
            mentions(events[0], "no longer held"), events
        # The log tells which link.
        ends = sorted(f"{name}:{port}" for name, port in (FLAPPER, FAR_END))
        for what in ("held out", "no longer held"):
            log_has(lab, f"damp {ends[0]} {ends[1]} {what}")


def test_sweeps_ask_nothing_over_a_held_link(tree, tmp_path, monkeypatch):
    record = tmp_path / "record"
    monkeypatch.setenv("TRIAD_RECORD", str(record))

    def n_over(path):
        return sum(line.split()[8].startswith(path) for line in record.read_text().splitlines())

    def sweep(lab, n):
        before = n_heavy(lab)
        sweep_heavily(lab, lambda: n_heavy(lab) >= before + n)

    with damp_lab(tree, "act", preload=[RECORD]) as lab:
        wait_for_damping(lab)
        present = n_links(lab)
        ask(lab, "damp", "pin", "spine-01:1")
        wait_until(lambda: n_links(lab) == present - 1, 10, "the link out of OpenSM's tables")
        # It is asked once whether it is the same link as before.
        sweep(lab, 1)
        held, other = n_over("1,5,"), n_over("1,6,")
        sweep(lab, 3)
        assert n_over("1,6,") > other and n_over("1,5,") == held
        assert n_links(lab) == present - 1


def test_real_changes_reach_opensm_within_a_second_while_a_link_flaps(tree):
    with damp_lab(tree, "act") as lab:
        wait_for_damping(lab)
        fabric = Fabric(lab)
        flap_until_held(lab, fabric)
        present = n_links(lab)
        with flapping(fabric, FLAPPER):
            # Other links of both its switches, another switch's, hosts of either.
            for end in (("spine-01", 3), ("leaf-01", 6), ("leaf-01", 7), ("spine-02", 5),
                        ("leaf-01", 2), ("leaf-03", 1)):
                fabric.cut(end)
                wait_until(lambda: n_links(lab) == present - 1, 1, f"{end} down")
                fabric.join(end)
                wait_until(lambda: n_links(lab) == present, 1, f"{end} up")
        assert is_held(lab)


@pytest.mark.row("N22")
@pytest.mark.parametrize("repair", ("off", "act"))
def test_loss_at_switches_with_a_held_link_is_swept_also_if_it_was_routed_around(tree, repair):
    """Both ends' traps are kept for a look, and no way of the SM's leads over the lost link."""
    conf = f"[perfmgr]\nsweep_period = 1\n[damp]\nmode = act\n[repair]\nmode = {repair}\n"
    with TriadLab(tree, triad_conf=conf, opensm_conf="routing_engine updn\n") as lab:
        wait_for_damping(lab)
        present = n_links(lab)
        ask(lab, "damp", "pin", "leaf-02:7")
        wait_until(lambda: n_links(lab) == present - 1, 10, "the held link out of the tables")
        wait_until(lambda: repair == "off" or mentions(status(lab)["repair"]["state"], "lost"),
                   20, lambda: str(status(lab)["repair"]))
        swept = n_heavy(lab)
        Fabric(lab).cut(("leaf-02", 8))
        wait_until(lambda: n_heavy(lab) > swept, 15,
                   lambda: f"a sweep: {ask(lab, 'repair', 'history')} {status(lab)['damp']}")
        wait_until(lambda: n_links(lab) == present - 2, 5, "the lost link out of the tables")


def test_with_watch_all_is_as_without_but_said(tree):
    with damp_lab(tree, "watch") as lab:
        wait_for_damping(lab)
        fabric = Fabric(lab)
        present = n_links(lab)
        for _ in range(8):
            fabric.flap(FLAPPER)
            if link(lab).get("state") == "would be held":
                break
        assert link(lab)["state"] == "would be held", ask_json(lab, "damp")
        wait_until(lambda: n_links(lab) == present, 10, "the link in OpenSM's tables")
        swept = n_heavy(lab)
        fabric.flap(FLAPPER)
        wait_until(lambda: n_heavy(lab) > swept, 10, "a sweep for a trap that passed")
        assert not status(lab)["damp"]["kept"]


def test_with_watch_a_link_that_is_good_again_would_return(tree):
    with damp_lab(tree, "watch", half_life=5) as lab:
        wait_for_damping(lab)
        fabric = Fabric(lab)
        for _ in range(4):
            fabric.flap(FLAPPER)
        wait_until(lambda: link(lab).get("state") == "would be held", 5, "over the limit")
        wait_until(lambda: link(lab).get("state") != "would be held", 40, "good again")


def test_held_link_that_was_down_for_a_moment_returns(tree):
    with damp_lab(tree, "act", half_life=5) as lab:
        wait_for_damping(lab)
        present = n_links(lab)
        fabric = Fabric(lab)
        flap_until_held(lab, fabric)
        wait_until(lambda: n_links(lab) == present - 1, 10, "the link out of the tables")
        bounces = link(lab)["bounces"]
        fabric.cut(FLAPPER)
        time.sleep(0.05)
        fabric.join(FLAPPER)
        wait_until(lambda: link(lab)["bounces"] > bounces, 5, "counted")
        wait_until(lambda: n_links(lab) == present, 60, "the link in the tables")


def test_other_ports_do_not_count_against_a_held_link_while_opensm_sweeps(tree):
    with damp_lab(tree, "act", opensm_conf="max_wire_smps 1\n") as lab:
        wait_for_damping(lab)
        present = n_links(lab)
        fabric = Fabric(lab)
        ask(lab, "damp", "pin", "spine-01:1")
        wait_until(lambda: n_links(lab) == present - 1, 10, "the link out of the tables")
        # P_Key tables, which only OpenSM asks for: sweeps take seconds.
        lab.harm_mads("delay ms 150 attribute 0x16 direction out")
        fabric.cut(("leaf-03", 1))
        time.sleep(1)
        looks = status(lab)["damp"]["looks"]
        fabric.cut(("leaf-01", 2))
        wait_until(lambda: status(lab)["damp"]["looks"] >= looks + 4, 10, "looks")
        lab.heal_mads()
        wait_until(lambda: n_links(lab) == present - 3, 30, "all swept")
        assert not link(lab)["bounces"], link(lab)


def test_switch_that_answers_slowly_has_opensm_told_in_time(tmp_path):
    net = tmp_path / "wide.net"
    subprocess.run([SRCDIR / "scripts" / "gen-fabric", "fat-tree", "--levels", "2",
                    "--radix", "32", "--hosts", "64", "-o", net], check=True)
    with damp_lab(net, "act") as lab:
        wait_for_damping(lab)
        fabric = Fabric(lab)
        present = n_links(lab)
        ask(lab, "damp", "pin", "leaf-01:32")
        wait_until(lambda: n_links(lab) == present - 1, 10, "the link out of the tables")
        # Two seconds and more for all ports of a switch.
        lab.harm_mads("delay ms 60 attribute 0x15 direction out")
        told = status(lab)["damp"]["told"]
        fabric.cut(("leaf-01", 2))
        wait_until(lambda: status(lab)["damp"]["told"] > told, 1, "OpenSM told")


def test_only_way_to_a_switch_or_host_is_never_held(tree):
    with damp_lab(tree, "act") as lab:
        wait_for_damping(lab)
        fabric = Fabric(lab)
        for port in (6, 7, 8):
            fabric.cut(("leaf-02", port))
        wait_until(lambda: n_links(lab) == 29, 10, "three links down")
        present = n_links(lab)
        fabric.flap(("leaf-02", 5), 6)
        fabric.flap(("leaf-03", 1), 6)
        # Both are said, with the reason.
        for end, word in ((("leaf-02", 5), "only way"), (("leaf-03", 1), "damp.hosts")):
            wait_until(lambda end=end, word=word: mentions(link(lab, end)["until"] or "", word),
                       10, lambda: ask(lab, "damp"))
            assert link(lab, end)["state"] == "may not be held", ask_json(lab, "damp")
        assert not status(lab)["damp"]["links_held"]
        wait_until(lambda: n_links(lab) == present, 10, "all as before")


def test_link_of_a_host_is_held_if_that_is_wanted(tree):
    with damp_lab(tree, "act", half_life=5) as lab:
        wait_for_damping(lab)
        ask(lab, "set", "damp.hosts", "true")
        fabric = Fabric(lab)
        present = n_links(lab)
        host = ("leaf-03", 1)
        flap_until_held(lab, fabric, host)
        wait_until(lambda: n_links(lab) == present - 1, 10, "the link out of the tables")
        swept = n_heavy(lab)
        fabric.flap(host, 10)
        assert n_heavy(lab) <= swept + 1, status(lab)["damp"]
        assert is_held(lab, host)
        # The SM's own is not.
        failed(lab.triad("damp", "pin", "leaf-01:1"), 1, "SM")
        wait_until(lambda: n_links(lab) == present, 60, "the link in the tables")
        ask(lab, "damp", "pin", "leaf-03:1")
        wait_until(lambda: n_links(lab) == present - 1, 10, "the link out of the tables")
        ask(lab, "set", "damp.hosts", "false")
        wait_until(lambda: n_links(lab) == present, 10, "the link in the tables")


def test_held_link_is_let_go_when_it_is_the_only_way_left(tree):
    with damp_lab(tree, "act") as lab:
        wait_for_damping(lab)
        fabric = Fabric(lab)
        flap_until_held(lab, fabric)
        for port in (6, 7, 8):
            fabric.cut(("leaf-01", port))
        # Of four links of leaf-01, the held one is left.
        wait_until(lambda: not is_held(lab), 10, "the only way left")
        wait_until(lambda: n_links(lab) == 29, 10, "three links down, the held one up")


def test_link_that_is_cabled_anew_is_opensms_at_once(tree):
    with damp_lab(tree, "act") as lab:
        wait_for_damping(lab)
        fabric = Fabric(lab)
        flap_until_held(lab, fabric)
        present = n_links(lab)
        # The held cable's end at the leaf, and another one's at another leaf, are exchanged.
        fabric.cut(FLAPPER)
        fabric.cut(("spine-01", 3))
        wait_until(lambda: n_links(lab) == present - 1, 5, "both down")
        lab.sim('Link "spine-01"[1] "leaf-02"[5]')
        wait_until(lambda: n_links(lab) == present, 5, "one link more")
        wait_until(lambda: not is_held(lab), 5, "let go")
        lab.sim('Link "spine-01"[3] "leaf-01"[5]')
        wait_until(lambda: n_links(lab) == present + 1, 5, "all links")


def test_held_link_is_held_after_a_restart_and_one_that_was_let_go_is_not(tree):
    with damp_lab(tree, "act") as lab:
        wait_for_damping(lab)
        present = n_links(lab)
        fabric = Fabric(lab)
        flap_until_held(lab, fabric)
        ask(lab, "damp", "pin", "spine-02:3")
        ask(lab, "damp", "pin", "spine-02:5")
        ask(lab, "damp", "release", "spine-02:5")
        wait_until(lambda: n_links(lab) == present - 2, 10, "two links out")
        # What is new is in the file within a second.
        wait_until(lambda: status(lab)["history"]["file_lines"]
                   == status(lab)["history"]["events"], 10, "the history on its disk")
        hosts.kill(state.load_required(lab.folder), 0, "opensm")
        lab.host("start", 0, "opensm")
        wait_until(lambda: lab.triad("status").returncode == 0 and
                   n_links(lab) == present - 2, 20,
                   lambda: f"two links out again: {ask(lab, 'damp')} {ask(lab, 'history')}")
        assert is_held(lab)
        # They were never seen up.
        wait_until(lambda: lab.triad("links").returncode == 0, 10, "counters")
        assert len(held_links(lab)) == 2, ask(lab, "links")
        assert link(lab, ("spine-02", 3))["state"] == "held until released"
        assert not is_held(lab, ("spine-02", 5))


def test_by_hand(tree):
    with damp_lab(tree, "act") as lab:
        wait_for_damping(lab)
        present = n_links(lab)
        failed(lab.triad("damp", "release", "spine-01:1"), 1)
        failed(lab.triad("damp", "pin", "leaf-01:1"), 1, "host")
        ask(lab, "damp", "pin", "spine-01:1")
        wait_until(lambda: n_links(lab) == present - 1, 10, "the link out of the tables")
        # That is no link that is down.
        wait_for_sweep(lab, status(lab)["perfmgr"]["sweeps"] + 2)
        [alert] = ask_json(lab, "alerts")["alerts"]
        assert mentions(ask(lab, "alerts"), "held out"), alert
        assert len(held_links(lab)) == 1 and not ask_json(lab, "links", "--down")
        row = link(lab)
        assert row["state"] == "held until released" and row["until"] is None, row
        # The alert is at a link that is held, also when it is another one by now.
        ask(lab, "damp", "pin", "spine-02:3")
        wait_until(lambda: n_links(lab) == present - 2, 10, "the link out of the tables")
        ask(lab, "damp", "release", "leaf-01", "5")
        other = link(lab, ("spine-02", 3))
        wait_until(lambda: [alert["at"]["node_name"] in (other["node_name"], other["far_name"])
                            for alert in ask_json(lab, "alerts")["alerts"]] == [True], 20,
                   lambda: ask(lab, "alerts"))
        ask(lab, "damp", "release", "spine-02:3")
        wait_until(lambda: n_links(lab) == present, 10, "the link in the tables")
        # Switched off, nothing is held.
        ask(lab, "damp", "pin", "spine-01:1")
        wait_until(lambda: n_links(lab) == present - 1, 10, "the link out of the tables")
        ask(lab, "set", "damp.mode", "off")
        wait_until(lambda: n_links(lab) == present, 10, "the link in the tables")
        failed(lab.triad("damp", "pin", "spine-01:1"), 1)


def notice(kind, lid, port=0):
    """Octets of a generic notice of a CA."""
    octets = bytearray(64)
    octets[0:4] = bytes((0x82, 0, 0, 1))
    octets[4:6] = kind.to_bytes(2, "big")
    octets[6:8] = lid.to_bytes(2, "big")
    octets[10:12] = (0).to_bytes(2, "big")
    octets[12:14] = lid.to_bytes(2, "big")
    octets[14] = port
    return octets.hex()


def send_traps(lab, lid, notices, node="host-0002"):
    """To the SM with this LID.  ibsim has them when it answers the question behind them."""
    lines = [f"trap {lid} {octets}" for octets in notices] + [f"{lid} 0x11 0"]
    succeeded(lab.run(SMP_ASK, input="\n".join(lines) + "\n", stdin=None, node=node))


def lids(lab):
    return {row["name"]: row["lid"] for row in ask_json(lab, "nodes", "-n", "100")}


@pytest.mark.parametrize("mode, some_are_kept", (("act", True), ("watch", False)))
def test_traps_that_change_nothing_are_counted_by_sender_and_kept(tree, mode, some_are_kept):
    with damp_lab(tree, mode) as lab:
        wait_for_damping(lab)
        of = lids(lab)
        for kind in (129, 256, 257, 258, 259):
            # No two are alike: OpenSM's own filter passes them all.
            send_traps(lab, of["host-0001 HCA-1"],
                       [notice(kind, of["host-0002 HCA-1"], i) for i in range(20)])
        wait_until(lambda: status(lab)["damp"]["other_traps"] == 100, 10, "all of them")
        rows = {row["trap"]: row for row in ask_json(lab, "damp", "traps")}
        assert set(rows) == {"129", "256", "257", "258", "259"}
        for row in rows.values():
            assert (row["node_name"], row["received"]) == ("host-0002 HCA-1", 20), row
            assert 17 <= row["kept"] <= 20, row
        wait_until(lambda: bool(status(lab)["damp"]["kept"]) == some_are_kept, 10, "kept")
        # A trap of a link is never among them.
        fabric = Fabric(lab)
        present = n_links(lab)
        fabric.cut(("leaf-03", 1))
        wait_until(lambda: n_links(lab) == present - 1, 5, "the link down")


def test_unplugged_hook_leaves_opensm_as_it_was(tree):
    with damp_lab(tree, "off") as lab:
        wait_for_sweep(lab)
        assert status(lab)["damp"]["state"] == "off"
        assert mentions(ask(lab, "damp"), "damp.mode")
        fabric = Fabric(lab)
        for mode in ("act", "off", "watch", "off"):
            ask(lab, "set", "damp.mode", mode)
            fabric.flap(FLAPPER)
        assert not health_findings(lab, "damp")


@pytest.mark.threads
def test_threads_share_what_is_held(tree):
    """A link flaps and traps come while commands, metrics and sweeps read and change what is held."""
    with damp_lab(tree, "act", half_life=5) as lab:
        wait_for_damping(lab)
        fabric = Fabric(lab)
        present = n_links(lab)
        of = lids(lab)
        with flapping(fabric, FLAPPER):
            for mode in ("act", "watch", "act", "off", "act"):
                ask(lab, "set", "damp.mode", mode)
                if mode == "act":
                    wait_until(lambda: status(lab)["damp"]["state"].startswith("links"), 10,
                               "the hook")
                    # It returns with OpenSM's next sweep from what was released before.
                    wait_until(lambda: lab.triad("damp", "pin", "spine-02:3").returncode == 0, 20,
                               lambda: ask(lab, "links"))
                send_traps(lab, of["host-0001 HCA-1"],
                           [notice(257, of["host-0002 HCA-1"], i) for i in range(20)])
                for command in (("damp",), ("damp", "traps"), ("links",), ("status",)):
                    ask_json(lab, *command)
                if mode == "act":
                    wait_until(lambda: is_held(lab), 20, lambda: ask(lab, "damp"))
                    ask(lab, "damp", "release", "spine-02:3")
                    ask(lab, "damp", "release", "spine-01:1")
        ask(lab, "set", "damp.mode", "off")
        wait_until(lambda: n_links(lab) == present, 20, "all links in the tables")


@pytest.mark.parametrize("cluster", (
    "corosync", pytest.param("peers", marks=pytest.mark.threads)))
def test_next_master_holds_what_the_last_one_held(cluster):
    with managed(cluster, fabric=TREE, opensm_conf="",
                 more="[damp]\nmode = act\nhalf_life = 600\n") as ports:
        lab, old = ports.lab, ports.master
        fabric = Fabric(lab)
        present = n_links(lab, sm=old)
        flap_until_held(lab, fabric, sm=old)
        wait_until(lambda: n_links(lab, sm=old) == present - 1, 10, "the link out")
        # Standbys hear of it, but for the node's name, which they have as masters.
        for sm in others(old):
            wait_until(lambda: status(lab, sm=sm)["damp"]["links_held"] == 1, 10,
                       f"SM {sm} heard of it")
        hosts.kill(state.load_required(lab.folder), old, "opensm")
        new = ports.cluster.wait_for_holder(among=others(old))
        wait_until(lambda: n_links(lab, sm=new), 30, "the fabric")
        # The SM's own host is on another leaf: its link is still there.
        wait_until(lambda: n_links(lab, sm=new) == present - 1, 10, "as before")
        assert is_held(lab, sm=new)
        swept = n_heavy(lab, sm=new)
        fabric.flap(FLAPPER, 10)
        # A new master sweeps once or twice for its own sake.
        assert n_heavy(lab, sm=new) <= swept + 2
        # And the third one, after that.
        ask(lab, "damp", "release", "spine-01:1", sm=new)
        wait_until(lambda: n_links(lab, sm=new) == present, 10, "the link in the tables")
        [third] = [sm for sm in others(old) if sm != new]
        wait_until(lambda: not status(lab, sm=third)["damp"]["links_held"], 10,
                   f"SM {third} heard that it is not")
