# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Ways around lost links ('repair plan'): what devices have, with the plan's entries, is walked
pair by pair without the link."""

import itertools
import subprocess

import pytest

from checks import lines_mention, mentions, stopped, succeeded, wait_until
from labs import BUILDDIR, SRCDIR
from triadlab import netfile
from triadlib import TriadLab, ask, ask_json, sweep_heavily, wait_for_sweep

SMP_ASK = BUILDDIR / "tests/integration/smp_ask"
JOIN = SRCDIR / "tests" / "integration" / "join_group.py"
LFT, MFT = 0x19, 0x1b
QUICK = "[perfmgr]\nsweep_period = 1\nreset = never\n"


class Tree:
    """The lab's links, LIDs and tables."""

    def __init__(self, lab, net):
        self.lab = lab
        self.links = {name: dict(node.links) for name, node in netfile.read(net).nodes.items()}
        # A host is "host-0001 HCA-1".
        self.nodes = {row["name"].split()[0]: row for row in ask_json(lab, "nodes")}
        self.lids = {name: row["lid"] for name, row in self.nodes.items()}
        self.hosts = sorted(name for name in self.links if name.startswith("host"))
        self.switches = sorted(set(self.links) - set(self.hosts))

    def leaf(self, host):
        return self.links[host][1][0]

    def asker(self, switch):
        """A host whose way to the switch crosses no other link where that is possible."""
        return next((host for host in self.hosts if self.leaf(host) == switch), self.hosts[0])

    def smp(self, switch, *questions):
        """Data of the answers to (attribute, modifier[, data])."""
        lines = "".join(f"{self.lids[switch]} {' '.join(map(str, question))}\n"
                        for question in questions)
        answer = succeeded(self.lab.run(SMP_ASK, input=lines, stdin=None,
                                        node=self.asker(switch)))
        return [bytearray.fromhex(line) for line in answer.stdout.split()]

    def tables(self):
        """Of each switch: the port of each LID, as the device has it."""
        n_blocks = max(self.lids.values()) // 64 + 1
        return {switch: b"".join(self.smp(switch, *((LFT, i) for i in range(n_blocks))))
                for switch in self.switches}

    def write(self, changes):
        """One step's entries, each block once."""
        places = sorted({(row["node_name"], row["lid"] // 64) for row in changes})
        for switch, block in places:
            (octets,) = self.smp(switch, (LFT, block))
            for row in changes:
                if (row["node_name"], row["lid"] // 64) == (switch, block):
                    assert octets[row["lid"] % 64] == row["from_port"], row
                    octets[row["lid"] % 64] = row["to_port"]
            self.smp(switch, (LFT, block, octets.hex()))

    def walk(self, tables, source, destination, gone):
        """The ends of links that packets leave by; None: they don't arrive."""
        at, ways = self.links[source][1][0], [(source, 1)]
        while len(ways) <= len(self.switches) + 1:
            if {ways[-1], self.links[ways[-1][0]][ways[-1][1]]} & gone:
                return None
            if at == destination:
                return ways
            out = tables[at][self.lids[destination]] if at in tables else 0
            if out not in self.links[at]:
                return None
            ways.append((at, out))
            at = self.links[at][out][0]
        raise AssertionError(f"packets circle: {ways}")

    def arriving(self, tables, gone=frozenset()):
        return {(a, b) for a, b in itertools.permutations(self.hosts, 2)
                if self.walk(tables, a, b, gone)}


def ends(plan):
    return {(row["node_name"].split()[0], row["port"]) for row in plan["links"]}


def with_changes(tables, changes):
    changed = {switch: bytearray(octets) for switch, octets in tables.items()}
    for row in changes:
        assert changed[row["node_name"]][row["lid"]] == row["from_port"], row
        changed[row["node_name"]][row["lid"]] = row["to_port"]
    return changed


def steps(plan):
    return [[row for row in plan["changes"] if row["step"] == step]
            for step in range(1, plan["steps"] + 1)]


@pytest.fixture(scope="module", name="tree")
def shared_tree(tmp_path_factory):
    net = tmp_path_factory.mktemp("repair") / "tree.net"
    subprocess.run([SRCDIR / "scripts" / "gen-fabric", "fat-tree", "--levels", "2", "--radix",
                    "8", "-o", net], check=True)
    with TriadLab(net, triad_conf=QUICK, opensm_conf="routing_engine updn\n") as lab:
        wait_for_sweep(lab, 2)
        wait_until(lambda: lab.triad("routes", "--json").returncode == 0, 20, "routes")
        yield Tree(lab, net)


def test_plan_leads_around_each_link_and_each_spine(tree):
    tables = tree.tables()
    everything = tree.arriving(tables)
    assert len(everything) == len(tree.hosts) * (len(tree.hosts) - 1)
    spines = sorted(set(tree.switches) - {tree.leaf(host) for host in tree.hosts})
    uplinks = [f"leaf-02:{port}" for port, (far, _) in sorted(tree.links["leaf-02"].items())
               if far in spines]
    for what in [*spines, *uplinks]:
        plan = ask_json(tree.lab, "repair", "plan", what)
        gone = ends(plan)
        assert len(gone) == (1 if ":" in what else len(tree.links[what])), what
        crossing = everything - tree.arriving(tables, gone)
        assert crossing and len(crossing) == plan["crossing_pairs"], what
        assert (plan["lost_pairs"], plan["proven"], plan["may_be_written"]) == \
            (0, True, True), plan
        changed = tables
        for step in steps(plan):
            changed = with_changes(changed, step)
            assert tree.arriving(changed) == everything, "nor is a way lost meanwhile"
        assert tree.arriving(changed, gone) == everything, what
        assert plan["entries"] == len(plan["changes"]), what
        assert plan["switches"] == len({row["node_name"] for row in plan["changes"]}), what
        assert plan["blocks"] == len({(row["step"], row["node_name"], row["lid"] // 64)
                                      for row in plan["changes"]}), what
        names = {row["lid"]: row["name"] for row in tree.nodes.values()}
        assert all(row["destination_node_name"] == names[row["lid"]]
                   for row in plan["changes"]), what


def test_pairs_without_another_way_are_counted(tree):
    tables = tree.tables()
    host = next(name for name in tree.hosts if tree.leaf(name) == "leaf-03")
    for what in (f"{host}:1", "leaf-03"):
        plan = ask_json(tree.lab, "repair", "plan", what)
        lost = tree.arriving(tables) - tree.arriving(tables, ends(plan))
        assert lost and plan["crossing_pairs"] == plan["lost_pairs"] == len(lost), what
        assert plan["changes"] == [], what


def test_groups_whose_tree_crosses_are_named(tree):
    members = [tree.hosts[0], next(name for name in tree.hosts if tree.leaf(name) == "leaf-03")]
    sm_lid = str(tree.lids[tree.hosts[0]])
    (mlid,) = {int(succeeded(tree.lab.run(
        "/usr/bin/python3", JOIN, hex(int(tree.nodes[name]["guid"], 16) + 1), sm_lid,
        node=name)).stdout) for name in members}

    def crossed():
        """Links of leaf-03 that its table, or the far end's, has for the group."""
        found = set()
        for port, (far, number) in tree.links["leaf-03"].items():
            for switch, at in (("leaf-03", port), (far, number)):
                if switch in tree.switches:
                    (octets,) = tree.smp(switch, (MFT, 0))
                    entry = 2 * (mlid - 0xc000)
                    if int.from_bytes(octets[entry:entry + 2], "big") >> at & 1:
                        found.add(port)
        return found

    def group_of(port):
        plan = ask_json(tree.lab, "repair", "plan", f"leaf-03:{port}")
        return next((row for row in plan["multicast_groups"] if row["mlid"] == mlid), None)

    def said():
        return {port for port in tree.links["leaf-03"] if group_of(port)}

    # The member's and one that leads up; and there are others.
    wait_until(lambda: len(crossed()) == 2, 10, "the tree")
    sweep_heavily(tree.lab, lambda: said() == crossed())
    for port in crossed():
        group, host = group_of(port), tree.links["leaf-03"][port][0] in tree.hosts
        assert group["members"] == len(members), group
        # Out at two ends; in at leaf-03, another spine and perhaps the spine's way to the other.
        assert (group["state"], group["members_cut"], group["entries"] >= 4) == \
            (("cut", 1, False) if host else ("connected", 0, True)), group
        text = ask(tree.lab, "repair", "plan", f"leaf-03:{port}")
        assert mentions(text, f"group {mlid:#x} 1 2 members") == host, text
        assert mentions(text, f"multicast {group['entries']} entries connect") or host, text


def test_what_is_said_fits_the_engine_and_names_one_thing(tree):
    plan = ask_json(tree.lab, "repair", "plan", "leaf-02:5")
    assert (plan["engine"], plan["at_next_sweep"]) == ("updn", "keeps_shortest")
    text = ask(tree.lab, "repair", "plan", "leaf-02:5")
    assert lines_mention(text, "leaf-02:5 spine-", f"{plan['crossing_pairs']} pairs 0",
                         f"{plan['entries']} entries {plan['steps']} step", "proven",
                         "updn keeps", "multicast entries connect"), text
    # People get the entries when they say how many.
    assert "STEP" not in text
    few = ask(tree.lab, "repair", "plan", "leaf-02", "5", "-n", "2")
    assert few.startswith(text), few
    assert lines_mention(few[len(text):].strip(), "STEP SWITCH LID", *(
        f"{row['step']} {row['node_name']} {row['lid']}" for row in plan["changes"][:2])), few
    for what, words in (("leaf-*", "leaf-01"), ("nobody", "nobody"), ("leaf-02:77", "77"),
                        (tree.hosts[0], "neither switch link")):
        answer = tree.lab.triad("repair", "plan", what)
        assert answer.returncode != 0 and mentions(answer.stderr, words), answer.stderr
    answer = tree.lab.triad("repair", "plan", "leaf-02", "--at", "1h")
    assert answer.returncode != 0 and mentions(answer.stderr, "tables"), answer.stderr


def test_nothing_is_planned_of_what_is_not_known(tree):
    ask(tree.lab, "set", "routes.enabled", "false")
    try:
        answer = tree.lab.triad("repair", "plan", "leaf-02:5", "--json")
        assert answer.returncode != 0 and not answer.stdout, answer.stdout
        assert mentions(answer.stderr, "routes.enabled"), answer.stderr
    finally:
        ask(tree.lab, "set", "routes.enabled", "true")
    wait_until(lambda: tree.lab.triad("repair", "plan", "leaf-02:5").returncode == 0, 20,
               "a plan")


def test_devices_with_the_plan_pass_all_packets_when_the_link_goes(tree):
    """OpenSM stands still meanwhile, so that no table is its doing.  The last case: the link
    stays away."""
    everything = tree.arriving(tree.tables())
    plan = ask_json(tree.lab, "repair", "plan", "leaf-02:5")
    gone = ends(plan)
    with stopped(tree.lab.status()["sms"][0]["pid"]):
        tree.lab.sim('Unlink "leaf-02"[5]')
        assert len(everything - tree.arriving(tree.tables(), gone)) == plan["crossing_pairs"]
        for step in steps(plan):
            tree.write(step)
        assert tree.arriving(tree.tables(), gone) == everything
