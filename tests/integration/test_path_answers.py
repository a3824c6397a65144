# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Triad's answers to PathRecord and MultiPathRecord, octet for octet against OpenSM's."""

import os
import subprocess
import sys

import pytest

from checks import succeeded, wait_until
from labs import SRCDIR, Lab
from pathlab import PATH_ASK, compare, host_guids, partition_in, sl_in, turn_on, world
from triadlib import NET

# Of 4,000 requests a setting, about 1,500 are Get(), 1,500 GetTable() and 1,000 GetMulti(),
# or all of one attribute where a test names it.  What a request may have it has in 10 to 30
# of 100; what is rare, such as raw traffic or a GUID that nobody has, in 2 to 5: eighty
# and more.
COUNT = int(os.environ.get("TRIAD_PATH_COUNT",
                           "20000" if "TRIAD_FULL" in os.environ else "4000"))
SEED = int(os.environ.get("TRIAD_PATH_SEED", "1"))

# Enabled from the start, so that turning it on is not the first time.
QOS = "[perfmgr]\nenabled = false\n[qos]\nenabled = true\n"

# A full member here, a limited one there, and two partitions with an SL of their own.
PARTITIONS = """\
Default=0x7fff, ipoib : ALL=limited, ALL_SWITCHES=full, SELF=full{all_full};
Compute=0x0001, sl=2 : ALL_CAS=limited{some_full};
Storage=0x0102, sl=5 : {some};
"""

PKEYS = ("0xffff", "0x7fff", "0x8001", "0x0001", "0x8102", "0x0102")

# SL 6 and 7 come to VL15 on HCAs, SL 5 at switches.
TABLES = """\
qos TRUE
qos_max_vls 8
qos_sl2vl 0,1,2,3,4,5,15,15,0,1,2,3,4,5,6,7
qos_swe_sl2vl 0,1,2,3,4,15,6,7,0,1,2,3,4,5,6,7
"""


def most_by_triad(counts, share=0.6, count=COUNT):
    """What was compared must be ours: requests that OpenSM answers prove nothing."""
    print({name: n for name, n in counts.items() if n})
    assert counts["received"] == count, "requests taken"
    answered = counts["answered"] + counts["refused"]
    assert answered > share * count, f"Triad answered {answered} of {count}"
    assert counts["overflowed"] == 0, "requests that found the queue full"
    assert counts["passed_changed"] == 0, "requests passed on as if a sweep ran"


def fat_tree(scratch, hosts):
    path = scratch.folder() / "fabric.net"
    subprocess.run([sys.executable, SRCDIR / "scripts/gen-fabric", "fat-tree",
                    "--hosts", str(hosts), "-o", path], check=True)
    return path


# OpenSM before 3.3.24 does not know max_rate_enum, and limits nothing.
@pytest.mark.plain
@pytest.mark.parametrize("opensm_conf", ["", "max_rate_enum 2\n"], ids=["", "limited-rate"])
def test_answers_small_fabric_as_opensm(opensm_conf):
    with Lab(NET, triad_conf=QOS, opensm_conf=opensm_conf) as lab:
        counts, _ = compare(lab, world(lab), "--seed", SEED, "--count", COUNT)
        most_by_triad(counts)


def test_answers_fat_tree_with_lmc_and_tables_as_opensm(scratch):
    with Lab(fat_tree(scratch, 40), triad_conf=QOS, opensm_conf="lmc 2\n" + TABLES) as lab:
        counts, _ = compare(lab, world(lab, lmc=2, pkeys=("0xffff", "0x7fff")),
                            "--seed", SEED + 1, "--count", COUNT)
        most_by_triad(counts)


def partitions_of(scratch, net, extra=""):
    hosts = host_guids(net)
    text = PARTITIONS.format(
        all_full="".join(f", {guid}=full" for guid in hosts[::3]),
        some_full="".join(f", {guid}=full" for guid in hosts[::2]),
        some=", ".join(f"{guid}={'full' if i % 2 else 'limited'}"
                       for i, guid in enumerate(hosts[::4])))
    path = scratch.folder() / "partitions.conf"
    path.write_text(text, encoding="utf-8")
    return f"partition_config_file {path}\n{extra}"


def test_answers_partitions_as_opensm(scratch):
    net = fat_tree(scratch, 24)
    with Lab(net, triad_conf=QOS, opensm_conf=partitions_of(scratch, net, TABLES)) as lab:
        counts, paths = compare(lab, world(lab, pkeys=PKEYS), "--seed", SEED + 2,
                                "--count", COUNT)
        most_by_triad(counts)
        assert set(map(partition_in, paths)) >= {0x7fff, 0x0001, 0x0102}, "partitions"


def test_answers_both_memberships_as_opensm(scratch):
    net = fat_tree(scratch, 24)
    conf = partitions_of(scratch, net, "allow_both_pkeys TRUE\nlmc 1\n")
    with Lab(net, triad_conf=QOS, opensm_conf=conf) as lab:
        counts, paths = compare(lab, world(lab, lmc=1, pkeys=PKEYS), "--seed", SEED + 3,
                                "--count", COUNT)
        most_by_triad(counts)
        assert set(map(partition_in, paths)) >= {0x7fff, 0x0001, 0x0102}, "partitions"


def knows(lab, guid):
    return lab.run("triadctl", "qos", "explain", "--src", f"{guid:#x}",
                   "--dst", "1").returncode == 0


