# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Cables, and devices that tell of themselves: what a lab's devices have is what 'cables',
'devices' and Prometheus show; who must not be asked is not asked."""

import json
import re
import struct
import subprocess

import pytest

from agentlib import Broker, Member, conf
from checks import failed, mentions, succeeded, wait_until
from labs import Lab
from triadlab.modules import Module
from triadlab.tcp_ports import free_address
from triadlib import TriadLab, ask, ask_json, status, wait_for_sweep

pytestmark = pytest.mark.row("N18")

ADDRESS = free_address()
SWEEPS = "[perfmgr]\nsweep_period = 1\nreset = never\n"
CONF = (SWEEPS + "[devices]\nenabled = true\nperiod = 1\n"
        "[alerts]\nraise_after = 0\nclear_after = 0\n"
        f"[prometheus]\nlisten = {ADDRESS}\n")
NODES = ["Leaf", "Hca1", "Hca2", "Spine", "Hca3"]
# Leaf, Hca1 and Hca2 are of the vendor; Spine is of another one.
FABRIC = """\
vendid=0x2c9
devid=0xd2f0
switchguid=0x10(10)
Switch 8 "Leaf"
[1] "Hca1"[1]
[2] "Hca2"[1]
[3] "Spine"[1]

vendid=0x66a
devid=0x1
switchguid=0x20(20)
Switch 8 "Spine"
[1] "Leaf"[3]
[2] "Hca3"[1]

vendid=0x2c9
devid=0x1017
caguid=0x30
Hca 1 "Hca1"
[1](31) "Leaf"[1]

vendid=0x2c9
devid=0x1017
caguid=0x40
Hca 1 "Hca2"
[1](41) "Leaf"[2]

