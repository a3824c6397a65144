# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Prometheus and stock opensm: what it reads is what perfquery shows, and its rules
answer.

With INFINIBAND_RULES in the environment, a file of rules written for
infiniband_exporter, these are loaded too, and each of its recording rules that is about
switches must answer."""

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest

from checks import succeeded, wait_until
from labs import SRCDIR
from triadlab.tcp_ports import free_address
from triadlib import (ask, health_findings, perfquery, ports, status, triad_lab,
                      wait_for_sweep)

SWITCH1 = "0x0000000000200000"
CONF = """\
[perfmgr]
sweep_period = 1
reset = never
[prometheus]
listen = {}
"""

# Counters and what Prometheus calls them.
NAMES = {
    "SymbolErrorCounter": "symbol_error",
    "LinkDownedCounter": "link_downed",
    "PortRcvErrors": "receive_errors",
    "PortXmitDiscards": "transmit_discards",
    "VL15Dropped": "vl15_dropped",
    "PortXmitWait": "transmit_wait",
}
# What is written here and shown again.
VALUES = {name: 3 + number for number, name in enumerate(NAMES)}


def fetch(address, path="/metrics", **headers):
    request = urllib.request.Request(f"http://{address}{path}", headers=headers)
    with urllib.request.urlopen(request, timeout=20) as answer:
        return answer.read().decode()


def sample(text, name, **labels):
    """The value of one sample."""
    wanted = ",".join(f'{key}="{value}"' for key, value in labels.items())
    series = re.escape(f"{name}{{{wanted}}}" if labels else name)
    found = re.search(rf"^{series} (\S+)$", text, re.MULTILINE)
    assert found, f"no {name}{{{wanted}}}"
    return float(found[1])


def perf_set(lab, attribute="PortCounters", **counters):
    lab.sim(*(f'PerformanceSet "Switch1"[3] {attribute}.{name}={value}'
              for name, value in counters.items()))


# --- what is read ------------------------------------------------------------

@pytest.mark.row("X6")
def test_metrics_are_perfquerys_values_and_promtool_is_content():
    address = free_address()
    with triad_lab(CONF.format(address)) as lab:
        wait_for_sweep(lab)
        perf_set(lab, **VALUES)
        perf_set(lab, "PortCountersExtended", PortXmitData=1000, PortRcvPkts=77)
        ask(lab, "perf", "sweep")
        process = lab.run("curl", "-sS", f"http://{address}/metrics")
        succeeded(process)
        text = process.stdout
        lid = ports(lab)[(SWITCH1, 3)]["lid"]
        shown = perfquery(lab, lid, 3)
        for counter, name in NAMES.items():
            value = sample(text, f"infiniband_switch_port_{name}_total", guid=SWITCH1,
                           port=3)
            assert (value, shown[counter]) == (VALUES[counter], VALUES[counter]), \
                counter
        octets = sample(text, "infiniband_switch_port_transmit_data_bytes_total",
                        guid=SWITCH1, port=3)
        assert octets >= 4000, octets
        for collector in ("switch", "hca"):
            assert sample(text, "infiniband_exporter_collect_errors",
                          collector=collector) == 0, "errors"
            ended = sample(text, "infiniband_exporter_last_execution", collector=collector)
            assert 0 <= time.time() - ended < 3600, ended
        # All of its own found room.
        assert sample(text, "triad_own_metrics_dropped") == 0
        check = subprocess.run(["promtool", "check", "metrics"], input=text, text=True,
                               capture_output=True, check=False)
        assert (check.returncode, check.stderr) == (0, ""), "promtool check metrics"


def families(text):
    """{name in the line of TYPE: (type, help, {series: value})}"""
    found, about, samples = {}, "", {}
    for line in text.splitlines():
        words = line.split(" ", 3)
        if words[:2] == ["#", "HELP"]:
            about, samples = words[3], {}
        elif words[:2] == ["#", "TYPE"]:
            found[words[2]] = (words[3], about, samples)
        else:
            series, _, value = line.rpartition(" ")
            samples[series] = float(value)
    return found


@pytest.mark.row("X6")
def test_metrics_are_named_as_prometheus_asks(tmp_path):
    """Counters end in _total, times are seconds, amounts bytes, a truth is 0 or 1, and
    what has a distribution is a histogram."""
    address = free_address()
    conf = CONF.format(address) + f"""\
