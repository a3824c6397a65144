# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What other people's programs make of our sFlow: tshark and pmacct's sfacctd read
datagrams that the agent sent through the loopback interface.

Both decode if_counters; neither knows the InfiniBand structures, so what these show is
that their frames are right: that everything behind them is found."""

import contextlib
import json
import os
import shutil
import signal
import socket
import struct
import subprocess

import pytest

from checks import succeeded, wait_until
from labs import BUILDDIR

pytestmark = pytest.mark.scripts


SAY = BUILDDIR / "tests" / "integration" / "sflow_say"
SFLOW_PORT = 6343
LINKTYPE_RAW = 101

# Counters by their place in enum triad_counter.
RCV_ERRORS, VL15_DROPPED, XMIT_DATA, RCV_DATA, XMIT_PKTS = 3, 12, 14, 15, 16
RCV_CONSTRAINT_ERRORS, XMIT_DISCARDS = 8, 6


def total(port, counter):
    """What sflow_say gave port (from 0): its ifIndex is one more."""
    return port * 100 + counter


def say(*ports):
    process = subprocess.run([SAY, *map(str, ports)], capture_output=True, text=True,
                             timeout=120, check=False)
    succeeded(process)
    return json.loads(process.stdout)


def need(program):
    path = shutil.which(program) or shutil.which(program, path="/usr/sbin:/usr/bin")
    if not path:
        pytest.skip(f"{program} is not installed (scripts/deps)")
    return path


def udp_socket():
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    sock.bind(("127.0.0.1", 0))
    sock.settimeout(10)
    return sock


def receive():
    """What was said, and its datagrams."""
    with contextlib.closing(udp_socket()) as sock:
        said = say(sock.getsockname()[1])
        return said, [sock.recv(65536) for _ in range(said["datagrams"])]


# --- tshark ------------------------------------------------------------------

def write_capture(path, datagrams):
    """As if they had been seen on the wire, going to sFlow's port."""
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, LINKTYPE_RAW))
        for datagram in datagrams:
            udp = struct.pack(">HHHH", 12345, SFLOW_PORT, 8 + len(datagram), 0)
            ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 28 + len(datagram), 0, 0, 64,
                             socket.IPPROTO_UDP, 0, bytes((192, 0, 2, 1)),
                             bytes((192, 0, 2, 2)))
            packet = ip + udp + datagram
            file.write(struct.pack("<IIII", 0, 0, len(packet), len(packet)) + packet)


def dissect(capture, display_filter, *fields):
    """For each packet that passes the filter, the values of its fields."""
    arguments = [need("tshark"), "-n", "-r", capture, "-Y", display_filter,
                 "-T", "fields", "-E", "occurrence=a", "-E", "aggregator=,"]
    for field in fields:
        arguments += ["-e", field]
    process = subprocess.run(arguments, capture_output=True, text=True, timeout=120,
                             check=False)
    succeeded(process)
    return [[[int(value, 0) if value not in ("True", "False") else value == "True"
              for value in field.split(",") if value]
             for field in line.split("\t")] for line in process.stdout.splitlines()]


def columns(rows):
    """The values of each field, all packets together."""
    return [[value for row in rows for value in row[i]] for i in range(len(rows[0]))]


@pytest.mark.row("S8")
def test_tshark_finds_nothing_malformed(tmp_path):
    said, datagrams = receive()
    capture = tmp_path / "sflow.pcap"
    write_capture(capture, datagrams)
    rows = dissect(capture, "sflow", "sflow_245.version", "sflow_245.numsamples")
    versions, counts = columns(rows)
    assert versions == [5] * said["datagrams"], "versions"
    assert sum(counts) == said["samples"], "samples"
    assert dissect(capture, "_ws.malformed || _ws.expert.severity >= 0x400000",
                   "frame.number") == [], "packets with mistakes"
    # A datagram that is cut must show, or the lines above say nothing.
    write_capture(capture, [datagrams[0][:-40]])
    assert dissect(capture, "_ws.malformed", "frame.number"), \
        "a datagram that was cut passes as well formed"


