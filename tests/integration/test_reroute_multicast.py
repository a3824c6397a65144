# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Multicast groups over a lost link are connected again before OpenSM sweeps ([repair] mode =
act): what was written is replayed write by write, and packets of each group are followed from
each member."""

import contextlib
import itertools
import os
import signal

import pytest

from checks import mentions, wait_until
from portlib import RECORD
from test_repair import MFT, Tree
from test_reroute import (
    SLOWLY, SET, is_ready, losses, record_of_mads, repairing, shared_net, wait_for_losses)
from test_routes import TORUS, generate, write_ring
from test_sa_copies import sa_client
from triadlab import netfile
from triadlib import ask, ask_json, health_findings, status, sweep_heavily

pytestmark = pytest.mark.row("N22")

FIRST, SWITCH_INFO = 0xc000, 0x12
MGID = "ff12a01cfe80000000000000{:08x}"
N_GROUPS = 40  # in two blocks
# OpenSM's discovery takes seconds.
SLOWLIER = "delay ms 40 attribute 0x11 direction out\n"

__all__ = ["record_of_mads", "shared_net"]  # fixtures


class Groups:
    """Members of groups, and what devices do with their packets."""

    def __init__(self, lab, net, client):
        self.lab, self.client = lab, client
        self.tree = Tree(lab, net)
        guids = {int(row["guid"], 16) + 1: name for name, row in self.tree.nodes.items()}
        self.ports = {guids[int(guid, 16)]: guid for guid in client.ask("ports")}
        self.mlids, self.members = {}, {}

    def join(self, *joins):
        """(Group, host) each."""
        answers = self.client.ask_all([("join", MGID.format(group), self.ports[host])
                                       for group, host in joins])
        for (group, host), (state, mlid) in zip(joins, answers):
            assert state == 0, (group, host)
            self.mlids[group] = mlid
            self.members.setdefault(mlid, set()).add(host)

    def join_another(self, among):
        """Has one more host in one of the groups with these LIDs, and returns that LID."""
        group, mlid = next(item for item in self.mlids.items() if item[1] in among)
        self.join((group, next(host for host in self.tree.hosts
                               if host not in self.members[mlid])))
        return mlid

    def tables(self):
        """Of each switch: its blocks, as the device has them, by modifier."""
        blocks = range((max(self.members) - FIRST) // 32 + 1)
        return {switch: dict(zip(blocks, self.tree.smp(switch, *((MFT, i) for i in blocks))))
                for switch in self.tree.switches}

    @staticmethod
    def row(tables, switch, mlid):
        entry = (mlid - FIRST) % 32 * 2
        octets = tables[switch][(mlid - FIRST) // 32]
        return int.from_bytes(octets[entry:entry + 2], "big")

    def reached(self, tables, mlid, source, gone):
        """Hosts that a packet arrives at, once for each time."""
        links, arrived = self.tree.links, []
        packets = [links[source][1]] if (source, 1) not in gone else []
        n_copies = 0
        while packets:
            switch, came_by = packets.pop()
            n_copies += 1
            assert n_copies < 1000, f"packets of {mlid:#x} circle"
            for port, (far, number) in links[switch].items():
                if port == came_by or (switch, port) in gone or \
                        not self.row(tables, switch, mlid) >> port & 1:
                    continue
                if far in self.tree.switches:
                    packets.append((far, number))
                else:
                    arrived.append(far)
        return sorted(arrived)

    def connected(self, tables, gone=frozenset()):
        """Groups all of whose members reach each other; no packet arrives twice anywhere."""
        whole = set()
        for mlid, members in self.members.items():
            arrived = {host: self.reached(tables, mlid, host, gone) for host in members}
            assert all(len(set(hosts)) == len(hosts) for hosts in arrived.values()), arrived
            if all(set(hosts) | {host} == members for host, hosts in arrived.items()):
                whole.add(mlid)
        return whole

    def crossing(self, tables, gone):
        return {mlid for mlid in self.members
                if any(self.row(tables, switch, mlid) >> port & 1
                       for switch, port in gone if switch in self.tree.switches)}

    def tables_are_checked(self):
        """The plan is made of tables in which all groups are."""
        tables = self.tables()
        return all({row["mlid"] for row in ask_json(
            self.lab, "repair", "plan", f"{host}:1")["multicast_groups"]} ==
            self.crossing(tables, {self.tree.links[host][1]}) for host in self.tree.hosts)

    def link_of_trees(self, leaf):
        """The port of the leaf that leads up and that most trees cross."""
        tables = self.tables()
        ups = [port for port, (far, _) in self.tree.links[leaf].items()
               if far in self.tree.switches]
        return max(ups, key=lambda port: len(self.crossing(tables, {(leaf, port)})))


@contextlib.contextmanager
def grouped(net, mode="act", host="host-0002", **options):
    with repairing(net, mode, **options) as lab, sa_client(lab, host) as client:
        groups = Groups(lab, net, client)
        hosts = groups.tree.hosts
        groups.join(*((group, hosts[(group + 5 * i) % len(hosts)])
                      for group in range(N_GROUPS) for i in range(4)))
        sweep_heavily(lab, groups.tables_are_checked, what="checked trees")
        assert groups.connected(groups.tables()) == set(groups.members)
        yield groups


def mft_lines(record):
    """Multicast tables' Sets in their order, as words of the record."""
    lines = (line.split() for line in record.read_text().splitlines())
    return [words for words in lines if (int(words[1], 16), int(words[2], 16)) == (SET, MFT)]


