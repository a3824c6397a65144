# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""scripts/gen-fabric: numbers and structure of what it writes, and that real
programs take it."""

import collections
import json
import subprocess
import sys

import pytest

from checks import failed, succeeded
from labs import SRCDIR, Lab
from triadlab import netfile
from triadlab.topology import FatTree

pytestmark = pytest.mark.scripts

GEN_FABRIC = SRCDIR / "scripts" / "gen-fabric"

# Hosts, switches, links of full and of smallest trees.
TREE_SIZES = {
    1: (2, 19), 2: (2, 20), 18: (2, 36), 19: (3, 55), 36: (3, 72), 37: (5, 91),
    648: (54, 1296), 649: (127, 2287), 11664: (1620, 34992), 48000: (1097, 144470),
}


def generate(*arguments):
    return subprocess.run([sys.executable, GEN_FABRIC, *map(str, arguments)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)


def generate_fabric(*arguments):
    """The fabric, parsed and checked."""
    written = generate(*arguments)
    succeeded(written)
    fabric = netfile.parse(written.stdout.splitlines(keepends=True))
    check_sound(fabric)
    return fabric


def check_sound(fabric):
    """What holds for every fabric, whatever its kind."""
    for node in fabric.nodes.values():
        for port, (peer, peer_port) in node.links.items():
            back = fabric.nodes[peer].links.get(peer_port)
            assert back == (node.node_id, port), f"link of {peer}[{peer_port}]"
            assert 1 <= port <= node.n_ports <= 254, f"{node.node_id}[{port}]"
        if node.kind == netfile.HCA:
            assert sorted(node.links) == [1], f"linked ports of {node.node_id}"
    check_unique(fabric)
    assert len(reachable(fabric)) == len(fabric.nodes), "nodes that are connected"


def check_unique(fabric):
    descriptions = {node.description for node in fabric.nodes.values()}
    assert len(descriptions) == len(fabric.nodes), "number of descriptions"
    # A host's ports have the GUIDs that follow the node's.
    guids = [node.guid + i for node in fabric.nodes.values()
             for i in range(1 if node.kind == netfile.SWITCH else node.n_ports + 1)]
    assert len(set(guids)) == len(guids), "number of GUIDs"


def reachable(fabric):
    """The ids of nodes that links connect to the first one."""
    first = next(iter(fabric.nodes))
    seen, queue = {first}, collections.deque([first])
    while queue:
        for peer, _ in fabric.nodes[queue.popleft()].links.values():
            if peer not in seen:
                seen.add(peer)
                queue.append(peer)
    return seen


def links_between(fabric, kinds):
    """How many links there are between names with these two beginnings."""
    ends = collections.Counter(
        tuple(sorted((node.node_id.split("-")[0], peer.split("-")[0])))
        for node in fabric.nodes.values() for peer, _ in node.links.values())
    return ends[tuple(sorted(kinds))] // 2


# --- fat trees ---------------------------------------------------------------

def test_fat_tree_of_each_size_is_sound():
    for hosts, (switches, links) in TREE_SIZES.items():
        fabric = generate_fabric("fat-tree", "--hosts", hosts)
        assert fabric.counts() == \
            {"hosts": hosts, "switches": switches, "ports": 2 * links, "links": links}, \
            f"a tree of {hosts} hosts"


def test_fat_tree_of_any_size_has_lids():
    for hosts in (*range(1, 2000), *range(2000, 48_001, 50)):
        tree = FatTree.plan(hosts=hosts)
        lids = tree.hosts + tree.switches
        assert tree.hosts == hosts and lids <= 49_151, f"{tree}: {lids} LIDs"


def test_fat_tree_full_has_full_bisection():
    fabric = generate_fabric("fat-tree", "--levels", 3, "--radix", 12)
    assert fabric.counts()["hosts"] == 12 ** 3 // 4, "hosts"
    for kinds in (("host", "leaf"), ("leaf", "spine"), ("core", "spine")):
        assert links_between(fabric, kinds) == 12 ** 3 // 4, f"links {kinds}"
    for node in fabric.of_kind(netfile.SWITCH):
        assert len(node.links) == 12, f"links of {node.node_id}"


def test_fat_tree_not_full_gives_each_leaf_as_many_ports_up_as_down():
    for arguments in (["--hosts", 100], ["--hosts", 2000],
                      ["--levels", 3, "--radix", 8, "--hosts", 5]):
        fabric = generate_fabric("fat-tree", *arguments)
        leaves = [node for node in fabric.of_kind(netfile.SWITCH)
                  if node.node_id.startswith("leaf")]
        for leaf in leaves:
            cables = collections.Counter(
                peer for peer, _ in leaf.links.values() if not peer.startswith("host"))
            assert sum(cables.values()) == leaf.n_ports // 2, f"{leaf.node_id} up"
            assert len(set(cables.values())) == 1, f"cable counts of {leaf.node_id}"


def test_fat_tree_twice_is_the_same():
    first = generate("fat-tree", "--hosts", 700)
    assert generate("fat-tree", "--hosts", 700).stdout == first.stdout, "second"
    assert first.stdout.splitlines()[0] == \
        ("# gen-fabric fat-tree --levels 3 --radix 36 --hosts 700: "
            "700 hosts, 129 switches, 2374 links"), "first line"


# --- other kinds -------------------------------------------------------------

def test_torus_of_three_dimensions_has_rings():
    fabric = generate_fabric("torus", "--dims", "3,4,5", "--hosts-per-switch", 2)
    assert fabric.counts() == \
        {"hosts": 120, "switches": 60, "ports": 600, "links": 300}, "counts"
    for node in fabric.of_kind(netfile.SWITCH):
        assert len(node.links) == node.n_ports, f"links of {node.node_id}"
    neighbours = {peer for peer, _ in fabric.nodes["switch-0-0-0"].links.values()
                  if peer.startswith("switch")}
    assert neighbours == \
        {"switch-1-0-0", "switch-2-0-0", "switch-0-1-0",
                         "switch-0-3-0", "switch-0-0-1", "switch-0-0-4"}, "neighbours"


def test_torus_of_two_switches_has_one_link_between_them():
    fabric = generate_fabric("torus", "--dims", "2,5")
    assert links_between(fabric, ("switch", "switch")) == 5 + 10, "links"


def test_dragonfly_is_fully_connected():
    fabric = generate_fabric("dragonfly", "--groups", 7, "--routers", 4,
                             "--hosts-per-router", 3, "--global-links", 4)
    assert fabric.counts()["hosts"] == 7 * 4 * 3, "hosts"
    pairs = collections.Counter()
    for router in fabric.of_kind(netfile.SWITCH):
        group = router.node_id.split("-")[1]
        local = [peer for peer, _ in router.links.values()
                 if peer.startswith(f"router-{group}-")]
        assert len(set(local)) == 3, f"routers of the group {router.node_id} reaches"
        for peer, _ in router.links.values():
            if peer.startswith("router") and peer not in local:
                pairs[frozenset((group, peer.split("-")[1]))] += 1
    assert len(pairs) == 7 * 6 // 2, "pairs of groups"
    # 16 global ports for 6 other groups: 2 links each, counted from both ends.
    assert set(pairs.values()) == {4}, "ends of links in a pair"


def test_dragonfly_of_one_group_has_no_global_links():
    fabric = generate_fabric("dragonfly", "--groups", 1, "--routers", 5)
    assert links_between(fabric, ("router", "router")) == 5 * 4 // 2, "links"


# --- the command line --------------------------------------------------------

def test_count_tells_what_would_be_written():
    for arguments in (["fat-tree", "--hosts", 100], ["torus", "--dims", "2,3"],
                      ["dragonfly", "--groups", 3, "--routers", 2]):
        counted = generate(*arguments, "--count")
        assert json.loads(counted.stdout) == generate_fabric(*arguments).counts(), \
            "--count"


def test_arguments_that_cannot_be_are_refused():
    for arguments, part in (
            ([], "required"),
            (["fat-tree", "--hosts", 0], "1 to 48000 hosts"),
            (["fat-tree", "--hosts", 48001], "1 to 48000 hosts"),
            (["fat-tree", "--radix", 37], "even radix from 4 to 254"),
            (["fat-tree", "--radix", 36, "--levels", 2, "--hosts", 649],
             "hold at most 648 hosts"),
            (["fat-tree", "--radix", 64, "--levels", 3], "LIDs"),
            (["fat-tree", "--levels", 4], "--levels"),
            (["torus", "--dims", "4"], "2 or 3 dimensions"),
            (["torus", "--dims", "4,x"], "list of numbers"),
            (["torus", "--dims", "120,20"], "hops"),
            (["torus", "--dims", "4,4", "--hosts-per-switch", 252], "1 to 250 hosts"),
            (["dragonfly", "--groups", 10, "--routers", 4, "--global-links", 2],
             "at least --global-links 3"),
            (["dragonfly", "--groups", 2, "--routers", 254], "254")):
        failed(generate(*arguments), 2, part)


def test_output_file_that_cannot_be_written_fails():
    failed(generate("fat-tree", "-o", "/nonexistent/file"), 1, "/nonexistent/file")


# --- real programs -----------------------------------------------------------

@pytest.mark.parametrize("arguments", [
    ("fat-tree", "--hosts", "648"), ("torus", "--dims", "4,4,2"),
    ("dragonfly", "--groups", "5", "--routers", "4")], ids=lambda arguments: arguments[0])
def test_fabric_in_ibsim_comes_up(tmp_path, arguments):
    """ibsim reads it, opensm brings it up, ibnetdiscover finds all of it."""
    net = tmp_path / "fabric.net"
    succeeded(generate(*arguments, "-o", net))
    expected = netfile.read(net)
    with Lab(net, plugin="no") as lab:
        discovered = lab.run("ibnetdiscover")
        succeeded(discovered)
        found = netfile.parse(discovered.stdout.splitlines(keepends=True))
        assert found.counts() == expected.counts(), "what ibnetdiscover found"
        assert {(node.description, node.guid) for node in found.nodes.values()} == \
            {(node.description, node.guid) for node in expected.nodes.values()}, \
            "descriptions and GUIDs"
        complaints = (lab.folder / "sim.err").read_text(encoding="utf-8").splitlines()
        # A client that goes does not wait until ibsim has heard of it.
        assert [line for line in complaints if "cannot response ctl" not in line] == [], \
            "what ibsim complained about"