@pytest.mark.row("S6")
def test_tshark_reads_each_sample_and_if_counters(tmp_path):
    said, datagrams = receive()
    capture = tmp_path / "sflow.pcap"
    write_capture(capture, datagrams)
    names = ("ifindex", "iftype", "ifspeed", "ifinoct", "ifoutoct", "ifoutpkt",
             "ifindisc", "ifinerr", "ifoutdisc", "ifpromisc")
    rows = dissect(capture, "sflow", "sflow_245.sampletype",
                   "sflow_245.counters_record_format",
                   *(f"sflow_245.{name}" for name in names))
    types, records, *values = columns(rows)
    n_counters = said["samples"] - 3
    assert sorted(types) == [1] + [2] * n_counters + [3, 4], "sample types"
    assert records == [1, 9] * (n_counters + 1), "counter records"
    counters = [dict(zip(names, sample)) for sample in zip(*values)]
    assert len(counters) == n_counters + 1, "if_counters"
    seen = {sample["ifindex"] for sample in counters}
    assert seen == {*range(1, said["ports"] + 1), (1 << 24) + 5}, "interfaces"
    for sample in counters:
        port = sample["ifindex"] - 1 if sample["ifindex"] < 1 << 24 else 1
        assert sample["iftype"] == 199, "ifType"
        assert sample["ifinoct"] == 4 * total(port, RCV_DATA), "ifInOctets"
        assert sample["ifoutoct"] == 4 * total(port, XMIT_DATA), "ifOutOctets"
        assert sample["ifoutpkt"] == total(port, XMIT_PKTS), "ifOutUcastPkts"
        assert sample["ifindisc"] == \
            total(port, VL15_DROPPED) + total(port, RCV_CONSTRAINT_ERRORS), \
            "ifInDiscards"
        assert sample["ifinerr"] == 3 * total(port, RCV_ERRORS + 1), "ifInErrors"
        assert sample["ifoutdisc"] == total(port, XMIT_DISCARDS), "ifOutDiscards"
        assert sample["ifpromisc"] == 2, "ifPromiscuousMode"
        assert sample["ifspeed"] in (0, 200_000_000_000), sample["ifspeed"]


@pytest.mark.row("S1")
def test_tshark_reads_a_flows_header(tmp_path):
    _, datagrams = receive()
    capture = tmp_path / "sflow.pcap"
    write_capture(capture, datagrams)
    rows = dissect(capture, "sflow_245.sampletype == 1 || sflow_245.sampletype == 3",
                   "sflow_245.flow_record_format", "sflow_245.header_protocol",
                   "sflow_245.header.sampled_header_length")
    assert len(rows) == 2, "flow samples"
    for formats, protocols, lengths in rows:
        # tshark 4.0 does not step over the record that it does not know, 1031, and
        # takes what is in it for further ones.
        assert formats[:2] == [1, 1031], "records"
        assert (protocols[0], lengths[0]) == (18, 23), "header protocol and length"


# --- sfacctd -----------------------------------------------------------------

class Sfacctd:
    """A collector that writes the counters it gets into a file."""

    def __init__(self, scratch):
        self.folder = scratch.folder()
        self.counters = self.folder / "counters.json"
        with contextlib.closing(udp_socket()) as sock:
            self.port = sock.getsockname()[1]
        config = self.folder / "sfacctd.conf"
        config.write_text("\n".join((
            "daemonize: false", "plugins: print", "sfacctd_ip: 127.0.0.1",
            f"sfacctd_port: {self.port}", "aggregate: src_host, dst_host",
            "print_refresh_time: 3600", f"print_output_file: {self.folder}/flows",
            f"sfacctd_counter_file: {self.counters}", "sfacctd_counter_output: json",
            f"logfile: {self.folder}/log", "")), encoding="utf-8")
        self.process = subprocess.Popen(
            [need("sfacctd"), "-f", config], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True)
        scratch.callback(self.end)
        wait_until(self._is_listening, 30, "sfacctd listens")

    def _is_listening(self):
        assert self.process.poll() is None, f"sfacctd ended: {self.log()}"
        local = f"0100007F:{self.port:04X}"
        with open("/proc/net/udp", encoding="ascii") as file:
            return any(line.split()[1] == local for line in file)

    def log(self):
        path = self.folder / "log"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def lines(self):
        """Of the file, those that are written in full."""
        if not self.counters.exists():
            return []
        text = self.counters.read_text(encoding="utf-8")
        return [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]

    def end(self):
        self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        # Its plugin is a process of its own, and may outlive it.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@pytest.mark.row("S6")
def test_sfacctd_reads_if_counters(scratch):
    collector = Sfacctd(scratch)
    said = say(collector.port)
    last = (1 << 24) + 5

    def generic():
        return [line for line in collector.lines() if "ifIndex" in line]

    wait_until(lambda: any(line["ifIndex"] == last for line in generic()), 30,
               "sfacctd has the last sample")
    lines = generic()
    assert {line["ifIndex"] for line in lines} == \
        {*range(1, said["ports"] + 1), last}, "interfaces"
    assert len(lines) == said["samples"] - 2, "counter samples"
    for line in lines:
        port = line["ifIndex"] - 1 if line["ifIndex"] < 1 << 24 else 1
        assert line["ifType"] == 199, "ifType"
        assert line["ifInOctets"] == 4 * total(port, RCV_DATA), "ifInOctets"
        assert line["ifOutErrors"] == total(port, 7), "ifOutErrors"
    for word in ("WARN", "ERROR"):
        assert word not in collector.log(), collector.log()
