# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A worn cable: its bit error rate becomes an alert, and one burst does not."""

import re
import time

import pytest

from checks import failed, mentions, succeeded, wait_until
from triadlib import NET, TriadLab, ask, ask_json, status, triad_lab, wait_for_sweep

# Errors stay under the threshold of SymbolErrorCounter, 10 in a sweep.
CONF = "[perfmgr]\nsweep_period = 1\nreset = never\n"
# Of the link Switch1:1 - Hca1, at the switch.
NODE, PORT = "Switch1", 1


class Cable:
    """Symbol errors as a worn cable makes them."""

    def __init__(self, lab):
        self.lab = lab
        self.errors = 0

    def add_errors(self, n):
        self.errors += n
        self.lab.sim(f'PerformanceSet "{NODE}"[{PORT}] '
                     f"PortCounters.SymbolErrorCounter={self.errors}")

    def wait_until_read(self):
        def is_read():
            (row,) = ask_json(self.lab, "perf", "show", "--node", NODE, "--port",
                              str(PORT))
            return row["counters"]["SymbolErrorCounter"] == self.errors
        wait_until(is_read, 20, f"{self.errors} errors are read")


def rate(lab, *words):
    rows = ask_json(lab, "perf", "ber", "--node", NODE, "--port", str(PORT), *words)
    return {row["kind"]: row for row in rows}


def ber_alerts(lab):
    return [alert for alert in ask_json(lab, "alerts")["alerts"]
            if alert["state"] == "active" and
            any(finding["what"] == "bit error rate" for finding in alert["findings"])]


@pytest.mark.row("N5")
def test_worn_cable_is_an_alert_within_three_readings(record_property):
    with triad_lab(CONF) as lab:
        wait_for_sweep(lab, 3)
        cable, begun, n_readings = Cable(lab), time.monotonic(), 0
        while not ber_alerts(lab):
            n_readings += 1
            assert n_readings <= 6, "readings with errors"
            cable.add_errors(3)
            cable.wait_until_read()
        record_property("seconds", round(time.monotonic() - begun, 1))
        (alert,) = ber_alerts(lab)
        (finding,) = [f for f in alert["findings"] if f["what"] == "bit error rate"]
        assert (finding["why"], finding["target"]) == ("symbol", pytest.approx(1e-12))
        assert finding["low"] < finding["value"] < finding["high"]
        assert mentions(alert["advice"], "cable")
        assert n_readings >= 3, "readings that decided"
        row = rate(lab)["symbol"]
        assert (row["verdict"], row["errors"]) == ("worse", cable.errors)
        text = ask(lab, "alerts")
        assert re.search(r"symbol .*(\b[\d.]+e-\d+\b.*){3}\b1e-12\b.* \d+ s", text), text
        # It stays one alert, and the SM has not noticed anything.
        assert len(ask_json(lab, "alerts")["alerts"]) == 1


def test_burst_is_no_worn_cable_and_its_rate_is_shown():
    with triad_lab(CONF + "[alerts]\nSymbolErrorCounter = off\n") as lab:
        wait_for_sweep(lab, 3)
        shown = ask(lab, "perf", "ber")
        assert "no link of " in shown and "'--all'" in shown, shown
        cable = Cable(lab)
        cable.add_errors(3000)
        cable.wait_until_read()
        wait_for_sweep(lab, status(lab)["perfmgr"]["sweeps"] + 3)
        assert ber_alerts(lab) == []
        row = rate(lab)["symbol"]
        assert (row["verdict"], row["errors"]) == ("undecided", 3000)
        assert row["low"] < row["ber"] < row["high"]
        assert all(len(line) <= 80 for line in ask(lab, "perf", "ber").splitlines())
        # Links without errors are there with --all, both ends.
        everything = ask_json(lab, "perf", "ber", "--all")
        assert len(everything) > 4 and {row["kind"] for row in everything} == {"symbol"}
        succeeded(lab.run("triadctl", "set", "alerts.ber", "false"))
        wait_until(lambda: rate(lab, "--all") == {}, 20, "all is forgotten")
        assert "alerts.ber" in ask(lab, "perf", "ber")


FEC = """\
[perfmgr]
sweep_period = 1
reset = never
detail_share = 100
fec_period = 1
[alerts]
ber_targets = HDR raw 1e-12
"""


@pytest.mark.row("N5")
@pytest.mark.parametrize("kind, field", (
    ("raw", "PortFECCorrectedSymbolCtr"), ("effective", "PortFECUncorrectableBlockCtr")))
def test_errors_of_forward_error_correction_are_an_alert(tmp_path, kind, field):
    net = tmp_path / "net"
    net.write_text("extspeed=7\n" + NET.read_text(encoding="ascii"), encoding="ascii")
    with TriadLab(net, triad_conf=FEC) as lab:
        wait_for_sweep(lab)

        def is_known():
            return kind in rate(lab, "--all")
        wait_until(is_known, 60, "what FEC did is read twice")
        for n in range(1, 20):
            if ber_alerts(lab):
                break
            lab.sim(f'PerformanceSet "{NODE}"[{PORT}] '
                    f"PortExtendedSpeedsCounters.{field}={100 * n}")
            wait_until(lambda n=n: rate(lab, "--all")[kind]["errors"] >= 100 * n or
                       ber_alerts(lab), 20, "errors are read")
        (alert,) = ber_alerts(lab)
        (finding,) = alert["findings"]
        assert (finding["why"], alert["at"]["node_name"], alert["at"]["port"]) == \
            (kind, NODE, PORT)
        assert rate(lab)[kind]["rate"] == "4x HDR"
        assert rate(lab)[kind]["verdict"] == "worse"


def test_wrong_targets_are_refused_with_their_place():
    with triad_lab(CONF) as lab:
        wait_for_sweep(lab)
        failed(lab.run("triadctl", "set", "alerts.ber_targets", "HDR rough 1e-6"), 1,
               "'HDR rough 1e-6' isn't a speed")
        succeeded(lab.run("triadctl", "set", "alerts.ber_targets", "SDR symbol off"))
