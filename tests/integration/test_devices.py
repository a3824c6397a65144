# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Cables, and devices that tell of themselves: what a lab's devices have is what 'cables',
'devices' and Prometheus show; who must not be asked is not asked."""

import re
import struct
import subprocess

import pytest

from checks import failed, succeeded, wait_until
from triadlab.tcp_ports import free_address
from triadlib import TriadLab, ask, ask_json, wait_for_sweep

ADDRESS = free_address()
SWEEPS = "[perfmgr]\nsweep_period = 1\nreset = never\n"
CONF = (SWEEPS + "[devices]\nenabled = true\nperiod = 10\nrate = 1000\n"
        "[alerts]\nraise_after = 0\nclear_after = 0\n"
        f"[prometheus]\nlisten = {ADDRESS}\n")
# Leaf and Hca1 are of the vendor; Spine is of another one.
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


class Module:
    """The memory of what is plugged in, as the documents lay it out."""

    def __init__(self, identifier):
        self.pages = {}
        self.put(0, 0, bytes([identifier]))
        self.put(0, 128, bytes([identifier]))

    def put(self, page, at, octets):
        for i, octet in enumerate(octets):
            self.pages.setdefault(page, {})[at + i] = octet

    def text(self, page, at, text, size):
        self.put(page, at, text.encode().ljust(size))

    def words(self, page, at, *words):
        self.put(page, at, struct.pack(f">{len(words)}H", *(word % 65536 for word in words)))

    def commands(self, node, port):
        for page, octets in self.pages.items():
            places = sorted(octets)
            while places:
                run = [at for i, at in enumerate(places) if at == places[0] + i][:32]
                places = places[len(run):]
                text = "".join(f"{octets[at]:02x}" for at in run)
                yield f'Cable "{node}"[{port}] {page}.{run[0]}={text}'


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


def registers(node, firmware, psid, temperature=480, rpm=6200):
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
                  triad_conf=SWEEPS) as lab:
        equip(lab)
        yield lab


def test_x(lab):
    wait_for_sweep(lab, 2)
    print(ask(lab, "nodes"))
    print(lab.triad("cables"))
    print(n_asked(lab, "Leaf"))
    print(ask(lab, "set", "devices.enabled", "true"))
    print(ask(lab, "set", "devices.rate", "1000"))
    import time
    time.sleep(4)
    print(ask(lab, "cables"))
    print(ask(lab, "devices"))
    print(ask(lab, "devices", "--firmware"))
    print(ask(lab, "cables", "--json"))
    print(ask(lab, "devices", "--json"))
    print(n_asked(lab, "Leaf"), n_asked(lab, "Hca1"), n_asked(lab, "Hca2"), n_asked(lab, "Spine"), n_asked(lab, "Hca3"))
    assert 0
