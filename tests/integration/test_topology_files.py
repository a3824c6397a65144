# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""'topology' in the forms of ibdiagnet's files: a lab of what was written is the same fabric, and
the tables are those that OpenSM dumps."""

import re

import pytest

from checks import failed, mentions, succeeded, wait_until
from labs import SRCDIR, Lab
from triadlab import ibdiagnet
from triadlib import QUICK, ask, ask_json, lid_of, sweep_heavily, triad_lab, wait_for_sweep

pytestmark = pytest.mark.scripts
JOIN = SRCDIR / "tests" / "integration" / "join_group.py"
# Names with commas, blanks and quotes; two switches of one name; a lane lost; a free port.
FABRIC = '''\
START_NODES
NodeDesc,NumPorts,NodeType,NodeGUID,PortGUID,DeviceID,VendorID
"leaf, ""A""",36,2,0x0c42a10300aa0000,0x0c42a10300aa0000,54000,0x2c9
"leaf, ""A""",36,2,0x0c42a10300ab0000,0x0c42a10300ab0000,54000,0x2c9
"host-1 mlx5_0",1,1,0x0c42a10300bb0000,0x0c42a10300bb0001,4123,0x2c9
" host  2's, 'b'",1,1,0x0c42a10300cc0000,0x0c42a10300cc0001,4123,0x2c9
END_NODES
START_PORTS
NodeGuid,PortNum,LinkWidthActv,LinkSpeedActv
0x0c42a10300aa0000,5,2,2048
0x0c42a10300bb0000,1,2,2048
0x0c42a10300ab0000,6,1,512
0x0c42a10300cc0000,1,1,512
0x0c42a10300aa0000,7,2,1024
0x0c42a10300ab0000,7,2,1024
END_PORTS
START_LINKS
NodeGuid1,PortNum1,NodeGuid2,PortNum2
0x0c42a10300aa0000,5,0x0c42a10300bb0000,1
0x0c42a10300ab0000,6,0x0c42a10300cc0000,1
0x0c42a10300aa0000,7,0x0c42a10300ab0000,7
END_LINKS
START_PM_INFO
NodeGUID,PortGUID,PortNumber,SymbolErrorCounter
0x0c42a10300cc0000,0x0c42a10300cc0001,1,33
END_PM_INFO
START_CABLE_INFO
NodeGuid,PortGuid,PortNum,Vendor,OUI,PN,SN,Rev,LengthCopperOrActive,Identifier,TypeDesc
0x0c42a10300aa0000,0x0c42a10300aa0000,5,"Mellanox",0x2c9,"MCP1650, H002",MT2101VS00001,A2,"2 m",17,"Copper cable"
END_CABLE_INFO
START_PKEY
NodeGUID,PortGUID,PortNum,BlockNum,Index,PKey,Membership
0x0c42a10300bb0000,0x0c42a10300bb0001,1,0,0,0x7fff,Limited
0x0c42a10300bb0000,0x0c42a10300bb0001,1,0,1,0x8010,Full
0x0c42a10300cc0000,0x0c42a10300cc0001,1,0,0,0xffff,Full
END_PKEY
'''


@pytest.fixture(name="lab", scope="module")
def fixture_lab(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    (folder / "fabric").write_text(FABRIC, encoding="utf-8")
    conf = QUICK + "[devices]\nenabled = true\n"
    with Lab(folder / "fabric", triad_conf=conf, opensm_conf="qos TRUE\n") as lab:
        wait_for_sweep(lab)
        wait_until(lambda: any(row["serial"] for row in ask_json(lab, "cables")), 30, "cables")
        yield lab


def sections(text):
    """Rows of each section."""
    names = re.findall(r"^START_(\w+)\s*$", text, re.MULTILINE)
    return {name: list(rows) for name, rows in
            ibdiagnet._read_sections(text.splitlines(), names)}  # pylint: disable=protected-access


def shape(fabric):
    """What a lab of it has: each node by its GUID."""
    guids = {node_id: node.guid for node_id, node in fabric.nodes.items()}
    return {node.guid: (node.kind, node.description.strip(), node.vendor, node.device, {
        port: (guids[far], far_port, node.rates.get(port))
        for port, (far, far_port) in node.links.items()}) for node in fabric.nodes.values()}


@pytest.mark.row("N24")
def test_db_csv_is_read_as_the_same_fabric(lab):
    was = ibdiagnet.parse(FABRIC.splitlines())
    text = ask(lab, "topology", "--db-csv")
    fabric = ibdiagnet.parse(text.splitlines())
    assert shape(fabric) == shape(was)
    assert set(was.commands) <= set(fabric.commands)
    assert "0x8010" in fabric.partitions or "0x0010" in fabric.partitions
    lids = {row["guid"]: row["lid"] for row in ask_json(lab, "nodes")}
    assert {row["NodeGuid"]: int(row["LID"]) for row in sections(text)["PORTS"]} == lids


def test_db_csv_says_what_is_not_known(lab):
    of = sections(ask(lab, "topology", "--db-csv"))
    free = next(row for row in of["PORTS"] if row["PortNum"] == "9")
    assert (free["PortState"], free["LinkWidthActv"], free["NMTU"]) == ("1", "N/A", "N/A"), free
    counters = of["PM_INFO"]
    assert {row["QP1Dropped"] for row in counters} == {"N/A"}
    assert not any(row["PortNumber"] == "0" for row in counters), "it has no PMA"
    assert not any(row["PortNum"] == "9" for row in of["TRIAD_SL2VL"] + of["TRIAD_VL_ARBITRATION"])
    cable, = of["CABLE_INFO"]
    assert (cable["PN"], cable["SN"], cable["LengthCopperOrActive"], cable["Temperature"]) == (
        "MCP1650, H002", "MT2101VS00001", "2.0 m", "N/A"), cable


def tables(text):
    """{switch: {LID: what follows}}, of unicast or multicast tables."""
    found = {}
    for line in text.splitlines():
        if switch := re.search(r"Switch (0x[0-9a-f]+)", line):
            table = found[switch[1]] = {}
        elif entry := re.match(r"(0x[0-9A-Fa-f]+) : *(\d+|UNREACHABLE|0x.*)", line):
            table[int(entry[1], 16)] = entry[2].split()
    return found


@pytest.mark.row("N24")
def test_tables_are_those_that_opensm_dumps(tmp_path):
    with triad_lab(opensm_conf=f"log_flags 0x43\ndump_files_dir {tmp_path}\n") as lab:
        assert not any(tables(ask(lab, "topology", "--mcfdbs")).values()), "nobody joined"
        sm_lid = lid_of(ask_json(lab, "perf", "show"), "Hca1")
        for host in "Hca1", "Hca4":
            guid = next(row["guid"] for row in ask_json(lab, "nodes") if row["name"] == host)
            succeeded(lab.run("/usr/bin/python3", JOIN, hex(int(guid, 16) + 1), str(sm_lid),
                              node=host))
        sweep_heavily(lab, lambda: "0xC000" in ask(lab, "topology", "--mcfdbs"))
        dump = tmp_path / "opensm.mcfdbs"
        theirs = wait_until(lambda: "0xC000" in (text := dump.read_text()) and text, 20, "a dump")
        assert tables(ask(lab, "topology", "--mcfdbs")) == tables(theirs)
        unicast = tables(ask(lab, "topology", "--fdbs"))
        assert len(unicast) == 2
        theirs = tables((tmp_path / "opensm.fdbs").read_text())
        assert {guid: {lid: words[0] for lid, words in table.items()}
                for guid, table in unicast.items()} == {
            guid: {lid: words[0] for lid, words in table.items()}
            for guid, table in theirs.items()}


def test_one_form_at_a_time(lab):
    failed(lab.run("triadctl", "topology", "--db-csv", "--fdbs"), 2, "one of them")
    failed(lab.run("triadctl", "topology", "--db-csv", "--json"), 2, "one of them")
    failed(lab.run("triadctl", "topology", "--fdbs", "--at", "1h"), 2, "images --fdbs")


def test_past_fabric_has_no_more_than_its_image():
    with triad_lab(images=True, triadd=True) as lab:
        wait_for_sweep(lab)
        text = wait_until(lambda: (asked := lab.triad("topology", "--db-csv", "--at", "1s"))
                          .returncode == 0 and asked.stdout, 20, "an image")
        of, now = sections(text), sections(ask(lab, "topology", "--db-csv"))
        assert of["LINKS"] == now["LINKS"]
        assert [row["PortGuid"] for row in of["PORTS"]] == [row["PortGuid"] for row in now["PORTS"]]
        assert {row["LMC"] for row in of["PORTS"]} == {"N/A"}
        assert {row["LinearFDBTop"] for row in of["SWITCHES"]} == {"N/A"}
        assert {row["LMC"] for row in now["PORTS"]} == {"0"}


def test_table_that_is_not_known_is_a_comment():
    """Nobody has joined a group, so that no switch has a multicast table."""
    with triad_lab() as lab:
        text = ask(lab, "topology", "--mcfdbs")
        assert all(line.startswith("#") for line in text.splitlines() if line)
        assert mentions(text, "Switch1") and mentions(text, "Switch2")
