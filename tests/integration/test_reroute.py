# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Lost links are routed around before OpenSM sweeps ([repair] mode = act): what was written is
replayed write by write, and what devices have is walked pair by pair."""

import contextlib
import itertools
import re
import time

import pytest

from checks import lines_mention, mentions, succeeded, wait_until
from electionlib import now_s, others
from portlib import RECORD, managed
from tablelib import n_sweeps
from test_repair import LFT, Tree
from test_routes import generate
from triadlab import hosts, netfile, state
from triadlib import TriadLab, ask, ask_json, health_findings, status, wait_for_sweep

pytestmark = pytest.mark.row("N22")

TREE = ("fat-tree", "--levels", "2", "--radix", "8")
# Of two blocks of LIDs.
WIDE = ("fat-tree", "--levels", "2", "--radix", "12")
CONF = "[perfmgr]\nsweep_period = 1\n[repair]\nmode = {}\n"
SET = 2
# OpenSM's discovery takes some tenths of a second: on fabrics as small as these it would be as
# fast as what is to come before it.
SLOWLY = "delay us 8000 attribute 0x11 direction out\n"


@pytest.fixture(scope="module", name="net")
def shared_net(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("reroute") / "tree.net", *TREE)


@pytest.fixture(name="record")
def record_of_mads(tmp_path, monkeypatch):
    monkeypatch.setenv("TRIAD_RECORD", str(tmp_path / "record"))
    return tmp_path / "record"


def is_ready(lab, **of):
    """Routes are those of the newest sweep."""
    return mentions(status(lab, **of)["repair"]["state"], "lost")


@contextlib.contextmanager
def repairing(net, mode="act", engine="updn", **options):
    with TriadLab(net, triad_conf=CONF.format(mode),
                  opensm_conf=f"routing_engine {engine}\n", **options) as lab:
        wait_for_sweep(lab)
        wait_until(lambda: mentions(status(lab)["repair"]["state"], "lost"), 20,
                   lambda: str(status(lab)["repair"]))
        lab.harm_mads(SLOWLY)
        yield lab


def losses(lab, **of):
    return ask_json(lab, "repair", "history", **of)


def wait_for_losses(lab, n, **of):
    return wait_until(lambda: losses(lab, **of) if len(losses(lab, **of)) >= n else None, 10,
                      lambda: f"{n} losses: {losses(lab, **of)} {lab.log()[-3000:]}")


def pairs(tree):
    return len(tree.hosts) * (len(tree.hosts) - 1)


def sets_of(record, tree):
    """Forwarding tables' Sets in their order: (switch, block, data)."""
    found = []
    for line in record.read_text().splitlines():
        words = line.split()
        if (int(words[1], 16), int(words[2], 16)) != (SET, LFT):
            continue
        at = tree.hosts[0]
        for port in words[8].rstrip(",").split(","):
            at = tree.links[at][int(port)][0]
        found.append((at, int(words[6], 16), bytes.fromhex(words[9])))
    return found


@pytest.mark.parametrize("engine", ("minhop", "updn", "ftree"))
def test_lost_links_are_routed_around_and_nothing_circles_at_any_time(net, engine, record):
    with repairing(net, engine=engine, preload=[RECORD]) as lab:
        tree = Tree(lab, net)
        gone = set()
        for n, end in enumerate((("leaf-02", 5), ("leaf-05", 6)), 1):
            tables = {name: bytearray(octets) for name, octets in tree.tables().items()}
            n_before = len(sets_of(record, tree))
            swept = n_sweeps(lab)
            far = tree.links[end[0]][end[1]]
            lab.sim(f'Unlink "{end[0]}"[{end[1]}]')
            gone |= {end, far}
            loss = wait_for_losses(lab, n)[0]
            assert loss["outcome"] == "done", loss
            assert loss["written_blocks"] == loss["blocks"] > 0 and loss["lost_pairs"] == 0, loss
            assert {(loss["node_name"], loss["port"]), (loss["far_name"], loss["far_port"])} \
                == {end, far}
            wait_until(lambda: n_sweeps(lab) > swept, 10, "a sweep")
            # Ours come before OpenSM's.
            for switch, block, octets in sets_of(record, tree)[n_before:][:loss["blocks"]]:
                tables[switch][64 * block:64 * block + 64] = octets
                arriving = tree.arriving(tables, gone)
            assert len(arriving) == pairs(tree)
            assert len(tree.arriving(tree.tables(), gone)) == pairs(tree)
            wait_until(lambda: is_ready(lab) and lab.triad("routes", "check").returncode == 0,
                       20, lambda: ask(lab, "routes", "check"))
        assert lab.triad("audit").returncode == 0, lab.triad("audit").stdout