[qos]
enabled = true
[election]
enabled = true
cluster = none
state_dir = {tmp_path}/state
[port]
enabled = true
expected_file = {tmp_path}/expected.csv
"""
    with triad_lab(conf, opensm_conf="qos TRUE\n") as lab:
        wait_for_sweep(lab)
        wait_until(lambda: status(lab)["qos"]["state"] == "answering", 30, "answers")
        succeeded(lab.run("saquery", "PR", "--src-to-dst", "1:2", node="Hca2"))
        # Answers are counted when they have been sent.
        text = wait_until(lambda: re.search(
            r"^triad_path_answer_duration_seconds_count [1-9]", now := fetch(address),
            re.MULTILINE) and now, 10, "the answer counted")
    check = subprocess.run(["promtool", "check", "metrics"], input=text, text=True,
                           capture_output=True, check=False)
    assert (check.returncode, check.stderr) == (0, ""), "promtool check metrics"
    found = families(text)
    for name, (kind, about, samples) in found.items():
        assert (kind == "counter") == name.endswith("_total"), name
        assert not re.search(r"_(p\d\d|[mun]s|octets|words|percent)(_|$)", name), name
        if about.startswith("1 while"):
            assert kind == "gauge" and set(samples.values()) <= {0, 1}, (name, samples)
    check_histogram(found, "triad_path_answer_duration_seconds", 1)


def check_histogram(found, name, least):
    """Its parts agree with each other, and it has this many samples or more."""
    kind, _, samples = found[name]
    assert kind == "histogram", kind
    buckets = [(float(end[1]), n) for series, n in samples.items()
               if (end := re.search(r'_bucket{le="(.*)"}', series))]
    ends, counts = map(list, zip(*buckets))
    assert ends == sorted(ends) and ends[-1] == float("inf"), ends
    assert counts == sorted(counts), counts
    assert samples[f"{name}_count"] == counts[-1] >= least, samples
    assert 0 < samples[f"{name}_sum"] < 60 * counts[-1], samples


def test_counter_that_a_port_lacks_is_absent():
    address = free_address()
    with triad_lab(CONF.format(address)) as lab:
        wait_for_sweep(lab)
        assert "qp1_dropped" not in fetch(address), "ibsim's agents don't have it"


def test_filters_choose_and_what_is_wrong_is_reported():
    address = free_address()
    with triad_lab(CONF.format(address)) as lab:
        wait_for_sweep(lab)
        text = fetch(address, "/metrics?switch=Switch1&counter=SymbolErrorCounter")
        guids = set(re.findall(r'^infiniband_\w+{guid="(0x\w+)"', text, re.MULTILINE))
        assert guids == {SWITCH1}, "switches"
        try:
            fetch(address, "/metrics?counter=Symbols")
            raise AssertionError("no error")
        except urllib.error.HTTPError as error:
            assert error.code == 400, "status"
            assert "Symbols" in error.read().decode(), "reason"


@pytest.mark.plain
@pytest.mark.row("A6")
def test_set_opens_moves_and_closes_the_port():
    first, second = free_address(), free_address()
    with triad_lab(CONF.format(""), triadd=True) as lab:
        wait_for_sweep(lab)
        assert status(lab)["prometheus"]["listen"] is None, "at first"
        for address in (first, second):
            ask(lab, "set", "prometheus.listen", address)
            assert "triad_sweeps_total" in fetch(address), "metrics"
            assert status(lab)["prometheus"]["listen"] == address, "status"
        ask(lab, "set", "prometheus.listen", "")
        try:
            fetch(second)
            raise AssertionError("it still listens")
        except urllib.error.URLError:
            pass


def test_address_in_use_is_reported_and_the_sm_goes_on():
    with contextlib.closing(socket.socket()) as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen()
        taken = f"127.0.0.1:{sock.getsockname()[1]}"
        with triad_lab(CONF.format(taken)) as lab:
            wait_for_sweep(lab)
            wait_until(lambda: health_findings(lab, f"{taken} in use"), 20, "a finding")
            sock.close()
            # It is tried again, and so comes to its address.
            wait_until(lambda: status(lab)["prometheus"]["listen"] == taken, 40, "the port")
            assert not health_findings(lab, "in use"), "the end of the finding"


def test_client_that_stalls_holds_up_neither_sweep_nor_end():
    address = free_address()
    # With a period of 5 s no busy machine makes a sweep late.
    with triad_lab(CONF.format(address).replace("sweep_period = 1",
                                                "sweep_period = 5")) as lab:
        wait_for_sweep(lab)
        host, port = address.split(":")
        with contextlib.ExitStack() as stack:
            for _ in range(8):
                sock = stack.enter_context(contextlib.closing(socket.socket()))
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
                sock.connect((host, int(port)))
                sock.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            before = status(lab)["perfmgr"]
            for _ in range(3):
                ask(lab, "perf", "sweep")
            wait_until(lambda: status(lab)["perfmgr"]["sweeps"] >= before["sweeps"] + 4,
                       20, "four sweeps, one by itself")
            after = status(lab)["perfmgr"]
            assert after["sweeps_late"] == before["sweeps_late"], "late sweeps"
            print(f"jitter at most {after['period_jitter_max_us']} us")
            begun = time.monotonic()
            lab.down()
            assert time.monotonic() - begun < 10, "the end took long"


def test_without_master_there_are_no_ports():
    address = free_address()
    with triad_lab(CONF.format(address)) as lab:
        wait_for_sweep(lab)
        ask(lab, "set", "perfmgr.enabled", "false")

        def without_ports():
            text = fetch(address)
            return "infiniband_switch_port" not in text and \
                re.search(r"^triad_perfmgr_running 0$", text, re.MULTILINE)
        # The PerfManager's thread ends it.
        wait_until(without_ports, 20, "no ports that nobody reads")


# --- a real Prometheus -------------------------------------------------------

class Prometheus:
    """A server that reads one address each second."""

    def __init__(self, scratch, address, rules):
        program = shutil.which("prometheus")
        if not program:
            pytest.skip("prometheus is not installed (scripts/deps)")
        self.folder, self.address = scratch.folder(), free_address()
        conf = self.folder / "prometheus.yml"
        conf.write_text(json.dumps({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(path) for path in rules],
            "scrape_configs": [{"job_name": "infiniband",
                                "static_configs": [{"targets": [address]}]}]}),
            encoding="utf-8")
        self._process = subprocess.Popen(
            [program, f"--config.file={conf}", f"--web.listen-address={self.address}",
             f"--storage.tsdb.path={self.folder}/data"],
            stdout=subprocess.DEVNULL, stderr=(self.folder / "log").open("w"))

    def __enter__(self):
        return self

    def __exit__(self, *_exception):
        self._process.kill()
        self._process.wait()

    def ask(self, path, **arguments):
        query = urllib.parse.urlencode(arguments)
        return json.loads(fetch(self.address, f"/api/v1/{path}?{query}"))["data"]

    def query(self, expression):
        with contextlib.suppress(OSError):
            return self.ask("query", query=expression)["result"]
        return []


@pytest.mark.row("X6")
def test_prometheus_answers_for_recording_rules(scratch):
    address = free_address()
    rules = sorted((SRCDIR / "contrib" / "prometheus").glob("*.rules.yml"))
    if "INFINIBAND_RULES" in os.environ:
        rules.append(os.environ["INFINIBAND_RULES"])
    with triad_lab(CONF.format(address)) as lab:
        wait_for_sweep(lab)
        with Prometheus(scratch, address, rules) as prometheus:
            wait_until(lambda: prometheus.query('up{job="infiniband"} == 1'), 60, "up")
            sent = 0
            def traffic():
                nonlocal sent
                sent += 1000000
                perf_set(lab, "PortCountersExtended", PortXmitData=sent)
                return prometheus.query(
                    "rate(infiniband_switch_port_transmit_data_bytes_total"
                    f'{{guid="{SWITCH1}",port="3"}}[5m]) > 0')
            wait_until(traffic, 60, "traffic")
            groups = wait_until(lambda: prometheus.ask("rules")["groups"], 30, "rules")
            wait_until(lambda: all(rule["health"] == "ok"
                                   for group in prometheus.ask("rules")["groups"]
                                   for rule in group["rules"]), 60, "healthy rules")
            recorded = {rule["name"] for group in groups for rule in group["rules"]
                        if rule["type"] == "recording"}

            def silent():
                return {name for name in recorded if not prometheus.query(name)}
            # ibsim's agents lack this one; no link is disabled, no switch gone.
            wait_until(lambda: all(re.search("qp1|link_disabled|switch_gone", name)
                                   for name in silent()), 60,
                       "an answer of each recording rule")
            print(f"{len(recorded)} recording rules; none of {sorted(silent())}")
            if "INFINIBAND_RULES" in os.environ:
                name = "infiniband:switch_port_transmit_data_bytes:rate5m"
                result = wait_until(lambda: [it for it in prometheus.query(name)
                                             if it["metric"]["guid"] == SWITCH1
                                             and it["metric"]["port"] == "3"], 30, name)
                assert result[0]["metric"]["uplink"] == "Switch2", "uplink"
                assert float(result[0]["value"][1]) > 0, result
