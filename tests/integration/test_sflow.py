# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""sFlow out of stock opensm, captured by tshark on the loopback interface."""

import contextlib
import shutil
import socket
import struct
import subprocess

import pytest

from checks import succeeded, wait_until
from pathlab import is_answering
from triadlib import ask, log_has, perfquery, ports, status, triad_lab, wait_for_sweep

SWITCH1 = "0x0000000000200000"
N_PORTS = 20
CONF = """\
[perfmgr]
sweep_period = 1
reset = never
[sflow]
interval = 1
collectors = {}
"""

# PortXmitData is counted in words, ifOutOctets in octets.
WORD = 4
COUNTER_SAMPLE = 2


def collector():
    """A UDP socket on the loopback interface, for datagrams to arrive at."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    sock.bind(("127.0.0.1", 0))
    return contextlib.closing(sock)


def address(sock):
    return f"127.0.0.1:{sock.getsockname()[1]}"


class Capture:
    """tshark at work on what goes to a UDP port."""

    FIELDS = ("sflow_245.sequence_number", "sflow_245.numsamples",
              "sflow.counters_sample.sequence_number",
              "sflow_245.sampletype", "sflow_245.ifindex", "sflow_245.ifoutoct",
              "_ws.malformed")

    def __init__(self, port):
        tshark = shutil.which("tshark")
        if not tshark:
            pytest.skip("tshark is not installed (scripts/deps)")
        command = [tshark, "-n", "-l", "-i", "lo", "-f", f"udp dst port {port}",
                   "-d", f"udp.port=={port},sflow", "-T", "fields", "-E",
                   "occurrence=a", "-E", "aggregator=,"]
        for field in self.FIELDS:
            command += ["-e", field]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE,
                                         stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        for line in self._process.stderr:
            if "Capture started" in line:
                return self
        raise AssertionError("tshark captures nothing")

    def __exit__(self, *_exception):
        self._process.kill()
        self._process.communicate()

    def datagrams(self):
        """One after the other, as they come: lists by field."""
        for line in self._process.stdout:
            yield dict(zip(self.FIELDS, (field.split(",") for field in
                                         line.rstrip("\n").split("\t"))))


@pytest.mark.row("S8", "X6")
def test_each_port_has_samples_and_sequences_have_no_gap():
    with collector() as sock, triad_lab(CONF.format("")) as lab:
        wait_for_sweep(lab)
        assert {row["sflow_if_index"] for row in ports(lab).values()} == {None}, \
            "interfaces without sFlow"
        lab.sim('PerformanceSet "Switch1"[3] PortCountersExtended.PortXmitData=1000000')
        ask(lab, "perf", "sweep")
        with Capture(sock.getsockname()[1]) as capture:
            ask(lab, "set", "sflow.collectors", address(sock))
            samples, sequences, octets = {}, [], set()
            for datagram in capture.datagrams():
                assert datagram["_ws.malformed"] == [""], datagram
                sequences.append(int(datagram["sflow_245.sequence_number"][0]))
                numbers = list(map(
                    int, datagram["sflow.counters_sample.sequence_number"]))
                assert set(datagram["sflow_245.sampletype"]) == {str(COUNTER_SAMPLE)}, \
                    "sample types"
                assert len(numbers) == int(datagram["sflow_245.numsamples"][0]), \
                    "samples"
                for index, number in zip(datagram["sflow_245.ifindex"], numbers):
                    samples.setdefault(int(index), []).append(number)
                octets.update(map(int, datagram["sflow_245.ifoutoct"]))
                if len(samples) == N_PORTS and min(map(len, samples.values())) >= 3:
                    break
        assert sequences == list(range(1, len(sequences) + 1)), "datagrams"
        for index, numbers in samples.items():
            assert numbers == list(range(1, len(numbers) + 1)), f"samples of {index}"
        assert any(value >= WORD * 1000000 for value in octets), octets
        assert {row["sflow_if_index"] for row in ports(lab).values()} == set(samples), \
            "interfaces that perf show names"
        wait_until(lambda: status(lab)["sflow"]["samples"] >= 3 * N_PORTS, 10,
                   "samples counted")
        report = status(lab)["sflow"]
        assert report["collectors"][0]["drops"] == 0, "drops"


@pytest.mark.row("S7")
def test_reset_of_hardware_takes_no_exported_counter_back():
    with collector() as sock, triad_lab(CONF.format(address(sock))) as lab:
        wait_for_sweep(lab)
        lid = ports(lab)[(SWITCH1, 3)]["lid"]
        with Capture(sock.getsockname()[1]) as capture:
            last, n_resets = {}, 0
            for n, datagram in enumerate(capture.datagrams()):
                for index, value in zip(datagram["sflow_245.ifindex"],
                                        map(int, datagram["sflow_245.ifoutoct"])):
                    assert value >= last.get(index, 0), (index, value, last[index])
                    last[index] = value
                if n % 20 == 10 and n_resets < 3:
                    perfquery(lab, lid, 3, "-R", "-x")
                    n_resets += 1
                if n > 70:
                    break
        assert n_resets == 3, "resets"


@pytest.mark.row("S8")
def test_collector_that_is_down_stops_neither_the_other_nor_the_sweep():
    with collector() as gone:
        nobody = address(gone)
    with collector() as sock, triad_lab(CONF.format(f"{nobody}; {address(sock)}")) as lab:
        wait_for_sweep(lab)
        sock.settimeout(20)
        for _ in range(20):
            sock.recv(65536)
        first, second = status(lab)["sflow"]["collectors"]
        assert first["drops"] > 0 and first["last_error"], first
        assert (second["drops"], second["last_error"]) == (0, None), "the other"
        log_has(lab, nobody)
        wait_for_sweep(lab, status(lab)["perfmgr"]["sweeps"] + 2)


@pytest.mark.plain
@pytest.mark.row("A6")
def test_set_begins_and_ends_it():
    with collector() as sock, triad_lab(CONF.format("")) as lab:
        wait_for_sweep(lab)
        assert status(lab)["sflow"]["collectors"] == [], "collectors at first"
        ask(lab, "set", "sflow.collectors", address(sock))
        sock.settimeout(20)
        sock.recv(65536)
        ask(lab, "set", "sflow.collectors", "")
        wait_until(lambda: not status(lab)["sflow"]["collectors"], 10, "the end")
        sock.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while sock.recv(65536):
                pass
        ask(lab, "perf", "sweep")
        ask(lab, "perf", "sweep")
        try:
            sock.recv(65536)
            raise AssertionError("a datagram after the end")
        except BlockingIOError:
            pass


# --- requests for paths, sampled -------------------------------------------------

SAMPLED = """\
[perfmgr]
sweep_period = 1
reset = never
[qos]
enabled = true
[sflow]
sampling_rate = 1
collectors = {}
"""

FLOW_SAMPLE, SAMPLED_HEADER, INFINIBAND = 1, 1, 18
EXTENDED_LRH, EXTENDED_BTH = 1031, 1033


def words(octets):
    return struct.unpack(f">{len(octets) // 4}I", octets[:len(octets) // 4 * 4])


def flow_samples(datagram):
    """Of an sFlow datagram from an IPv4 agent: {record's format: its octets} of each flow
    sample."""
    n_samples, at = words(datagram[24:28])[0], 28
    for _ in range(n_samples):
        kind, size = words(datagram[at:at + 8])
        body, at = datagram[at + 8:at + 8 + size], at + 8 + size
        if kind != FLOW_SAMPLE:
            continue
        records, where = {}, 32
        for _ in range(words(body[28:32])[0]):
            form, length = words(body[where:where + 8])
            records[form] = body[where + 8:where + 8 + length]
            where += 8 + length
        yield records


@pytest.mark.threads
@pytest.mark.row("S1", "S2", "S4")
def test_requests_for_paths_are_flow_samples():
    with collector() as sock, triad_lab(SAMPLED.format(address(sock))) as lab:
        wait_for_sweep(lab)
        wait_until(lambda: is_answering(lab), 30, "Triad's answers")
        succeeded(lab.run("saquery", "PR", "--src-to-dst", "6:4", node="Hca4"))
        sock.settimeout(30)
        found = []
        while not found:
            datagram = sock.recv(65536)
            found = list(flow_samples(datagram))
            if found:
                assert words(datagram[24:28])[0] == len(found), \
                    "samples of its own kind"
        records = found[0]
        protocol, _, stripped, size = words(records[SAMPLED_HEADER][:16])
        assert (protocol, stripped, size) == (INFINIBAND, 6, 192), \
            "(protocol, stripped, size)"
        header = records[SAMPLED_HEADER][16:]
        # A PathRecord from LID 6 to the SM at LID 1: LRH, then BTH, DETH, MAD.
        assert (header[2:4], header[6:8]) == (b"\0\1", b"\0\6"), "DLID and SLID"
        mad = header[28:]
        assert (mad[1], mad[3], mad[16:18]) == (3, 0x12, b"\0\x35"), \
            "class, method, attribute"
        lrh = words(records[EXTENDED_LRH])
        assert (lrh[2:5], lrh[7:10]) == ((1, 6, 2), (1, 6, 2)), "DLID, SLID, LNH"
        assert words(records[EXTENDED_BTH]) == (0xffff, 1, 0x64), "P_Key, QP, opcode"
        # They are counted when they have been sent, which may be a moment later.
        wait_until(lambda: status(lab)["sflow"]["flow_samples"], 10, "flow samples counted")