def test_switch_that_is_lost_is_one_loss(net):
    with repairing(net) as lab:
        tree = Tree(lab, net)
        lab.sim('Unlink "spine-02"')
        loss = wait_for_losses(lab, 1)[0]
        assert (loss["outcome"], loss["links"]) == ("done", len(tree.links["spine-02"])), loss
        gone = {("spine-02", port) for port in tree.links["spine-02"]}
        n_switches = len(tree.switches)
        tree.switches.remove("spine-02")
        assert len(tree.arriving(tree.tables(), gone)) == pairs(tree)
        # The traps of its other neighbours say nothing new.
        wait_until(lambda: status(lab)["topology"]["switches"] < n_switches, 20,
                   "OpenSM's sweep")
        assert len(losses(lab)) == 1


def test_switch_that_refuses_a_table_has_answered(net, tmp_path, monkeypatch):
    refuses = tmp_path / "refuses"
    monkeypatch.setenv("TRIAD_RECORD_LFT", str(refuses))
    with repairing(net, preload=[RECORD]) as lab:
        tree = Tree(lab, net)
        refuses.touch()
        swept = n_sweeps(lab)
        lab.sim('Unlink "leaf-02"[5]')
        loss = wait_for_losses(lab, 1)[0]
        refuses.unlink()
        assert loss["outcome"] == "failed" and loss["written_blocks"] < loss["blocks"], loss
        assert mentions(loss["why"], "refused"), loss
        gone = {("leaf-02", 5), tree.links["leaf-02"][5]}
        # In the middle of it packets may circle.
        wait_until(lambda: n_sweeps(lab) > swept, 20, "OpenSM's sweep")
        wait_until(lambda: lab.triad("audit").returncode == 0, 20, "OpenSM's copies")
        assert len(tree.arriving(tree.tables(), gone)) == pairs(tree)


def test_last_link_of_a_leaf_leaves_nothing_to_do_and_that_is_said(net):
    with repairing(net) as lab:
        links = status(lab)["topology"]["links"]
        lab.sim(*(f'Unlink "leaf-02"[{port}]' for port in (5, 6, 7)))
        wait_until(lambda: status(lab)["topology"]["links"] == links - 3 and is_ready(lab) and
                   ask_json(lab, "repair", "plan", "leaf-02:8")["lost_pairs"], 20, "routes")
        n = len(losses(lab))
        lab.sim('Unlink "leaf-02"[8]')
        loss = wait_for_losses(lab, n + 1)[0]
        assert (loss["outcome"], loss["written_blocks"]) == ("nothing to do", 0), loss
        assert loss["lost_pairs"] == loss["crossing_pairs"] > 0, loss
        assert mentions(loss["why"], "no link is left"), loss
        # It has left the fabric.
        wait_until(lambda: "leaf-02" not in ask(lab, "nodes"), 20, "OpenSM's sweep")
        loss = losses(lab)[0]
        assert {loss["node_name"], loss["far_name"]} == {"leaf-02", "spine-04"}, loss
        assert lines_mention(ask(lab, "repair", "history", "-n", "1"), "OUTCOME SWITCH",
                             "nothing to do leaf-02", "no link is left"), \
            ask(lab, "repair", "history")


def test_pairs_without_another_way_are_said_where_others_have_one(tmp_path):
    """A host is on the switch that is lost."""
    net = generate(tmp_path / "tree.net", *TREE, "--hosts", "12")
    fabric = netfile.read(net)
    host = fabric.add(netfile.Node(netfile.HCA, "host-0013", 1, "host-0013", 0x1000))
    fabric.link(host, 1, fabric.nodes["spine-02"], 8)
    with open(net, "w", encoding="utf-8") as stream:
        netfile.write(fabric, stream, "a host on a spine")
    with repairing(net) as lab:
        lab.sim('Unlink "spine-02"')
        loss = wait_for_losses(lab, 1)[0]
        assert (loss["outcome"], loss["lost_pairs"]) == ("done", 24), loss
        assert lines_mention(ask(lab, "repair", "history"), "OUTCOME", "done in part",
                             f"24 of {loss['crossing_pairs']} pairs"), ask(lab, "repair", "history")
        wait_until(lambda: mentions(ask(lab, "history"), "routed around done in part"), 5,
                   lambda: ask(lab, "history"))


