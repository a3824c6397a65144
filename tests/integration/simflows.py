# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Traffic for labs: a simulator of flows (tests/sim/flows_run.c) runs on the tables that the
lab's OpenSM made, and ibsim's counters are set to what ports would count.

ibsim carries no traffic, so only what is set shows.  PortXmitWait has 32 bits: a link of
100 Gb/s that waits all the time fills it in 1.4 s, one of 8 Gb/s in 17 s.  So labs have slow
links (slow_links())."""

import re
import subprocess
import time

from checks import succeeded
from labs import BUILDDIR
from triadlib import ask, ask_json

WORDS_PER_S = 8e9 / 32  # 4x SDR
SWEEP_S = 1.0
LEAST_RATIO = 10


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


class Traffic:
    """Ports that count that, from the first sweep on, which sees where they begin.

    Ports are set and read one after another, and Triad divides by the time between two
    readings of a port: what it finds is what was simulated only if both take little of the
    time from one sweep to the next.  So on a busy machine there is more time between two."""

    def __init__(self, lab, shares):
        self._lab, self._shares = lab, shares
        self._begun = time.monotonic()
        self._swept = self._took_s = 0.0
        self.sweep()

    def sweep(self):
        least_s = max(SWEEP_S, LEAST_RATIO * self._took_s) if self._swept else 0.0
        time.sleep(max(0.0, self._swept + least_s - time.monotonic()))
        now = time.monotonic()
        _set_counters(self._lab, self._shares, now - self._begun)
        ask(self._lab, "perf", "sweep")
        self._swept, self._took_s = now, time.monotonic() - now


def run(lab, shares):
    """Traffic until two sweeps after the first one.  It is over when the next sweep finds
    nothing new."""
    traffic = Traffic(lab, shares)
    traffic.sweep()
    traffic.sweep()