def switch_at(tree, path):
    """The end of a directed route, as the record has it."""
    at = tree.hosts[0]
    for port in path.rstrip(",").split(","):
        at = tree.links[at][int(port)][0]
    return at


def mft_sets(record, tree):
    """The same as (switch, block, data)."""
    return [(switch_at(tree, words[8]), int(words[6], 16), bytes.fromhex(words[9]))
            for words in mft_lines(record)]


def lose_and_replay(groups, record, what, gone, left=frozenset(), outcome="done",
                    untouched=True):
    """Loses it, and follows packets after each write of ours.  Returns the loss."""
    lab, tree = groups.lab, groups.tree
    tables = groups.tables()
    crossing = groups.crossing(tables, gone)
    n_before, n_losses = len(mft_sets(record, tree)), len(losses(lab))
    n_up = lab.log().count("SUBNET UP")
    lab.sim(f"Unlink {what}")
    loss = wait_for_losses(lab, n_losses + 1)[0]
    assert loss["outcome"] == outcome, loss
    assert loss["multicast_trees"] == len(crossing), loss
    assert loss["multicast_left"] == len(crossing & left), loss
    assert loss["multicast_repaired"] == len(crossing - left) > 0, loss
    assert loss["multicast_all_known"], loss
    assert loss["multicast_ended_ms"] > (loss["ended_ms"] or 0), loss
    ours = loss["multicast_written_blocks"]
    wait_until(lambda: lab.log().count("SUBNET UP") > n_up, 20, "OpenSM's sweep")
    written = mft_sets(record, tree)[n_before:]
    assert len(written) > ours > 0
    has_more = set()
    for i, (switch, block, octets) in enumerate(written[:ours]):
        for mlid in groups.members:
            if block != (mlid - FIRST) // 32:
                continue
            old = groups.row(tables, switch, mlid)
            new = groups.row({switch: {block: octets}}, switch, mlid)
            assert old == new or mlid not in left or not untouched, i
            # What is lost is taken out before anything is put in.
            assert not old & ~new or mlid not in has_more, (i, mlid)
            has_more |= {mlid} if new & ~old else set()
        tables[switch][block] = octets
        groups.connected(tables, gone), groups.connected(tables)
    # OpenSM's come after that, as its sweep has all blocks of all switches.
    assert groups.connected(tables, gone) >= set(groups.members) - left
    return loss


def is_clean(groups, gone):
    """OpenSM's sweep is over, and left all as it should be."""
    lab = groups.lab

    def are_connected():
        # Tables are read one after the other: while they are written, packets may seem to circle.
        try:
            return groups.connected(groups.tables(), gone) == set(groups.members)
        except AssertionError:
            return False
    wait_until(are_connected, 20, "trees of OpenSM's")
    wait_until(lambda: lab.triad("audit").returncode == 0, 20, lambda: lab.triad("audit").stdout)
    assert not health_findings(lab, "multicast")


def test_groups_are_connected_again_before_opensm_sweeps(net, record):
    with grouped(net, preload=[RECORD]) as groups:
        port = groups.link_of_trees("leaf-03")
        gone = {("leaf-03", port), groups.tree.links["leaf-03"][port]}
        loss = lose_and_replay(groups, record, f'"leaf-03"[{port}]', gone)
        is_clean(groups, gone)
        repair = status(groups.lab)["repair"]
        assert repair["groups"] == repair["groups_repaired"] == loss["multicast_repaired"]
        assert repair["groups_left"] == repair["groups_waiting"] == 0
        assert mentions(ask(groups.lab, "repair", "history"),
                        f"{loss['multicast_trees']} multicast groups connected again 0 left")
        assert mentions(ask(groups.lab, "history"), "multicast groups connected again")