def test_with_plan_it_is_said_and_nothing_is_written(net, record):
    with repairing(net, "plan", preload=[RECORD]) as lab:
        plan = ask_json(lab, "repair", "plan", "leaf-02:5")
        lab.sim('Unlink "leaf-02"[5]')
        loss = wait_for_losses(lab, 1)[0]
        assert loss["outcome"] == "would be done" and loss["written_blocks"] == 0, loss
        assert [loss[name] for name in ("entries", "blocks", "switches", "steps",
                                        "crossing_pairs")] == \
            [plan[name] for name in ("entries", "blocks", "switches", "steps",
                                     "crossing_pairs")]
        assert status(lab)["repair"]["blocks"] == 0


def test_tables_from_a_file_are_left(net, tmp_path):
    tables = tmp_path / "lft"
    with TriadLab(net, opensm_conf="routing_engine updn\n") as lab:
        wait_for_sweep(lab)
        tables.write_text(succeeded(lab.run("dump_fts")).stdout)
    with repairing(net, engine=f"file\nlfts_file {tables}") as lab:
        lab.sim('Unlink "leaf-02"[5]')
        loss = wait_for_losses(lab, 1)[0]
        assert loss["outcome"] == "left to OpenSM" and mentions(loss["why"], "file"), loss


def test_without_checked_routes_it_is_said_that_nothing_is_routed_around(net):
    with repairing(net) as lab:
        ask(lab, "set", "routes.enabled", "false")
        assert health_findings(lab, "repair.mode")
        lab.sim('Unlink "leaf-02"[5]')
        wait_until(lambda: lab.log().count("SUBNET UP") >= 2, 10, "OpenSM's sweep")
        assert not losses(lab)
        ask(lab, "set", "routes.enabled", "true")
        wait_until(lambda: is_ready(lab), 20, "routes")
        assert not health_findings(lab, "repair.mode")