def test_answers_alias_guids_as_opensm():
    """Aliases come and go without a sweep. One that is named is looked up at once; a port
    that is named by LID has those that Triad saw last, four times a second."""
    def set_alias(lab, lid, node, index, guid):
        succeeded(lab.run(PATH_ASK, "--alias", f"{lid}:{index}:{guid:#x}", node=node))

    aliases = {("Hca2", 4, 1): 0xaaaa0001, ("Hca2", 4, 2): 0x01000000aaaa0002,
               ("Hca3", 5, 1): 0xbbbb000000000003, ("Hca4", 6, 3): 0xaaaa0004}
    with Lab(NET, triad_conf=QOS) as lab:
        turn_on(lab)
        for (node, lid, index), guid in aliases.items():
            set_alias(lab, lid, node, index, guid)
        wait_until(lambda: all(knows(lab, guid) for guid in aliases.values()), 30,
                   "the aliases to be seen")
        there_is = world(lab, guids=[f"{guid:#x}" for guid in aliases.values()])
        counts, _ = compare(lab, there_is, "--seed", SEED + 5, "--count", COUNT)
        most_by_triad(counts, share=0.5)
        set_alias(lab, 4, "Hca2", 1, 0)
        wait_until(lambda: not knows(lab, aliases["Hca2", 4, 1]), 30,
                   "the alias to be seen gone")
        counts, _ = compare(lab, there_is, "--seed", SEED + 6, "--count", COUNT // 4)
        assert counts["passed_unknown"] > 0, "who named the alias that went"


# What OpenSM's own QoS can say as well.  It has no TClass and says 0 of it; and it matches
# the way back with source and destination swapped, and calls a path irreversible when
# that gives a level which the request does not fit.  So requests have no TClass, nor,
# where rules are about ends, what a level could be at odds with.
LEVELS = """\
qos-levels
  qos-level
    name: DEFAULT
    sl: 1
  end-qos-level
  qos-level
    name: Bulk
    sl: 2
    mtu-limit: 2
    rate-limit: 3
    packet-life: 17
  end-qos-level
  qos-level
    name: Closed
    sl: 3
    pkey: 0x7fff,0x0100-0x01ff
  end-qos-level
  qos-level
    name: Dropped
    sl: 6
  end-qos-level
  qos-level
    name: Slow
    sl: 4
    rate-limit: 7
  end-qos-level
end-qos-levels
"""

BY_REQUEST = LEVELS + """\
qos-match-rules
  qos-match-rule
    service-id: 0x10001,0x20000-0x2ffff
    qos-level-name: Bulk
  end-qos-match-rule
  qos-match-rule
    qos-class: 1-2,7
    pkey: 0x7fff
    qos-level-name: Closed
  end-qos-match-rule
  qos-match-rule
    qos-class: 3
    qos-level-name: Dropped
  end-qos-match-rule
  qos-match-rule
    pkey: 0x0001-0x7fff
    service-id: 0x30000
    qos-level-name: Slow
  end-qos-match-rule
end-qos-match-rules
qos-ulps
  sdp, port-num 5 : 4
  any, service-id 0x40000 : 7
  ipoib : 5
end-qos-ulps
"""

BY_ENDS = """\
port-groups
  port-group
    name: Some
    port-guid: {guids}
  end-port-group
  port-group
    name: Switches
    node-type: SWITCH
  end-port-group
  port-group
    name: Here
    node-type: SELF
    partition: Compute
  end-port-group
end-port-groups
""" + LEVELS + """\
qos-match-rules
  qos-match-rule
    source: Some
    destination: Here
    qos-level-name: Bulk
  end-qos-match-rule
  qos-match-rule
    source: Switches,Some
    qos-level-name: Slow
  end-qos-match-rule
  qos-match-rule
    destination: Here
    qos-level-name: Bulk
  end-qos-match-rule
end-qos-match-rules
"""

SERVICES = ("0x10001", "0x2abcd", "0x30000", "0x10005", "0x40000", "0x99")
# Component mask bits of the two attributes, but for TClass; and those that say no SL, MTU,
# rate or lifetime either.
PATH_BITS, MULTI_BITS = ~0x400, ~0x10
ENDS_PATH_BITS, ENDS_MULTI_BITS = ~0x3f8400, ~0xfe10


def policy_compared(scratch, policy, path_bits, multi_bits, sls):
    net = fat_tree(scratch, 24)
    file = scratch.folder() / "qos-policy.conf"
    some = ", ".join(host_guids(net)[::5])
    file.write_text(policy.replace("{guids}", some), encoding="utf-8")
    conf = partitions_of(scratch, net, f"{TABLES}qos_policy_file {file}\nlmc 1\n")
    with Lab(net, triad_conf=QOS, opensm_conf=conf) as lab:
        there_is = world(lab, lmc=1, pkeys=PKEYS, services=SERVICES)
        for kind, bits in (("path", path_bits), ("multi", multi_bits)):
            counts, paths = compare(lab, there_is, "--seed", SEED + 4, "--count", COUNT,
                                    "--kind", kind, "--only", bits % (1 << 64), "--whole")
            most_by_triad(counts)
            assert set(map(sl_in, paths)) >= sls, "SLs of the policy's levels"


@pytest.mark.row("Q2", "Q4", "Q11")
def test_answers_policy_by_request_as_opensm(scratch):
    policy_compared(scratch, BY_REQUEST, PATH_BITS, MULTI_BITS, {1, 3, 5, 6})


@pytest.mark.row("Q4")
def test_answers_policy_by_ends_as_opensm(scratch):
    policy_compared(scratch, BY_ENDS, ENDS_PATH_BITS, ENDS_MULTI_BITS, {1, 2, 4})