def test_groups_over_a_switch_that_is_lost_are_connected_again(net, record):
    with grouped(net, preload=[RECORD]) as groups:
        spine = groups.tree.links["leaf-03"][groups.link_of_trees("leaf-03")][0]
        gone = {(spine, port) for port in groups.tree.links[spine]}
        gone |= {groups.tree.links[spine][port] for port in groups.tree.links[spine]}
        loss = lose_and_replay(groups, record, f'"{spine}"', gone)
        assert loss["links"] == len(gone) // 2
        groups.tree.switches.remove(spine)
        is_clean(groups, gone)


def test_writing_begins_when_all_that_opensm_wrote_was_answered(net, record):
    """OpenSM writes the trees of a join when the link is lost, and has answers 20 ms later."""
    with grouped(net, preload=[RECORD]) as groups:
        lab = groups.lab

        def lose():
            """The loss, groups that cross the link, times of Sets."""
            port = groups.link_of_trees("leaf-03")
            crossing = groups.crossing(groups.tables(), {("leaf-03", port)})
            n_before, n_losses = len(mft_lines(record)), len(losses(lab))
            lab.harm_mads(f"{SLOWLIER}delay ms 20 attribute {MFT:#x} direction in\n")
            groups.join_another(crossing)
            lab.sim(f'Unlink "leaf-03"[{port}]')
            loss = wait_for_losses(lab, n_losses + 1)[0]
            times = [int(words[10]) for words in mft_lines(record)][n_before:]
            lab.harm_mads(SLOWLY)
            lab.sim(f'ReLink "leaf-03"[{port}]')
            return loss, crossing, times

        # OpenSM may begin its sweep later than is waited for.
        for _ in range(3):
            loss, crossing, times = lose()
            if not mentions(loss["multicast_why"], "begun"):
                break
            sweep_heavily(lab, groups.tables_are_checked, what="checked trees")
        ours = loss["multicast_written_blocks"]
        assert (loss["multicast_repaired"], loss["multicast_left"]) == (len(crossing) - 1, 1), loss
        assert len(times) > ours > 0, "OpenSM's for the join, then ours"
        assert times[-ours] >= times[-ours - 1] + 20000, times


def test_switches_that_forward_no_groups_are_told_to(net, monkeypatch, record):
    """OpenSM sets MulticastFDBTop below all groups where no tree was."""
    monkeypatch.setenv("TRIAD_RECORD_MFT_TOP", "0xbfff taken")
    with grouped(net, preload=[RECORD]) as groups:
        tree, port = groups.tree, groups.link_of_trees("leaf-03")

        def sets():
            """(Attribute, switch, modifier, octets), as far as groups go."""
            return [(int(words[2], 16), switch_at(tree, words[8]), int(words[6], 16),
                     bytes.fromhex(words[9]))
                    for words in map(str.split, record.read_text().splitlines())
                    if int(words[1], 16) == SET and int(words[2], 16) in (MFT, SWITCH_INFO)]

        n_before = len(sets())
        groups.lab.harm_mads(SLOWLIER)
        n_up = groups.lab.log().count("SUBNET UP")
        groups.lab.sim(f'Unlink "leaf-03"[{port}]')
        loss = wait_for_losses(groups.lab, 1)[0]
        before, after = sets()[:n_before], sets()[n_before:]
        assert groups.lab.log().count("SUBNET UP") == n_up, "OpenSM has not told them anything"
        assert loss["multicast_left"] == 0 < loss["multicast_repaired"], loss
        ours = after[:loss["multicast_written_blocks"]]
        # Then they are told.
        told = {switch: int.from_bytes(octets[18:20], "big") for _, switch, _, octets in
                itertools.takewhile(lambda item: item[0] == SWITCH_INFO, after[len(ours):])}
        # OpenSM has told others of the groups that they had.
        forward_some = {switch for attribute, switch, _, octets in before
                        if attribute == SWITCH_INFO and octets[18] >= FIRST >> 8}
        written = {(switch, mlid) for attribute, switch, block, octets in ours
                   for mlid in groups.members if attribute == MFT and
                   block == (mlid - FIRST) // 32 and groups.row({switch: {block: octets}},
                                                                switch, mlid)}
        first_ones = [item for item in written if item[0] not in forward_some]
        assert first_ones, "a switch gets its first groups"
        assert all(told[switch] >= mlid for switch, mlid in first_ones)


