# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Multicast tables of devices, compared with the trees and members that OpenSM has ('audit'):
where OpenSM's own copy is wrong, what an earlier SM left there, and no false difference while hosts
come and go and links are lost."""

import contextlib
import json
import os
import random
import signal

import pytest

from checks import mentions, succeeded, wait_until
from portlib import RECORD
from test_audit import JOIN, MFT
from test_repair import Tree
from test_routes import TORUS, generate
from triadlib import QUICK, TriadLab, sweep_heavily, wait_for_sweep

pytestmark = pytest.mark.row("N21")

OWN_GROUP = "ff12a01cfe8000000000000012345678"
# A standby takes over within a second.
SOON = "sminfo_polling_timeout 200\npolling_retry_number 2\n"
HOSTS = ("host-0001", "host-0003", "host-0004", "host-0007")


@pytest.fixture(scope="module", name="net")
def shared_net(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("audit") / "tree.net",
                    "fat-tree", "--levels", "2", "--radix", "4")


class Groups(Tree):
    """The lab's hosts join and leave groups."""

    def __init__(self, lab, net):
        super().__init__(lab, net)
        self.sm = 0

    def join(self, host, *group):
        """Returns the multicast LID."""
        sm_host = self.lab.state().sms[self.sm].node.split()[0]
        return int(succeeded(self.lab.run(
            "/usr/bin/python3", JOIN, hex(int(self.nodes[host]["guid"], 16) + 1),
            str(self.lids[sm_host]), *group, node=host)).stdout)

    def rows(self, mlid):
        """Of each switch with ports in the LID's row: those."""
        found = {}
        for switch in self.switches:
            (octets,) = self.smp(switch, (MFT, (mlid - 0xc000) // 32))
            entry = 2 * (mlid % 32)
            mask = int.from_bytes(octets[entry:entry + 2], "big")
            if mask:
                found[switch] = {port for port in range(16) if mask >> port & 1}
        return found

    def audit(self):
        process = self.lab.triad("audit", "--json", sm=self.sm)
        # OpenSM may sweep again and again.
        answer = json.loads(process.stdout or '{"differences": []}')
        return process.returncode, [row for row in answer["differences"]
                                    if row["table"] == "MFT"], answer

    def is_good(self):
        """Whether all is known, and as it is wanted."""
        code, rows, _ = self.audit()
        assert not rows, rows
        return not code


@contextlib.contextmanager
def groups(net, conf=QUICK, opensm_conf="", **options):
    with TriadLab(net, triad_conf=conf, opensm_conf=opensm_conf, **options) as lab:
        wait_for_sweep(lab)
        yield Groups(lab, net)


def ports(text):
    return set() if text == "-" else {int(port) for port in text.split(",")}


# --- OpenSM's own copy ---

def paths(tree, switch, at=None, way=()):
    """Directed routes from the SM's host by which opensm may come to the switch: which, is another
    matter in each sweep."""
    at = at or tree.hosts[0]
    if at == switch:
        return ["".join(f"{port:x}," for _, port in way)]
    if at in (name for name, _ in way) or (way and at in tree.hosts):
        return []
    return [path for port, (far, _) in tree.links[at].items()
            for path in paths(tree, switch, far, (*way, (at, port)))]


# DFSSSP keeps no trees.
@pytest.mark.parametrize("engine", ("minhop", "dfsssp"))
def test_row_that_the_switch_took_otherwise_is_named_though_opensm_believes_it(
        net, tmp_path, monkeypatch, engine):
    monkeypatch.setenv("TRIAD_RECORD_MFT", str(tmp_path / "mft"))
    seed = random.randrange(1 << 32)
    print("seed", seed)
    chance = random.Random(seed)
    with groups(net, opensm_conf=f"routing_engine {engine}\n", preload=[RECORD]) as tree:
        mlid = {tree.join(host) for host in HOSTS}.pop()
        wait_until(tree.is_good, 10, "tables for the group")
        rows = tree.rows(mlid)
        # Three leaves and a spine; OpenSM writes no tables of others.
        assert len(rows) == 4, rows
        kinds = {
            "link of the tree": [(switch, port) for switch in rows for port in rows[switch]
                                 if tree.links[switch][port][0] in tree.switches],
            "link beside it": [(switch, port) for switch in rows
                               for port, (far, _) in tree.links[switch].items()
                               if far in tree.switches and port not in rows[switch]],
            "member": [(switch, port) for switch in rows for port in rows[switch]
                       if tree.links[switch][port][0] in HOSTS],
            "no member": [(switch, port) for switch in rows
                          for port, (far, _) in tree.links[switch].items()
                          if far in tree.hosts and far not in HOSTS]}
        for kind, places in kinds.items():
            switch, port = chance.choice(places)
            print(kind, switch, port)
            (tmp_path / "mft").write_text(f"{mlid} {port} {' '.join(paths(tree, switch))}\n")
            sweep_heavily(tree.lab, lambda: tree.audit()[1], what=kind)
            (row,) = wait_until(lambda: tree.audit()[1], 10, kind)
            assert (row["node_name"], row["object"]) == (switch, f"MLID {mlid:#x}"), row
            assert (ports(row["wanted"]), ports(row["found"])) == \
                (rows[switch], rows[switch] ^ {port})
            assert mentions(row["touches"], "group copy wrong"), row
            (tmp_path / "mft").unlink()
            sweep_heavily(tree.lab, lambda: tree.audit()[:2] == (0, []), what="tables mended")


# --- what an earlier SM left ---

def fail_over(tree):
    tree.sm = 1
    os.kill(tree.lab.status()["sms"][0]["pid"], signal.SIGKILL)
    wait_until(lambda: tree.lab.triad("audit", "--json", sm=1).returncode in (0, 1), 60,
               lambda: f"an audit of the other SM: {tree.lab.triad('audit', sm=1)}")


def test_rows_that_an_earlier_sm_left_are_named_after_a_fail_over(net):
    with groups(net, sms=("host-0001", "host-0008"), opensm_conf=SOON) as tree:
        mlid = {tree.join(host, OWN_GROUP) for host in HOSTS}.pop()
        wait_until(tree.is_good, 10, "tables for the group")
        left = tree.rows(mlid)
        assert len(left) == 4, left
        fail_over(tree)
        assert tree.rows(mlid) == left

        def named():
            code, rows, _ = tree.audit()
            assert code == 1
            assert {row["object"] for row in rows} == {f"MLID {mlid:#x}"}
            assert {row["wanted"] for row in rows} == {"-"}
            return rows

        rows = named()
        assert {row["node_name"]: ports(row["found"]) for row in rows} == left
        assert all(mentions(row["touches"], "no group") and "copy" not in row["touches"]
                   for row in rows), rows
        # A tree of one leaf: OpenSM writes that leaf's table alone.
        assert {tree.join(host, OWN_GROUP) for host in ("host-0003", "host-0004")} == {mlid}
        wait_until(lambda: tree.rows(mlid)["leaf-02"] == {1, 2}, 10, "the leaf's table")
        rows = wait_until(lambda: rows if len(rows := named()) == 3 else None, 10,
                          lambda: str(tree.audit()))
        assert {row["node_name"]: ports(row["found"]) for row in rows} == \
            {switch: row for switch, row in left.items() if switch != "leaf-02"}
        assert not any(mentions(row["touches"], "no group") for row in rows), rows
        # All are members again.
        for host in HOSTS:
            tree.join(host, OWN_GROUP)
        wait_until(lambda: tree.audit()[:2] == (0, []), 10, lambda: str(tree.audit()))
        assert tree.rows(mlid) == left


# --- nothing false ---

@pytest.mark.parametrize("engine", ("minhop", "updn", "dfsssp"))
def test_hosts_that_come_and_go_and_lost_links_make_no_difference(net, engine):
    seed = random.randrange(1 << 32)
    print("seed", seed)
    chance = random.Random(seed)
    with groups(net, opensm_conf=f"routing_engine {engine}\n") as tree:
        members = set()

        def change():
            host = chance.choice(tree.hosts)
            group = chance.choice([(), (OWN_GROUP,)])
            if (host, group) in members:
                print("leaves", host, group)
                if group:
                    tree.join(host, *group, "leave")
                    members.remove((host, group))
            else:
                print("joins", host, group)
                tree.join(host, *group)
                members.add((host, group))

        for _ in range(8):
            for _ in range(chance.randrange(1, 5)):
                change()
            wait_until(tree.is_good, 10, lambda: str(tree.audit()))
        # Not the last link of a leaf.
        for leaf, spine_port in (("leaf-02", 3), ("leaf-04", 4)):
            tree.lab.sim(f'Unlink "{leaf}"[{spine_port}]')
            assert not tree.audit()[1]
            sweep_heavily(tree.lab, tree.is_good, what=f"routes without {leaf}")
            change()
            wait_until(tree.is_good, 10, lambda: str(tree.audit()))
        for host in tree.hosts:
            if (host, (OWN_GROUP,)) in members:
                tree.join(host, OWN_GROUP, "leave")
        wait_until(tree.is_good, 10, lambda: str(tree.audit()))


def test_torus_has_a_tree_for_one_member_too(tmp_path):
    net = generate(tmp_path / "torus.net", "torus", "--dims", "5,5")
    torus = tmp_path / "torus.conf"
    torus.write_text(TORUS)
    conf = f"routing_engine torus-2QoS\ntorus_config {torus}\nqos TRUE\n"
    with groups(net, opensm_conf=conf) as tree:
        for host in tree.hosts[::9]:
            mlid = tree.join(host)
            wait_until(tree.is_good, 10, lambda: str(tree.audit()))
            assert tree.leaf(host) in tree.rows(mlid)


def test_trees_that_an_engine_does_not_keep_are_counted(net):
    with groups(net, opensm_conf="routing_engine dfsssp\n") as tree:
        mlid = {tree.join(host) for host in HOSTS}.pop()
        wait_until(tree.is_good, 10, "tables for the group")
        assert [row["count"] for row in tree.audit()[2]["not_looked_at"]
                if mentions(row["what"], "trees engine not keep")] == [1]
