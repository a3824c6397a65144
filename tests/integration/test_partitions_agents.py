# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Whoever reads counters without being the master asks each port in a partition that
both ends share, too: a triad-agent alone, one below a manager, a standby."""

import os
import signal
from pathlib import Path

import pytest

from test_agent import Agent, stock_lab
from test_partitions import queries

NODE, NODE_PORT, HCA4_PORT = "Hca3", "0x0000000000100007", "0x000000000010000a"
QUICK = "[perfmgr]\nsweep_period = 1\nreset = never\n"
# Nobody meets in the default partition but Hca4 and the SM, who are full members of it;
# hosts meet in Compute, and the agent's host meets switches in Switches.
PARTITIONS = f"""\
Default=0x7fff : ALL=limited, SELF=full, {HCA4_PORT}=full;
Compute=0x0001 : ALL_CAS=full;
Switches=0x0002 : {NODE_PORT}=full, ALL_SWITCHES=full;
"""
# The agent's host meets nobody but the SM, and Hca4.
APART = f"Default=0x7fff : ALL=limited, SELF=full, {HCA4_PORT}=full;\n"


class Partitioned:
    """A stock opensm with partitions, and an agent on NODE whose queries are kept."""

    def __init__(self, scratch, conf, partitions=PARTITIONS, opensm=""):
        self.file = Path(scratch.folder()) / "partitions.conf"
        self.record = Path(scratch.folder()) / "record"
        self.file.write_text(partitions)
        self.lab = scratch.enter_context(stock_lab(
            scratch, opensm=f"partition_config_file {self.file}\n{opensm}"))
        self.agent = Agent(scratch, self.lab, conf, node=NODE,
                           variables={"TRIAD_RECORD": str(self.record)})

    def set_partitions(self, text):
        self.file.write_text(text)
        os.kill(self.lab.status()["sms"][0]["pid"], signal.SIGHUP)

    def table(self, lid):
        """Index of each P_Key."""
        words = self.lab.run("smpquery", "pkeys", str(lid), "1").stdout.split()
        return {key: i for i, key in enumerate(
            word for word in words if word.startswith("0x"))}

    def check_indexes(self):
        lids = {row["node_name"]: row["lid"]
                for row in self.agent.ask("perf", "show")}
        table, sent = self.table(lids[NODE]), queries(self.record)
        asked = {name: {index for _, index in sent.get(lid, ())}
                 for name, lid in lids.items()}
        assert asked == {
            "Hca1": {table["0x7fff"]}, "Hca4": {table["0x7fff"]},
            "Hca2": {table["0x8001"]}, "Hca3": {table["0x8001"]},
            "Switch1": {table["0x8002"]}, "Switch2": {table["0x8002"]}}, table


@pytest.mark.plain
@pytest.mark.row("A14")
@pytest.mark.parametrize("topology", ["discover", "sa"])
def test_agent_alone_asks_with_a_shared_pkey(scratch, topology):
    it = Partitioned(scratch, f"{QUICK}[collect]\ntopology = {topology}\n")
    it.agent.wait_for("a sweep", "perfmgr", ports_answered=20, ports_pkeys_unknown=0,
                      ports_apart=0)
    it.check_indexes()


def test_agent_does_not_ask_ports_apart_until_a_partition_is_shared(scratch):
    it = Partitioned(scratch, f"{QUICK}[collect]\ntopology = discover\n", APART)
    it.agent.wait_for("ports apart", "perfmgr", ports=2, ports_apart=18,
                      ports_answered=2, ports_unanswered=0)
    it.agent.log_has("18 ports share no partition with this port: not asked")
    assert it.agent.ask("alerts")["alerts"] == [], "alerts"
    shared = {row["node_name"]: row["partition_shared"]
              for row in it.agent.ask("perf", "show")}
    assert shared == {"Hca1": True, "Hca4": True, "Hca2": False, "Hca3": False,
                      "Switch1": False, "Switch2": False}
    it.set_partitions(PARTITIONS)
    it.agent.wait_for("a partition shared", "perfmgr", 90, ports_apart=0,
                      ports_answered=20)
    it.agent.log_has("all ports share a partition with this port again")
    it.set_partitions(APART)
    it.agent.wait_for("membership's end", "perfmgr", 90, ports_apart=18, ports=2,
                      ports_unanswered=0)
    assert it.agent.ask("alerts")["alerts"] == [], "alerts"