def test_host_that_goes_and_link_that_returns_are_no_losses(net):
    with repairing(net) as lab:
        lab.sim('Unlink "leaf-02"[1]')
        wait_until(lambda: lab.log().count("SUBNET UP") >= 2, 10, "OpenSM's sweep")
        lab.sim('Unlink "leaf-02"[5]')
        wait_for_losses(lab, 1)
        n = lab.log().count("SUBNET UP")
        lab.sim('ReLink "leaf-02"[5]', 'ReLink "leaf-02"[1]')
        wait_until(lambda: lab.log().count("SUBNET UP") > n, 10, "OpenSM's sweep")
        wait_until(lambda: ask_json(lab, "routes")["pairs"] and
                   lab.triad("routes", "check").returncode == 0, 20, "routes")
        assert len(losses(lab)) == 1
        # It is lost again, later.
        wait_until(lambda: status(lab)["topology"]["links"] == len(
            [1 for node in Tree(lab, net).links.values() for _ in node]) // 2, 10, "all links")
        wait_for_sweep(lab, 2)
        lab.sim('Unlink "leaf-02"[5]')
        assert wait_for_losses(lab, 2)[0]["outcome"] == "done"


def test_lost_link_of_the_sms_own_switch_is_routed_around(net):
    """It alone says so: the other end's trap is lost, too."""
    with repairing(net, sms=["leaf-02"]) as lab:
        lid = next(row["lid"] for row in ask_json(lab, "nodes") if row["name"] == "spine-01")
        lab.harm_mads(f"{SLOWLY}lose attribute 0x2 lid {lid} direction in\n")
        lab.sim('Unlink "leaf-02"[5]')
        loss = wait_for_losses(lab, 1)[0]
        assert loss["outcome"] == "done" and "leaf-02" in (loss["node_name"], loss["far_name"])


def test_far_end_of_a_lost_link_of_the_sms_own_switch_says_so_alone(tmp_path):
    """Nothing is reached around that switch, so its other neighbours can't be asked; it is not
    lost for that."""
    net = generate(tmp_path / "pairs.net", *TREE, "--hosts", "16")
    with repairing(net) as lab:
        tree = Tree(lab, net)
        own, tables = tree.leaf("host-0001"), tree.tables()
        # Each spine has two links to it, and its way to the SM is one of them.
        port = next(port for port, (far, _) in tree.links[own].items() if far == "spine-01" and
                    tree.links[own][port][1] != tables["spine-01"][tree.lids["host-0001"]])
        lab.harm_mads(f"{SLOWLY}lose attribute 0x2 lid {tree.lids[own]} direction in\n")
        lab.sim(f'Unlink "{own}"[{port}]')
        loss = wait_for_losses(lab, 1)[0]
        assert (loss["outcome"], loss["links"], loss["lost_pairs"]) == ("done", 1, 0), loss


def test_link_that_flaps_is_left_and_takes_no_turn_of_others(net):
    """Of eight in a minute.  OpenSM drops the tenth trap like one another in 5 s."""
    with repairing(net) as lab:
        n_links = status(lab)["topology"]["links"]

        def wait_for_links(n):
            wait_until(lambda: status(lab)["topology"]["links"] == n, 20, f"{n} links")

        def lose(end, n):
            """The tables that are planned from have the link."""
            wait_until(lambda: is_ready(lab) and ask_json(
                lab, "repair", "plan", f"{end[0]}:{end[1]}")["crossing_pairs"], 20, "routes")
            lab.sim(f'Unlink "{end[0]}"[{end[1]}]')
            return wait_for_losses(lab, n)[0]

        for n in range(1, 5):
            loss = lose(("leaf-02", 5), n)
            assert loss["outcome"] == ("done" if n < 3 else "left to OpenSM"), loss
            assert n < 3 or mentions(loss["why"], "damp"), loss
            wait_for_links(n_links - 1)
            lab.sim('ReLink "leaf-02"[5]')
            wait_for_links(n_links)
        for n in range(1, 6):
            loss = lose((f"leaf-0{n + 2}", 5 + n % 4), 4 + n)
            assert loss["outcome"] == "done", loss
            wait_for_links(n_links - n)


def test_settling_has_opensm_route_without_what_was_written(net):
    with repairing(net, engine="minhop") as lab:
        tree = Tree(lab, net)
        lab.sim('Unlink "leaf-02"[5]')
        assert wait_for_losses(lab, 1)[0]["outcome"] == "done"
        wait_for_sweep(lab, 2)
        wait_until(lambda: is_ready(lab), 20, "routes")
        kept = tree.tables()
        ask(lab, "repair", "settle")
        wait_until(lambda: tree.tables() != kept, 10, "other tables")
        wait_until(lambda: is_ready(lab) and lab.triad("routes", "check").returncode ==
                   lab.triad("audit").returncode == 0, 20, "routes, and all tables")
        assert len(tree.arriving(tree.tables(), {("leaf-02", 5), tree.links["leaf-02"][5]})) == \
            pairs(tree)


def test_paths_by_what_was_written_are_not_answered_as_they_were(tmp_path):
    """Before OpenSM's sweep, whose discovery is slow, says what has changed."""
    net = generate(tmp_path / "wide.net", *WIDE)
    with TriadLab(net, triad_conf=CONF.format("act") + "[qos]\nenabled = true\n",
                  opensm_conf="routing_engine updn\n") as lab:
        wait_until(lambda: is_ready(lab), 20, lambda: str(status(lab)["repair"]))
        tree = Tree(lab, net)
        changes = ask_json(lab, "repair", "plan", "leaf-02:7")["changes"]
        # Of each leaf, and block of its table, two hosts between which there is no other switch.
        pairs_by = {(tree.leaf(a), tree.lids[a] // 64): (tree.lids[a], tree.lids[b])
                    for a, b in itertools.permutations(tree.hosts, 2)
                    if tree.leaf(a) == tree.leaf(b) and tree.lids[a] // 64 == tree.lids[b] // 64}
        changed = {(row["node_name"], row["lid"] // 64) for row in changes} & set(pairs_by)
        assert changed and changed != set(pairs_by)

        others = itertools.islice(set(pairs_by) - changed, 2)
        tried = [*changed, *others]

        def asked_of_opensm():
            """Of these places, those by which OpenSM itself was asked."""
            found, n = set(), status(lab)["qos"]["passed_changed"]
            for place in tried:
                source, destination = pairs_by[place]
                succeeded(lab.run("saquery", "PR", "--src-to-dst", f"{source}:{destination}",
                                  node="host-0002"))
                before, n = n, status(lab)["qos"]["passed_changed"]
                if n > before:
                    found.add(place)
            return found

        assert not asked_of_opensm()
        lab.harm_mads("delay ms 450 attribute 0x11 direction out\n"
                      "delay ms 450 attribute 0x12 direction out\n")
        swept = n_sweeps(lab)
        lab.sim('Unlink "leaf-02"[7]')
        assert wait_for_losses(lab, 1)[0]["outcome"] == "done"
        assert asked_of_opensm() == changed
        assert n_sweeps(lab) == swept, "OpenSM's sweep came first"


def n_link_records(lab):
    """What OpenSM has, also between its sweeps."""
    return succeeded(lab.run("saquery", "LR", node="host-0002")).stdout.count("LinkRecord dump")


def test_link_that_opensm_brought_up_again_meanwhile_stays_linked(net):
    """A link is down for a moment.  OpenSM's discovery, which is slow, finds it in INIT, brings it
    up, and changes no table, before the last answer to what leads around it has come."""
    with repairing(net) as lab:
        present = n_link_records(lab)
        # An answer that is lost has its Set sent once more, 100 ms later.
        lab.harm_mads("lose probability 0.2 attribute 0x19 direction in\n"
                      "delay ms 60 attribute 0x19 direction in\n"
                      "delay us 8000 attribute 0x11 direction out\n")
        for _ in range(6):
            wait_until(lambda: is_ready(lab), 20, "routes")
            swept = status(lab)["topology"]["sm_sweeps"]
            n_losses = len(losses(lab))
            lab.sim('Unlink "leaf-02"[5]')
            time.sleep(0.001)
            lab.sim('ReLink "leaf-02"[5]')
            wait_until(lambda: status(lab)["topology"]["sm_sweeps"] > swept, 10, "a sweep")
            # Longer than all of its Sets take with their second tries.
            time.sleep(1.5)
            wait_until(lambda: n_link_records(lab) == present, 12,
                       lambda: f"{n_link_records(lab)} of {present} links in OpenSM: "
                               f"{losses(lab)[:len(losses(lab)) - n_losses]}")


def test_only_who_has_permission_writes():
    with managed("corosync", more="[repair]\nmode = act\n", fabric=TREE,
                 opensm_conf="") as ports:
        lab = ports.lab
        wait_until(lambda: mentions(status(lab, sm=ports.master)["repair"]["state"], "lost"), 20,
                   "routes of the master")
        lab.harm_mads(SLOWLY)
        lab.sim('Unlink "leaf-02"[5]')
        assert wait_for_losses(lab, 1, sm=ports.master)[0]["outcome"] == "done"
        for sm in others(ports.master):
            assert not losses(lab, sm=sm)
            assert mentions(status(lab, sm=sm)["repair"]["state"], "not the master")
        for sm in others(ports.master):
            hosts.kill(state.load_required(lab.folder), sm, "opensm")

        def why():
            said = status(lab, sm=ports.master)["repair"]["state"]
            return said if mentions(said, "permission") else None

        # It names a command.
        ask(lab, *re.search("'(.+)'", wait_until(why, 10, "no permission"))[1].split(),
            sm=ports.master)


def test_nothing_is_written_from_the_end_of_permission_on():
    """Also not in the middle of a step: answers are slow, and the lease of an SM that is alone runs
    out."""
    with managed("peers", more="[repair]\nmode = act\n", fabric=WIDE, opensm_conf="",
                 sms=("host-0001", "host-0025", "host-0049")) as ports:
        lab, sm = ports.lab, ports.master
        wait_until(lambda: is_ready(lab, sm=sm), 20, "routes of the master")
        lab.harm_mads("delay ms 40 attribute 0x11 direction out\n"
                      f"delay ms 80 attribute {LFT:#x} direction in\n")
        lab.host("partition", [[sm], others(sm)])
        wait_until(lambda: 0 < ports.cluster.held(sm)[-1].end - now_s() < 0.15, 10,
                   "the end of permission is near")
        end = ports.cluster.held(sm)[-1].end
        lab.sim('Unlink "spine-02"')
        loss = wait_for_losses(lab, 1, sm=sm)[0]
        lines = map(str.split, (ports.folder / "record").read_text().splitlines())
        times = [int(words[10]) / 1e6 for words in lines
                 if (int(words[1], 16), int(words[2], 16)) == (SET, LFT) and
                 words[12] == "triad-repair"]
        assert times and max(times) < end, (times, end)
        assert loss["outcome"] == "failed" and mentions(loss["why"], "permission"), loss
