# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Jobs and Slurm: a real slurmctld reads the topology; links of a set of hosts."""

import os
import re
import subprocess

import pytest

from checks import failed, mentions, succeeded, wait_until
from labs import SRCDIR
from triadlab.tcp_ports import free_port
from triadlib import TriadLab, ask, ask_json, triad_lab, wait_for_sweep

HOSTS = 24
CONF = "[perfmgr]\nsweep_period = 1\nreset = never\n"
SLURM_CONF = """\
ClusterName=triad
SlurmctldHost=localhost(127.0.0.1)
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
TopologyPlugin=topology/tree
SlurmctldPort={port}
SlurmdPort={node_port}
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/pid
SlurmUser=root
NodeName=host-[0001-0024] State=FUTURE
PartitionName=all Nodes=ALL Default=YES
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Three leaves with eight hosts each, below spines."""
    net = tmp_path_factory.mktemp("jobs") / "tree.net"
    subprocess.run([SRCDIR / "scripts" / "gen-fabric", "fat-tree", "--levels", "2",
                    "--radix", "16", "--hosts", str(HOSTS), "-o", net], check=True)
    images = tmp_path_factory.mktemp("images")
    with TriadLab(net, sms=["host-0001"],
                  triad_conf=f"{CONF}[history]\ndir = {images}\n") as lab:
        wait_for_sweep(lab, 2)
        wait_until(lambda: lab.triad("routes", "check", "--json").returncode != 3, 20,
                   "routes")
        yield lab


