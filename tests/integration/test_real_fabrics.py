# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Fabrics as they are: each file of ibnetdiscover in the folder that TRIAD_FABRICS names,
with stock opensm: what Triad says of it is what the file has, no warning is raised that a
fabric without a fault gives no reason for, and each command fits a terminal."""

import collections
import io
import json
import os
import pty
import re
import subprocess
import tarfile
import time
import urllib.request
from pathlib import Path

import pytest

import pagelib
from checks import succeeded, wait_until
from ctllib import TRIADCTL, environment, read_terminal
from labs import BUILDDIR, Lab, lab_command
from triadlab import ibdiagnet, netfile
from triadlab.tcp_ports import free_address
from triadlib import QUICK, ask, ask_json, status

FOLDER = os.environ.get("TRIAD_FABRICS")
FABRICS = sorted(Path(FOLDER).glob("*.net")) if FOLDER else []
pytestmark = [pytest.mark.full, pytest.mark.scripts,
              pytest.mark.skipif(not FABRICS, reason="TRIAD_FABRICS names no folder with any")]
# Of these a fabric may have some as it is cabled and routed.
TRUE_FINDINGS = re.compile("slow link|credit loop|turns? from down to up|levels are not clear|"
                           "longer than the shortest|not what the expected|OpenSM does not know the speeds")
CONF = QUICK + """\
[prometheus]
listen = {metrics}
[web]
listen = {page}
[history]
dir = {folder}/images
[election]
enabled = true
cluster = none
[port]
enabled = true
expected_file = {folder}/expected.csv
"""
COMMANDS = ["health", "status", "links -n 20", "links --slow", "nodes -n 20",
            "ports --state free -n 20", "perf top", "perf ber --all -n 20", "perf details -n 20",
            "perf show --errors", "perf resets", "alerts --all", "history", "routes", "routes check", "heal plan", "congestion", "silences", "election", "port list -n 20",
            "port plan", "perf histogram PortXmitData", "qos nodes"]


class Site:
    """A lab of one of them, when all has been read once."""

    def __init__(self, lab, net, folder, addresses):
        self.lab, self.net, self.folder, self.addresses = lab, net, folder, addresses
        self.file = netfile.read(net)


@pytest.fixture(scope="module", params=FABRICS or [None],
                ids=[path.stem for path in FABRICS] or None)
def site(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    metrics, page = free_address(), free_address()
    conf = CONF.format(folder=folder, metrics=metrics, page=page)
    begun = time.monotonic()
    with Lab(request.param, triad_conf=conf, images=True, timeout_s=300) as lab:
        wait_until(lambda: status(lab)["perfmgr"]["sweeps"] > 1, 300, "two sweeps")
        wait_until(lambda: lab.triad("routes", "check").returncode != 3, 300, "a check of routes")
        print(f"{request.param.stem}: read after {time.monotonic() - begun:.1f} s")
        (folder / "expected.csv").write_text(ask(lab, "port", "snapshot"), encoding="utf-8")
        succeeded(lab.triad("reload"))
        yield Site(lab, request.param, folder, {"metrics": metrics, "page": page})


def test_db_csv_is_read_as_the_fabric_of_the_file(site):
    text = ask(site.lab, "topology", "--db-csv")
    fabric = ibdiagnet.parse(text.splitlines())
    assert cables(fabric) == cables(site.file)
    lids = {row["guid"]: row["lid"] for row in ask_json(site.lab, "nodes", "-n", "100000")}
    assert len(lids) == len(fabric.nodes) and 0 not in lids.values()


def test_anonymous_bundle_has_no_name_of_the_file(site, tmp_path):
    """Found by a search that knows nothing of how they are replaced: whatever stands around
    them, and in one file after the other."""
    path = tmp_path / "bundle"
    succeeded(site.lab.run("triadctl", "bundle", "--anonymous", path))
    succeeded(site.lab.run("triadctl", "bundle", "check", path))
    octets = subprocess.run(["zstd", "-dc", path], capture_output=True, check=True).stdout
    words = {word for node in site.file.nodes.values()
             for word in re.findall(r"[\w-]{5,}", node.description)
             if re.search(r"\d", word) and not re.match(r"mlx|HCA|MQM|MT|Quantum", word)}
    runs = set(re.findall(rb"[\w-]{5,}", octets))
    assert not {word for word in words if word.encode() in runs}
    digits = set(re.findall(rb"[0-9a-f]{16}", octets))
    assert not {node.guid for node in site.file.nodes.values()
                if f"{node.guid:016x}".encode() in digits}
    with tarfile.open(fileobj=io.BytesIO(octets)) as archive:
        text = archive.extractfile("triad-bundle/fabric/ibdiagnet2.db_csv").read().decode()
    fabric = ibdiagnet.parse(text.splitlines())
    assert fabric.counts() == site.file.counts()
    alike = [collections.Counter(collections.Counter(
        node.description for node in of.nodes.values()).values()) for of in (fabric, site.file)]
    assert alike[0] == alike[1]


def cables(fabric):
    """Of each node: kind, name, and what is where, at which rate."""
    guids = {node_id: node.guid for node_id, node in fabric.nodes.items()}
    return {node.guid: (node.kind, node.description.strip(), {
        port: (guids[far], far_port, node.rates[port])
        for port, (far, far_port) in node.links.items()}) for node in fabric.nodes.values()}


def test_nodes_and_links_are_those_of_the_file(site):
    counts = site.file.counts()
    rows = ask_json(site.lab, "nodes", "-n", "100000")
    assert len(rows) == counts["hosts"] + counts["switches"]
    assert len(ask_json(site.lab, "links", "-n", "100000")) == counts["links"]
    labels = succeeded(site.lab.run("triadctl", "nodes", "-n", "100000", "--columns", "node",
                                    "--no-headings")).stdout.splitlines()
    assert len(set(labels)) == len(rows), "labels that are not unique"


def test_nothing_is_found_that_is_no_fault(site):
    process = site.lab.triad("health", "--json")
    found = [row for row in json.loads(process.stdout)["findings"]
             if not TRUE_FINDINGS.search(row["what"])]
    assert not found, [row["what"] for row in found]
    rows = ask_json(site.lab, "perf", "show")
    assert rows and all(row["answered"] for row in rows)


def test_fabric_as_it_is_is_as_expected(site):
    expected = site.folder / "expected.csv"
    succeeded(site.lab.triad("reload"))
    wait_until(lambda: status(site.lab)["ports"]["rows"] > 0, 60, "what is expected")
    wait_until(lambda: not ask_json(site.lab, "port", "plan")["rows"], 120,
               "nothing to do at ports")
    assert expected.stat().st_size > 1000
    process = site.lab.run("triadctl", "port", "check", str(expected))
    assert process.returncode == 0, process.stdout + process.stderr


def test_slurm_has_each_host_once(site):
    text = ask(site.lab, "topology", "--slurm")
    switches = re.findall(r"^SwitchName=(\S+)", text, re.MULTILINE)
    assert switches and len(set(switches)) == len(switches)
    assert all(re.fullmatch(r"(#.*|SwitchName=\S+ (Switches|Nodes)=\S+.*|)", line)
               for line in text.splitlines()), text[:2000]


def test_metrics_have_each_series_once(site):
    with urllib.request.urlopen(f"http://{site.addresses['metrics']}/metrics",
                                timeout=120) as answer:
        lines = answer.read().decode().splitlines()
    series = [line.rsplit(" ", 1)[0] for line in lines if line and line[0] != "#"]
    assert len(series) > 1000 and len(set(series)) == len(series)


def test_page_and_its_resources_answer(site):
    for path in ("/", "/api/v1/health", "/api/v1/links?limit=100", "/api/v1/topology",
                 "/api/v1/nodes?limit=100"):
        with urllib.request.urlopen(f"http://{site.addresses['page']}{path}",
                                    timeout=120) as answer:
            assert answer.status == 200 and answer.read(), path


def test_views_show_it_in_a_browser_light_dark_and_narrow(site):
    """Each within seconds, all of the fabric, each switch by a label of its own."""
    switches = [row for row in ask_json(site.lab, "nodes", "-n", "100000")
                if row["type"] == "switch"]
    with pagelib.browser(f"http://{site.addresses['page']}") as page:
        for scheme, width in (("light", 1400), ("dark", 1400), ("light", 390)):
            page.prefer(prefers_color_scheme=scheme)
            page.resize(width, 900)
            for view in ("fabric", "links", "inventory", "inventory/ports?group=1", "busiest",
                         "routes", "changes", "guards"):
                begun = time.monotonic()
                page.open(f"/{view}")
                seconds = time.monotonic() - begun
                octets = page.js("return performance.getEntriesByType('resource')"
                                 ".reduce((sum, it) => sum + it.transferSize, 0)")
                print(f"{scheme} {width} {view}: {seconds:.1f} s, {octets} octets")
                assert page.js("return document.documentElement.scrollWidth") <= width, view
                page.screenshot(f"{site.net.stem}-{re.sub('[^a-z]+', '-', view)}-{scheme}-{width}")
        page.open("/inventory?find=switch&rows=all&cols=name,type")

        def labels():
            return page.js("return [...document.querySelectorAll('#main tbody td:first-child')]"
                           ".map((it) => it.innerText)")
        # Which names are of several nodes is known when the fabric has come.
        wait_until(lambda: len(switches) <= len(labels()) == len(set(labels())), 30, labels)
        assert not page.errors() and not page.strangers()


def test_copy_routes_as_the_fabric_and_tells_what_a_switch_carries(site):
    guid = next(node.guid for node in site.file.of_kind(netfile.SWITCH) if node.links)
    begun = time.monotonic()
    process = lab_command(
        "what-if", "--opensm-conf", site.lab.folder / "sm-0" / "opensm.conf", "--remove-switch",
        f"0x{guid:016x}", "--json",
        env={**os.environ, "TRIADCTL": TRIADCTL, "TRIAD_BUILDDIR": str(BUILDDIR),
             "TRIAD_SOCKET": site.lab.status()["sms"][0]["control_socket"]})
    print(f"what-if: {time.monotonic() - begun:.1f} s")
    assert process.returncode in (0, 1) and not process.stderr, process.stderr
    found = json.loads(process.stdout)
    assert found["copy_as_site"]["equal"] is True, found["copy_as_site"]["entries"]
    assert found["after"]["check"]["unreachable_pairs"] == 0


@pytest.mark.parametrize("command", COMMANDS)
def test_command_fits_a_terminal(site, scratch, command):
    socket = site.lab.status()["sms"][0]["control_socket"]
    master, slave = pty.openpty()
    scratch.callback(os.close, master)
    begun = time.monotonic()
    with subprocess.Popen([TRIADCTL, "--socket", socket, "--color=never", *command.split()],
                          stdout=slave, stderr=subprocess.STDOUT,
                          env=environment()) as process:
        os.close(slave)
        text = read_terminal(master).decode()
    print(f"{command}: {time.monotonic() - begun:.2f} s")
    assert process.returncode in (0, 1, 2, 3) and text, (process, text)
    # Sentences are the terminal's to break.
    wide = [line for line in text.splitlines() if len(line) > 80 and "  " in line.strip()]
    assert not wide, wide[:5]
