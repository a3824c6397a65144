# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Rules for Prometheus on what a lab said while something was wrong with it: scrapes of
stock opensm, replayed by promtool a minute apart."""

import os
import re
import signal
import subprocess
import urllib.request

import pytest
from test_http import promtool

from checks import succeeded, wait_until
from labs import SRCDIR
from triadlab.tcp_ports import free_address
from triadlib import ask, ask_json, lid_of, ports, slow_down, triad_lab, wait_for_sweep

PROMETHEUS = SRCDIR.resolve() / "contrib" / "prometheus"
LINE = re.compile(r"^([a-z_]\w*)(?:\{(.*)\})? (\S+)$")
# Sweeps are those asked for.
CONF = "[perfmgr]\nsweep_period = 3600\n[alerts]\nclear_after = 0\n[prometheus]\nlisten = {}\n"
SWITCH2 = "0x0000000000200001"
QUICK = ("sweep_interval 1\nsminfo_polling_timeout 1000\n"
         "polling_retry_number 2\n")


class Recording:
    """Scrapes, a minute apart, and what rules must say at which minute."""

    def __init__(self):
        self.scrapes = []
        self.checks = []

    def add(self, *addresses, minutes=1):
        """Scrapes each address now, as instance sm0 and so on; what was read counts for
        so many minutes.  Without an address, or for None, nothing answered."""
        scrape = {}
        for number, address in enumerate(addresses):
            if not address:
                continue
            with urllib.request.urlopen(f"http://{address}/metrics", timeout=20) as answer:
                text = answer.read().decode()
            for line in text.splitlines():
                if match := LINE.match(line):
                    name, labels, value = match.groups()
                    labels = f'job="triad",instance="sm{number}"' + \
                        (f",{labels}" if labels else "")
                    scrape[f"{name}{{{labels}}}"] = value
        self.scrapes += [scrape] * minutes

    def expect(self, firing=(), calm=()):
        """What fires at the last minute added, and what does not."""
        self.checks.append((len(self.scrapes) - 1, firing, calm))

    def write(self, path):
        lines = ["rule_files:", f"- {PROMETHEUS}/triad-recording.rules.yml",
                 f"- {PROMETHEUS}/triad-alerts.rules.yml", "evaluation_interval: 1m",
                 "tests:", "- interval: 1m", "  input_series:"]
        for series in sorted({key for scrape in self.scrapes for key in scrape}):
            values = [scrape.get(series) for scrape in self.scrapes]
            # As Prometheus notes that a series has ended.
            values = [value or ("stale" if i and values[i - 1] else "_")
                      for i, value in enumerate(values)]
            values = " ".join(values)
            lines += [f"  - series: '{series}'", f"    values: '{values}'"]
        lines.append("  promql_expr_test:")
        for minute, firing, calm in self.checks:
            for alert in [*firing, *calm]:
                lines += [
                    "  - expr: (count(ALERTS{alertname=\"%s\",alertstate=\"firing\"})"
                    " > bool 0) or vector(0)" % alert,
                    f"    eval_time: {minute}m",
                    "    exp_samples: [{value: %d}]" % (alert in firing)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def check(self, tmp_path):
        self.write(tmp_path / "test.yml")
        succeeded(subprocess.run([promtool(), "test", "rules", tmp_path / "test.yml"],
                                 capture_output=True, text=True, check=False))


def wait_for_links_down(lab, n):
    wait_until(lambda: len(ask_json(lab, "links", "--down")) == n, 30,
               f"{n} links that are down")


@pytest.mark.row("N2")
def test_rules_fire_for_links_and_nodes_within_two_sweeps(tmp_path):
    address = free_address()
    recording = Recording()
    with triad_lab(CONF.format(address)) as lab:
        wait_for_sweep(lab)
        slow_down(lab)
        wait_for_sweep(lab)
        recording.add(address, minutes=12)
        calm = ("InfinibandSwitchLinkDown", "InfinibandHcaGone", "InfinibandSwitchGone",
                "InfinibandLinkFlapped", "InfinibandSwitchLinkErrors", "TriadMissing",
                "InfinibandSwitchUnanswered", "TriadConfigurationMistakes",
                "TriadOutputFailing", "TriadCritical")
        recording.expect(firing=["InfinibandLinkSlow"], calm=calm)

        lab.sim('Unlink "Hca3"')
        wait_for_links_down(lab, 1)
        recording.add(address)
        recording.expect(firing=["InfinibandSwitchLinkDown", "InfinibandHcaGone",
                                 "InfinibandLinkFlapped"],
                         calm=["InfinibandSwitchGone"])
        links = ["InfinibandSwitchLinkDown", "InfinibandHcaGone", "InfinibandLinkFlapped"]
        ask(lab, "silence", "Hca3", "--for", "1h", "--reason", "new HCA")
        recording.add(address)
        recording.expect(calm=links)
        ask(lab, "unsilence", "1")
        recording.add(address)
        recording.expect(firing=links)
        lab.sim('Link "Hca3"[1] "Switch1"[2]')
        wait_for_links_down(lab, 0)
        recording.add(address)
        recording.expect(firing=["InfinibandLinkFlapped"],
                         calm=["InfinibandSwitchLinkDown", "InfinibandHcaGone"])

        lab.sim('Unlink "Switch2"[3]', 'Unlink "Switch2"[5]')
        wait_until(lambda: all(node["guid"] != SWITCH2
                               for node in ask_json(lab, "nodes")), 30, "no Switch2")
        recording.add(address)
        recording.expect(firing=["InfinibandSwitchGone", "TriadCritical"],
                         calm=["InfinibandSwitchLinkDown", "InfinibandHcaGone"])
        lab.sim('Link "Switch2"[3] "Switch1"[3]', 'Link "Switch2"[5] "Switch1"[5]')
        wait_for_links_down(lab, 0)
        recording.add(address)
        recording.expect(calm=["InfinibandSwitchGone"])
    recording.add(minutes=3)
    recording.expect(firing=["TriadMissing"])
    recording.check(tmp_path)


def test_rules_fire_for_errors_and_silence_within_two_sweeps(tmp_path):
    address = free_address()
    recording = Recording()

    def errors(n):
        lab.sim(f'PerformanceSet "Switch1"[3] PortCounters.SymbolErrorCounter={n}')
        ask(lab, "perf", "sweep")
        recording.add(address)

    with triad_lab(CONF.format(address)) as lab:
        wait_for_sweep(lab)
        recording.add(address, minutes=12)
        recording.expect(calm=["InfinibandSwitchLinkErrors"])
        errors(60)
        errors(60)
        recording.expect(firing=["InfinibandSwitchLinkErrors"])
        recording.add(address, minutes=10)
        recording.expect(calm=["InfinibandSwitchLinkErrors"])
        for n in range(1, 6):
            errors(60 + 4 * n)
        recording.expect(firing=["InfinibandSwitchLinkErrors"])

        lid = lid_of(ports(lab).values(), "Hca2")
        lab.harm_mads(f"lose class 0x04 lid {lid} direction in")
        ask(lab, "perf", "sweep")
        recording.add(address, minutes=2)
        recording.expect(firing=["InfinibandHcaUnanswered"])
        lab.heal_mads()
        ask(lab, "perf", "sweep")
        recording.add(address)
        recording.expect(calm=["InfinibandHcaUnanswered"])

        path = lab.folder / "sm-0" / "triad.conf"
        good = path.read_text(encoding="utf-8")
        path.write_text(good + "[perfmgr]\nnothing = 1\n", encoding="utf-8")
        assert lab.triad("reload").returncode == 1, "reload of a mistake"
        ask(lab, "set", "profile.file", str(tmp_path / "nowhere" / "profile.zst"))
        ask(lab, "perf", "sweep")
        wait_until(lambda: ask_json(lab, "status")["profile"]["error"], 20, "the error")
        recording.add(address)
        recording.expect(firing=["TriadConfigurationMistakes", "TriadOutputFailing"])
        path.write_text(good, encoding="utf-8")
        ask(lab, "reload")
        recording.add(address)
        recording.expect(calm=["TriadConfigurationMistakes"])
    recording.check(tmp_path)


def test_rule_fires_when_another_sm_is_master(tmp_path):
    recording = Recording()
    addresses = [free_address(), free_address()]
    with triad_lab("[perfmgr]\nsweep_period = 3600\n", sms=("Hca1", "Hca4"),
                   opensm_conf=QUICK, triadd=True) as lab:
        wait_for_sweep(lab)
        for number, address in enumerate(addresses):
            ask(lab, "set", "prometheus.listen", address, sm=number)
        recording.add(*addresses, minutes=12)
        recording.expect(calm=["TriadSmChanged"])
        os.kill(lab.status()["sms"][0]["pid"], signal.SIGKILL)
        wait_until(lambda: ask_json(lab, "status", sm=1)["sm"]["state"] == "master", 60,
                   "the other as master")
        recording.add(None, addresses[1])
        recording.expect(firing=["TriadSmChanged"])
    recording.check(tmp_path)