class Slurm:
    """A real controller that reads a topology."""

    def __init__(self, scratch, topology):
        self.folder = scratch.folder()
        (self.folder / "state").mkdir()
        (self.folder / "topology.conf").write_text(topology, encoding="utf-8")
        conf = self.folder / "slurm.conf"
        conf.write_text(SLURM_CONF.format(port=free_port(), node_port=free_port(),
                                          folder=self.folder), encoding="utf-8")
        self.environment = {**os.environ, "SLURM_CONF": str(conf)}
        self.log = self.folder / "log"
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(  # pylint: disable=consider-using-with
                ["slurmctld", "-D", "-f", conf], env=self.environment,
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        scratch.callback(self.end)

    def end(self):
        self.process.kill()
        self.process.wait()

    def run(self, *words):
        return subprocess.run(words, env=self.environment, capture_output=True, text=True,
                              check=False, timeout=60)

    def switches(self):
        """What it made of the topology: name: its fields; None before it answers."""
        process = self.run("scontrol", "show", "topology")
        if process.returncode or "SwitchName" not in process.stdout:
            return None
        lines = [dict(word.split("=", 1) for word in line.split())
                 for line in process.stdout.splitlines()]
        return {line["SwitchName"]: line for line in lines}


@pytest.mark.row("N9")
@pytest.mark.plain
def test_slurm_reads_the_topology(lab, scratch):
    topology = ask(lab, "topology", "--slurm")
    slurm = Slurm(scratch, topology)
    switches = wait_until(slurm.switches, 30, "slurmctld's answer")
    leaves = {name: line for name, line in switches.items() if line["Level"] == "0"}
    assert {line["Nodes"] for line in leaves.values()} == {
        "host-[0001-0008]", "host-[0009-0016]", "host-[0017-0024]"}, leaves
    above, = [line for line in switches.values() if line["Level"] == "1"]
    assert above["Nodes"] == "host-[0001-0024]", above
    assert above["Switches"] == "leaf-[01-03]", above
    assert "error: WARNING: switches lack access" not in slurm.log.read_text()
    failed(lab.run("triadctl", "topology"), 2, "--slurm --json")


@pytest.mark.row("N9")
def test_topology_in_json_has_the_same_lines(lab):
    topology = ask_json(lab, "topology")
    lines = {line["name"]: line for line in topology["switches"]}
    leaves = {name: line["hosts"] for name, line in lines.items() if line["hosts"]}
    assert (topology["hosts"], topology["leaves"], topology["parts"]) == (24, 3, 1), topology
    assert sorted(sum(leaves.values(), [])) == [f"host-{i:04}" for i in range(1, 25)], leaves
    above, = [line for line in lines.values() if line["switches"]]
    assert (above["switches"], above["hosts"]) == (["leaf-01", "leaf-02", "leaf-03"], [])
    text = ask(lab, "topology", "--slurm")
    assert [line.split()[0] for line in text.splitlines() if not line.startswith("#")] == \
        [f"SwitchName={name}" for name in lines], text


@pytest.mark.row("N9")
def test_job_shows_its_links_and_its_share_of_them(lab):
    # Four hosts at one leaf, four at another.
    job = ask_json(lab, "job", "--nodes", "host-[0001-0004,0009-0012],host-0099",
                   "-n", "1000")
    assert job["hosts"] == 8 and job["host_switches"] == 2, job
    assert job["unknown_hosts"] == ["host-0099"], job
    assert job["pairs"] == job["arriving_pairs"] == 56, job
    # To its host leads what the seven others send it; all hosts send it 23.
    links = {(link["node_name"].split()[0], link["port"]): link for link in job["links"]}
    to_host = next(link for link in job["links"]
                   if link["to_node_name"].startswith("host-0002"))
    assert to_host["pairs"] == 7, to_host
    assert to_host["share_percent"] == pytest.approx(100 * 7 / 23, abs=0.01), to_host
    up = sum(link["pairs"] for (name, _), link in links.items()
             if name == "leaf-01" and link["to_node_name"].startswith("spine"))
    assert up == 16, links
    assert job["links_used"] == len(job["links"]), job
    assert not any(name == "leaf-03" for name, _ in links), links
    text = ask(lab, "job", "--nodes", "host-[0001-0004]")
    assert "4 hosts (4 ports) at 1 switch" in text, text
    assert max(map(len, text.splitlines())) <= 80, text


@pytest.mark.row("N9")
def test_job_has_the_errors_and_alerts_of_its_links(lab):
    port = 'PerformanceSet "host-0010"[1] PortCounters.SymbolErrorCounter='
    before = ask_json(lab, "job", "--nodes", "host-[0009-0010]")
    assert not before["alerts"], before
    lab.sim(port + "300")
    job = wait_until(lambda: (found := ask_json(
        lab, "job", "--nodes", "host-[0009-0010]"))["alerts"] and found, 20, "the alert")
    assert "SymbolErrorCounter" in job["alerts"][0]["what"], job
    assert max(link["errors"] for link in job["links"]) >= 300, job
    assert not ask_json(lab, "job", "--nodes", "host-[0001-0002]")["alerts"]
    text = ask(lab, "job", "--nodes", "host-[0009-0010]")
    assert "SymbolErrorCounter" in text and "host-0010" in text, text


@pytest.mark.row("N9")
def test_job_counts_what_grew_since_a_time(lab):
    nodes = ("job", "--nodes", "host-[0017-0018]")

    def last_image():
        return ask_json(lab, "status")["images"]["last"]

    def next_image():
        last = last_image()
        return wait_until(lambda: (now := last_image()) != last and now, 20, "an image")

    def most_errors(*since):
        return max(link["errors"] or 0 for link in ask_json(lab, *nodes, *since)["links"])

    def set_counters(errors, words):
        lab.sim(f'PerformanceSet "host-0017"[1] PortCounters.SymbolErrorCounter={errors}',
                f'PerformanceSet "host-0017"[1] PortCountersExtended.PortXmitData={words}')

    set_counters(5, 1000)
    wait_until(lambda: most_errors() == 5, 20, "what was there before")
    # The first may be of the sweep before that.
    next_image()
    next_image()
    then = next_image()[:19]
    wait_until(lambda: last_image()[:19] > then, 20, "the next second")
    set_counters(12, 9000)
    wait_until(lambda: most_errors("--since", then) == 7, 20, "what has grown")
    job = ask_json(lab, *nodes, "--since", then)
    assert job["since"][:19] <= then, job
    links = {link["node_name"].split()[0]: link for link in job["links"]}
    # ibsim counts MADs, too: those of the SM between the image and what is set here are
    # overwritten by it.
    assert 4 * 7000 < links["host-0017"]["octets"] <= 4 * 8000, links
    assert 0 <= links["host-0017"]["use_percent"] < 1, links
    assert most_errors() == 12
    text = ask(lab, *nodes, "--since", then)
    assert mentions(text, "errors since"), text
    assert max(map(len, text.splitlines())) <= 80, text
    failed(lab.run("triadctl", *nodes, "--since", "2001-01-01"), 1, "job: ")
    failed(lab.run("triadctl", *nodes, "--since", "yesterday"), 2, "--since")


@pytest.mark.row("N9")
def test_topology_needs_no_counters():
    with triad_lab("[perfmgr]\nenabled = false\n") as lab:
        topology = wait_until(lambda: lab.triad("topology", "--slurm").stdout, 20,
                              "a topology")
        assert re.search(r"^SwitchName=\S+ Nodes=", topology, re.MULTILINE), topology


@pytest.mark.row("N9")
def test_hosts_that_are_wrong_are_reported(lab):
    failed(lab.run("triadctl", "job"), 2, "--nodes or --slurm")
    failed(lab.run("triadctl", "job", "--nodes", "host-[0001-"), 1, "its ']' is missing")
    failed(lab.run("triadctl", "job", "--nodes", "nobody"), 1, "in the fabric")


@pytest.mark.row("N9")
def test_hosts_of_a_job_are_asked_of_slurm(lab, scratch, monkeypatch):
    slurm = Slurm(scratch, ask(lab, "topology", "--slurm"))
    wait_until(slurm.switches, 30, "slurmctld's answer")
    # The real squeue knows no such job.
    monkeypatch.setenv("SLURM_CONF", slurm.environment["SLURM_CONF"])
    failed(lab.run("triadctl", "job", "--slurm", "4711"), 1, "4711 no such job squeue")
    # One that waits.
    job = slurm.run("sbatch", "--parsable", "--hold", "--chdir", "/", "--wrap", "true")
    failed(lab.run("triadctl", "job", "--slurm", succeeded(job).stdout.strip()), 1,
           "begun PENDING")
    # A job that runs needs slurmd on each host; what squeue prints of one is played.
    folder = scratch.folder()
    (folder / "squeue").write_text("#!/bin/sh\necho 'RUNNING host-[0001-0002]'\n",
                                   encoding="ascii")
    (folder / "squeue").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    job = succeeded(lab.run("triadctl", "job", "--slurm=17")).stdout
    assert "2 hosts (2 ports) at 1 switch" in job, job
