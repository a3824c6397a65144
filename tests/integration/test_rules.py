# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Rules for Prometheus and the dashboards: promtool's checks and tests, and that there is
what they ask for."""

import json
import re
import subprocess

import pytest
from test_http import Server, promtool, samples

from alertlib import Alertmanager
from checks import succeeded, wait_until
from labs import SRCDIR

pytestmark = pytest.mark.scripts

# promtool takes "build/.." for nothing, also where "build" is a link.
PROMETHEUS = SRCDIR.resolve() / "contrib" / "prometheus"
RECORDING = PROMETHEUS / "triad-recording.rules.yml"
ALERTS = PROMETHEUS / "triad-alerts.rules.yml"
DASHBOARDS = sorted((SRCDIR / "contrib" / "grafana").glob("*.json"))

METRIC = re.compile(r"\b(?:infiniband|triad)_\w+")
# Where metrics are named that a server without a plugin, devices and FEC does not export: what
# stands before and behind the name.
NAMED = {"plugin/facts.c": (r'"(triad_\w+)"', "", ("", "_total")),
         "plugin/own_metrics.c": (r'"(triad_\w+)"', "", ("", "_total")),
         "service/health_congestion.c": (r'"(triad_congestion_\w+)"', "", ("",)),
         "ib/detail.c": (r'FIELD\("\w+", "(\w+)"', "infiniband_switch_port_", ("_total",)),
         "perfmgr/formats/metrics_families.c":
             (r'TRIAD_METRIC_GAUGE,\s+"(port_cable_\w+)"', "infiniband_switch_", ("",))}
RECORDED = re.compile(r"\btriad:[\w:]+")


def recorded():
    return {name for path in (RECORDING, ALERTS)
            for name in re.findall(r"^  - record: (\S+)$", path.read_text(), re.M)}


def named():
    return {f"{before}{name}{behind}" for path, (pattern, before, ends) in NAMED.items()
            for name in re.findall(pattern, (SRCDIR / path).read_text(encoding="utf-8"))
            for behind in ends}


def expressions(path):
    """Those of a dashboard and of its variables."""
    dashboard = json.loads(path.read_text())
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield target["expr"]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["query"]


def test_rules_promtool_finds_no_mistake():
    succeeded(subprocess.run([promtool(), "check", "rules", RECORDING, ALERTS],
                             capture_output=True, text=True, check=False))


def test_example_of_alertmanager_is_right():
    succeeded(subprocess.run(
        ["amtool", "check-config", PROMETHEUS / "alertmanager.example.yml"],
        capture_output=True, text=True, check=False))


def test_one_fault_is_told_of_once_by_the_example_of_alertmanager(scratch):
    conf = (PROMETHEUS / "alertmanager.example.yml").read_text(encoding="utf-8")
    alertmanager = Alertmanager(scratch, re.sub(r"\.example\b", ".invalid", conf))
    alertmanager.start()
    rules = re.findall(r"alert: (\w+)(?:.*\n)*?\s+severity: (\w+)",
                       ALERTS.read_text(encoding="utf-8"))
    severity = dict(rules)
    assert {"InfinibandSwitchGone", "TriadCritical"} <= set(severity), severity
    about = {"job": "triad", "instance": "sm1:9101"}

    def alert(name, guid, **more):
        return {"alertname": name, "severity": severity.get(name, "warning"), "guid": guid,
                **about, **more}
    other = [name for name, of in severity.items()
             if of == "warning" and name.startswith(("InfinibandSwitch", "InfinibandLink"))]
    assert other, severity
    alertmanager.take(alert("InfinibandSwitchGone", "0x1"), alert(other[0], "0x1"),
                      alert(other[0], "0x2"),
                      {"alertname": "TriadCritical", "severity": "critical", **about})
    wait_until(lambda: alertmanager.inhibited() ==
               {(other[0], "0x1"), ("TriadCritical", None)}, 30,
               lambda: alertmanager.inhibited())


def test_rules_do_what_they_should():
    succeeded(subprocess.run(
        [promtool(), "test", "rules", PROMETHEUS / "triad-rules.test.yml"],
        capture_output=True, text=True, check=False))


def test_rules_and_dashboard_names_exist(scratch):
    exported = {name.split("{")[0] for name in samples(Server(scratch).text())}
    texts = {path.name: re.sub(r"^ *#.*$", "", path.read_text(), flags=re.M)
             for path in (RECORDING, ALERTS)}
    texts |= {path.name: "\n".join(expressions(path)) for path in DASHBOARDS}
    known = recorded()
    for name, text in texts.items():
        used = set(METRIC.findall(text))
        assert len(used) > 5, (name, used)
        assert used - exported - named() == set(), \
            f"metrics of {name} that nobody exports"
        assert set(RECORDED.findall(text)) - known == set(), \
            f"names of {name} that nobody records"
    # A recording that nobody asks for is work for nothing, but for what completes a pair.
    asked = set(RECORDED.findall(" ".join(texts[path.name] for path in (ALERTS, *DASHBOARDS))))
    assert len(asked) > len(known) / 2, known - asked


@pytest.mark.parametrize("said, worst", [((0, 3), 3), ((1, 3), 3), ((2, 3), 2), ((0, 2), 2),
                                         ((0, 1), 1), ((0, 0), 0)])
def test_verdict_of_the_dashboard_is_the_worst(said, worst, tmp_path):
    dashboard = json.loads((SRCDIR / "contrib" / "grafana" / "triad.json").read_text())
    (target,) = [target for panel in dashboard["panels"] if panel["title"] == "Verdict"
                 for target in panel["targets"]]
    expression = target["expr"].replace("$job", ".*").replace("$instance", ".*")
    test = {"evaluation_interval": "1m", "tests": [{
        "interval": "1m",
        "input_series": [
            {"series": f'triad_health{{job="triad",instance="sm{number}"}}',
             "values": f"{value}x5"} for number, value in enumerate(said)],
        "promql_expr_test": [{"expr": expression, "eval_time": "3m",
                              "exp_samples": [{"value": worst}]}]}]}
    (tmp_path / "test.yml").write_text(json.dumps(test), encoding="utf-8")
    succeeded(subprocess.run([promtool(), "test", "rules", tmp_path / "test.yml"],
                             capture_output=True, text=True, check=False))


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_dashboard_panels_have_places_of_their_own(path):
    places = set()
    for panel in json.loads(path.read_text())["panels"]:
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                 for y in range(place["y"], place["y"] + place["h"])}
        assert place["x"] + place["w"] <= 24 and not cells & places, panel["title"]
        places |= cells
