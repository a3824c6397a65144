# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Memory is short in Triad's threads: one allocation in so many fails, while all is asked
and links come and go.  OpenSM lives, and when there is memory again, all is right."""

import os
import random
import time
import urllib.request
from pathlib import Path

import pytest

from checks import wait_until
from labs import BUILDDIR
from triadlab.tcp_ports import free_address
from triadlib import QUICK, ask, ports, status, triad_lab, wait_for_sweep

SECONDS = 20
CONF = QUICK + """\
[alerts]
clear_after = 2
file = {folder}/alerts.json
webhook = http://{nobody}/
[devices]
enabled = true
[prometheus]
listen = {metrics}
[web]
listen = {page}
[sflow]
collectors = 127.0.0.1:9
interval = 1
[profile]
file = {folder}/profile.csv.zst
[history]
dir = {folder}/images
[qos]
enabled = true
tables_enabled = true
policy_file = {folder}/policy
[election]
enabled = true
cluster = none
[port]
enabled = true
expected_file = {folder}/expected.csv
"""
POLICY = """\
port-groups
    port-group
        name: all
        node-type: SWITCH
    end-port-group
end-port-groups
qos-levels
    qos-level
        name: DEFAULT
        sl: 0
    end-qos-level
end-qos-levels
"""
COMMANDS = ["status", "health", "nodes", "ports", "links", "links --slow", "perf show",
            "perf top", "perf ber", "perf resets", "alerts --all", "history", "diff --since 1m",
            "routes check", "routes over Switch1:1", "repair plan Switch1:1", "heal", "heal plan", "congestion", "job Hca1 Hca2",
            "silences", "election", "port plan", "port list", "qos show", "topology --slurm",
            "topology --db-csv", "topology --fdbs",
            "devices", "cables", "perf history Switch1:1", "perf tiers", "perf show --at 1s"]
ADDRESSES = ["/metrics", "/api/v1/health", "/api/v1/links", "/api/v1/history", "/"]


def fetch(address):
    try:
        with urllib.request.urlopen(f"http://{address}", timeout=5) as answer:
            answer.read()
    except OSError:
        pass


def disturb(lab, dice, metrics, page):
    action = dice.randrange(5)
    if action == 0:
        lab.sim(f'Unlink "Switch2"[{dice.choice((1, 2))}]', may_refuse=True)
    elif action == 1:
        lab.sim(*(f'ReLink "Switch2"[{it}]' for it in (1, 2)), may_refuse=True)
    elif action == 2:
        lab.triad("reload")
        fetch(metrics + "/metrics")
    elif action == 3:
        fetch(page + dice.choice(ADDRESSES))
    answers = [lab.triad(*command.split(), *dice.choice(([], ["--json"])))
               for command in dice.sample(COMMANDS, 4)]
    return sum("memory" in answer.stderr for answer in answers)


@pytest.mark.full
@pytest.mark.scripts  # a sanitizer has allocation functions of its own
@pytest.mark.parametrize("one_in", (7, 100, 3000))
def test_opensm_lives_while_memory_is_short(scratch, tmp_path, one_in):
    scarce = scratch.folder() / "scarce"
    os.environ["TRIAD_SCARCE"] = str(scarce)
    scratch.callback(os.environ.pop, "TRIAD_SCARCE")
    metrics, page, nobody = (free_address() for _ in range(3))
    conf = CONF.format(folder=tmp_path, metrics=metrics, page=page, nobody=nobody)
    (tmp_path / "policy").write_text(POLICY, encoding="ascii")
    dice = random.Random(one_in)
    with triad_lab(conf, opensm_conf="sweep_interval 1\nqos TRUE\n", images=True,
                   preload=(BUILDDIR / "tests/lab/.libs/libscarce.so",)) as lab:
        wait_for_sweep(lab)
        n_ports = len(ports(lab))
        pid = lab.status()["sms"][0]["pid"]
        scarce.write_text(str(one_in), encoding="ascii")
        end, n_short = time.monotonic() + SECONDS, 0
        while time.monotonic() < end:
            n_short += disturb(lab, dice, metrics, page)
            assert Path(f"/proc/{pid}").exists(), "opensm has ended"
        assert n_short or one_in > 100, "no answer said that memory is short"
        scarce.unlink()
        lab.sim(*(f'ReLink "Switch2"[{it}]' for it in (1, 2)), may_refuse=True)
        n = status(lab)["perfmgr"]["sweeps"]
        wait_until(lambda: status(lab)["perfmgr"]["sweeps"] > n + 2, 20, "sweeps")
        wait_until(lambda: len(ports(lab)) == n_ports, 20, "all ports")
        lab.sim('PerformanceSet "Switch1"[3] PortCounters.SymbolErrorCounter=60000')
        wait_until(lambda: "SymbolErrorCounter" in ask(lab, "alerts"), 20, "an alert")
