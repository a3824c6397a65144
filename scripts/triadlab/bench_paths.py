# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What benchmarks of answers to PathRecord requests share: policies, Triad's answers on and
off, and sweeps."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from .errors import LabError
from .plugin import triadctl, triadctl_json

_LAB = Path(__file__).resolve().parent.parent / "lab"
_EVERY_US = 2000
_POLL_S = 0.05


def policy(n_rules, guids):
    """Each rule is about Service-IDs of its own; every fourth also about a group of
    sources, every eighth about a P_Key that a request would have to have."""
    chance = random.Random(n_rules)
    lines = ["port-groups"]
    for group in range(32):
        members = chance.sample(guids, min(len(guids), 200))
        lines += ["port-group", f"name: G{group}", f"port-guid: {','.join(members)}",
                  "end-port-group"]
    lines += ["end-port-groups", "qos-levels",
              "qos-level", "name: DEFAULT", "sl: 0", "end-qos-level",
              "qos-level", "name: Bulk", "sl: 1", "rate-limit: 3", "end-qos-level",
              "end-qos-levels", "qos-match-rules"]
    for rule in range(n_rules):
        first = 0x1000000 + rule * 16
        lines += ["qos-match-rule", f"service-id: {first:#x}-{first + 15:#x}"]
        if rule % 4 == 0:
            lines.append(f"source: G{rule % 32}")
        if rule % 8 == 1:
            lines.append("pkey: 0x1234")
        lines += ["qos-level-name: Bulk", "end-qos-match-rule"]
    lines.append("end-qos-match-rules")
    return "\n".join(lines) + "\n"


def guids_of(net):
    """Port GUIDs of the hosts, as ibsim gives them: one above the node's."""
    return [f"{int(line.split('=')[1], 16) + 1:#x}"
            for line in Path(net).read_text(encoding="utf-8").splitlines()
            if line.startswith("caguid=")]


def hosts_of(net, n):
    """Descriptions of hosts in different places, but for the SM's."""
    names = [line.split('"')[1] for line in Path(net).read_text(encoding="utf-8").splitlines()
             if line.startswith("Hca")]
    step = max(1, len(names) // (n + 1))
    return [names[(i + 1) * step] for i in range(n)]


def set_triad(running, on):
    triadctl(running, "qos", "on" if on else "off")
    wanted = "answering" if on else "off"
    deadline = time.monotonic() + 120
    while triadctl_json(running, "status")["qos"]["state"] != wanted:
        if time.monotonic() > deadline:
            raise LabError(f"Triad's answers are not {wanted}")
        time.sleep(_POLL_S)


def sweep_until(running, is_over):
    """Heavy sweeps, one behind the other; returns how many."""
    sm = running.sms[0]
    n, at = 0, 0
    while not is_over():
        text = Path(sm.log).read_text(encoding="utf-8", errors="replace")
        if not n or "SUBNET UP" in text[at:]:
            at = len(text)
            os.kill(sm.process.pid, signal.SIGHUP)
            n += 1
        time.sleep(_POLL_S)
    return n


# --- clients -------------------------------------------------------------------

def world(guids, n_rules):
    """What there is to ask about, as path_ask reads it."""
    lines = ["prefix 0xfe80000000000000", "lid 1"]
    lines += [f"guid {guid}" for guid in guids[:20000]]
    lines += [f"service {0x1000000 + i * 16:#x}" for i in range(2 * min(n_rules + 1, 20000))]
    return "\n".join(lines) + "\n"


def ask(running, builddir, clients, there_is, seconds, meanwhile=None):
    """All clients at one time: the reports of path_ask, and what meanwhile(clients) gave."""
    started = [subprocess.Popen(
        [sys.executable, str(_LAB), "run", "--dir", running.folder, "--node", client, "--",
         f"{builddir}/tests/integration/path_ask", "--kind", "path", "--plain", "--by-gid",
         "--quiet", "--every-us", str(_EVERY_US), "--only", "0x3", "--seed", str(seed),
         "--seconds", str(seconds)],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True) for seed, client in enumerate(clients, 1)]
    for process in started:
        process.stdin.write(there_is)
        process.stdin.close()
        process.stdin = None
    found = meanwhile(started) if meanwhile else None
    reports = []
    for process in started:
        _, errors = process.communicate(timeout=seconds + 120)
        if process.returncode:
            raise LabError(f"path_ask: {errors.strip()}")
        reports.append(json.loads(errors.splitlines()[-1]))
    return reports, found
