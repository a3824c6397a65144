# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The performance attributes that a lab's fabric has beyond ibsim's: what 'lab sim' sets
is what perfquery reads."""

import re

import pytest

from checks import failed, succeeded, wait_until
from labs import EXAMPLE_NETS, Lab, ScriptedLab
from triadlab import netfile
from triadlab.topology import FatTree
from triadlib import TriadLab, ask_json, triad_lab, wait_for_sweep

pytestmark = pytest.mark.scripts

NET = EXAMPLE_NETS / "net.2sw2path4hca"
SPEEDS = "PortExtendedSpeedsCounters"
LANES = range(12)


def sixteen(name):
    return [f"{name}{i}" for i in range(16)]


# Attribute: perfquery's option, the fields.
ATTRIBUTES = {
    SPEEDS: ("--extended_speeds", [
        "SyncHeaderErrorCounter", "UnknownBlockCounter",
        *(f"{name}{i}" for name in ("ErrorDetectionCounterLane",
                                    "FECCorrectableBlockCtrLane",
                                    "FECUncorrectableBlockCtrLane") for i in LANES)
    ][:-1]),  # perfquery leaves out the last one
    "SwPortVLCongestion": ("--swportvlcong", sixteen("SWPortVLCongestion")),
    "PortRcvConCtrl": ("--rcvcc", ["PortPktRcvFECN", "PortPktRcvBECN"]),
    "PortSLRcvFECN": ("--slrcvfecn", sixteen("PortSLRcvFECN")),
    "PortSLRcvBECN": ("--slrcvbecn", sixteen("PortSLRcvBECN")),
    "PortXmitConCtrl": ("--xmitcc", ["PortXmitTimeCong"]),
    "PortVLXmitTimeCong": ("--vlxmittimecc", sixteen("PortVLXmitTimeCong")[:15]),
    "PortXmitDataSL": ("--xmtsl", sixteen("XmtDataSL")),
    "PortRcvDataSL": ("--rcvsl", sixteen("RcvDataSL")),
}
WIDTHS = {SPEEDS: 16, "SwPortVLCongestion": 16}
RSFEC = ["SyncHeaderErrorCounter", "UnknownBlockCounter",
         *(f"FECCorrectableSymbolCtrLane{i}" for i in LANES),
         "PortFECCorrectableBlockCtr", "PortFECUncorrectableBlockCtr",
         "PortFECCorrectedSymbolCtr"]


@pytest.fixture(name="lab")
def running_lab():
    with Lab(NET, plugin="no") as lab:
        yield lab


def assign(lab, node, port, attribute, values):
    lab.sim(*(f'PerformanceSet "{node}"[{port}] {attribute}.{field}={value}'
              for field, value in values.items()))


def some_values(attribute, fields, seed):
    """A value of its own for each field, as large as its width lets it be."""
    most = 2 ** WIDTHS.get(attribute, 32) - 1
    return {field: most - seed - 3 * i for i, field in enumerate(fields)}


def lid_of(lab, node):
    """The base LID, as the fabric has it now."""
    printed = succeeded(lab.run("ibnetdiscover", node="Hca4")).stdout
    return int(re.search(rf'"{node}"(?: base port 0)? lid (\d+)', printed)[1])


def query(lab, lid, port, option, *more):
    return lab.run("perfquery", *more, option, lid, port, node="Hca4")


def read_counters(lab, lid, port, option):
    printed = succeeded(query(lab, lid, port, option)).stdout
    return {name: int(value, 0)
            for name, value in re.findall(r"^(\w+):\.+(\w+)$", printed, re.MULTILINE)
            if name not in ("PortSelect", "CounterSelect")}


def read_mad(lab, lid, port, option):
    """The octets of the answer, which perfquery prints when it debugs."""
    process = query(lab, lid, port, option, "-ddd")
    printed = succeeded(process).stdout + process.stderr
    octets = re.findall(r"^rcv buf\n((?:[0-9a-f ]+\n){16})", printed, re.MULTILINE)[-1]
    return bytes.fromhex(octets.replace(" ", ""))


def capabilities(lab, lid, port):
    printed = succeeded(lab.run("perfquery", lid, port, node="Hca4")).stdout
    return int(re.search(r"CapMask: (0x\w+)", printed)[1], 16)


@pytest.mark.parametrize("attribute", ATTRIBUTES)
def test_fields_that_are_set_equal_perfquery(lab, attribute):
    option, fields = ATTRIBUTES[attribute]
    ends = [("Switch1", 1), ("Switch1", 3), ("Switch2", 1)]
    if attribute != "SwPortVLCongestion":
        ends.append(("Hca2", 1))
    expected = {end: some_values(attribute, fields, 100 * seed)
                for seed, end in enumerate(ends)}
    for end, values in expected.items():
        assign(lab, *end, attribute, values)
    for (node, port), values in expected.items():
        assert read_counters(lab, lid_of(lab, node), port, option) == values, (node, port)
    switch = lid_of(lab, "Switch1")
    assert set(read_counters(lab, switch, 2, option).values()) == {0}
    succeeded(query(lab, switch, 3, option, "-R"))
    assert set(read_counters(lab, switch, 3, option).values()) == {0}
    assert read_counters(lab, switch, 1, option) == expected["Switch1", 1], "others"


def test_reset_with_a_mask_resets_what_it_names(lab):
    values = some_values("PortXmitDataSL", sixteen("XmtDataSL"), 0)
    assign(lab, "Switch1", 2, "PortXmitDataSL", values)
    lid = lid_of(lab, "Switch1")
    succeeded(lab.run("perfquery", "-X", "-R", lid, 2, "0x8", node="Hca4"))
    assert read_counters(lab, lid, 2, "-X") == values | {"XmtDataSL3": 0}


def test_all_ports_are_summed_up_and_stop_at_the_maximum(lab):
    for port, value in ((1, 2 ** 32 - 8), (2, 5), (3, 100)):
        assign(lab, "Switch1", port, "PortRcvConCtrl",
               {"PortPktRcvFECN": value, "PortPktRcvBECN": port})
    lid = lid_of(lab, "Switch1")
    assert read_counters(lab, lid, 255, "--rcvcc") == {
        "PortPktRcvFECN": 2 ** 32 - 1, "PortPktRcvBECN": 6}


def test_ports_and_attributes_that_a_node_lacks_are_refused(lab):
    switch, hca = lid_of(lab, "Switch1"), lid_of(lab, "Hca2")
    for lid, port, option, status in (
            (switch, 200, "--xmitcc", "0x1c"), (hca, 2, "--xmitcc", "0x1c"),
            (hca, 1, "--swportvlcong", "0xc")):
        failed(query(lab, lid, port, option, "-e"), 255, f"error status {status};")
    assert query(lab, 999, 1, "--xmitcc").returncode != 0, "a LID that nobody has"


def test_layout_with_rs_fec_is_that_of_whose_fields_were_set(lab):
    lid, other = lid_of(lab, "Switch1"), lid_of(lab, "Switch2")
    assert capabilities(lab, lid, 1) == 0x5300, "by default"
    values = some_values(SPEEDS, RSFEC, 0)
    assign(lab, "Switch1", 3, SPEEDS, values)
    data = read_mad(lab, lid, 3, "-T")[64:]
    at = [16, 18, *(44 + 4 * i for i in LANES), 140, 144, 148]
    sizes = [2, 2] + 15 * [4]
    told = [int.from_bytes(data[i:i + size], "big") for i, size in zip(at, sizes)]
    assert told == [min(value, 2 ** (8 * size) - 1)
                    for value, size in zip(values.values(), sizes)]
    assign(lab, "Switch1", 1, SPEEDS, {"FECCorrectableBlockCtrLane0": 7})
    assign(lab, "Switch1", 1, SPEEDS, {"FECUncorrectableBlockCtrLane11": 9})
    assert int.from_bytes(read_mad(lab, lid, 1, "-T")[64 + 136:][:4], "big") == 9
    assert capabilities(lab, lid, 1) == 0x1300, "with the other layout"
    assert capabilities(lab, other, 1) == 0x5300, "of another node"
    assert read_counters(lab, lid, 1, "-T")["FECCorrectableBlockCtrLane0"] == 7
    assign(lab, "Switch1", 1, SPEEDS, {"PortFECCorrectedSymbolCtr": 7})
    assert capabilities(lab, lid, 1) == 0x5300, "again"


def test_port_xmit_wait_of_64_bits_is_in_the_extended_counters(lab):
    lid, other = lid_of(lab, "Switch1"), lid_of(lab, "Switch2")
    assert read_mad(lab, lid, 1, "-x")[64 + 168:][:8] == bytes(8)
    assign(lab, "Switch1", 1, "PortCountersExtended", {"PortXmitWait": 2 ** 40 + 7})
    assign(lab, "Switch1", 1, "PortCountersExtended", {"PortRcvPkts": 9})
    data = read_mad(lab, lid, 1, "-x")[64:]
    assert int.from_bytes(data[168:176], "big") == 2 ** 40 + 7
    assert int.from_bytes(data[32:40], "big") == 9, "ibsim's"
    assert read_mad(lab, lid, 2, "-x")[64 + 168:][:8] == bytes(8), "another port"
    assert read_mad(lab, other, 1, "-x")[64 + 168:][:8] == bytes(8), "another node"


def test_counters_stay_with_their_node_when_lids_change():
    with Lab(NET, plugin="no", opensm_conf="honor_guid2lid_file TRUE") as lab:
        for value, node in enumerate(("Hca2", "Hca3", "Switch1"), 1):
            assign(lab, node, 1, "PortXmitConCtrl", {"PortXmitTimeCong": value})
        old = {node: lid_of(lab, node) for node in ("Hca2", "Hca3")}
        lab.host("kill", 0, "opensm")
        path = lab.folder / "sm-0" / "cache" / "guid2lid"
        swap = {f"0x{old[a]:04x}": f"0x{old[b]:04x}"
                for a, b in (("Hca2", "Hca3"), ("Hca3", "Hca2"))}
        path.write_text(re.sub(r"\b0x\w{4}\b", lambda it: swap.get(it[0], it[0]),
                               path.read_text(encoding="ascii")), encoding="ascii")
        lab.host("start", 0, "opensm")
        wait_until(lambda: lid_of(lab, "Hca2") == old["Hca3"], timeout_s=60,
                   what="the other LIDs")
        for value, node in enumerate(("Hca2", "Hca3", "Switch1"), 1):
            wait_until(lambda lid=lid_of(lab, node), value=value: query(
                lab, lid, 1, "--xmitcc").stdout.endswith(f".{value}\n"), timeout_s=30,
                what=f"the counter of {node}")


def test_links_that_are_down_carry_no_requests(lab):
    lid = lid_of(lab, "Hca2")
    assert read_counters(lab, lid, 1, "--xmitcc") == {"PortXmitTimeCong": 0}
    lab.sim('Unlink "Hca2"[1]')
    assert query(lab, lid, 1, "--xmitcc").returncode != 0
    assert lab.run("perfquery", lid, 1, node="Hca4").returncode != 0


def test_sim_refuses_in_words():
    with ScriptedLab(NET, plugin="no") as lab:
        for what, part in (
                ('"Switch1"[3] PortXmitConCtrl.PortXmit=1',
                 "field PortXmit cannot be found in attribute PortXmitConCtrl"),
                ('"Switch1"[3] PortXmitDataSL.XmtDataSL16=1', "field XmtDataSL16 cannot"),
                ('"Switch1"[3] PortXmitDataXL.XmtDataSL1=1', "attribute PortXmitDataXL"),
                ('"Nobody"[3] PortXmitConCtrl.PortXmitTimeCong=1', "not found"),
                ('"Switch1"[99] PortXmitConCtrl.PortXmitTimeCong=1', "bad port number 99"),
                ('"Switch1"[0] PortXmitConCtrl.PortXmitTimeCong=1', "bad port number 0"),
                ('"Hca1"[1] SwPortVLCongestion.SWPortVLCongestion3=1', "no switch"),
                ('"Switch1"[3] PortXmitConCtrl.PortXmitTimeCong=x', "not valid integer")):
            failed(lab.command("sim", f"PerformanceSet {what}"), 1, part)
        for what, part in (('"Nobody" withhold', "not found"),
                           ('"Switch1"[99] active=4xNDR', "bad port number 99"),
                           ('"Switch1"[3] active=4xABC', "unknown")):
            failed(lab.command("sim", f"Speed {what}"), 1, part)
        # What is too large becomes the maximum, as with the attributes of ibsim itself.
        assert "has been set to 65535" in lab.sim(
            'PerformanceSet "Switch1"[3] SwPortVLCongestion.SWPortVLCongestion3=70000')
        many = [f'PerformanceSet "Hca{1 + i % 4}"[1] PortXmitConCtrl.PortXmitTimeCong={i}'
                for i in range(2000)]
        answers = succeeded(lab.command("sim", "-", input="\n".join(many), stdin=None,
                                        timeout_s=60)).stdout.splitlines()
        assert answers == [
            f"Hca{1 + i % 4}[1] PortXmitConCtrl.PortXmitTimeCong has been set to {i}"
            for i in range(2000)]


@pytest.mark.parametrize("number, rate", ((1, "4x FDR"), (3, "4x EDR"), (7, "4x HDR")))
def test_extended_speed_of_a_net_file_is_that_of_its_links(tmp_path, number, rate):
    net = tmp_path / "net"
    net.write_text(f"extspeed={number}\n" + NET.read_text(encoding="ascii"),
                   encoding="ascii")
    with TriadLab(net) as lab:
        wait_for_sweep(lab)
        assert "SUBNET UP" in lab.log()
        assert {row["rate"] for row in ask_json(lab, "links")} == {rate}


# By gen-fabric's numbers.
GUIDS = {"leaf-01": "0x0200000200000010", "leaf-02": "0x0200000200000020",
         "host-0001": "0x0200000100000011"}


def speeds_of(lab, node, port, *options):
    """What a port tells of its link: [width, speed, supported width, supported speeds]."""
    text = succeeded(lab.run("smpquery", *options, "-G", "portinfo", GUIDS[node], port)).stdout
    return [re.search(rf"^{field}:\.*(.*)$", text, re.MULTILINE)[1] for field in (
        "LinkWidthActive", "LinkSpeedExtActive", "LinkWidthSupported",
        "LinkSpeedExtSupported")]


def tree_net(folder, rate):
    """Two leaves with two hosts each, and two spines."""
    path = folder / "tree.net"
    with open(path, "w", encoding="utf-8") as stream:
        netfile.write(FatTree.plan(levels=2, radix=4, hosts=4).build(), stream, "small", rate)
    return path


NDR = ["4X", "106.25 Gbps", "1X or 4X",
       "14.0625 Gbps or 25.78125 Gbps or 53.125 Gbps or 106.25 Gbps"]
NONE = ["4X", "No Extended Speed", "1X or 4X", "0"]


def test_link_of_a_net_file_is_ndr_and_supports_no_more(tmp_path):
    with Lab(tree_net(tmp_path, "4xNDR"), plugin="no") as lab:
        assert speeds_of(lab, "leaf-01", 1) == NDR
        assert speeds_of(lab, "host-0001", 1) == NDR
        lab.sim('Speed "leaf-01"[1] supported=12xNDR', 'Speed "leaf-01"[1] active=4xHDR')
        assert speeds_of(lab, "leaf-01", 1) == ["4X", "53.125 Gbps",
                                                "1X or 4X or 8X or 12X", NDR[3]]
        assert speeds_of(lab, "leaf-01", 2) == NDR


def test_links_of_a_net_file_support_what_they_run_at(tmp_path):
    with Lab(tree_net(tmp_path, "4xEDR"), plugin="no") as lab:
        assert speeds_of(lab, "leaf-01", 1) == ["4X", "25.78125 Gbps", "1X or 4X",
                                                "14.0625 Gbps or 25.78125 Gbps"]


def test_device_that_withholds_tells_its_speed_only_to_who_asks_for_it(tmp_path):
    with Lab(tree_net(tmp_path, "4xNDR"), plugin="no") as lab:
        lab.sim('Speed "leaf-01" withhold')
        assert speeds_of(lab, "leaf-01", 1) == NONE
        assert speeds_of(lab, "leaf-01", 1, "-x") == NDR
        assert speeds_of(lab, "leaf-02", 1) == NDR
        lab.sim('Speed "leaf-01" answer')
        assert speeds_of(lab, "leaf-01", 1) == NDR


def test_lab_with_devices_that_withhold(tmp_path):
    with Lab(tree_net(tmp_path, "4xHDR"), plugin="no", withhold=True) as lab:
        assert speeds_of(lab, "leaf-01", 1) == NONE
        assert speeds_of(lab, "host-0001", 1) == NONE


def test_lab_keeps_what_an_election_and_ports_remember_in_its_folder():
    """Else the next lab would begin with it, and labs side by side would share it."""
    text = ("[perfmgr]\nenabled = false\n[election]\nenabled = true\ncluster = none\n"
            "[port]\nenabled = true\nmode = observe\n")
    with triad_lab(triad_conf=text) as lab:
        state = lab.folder / "sm-0" / "state"
        wait_until(lambda: list(state.glob("election-*")) and list(state.glob("ports-*")), 20,
                   lambda: [path.name for path in state.glob("*")])
