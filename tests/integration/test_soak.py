# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""OpenSM with Triad for a while: links come and go, errors are counted and counters
reset by others, clients ask, and all that can be exported is; memory, descriptors and
threads stay flat.  A short form always; an hour with TRIAD_SOAK.

A second one is of links alone that flap, each second, for five minutes: alerts come and
go."""

import os
import random
import time
import urllib.request

import pytest

from checks import wait_until
from labs import sanitizer
from triadlab.tcp_ports import free_address
from triadlib import QUICK, ask, ask_json, status, triad_lab, wait_for_sweep

SOAK = "TRIAD_SOAK" in os.environ
FULL = "TRIAD_FULL" in os.environ
SECONDS = 3600 if SOAK else 20 if FULL else 8
FLAP_SECONDS = 300 if SOAK else 20 if FULL else 8
# A node that is just gone costs a part of the period, until the SM knows it.
CONF = QUICK + """\
timeout = 200
retries = 1
[alerts]
clear_after = 2
file = {folder}/alerts.json
[prometheus]
listen = {address}
[sflow]
collectors = 127.0.0.1:9
interval = 1
[profile]
file = {folder}/profile.csv.zst
[group fast]
nodes = Switch1
sweep_period = 1
"""
# Memory may still settle in the first part.
WARM_UP = SECONDS / 3
# The allocator's own slack; the sanitizers' quarantine is another matter.
MEMORY_SLACK = 2_000_000


def resources(lab):
    pid = lab.status()["sms"][0]["pid"]
    return {"descriptors": len(os.listdir(f"/proc/{pid}/fd")),
            "threads": len(os.listdir(f"/proc/{pid}/task")),
            "memory": status(lab)["memory"]["process_octets"]}


def resources_once_idle(lab, before):
    """When the last client's thread has ended; no more descriptors and threads than
    before."""
    def is_idle():
        after = resources(lab)
        grown = [name for name in ("descriptors", "threads")
                 if after[name] > before[name] + 1]
        return after if not grown else None
    return wait_until(is_idle, 20, f"descriptors and threads as in {before}")


def disturb(lab, dice, address):
    port = dice.choice((1, 2))
    action = dice.randrange(8)
    if action == 0:
        # ibsim refuses when it is unlinked already.
        lab.sim(f'Unlink "Switch2"[{port}]', may_refuse=True)
    elif action == 1:
        lab.sim(*(f'ReLink "Switch2"[{it}]' for it in (1, 2)), may_refuse=True)
    elif action == 2:
        lab.run("perfquery", "-R", "-a", str(dice.randrange(1, 8)))
    elif action == 3:
        ask_json(lab, "perf", "show")
        ask(lab, "perf", "top")
    elif action == 4:
        lab.sim(f'PerformanceSet "Switch1"[3] PortCounters.SymbolErrorCounter='
                f'{dice.randrange(60000)}')
        ask_json(lab, "alerts", "--all")
    elif action == 5:
        ask(lab, "perf", "histogram", "PortXmitData", "--node", "Switch1")
        ask(lab, "set", "alerts.SymbolErrorCounter", f"{dice.randrange(1, 99)}/sweep")
    elif action == 6:
        with urllib.request.urlopen(f"http://{address}/metrics", timeout=20) as answer:
            answer.read()
    else:
        ask(lab, "set", "perfmgr.window", str(dice.randrange(1, 200)))
        lab.run("triadctl", "perf", "show", "--node", "nobody")


@pytest.mark.threads
@pytest.mark.plain
def test_soak_resources_flat(tmp_path):
    seed = int(time.time())
    print(f"seed {seed}, {SECONDS} s")
    dice = random.Random(seed)
    address = free_address()
    conf = CONF.format(folder=tmp_path, address=address)
    with triad_lab(conf, opensm_conf="sweep_interval 1\n") as lab:
        wait_for_sweep(lab)
        warm, end = time.monotonic() + WARM_UP, time.monotonic() + SECONDS
        while time.monotonic() < warm:
            disturb(lab, dice, address)
        before, begun = resources(lab), time.monotonic()
        n_sweeps = status(lab)["perfmgr"]["sweeps"]
        while time.monotonic() < end:
            disturb(lab, dice, address)
        after = resources_once_idle(lab, before)
        print(f"before {before}, after {after}")
        if not sanitizer():
            assert after["memory"] <= before["memory"] + MEMORY_SLACK, (before, after)
        seconds, report = time.monotonic() - begun, status(lab)["perfmgr"]
        sweeps = report["sweeps"] - n_sweeps
        # On time, or said to be late.
        assert sweeps >= seconds * 0.8 - 1 or report["sweeps_late"], (seconds, report)


@pytest.mark.plain
def test_flapping_links_resources_flat(tmp_path):
    conf = QUICK + "timeout = 200\nretries = 1\n[alerts]\nclear_after = 0\n" \
        f"file = {tmp_path}/alerts.json\n"
    with triad_lab(conf, opensm_conf="sweep_interval 1\n") as lab:
        wait_for_sweep(lab)
        begun, before, n = time.monotonic(), None, 0
        while time.monotonic() < begun + FLAP_SECONDS:
            n += 1
            lab.sim('Unlink "Hca2"[1]', 'Unlink "Switch1"[3]')
            lab.sim('PerformanceSet "Switch1"[5] PortCounters.LinkDownedCounter='
                    f'{n % 200}')
            time.sleep(1)
            lab.sim('ReLink "Hca2"[1]', 'ReLink "Switch1"[3]')
            time.sleep(1)
            if not before and time.monotonic() > begun + FLAP_SECONDS / 3:
                before = resources(lab)
        after, report = resources_once_idle(lab, before), status(lab)["alerts"]
        print(f"{n} times; {report['raised']} alerts; before {before}, after {after}")
        assert report["raised"] > 0 and report["not_kept"] == 0, report
        if not sanitizer():
            assert after["memory"] <= before["memory"] + MEMORY_SLACK, (before, after)
