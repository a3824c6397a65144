# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Forwarding tables in switches, compared with those that OpenSM wants ('audit')."""

import json

from checks import mentions, succeeded, wait_until
from labs import BUILDDIR
from triadlib import ask_json, triad_lab, wait_for_sweep

SMP_ASK = BUILDDIR / "tests/integration/smp_ask"
LFT = 0x19
NO_ROUTE = 255


def smp(lab, *words):
    process = succeeded(lab.run(SMP_ASK, input=" ".join(map(str, words)) + "\n", stdin=None,
                                node="Hca2"))
    return bytes.fromhex(process.stdout)


def change(lab, lid, entries):
    """Sets entries {LID: port} of the switch with this LID."""
    for block in {to // 64 for to in entries}:
        octets = bytearray(smp(lab, lid, LFT, block))
        for to, port in entries.items():
            if to // 64 == block:
                octets[to % 64] = port
        smp(lab, lid, LFT, block, octets.hex())


def audit(lab, *words):
    """(exit status, rows, messages)"""
    process = lab.triad("audit", "--json", *words)
    return process.returncode, json.loads(process.stdout or "null"), process.stderr


def switches(lab):
    return {row["name"]: row["lid"] for row in ask_json(lab, "nodes", "--type", "switch")}


def test_entries_that_differ_are_named_until_they_are_mended():
    with triad_lab() as lab:
        wait_for_sweep(lab)
        assert audit(lab) == (0, [], "")
        lids = {row["name"]: row["lid"] for row in ask_json(lab, "nodes")}
        before = smp(lab, lids["Switch2"], LFT, 0)
        # Not those by which the lab itself asks.
        to, other = lids["Hca4"], lids["Hca3"]
        change(lab, lids["Switch2"], {to: NO_ROUTE, other: 7})
        code, rows, messages = audit(lab)
        assert (code, messages) == (1, "")
        assert {(row["node_name"], row["lid"], row["to_name"], row["wanted"], row["found"])
                for row in rows} == {
            ("Switch2", to, "Hca4", before[to], NO_ROUTE),
            ("Switch2", other, "Hca3", before[other], 7)}
        assert all(row["hosts"] > 0 for row in rows), rows
        assert mentions(lab.triad("audit").stdout, "2 entries differ")
        assert audit(lab, "--node", "Switch1") == (0, [], "")
        change(lab, lids["Switch2"], {to: before[to], other: before[other]})
        assert audit(lab) == (0, [], "")


def test_switch_that_does_not_answer_is_not_known():
    with triad_lab() as lab:
        wait_for_sweep(lab)
        lid = switches(lab)["Switch2"]
        lab.harm_mads(f"lose class 0x01 lid {lid} direction in")
        code, rows, messages = audit(lab)
        assert (code, rows) == (3, [])
        assert mentions(messages, "not known"), messages
        lab.heal_mads()
        wait_until(lambda: audit(lab) == (0, [], ""), 10, "its answers")
