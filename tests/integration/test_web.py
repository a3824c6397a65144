# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The web listener in stock opensm and in triad-agent: each resource is what triadctl
shows, and as the OpenAPI document describes it."""

import json
import re
import signal
import socket
import subprocess
import time
import urllib.parse

import pytest

import tablelib
from agentlib import Broker, wait_until_settled
from checks import failed, succeeded, wait_until
from labs import TRIADD, need
from test_agent import Agent
from test_agents import lab_of, start
from test_devices import FABRIC, qsfp28
from test_lifecycle import end
from tlslib import certificate
from triadlab.tcp_ports import free_address
from triadlib import NET, QUICK, TriadLab, ask, ask_json, status, triad_lab, wait_for_sweep
from weblib import check_document, check_schema, get, get_json

# All that can be on is on.
CONF = """\
[perfmgr]
sweep_period = 1
[alerts]
raise_after = 0
[devices]
period = 1
[history]
dir = {folder}/images
[election]
enabled = true
cluster = none
state_dir = {folder}/election
[port]
enabled = true
expected_file = {folder}/expected.csv
[qos]
enabled = true
tables_enabled = true
policy_file = {folder}/policy.conf
[web]
listen = {address}
"""
POLICY = tablelib.policy({"all": ["use: ALL"]}, [{"group": "all", "from": "*", "to": "*",
                                                  "sl2vl-table": [0] * 16}])

# What stands in paths.
ARGUMENTS = {"node": "Hca1", "node2": "Hca2", "node_port": "Leaf:1", "argument2": "1",
             "counter": "PortXmitData", "counter2": "PortXmitData", "key": "web.listen",
             "time": "2s", "time2": "1s"}
# What commands need, and what makes them show more.
QUERIES = {"qos/explain": ["src=Hca1&dst=Hca2"], "job": ["nodes=Hca1,Hca2"],
           "alerts": ["", "all"], "links": ["", "down", "brief"],
           "nodes": ["", "limit=1", "node=Hca3"], "perf/show": ["", "errors"],
           "perf/history": ["since=1m"], "perf/top": ["limit=2&offset=1"]}


def agreed(command):
    """What of a command's answer stays the same from one moment to the next."""
    return re.sub(r"\d+", "0", command)


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Cases only read."""
    need(TRIADD)
    folder = tmp_path_factory.mktemp("web")
    (folder / "net").write_text(FABRIC, encoding="utf-8")
    (folder / "policy.conf").write_text(POLICY, encoding="utf-8")
    conf = CONF.format(folder=folder, address=free_address())
    with TriadLab(folder / "net", triad_conf=conf, opensm_conf="qos TRUE\n") as made:
        prepare(made, folder)
        made.address = status(made)["web"]["listen"]
        yield made


def prepare(made, folder):
    for command in qsfp28("MT2108FT00001").commands("Leaf", 1):
        made.sim(command)
    wait_for_sweep(made, 1)
    wait_until(lambda: made.triad("port", "snapshot").returncode == 0, 30, "a snapshot")
    (folder / "expected.csv").write_text(ask(made, "port", "snapshot"), encoding="utf-8")
    ask(made, "reload")
    # One that was asked without any would have refused to tell of them for good.
    ask(made, "set", "devices.enabled", "true")
    made.sim('PerformanceSet "Leaf"[1] PortCounters.SymbolErrorCounter=500', 'Unlink "Hca3"')
    wait_until(lambda: ask_json(made, "alerts")["alerts"], 40, "an alert")
    wait_until(lambda: all(node["name"] != "Hca3" for node in ask_json(made, "nodes")),
               40, "Hca3's end")
    wait_until(lambda: made.triad("diff", "2s").returncode != 1, 40, "images")
    wait_until(lambda: made.triad("port", "list").returncode == 0, 40, "expected ports")
    wait_until(lambda: ask_json(made, "cables"), 40, "cables")
    made.triad("audit")


def resources(description):
    """(path, operation) of what is no stream."""
    return [(path, item["get"]) for path, item in description["paths"].items()
            if not path.endswith("/changes")]


def requests(path, operation):
    """The path with its arguments and each query; of the present, and of the past where it
    can be asked for."""
    short = path.removeprefix("/api/v1/")
    filled = re.sub(r"{(\w+)}", lambda found: ARGUMENTS[found[1]], path)
    queries = QUERIES.get(short.split("/{")[0], [""])
    if any(it["name"] == "at" for it in operation["parameters"]):
        queries = [*queries, f"{queries[0]}&at=1s"]
    return [f"{filled}?{query}" for query in queries]


def check_answer(address, description, operation, request):
    """That a request is answered as it is described; returns the status."""
    response = get(address, request)
    answer = operation["responses"]["200" if response.status == 200 else "default"]
    (kind, content), = answer["content"].items()
    assert response.getheader("Content-Type") == kind, request
    check_schema(description, content["schema"]["$ref"], json.loads(response.body), request)
    return response.status


def check_answers(address, description, absent=()):
    """The same of all resources; those that are absent have a problem."""
    for path, operation in resources(description):
        is_absent = path.removeprefix("/api/v1/").startswith(tuple(absent))
        for request in requests(path, operation):
            code = check_answer(address, description, operation, request)
            assert code == (409 if is_absent else 200), request


def check_description(description):
    """What no schema of ours says of the document itself."""
    assert description["openapi"].startswith("3.0."), "version"
    for path, operation in resources(description):
        named = {it["name"] for it in operation["parameters"] if it["in"] == "path"}
        assert named == set(re.findall(r"{(\w+)}", path)), path
        names = [it["name"] for it in operation["parameters"]]
        assert len(names) == len(set(names)), path
        assert operation["summary"], path
    for reference in re.findall(r'"#/components/schemas/(\w+)"', json.dumps(description)):
        assert reference in description["components"]["schemas"], reference


@pytest.mark.threads
@pytest.mark.threads_short
@pytest.mark.row("N11")
def test_each_resource_is_as_described(lab):
    description = get_json(lab.address, "/api/v1/openapi.json")
    assert len(resources(description)) > 30, "resources"
    check_answers(lab.address, description, absent=["agents"])
    check_schema(description, "#/components/schemas/problem",
                 json.loads(get(lab.address, "/api/v1/none").body), "a problem")
    check_description(description)
    check_document(description)


def test_resource_is_what_triadctl_shows(lab):
    for path, words in (
            ("nodes", ["nodes"]), ("version", ["version"]),
            ("nodes?type=switch&limit=1", ["nodes", "--type", "switch", "-n", "1"]),
            ("get/web.listen", ["get", "web.listen"]),
            ("perf/histogram/PortXmitData", ["perf", "histogram", "PortXmitData"]),
            ("port/history", ["port", "history"])):
        theirs = json.loads(ask(lab, *words, "--json"))
        assert agreed(json.dumps(get_json(lab.address, f"/api/v1/{path}"))) == \
            agreed(json.dumps(theirs)), path


def test_verdict_is_in_a_header(lab):
    response = get(lab.address, "/api/v1/health")
    assert response.status == 200, "status"
    assert response.getheader("Triad-Exit-Status") == \
        {"OK": "0", "WARNING": "1", "CRITICAL": "2"}[json.loads(response.body)["verdict"]]
    assert "as of " in get(lab.address, "/api/v1/links?at=1s").getheader("Triad-Message")


def test_mistakes_are_reported_in_the_parsers_words(lab):
    for path, code, says in (
            ("links?at=tomorrow", 400, "tomorrow"), ("perf/top?by=PortXmitDat", 400,
                                                     "PortXmitData"),
            ("links?at=2130-01-01", 409, "after the last image"), ("diff/9h", 409, "image"),
            ("routes/over/Laef/1", 404, "'Leaf'"), ("history/Nobody", 404, "Nobody"),
            ("nodes?node=Nobody", 404, "Nobody"), ("links?node=Nobody", 404, "Nobody"),
            ("qos/explain?src=Hca1&dst=Hca2&at=1h", 400, "partitions of then")):
        response = get(lab.address, f"/api/v1/{path}")
        report = json.loads(response.body)
        assert (response.status, report["status"]) == (code, code), (path, report)
        assert says in report["detail"], (path, report)


def test_page_may_load_nothing_of_others(lab):
    response = get(lab.address, "/")
    assert response.getheader("Content-Type") == "text/html; charset=utf-8", "type"
    policy = response.getheader("Content-Security-Policy")
    assert "default-src 'none'" in policy and "unsafe" not in policy, policy
    assert not re.search(rb"(src|href)=.?(https?:)?//", response.body), "other hosts"


def test_any_user_of_this_host_may_read(lab):
    process = subprocess.run(
        ["curl", "-sS", "--max-time", "20", f"http://{lab.address}/api/v1/version"],
        user=65534, group=65534, extra_groups=[], capture_output=True, text=True,
        check=False)
    assert "version" in json.loads(succeeded(process).stdout), process.stdout


def test_own_metrics_and_health_have_it(lab):
    part = {part["part"]: part["text"] for part in
            get_json(lab.address, "/api/v1/health")["parts"]}
    assert "page on" in part["exports"], part


# --- names that mean harm ------------------------------------------------------

def test_names_of_nodes_do_no_harm(tmp_path):
    need(TRIADD)
    address = free_address()
    names = {"Hca1": "<script>alert(1)</script>", "Hca2": "a\\'); DROP",
             "Hca3": "\x1b[31mred\x7f", "Hca4": "\u202eodd\u200b \u00e4"}
    net = NET.read_text(encoding="utf-8")
    for name, bad in names.items():
        net = net.replace(f'"{name}"', f'"{bad}"')
    path = tmp_path / "net"
    path.write_bytes(net.encode() .replace("\u00e4".encode(), b"\xff"))
    with TriadLab(path, triad_conf=f"{QUICK}[web]\nlisten = {address}\n") as lab:
        wait_for_sweep(lab)
        for resource in ("nodes", "links", "perf/top", "history", "status", "alerts"):
            response = get(address, f"/api/v1/{resource}")
            text = response.body.decode("utf-8")
            assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e\u200b]", text), resource
            json.loads(text)
        shown = {node["name"] for node in get_json(address, "/api/v1/nodes")}
        assert "<script>alert(1)</script>" in shown, shown
        name = urllib.parse.quote("<script>alert(1)</script>", safe="")
        assert get_json(address, f"/api/v1/perf/show?node={name}"), "by its name"
        response = get(address, f"/api/v1/routes/over/{name}x/1")
        assert response.status == 404, response.body
        assert "<script>alert(1)</script>" in json.loads(response.body)["detail"], "problem"


# --- the plugin's life ---------------------------------------------------------

@pytest.mark.plain
def test_reload_moves_it_and_mistakes_leave_it(scratch):
    need(TRIADD)
    path, key = certificate(scratch)
    _, other_key = certificate(scratch)
    old, new = free_address(), free_address()
    with triad_lab(f"{QUICK}[web]\nlisten = {old}\n") as lab:
        conf = lab.folder / "sm-0" / "triad.conf"
        host, port = old.split(":")
        with socket.create_connection((host, int(port)), 20) as stream:
            stream.sendall(b"GET /api/v1/changes HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert stream.recv(100).startswith(b"HTTP/1.1 200"), "a stream"
            conf.write_text(f"{QUICK}[web]\nlisten = 0.0.0.0:9316\n", encoding="utf-8")
            failed(lab.run("triadctl", "reload"), 1, "TLS token")
            conf.write_text(f"{QUICK}[web]\nlisten = {old}\ntls_certificate = {path}\n"
                            f"tls_key = {other_key}\n", encoding="utf-8")
            failed(lab.run("triadctl", "reload"), 1, "web: not in force")
            assert "web: not in force" in lab.run("triadctl", "get", "web.tls_key").stderr
            health = get_json(old, "/api/v1/health")
            assert any(it["at"] == "web" for it in health["findings"]), health
            conf.write_text(f"{QUICK}[web]\nlisten = {new}\n", encoding="utf-8")
            ask(lab, "reload")
            while stream.recv(10000):
                pass
        assert status(lab)["web"]["listen"] == new, "status"
        assert get(new, "/api/v1/health").status == 200, "the new one"
        with pytest.raises(ConnectionError):
            get(old, "/api/v1/health")
        ask(lab, "set", "web.listen", "")
        with pytest.raises(ConnectionError):
            get(new, "/api/v1/health")


def test_end_of_opensm_waits_for_no_client(scratch):
    need(TRIADD)
    address = free_address()
    with triad_lab(f"{QUICK}[web]\nlisten = {address}\n") as lab:
        host, port = address.split(":")
        hung = []
        for target in ("changes", "links", "changes"):
            hung.append(socket.create_connection((host, int(port)), 20))
            scratch.callback(hung[-1].close)
            hung[-1].sendall(f"GET /api/v1/{target} HTTP/1.1\r\nHost: localhost\r\n\r\n"
                             .encode())
        hung.append(socket.create_connection((host, int(port)), 20))
        wait_until(lambda: status(lab)["web"]["streams"] == 2, 20, "streams")
        begun = time.monotonic()
        end(lab, signal.SIGTERM)
        assert time.monotonic() - begun < 20, "how long it took"


def test_standby_answers_for_itself():
    need(TRIADD)
    addresses = [free_address(), free_address()]
    with triad_lab(QUICK, sms=["Hca1", "Hca2"], triadd=True) as lab:
        for sm, address in enumerate(addresses):
            ask(lab, "set", "web.listen", address, sm=sm)
        states = [get_json(address, "/api/v1/status")["sm"]["state"]
                  for address in addresses]
        assert sorted(states) == ["master", "standby"], states
        standby = addresses[states.index("standby")]
        health = get_json(standby, "/api/v1/health")
        assert any("standby" in part["text"] for part in health["parts"]), health
        response = get(standby, "/api/v1/routes")
        assert response.status == 409, response.body
        assert "master" in json.loads(response.body)["detail"], response.body


# --- triad-agent -----------------------------------------------------------------

def test_agent_has_what_needs_no_opensm(scratch):
    need(TRIADD)
    address = free_address()
    net = scratch.folder() / "net"
    net.write_text(FABRIC, encoding="utf-8")
    with TriadLab(net, triad_conf="[perfmgr]\nenabled = false\n") as lab:
        agent = Agent(scratch, lab, f"{QUICK}[web]\nlisten = {address}\n"
                      f"[history]\ndir = {scratch.folder()}\n", node="Hca2")
        wait_until(lambda: agent.triadctl("diff", "2s").returncode != 1, 40, "images")
        description = get_json(address, "/api/v1/openapi.json")
        paths = set(description["paths"])
        assert {"/api/v1/links", "/api/v1/status"} <= paths, paths
        assert not any(path.startswith(("/api/v1/qos", "/api/v1/port/", "/api/v1/election"))
                       for path in paths), paths
        check_answers(address, description,
                      absent=["agents", "cables", "congestion", "devices", "job",
                              "repair", "routes"])
        response = get(address, "/api/v1/qos/clients")
        assert response.status == 404 and b"qos" in response.body, response.body


def test_manager_shows_what_agents_read(scratch):
    need(TRIADD)
    broker = Broker(scratch)
    address = free_address()
    with lab_of(scratch, broker, f"[web]\nlisten = {address}\n") as lab:
        start(scratch, lab, broker, 2, 5)
        wait_until_settled(lab, 2)
        description = get_json(address, "/api/v1/openapi.json")
        for path, argument in (("agents", ""), ("agents/owner/{node}", "host-0002%20HCA-1"),
                               ("nodes", ""), ("links", ""), ("status", ""),
                               ("health", ""), ("perf/top", "")):
            path = f"/api/v1/{path}"
            assert check_answer(
                address, description, description["paths"][path]["get"],
                path.replace("{node}", argument)) == 200, path
