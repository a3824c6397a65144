# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""IPoIB broadcast groups carry what the policy's level for their partition says."""

import re

import pytest

from checks import succeeded, wait_until
from labs import Lab
from tablelib import QOS, policy, replace, sweep
from triadlib import NET, ask, log_has, triad_lines

PARTITIONS = """\
Default=0x7fff, ipoib, sl=1 : ALL=full;
Compute=0x0002, ipoib, mtu=4, rate=3, sl=2 : ALL=full;
Other=0x0003, ipoib : ALL=full;
NoGroup=0x0004 : ALL=full;
"""
LEVELS = """\
qos-levels
 qos-level
  name: DEFAULT
  sl: 0
 end-qos-level
 qos-level
  name: Fast
  sl: 5
  mtu-limit: 3
  rate-limit: 2
  tclass: 9
 end-qos-level
 qos-level
  name: Plain
  sl: 4
 end-qos-level
end-qos-levels
partition-levels
 partition-level
  partition: Compute
  qos-level-name: Fast
 end-partition-level
 partition-level
  pkey: 0x7fff
  qos-level-name: {default}
 end-partition-level
 partition-level
  partition: NoGroup
  qos-level-name: Fast
 end-partition-level
end-partition-levels
"""
# (SL, MTU, rate, TClass) by P_Key; MTU 4 is 2,048, 3 is 1,024, rate 3 is 10 Gb/s, 2 is 2.5.
MADE = {0x7fff: (1, 4, 3, 0), 0x2: (2, 4, 3, 0), 0x3: (0, 4, 3, 0)}


def given(default=(4, 4, 3, 0)):
    return MADE | {0x2: (5, 3, 2, 9), 0x7fff: default}


_FIELD = re.compile(r"^\t\t(\w+)\.+(\S+)$", re.MULTILINE)


def groups(lab):
    """Those of IPv4 broadcasts, as the SA has them."""
    process = lab.run("saquery", "MCMR")
    succeeded(process)
    found = {}
    for record in process.stdout.split("MCMember Record dump")[1:]:
        fields = dict(_FIELD.findall(record))
        if re.fullmatch("ff12:401b:.*:ffff:ffff", fields["MGID"]):
            sl, mtu, rate, tclass = (int(fields[name], 16) for name in
                                     ("SL", "mtu", "rate", "TClass"))
            assert mtu >> 6 == rate >> 6 == 2, f"not 'exactly': {record}"
            found[int(fields["pkey"], 16) & 0x7fff] = (sl, mtu & 63, rate & 63, tclass)
    return found


@pytest.mark.row("Q9")
def test_groups_carry_what_the_level_of_their_partition_says(tmp_path):
    folder = tmp_path
    partitions, path = folder / "partitions.conf", folder / "policy.conf"
    partitions.write_text(PARTITIONS, encoding="utf-8")
    path.write_text(policy(levels=LEVELS.format(default="Plain")), encoding="utf-8")
    with Lab(NET, opensm_conf=f"{QOS}partition_config_file {partitions}\n",
             triad_conf="[perfmgr]\nenabled = false\n[qos]\n"
                        f"policy_file = {path}\n") as lab:
        assert groups(lab) == MADE, "groups that OpenSM made"
        ask(lab, "set", "qos.partition_groups", "true")
        wait_until(lambda: groups(lab) == given(), 30, "the policy's levels")
        sweep(lab, 2)
        assert groups(lab) == given(), "groups after more sweeps"
        # Told by a thread that has done it already.
        log_has(lab, "partition 0x0002: its broadcast group gets SL 5, MTU 1024, 2.5 Gb/s, "
                     f"TClass 9 by the level 'Fast' of {path}, which wins over OpenSM's SL "
                     "2, MTU 2048, 10 Gb/s, TClass 0 (partitions.conf)")
        log_has(lab, "partition 0x7fff: its broadcast group gets SL 4, MTU 2048, 10 Gb/s, "
                     "TClass 0 by the level 'Plain'")
        told = [line for line in triad_lines(lab.log()) if "its broadcast group" in line]
        assert len(told) == 2, f"lines in the log: {told}"
        replace(path, policy(levels=LEVELS.format(default="Fast")))
        succeeded(lab.run("triadctl", "reload"))
        ask(lab, "set", "qos.partition_groups", "true")
        wait_until(lambda: groups(lab) == given((5, 3, 2, 9)), 30, "the other policy")
        ask(lab, "set", "qos.partition_groups", "false")
        wait_until(lambda: groups(lab) == MADE, 30, "groups as OpenSM made them")
        log_has(lab, "partition 0x0002: its broadcast group is as OpenSM made it again: SL "
                     "2, MTU 2048, 10 Gb/s, TClass 0")
        sweep(lab, 2)
        assert groups(lab) == MADE, "groups after more sweeps without"


@pytest.mark.plain
@pytest.mark.row("Q9")
def test_groups_in_the_first_sweep_and_of_partitions_that_change(tmp_path):
    folder = tmp_path
    partitions, path = folder / "partitions.conf", folder / "policy.conf"
    partitions.write_text(PARTITIONS, encoding="utf-8")
    path.write_text(policy(levels=LEVELS.format(default="Plain")), encoding="utf-8")
    with Lab(NET, opensm_conf=f"{QOS}partition_config_file {partitions}\n",
             triad_conf="[perfmgr]\nenabled = false\n[qos]\npartition_groups = true\n"
                        f"policy_file = {path}\n") as lab:
        wait_until(lambda: groups(lab) == given(), 30, "the policy's levels")
        partitions.write_text(PARTITIONS.replace("NoGroup=0x0004", "NoGroup=0x0004, ipoib"),
                              encoding="utf-8")
        sweep(lab)
        wait_until(lambda: groups(lab) == given() | {0x4: (5, 3, 2, 9)}, 30,
                   "a partition's new group")