def test_group_beyond_what_switches_forward_is_left(net, monkeypatch, record):
    top = 0xc010
    monkeypatch.setenv("TRIAD_RECORD_MFT_TOP", hex(top))
    with grouped(net, preload=[RECORD]) as groups:
        port = groups.link_of_trees("leaf-03")
        gone = {("leaf-03", port), groups.tree.links["leaf-03"][port]}
        loss = lose_and_replay(groups, record, f'"leaf-03"[{port}]', gone,
                               left={mlid for mlid in groups.members if mlid > top},
                               untouched=False)
        assert mentions(loss["multicast_why"], "MulticastFDBTop"), loss


def write_star(path):
    """Four switches with a host each around one; of these two, and the other two, also have a
    longer way to each other."""
    star = netfile.Fabric()
    names = ("middle", "near-1", "near-2", "far-1", "far-2", "by-1", "by-2", "by-3", "by-4")
    switches = {name: star.add(netfile.Node(netfile.SWITCH, name, 8, name, 0x2000 + 0x10 * i))
                for i, name in enumerate(names)}
    for i, name in enumerate(names[1:5], 1):
        star.link(switches["middle"], i, switches[name], 1)
        host = star.add(netfile.Node(netfile.HCA, f"host-{i}", 1, f"host-{i}", 0x1000 + 0x10 * i))
        star.link(host, 1, switches[name], 2)
    for way in (("near-1", "by-1", "by-2", "near-2"), ("far-1", "by-3", "by-4", "far-2")):
        for a, b in zip(way, way[1:]):
            star.link(switches[a], 4, switches[b], 3)
    with open(path, "w", encoding="utf-8") as stream:
        netfile.write(star, stream, "a star")


