# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Makes counters of the simulator grow, as traffic, a congested port and a bad cable
would."""

import sys
import threading

from . import netfile, simulator
from .errors import LabError

# Links that get traffic, and words (4 octets) a second on the busiest one.
N_BUSY_LINKS = 8
WORDS_PER_S = 600_000_000
# Ticks in which data waited, and symbol errors: enough for an alert each.
WAITS_PER_S = 120_000_000
ERRORS_PER_S = 12


class Traffic:
    """ibsim counts the MADs it carries and nothing else, so numbers are typed into
    its console, once a second, while the block of 'with' runs."""

    def __init__(self, lab, fabric, words_per_s=WORDS_PER_S, waits_per_s=WAITS_PER_S):
        self._words_per_s, self._waits_per_s = words_per_s, waits_per_s
        self._console = simulator.Console(lab, 10)
        self._links = list(self._busy_links(fabric))
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @staticmethod
    def _busy_links(fabric):
        """Links between switches first, then those to hosts: (ends that are a
        switch's, the other end)."""
        ends = [((node.node_id, port), far)
                for node in fabric.of_kind(netfile.SWITCH)
                for port, far in sorted(node.links.items())]
        ends.sort(key=lambda end: fabric.nodes[end[1][0]].kind != netfile.SWITCH)
        seen = set()
        for near, far in ends:
            if (far, near) not in seen and len(seen) < N_BUSY_LINKS:
                seen.add((near, far))
                is_switch = fabric.nodes[far[0]].kind == netfile.SWITCH
                yield near, far if is_switch else None

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_exception):
        self._stop.set()
        self._thread.join(15)

    def _run(self):
        second = 0
        while not self._stop.wait(1 if second else 0):
            second += 1
            try:
                for _ in self._console.ask(list(self._commands(second))):
                    pass
            except LabError as error:
                print(f"no more traffic: {error}", file=sys.stderr, flush=True)
                return

    def _commands(self, second):
        for rank, (near, far) in enumerate(self._links, 1):
            words = second * self._words_per_s // rank
            packets = words // 512
            yield from self._data(near, words, packets, words // 3, packets // 3)
            if far:
                yield from self._data(far, words // 3, packets // 3, words, packets)
        if self._links:
            yield from self._errors(self._links[0][0], second)

    def _data(self, end, sent, sent_packets, received, received_packets):
        for name, value in (("PortXmitData", sent), ("PortXmitPkts", sent_packets),
                            ("PortRcvData", received),
                            ("PortRcvPkts", received_packets)):
            yield self._set(end, "PortCountersExtended", name, value)

    def _errors(self, end, second):
        yield self._set(end, "PortCounters", "PortXmitWait",
                        min(second * self._waits_per_s, 2 ** 32 - 1))
        bad_end = self._links[-1][0]
        yield self._set(bad_end, "PortCounters", "SymbolErrorCounter",
                        min(ERRORS_PER_S * second, 65535))
        yield self._set(bad_end, "PortCounters", "LinkDownedCounter", 1)

    @staticmethod
    def _set(end, attribute, name, value):
        return f'PerformanceSet "{end[0]}"[{end[1]}] {attribute}.{name}={value}'