vendid=0x66a
devid=0x1
caguid=0x50
Hca 1 "Hca3"
[1](51) "Spine"[2]
"""


def qsfp28(serial, temperature=35, rx=(8000, 7000, 6000, 5000)):
    """An active optical cable of 20 m [SFF-8636]."""
    module = Module(0x11)
    module.put(0, 130, bytes([0x23]))
    module.put(0, 146, bytes([20, 0x00]))
    module.text(0, 148, "Mellanox", 16)
    module.put(0, 165, bytes([0x00, 0x02, 0xc9]))
    module.text(0, 168, "MFS1S00-H020V", 16)
    module.text(0, 184, "B2", 2)
    module.text(0, 196, serial, 16)
    module.text(0, 212, "210817", 8)
    module.put(0, 220, bytes([0x0c]))
    module.words(0, 22, temperature * 256)
    module.words(0, 26, 33000)
    module.words(0, 34, *rx)
    module.words(0, 42, 3350, 3350, 3350, 3350)
    module.words(0, 50, 9000, 9000, 9000, 9000)
    module.words(3, 128, 75 * 256, -5 * 256, 70 * 256, 0)
    module.words(3, 144, 36300, 29700, 34650, 31350)
    module.words(3, 176, 25000, 1000, 20000, 2000)
    module.words(3, 184, 5000, 500, 4500, 1000)
    module.words(3, 192, 25000, 1000, 20000, 2000)
    return module


def osfp(serial):
    """A cable of 1.5 m with active electronics [CMIS]."""
    module = Module(0x19)
    module.text(0, 129, "NVIDIA", 16)
    module.put(0, 145, bytes([0x48, 0xb0, 0x2d]))
    module.text(0, 148, "MCA4J80-N001", 16)
    module.text(0, 164, "A1", 2)
    module.text(0, 166, serial, 16)
    module.text(0, 182, "230102", 8)
    module.put(0, 202, bytes([15]))
    module.put(0, 203, bytes([0x23]))
    module.put(0, 212, bytes([0x0f]))
    module.words(0, 14, int(41.5 * 256), 32900)
    module.words(1, 160, 0)
    module.words(2, 128, 80 * 256, 0, 75 * 256, 0)
    return module


def registers(node, firmware, psid, temperature=480, rpm=6200, slow_fans=0):
    """What a switch tells [mstflint]; temperatures are in 1/8 degrees."""
    def put(register, at, octets, index=0):
        return f'Register "{node}"[{index}] {register}.{at}={octets.hex()}'
    yield put("GeneralInfo", 0x00, struct.pack(">HH", 0xa0, 0xd2f0))
    yield put("GeneralInfo", 0x1c, struct.pack(">I", 864000))
    yield put("GeneralInfo", 0x30, psid.encode())
    yield put("GeneralInfo", 0x44, struct.pack(">III", *firmware))
    yield put("GeneralInfo", 0x80, struct.pack(">I", 1 << 20))
    yield put("0x9021", 0x00, b"MT2113X01234")
    yield put("0x9021", 0x20, b"MQM8790-HS2F")
    yield put("0x9021", 0x38, b"AG")
    yield put("0x9021", 0x40, b"Jaguar Unmng IB 200")
    yield put("0x9009", 0x08, struct.pack(">Q", 1))
    yield put("0x900a", 0x06, struct.pack(">H", temperature))
    yield put("0x900a", 0x0e, struct.pack(">H", 105 * 8))
    yield put("0x900a", 0x18, b"asic")
    yield put("0x9001", 0x04, struct.pack(">H", 0b110))
    yield put("0x9003", 0x06, struct.pack(">H", 6100), 1)
    yield put("0x9003", 0x06, struct.pack(">H", rpm), 2)
    yield put("0x9007", 0x00, struct.pack(">H", slow_fans))
    yield put("0x900d", 0x00, struct.pack(">III", 0x50000010, 2, 0x80000000 | 123))
    yield put("0x900d", 0x50, struct.pack(">III", 0x50000010, 2, 0))


def net(scratch_dir):
    path = scratch_dir / "net"
    path.write_text(FABRIC, encoding="utf-8")
    return path


def equip(lab):
    lab.sim(*qsfp28("MT2133VS01234").commands("Leaf", 1),
            *osfp("MT2301FT09876").commands("Leaf", 2),
            *registers("Leaf", (27, 2010, 3118), "MT_0000000063"))


def rounds(lab):
    return ask_json(lab, "status")["devices"]["rounds"]


def wait_for_rounds(lab, n=1):
    begun = rounds(lab)
    wait_until(lambda: rounds(lab) >= begun + n, 60, f"{n} rounds of questions")


def n_asked(lab, node):
    return int(re.search(r"was asked (\d+) times", lab.sim(f'Asked "{node}"'))[1])


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    with TriadLab(net(tmp_path_factory.mktemp("net")), sms=["Hca1"],
                  triad_conf=CONF.replace("true", "false", 1)) as lab:
        equip(lab)
        wait_for_sweep(lab, 2)
        # Off by default: nothing was asked until now.
        assert [n_asked(lab, node) for node in NODES] == [0] * len(NODES)
        failed(lab.triad("cables"), 1, "set devices.enabled true")
        ask(lab, "set", "devices.enabled", "true")
        wait_for_rounds(lab)
        yield lab


def cables(lab, *words):
    return {(row["node_name"], row["port"]): row
            for row in ask_json(lab, "cables", *words)}


@pytest.mark.threads
@pytest.mark.row("N6")
def test_cables_equal_what_modules_hold(lab):
    rows = cables(lab)
    optical, copper = rows["Leaf", 1], rows["Leaf", 2]
    assert {key: optical[key] for key in (
        "identifier", "technology", "vendor", "vendor_oui", "part", "revision", "serial",
        "date", "length_m", "temperature_c", "voltage_v", "remote_node_name")} == {
            "identifier": "QSFP28", "technology": "850 nm VCSEL", "vendor": "Mellanox",
            "vendor_oui": "0x0002c9", "part": "MFS1S00-H020V", "revision": "B2",
            "serial": "MT2133VS01234", "date": "210817", "length_m": 20,
            "temperature_c": 35, "voltage_v": 3.3, "remote_node_name": "Hca1"}
    assert [lane["rx_mw"] for lane in optical["lanes"]] == [0.8, 0.7, 0.6, 0.5]
    assert [lane["tx_mw"] for lane in optical["lanes"]] == [0.9] * 4
    assert [lane["tx_bias_ma"] for lane in optical["lanes"]] == [6.7] * 4
    assert optical["rx_limits_dbm"]["low_alarm"] == -10
    assert optical["temperature_limits_c"] == {
        "high_alarm": 75, "high_warning": 70, "low_warning": 0, "low_alarm": -5}
    assert {key: copper[key] for key in ("identifier", "technology", "vendor", "part",
                                         "serial", "length_m", "temperature_c",
                                         "lanes")} == {
        "identifier": "OSFP", "technology": "copper, linear active", "vendor": "NVIDIA",
        "part": "MCA4J80-N001", "serial": "MT2301FT09876", "length_m": 1.5,
        "temperature_c": 41.5, "lanes": []}
    # A name, or a port of it.
    assert list(cables(lab, "Leaf:2")) == [("Leaf", 2)]
    assert rows["Leaf", 4]["module"] == "empty"


@pytest.mark.row("N6")
def test_devices_equal_what_registers_hold(lab):
    rows = {row["node_name"]: row for row in ask_json(lab, "devices")}
    leaf = rows["Leaf"]
    assert {key: leaf[key] for key in ("firmware", "psid", "part", "serial", "revision",
                                       "product", "uptime_s", "temperature_c")} == {
        "firmware": "27.2010.3118", "psid": "MT_0000000063", "part": "MQM8790-HS2F",
        "serial": "MT2113X01234", "revision": "AG", "product": "Jaguar Unmng IB 200",
        "uptime_s": 864000, "temperature_c": 60}
    assert leaf["sensors"][0]["threshold_c"] == 105
    assert leaf["fans"] == [{"fan": 1, "rpm": 6100}, {"fan": 2, "rpm": 6200}]
    assert leaf["fans_below_limit"] == leaf["fans_above_limit"] == []
    assert [(supply["status"], supply["watts"]) for supply in leaf["power_supplies"]] == [
        ("ok", 123), ("ok", None)]
    assert rows["Hca2"]["refused"] == ["GeneralInfo", "CableInfo"]
    assert set(rows) == {"Leaf", "Hca1", "Hca2"}, "devices of another vendor"
    (version,) = ask_json(lab, "devices", "--firmware")
    assert (version["firmware"], version["devices"]) == ("27.2010.3118", 1)


@pytest.mark.row("N6")
def test_who_refused_or_is_another_vendors_is_left_alone(lab):
    before = {node: n_asked(lab, node) for node in NODES}
    wait_for_rounds(lab, 2)
    after = {node: n_asked(lab, node) for node in NODES}
    assert after["Leaf"] > before["Leaf"]
    # An HCA refused both attributes, once each.
    assert before == {**before, "Hca1": 2, "Hca2": 2, "Spine": 0, "Hca3": 0}
    assert {**after, "Leaf": 0} == {**before, "Leaf": 0}


@pytest.mark.row("N6")
def test_prometheus_has_names_of_exporter(lab):
    text = succeeded(lab.run("curl", "-sS", f"http://{ADDRESS}/metrics")).stdout
    guid = 'guid="0x0000000000000010"'
    for line in (
            f'infiniband_switch_hardware_info{{{guid},firmware_version="27.2010.3118",'
            'psid="MT_0000000063",part_number="MQM8790-HS2F",'
            'serial_number="MT2113X01234",switch="Leaf"} 1',
            f"infiniband_switch_uptime_seconds{{{guid}}} 864000",
            f"infiniband_switch_temperature_celsius{{{guid}}} 60",
            f'infiniband_switch_fan_rpm{{{guid},fan="2"}} 6200',
            f'infiniband_switch_fan_status_info{{{guid},status="OK"}} 1',
            f'infiniband_switch_power_supply_status_info{{{guid},psu="1",status="OK"}} 1',
            f'infiniband_switch_power_supply_watts{{{guid},psu="0"}} 123',
            f'infiniband_switch_port_cable_temperature_celsius{{{guid},port="1"}} 35',
            f'infiniband_switch_port_cable_tx_bias_amperes{{{guid},port="1",lane="4"}} '
            "0.0067"):
        assert line in text.splitlines()
    check = subprocess.run(["promtool", "check", "metrics"], input=text, text=True,
                           capture_output=True, check=False)
    assert (check.returncode, check.stderr) == (0, "")


def test_lines_for_people(lab):
    assert re.search(r"^Leaf:1 +Hca1:1 .* MFS1S00-H020V +MT2133VS01234 +20\.0 +35\.0 +"
                     r"-3\.0$", ask(lab, "cables"), re.MULTILINE)
    assert re.search(r"^Leaf +27\.2010\.3118 .* 60\.0 2/2   2/2 *$",
                     ask(lab, "devices"), re.MULTILINE)
    assert mentions(ask(lab, "health"), "Devices ok 1 3 told 2 refused 0 silent")
    assert mentions(" ".join(ask(lab, "health").split()), "0 silent 2 cables 0 faults")


def hardware_alerts(lab):
    return {alert["findings"][0]["why"]: alert
            for alert in ask_json(lab, "alerts")["alerts"]
            if alert["state"] == "active" and alert["what"] in ("module", "device")}


@pytest.mark.row("N6", "N10")
def test_past_moment_has_cables_and_devices_of_then(lab, tmp_path):
    def images():
        return ask_json(lab, "status")["images"]
    def wait_for_images(n):
        begun = images()["written"]
        wait_until(lambda: images()["written"] >= begun + n, 30, "images")
    before = cables(lab), ask_json(lab, "devices")
    ask(lab, "set", "history.dir", tmp_path)
    # Two of a sweep may be of other tiers; the last one is no key.
    wait_for_images(4)
    then = images()["last"][:19]
    wait_until(lambda: images()["last"][:19] > then, 20, "the next second")
    try:
        lab.sim(*qsfp28("ANOTHER", temperature=44).commands("Leaf", 1),
                *registers("Leaf", (27, 2010, 3118), "MT_0000000063", temperature=400))
        wait_until(lambda: cables(lab)["Leaf", 1]["temperature_c"] == 44 and
                   ask_json(lab, "devices", "Leaf")[0]["temperature_c"] == 50, 30,
                   "what changed")
        wait_for_images(3)
        def without_times(rows):
            return [{key: value for key, value in row.items()
                     if key not in ("last_read", "uptime_s")} for row in rows]
        was = cables(lab, "--at", then)
        assert without_times(was.values()) == without_times(before[0].values())
        assert without_times(ask_json(lab, "devices", "--at", then)) == \
            without_times(before[1])
        assert list(cables(lab, "Leaf:1", "--at", then)) == [("Leaf", 1)]
        assert "27.2010.3118" in ask(lab, "devices", "--firmware", "--at", then)
        last = images()["last"][:19]
        assert cables(lab, "--at", last)["Leaf", 1]["temperature_c"] == 44
    finally:
        equip(lab)
        wait_until(lambda: cables(lab)["Leaf", 1]["temperature_c"] == 35, 30, "as it was")
        ask(lab, "set", "history.dir", "")


@pytest.mark.row("N6")
def test_faults_are_alerts_and_end(lab):
    assert not hardware_alerts(lab)
    lab.sim(*qsfp28("MT2133VS01234", temperature=78).commands("Leaf", 1),
            *registers("Leaf", (27, 2010, 3118), "MT_0000000063", rpm=0))
    alerts = wait_until(lambda: len(found := hardware_alerts(lab)) == 2 and found,
                        60, "two alerts")
    module, fan = alerts["module_temperature"], alerts["fan"]
    assert (module["at"]["node_name"], module["at"]["port"]) == ("Leaf", 1)
    assert (module["findings"][0]["value"], module["findings"][0]["limit"]) == (78, 75)
    assert (fan["at"]["node_name"], fan["at"]["port"]) == ("Leaf", None)
    shown = " ".join(ask(lab, "alerts").split())
    assert mentions(shown, "module temperature 78.0 C 75.0 C")
    assert "fan 2 stands" in shown
    # It turns again, but too slowly.
    lab.sim(*registers("Leaf", (27, 2010, 3118), "MT_0000000063", slow_fans=0b100))
    wait_until(lambda: "fan 2 is slower than its limit" in
               " ".join(ask(lab, "alerts").split()), 60, "an alert")
    assert re.search(r"^Leaf +.* 1/2   2/2 *$", ask(lab, "devices"), re.MULTILINE)
    # Less light than the module's own alarm, once it is cool again.
    lab.sim(*qsfp28("MT2133VS01234", rx=(8000, 900, 6000, 5000)).commands("Leaf", 1),
            *registers("Leaf", (27, 2010, 3118), "MT_0000000063"))
    dark = wait_until(lambda: hardware_alerts(lab).get("rx_power"), 60, "an alert")
    assert dark["findings"][0]["index"] == 2
    equip(lab)
    wait_until(lambda: not hardware_alerts(lab), 60, "the end of all alerts")


@pytest.mark.row("N6")
def test_silent_device_is_asked_once_until_it_is_switched_on_again(lab):
    lid = next(row["lid"] for row in ask_json(lab, "nodes") if row["name"] == "Leaf")
    ask(lab, "set", "devices.enabled", "false")
    lab.harm_mads(f"lose class 0x0a lid {lid} direction in")
    before = n_asked(lab, "Leaf")
    ask(lab, "set", "devices.enabled", "true")
    wait_until(lambda: status(lab)["devices"]["silent"] == 1, 30, "a silent device")
    wait_for_rounds(lab, 2)
    assert n_asked(lab, "Leaf") == before + 1
    (row,) = [row for row in ask_json(lab, "devices") if row["node_name"] == "Leaf"]
    assert row["state"] == "silent"
    lab.heal_mads()
    wait_for_rounds(lab, 1)
    assert n_asked(lab, "Leaf") == before + 1
    ask(lab, "set", "devices.enabled", "false")
    ask(lab, "set", "devices.enabled", "true")
    wait_until(lambda: n_asked(lab, "Leaf") > before + 10, 30, "questions again")


@pytest.mark.row("N6")
def test_device_that_falls_silent_is_a_finding_until_it_is_asked_again(lab):
    def findings():
        health = json.loads(lab.triad("health", "--json").stdout)
        return [finding["what"] for finding in health["findings"]
                if finding["at"] == "devices"]
    wait_until(lambda: status(lab)["devices"]["silent"] == 0, 30, "all devices to answer")
    assert not findings()
    lid = next(row["lid"] for row in ask_json(lab, "nodes") if row["name"] == "Leaf")
    lab.harm_mads(f"lose class 0x0a lid {lid} direction in")
    (finding,) = wait_until(findings, 60, "a finding")
    assert mentions(finding, "1 device answer")
    (part,) = [part for part in json.loads(lab.triad("health", "--json").stdout)["parts"]
               if part["part"] == "devices"]
    assert part["severity"] == "WARNING"
    lab.heal_mads()
    ask(lab, "set", "devices.enabled", "false")
    ask(lab, "set", "devices.enabled", "true")
    wait_until(lambda: status(lab)["devices"]["silent"] == 0 and not findings(), 30,
               "the end of the finding")


@pytest.mark.row("N6")
def test_agent_asks_its_devices_and_manager_says_so(scratch):
    broker, devices = Broker(scratch), CONF[CONF.index("[devices]"):CONF.index("[prom")]
    with Lab(net(scratch.folder()), sms=["Hca1"],
             triad_conf=conf(broker, "manager", devices)) as lab:
        equip(lab)
        agent = Member(scratch, lab, "Hca3", conf(broker, "agent", devices, name="a3"))
        wait_until(lambda: agent.section("devices").get("told") == 1, 60, "a device")
        wait_until(lambda: [row["serial"] for row in agent.ask("cables")
                            if row["module"] == "known"] == [
                                "MT2133VS01234", "MT2301FT09876"], 30, "two cables")
        # The manager asks nothing, and says who does.
        failed(lab.triad("cables"), 1, "agents owner")
        assert status(lab)["devices"]["questions"] == 0
        lab.sim(*registers("Leaf", (27, 2010, 3118), "MT_0000000063", rpm=0))
        alert = wait_until(lambda: [alert for alert in ask_json(lab, "alerts")["alerts"]
                                    if alert["what"] == "device"], 60, "an alert")[0]
        assert (alert["at"]["node_name"], alert["at"]["port"]) == ("Leaf", None)
        assert "on the agent's host" in alert["advice"]
