# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Labs of fabrics that ibdiagnet wrote down: topology, what links run at, counters, cables,
partitions."""

import pytest

from checks import failed, wait_until
from labs import Lab, lab_command
from triadlab import ibdiagnet, netfile
from triadlib import QUICK, ask_json, lid_of, wait_for_sweep

pytestmark = pytest.mark.scripts

# Columns and sections that the lab does not know are among them, as in each new release.
DB_CSV = """\
# This database file was automatically generated
START_NODES
NodeDesc,NumPorts,NodeType,ClassVersion,BaseVersion,SystemImageGUID,NodeGUID,PortGUID,DeviceID,VendorID,LocalPortNum
"leaf, 1",36,2,1,1,0x0c42a10300aa0000,0x0c42a10300aa0000,0x0c42a10300aa0000,54000,0x2c9,5
"host-1 mlx5_0",2,1,1,1,0x0c42a10300bb0000,0x0c42a10300bb0000,0x0c42a10300bb0001,4123,0x2c9,1
"host-1 mlx5_0",2,1,1,1,0x0c42a10300bb0000,0x0c42a10300bb0000,0x0c42a10300bb0002,4123,0x2c9,2
"host-2 mlx5_0",1,1,1,1,0x0c42a10300cc0000,0x0c42a10300cc0000,0x0c42a10300cc0001,4123,0x2c9,1
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

START_CABLE_INFO
NodeGuid,PortGuid,PortNum,Source,Vendor,OUI,PN,SN,Rev,LengthSMFiber,LengthCopperOrActive,Identifier,TypeDesc,Temperature
0x0c42a10300aa0000,0x0c42a10300aa0000,5,"REG","Mellanox",0x2c9,"MCP1650-H002E26","MT2101VS00001","A2","N/A","2 m",17,"Copper cable- unequalized","N/A"
0x0c42a10300aa0000,0x0c42a10300aa0000,6,"REG","NVIDIA",0x48b02d,"MFA7U10-H015","MT2101VS00002","B1","N/A","15 m",25,"Active optical","41C"
0x0c42a10300aa0000,0x0c42a10300aa0000,7,"NA","NA",NA,"NA","NA","NA","NA","NA",NA,"NA","NA"
END_CABLE_INFO

START_PKEY
NodeGUID,PortGUID,PortNum,BlockNum,Index,PKey,Membership
0x0c42a10300bb0000,0x0c42a10300bb0001,1,0,0,0x7fff,Limited
0x0c42a10300bb0000,0x0c42a10300bb0001,1,0,1,0x8010,Full
0x0c42a10300cc0000,0x0c42a10300cc0001,1,0,0,0xffff,Full
0x0c42a10300cc0000,0x0c42a10300cc0001,1,0,1,0x0000,Limited
END_PKEY
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


def test_lab_has_the_cables_that_ibdiagnet_saw(db_csv):
    with Lab(db_csv, triad_conf=QUICK + "[devices]\nenabled = true\n") as lab:
        wait_for_sweep(lab)
        cables = wait_until(lambda: len(found := {
            row["port"]: row for row in ask_json(lab, "cables")
            if row["node_name"] == "leaf, 1" and row["serial"]}) == 2 and found[6]["temperature_c"] and found, 30, "cables")
        assert {key: cables[5][key] for key in
                ("identifier", "vendor", "part", "serial", "revision", "length_m")} == {
            "identifier": "QSFP28", "vendor": "Mellanox", "part": "MCP1650-H002E26",
            "serial": "MT2101VS00001", "revision": "A2", "length_m": 2}, cables[5]
        assert (cables[6]["identifier"], cables[6]["length_m"], cables[6]["temperature_c"]) \
            == ("OSFP", 15, 41), cables[6]


def test_lab_has_the_partitions_that_ibdiagnet_saw(db_csv):
    with Lab(db_csv, triad_conf=QUICK) as lab:
        wait_for_sweep(lab)
        rows = ask_json(lab, "perf", "show")
        tables = {node: lab.run("smpquery", "pkeys", str(lid_of(rows, node)), "1").stdout
                  for node in ("host-1 mlx5_0", "host-2 mlx5_0")}
        assert "0x8010" in tables["host-1 mlx5_0"], tables
        assert "0x8010" not in tables["host-2 mlx5_0"], tables


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