def test_group_behind_a_lost_switch_is_left_and_others_are_repaired(tmp_path, monkeypatch):
    """It would be the first one of a switch there, whose MulticastFDBTop can't be raised."""
    monkeypatch.setenv("TRIAD_RECORD_MFT_TOP", "0xbfff taken")
    net = tmp_path / "star.net"
    write_star(net)
    with repairing(net, engine="minhop", preload=[RECORD]) as lab, \
            sa_client(lab, "host-1") as client:
        groups = Groups(lab, net, client)
        groups.join(*((i // 2, host) for i, host in enumerate(groups.tree.hosts)))
        sweep_heavily(lab, groups.tables_are_checked, what="checked trees")
        lab.harm_mads(SLOWLIER)
        lab.sim('Unlink "middle"')
        loss = wait_for_losses(lab, 1)[0]
        assert (loss["multicast_trees"], loss["multicast_repaired"], loss["multicast_left"]) == \
            (2, 1, 1), loss
        assert mentions(loss["multicast_why"], "reached"), loss


def test_members_that_no_link_is_left_to_are_cut_and_the_rest_stays_connected(net):
    with grouped(net) as groups:
        lab, tree = groups.lab, groups.tree
        ups = [port for port, (far, _) in tree.links["leaf-03"].items() if far in tree.switches]
        gone = {("leaf-03", port) for port in ups}
        gone |= {tree.links[switch][port] for switch, port in gone}
        links = status(lab)["topology"]["links"]
        lab.sim(*(f'Unlink "leaf-03"[{port}]' for port in ups[1:]))
        wait_until(lambda: status(lab)["topology"]["links"] == links - len(ups) + 1, 20, "a sweep")
        wait_until(lambda: status(lab)["repair"]["groups_waiting"] == 0 and is_ready(lab) and
                   groups.tables_are_checked(), 20, "checked trees")
        n_losses = len(losses(lab))
        crossing = groups.crossing(groups.tables(), {("leaf-03", ups[0])})
        lab.harm_mads(SLOWLIER)
        lab.sim(f'Unlink "leaf-03"[{ups[0]}]')
        loss = wait_for_losses(lab, n_losses + 1)[0]
        assert (loss["multicast_trees"], loss["multicast_left"], loss["multicast_repaired"]) == \
            (len(crossing), len(crossing), 0), loss
        assert loss["multicast_written_blocks"] > 0, "the link is taken out at the other end"
        assert mentions(loss["multicast_why"], "no way"), loss
        tree.switches.remove("leaf-03")
        for members in groups.members.values():
            members -= {host for host in tree.hosts if tree.leaf(host) == "leaf-03"}
        assert groups.connected(groups.tables(), gone) == set(groups.members)
        is_clean(groups, gone)


def test_groups_are_repaired_where_new_paths_are_not_proven(tmp_path, record):
    net = write_ring(tmp_path / "ring.net")
    with grouped(net, engine="minhop", host="host-02", preload=[RECORD]) as groups:
        end = next((switch, port) for switch in groups.tree.switches
                   for port, (far, _) in groups.tree.links[switch].items()
                   if far in groups.tree.switches and
                   groups.crossing(groups.tables(), {(switch, port)}))
        gone = {end, groups.tree.links[end[0]][end[1]]}
        groups.lab.harm_mads(SLOWLIER)
        loss = lose_and_replay(groups, record, f'"{end[0]}"[{end[1]}]', gone,
                               outcome="left to OpenSM")
        assert loss["written_blocks"] == 0 and mentions(loss["why"], "circle"), loss
        is_clean(groups, gone)


def test_trees_that_an_engine_keeps_free_of_credit_loops_are_left(tmp_path):
    net = generate(tmp_path / "torus.net", "torus", "--dims", "5,5")
    (tmp_path / "torus.conf").write_text(TORUS, encoding="utf-8")
    engine = f"torus-2QoS\nqos TRUE\ntorus_config {tmp_path / 'torus.conf'}"
    with grouped(net, engine=engine) as groups:
        end = next((switch, port) for switch in groups.tree.switches
                   for port, (far, _) in groups.tree.links[switch].items()
                   if far in groups.tree.switches and
                   groups.crossing(groups.tables(), {(switch, port)}))
        groups.lab.sim(f'Unlink "{end[0]}"[{end[1]}]')
        loss = wait_for_losses(groups.lab, 1)[0]
        assert loss["multicast_left"] == loss["multicast_trees"] > 0, loss
        assert loss["multicast_written_blocks"] == 0, loss
        assert mentions(loss["multicast_why"], "credit loops"), loss


def test_groups_are_repaired_where_damping_keeps_the_trap(net):
    """Both ends' traps are kept for a look, and no way of the SM's leads over the lost link."""
    with grouped(net, "act\n[damp]\nmode = act", engine="minhop") as groups:
        lab = groups.lab
        links = status(lab)["topology"]["links"]
        for held in ("leaf-01:5", "leaf-03:8"):
            ask(lab, "damp", "pin", held)
        wait_until(lambda: status(lab)["topology"]["links"] == links - 2, 20, "held links")
        wait_until(groups.tables_are_checked, 20, "checked trees")
        gone = {("leaf-03", 5), groups.tree.links["leaf-03"][5]}
        crossing = groups.crossing(groups.tables(), gone)
        lab.sim('Unlink "leaf-03"[5]')
        loss = wait_for_losses(lab, 1)[0]
        assert loss["outcome"] == "done", loss
        assert loss["multicast_repaired"] == loss["multicast_trees"] == len(crossing) > 0, loss
        is_clean(groups, gone)


def test_nothing_is_written_before_opensm_discovers(net, record):
    """It may write trees until then: its one copy does not say what switches have."""
    with grouped(net, engine="updn\nsweep_on_trap FALSE", preload=[RECORD]) as groups:
        lab = groups.lab
        port = groups.link_of_trees("leaf-03")
        n_before = len(mft_sets(record, groups.tree))
        lab.sim(f'Unlink "leaf-03"[{port}]')
        loss = wait_for_losses(lab, 1)[0]
        assert (loss["outcome"], loss["multicast_repaired"]) == ("done", 0), loss
        assert loss["multicast_left"] == loss["multicast_trees"] > 0, loss
        assert mentions(loss["multicast_why"], "sweep"), loss
        assert len(mft_sets(record, groups.tree)) == n_before
        assert health_findings(lab, "multicast groups")
        sweep_heavily(lab, lambda: not health_findings(lab, "multicast groups"))


def test_groups_that_wait_are_no_matter_of_an_sm_that_has_handed_over(net):
    """It hears nothing of the next master's sweep."""
    with grouped(net, engine="updn\nsweep_on_trap FALSE", host="host-0003",
                 sms=["host-0001", "host-0002"]) as groups:
        lab = groups.lab
        lab.sim(f'Unlink "leaf-03"[{groups.link_of_trees("leaf-03")}]')
        wait_for_losses(lab, 1)
        assert status(lab)["repair"]["groups_waiting"] and health_findings(lab, "multicast groups")
        conf = lab.folder / "sm-1" / "opensm.conf"
        conf.write_text(conf.read_text() + "sm_priority 5\n")
        os.kill(lab.status()["sms"][1]["pid"], signal.SIGHUP)
        wait_until(lambda: [sm["state"] for sm in lab.status()["sms"]] == ["standby", "master"],
                   60, "the other one is master")
        assert not status(lab)["repair"]["groups_waiting"]
        assert not health_findings(lab, "multicast groups")


def test_group_that_was_joined_since_is_left_and_others_are_repaired(net, record):
    with grouped(net, preload=[RECORD]) as groups:
        tree = groups.tree
        port = groups.link_of_trees("leaf-03")
        gone = {("leaf-03", port), tree.links["leaf-03"][port]}
        crossing = groups.crossing(groups.tables(), gone)
        joined = groups.join_another(crossing)
        wait_until(lambda: joined in groups.connected(groups.tables()), 20, "the joined tree")
        loss = lose_and_replay(groups, record, f'"leaf-03"[{port}]', gone, left={joined})
        assert mentions(loss["multicast_why"], "changed"), loss
        is_clean(groups, gone)
        assert status(groups.lab)["repair"]["groups_left"] == 1


def test_groups_that_wait_for_the_sweep_are_in_the_health(net):
    """OpenSM could not write what it wanted: what switches have is not known."""
    with grouped(net) as groups:
        lab = groups.lab
        port = groups.link_of_trees("leaf-03")
        crossing = groups.crossing(groups.tables(), {("leaf-03", port)})
        lab.harm_mads(f"lose probability 1 attribute {MFT:#x} direction in\n")
        groups.join_another(crossing)
        wait_until(lambda: "ERR 3119" in lab.log(), 20, "a Set without an answer")
        lab.heal_mads()
        lab.harm_mads(SLOWLIER)
        lab.sim(f'Unlink "leaf-03"[{port}]')
        loss = wait_for_losses(lab, 1)[0]
        assert (loss["outcome"], loss["multicast_repaired"], loss["multicast_written_blocks"]) \
            == ("done", 0, 0), loss
        assert loss["multicast_left"] == len(crossing), loss
        assert mentions(loss["multicast_why"], "could not write"), loss
        found = health_findings(lab, "multicast groups")
        assert len(found) == 1, ask(lab, "health")
        assert mentions(str(found[0]), str(len(crossing))), found
        lab.heal_mads()
        wait_until(lambda: not health_findings(lab, "multicast groups"), 30, "OpenSM's sweep")


def test_with_plan_no_group_is_written(net, record):
    with grouped(net, "plan", preload=[RECORD]) as groups:
        lab = groups.lab
        port = groups.link_of_trees("leaf-03")
        plan = ask_json(lab, "repair", "plan", f"leaf-03:{port}")
        lab.harm_mads(SLOWLIER)
        n_before = len(mft_sets(record, groups.tree))
        lab.sim(f'Unlink "leaf-03"[{port}]')
        loss = wait_for_losses(lab, 1)[0]
        assert len(mft_sets(record, groups.tree)) == n_before, "OpenSM still discovers"
        assert (loss["outcome"], loss["multicast_trees"], loss["multicast_left"]) == \
            ("would be done", len(plan["multicast_groups"]), 0), loss
        assert loss["multicast_repaired"] == loss["multicast_written_blocks"] == 0, loss
        assert mentions(ask(lab, "repair", "history"),
                        f"{loss['multicast_trees']} would be connected again 0 left")
        assert not health_findings(lab, "multicast groups")


def test_groups_whose_writes_are_not_answered_are_left_and_the_sweep_writes_them(net):
    with grouped(net) as groups:
        lab = groups.lab
        port = groups.link_of_trees("leaf-03")
        gone = {("leaf-03", port), groups.tree.links["leaf-03"][port]}
        crossing = groups.crossing(groups.tables(), gone)
        lab.harm_mads(f"{SLOWLIER}lose probability 1 attribute {MFT:#x} direction in\n")
        lab.sim(f'Unlink "leaf-03"[{port}]')
        loss = wait_for_losses(lab, 1)[0]
        lab.heal_mads()
        assert (loss["outcome"], loss["multicast_repaired"], loss["multicast_written_blocks"]) \
            == ("done", 0, 0), loss
        assert loss["multicast_left"] == len(crossing) > 0, loss
        assert mentions(loss["multicast_why"], "not answer"), loss
        is_clean(groups, gone)
