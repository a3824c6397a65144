# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The dashboards for Grafana: their form, and that a Prometheus that scrapes a lab
answers each of their queries."""

import json
import re
import subprocess

import jsonschema
import pytest
from test_prometheus import Prometheus

from checks import succeeded, wait_until
from labs import SRCDIR
from triadlab.tcp_ports import free_address
from triadlib import ask, slow_down, triad_lab, wait_for_sweep

DASHBOARDS = sorted((SRCDIR / "contrib" / "grafana").glob("*.json"))
RULES = sorted((SRCDIR / "contrib" / "prometheus").glob("*.rules.yml"))
TEXT = {"type": "string", "minLength": 1}
TARGET = {"type": "object", "required": ["datasource", "expr", "refId", "legendFormat"],
          "properties": {"expr": TEXT, "refId": {"pattern": "^[A-Z]$"}}}
STEPS = {"type": "array", "minItems": 1,
         "items": {"type": "object", "required": ["color", "value"]}}
PANEL = {
    "type": "object",
    "required": ["id", "type", "title", "gridPos"],
    "properties": {
        "type": {"enum": ["row", "stat", "table", "timeseries"]}, "title": TEXT,
        "gridPos": {"type": "object", "required": ["x", "y", "w", "h"],
                    "properties": {"x": {"minimum": 0, "maximum": 23},
                                   "w": {"minimum": 1, "maximum": 24}}}},
    "if": {"properties": {"type": {"not": {"const": "row"}}}},
    "then": {
        "required": ["description", "datasource", "fieldConfig", "targets"],
        "properties": {
            "description": {"type": "string", "minLength": 8},
            "targets": {"type": "array", "minItems": 1, "items": TARGET},
            "fieldConfig": {"properties": {"defaults": {
                "required": ["unit", "thresholds"],
                "properties": {"thresholds": {"required": ["mode", "steps"],
                                              "properties": {"steps": STEPS}}}}}}}}}
SCHEMA = {
    "type": "object",
    "required": ["title", "uid", "schemaVersion", "panels", "templating", "links", "time"],
    "properties": {
        "title": TEXT, "uid": {"pattern": "^triad-[a-z]+$"},
        "panels": {"type": "array", "minItems": 5, "items": PANEL},
        "links": {"type": "array", "minItems": 2,
                  "items": {"required": ["title", "url", "type"]}},
        "templating": {"properties": {"list": {"items": {
            "required": ["name", "label", "type", "query"]}}}}}}
# Of these the lab has nothing to tell; where a metric of theirs is named.
QUIET = {"What it costs at most": ("service", "triad_congestion_loss_bits_per_second"),
         "FEC: blocks that could not be corrected": ("ib", "fec_uncorrectable_blocks"),
         "FEC: symbols corrected": ("ib", "fec_corrected_symbols"),
         "Hottest modules": ("perfmgr", "port_cable_temperature_celsius")}
CONF = ("[perfmgr]\nsweep_period = 1\n[alerts]\nclear_after = 0\n"
        "[prometheus]\nlisten = {}\n[history]\ndir = {}\n")


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def queries(dashboard):
    return [(panel["title"], target["expr"]) for panel in dashboard["panels"]
            for target in panel.get("targets", ())]


@pytest.mark.scripts
def test_dashboards_are_as_their_script_makes_them():
    succeeded(subprocess.run([SRCDIR / "scripts" / "make-dashboards", "--check"],
                             capture_output=True, text=True, check=False))


@pytest.mark.scripts
def test_dashboards_have_the_form_of_grafana_and_lead_to_each_other():
    dashboards = [load(path) for path in DASHBOARDS]
    known = {dashboard["uid"] for dashboard in dashboards}
    assert len(known) == 3, known
    for dashboard in dashboards:
        jsonschema.validate(dashboard, SCHEMA)
        names = {variable["name"] for variable in dashboard["templating"]["list"]}
        for title, expression in queries(dashboard):
            assert set(re.findall(r"\$(\w+)", expression)) <= names, (title, expression)
        leads_to = set(re.findall(r"/d/([\w-]+)", json.dumps(dashboard)))
        assert leads_to == known - {dashboard["uid"]} or \
            leads_to < known, (dashboard["uid"], leads_to)
        ids = [panel["id"] for panel in dashboard["panels"]]
        assert len(set(ids)) == len(ids), "numbers of panels"


def make_trouble(lab, step):
    """Traffic, errors and waits that grow with each step."""
    for node, port in (("Switch1", 3), ("Hca1", 1)):
        lab.sim(
            *(f'PerformanceSet "{node}"[{port}] {counter}={value}' for counter, value in (
                ("PortCountersExtended.PortXmitData", step * 1000),
                ("PortCountersExtended.PortRcvData", step * 1000),
                ("PortCounters.PortXmitWait", step * 1000),
                ("PortCounters.SymbolErrorCounter", step),
                ("PortCounters.LinkDownedCounter", step))))


def test_prometheus_answers_each_query_of_the_dashboards(scratch):
    address = free_address()
    chosen = {"job": ".*", "instance": ".*", "switch": "Switch1", "hca": "Hca1"}
    wanted = {(path.name, title, re.sub(r"\$(\w+)", lambda m: chosen[m[1]], expression))
              for path in DASHBOARDS for title, expression in queries(load(path))}
    quiet = {query for query in wanted if query[1] in QUIET}
    wanted -= quiet
    with triad_lab(CONF.format(address, scratch.folder())) as lab:
        wait_for_sweep(lab)
        slow_down(lab)
        with Prometheus(scratch, address, RULES) as prometheus:
            wait_until(lambda: prometheus.query("triad_info"), 60, "a scrape")
            for _, title, expression in quiet:
                folder, name = QUIET[title]
                assert name in expression and prometheus.query(expression) == [], title
                assert any(name in path.read_text(encoding="utf-8")
                           for path in (SRCDIR / folder).rglob("*.c")), title
            lab.sim('Unlink "Hca3"')
            step = 0

            def is_answered():
                nonlocal step
                step += 1
                make_trouble(lab, step)
                ask(lab, "perf", "sweep")
                wanted.difference_update(
                    [query for query in wanted if prometheus.query(query[2])])
                return not wanted

            try:
                wait_until(is_answered, 60, "answers")
            except AssertionError:
                raise AssertionError(f"no answer to {sorted(wanted)}") from None
