# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Traffic for labs: a simulator of flows (tests/sim/flows_run.c) runs on the tables that the
lab's OpenSM made, and ibsim's counters are set to what ports would count.

ibsim carries no traffic, so only what is set shows.  PortXmitWait has 32 bits: a link of
100 Gb/s that waits all the time fills it in 1.4 s, one of 8 Gb/s in 17 s.  So labs have slow
links (slow_links())."""

import re
import subprocess
import threading
import time

from checks import succeeded
from labs import BUILDDIR
from triadlib import ask, ask_json

WORDS_PER_S = 8e9 / 32  # 4x SDR
SWEEP_S = 1.0


def slow_links(net):
    """Makes all links of a fabric's file 4x SDR."""
    net.write_text(net.read_text(encoding="utf-8").replace("4xEDR", "4xSDR"),
                   encoding="utf-8")


def node_of(end):
    """The node as ibsim names it: "host-0001" of "host-0001 HCA-1"."""
    return end["node_name"].split()[0]


def describe(lab):
    """The lab's fabric, for the simulator."""
    lines, hosts = [], {}
    links = [link["ends"] for link in ask_json(lab, "links")]
    switches = {row["name"]: row["lid"]
                for row in ask_json(lab, "nodes", "--type", "switch")}
    for ends in links:
        hosts.update({node_of(end): end["lid"] for end in ends
                      if end["node_type"] == "ca"})
    lines += [f"switch {name} 40" for name in switches]
    lines += [f"host {name} {lid}" for name, lid in hosts.items()]
    lines += [f"link {node_of(a)} {a['port']} {node_of(b)} {b['port']}"
              for a, b in links]
    for name, lid in switches.items():
        text = succeeded(lab.run("ibroute", lid)).stdout
        lines += [f"route {name} {int(to, 16)} {int(port)}" for to, port in
                  re.findall(r"^0x([0-9a-f]+) (\d{3}) :", text, re.MULTILINE)]
    return lines


def simulate(fabric, traffic):
    """{(node, port): (share sent, share waited)}; 'traffic' has lines such as
    "flow host-1 host-2 0.5" and "drain host-2 0.3"."""
    done = subprocess.run([BUILDDIR / "tests" / "sim" / "flows_run"],
                          input="\n".join(fabric + traffic) + "\n", text=True,
                          stdout=subprocess.PIPE, check=True)
    rows = [line.split() for line in done.stdout.splitlines()]
    return {(name, int(port)): (float(sent), float(waited))
            for name, port, sent, waited in rows}


def _set_counters(lab, shares, elapsed_s):
    ticks = WORDS_PER_S * elapsed_s
    commands = []
    for (name, port), (sent, waited) in shares.items():
        at = f'PerformanceSet "{name}"[{port}]'
        commands.append(f"{at} PortCountersExtended.PortXmitData={int(sent * ticks)}")
        commands.append(f"{at} PortCounters.PortXmitWait="
                        f"{min(int(waited * ticks), 2 ** 32 - 1)}")
    lab.sim(*commands)


def run(lab, shares):
    """Two sweeps in which ports count that, after one that sees where they begin.  It is
    over when the next sweep finds nothing new."""
    _set_counters(lab, shares, 0)
    ask(lab, "perf", "sweep")
    begun = time.monotonic()
    for i in range(1, 3):
        time.sleep(max(0.0, begun + i * SWEEP_S - time.monotonic()))
        _set_counters(lab, shares, time.monotonic() - begun)
        ask(lab, "perf", "sweep")


class Traffic:
    """Ports that count that, ten times a second, from the beginning to the end of a block."""

    def __init__(self, lab, shares):
        self._lab, self._shares = lab, shares
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self):
        begun = time.monotonic()
        while not self._is_over.wait(0.1):
            _set_counters(self._lab, self._shares, time.monotonic() - begun)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._is_over.set()
        self._thread.join()
