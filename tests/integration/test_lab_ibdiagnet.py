# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Labs of fabrics that ibdiagnet wrote down: topology, what links run at, counters."""

import pytest

from checks import failed
from labs import Lab, lab_command
from triadlab import ibdiagnet, netfile
from triadlib import QUICK, ask_json, wait_for_sweep

pytestmark = pytest.mark.scripts

# Columns and sections that the lab does not know are among them, as in each new release.
DB_CSV = """\
# This database file was automatically generated
START_NODES
NodeDesc,NumPorts,NodeType,ClassVersion,BaseVersion,SystemImageGUID,NodeGUID,PortGUID,DeviceID,LocalPortNum
"leaf, 1",36,2,1,1,0x0c42a10300aa0000,0x0c42a10300aa0000,0x0c42a10300aa0000,54000,5
"host-1 mlx5_0",2,1,1,1,0x0c42a10300bb0000,0x0c42a10300bb0000,0x0c42a10300bb0001,4123,1
"host-1 mlx5_0",2,1,1,1,0x0c42a10300bb0000,0x0c42a10300bb0000,0x0c42a10300bb0002,4123,2
"host-2 mlx5_0",1,1,1,1,0x0c42a10300cc0000,0x0c42a10300cc0000,0x0c42a10300cc0001,4123,1
END_NODES

START_PORTS
NodeGuid,PortGuid,PortNum,MKey,LID,LinkWidthActv,LinkSpeedActv,PortState,New
0x0c42a10300aa0000,0x0c42a10300aa0000,5,0x0,7,2,1024,4,N/A
0x0c42a10300bb0000,0x0c42a10300bb0001,1,0x0,1,2,1024,4,N/A
0x0c42a10300aa0000,0x0c42a10300aa0000,6,0x0,7,1,512,4,N/A
0x0c42a10300cc0000,0x0c42a10300cc0001,1,0x0,2,1,512,4,N/A
0x0c42a10300aa0000,0x0c42a10300aa0000,7,0x0,7,2,1,1,N/A
END_PORTS

START_OTHER
A,B
1,2
END_OTHER

START_LINKS
NodeGuid1,PortNum1,NodeGuid2,PortNum2
0x0c42a10300aa0000,5,0x0c42a10300bb0000,1
0x0c42a10300aa0000,6,0x0c42a10300cc0000,1
END_LINKS

START_PM_INFO
NodeGUID,PortGUID,PortNumber,LinkDownedCounter,SymbolErrorCounter,PortXmitData
0x0c42a10300aa0000,0x0c42a10300aa0000,5,3,N/A,99
0x0c42a10300cc0000,0x0c42a10300cc0001,1,0,0x21,99
END_PM_INFO
"""


@pytest.fixture
def db_csv(scratch):
    path = scratch.folder() / "ibdiagnet2.db_csv"
    path.write_text(DB_CSV, encoding="utf-8")
    return path


def test_lab_is_the_fabric_that_ibdiagnet_saw(db_csv):
    with Lab(db_csv, triad_conf=QUICK) as lab:
        wait_for_sweep(lab)
        assert {row["name"]: row["guid"] for row in ask_json(lab, "nodes")} == {
            "leaf, 1": "0x0c42a10300aa0000", "host-1 mlx5_0": "0x0c42a10300bb0000",
            "host-2 mlx5_0": "0x0c42a10300cc0000"}
        rates = {end["node_name"]: row["rate"] for row in ask_json(lab, "links")
                 for end in row["ends"] if end["node_name"].startswith("host")}
        assert rates == {"host-1 mlx5_0": "4x HDR", "host-2 mlx5_0": "1x EDR"}
        counters = {(row["node_name"], row["port"]): row["counters"]
                    for row in ask_json(lab, "perf", "show")}
        assert counters["leaf, 1", 5]["LinkDownedCounter"] == 3
        assert counters["host-2 mlx5_0", 1]["SymbolErrorCounter"] == 0x21
        assert counters["host-1 mlx5_0", 1]["SymbolErrorCounter"] == 0


def test_what_does_not_hold_together_says_what(scratch):
    for text, words in (("START_NODES\nNodeDesc\nEND_NODES\n", "section LINKS"),
                        (DB_CSV.replace("0x0c42a10300aa0000,6,", "0x99,6,"), "not there"),
                        (DB_CSV.replace('"leaf, 1",36', '"leaf, 1",x'), "NumPorts")):
        path = scratch.folder() / "broken"
        path.write_text(text, encoding="utf-8")
        process = lab_command("up", "--dir", scratch.folder() / "lab", "--net", path)
        failed(process, 1, f"broken {words}")


def test_other_files_are_not_taken_for_it():
    assert not ibdiagnet.is_one('Switch 8 "S-1" # "START_NODES"\n[1] "H-1"[1]\n')
    assert netfile.parse(['Switch 8 "S-1"\n']).is_text_of_ibsim
