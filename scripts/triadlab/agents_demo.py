# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What 'demo --agents N' shows: agents share a fabric, one is killed, others read its
nodes, and no total jumps."""

import os
import signal
import time

from .errors import LabError
from .plugin import triadctl_json, wait
from .story import Story

TRIAD_CONF = """\
[perfmgr]
sweep_period = 1
"""

# (what was shown, the command)
SHOWN = (
    ("which agent reads how much", "triadctl agents"),
    ("who reads one node", "triadctl agents owner NODE"),
    ("all their counters, at the manager", "triadctl perf top"),
)

# Data that are counted between two looks at a port: what agents ask, and a margin.
_MOST_WORDS = 1_000_000


def _shared(lab, n_agents):
    """Who owns what, once every node has an owner that tells of it."""
    report = triadctl_json(lab, "agents")
    alive = [row for row in report["agents"] if row["state"] == "alive"]
    is_whole = (len(alive) == n_agents and not report["nodes_without_owner"] and
                not report["nodes_not_seen"] and
                sum(row["nodes_owned"] for row in alive) == report["nodes"])
    return is_whole and report


def _totals(lab):
    return {(row["node_guid"], row["port"]): row["counters"]["PortXmitData"] or 0
            for row in triadctl_json(lab, "perf", "show")}


def _jumps(before, after):
    """Ports whose total went back, or on by more than can have been sent."""
    return sorted(port for port, words in after.items()
                  if port in before and
                  not 0 <= words - before[port] <= _MOST_WORDS)


def _watch(lab, condition, what, seen):
    """Waits, and looks at all totals all the time: returns what jumped."""
    jumped = []

    def look():
        totals = _totals(lab)
        jumped.extend(_jumps(seen, totals))
        seen.update(totals)
        return condition()
    return wait(look, what), jumped


def show(lab, n_agents, as_json):
    story = Story(lab, as_json)
    before = wait(lambda: _shared(lab, n_agents), "the agents to share the fabric")
    story.say(f"--- {n_agents} agents share the fabric; OpenSM's Triad is their manager")
    story.command("agents")
    victim = max(before["agents"], key=lambda row: (row["nodes_owned"], row["name"]))
    agent = next(agent for agent in lab.agents if agent.node == victim["name"])
    seen = {}
    wait(lambda: _totals(lab), "totals")
    story.say(f"--- the agent on {agent.node}, which reads {victim['nodes_owned']} nodes, "
              "is killed")
    begun = time.monotonic()
    os.kill(agent.process.pid, signal.SIGKILL)
    after, jumped = _watch(lab, lambda: _shared(lab, n_agents - 1),
                           "others to read its nodes", seen)
    took_s = time.monotonic() - begun
    story.command("agents")
    story.say(f"--- {took_s:.1f} s later others read its nodes; of {len(seen)} ports, "
              f"totals of {len(jumped)} jumped")
    story.command("perf", "top", "-n", "5")
    if jumped:
        raise LabError(f"totals jumped at {jumped[:5]}")
    story.document = {"before": before, "killed": victim["name"], "after": after,
                      "seconds": round(took_s, 1), "ports": len(seen),
                      "totals_that_jumped": len(jumped)}
    story.end()
