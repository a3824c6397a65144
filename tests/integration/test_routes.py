# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Routes of real routing engines: credit loops where there are some and none where the
engine promises none, dead ports, counts as a walk of all pairs has them."""

import json
import re
import subprocess
import urllib.request

import pytest

from checks import mentions, succeeded, wait_until
from labs import SRCDIR
from triadlab import netfile
from triadlab.tcp_ports import free_address
from triadlib import TriadLab, ask, ask_json, log_has, status, sweep_heavily, wait_for_sweep

QUICK = "[perfmgr]\nsweep_period = 1\nreset = never\n"
JOIN = SRCDIR / "tests" / "integration" / "join_group.py"
N, HOSTS = 5, 2  # switches of the ring, hosts at each
UP, DOWN = 7, 8  # ports to the next switch of the ring and to the one before

TORUS = """\
torus 5 5 1
xp_link 0x0200000200000010 0x0200000200000060
yp_link 0x0200000200000010 0x0200000200000020
"""
# The engines' SLs are of use only with tables.
FREE = {"lash": "", "dfsssp": "", "nue": "", "torus-2QoS": "torus_config {torus}\n"}


def write_ring(path):
    ring = netfile.Fabric()
    switches = [ring.add(netfile.Node(netfile.SWITCH, f"ring-{i + 1}", 8, f"ring-{i + 1}",
                                      0x02000002_00000010 + 0x10 * i))
                for i in range(N)]
    for i, switch in enumerate(switches):
        ring.link(switch, UP, switches[(i + 1) % N], DOWN)
        for port in range(1, HOSTS + 1):
            n = i * HOSTS + port
            name = f"host-{n:02d}"
            host = ring.add(netfile.Node(netfile.HCA, name, 1, name,
                                         0x02000001_00000000 + 0x10 * n))
            ring.link(host, 1, switch, port)
    with open(path, "w", encoding="utf-8") as stream:
        netfile.write(ring, stream, "a ring")
    return path


def generate(path, *words):
    subprocess.run([SRCDIR / "scripts" / "gen-fabric", *words, "-o", path], check=True)
    return path


def check(lab, exit_status):
    """The answer of 'routes check --json', once there is one."""
    answer = []

    def has_one():
        answer[:] = [lab.triad("routes", "check", "--json")]
        return answer[0].returncode != 3

    wait_until(has_one, 20, "a check of routes")
    assert answer[0].returncode == exit_status, (answer[0].stdout, answer[0].stderr)
    return json.loads(answer[0].stdout)


def findings(answer):
    return {name: answer[name]
            for name in ("credit_loops", "unreachable_pairs", "forwarding_loops",
                         "dead_port_entries", "unreachable_switches", "down_up_turns")
            if answer[name]}


# --- the ring, by minhop --------------------------------------------------------

@pytest.fixture(scope="module")
def ring(tmp_path_factory):
    net = write_ring(tmp_path_factory.mktemp("ring") / "ring.net")
    group = "[group some]\nnodes = host-01; host-03; host-05\n"
    with TriadLab(net, triad_conf=f"{QUICK}{group}[prometheus]\nlisten = {free_address()}\n",
                  opensm_conf="routing_engine minhop\n") as lab:
        wait_for_sweep(lab, 2)
        yield lab


@pytest.mark.row("N7")
def test_ring_by_minhop_has_a_credit_loop_each_way(ring):
    answer = check(ring, 1)
    assert findings(answer) == {"credit_loops": 2}
    ways = set()
    for loop in answer["evidence"]["credit_loops"]:
        steps = loop["steps"]
        assert loop["channels"] == len(steps) == N, loop
        ways.add(steps[0]["port"])
        for step, after in zip(steps, steps[1:] + steps[:1]):
            assert step["next_node_name"] == after["node_name"], "hop by hop"
            assert (step["port"], step["vl"]) == (steps[0]["port"], 0), "one direction"
            path = ask_json(ring, "routes", "between", step["source_node_name"],
                            step["destination_node_name"])["paths"][0]["hops"]
            names = [hop["node_name"] for hop in path]
            at = names.index(step["node_name"])
            assert names[at + 1] == after["node_name"], "a path that takes both"
    assert ways == {UP, DOWN}, "each way once"
    text = ring.triad("routes", "check").stdout
    assert re.search(r"^ +2  credit loops$", text, re.MULTILINE), text
    assert mentions(text, "Credit loop 2: 5 channels 5"), text
    assert log_has(ring, "credit loops: 2"), "a line in the log"


def test_repair_of_a_ring_is_not_proven(ring):
    check(ring, 1)
    plan = ask_json(ring, "repair", "plan", f"ring-1:{UP}")
    assert plan["entries"] and plan["lost_pairs"] == 0, plan
    assert plan["steps"] > 1, "those behind a switch that sends back learn it later"
    # Packets under way turn round at both ends of what is left of the ring.
    assert not plan["proven"] and not plan["may_be_written"], plan
    assert plan["credit_loops"] == "may_close", plan
    assert mentions(plan["left_to_opensm_because"], "credit loop"), plan
    circle, gone = plan["circle"], {(row["node_name"], row["port"]) for row in plan["links"]}
    for link, after in zip(circle, circle[1:] + circle[:1]):
        assert link["to_node_name"] == after["node_name"], "hop by hop"
        assert (link["node_name"], link["port"]) not in gone, circle
    text = ask(ring, "repair", "plan", f"ring-1:{UP}")
    assert mentions(text, "left OpenSM's sweep credit loop"), text
    assert mentions(text, f"circle {len(circle)} links"), text
    assert circle and all(
        mentions(text, f"{row['node_name']}:{row['port']} {row['to_node_name']}:{row['to_port']}")
        for row in circle), text


def test_credit_loop_is_an_alert_and_a_finding_with_advice(ring):
    check(ring, 1)

    def alerts():
        return [alert for alert in ask_json(ring, "alerts")["alerts"]
                if alert["state"] == "active" and
                alert["findings"][0]["what"] == "routes"]

    wait_until(alerts, 30, "an alert")
    (alert,) = alerts()
    assert "ring-1:7  ring-2:8" in ask(ring, "alerts"), "its place"
    (found,) = alert["findings"]
    assert (found["why"], found["value"], found["port"]) == ("credit_loops", 2, UP), found
    assert mentions(ask(ring, "alerts"), "2 credit loops")
    health = json.loads(ring.triad("health", "--json").stdout)
    (finding,) = [f for f in health["findings"] if "routes:" in f["what"]]
    assert (finding["severity"], finding["alert"]) == ("WARNING", alert["id"]), finding
    assert "lash" in finding["advice"], finding
    (line,) = [p for p in health["parts"] if p["part"] == "routes"]
    assert mentions(line["text"], "90 90 pairs credit loops yes minhop"), line


def test_master_that_reads_no_counters_tells_of_routes(scratch):
    """Also without sweeps, and it is the same alert when it begins to read."""
    net = write_ring(scratch.folder() / "ring.net")
    with TriadLab(net, triad_conf="[perfmgr]\nrole = standby\n[alerts]\nclear_after = 0\n",
                  opensm_conf="routing_engine minhop\n") as lab:
        def of(alert):
            return (alert["id"], alert["state"], alert["findings"][0]["what"])

        def alerts():
            return [of(alert) for alert in ask_json(lab, "alerts", "--all")["alerts"]]

        wait_until(alerts, 30, "an alert")
        assert alerts() == [(1, "active", "routes")]
        assert not status(lab)["perfmgr"]["sweeps"]
        answer = lab.triad("alerts")
        assert mentions(answer.stderr, "only routes"), answer
        assert lab.triad("nodes").returncode == 1, "no counters"
        health = json.loads(lab.triad("health", "--json").stdout)
        assert [f["alert"] for f in health["findings"] if "routes:" in f["what"]] == [1]
        answer = lab.triad("congestion")
        assert (answer.returncode, mentions(answer.stderr, "counters not read")) == \
            (1, True), answer

        ask(lab, "set", "perfmgr.role", "any")
        wait_for_sweep(lab, 1)
        lab.sim('PerformanceSet "ring-2"[1] PortCounters.SymbolErrorCounter=100')
        ask(lab, "perf", "sweep")
        wait_until(lambda: len(alerts()) == 2, 10, "an alert about a counter")
        ask(lab, "set", "perfmgr.role", "standby")
        wait_until(lambda: (2, "cleared", "SymbolErrorCounter") in alerts(), 10, "its end")
        assert (1, "active", "routes") in alerts(), alerts()
        ask(lab, "set", "routes.enabled", "false")
        wait_until(lambda: (1, "cleared", "routes") in alerts(), 10, "the end")


def forwarding_tables(lab):
    """{switch's name: {LID: port}}, as the switches themselves have it."""
    tables = {}
    for row in ask_json(lab, "nodes", "--type", "switch"):
        text = succeeded(lab.run("ibroute", row["lid"])).stdout
        tables[row["name"]] = {int(lid, 16): int(port) for lid, port in
                               re.findall(r"^0x([0-9a-f]+) (\d{3}) :", text, re.MULTILINE)}
    return tables


def walk_all_pairs(lab):
    """{(switch, port): pairs}, by following each packet."""
    tables, counts = forwarding_tables(lab), {}
    far, hosts = {}, []
    for link in ask_json(lab, "links"):
        a, b = link["ends"]
        for one, other in ((a, b), (b, a)):
            far[one["node_name"], one["port"]] = (other["node_name"], other["port"])
            if one["node_type"] == "ca":
                hosts.append((one["node_name"], one["lid"]))
    for source, _ in hosts:
        for goal, lid in hosts:
            node, n = far[source, 1][0], 0
            while source != goal and node != goal:
                port = tables[node][lid]
                counts[node, port] = counts.get((node, port), 0) + 1
                node, n = far[node, port][0], n + 1
                assert n <= len(tables), "a loop"
    return counts


def counted(lab):
    return {(row["node_name"], row["port"]): row["pairs"]
            for row in ask_json(lab, "routes", "-n", "65535")["worst_links"]}


@pytest.mark.row("N7")
def test_counts_are_those_of_a_walk_of_all_pairs(ring):
    check(ring, 1)
    walked = {place: n for place, n in walk_all_pairs(ring).items()
              if place[1] in (UP, DOWN)}
    assert counted(ring) == walked
    over = ask_json(ring, "routes", "over", f"ring-1:{UP}", "-n", "1000")
    assert over["n_pairs"] == len(over["pairs"]) == walked["ring-1", UP]
    for pair in over["pairs"]:
        (path,) = ask_json(ring, "routes", "between", pair["source_node_name"],
                           pair["destination_node_name"])["paths"]
        assert ("ring-1", UP) in [(hop["node_name"], hop["out_port"])
                                  for hop in path["hops"]], pair


def test_prometheus_has_routes_and_findings(ring):
    check(ring, 1)
    address = status(ring)["prometheus"]["listen"]

    def scrape():
        with urllib.request.urlopen(f"http://{address}/metrics", timeout=20) as answer:
            return answer.read().decode()

    wait_until(lambda: "_port_routes{" in scrape(), 20, "routes of ports")
    text = scrape()
    assert 'triad_routes_findings{kind="credit_loops"} 2\n' in text, "findings"
    assert 'triad_routes_imbalance{from="1",to="1"} 1\n' in text, "tiers"
    routes = re.findall(r'^infiniband_switch_port_routes\{.*port="7"\} (\d+)$', text,
                        re.MULTILINE)
    assert sorted(map(int, routes)) == sorted(
        n for (_, port), n in counted(ring).items() if port == UP)


def test_pairs_of_a_group_are_counted_apart(ring):
    check(ring, 1)
    answer = ask_json(ring, "routes", "--group", "some")
    assert (answer["pairs"], answer["arriving_pairs"]) == (6, 6), answer
    over = ask_json(ring, "routes", "over", f"ring-1:{UP}", "-n", "1000")["pairs"]
    group = {"host-01", "host-03", "host-05"}
    n = sum({pair["source_node_name"], pair["destination_node_name"]} <= group
            for pair in over)
    (link,) = [row for row in answer["worst_links"]
               if (row["node_name"], row["port"]) == ("ring-1", UP)]
    assert link["pairs"] == n > 0, "pairs of the group over a link"
    answer = ring.triad("routes", "--group", "none")
    assert (answer.returncode, "[group none]" in answer.stderr) == (1, True), answer


@pytest.mark.row("N7")
def test_multicast_tree_of_hosts_that_joined_is_seen_and_loops_nowhere(ring):
    nodes = {row["name"]: row for row in ask_json(ring, "nodes")}
    sm_guid = int(status(ring)["sm"]["port_guid"], 16) - 1
    (sm_lid,) = [row["lid"] for row in nodes.values() if int(row["guid"], 16) == sm_guid]
    for host in ("host-03", "host-07", "host-10"):
        joined = ring.run("/usr/bin/python3", JOIN, hex(int(nodes[host]["guid"], 16) + 1),
                          sm_lid, node=host)
        assert int(succeeded(joined).stdout) == 0xc000, joined
    sweep_heavily(ring, lambda: check(ring, 1)["multicast_trees"])
    answer = check(ring, 1)
    assert (answer["multicast_trees"], answer["multicast_loops"]) == (1, 0), answer
    assert answer["multicast_all_checked"], answer


def test_what_is_no_link_is_reported(ring):
    check(ring, 1)
    guid = next(row["guid"] for row in ask_json(ring, "nodes") if row["name"] == "ring-1")
    answer = ring.triad("routes", "over", f"{guid}:6")
    assert (answer.returncode, "ring-1:6" in answer.stderr) == (1, True), answer
    answer = ring.triad("routes", "between", "host-01", "nobody")
    assert answer.returncode == 1 and "nobody" in answer.stderr, answer


def test_switched_off_there_are_none(ring):
    check(ring, 1)
    ask(ring, "set", "routes.enabled", "false")
    try:
        answer = ring.triad("routes")
        assert answer.returncode == 1 and "set routes.enabled true" in answer.stderr
        ask(ring, "set", "alerts.clear_after", "0")
        wait_until(lambda: not ask_json(ring, "alerts")["active"], 30, "no alert")
    finally:
        ask(ring, "set", "routes.enabled", "true")
    sweep_heavily(ring, lambda: ring.triad("routes").returncode == 0)


# --- engines that promise to have none ------------------------------------------

@pytest.mark.row("N7")
@pytest.mark.parametrize("engine", FREE)
def test_engine_without_credit_loops_is_clean(engine, scratch):
    folder = scratch.folder()
    net = generate(folder / "torus.net", "torus", "--dims", "5,5")
    (folder / "torus.conf").write_text(TORUS, encoding="utf-8")
    conf = FREE[engine].format(torus=folder / "torus.conf")
    with TriadLab(net, triad_conf=QUICK,
                  opensm_conf=f"routing_engine {engine}\nqos TRUE\n{conf}") as lab:
        answer = check(lab, 0)
        assert (answer["engine"], answer["credit_loops_checked"]) == (engine, True)
        # Nue needs one VL; the others' links alone have circles.
        assert answer["credit_loops_ruled_out_by_links"] == (engine == "nue")
        assert findings(answer) == {}


def find_lanes(lab):
    """SLs that DFSSSP may give one pair, of all pairs of the ring."""
    hosts = [row["name"] for row in ask_json(lab, "nodes", "--type", "ca")]
    return {tuple(path["sls"]) for source in hosts for goal in hosts if source != goal
            for path in ask_json(lab, "routes", "between", source, goal)["paths"]}


@pytest.mark.row("N7")
def test_all_sls_that_an_engine_may_draw_are_checked(scratch):
    net = write_ring(scratch.folder() / "ring.net")
    dfsssp = "routing_engine dfsssp\nqos TRUE\n"
    with TriadLab(net, triad_conf=QUICK, opensm_conf=dfsssp) as lab:
        wait_for_sweep(lab)
        check(lab, 0)
        few, many = sorted(find_lanes(lab), key=len)
        assert not set(few) & set(many) and len(many) > 1, (few, many)
    # One SL of a lane shares the other lane's VL.  Few pairs draw just this one.
    table = list(range(15)) + [7]
    table[many[-1]] = few[0]
    with TriadLab(net, triad_conf=QUICK,
                  opensm_conf=f"{dfsssp}qos_sl2vl {','.join(map(str, table))}\n") as lab:
        answer = check(lab, 1)
        assert answer["credit_loops"], answer


@pytest.mark.row("N7")
def test_fat_tree_is_clean_until_tables_lead_to_a_dead_port(scratch):
    folder = scratch.folder()
    net = generate(folder / "tree.net", "fat-tree", "--levels", "2", "--radix", "4")
    with TriadLab(net, triad_conf=QUICK, opensm_conf="routing_engine ftree\n") as lab:
        answer = check(lab, 0)
        assert answer["credit_loops_ruled_out_by_links"], answer
        assert answer["down_up_turns_checked"], "it is a tree"
        assert findings(answer) == {}
        wait_for_sweep(lab)
        walked = walk_all_pairs(lab)
        assert counted(lab) == {place: n for place, n in walked.items()
                                if place in counted(lab)}
        tables = {row["name"]: (row["guid"], row["lid"])
                  for row in ask_json(lab, "nodes", "--type", "switch")}
        lfts = forwarding_tables(lab)
    # The routing engine "file" takes tables as they are, whatever became of links.
    (folder / "tables").write_text("".join(
        f"Unicast lids [0x1-0x{max(lfts[name]):x}] of switch Lid {lid} guid {guid} "
        f"({name}):\n" + "".join(f"0x{at:04x} {port:03d} : (x)\n"
                                 for at, port in lfts[name].items())
        for name, (guid, lid) in tables.items()), encoding="utf-8")
    with TriadLab(net, triad_conf=QUICK,
                  opensm_conf=f"routing_engine file\nlfts_file {folder / 'tables'}\n"
                  ) as lab:
        answer = check(lab, 0)
        assert answer["engine"] == "file", answer
        plan = ask_json(lab, "repair", "plan", "leaf-01:3")
        assert plan["entries"] and not plan["may_be_written"], plan
        assert mentions(plan["left_to_opensm_because"], "file"), plan
        assert plan["at_next_sweep"] == "writes_its_own", plan
        lab.sim('Unlink "leaf-01"[3]')
        sweep_heavily(lab, lambda: lab.triad("routes", "check").returncode == 1)
        answer = check(lab, 1)
        assert answer["dead_port_entries"] and answer["unreachable_pairs"], answer
        for example in answer["evidence"]["dead_port_entries"]:
            assert (example["end"], example["at_node_name"], example["at_port"]) in (
                ("a dead port", "leaf-01", 3), ("a dead port", "spine-01", 1)), example


# --- tables that would close a loop ---------------------------------------------

# All of LASH's layers in one VL.
POLICY = """\
port-groups
port-group
name: switches
node-type: SWITCH
end-port-group
end-port-groups
qos-setup
sl2vl-tables
sl2vl-scope
group: switches
sl2vl-table: {}
end-sl2vl-scope
end-sl2vl-tables
end-qos-setup
qos-levels
qos-level
name: DEFAULT
sl: 0
end-qos-level
end-qos-levels
"""
ONE_VL = ",".join(["0"] * 16)
LAYERS = ",".join(str(7 - sl % 8) for sl in range(16))


@pytest.mark.row("N7")
def test_tables_that_close_a_loop_are_shown_and_refused(scratch):
    folder = scratch.folder()
    net, policy = write_ring(folder / "ring.net"), folder / "policy"
    policy.write_text(POLICY.format(LAYERS), encoding="utf-8")
    conf = f"[qos]\npolicy_file = {policy}\ntables_enabled = true\n"
    with TriadLab(net, triad_conf=QUICK + conf,
                  opensm_conf="routing_engine lash\nqos TRUE\n") as lab:
        wait_until(lambda: status(lab)["qos_tables"]["state"] == "in force", 30,
                   "tables that keep layers apart")
        assert findings(check(lab, 0)) == {}
        policy.write_text(POLICY.format(ONE_VL), encoding="utf-8")
        plan = lab.triad("qos", "plan", str(policy))
        assert plan.returncode == 3 and "would close 2 credit loops" in plan.stdout
        answer = json.loads(lab.triad("qos", "plan", str(policy), "--json").stdout)
        assert answer["credit"] == "closed by the policy", answer["credit"]
        assert [loop["channels"] for loop in answer["credit_loops"]] == [N, N]
        assert {step["sl"] for loop in answer["credit_loops"]
                for step in loop["steps"]} == {0, 1}, "paths of both layers"
        applied = lab.triad("qos", "apply")
        assert applied.returncode == 1 and "close a credit loop" in applied.stderr
        wait_until(lambda: status(lab)["qos_tables"]["refused"], 30, "the refusal")
        assert log_has(lab, "credit loop 5 channels")
        assert status(lab)["qos_tables"]["state"] == "in force", "those before"
        assert findings(check(lab, 0)) == {}
