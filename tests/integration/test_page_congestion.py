# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What the page's Traffic says of congestion, in a browser.  ibsim has no traffic: counters are
set to what ports would count."""

import datetime
import time

import pytest

import pagelib
from checks import mentions, wait_until
from labs import TRIADD, need
from test_congestion import TICKS
from triadlab import netfile
from triadlab.tcp_ports import free_address
from triadlib import TriadLab, ask, ask_json

CONF = """\
[perfmgr]
mode = full
sweep_period = 3600
reset = never
[web]
listen = {listen}
"""
N_SENDERS, UPLINK = 70, 80
ROOT = ("leaf-2", 1)


@pytest.fixture(scope="module", name="lab")
def incast_lab(tmp_path_factory):
    """More hosts at one switch than a first answer has; another with one, whose port is
    the root."""
    need(TRIADD)
    fabric = netfile.Fabric()
    leaves = [fabric.add(netfile.Node(netfile.SWITCH, f"leaf-{i}", 80, f"leaf-{i}",
                                      0x02000002_00000000 + 0x100 * i)) for i in (1, 2)]
    fabric.link(leaves[0], UPLINK, leaves[1], UPLINK)
    for n in range(N_SENDERS + 1):
        name = f"host-{n:02}" if n else "slow"
        host = fabric.add(netfile.Node(netfile.HCA, name, 1, name,
                                       0x02000001_00000010 + 0x10 * n))
        fabric.link(host, 1, leaves[0 if n else 1], n or 1)
    net = tmp_path_factory.mktemp("page-congestion") / "incast.net"
    with open(net, "w", encoding="utf-8") as stream:
        netfile.write(fabric, stream, "an incast")
    listen = free_address()
    with TriadLab(net, triad_conf=CONF.format(listen=listen)) as made:
        made.web = f"http://{listen}"
        wait_until(lambda: made.triad("congestion").returncode == 0, 30, "a first answer")
        yield made


@pytest.fixture(scope="module", name="page")
def page_browser(lab):
    with pagelib.browser(lab.web) as page:
        yield page


def waiting_ports():
    return [("leaf-1", UPLINK), ROOT, *((f"host-{n:02}", 1) for n in range(1, N_SENDERS + 1))]


def sweep(lab, ticks):
    """One more, in which these have waited all of some seconds, however long ago the last was."""
    swept = ask_json(lab, "congestion")["swept"]
    since = datetime.datetime.fromisoformat(swept.replace("Z", "+00:00"))
    waited = datetime.datetime.now(datetime.timezone.utc) - since
    ticks = min(4 * 10 ** 9, ticks * max(1, int(waited.total_seconds())))
    lab.sim(*(f'PerformanceSet "{node}"[{port}] PortCounters.PortXmitWait={ticks}'
              for node, port in waiting_ports()))
    time.sleep(0.001)  # what tells sweeps apart
    ask(lab, "perf", "sweep")
    wait_until(lambda: ask_json(lab, "congestion")["swept"] != swept, 20, "the new sweep")


_SECTION = """return [...document.querySelectorAll("#main section")].find((it) =>
    it.querySelector("h2")?.textContent.includes("congestion"))"""


def section(page, script="it.innerText"):
    return page.js(f"const it = (() => {{ {_SECTION} }})(); return {script}")


@pytest.mark.row("N8")
@pytest.mark.row("N11")
def test_what_is_not_known_yet_is_not_said_to_be_nowhere(lab, page):
    """One sweep has no rates."""
    assert ask_json(lab, "congestion")["waiting_ports"] is None
    page.open("/busiest")
    assert mentions(section(page), "known") and "owhere" not in section(page), section(page)


@pytest.mark.row("N8")
@pytest.mark.row("N11")
def test_roots_have_who_waits_and_since_when(lab, page):
    sweep(lab, TICKS)
    (root,) = ask_json(lab, "congestion")["roots"]
    assert (root["node_name"], root["port"]) == ROOT, root
    assert root["since_at_least"], "the sweep before had no rates"
    page.open("/busiest")
    assert "leaf-2:1" in section(page), section(page)
    assert mentions(section(page), f"at least since {root['since'][:10]}"), section(page)

    def hosts_seen():
        return section(page, """[...it.querySelectorAll("tbody td a")].filter((of) =>
            of.checkVisibility() && of.innerText.startsWith("host-")).map((of) => of.innerText)""")
    section(page, "it.scrollIntoView()")
    page.screenshot("congestion")
    n = len(hosts_seen())
    assert 0 < n < 10, section(page)
    # What is unfolded stays so when the next sweep is shown.
    section(page, """it.querySelector('[data-key^="hosts"] summary').click()""")
    some = len(hosts_seen())
    assert n < some < N_SENDERS and mentions(
        section(page), f"{N_SENDERS - some} not in this answer"), section(page)
    section(page, """it.querySelector("[data-key=waiting]").click()""")
    wait_until(lambda: len(hosts_seen()) == N_SENDERS, 20, lambda: section(page))
    section(page, """it.querySelector('[data-key^="ports"] summary').click()""")
    assert f"leaf-1:{UPLINK}" in section(page)
    assert not page.errors()


@pytest.mark.row("N11")
def test_roots_have_room_on_a_phone(lab, page):
    page.resize(390, 844)
    try:
        page.open("/busiest?waiting=all")
        section(page, "[...it.querySelectorAll('summary')].forEach((of) => of.click())")
        assert page.js("return document.documentElement.scrollWidth") <= 390
        assert section(page, """it.querySelector("tbody td a").getBoundingClientRect().right""") \
            <= 390, "the root itself is seen"
        section(page, "it.scrollIntoView()")
        page.screenshot("congestion-narrow")
    finally:
        page.cdp("Emulation.clearDeviceMetricsOverride")


@pytest.mark.row("N11")
def test_congestion_that_is_not_looked_for_is_said(lab, page):
    ask(lab, "set", "congestion.enabled", "false")
    try:
        page.open("/busiest")
        assert mentions(section(page), "congestion.enabled"), section(page)
        assert not page.errors()
    finally:
        ask(lab, "set", "congestion.enabled", "true")
