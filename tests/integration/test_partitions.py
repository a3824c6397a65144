# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Queries go out with the P_Key index and SL of a partition that both ends share."""

import os

import pytest

from labs import BUILDDIR
from triadlib import NET, ports, triad_lab, wait_for_sweep

# Everybody is a limited member of the default partition, the SM on Hca1 too, which two
# limited members can't meet in; Hca4 alone is a full one.
PARTITIONS = """\
Default=0x7fff : SELF=limited, 0x10000a=full;
Compute=0x0001, sl=2 : SELF=full, ALL_CAS=full;
Switches=0x0002, sl=5 : SELF=full, ALL_SWITCHES=full;
"""


def queries(path):
    """(SL, P_Key index) of the performance queries sent, by LID."""
    seen = {}
    for line in path.read_text().splitlines():
        mad_class, _, _, lid, sl, pkey_index = (
            int(word, 16) for word in line.split()[:6])
        if mad_class == 4:
            seen.setdefault(lid, set()).add((sl, pkey_index))
    return seen


@pytest.mark.plain
@pytest.mark.row("A14")
def test_partitions_every_query_with_a_shared_pkey(scratch):
    folder = scratch.folder()
    partitions, record = folder / "partitions.conf", folder / "record"
    partitions.write_text(PARTITIONS)
    os.environ["TRIAD_RECORD"] = str(record)
    scratch.callback(os.environ.pop, "TRIAD_RECORD")
    with triad_lab(opensm_conf=f"qos TRUE\npartition_config_file {partitions}\n", sms=("Hca1",),
                   preload=(BUILDDIR / "tests/lab/.libs/librecord.so",)) as lab:
        wait_for_sweep(lab)
        rows = ports(lab)
        table = lab.run("smpquery", "pkeys", str(lid_of(rows, "Hca1")), "1").stdout
        indexes = {key: index for index, key in enumerate(
            word for line in table.splitlines() for word in line.split()
            if word.startswith("0x"))}
        sent = queries(record)
    by_default = (0, indexes["0x7fff"])
    by_compute = (2, indexes["0x8001"])
    by_switches = (5, indexes["0x8002"])
    assert len({by_default, by_compute, by_switches}) == 3, "different ways"
    for name, way in (("Hca1", by_compute), ("Hca2", by_compute), ("Hca3", by_compute),
                      ("Hca4", by_default), ("Switch1", by_switches),
                      ("Switch2", by_switches)):
        assert sent[lid_of(rows, name)] == {way}, \
            f"(SL, P_Key index) of {name} in {NET}"


def lid_of(rows, name):
    return next(row["lid"] for row in rows.values() if row["node_name"] == name)

