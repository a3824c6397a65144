# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Congestion explained: ibsim has no traffic, so counters are set to what ports would count
(tests/sim/flows.h) between sweeps."""

import json
import re
import subprocess
import time
import urllib.request

import pytest

import simflows
from checks import mentions, stopped, wait_until
from labs import SRCDIR
from triadlab import netfile
from triadlab.tcp_ports import free_address
from triadlib import TriadLab, ask, ask_json, log_has

CONF = "[perfmgr]\nmode = full\nsweep_period = 3600\nreset = never\n"
TICKS = 10 ** 9  # of waiting, between two sweeps: all the time of some seconds
UPLINK = 8
WAITING = [("leaf-1", UPLINK), ("host-1", 1)]  # because of the root, near it first
ROOT = ("leaf-2", 1)  # to host-3


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Two switches, a link between them, two hosts at each."""
    fabric = netfile.Fabric()
    leaves = [fabric.add(netfile.Node(netfile.SWITCH, f"leaf-{i}", 8, f"leaf-{i}",
                                      0x02000002_00000000 + 0x10 * i)) for i in (1, 2)]
    fabric.link(leaves[0], UPLINK, leaves[1], UPLINK)
    for n in range(4):
        name = f"host-{n + 1}"
        host = fabric.add(netfile.Node(netfile.HCA, name, 1, name,
                                       0x02000001_00000010 + 0x10 * n))
        fabric.link(host, 1, leaves[n // 2], 1 + n % 2)
    net = tmp_path_factory.mktemp("congestion") / "two.net"
    with open(net, "w", encoding="utf-8") as stream:
        netfile.write(fabric, stream, "two switches")
    address = free_address()
    partitions = tmp_path_factory.mktemp("partitions") / "partitions.conf"
    partitions.write_text("Default=0x7fff,ipoib: ALL=full;\n"
                          "Other=0x8001, sl=1: ALL=full;\n", encoding="utf-8")
    with TriadLab(net, triad_conf=f"{CONF}[prometheus]\nlisten = {address}\n",
                  opensm_conf=f"qos TRUE\npartition_config_file {partitions}\n") as made:
        made.address = address
        wait_until(lambda: made.triad("routes", "check").returncode == 0, 30, "routes")
        wait_until(lambda: made.triad("congestion").returncode == 0, 30, "a first answer")
        yield made


def explained(lab):
    """What is known of congestion, or None."""
    answer = lab.triad("congestion", "--json")
    return json.loads(answer.stdout) if answer.returncode == 0 else None


def sweep(lab, ticks=None):
    """One more sweep, with PortXmitWait of those that wait; what is known after it."""
    # Also of the last sweep, which is explained again when it is switched on.
    swept = wait_until(lambda: explained(lab), 10, "congestion of the last sweep")["swept"]
    if ticks is not None:
        lab.sim(*(f'PerformanceSet "{node}"[{port}] PortCounters.PortXmitWait={ticks}'
                  for node, port in WAITING + [ROOT]))
    # Its time has milliseconds, and on so small a fabric a sweep may take less.
    time.sleep(0.001)
    ask(lab, "perf", "sweep")
    return wait_until(lambda: (answer := explained(lab)) and answer["swept"] != swept and answer,
                      20, "congestion of the new sweep")


def metrics(lab):
    with urllib.request.urlopen(f"http://{lab.address}/metrics") as page:
        return page.read().decode().splitlines()


def losses(lines):
    return [line for line in lines
            if line.startswith("triad_congestion_loss_bits_per_second{")]


def test_first_sweep_has_no_rates_so_nothing_waits(lab):
    answer = ask_json(lab, "congestion")
    assert (answer["waiting_ports"], answer["roots"]) == (None, []), answer
    assert answer["known_ports"] == 0 < answer["linked_ports"], answer
    assert not answer["too_many_pairs"], answer


@pytest.mark.row("N8")
def test_slow_host_is_named_until_it_is_over(lab):
    sweep(lab, 0)
    answer = sweep(lab, TICKS)
    (root,) = answer["roots"]
    assert ((root["node_name"], root["port"]), root["kind"]) == (ROOT, "slow host"), root
    assert [(port["node_name"], port["port"]) for port in root["waiting"]] == WAITING, root
    (host,) = root["hosts"]
    assert (host["node_name"], host["role"]) == ("host-1", "contributor"), host
    assert root["loss_gbps"] > 0 and "PCIe" in root["advice"], root
    assert (answer["waiting_ports"], answer["unexplained_ports"]) == (3, 0), answer
    assert log_has(lab, "congestion slow host leaf-2"), "a line in the log"
    text = ask(lab, "congestion")
    assert root["vl"] is None and "not told apart by VL" in text, text
    assert "leaf-2:1 to host-3: slow host" in text and "contributors: 1" in text, text
    assert max(map(len, text.splitlines())) <= 80, text
    # Its alert is raised once the root is known, by another thread.
    (finding,) = wait_until(lambda: [
        f for f in json.loads(lab.triad("health", "--json").stdout)["findings"]
        if "congestion:" in f["what"]], 10, "a finding of health")
    assert (finding["at"], finding["what"].split(",")[0]) == \
        ("leaf-2:1", "congestion: slow host"), finding

    lines = metrics(lab)
    (loss,) = losses(lines)
    (guid,) = re.findall(r'guid="(\w+)"', loss)
    assert 'port="1"' in loss and 'kind="slow host"' in loss, loss
    assert any(line.startswith(f'infiniband_switch_port_state{{guid="{guid}",port="1"}} ')
               for line in lines), (loss, "the GUID that other metrics of the port have")
    assert "triad_congestion_roots 1" in lines

    (again,) = sweep(lab, 2 * TICKS)["roots"]
    assert again["since"] == root["since"], "the same root"
    assert not again["since_at_least"], "the sweep before it knew that there was none"
    assert not sweep(lab)["roots"], "over"
    lines = metrics(lab)
    assert "triad_congestion_roots 0" in lines and len(losses(lines)) == 1, "missed once"
    sweep(lab)
    assert not losses(metrics(lab)), "missed twice"
    assert log_has(lab, "port 1 is over"), "a line in the log"


def test_counters_that_stopped_below_the_limit_are_not_known(lab):
    def wait_for(ticks):
        lab.sim(*(f'PerformanceSet "{node}"[{port}] PortCounters.PortXmitWait={ticks}'
                  for node, port in WAITING + [ROOT]))

    wait_for(2 ** 32 - 1 - 1000)
    sweep(lab)
    answer = sweep(lab, 2 ** 32 - 1)
    assert (answer["waiting_ports"], answer["roots"]) == (0, []), answer
    assert answer["lower_bound_ports"] == len(WAITING) + 1, answer
    assert answer["known_ports"] == answer["linked_ports"] - len(WAITING) - 1, answer
    text = ask(lab, "congestion")
    assert mentions(text, "not known of 3") and mentions(text, "3 lower bound"), text
    assert max(map(len, text.splitlines())) <= 80, text
    assert mentions(lab.triad("health").stdout, "not known of 3 of"), "health"
    assert "triad_congestion_lower_bound_ports 3" in metrics(lab)
    assert sum(port["wait_at_least"] for port in ask_json(lab, "perf", "show")) == 3
    assert mentions(ask(lab, "perf", "show"), "3 ports PortXmitWait lower bound")
    wait_for(0)
    assert sweep(lab)["lower_bound_ports"] == 0


def set_vl_waits(lab, ticks):
    """Ticks of ports on VLs: {(node, port): {VL: ticks}}."""
    lab.sim(*(f'PerformanceSet "{node}"[{port}] '
              f"PortVLXmitWaitCounters.PortVLXmitWaitCounters{vl}={n}"
              for (node, port), vls in ticks.items() for vl, n in vls.items()))


@pytest.mark.row("N8")
def test_trees_on_two_vls_of_the_same_links_are_distinguished(lab):
    on_both = ("leaf-1", UPLINK)
    vls = {ROOT: [0], ("leaf-2", 2): [1], on_both: [0, 1], ("host-1", 1): [0],
           ("host-2", 1): [1]}

    def wait_on_vls(n):
        lab.sim(*(f'PerformanceSet "{node}"[{port}] PortCounters.PortXmitWait={n * TICKS // 4}'
                  for node, port in vls))
        set_vl_waits(lab, {at: {vl: 1000 * n for vl in waits} for at, waits in vls.items()})

    wait_on_vls(1)
    sweep(lab)
    wait_on_vls(2)
    sweep(lab)
    wait_on_vls(3)
    answer = sweep(lab)
    roots = {(root["node_name"], root["port"]): root for root in answer["roots"]}
    assert {at: root["vl"] for at, root in roots.items()} == {ROOT: 0, ("leaf-2", 2): 1}
    assert answer["waiting_ports_by_vl"] == len(vls), answer
    for at, name in ((ROOT, "host-1"), (("leaf-2", 2), "host-2")):
        assert [host["node_name"] for host in roots[at]["hosts"]] == [name], roots[at]
    (part,) = [part for part in ask_json(lab, "job", "--nodes", "host-[2-3]")["congestion"]
               if part["vl"] == 1]
    assert (part["contributors"], part["victims"]) == (1, 0), part
    assert part["share_percent"] in (100, None), part  # it sends next to nothing
    assert (part["leads_to_job"], part["root_hosts"]) == (False, 1), part
    assert part["loss_gbps"] > 0, part
    text = ask(lab, "congestion")
    assert "leaf-2:2 to host-4: slow host on VL1" in text, text
    assert max(map(len, text.splitlines())) <= 80, text
    wait_until(lambda: "slow host on VL1" in ask(lab, "alerts"), 10, "the VL in the alert")
    with urllib.request.urlopen(f"http://{lab.address}/metrics") as page:
        assert 'vl="1"' in page.read().decode()
    sweep(lab)
    sweep(lab)


def active(lab):
    return [alert for alert in ask_json(lab, "alerts")["alerts"] if alert["state"] == "active"]


@pytest.mark.row("N8")
def test_root_is_one_alert_and_what_waits_for_it_none(lab):
    ask(lab, "set", "alerts.clear_after", "0")
    sweep(lab, 0)
    sweep(lab, TICKS)
    wait_until(lambda: active(lab), 10, "an alert")
    (alert,) = active(lab)
    assert (alert["what"], alert["at"]["node_name"], alert["at"]["port"]) == \
        ("congestion", *ROOT), alert
    found = alert["findings"][0]
    assert (found["why"], found["value"], found["loss_gbps"] > 0) == \
        ("slow host", len(WAITING), True), found
    assert ask_json(lab, "alerts")["explained"] == len(WAITING) + 1
    assert mentions(ask(lab, "alerts"), "3 ports wait")
    sweep(lab, 2 * TICKS)
    assert [a["id"] for a in active(lab)] == [alert["id"]], "the same, and no other"

    # Without roots the ports have their own.
    ask(lab, "set", "congestion.enabled", "false")
    try:
        wait_until(lambda: [a["what"] for a in active(lab)] == 3 * ["PortXmitWait"], 10,
                   "alerts of those that wait")
    finally:
        ask(lab, "set", "congestion.enabled", "true")
    wait_until(lambda: {a["what"] for a in active(lab)} == {"congestion"}, 10,
               "the root's alert")
    # It was there when this began to look.
    (found,) = ask_json(lab, "congestion")["roots"]
    assert found["since_at_least"] and ">=" in ask(lab, "congestion"), found
    ended = [a for a in ask_json(lab, "alerts", "--all")["alerts"] if a["explained"]]
    assert {a["what"] for a in ended} == {"PortXmitWait"}, ended
    sweep(lab)
    sweep(lab)
    wait_until(lambda: not active(lab), 10, "the end")


def test_switched_off_it_is_not_looked_for(lab):
    sweep(lab)
    ask(lab, "set", "congestion.enabled", "false")
    try:
        answer = lab.triad("congestion")
        assert answer.returncode == 1 and "congestion.enabled" in answer.stderr, answer
    finally:
        ask(lab, "set", "congestion.enabled", "true")
    assert not sweep(lab)["roots"]
    assert ask_json(lab, "congestion")["waiting_ports"] == 0


# --- flows of a simulator, on the tables of a real OpenSM ------------------------

@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A fat tree of 32 hosts, and its description for the simulator."""
    net = tmp_path_factory.mktemp("tree") / "tree.net"
    subprocess.run([SRCDIR / "scripts" / "gen-fabric", "fat-tree", "--radix", "8",
                    "-o", net], check=True)
    simflows.slow_links(net)
    with TriadLab(net, triad_conf=CONF, opensm_conf="routing_engine ftree\n") as made:
        wait_until(lambda: made.triad("routes", "check").returncode == 0, 30, "routes")
        wait_until(lambda: made.triad("congestion").returncode == 0, 30, "a first answer")
        yield made, simflows.describe(made)


def far_end_of(lab, host):
    """The switch's port that leads to a host."""
    for link in ask_json(lab, "links"):
        ends = link["ends"]
        for near, far in (ends, ends[::-1]):
            if simflows.node_of(far) == host:
                return near["node_name"], near["port"]
    raise AssertionError(f"{host} has no link")


SLOW = ["drain host-0010 0.4", "flow host-0001 host-0010 0.7"]
INCAST = [f"flow host-00{n} host-0020 0.6" for n in ("05", "09", "13", "25")]
OTHERS = ["flow host-0015 host-0030 0.3", "flow host-0031 host-0002 0.2"]


@pytest.mark.row("N8")
@pytest.mark.parametrize("flows, roots", [
    (SLOW, {"host-0010": "slow host"}),
    (INCAST, {"host-0020": "incast"}),
    (SLOW + INCAST, {"host-0010": "slow host", "host-0020": "incast"})])
def test_roots_of_simulated_flows_are_named(tree, flows, roots):
    lab, fabric = tree
    before = ask_json(lab, "congestion")["swept"]
    simflows.run(lab, simflows.simulate(fabric, flows + OTHERS))
    wanted = {far_end_of(lab, host): kind for host, kind in roots.items()}
    answer = {}

    def are_named():
        answer.update(ask_json(lab, "congestion"))
        return answer["swept"] != before and wanted == {
            (root["node_name"], root["port"]): root["kind"] for root in answer["roots"]}

    wait_until(are_named, 10, f"{wanted}, not {answer}")
    assert not answer["unexplained_ports"], answer
    wait_until(lambda: sorted((alert["at"]["node_name"], alert["at"]["port"])
                              for alert in active(lab)) == sorted(wanted), 10,
               lambda: f"an alert for each root, and none else: {active(lab)}")
    senders = {line.split()[1] for line in flows if line.startswith("flow")}
    hosts = {simflows.node_of(host) for root in answer["roots"] for host in root["hosts"]}
    assert hosts == senders, hosts
    sweep(lab)
    sweep(lab)
    assert not ask_json(lab, "congestion")["roots"], "over"


PAUSE_S = 5


def pause(lab, sweep_after):
    """The SM stands still; then the first answer after a sweep of after that."""
    swept = ask_json(lab, "congestion")["swept"]
    with stopped(lab.status()["sms"][0]["pid"]):
        time.sleep(PAUSE_S)
    sweep_after()
    answer = {}

    def is_new():
        answer.update(ask_json(lab, "congestion"))
        return answer["swept"] != swept
    wait_until(is_new, 20, "a sweep after the pause")
    return answer


@pytest.mark.long
@pytest.mark.row("N8")
def test_pause_of_the_sm_is_no_alert_and_no_end(tree):
    lab, fabric = tree
    shares = simflows.simulate(fabric, SLOW)
    node, port = root = far_end_of(lab, "host-0010")

    def roots():
        return {(found["node_name"], found["port"]): found
                for found in ask_json(lab, "congestion")["roots"]}

    def alerts():
        """All there ever were, and those of the root that are active."""
        known = ask_json(lab, "alerts", "--all")["alerts"]
        return ({alert["id"] for alert in known},
                [alert["id"] for alert in known if alert["state"] == "active" and
                 (alert["at"]["node_name"], alert["at"]["port"]) == root])

    traffic = simflows.Traffic(lab, shares)
    traffic.sweep()
    traffic.sweep()
    since = wait_until(lambda: roots().get(root), 20, "the root")["since"]
    wait_until(lambda: alerts()[1], 10, "its alert")
    before = alerts()
    n_over = str(lab.log()).count(f"port {port} is over")
    answer = pause(lab, traffic.sweep)
    (found,) = [found for found in answer["roots"] if
                (found["node_name"], found["port"]) == (node, port)]
    assert found["since"] == since, "the same root"
    assert found["wait_percent"] == pytest.approx(100 * shares[root][1], rel=0.2), \
        "the rate over all of the pause"
    assert len(answer["roots"]) == 1, answer["roots"]
    assert alerts() == before, ask(lab, "alerts", "--all")
    assert str(lab.log()).count(f"port {port} is over") == n_over
    # The traffic ends while the SM stands still.
    pause(lab, lambda: ask(lab, "perf", "sweep"))
    wait_until(lambda: not roots(), 10, "the end")
    assert alerts()[0] == before[0], ask(lab, "alerts", "--all")
