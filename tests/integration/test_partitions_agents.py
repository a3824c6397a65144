# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Whoever reads counters without being the master asks each port in a partition that
both ends share, too: a triad-agent alone, one below a manager, a standby."""

import os
import signal
from pathlib import Path

import pytest

from agentlib import Broker, conf, owners
from checks import mentions, succeeded, wait_until
from labs import Lab
from test_agent import HCA2, RECORD, Agent, stock_lab
from test_partitions import queries
from triadlib import NET, ask, ask_json, triad_lab

NODE, NODE_PORT, HCA4_PORT = "Hca3", "0x0000000000100007", "0x000000000010000a"
HCA2_PORT = "0x0000000000100004"
QUICK = "[perfmgr]\nsweep_period = 1\nreset = never\n"
# Nobody meets in the default partition but Hca4 and the SM, who are full members of it;
# hosts meet in Compute, and the agent's host meets switches in Switches.
PARTITIONS = f"""\
Default=0x7fff : ALL=limited, SELF=full, {HCA4_PORT}=full;
Compute=0x0001 : ALL_CAS=full;
Switches=0x0002 : {NODE_PORT}=full, ALL_SWITCHES=full;
"""
EVERYBODY = "Default=0x7fff : ALL=full, SELF=full;\n"
# The agent's host meets nobody but the SM, and Hca4.
APART = f"Default=0x7fff : ALL=limited, SELF=full, {HCA4_PORT}=full;\n"
# The agent's host meets everybody; other hosts are limited members, and so are the ports
# of switches that enforce their partitions.
LIMITED_HOSTS = f"Default=0x7fff : ALL=limited, SELF=full, {NODE_PORT}=full;\n"
OTHER_LIMITED_HOSTS = f"{LIMITED_HOSTS}More=0x0005 : {NODE_PORT}=full;\n"
# The standby on Hca4 meets nobody but the SM.
STANDBY_APART = "Default=0x7fff : ALL=limited, SELF=full;\n"


class Partitioned:
    """An opensm with partitions, stock or with a manager, and an agent on NODE whose
    queries are kept."""

    def __init__(self, scratch, text, partitions=PARTITIONS, manager=None):
        self.file = Path(scratch.folder()) / "partitions.conf"
        self.record = Path(scratch.folder()) / "record"
        self.file.write_text(partitions)
        opensm = f"partition_config_file {self.file}\n"
        self.lab = scratch.enter_context(
            Lab(NET, sms=["Hca1"], triad_conf=manager, opensm_conf=opensm) if manager
            else stock_lab(scratch, opensm=opensm))
        self.agent = Agent(scratch, self.lab, text, node=NODE,
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


@pytest.mark.long
def test_agent_does_not_ask_ports_apart_until_a_partition_is_shared(scratch):
    it = Partitioned(scratch, f"{QUICK}[collect]\ntopology = discover\n", APART)
    it.agent.wait_for("ports apart", "perfmgr", ports=2, ports_apart=18,
                      ports_answered=2, ports_unanswered=0)
    it.agent.log_has("18 ports share no partition")
    assert it.agent.ask("alerts")["alerts"] == [], "alerts"
    shared = {row["node_name"]: row["partition_shared"]
              for row in it.agent.ask("perf", "show")}
    assert shared == {"Hca1": True, "Hca4": True, "Hca2": False, "Hca3": False,
                      "Switch1": False, "Switch2": False}
    it.set_partitions(PARTITIONS)
    it.agent.wait_for("a partition shared", "perfmgr", 45, ports_apart=0,
                      ports_answered=20)
    it.agent.log_has("all ports share a partition again")
    it.set_partitions(APART)
    it.agent.wait_for("membership's end", "perfmgr", 45, ports_apart=18, ports=2,
                      ports_unanswered=0)
    assert it.agent.ask("alerts")["alerts"] == [], "alerts"



@pytest.mark.row("M5")
def test_agent_below_a_manager_asks_with_a_shared_pkey_of_its_own(scratch):
    broker = Broker(scratch)
    it = Partitioned(scratch, conf(broker, "agent"),
                     manager=conf(broker, "manager"))
    it.agent.wait_for("the fabric handed down", "collect", 60,
                      topology="handed down by a manager")
    it.agent.wait_for("a sweep", "perfmgr", ports_answered=20, ports_apart=0)
    # It may have asked by the SA's word before, and in the sweep that is under way.
    succeeded(it.agent.triadctl("perf", "sweep"))
    Path(it.record).write_text("")
    succeeded(it.agent.triadctl("perf", "sweep"))
    it.check_indexes()
    # The manager reads nothing, so that nothing is apart from it.
    report = wait_until(lambda: (lambda r: r if r["ports_answered"] == 20 else None)(
        ask_json(it.lab, "status")["perfmgr"]), 30, "all ports at the manager")
    assert report["ports_apart"] == 0


# Hca4 meets the SM and who is in Inner alone.
WITHOUT_INNER = f"""\
Default=0x7fff : ALL=limited, SELF=full;
Compute=0x0001 : {NODE_PORT}=full, {HCA2_PORT}=full;
Switches=0x0002 : {NODE_PORT}=full, {HCA2_PORT}=full, ALL_SWITCHES=full;
"""


def inner(*ports):
    return f"{WITHOUT_INNER}Inner=0x0003 : {'=full, '.join((HCA4_PORT, *ports))}=full;\n"


@pytest.mark.row("A14")
def test_agents_own_only_nodes_that_they_can_ask(scratch):
    def settled(owner, **values):
        """The manager's word, with Hca4 the agent's of that name."""
        def is_so():
            report = owners(it.lab)
            if values.items() <= report.items() and len(report["agents"]) == 2:
                return ask_json(it.lab, "agents", "owner", "Hca4").get("agent") == owner
            return False
        wait_until(is_so, 60, f"Hca4 to be of {owner}")

    broker = Broker(scratch)
    it = Partitioned(scratch, conf(broker, "agent", name="far"), inner(NODE_PORT),
                     manager=conf(broker, "manager"))
    near = Agent(scratch, it.lab, conf(broker, "agent", name="near"), node="Hca2")
    settled("far", nodes_without_owner=0, nodes_apart=0, nodes_not_seen=0)
    near.log_has("1 nodes share no partition")
    for agent in it.agent, near:
        # As of a sweep after that.
        agent.wait_for("what is read", "perfmgr", ports_apart=0)
    it.set_partitions(WITHOUT_INNER)
    settled(None, nodes_without_owner=1, nodes_apart=1)
    wait_until(lambda: "1 nodes share no partition with any agent" in it.lab.log(),
               20, "the manager's word of it")
    it.set_partitions(inner(NODE_PORT, HCA2_PORT))
    settled("near", nodes_without_owner=0, nodes_apart=0, nodes_not_seen=0)
    near.log_has("all nodes share a partition again")


# --- what the SA does not show ---------------------------------------------------

@pytest.mark.row("A14")
def test_links_between_limited_members_are_discovered_once(scratch):
    it = Partitioned(scratch, f"{QUICK}[collect]\ntopology = auto\n", LIMITED_HOSTS)
    it.agent.wait_for("what the SA does not show", "topology", 30,
                      **{"from": "discovery", "nodes": 6, "links": 6})
    it.agent.log_has("links of 4 ports limited members")
    assert not mentions(it.agent.log(), "full member")
    it.set_partitions(OTHER_LIMITED_HOSTS)
    report = it.agent.wait_for("the SA's word again", "topology", 45,
                               **{"from": "sa", "nodes": 6, "links": 6})
    assert report["sa"]["links_hidden"] == report["sa"]["links_known"] == 4, report["sa"]
    n_discovered = report["discovery"]["discoveries"]
    it.set_partitions(LIMITED_HOSTS)
    wait_until(lambda: it.agent.status()["sa"]["refreshes"] >
               report["sa"]["refreshes"] + 1, 60, "the SA to be asked twice")
    assert it.agent.status()["discovery"]["discoveries"] == n_discovered
    # What comes or goes may be somewhere else afterwards.
    it.lab.sim('Unlink "Hca2"[1]')
    it.agent.wait_for("the node's end", "topology", 30,
                      **{"from": "discovery", "nodes": 5, "links": 5})
    wait_until(lambda: [alert["at"]["node_guid"] for alert in
                        it.agent.ask("alerts")["alerts"]] == [HCA2], 30, "the alert of it")
    it.lab.sim('ReLink "Hca2"[1]')
    it.agent.wait_for("the node's return", "topology", nodes=6, links=6)


@pytest.mark.long
def test_agent_discovers_what_the_sa_does_not_show_while_it_does_not(scratch):
    it = Partitioned(scratch, f"{QUICK}[collect]\ntopology = auto\n", EVERYBODY)
    it.agent.wait_until_it_reads("sa")
    it.set_partitions(APART)
    it.agent.wait_for("what the SA shows no more", "topology", 45,
                      **{"from": "discovery", "nodes": 6})
    assert it.agent.status()["sa"]["links_hidden"], "hidden links"
    it.agent.log_has("lead not show")
    it.agent.log_has("SA part fabric discovered")
    it.agent.wait_for("ports apart", "perfmgr", ports_apart=18, ports_unanswered=0)
    assert it.agent.ask("alerts")["alerts"] == [], "alerts"
    it.set_partitions(EVERYBODY)
    it.agent.wait_for("what the SA shows again", "topology", 45,
                      **{"from": "sa", "nodes": 6})
    it.agent.wait_for("all ports", "perfmgr", ports_apart=0, ports_answered=20)
    it.agent.log_has("SA all links again")
    assert it.agent.ask("alerts")["alerts"] == [], "alerts"


@pytest.mark.long
def test_agent_without_discovery_raises_no_alert_for_what_is_not_shown(scratch):
    it = Partitioned(scratch, f"{QUICK}[collect]\ntopology = sa\n", EVERYBODY)
    it.agent.wait_until_it_reads("sa")
    it.set_partitions(APART)
    report = it.agent.wait_for("the part", "perfmgr", 45, ports_unanswered=0, ports=2)
    assert report["sa"]["links_hidden"], "hidden links"
    assert it.agent.ask("alerts")["alerts"] == [], "alerts"
    it.set_partitions(EVERYBODY)
    it.agent.wait_for("all of it", "perfmgr", 45, ports_answered=20)
    assert it.agent.ask("alerts")["alerts"] == [], "alerts"
    # What really goes is told all the same.
    it.lab.sim('Unlink "Hca2"[1]')
    it.agent.wait_for("the node's end", "perfmgr", 45, ports=19)
    wait_until(lambda: len(it.agent.ask("alerts")["alerts"]) == 1, 30, "its alert")


def test_agent_with_a_wrong_key_asks_in_the_default_partition_and_says_so(scratch):
    it = Partitioned(scratch, f"{QUICK}[collect]\ntopology = sa\nsa_key = 0x99\n",
                     EVERYBODY)
    report = it.agent.wait_for("a sweep", "perfmgr", ports_answered=20,
                               ports_pkeys_unknown=20)
    assert report["sa"]["pkeys_error"], "why"
    it.agent.log_has("SA no P_Keys")


# --- a standby -------------------------------------------------------------------

STANDBY_CONF = QUICK + "role = standby\n"
HCA4_CONF = PARTITIONS.replace(NODE_PORT, f"{NODE_PORT}=full, {HCA4_PORT}").replace(
    f", {HCA4_PORT}=full;", ";")


def standby_lab(scratch, partitions):
    """The master on Hca1, the standby that reads on Hca4; its file of partitions."""
    file, record = Path(scratch.folder()) / "partitions.conf", \
        Path(scratch.folder()) / "record"
    file.write_text(partitions)
    os.environ["TRIAD_RECORD"] = str(record)
    scratch.callback(os.environ.pop, "TRIAD_RECORD", None)
    lab = scratch.enter_context(triad_lab(
        STANDBY_CONF, sms=("Hca1", "Hca4"), preload=(RECORD,),
        opensm_conf=f"sweep_interval 1\npartition_config_file {file}\n"))
    return lab, file, record


def standby_status(lab):
    return ask_json(lab, "status", sm=1)


def test_standby_asks_with_a_shared_pkey(scratch):
    lab, _, record = standby_lab(scratch, HCA4_CONF)
    wait_until(lambda: standby_status(lab)["perfmgr"]["ports_answered"] == 20, 60,
               "the standby's sweep")
    assert standby_status(lab)["perfmgr"]["ports_pkeys_unknown"] == 0
    wait_until(lambda: standby_status(lab)["standby"]["refreshes"], 30, "the SA's word")
    ask(lab, "perf", "sweep", sm=1)
    rows = {row["node_name"]: row["lid"] for row in ask_json(lab, "perf", "show", sm=1)}
    words = lab.run("smpquery", "pkeys", str(rows["Hca4"]), "1").stdout.split()
    table = [word for word in words if word.startswith("0x")]
    sent = queries(record)
    for name, key in (("Hca2", "0x8001"), ("Hca3", "0x8001"), ("Switch1", "0x8002")):
        assert {i for _, i in sent[rows[name]]} == {table.index(key)}, name


@pytest.mark.long
def test_standby_raises_no_alert_for_what_the_sa_shows_no_more(scratch):
    lab, file, _ = standby_lab(scratch, EVERYBODY)
    wait_until(lambda: standby_status(lab)["perfmgr"]["ports_answered"] == 20 and
               standby_status(lab)["standby"]["refreshes"], 60, "the standby's sweep")
    file.write_text(STANDBY_APART)
    os.kill(lab.status()["sms"][0]["pid"], signal.SIGHUP)
    wait_until(lambda: standby_status(lab)["standby"]["links_hidden"], 45,
               "the SA shows less")
    report = wait_until(lambda: (lambda r: r if r["perfmgr"]["ports"] < 20 else None)(
        standby_status(lab)), 30, "less is asked")
    assert report["standby"]["nodes_known"] == 6, "what it found itself"
    assert report["perfmgr"]["ports_unanswered"] == 0, "unanswered"
    assert ask_json(lab, "alerts", sm=1)["alerts"] == [], "alerts"
    file.write_text(EVERYBODY)
    os.kill(lab.status()["sms"][0]["pid"], signal.SIGHUP)
    wait_until(lambda: standby_status(lab)["perfmgr"]["ports_answered"] == 20, 45,
               "all of it")
    assert standby_status(lab)["standby"]["links_hidden"] == 0
    assert ask_json(lab, "alerts", sm=1)["alerts"] == [], "alerts"
