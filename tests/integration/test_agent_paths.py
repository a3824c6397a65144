# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Agents keep the paths that the SM answers: the same as its answers, never old ones, in
ibacm's file and for 'paths'."""

import json
import os
import re
import signal
import time

import pytest

from agentlib import Broker, Member, conf, fat_tree
from checks import failed, succeeded, wait_until
from labs import Lab
from pathlab import is_answering, node_records
from triadlib import ask, ask_json, status
from triadlab import netfile

HOSTS = 6
SM, OTHER_SM = "host-0001", "host-0004"
AGENTS = (2, 3, 5, 6)
# What an old answer may not outlive.
LIFE_S = 1.0

POLICY = """\
port-groups
  port-group
    name: Storage
    port-guid: {storage}
  end-port-group
end-port-groups
qos-levels
  qos-level
    name: DEFAULT
    sl: {default}
  end-qos-level
  qos-level
    name: Bulk
    sl: {sl}
    mtu-limit: 2
  end-qos-level
end-qos-levels
qos-match-rules
  qos-match-rule
    destination: Storage
    qos-level-name: Bulk
  end-qos-match-rule
end-qos-match-rules
"""

QOS = "[qos]\nenabled = true\npolicy_file = {policy}\n"


class PathLab:
    """A broker, an SM or two with a policy, and agents that keep paths."""

    def __init__(self, scratch, sms=(SM,), agents=AGENTS, opensm_conf="", **options):
        self.scratch = scratch
        self.net = fat_tree(scratch, HOSTS, "--radix", "6")
        self.storage = netfile.read(self.net).of_kind(netfile.HCA)[-1].guid + 1
        self.policy = scratch.folder() / "policy.conf"
        self.write_policy(default=1, sl=2)
        self.broker = Broker(scratch)
        self.lab = Lab(self.net, sms=sms, opensm_conf=opensm_conf,
                       triad_conf=conf(self.broker, "manager",
                                       QOS.format(policy=self.policy), paths="true",
                                       **options))
        self.numbers = agents
        self.members = []

    def __enter__(self):
        self.lab.__enter__()
        wait_until(lambda: is_answering(self.lab), 60, "the SM's answers")
        for number in self.numbers:
            self.add_agent(number)
        return self

    def __exit__(self, *error):
        for member in self.members:
            if member.process.poll() is None:
                member.process.send_signal(signal.SIGCONT)
            member.end()
        return self.lab.__exit__(*error)

    def add_agent(self, number):
        folder = self.scratch.folder()
        member = Member(self.scratch, self.lab, f"host-{number:04d}",
                        conf(self.broker, "agent", name=f"a{number}", paths="true",
                             paths_file=f"{folder}/paths"))
        member.paths_file = folder / "paths"
        self.members.append(member)
        return member

    def write_policy(self, **levels):
        new = self.policy.with_suffix(".new")
        new.write_text(POLICY.format(storage=f"{self.storage:#x}", **levels),
                       encoding="utf-8")
        new.rename(self.policy)

    def change_policy(self, **levels):
        """Returns when the SM answers by it, and not before that."""
        before = self.generation()
        self.write_policy(**levels)
        ask(self.lab, "qos", "apply")
        wait_until(lambda: self.generation() not in (None, before), 30, "the new policy")

    def generation(self):
        return status(self.lab)["qos"]["generation"]

    def wait_for_paths(self):
        return [wait_until(lambda m=member: paths_of(m), 60,
                           lambda m=member: f"paths: {m.control('paths').stderr}")
                for member in self.members]


def paths_of(member, *words):
    """What 'paths' has, or None while it refuses."""
    process = member.control("paths", *words, "--json")
    return json.loads(process.stdout) if process.returncode == 0 else None


def sls_of(report):
    return {row["sl"] for row in report["paths"] if row["has_path"]}


def path_record(lab, slid, dlid, node):
    """(SL, MTU, rate, P_Key) as the SM answers, coded; None for no path."""
    process = lab.run("saquery", "PR", "--slid", str(slid), "--dlid", str(dlid), node=node)
    found = dict(re.findall(r"^\t\t(\w+)\.+(\S+)$", process.stdout, re.MULTILINE))
    if "sl" not in found:
        return None
    return (int(found["sl"], 0), int(found["mtu"], 0) & 63, int(found["rate"], 0) & 63,
            int(found["pkey"], 0))


def as_record(row):
    return row["has_path"] and (row["sl"], row["mtu_code"], row["rate_code"],
                                int(row["pkey"], 0))


# --- the same as the SM's -----------------------------------------------------------

def test_rows_of_four_agents_are_what_the_sm_answers(scratch):
    with PathLab(scratch) as paths:
        reports = paths.wait_for_paths()
        there = node_records(paths.lab)
        for member, report in zip(paths.members, reports):
            rows = {row["lid"]: row for row in report["paths"]}
            assert {(lid, int(guid, 0)) for lid, guid in there} == {
                (lid, int(row["port_guid"], 0)) for lid, row in rows.items()}, \
                "LIDs and GUIDs"
            for lid, row in rows.items():
                assert as_record(row) == path_record(
                    paths.lab, report["lid"], lid, member.node), f"path to {row}"
            assert sls_of(report) == {1, 2}, "SLs of the policy's levels"
