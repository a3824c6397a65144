#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""OpenSM with Triad for a while: links come and go, counters are reset by others,
clients ask; memory, descriptors and threads stay flat.  A short form always; an hour
with TRIAD_SOAK."""

import os
import random
import time

import taplib
from triadlib import QUICK, ask, ask_json, status, triad_lab, wait_for_sweep

SOAK = "TRIAD_SOAK" in os.environ
SECONDS = 3600 if SOAK else 12
# A node that is just gone costs a part of the period, until the SM knows it.
CONF = QUICK + "timeout = 200\nretries = 1\n"
# Memory may still settle in the first part.
WARM_UP = SECONDS / 3
# The allocator's own slack; the sanitizers' quarantine is another matter.
MEMORY_SLACK = 2_000_000


def resources(lab):
    pid = lab.status()["sms"][0]["pid"]
    return {"descriptors": len(os.listdir(f"/proc/{pid}/fd")),
            "threads": len(os.listdir(f"/proc/{pid}/task")),
            "memory": status(lab)["memory"]["process_octets"]}


def disturb(lab, dice):
    port = dice.choice((1, 2))
    action = dice.randrange(5)
    if action == 0:
        # ibsim refuses when it is unlinked already.
        lab.command("sim", f'Unlink "Switch2"[{port}]')
    elif action == 1:
        lab.command("sim", *(f'ReLink "Switch2"[{it}]' for it in (1, 2)))
    elif action == 2:
        lab.run("perfquery", "-R", "-a", str(dice.randrange(1, 8)))
    elif action == 3:
        ask_json(lab, "perf", "show")
        ask(lab, "perf", "top")
    else:
        ask(lab, "set", "perfmgr.window", str(dice.randrange(1, 200)))
        lab.run("triadctl", "perf", "show", "--node", "nobody")


def test_soak_resources_flat(t):
    seed = int(time.time())
    t.note(f"seed {seed}, {SECONDS} s")
    dice = random.Random(seed)
    with triad_lab(CONF, opensm_conf="sweep_interval 1\n") as lab:
        wait_for_sweep(lab)
        warm, end = time.monotonic() + WARM_UP, time.monotonic() + SECONDS
        while time.monotonic() < warm:
            disturb(lab, dice)
        before, begun = resources(lab), time.monotonic()
        n_sweeps = status(lab)["perfmgr"]["sweeps"]
        while time.monotonic() < end:
            disturb(lab, dice)
        after = resources(lab)
        t.note(f"before {before}, after {after}")
        assert after["descriptors"] <= before["descriptors"] + 1, (before, after)
        assert after["threads"] <= before["threads"] + 1, (before, after)
        if "TRIAD_LAB_PRELOAD" not in os.environ:
            assert after["memory"] <= before["memory"] + MEMORY_SLACK, (before, after)
        seconds, report = time.monotonic() - begun, status(lab)["perfmgr"]
        sweeps = report["sweeps"] - n_sweeps
        # On time, or said to be late.
        assert sweeps >= seconds * 0.8 - 1 or report["sweeps_late"], (seconds, report)


if __name__ == "__main__":
    taplib.main(globals())
