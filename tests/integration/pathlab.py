# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What tests of PathRecord answers share: what there is to ask about, the program that
asks, Triad's answers on and off."""

import json
import re

from checks import succeeded, wait_until
from labs import BUILDDIR
from triadlab import netfile
from triadlib import ask, status

PATH_ASK = BUILDDIR / "tests/integration/path_ask"
PREFIX = "0xfe80000000000000"

# saquery prints "LID", "Port GUID" and such in NodeRecords as these.
_LID = re.compile(r"lid\.+(\S+)")
_PORT_GUID = re.compile(r"port_guid\.+(\S+)")
_LMC = re.compile(r"lmc\.+(\S+)")


def node_records(lab, **options):
    """(LID, port GUID) of all end ports, as the SA has them."""
    process = lab.run("saquery", "NR", **options)
    succeeded(process)
    return list(zip((int(lid, 0) for lid in _LID.findall(process.stdout)),
                    _PORT_GUID.findall(process.stdout)))


def host_guids(net):
    """Port GUIDs of hosts in a net that has the nodes' GUIDs in it, by its file."""
    return [f"{node.guid + 1:#x}" for node in netfile.read(net).of_kind(netfile.HCA)]


def world(lab, lmc=0, pkeys=("0xffff",), services=("0x10001",), guids=(), **options):
    """Standard input for path_ask."""
    lines = [f"prefix {PREFIX}"]
    for lid, guid in node_records(lab, **options):
        lines.append(f"guid {guid}")
        lines += [f"lid {lid + i}" for i in range(1 << lmc)]
    lines += [f"pkey {pkey}" for pkey in pkeys]
    lines += [f"service {service}" for service in services]
    lines += [f"guid {guid}" for guid in guids]
    return "\n".join(lines) + "\n"


def path_ask(lab, there_is, *arguments, node=None, timeout_s=600):
    """Its lines, and what it counted."""
    process = lab.run(PATH_ASK, *map(str, arguments), node=node, input=there_is,
                      stdin=None, timeout_s=timeout_s)
    succeeded(process)
    return process.stdout.splitlines(), json.loads(process.stderr.splitlines()[-1])


def mad_of(line):
    """The answer in one of its lines."""
    return bytes.fromhex(line.split()[-1].rstrip("-"))


def records_of(line):
    """The PathRecords in the answer, none when it is a refusal."""
    mad = mad_of(line)
    octets = b"" if any(mad[4:6]) else mad[56:]
    records = [octets[at:at + 64] for at in range(0, len(octets) - 63, 64)]
    # What a MAD has behind its last record.
    return [record for record in records if any(record)]


def sl_in(record):
    return record[53] & 15


def partition_in(record):
    return int.from_bytes(record[50:52], "big") & 0x7fff


def qos(lab, **options):
    return status(lab, **options)["qos"]


def is_answering(lab, **options):
    report = qos(lab, **options)
    return report if report["state"] == "answering" else None


def turn_on(lab):
    ask(lab, "qos", "on")
    return wait_until(lambda: is_answering(lab), 60, "Triad's answers")


def turn_off(lab):
    ask(lab, "qos", "off")
    wait_until(lambda: qos(lab)["state"] == "off", 10, "OpenSM's answers")


def differences(theirs, ours):
    """Lines that are not the same; each has a request and the answer to it."""
    assert len(theirs) == len(ours), f"{len(theirs)} and {len(ours)} answers"
    return [pair for pair in zip(theirs, ours) if pair[0] != pair[1]]


def compare(lab, there_is, *arguments, node=None):
    """Asks the same with Triad's answers off and on, some requests at a time, and expects
    the same; returns what Triad counted of it, and the PathRecords in its answers."""
    arguments = ("--window", 16, *arguments)
    turn_off(lab)
    theirs, _ = path_ask(lab, there_is, *arguments, node=node)
    before = turn_on(lab)
    ours, counted = path_ask(lab, there_is, *arguments, node=node)
    after = qos(lab)
    found = differences(theirs, ours)
    for one, other in found[:5]:
        print(f"OpenSM: {one}\nTriad:  {other}")
    assert len(found) == 0, f"differences in {len(ours)} answers"
    assert counted["unanswered"] == 0, "requests without an answer"
    counts = {name: after[name] - before[name] for name in after
              if isinstance(after[name], int)}
    return counts, [record for line in ours for record in records_of(line)]
