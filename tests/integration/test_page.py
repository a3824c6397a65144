# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The page for the browser, in a browser, on what opensm, ibsim and Triad answer."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

import pagelib
from agentlib import Broker, wait_until_settled
from checks import mentions, succeeded, wait_until
from labs import BUILDDIR, SRCDIR, TRIADD, need
from test_agent import Agent
from test_agents import lab_of, start
from test_heal_act import healing
from test_http import TOKEN, token_file
from test_lifecycle import end
from triadlab.tcp_ports import free_address
from triadlib import NET, QUICK, TriadLab, ask, ask_json, status, wait_for_sweep

SCRIPTS = SRCDIR / "scripts"
CONF = """\
[perfmgr]
sweep_period = 1
reset = never
[alerts]
raise_after = 0
[history]
dir = {folder}
[web]
listen = {listen}
"""

# What ibsim takes for a description; HOSTILE has what it does not.
ATTACKS = ("<img src=x onerror=attacked=1>", "a&lt;b' `${attacked=1}`",
           "</script><script>attacked=1//")
HOSTILE = "\"'><img src=x onerror=attacked=1> \x1b[31m\u202egnp.exe\u200b \u05d0\u2028\U000e0041"
VIEWS = ("health", "fabric", "links", "inventory", "inventory/ports", "inventory/cables",
         "inventory/devices", "busiest", "alerts", "history", "changes", "routes", "path",
         "job", "job?hosts=host-000[4-7]", "guards", "qos",
         "election", "agents")


def attacked_net(folder):
    """A fat tree whose first hosts have names that are no names."""
    net = folder / "page.net"
    succeeded(subprocess.run([SCRIPTS / "gen-fabric", "fat-tree", "--levels", "2",
                              "--radix", "4", "-o", net], check=False))
    text = net.read_text(encoding="utf-8").replace("4xEDR", "12xHDR")
    for number, name in enumerate(ATTACKS, 2):
        text = re.sub(rf'("host-000{number}"\s*#\s*")[^"]*"', rf'\g<1>{name}"', text)
    net.write_text(text, encoding="utf-8")
    return net


@pytest.fixture(scope="module", name="lab")
def page_lab(tmp_path_factory):
    need(TRIADD)
    folder = tmp_path_factory.mktemp("page")
    listen = free_address()
    with TriadLab(attacked_net(folder), opensm_conf="sweep_interval 1\n",
                  triad_conf=CONF.format(folder=folder / "images", listen=listen)) as lab:
        lab.web = f"http://{listen}"
        wait_for_sweep(lab, 2)
        with urllib.request.urlopen(lab.web) as answer:
            assert b"main.js" in answer.read(), \
                "Triad was built without node-d3-force: build it again"
        yield lab


@pytest.fixture(scope="module", name="page")
def page_browser(lab):
    with pagelib.browser(lab.web) as page:
        yield page


def first_node(lab, kind):
    return next(row for row in ask_json(lab, "nodes") if row["type"] == kind)


# --- what it loads, and what it says of that -------------------------------------

@pytest.mark.plain
@pytest.mark.row("N11")
def test_every_view_loads_without_errors_from_its_own_server(lab, page):
    switch = first_node(lab, "switch")
    page.open("/health")
    for view in (*VIEWS, f"node/{switch['guid']}", f"port/{switch['guid']}/1",
                 "path?src=host-0001&dst=host-0008", "links?down=1", "no-such-view"):
        page.go(f"/{view}")
        assert not page.js("return !document.querySelector('#notice').hidden"), \
            f"{view}: {page.js('return document.body.innerText')}"
        assert len(page.text) > 10, view
    assert not page.errors()
    assert not page.strangers()


def test_policy_of_the_server_refuses_foreign_code(lab, page):
    with urllib.request.urlopen(lab.web) as answer:
        policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy
    page.open("/health")
    page.js("const it = document.createElement('script'); it.textContent = 'attacked = 1';"
            "document.body.append(it)")
    assert page.js("return typeof attacked") == "undefined"
    assert any("Content Security Policy" in it for it in page.errors())


@pytest.mark.row("N11")
def test_names_are_text_wherever_they_stand(lab, page):
    rows = {row["name"]: row for row in ask_json(lab, "nodes")}
    attackers = [row for name, row in rows.items()
                 if not name.startswith(("host-", "leaf-", "spine-"))]
    assert len(attackers) == len(ATTACKS), sorted(rows)
    for row in attackers:
        lab.sim(f'PerformanceSet "{host_of(row)}"[1] PortCounters.SymbolErrorCounter=999')
    wait_until(lambda: ask_json(lab, "alerts")["active"] >= len(attackers), 20, "alerts")
    ask(lab, "silence", attackers[0]["guid"], "--for", "1h", "--reason",
        "\"'><script>attacked=1</script>")
    for view in (*VIEWS, *(f"node/{row['guid']}" for row in attackers),
                 *(f"port/{row['guid']}/1" for row in attackers)):
        page.go(f"/{view}")
        assert page.js("""
            return typeof attacked === "undefined"
                && !document.querySelector("#main img, #main script, #main iframe")""")
        assert "\u202e" not in page.js("return document.documentElement.outerHTML")
    page.go("/links")
    assert "<img src=x onerror=attacked=1>:1" in page.text
    [hint] = page.js("return [...document.querySelectorAll('#main th a')].filter((it) => "
                     "it.textContent.trim() === 'Downs').map((it) => it.title)")
    assert mentions(hint, "LinkDownedCounter"), hint
    assert not page.errors()


@pytest.mark.row("N11")
@pytest.mark.scripts
@pytest.mark.full
def test_marks_that_turn_text_are_shown_as_numbers(scratch, page):
    """In answers that are made up: Triad itself would show ? for each of them."""
    net, made = scratch.folder() / "net", scratch.folder()
    succeeded(subprocess.run([SCRIPTS / "gen-fabric", "fat-tree", "--hosts", "8", "-o", net],
                             check=False))
    succeeded(subprocess.run([SCRIPTS / "page-fabric", net, made], check=False))
    for file in made.glob("*.json"):
        text = file.read_text(encoding="utf-8").replace("host-0001 HCA-1", "HOSTILE") \
            .replace('"at":"sm"', '"at":"HOSTILE:1"')
        file.write_text(text.replace("HOSTILE", json.dumps(HOSTILE)[1:-1]), encoding="utf-8")
    hostile = pagelib.Browser(page.driver, serve_made(scratch, made))
    hostile.open("/health")
    for view in ("health", "links", "fabric"):
        hostile.go(f"/{view}")
        text = hostile.js("return document.documentElement.outerHTML")
        assert not re.search("[\x1b\u202e\u200b\u2028\U000e0041]", text), view
        assert hostile.js("return typeof attacked === 'undefined' && "
                          "!document.querySelector('#main img')"), view
        if view != "fabric":
            assert "\"'><img src=x onerror=attacked=1> \\u{001b}[31m\\u{202e}gnp.exe\\u{200b}" \
                in hostile.text, hostile.text
    search = page.driver.find_element("id", "search")
    search.send_keys("gnp.exe")
    wait_until(lambda: "\\u{202e}gnp.exe" in page.js(
        "return document.querySelector('#found').textContent"), 10, "the node")
    search.send_keys("\ue007")  # Enter
    wait_until(lambda: "\\u{202e}gnp.exe" in hostile.text, 10, lambda: hostile.text)
    hostile.errors()  # a made fabric has no /changes


def serve_made(scratch, folder):
    """Serves answers that were made up until the test is over; returns the address."""
    return serve(scratch, "--made", folder)


def serve(scratch, *options):
    server = subprocess.Popen([sys.executable, SCRIPTS / "page-server", *options,
                               "--port", "0"], stdout=subprocess.PIPE, text=True)
    scratch.callback(server.wait)
    scratch.callback(server.terminate)
    return server.stdout.readline().strip().rstrip("/")


def made_devices(folder):
    """One of eight leaves has other firmware, of one of them nothing is known."""
    rows = json.loads((folder / "nodes.json").read_text(encoding="utf-8"))
    devices = [{"node_guid": row["guid"], "node_name": row["name"], "node_type": row["type"],
                "product": "P", "firmware": "28.39.1002", "psid": "X", "part": "A-1",
                "serial": str(i), "hardware_revision": "A", "temperature_c": 40,
                "uptime_s": 60, "state": "answers", "last_read": None}
               for i, row in enumerate(rows)]
    odd, unknown = [it for it in devices if it["node_name"].startswith("leaf-")][2:4]
    odd.update(firmware="28.38.900")
    unknown.update(firmware=None, part=None, state="silent")
    (folder / "devices.json").write_text(json.dumps(devices), encoding="utf-8")
    about = json.loads((folder / "status.json").read_text(encoding="utf-8"))
    about["configuration"] = {"values": {"devices.enabled": "true"}}
    (folder / "status.json").write_text(json.dumps(about), encoding="utf-8")
    return odd, unknown


@pytest.mark.row("N11")
@pytest.mark.scripts
@pytest.mark.full
def test_odd_ones_of_a_group_are_a_click_away(scratch, page):
    net, made = scratch.folder() / "net", scratch.folder()
    succeeded(subprocess.run([SCRIPTS / "gen-fabric", "fat-tree", "--levels", "2", "--radix",
                              "16", "--hosts", "64", "-o", net], check=False))
    succeeded(subprocess.run([SCRIPTS / "page-fabric", net, made], check=False))
    odd, unknown = made_devices(made)
    other = pagelib.Browser(page.driver, serve_made(scratch, made))

    def click(text):
        other.js("[...document.querySelectorAll('#main tbody a')].find("
                 "(it) => it.innerText === arguments[0]).click()", text)

    def names():
        return other.js("return [...document.querySelectorAll('#main tbody tr')].map("
                        "(it) => it.cells[0].innerText.trim())")

    other.open("/inventory/devices?group=1")
    row = next(row for row in other.js(
        "return [...document.querySelectorAll('#main tbody tr')].map((it) => it.innerText)")
        if row.startswith("leaf-"))
    assert odd["node_name"] in row and unknown["node_name"] in row, row
    assert re.search(r"28\.39\.1002 ×\s6\b.*28\.38\.900 ×\s1\b.*not known ×\s1\b", row), row
    click("28.38.900")
    wait_until(lambda: names() == [odd["node_name"]], 20, names)
    other.go("/inventory/devices?group=1")
    click("not known")
    wait_until(lambda: names() == [unknown["node_name"]], 20, names)
    other.go("/inventory/devices?group=1")
    click("leaf-…")
    wait_until(lambda: len(names()) == 8, 20, names)
    assert all(it.startswith("leaf-") for it in names()), names()
    other.js("document.querySelector('#main [data-key=\"all of them\"]').click()")
    wait_until(lambda: len(names()) > 8, 20, names)
    other.errors()  # a made fabric has no /changes


@pytest.mark.row("N11")
def test_what_is_off_has_no_figures(lab, page):
    page.go("/qos")
    assert "off" in page.text and not re.search(r"\b0\b", page.text), page.text


@pytest.mark.row("N11")
def test_window_has_the_name_of_what_is_shown(lab, page):
    leaf = next(row for row in ask_json(lab, "nodes") if row["name"] == "leaf-02")
    for view, title in ((f"node/{leaf['guid']}", "leaf-02"),
                        (f"port/{leaf['guid']}/1", "leaf-02:1"), ("links", "Links")):
        page.open(f"/{view}")
        wait_until(lambda it=title: page.driver.title.startswith(f"{it} "), 20,
                   lambda: page.driver.title)


@pytest.mark.row("N11")
def test_enter_before_the_nodes_are_there_is_no_loss(lab, page):
    leaf = next(row for row in ask_json(lab, "nodes") if row["name"] == "leaf-03")
    # The worker is told what to load when somebody lets it.
    script = page.cdp("Page.addScriptToEvaluateOnNewDocument", source="""
        const post = Worker.prototype.postMessage;
        window.held = [];
        Worker.prototype.postMessage = function (...words) {
            if (window.held) window.held.push(() => post.apply(this, words));
            else post.apply(this, words);
        };
        window.letLoad = () => {
            const held = window.held;
            window.held = null;
            held.forEach((it) => it());
        };""")
    try:
        page.open("/links")
        search = page.driver.find_element("id", "search")
        search.send_keys("leaf-03\ue007")  # Enter
        assert page.js("return location.hash") == "#/links"
        page.js("letLoad()")
        wait_until(lambda: page.js("return location.hash") == f"#/node/{leaf['guid']}", 20,
                   lambda: page.js("return location.hash"))
    finally:
        page.cdp("Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"])


@pytest.mark.row("N11")
def test_nothing_stands_over_the_picture(page):
    page.open("/fabric")
    for width in (1400, 390):
        page.resize(width, 900)
        page.wait_ready()
        assert not page.js("""
            const it = document.querySelector("#canvas").getBoundingClientRect();
            return [...document.querySelectorAll("#main button")].filter((button) => {
                const {left, right, top, bottom} = button.getBoundingClientRect();
                return right > it.left && left < it.right && bottom > it.top && top < it.bottom;
            }).map((button) => button.title)"""), width
    page.resize(1400, 900)


@pytest.mark.scripts
@pytest.mark.full
def test_server_without_a_build_answers_as_triad(lab, scratch):
    base = serve(scratch, "--socket", lab.folder / "sm-0" / "triad.sock",
                 "--triadctl", BUILDDIR / "triadctl")

    def get(address, resource):
        with urllib.request.urlopen(f"{address}/api/v1/{resource}", timeout=60) as answer:
            return json.load(answer)

    for resource in ("ports", "damp", "heal", "shield", "repair/history", "audit/last",
                     "routes/check", "version"):
        assert type(get(base, resource)) is type(get(lab.web, resource)), resource
    assert len(get(base, "ports")) == len(get(lab.web, "ports")) > 20
    leaf = next(row["guid"] for row in ask_json(lab, "nodes") if row["name"] == "leaf-02")
    over = f"routes/over/{leaf}:1"
    n_most = len(get(lab.web, f"{over}?limit=1000")["pairs"])
    assert n_most > 1, "pairs"
    for limit in (1, 1000):
        assert len(get(base, f"{over}?limit={limit}")["pairs"]) == min(limit, n_most), limit
    assert get(base, "history?limit=2&offset=1") == get(lab.web, "history?limit=2&offset=1")
    with pytest.raises(urllib.error.HTTPError) as refused:
        get(base, "reload")
    assert refused.value.code == 404


def host_of(row):
    """The node's name in ibsim, by its GUID of scripts/gen-fabric."""
    return f"host-{(int(row['guid'], 16) >> 4) & 0xffff:04}"


# --- what happens in the fabric --------------------------------------------------

@pytest.mark.row("N11")
def test_injected_error_appears_within_two_sweeps(lab, page):
    page.go("/links?node=leaf-04")
    assert mentions(page.text, "No link bad"), page.text
    page.go("/links?errors=1&node=leaf-04")
    assert "4 242" not in page.text.replace("\u202f", " ")
    # There are two sweeps and no more, however slow the browser is.
    ask(lab, "set", "perfmgr.sweep_period", 3600)
    ask(lab, "perf", "sweep")
    swept = status(lab)["perfmgr"]["sweeps"]
    lab.sim('PerformanceSet "leaf-04"[1] PortCounters.SymbolErrorCounter=4242')
    ask(lab, "perf", "sweep")
    ask(lab, "perf", "sweep")
    wait_until(lambda: "4 242 at leaf-04:1" in page.text.replace("\u202f", " "), 30,
               "the error and its end")
    assert status(lab)["perfmgr"]["sweeps"] == swept + 2
    ask(lab, "set", "perfmgr.sweep_period", 1)
    page.go("/links?node=leaf-04")
    assert not mentions(page.text, "No link bad"), page.text
    page.go("/alerts")
    page.wait_for_text("SymbolErrorCounter")
    page.screenshot("alerts")


@pytest.mark.row("N11")
def test_errors_are_there_since_when_is_known(lab, page):
    lab.sim('PerformanceSet "leaf-03"[2] PortCounters.PortRcvErrors=0')
    written = status(lab)["images"]["written"]
    wait_until(lambda: status(lab)["images"]["written"] > written + 3, 20, "images")
    before = status(lab)["images"]["last"]
    lab.sim('PerformanceSet "leaf-03"[2] PortCounters.PortRcvErrors=321')

    def found():
        return [(finding["since"], alert["at"]["node_guid"])
                for alert in ask_json(lab, "alerts", "--node", "leaf-03:2")["alerts"]
                for finding in alert["findings"] if finding["what"] == "PortRcvErrors"]
    [(since, _)] = wait_until(found, 20, "the alert")
    # Sweeps without more of them: they rose once.
    written = status(lab)["images"]["written"]
    wait_until(lambda: status(lab)["images"]["written"] > written + 3, 20, "images")
    page.open("/links?errors=1&node=leaf-03")
    said = since[:19].replace("T", " ")
    page.wait_for_text(said)
    page.open(f"/port/{next(row['guid'] for row in ask_json(lab, 'nodes') if row['name'] == 'leaf-03')}/2")

    def rose():
        return page.js("""return [...document.querySelectorAll("#main tr")].find(
            (it) => it.cells[0].innerText === "PortRcvErrors").innerText""")
    page.js("document.querySelector('#main table').scrollIntoView()")
    wait_until(lambda: "since between" in rose(), 20, rose)
    begun, ended = re.search(r"between (\S+ \S+) and (\S+ \S+), until", rose()).groups()
    assert before[:19].replace("T", " ") <= begun < ended, (before, rose())
    [alerts] = page.js("return [...document.querySelectorAll('#main section')].filter((it) => "
                       "it.querySelector('h2').textContent === 'Alerts')"
                       ".map((it) => it.innerText)")
    assert mentions(alerts, f"PortRcvErrors since {said}"), alerts
    # Counters without errors have none.
    assert not page.js("""return [...document.querySelectorAll("#main tr")].find((it) =>
        it.cells[0].innerText === "SymbolErrorCounter").innerText""").count("since")
    assert not page.errors()


@pytest.mark.row("N11")
def test_time_moves_the_whole_page(lab, page):
    written = status(lab)["images"]["written"]
    wait_until(lambda: status(lab)["images"]["written"] > written, 20, "an image")
    then = status(lab)["images"]["last"][:19]
    # All of a second in which nothing happens.
    wait_until(lambda: status(lab)["images"]["last"][:19] > then, 20, "the next second")
    lab.sim('Unlink "leaf-01"[4]')
    page.go("/links?down=1")
    page.wait_for_text("down")
    wait_until(lambda: page.js("return document.querySelectorAll('tr.is-down').length"), 30,
               "the link that is down")
    # What it ran at is no rate of now.
    leaf = next(row for row in ask_json(lab, "nodes") if row["name"] == "leaf-01")
    assert re.search(r"\bwas \d+x", page.text), page.text
    page.go(f"/port/{leaf['guid']}/4")
    assert re.search(r"\bwas \d+x", page.text), page.text
    page.open(f"/fabric?select={leaf['guid']}:4")
    wait_until(lambda: re.search(r"since\s+\d{4}-.*\bwas \d+x", page.text, re.S), 20,
               lambda: page.text)
    page.go("/alerts")
    # The alert may come after the link is shown.
    page.wait_for_text("link down")
    page.wait_for_text("The SM reported: ")
    # Nothing lies over what is to be read.
    assert page.js("return [...document.querySelectorAll('.alert li')].every((it) => {"
                   "const {left, top} = it.getBoundingClientRect();"
                   "return left > 20 && it.offsetParent === document.body"
                   "    && getComputedStyle(it).position === 'static'; })")
    page.go(f"/links?down=1&at={then}")
    assert mentions(page.text, "No link")
    assert page.js("return document.body.dataset.past") == "true"
    assert page.js("return document.querySelector('#at').value") == then
    assert "as of" in page.js("return document.querySelector('#time').innerText")
    page.js("[...document.querySelectorAll('#nav a')].find((it) => "
            "it.textContent === 'Alerts').click()")
    page.wait_ready()
    assert f"at={then}" in page.js("return location.hash").replace("%3A", ":")
    for view in VIEWS:
        page.go(f"/{view}?at={then}")
        assert page.js("return document.querySelector('#notice').hidden"), \
            page.js("return document.body.innerText")
    guid = first_node(lab, "switch")["guid"]
    page.go(f"/port/{guid}/1?at={then}")
    assert sum(mentions(line, "not kept") for line in page.text.splitlines()) == 2, page.text
    assert mentions(page.text, "devices not asked"), page.text
    page.go(f"/node/{guid}?at={then}")
    assert mentions(page.text, "devices not asked"), page.text
    page.errors()  # that these are refused is in the console
    page.go(f"/health?at={then}")
    assert "link down" not in page.text, page.text
    page.js("document.querySelector('#time button').click()")
    assert "at=" not in page.js("return location.hash")
    page.open("/links")
    page.driver.find_element("id", "at").send_keys(f"{then}\ue007")  # Enter

    def bar():
        return page.js("const it = document.querySelector('#time'); return [it.innerText, "
                       "Number(it.querySelector('#slider').value), it.querySelector('#at').value]")
    wait_until(lambda: "as of" in bar()[0] and bar()[1] < 1000 and bar()[2] == then, 10, bar)


# --- what is there, what changed -------------------------------------------------

def unlinked(lab, node, port):
    lab.sim(f'Unlink "{node}"[{port}]')


@pytest.mark.row("N11")
def test_inventory_is_filtered_grouped_and_saved(lab, page, tmp_path):
    page.cdp("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    rows = ask_json(lab, "ports", "--node", "spine-01")
    page.go("/inventory/ports?find=spine-01%3A%20!free&cols=port,state,far_end")
    used = [row for row in rows if row["state"] != "free"]
    shown = page.js("return [...document.querySelectorAll('#main tbody tr')].map("
                    "(it) => it.innerText.split('\\t').map((cell) => cell.trim()))")
    assert [row[0] for row in shown if row[0].startswith("spine-01:")] == \
        [f"spine-01:{row['port']}" for row in used], shown
    page.js("document.querySelector('[data-key=csv]').click()")
    saved = tmp_path / "triad-ports.csv"
    wait_until(lambda: saved.exists() and saved.stat().st_size, 20, "the file")
    lines = saved.read_bytes().decode().split("\r\n")
    assert lines[0] == "port,state,far_end" and len(lines) == len(shown) + 2, lines
    # It is asked for again when somebody wants it, not after each sweep.
    before = page.js("return document.querySelector('#main .quiet').textContent")
    swept = status(lab)["perfmgr"]["sweeps"]
    wait_until(lambda: status(lab)["perfmgr"]["sweeps"] > swept + 1, 20, "two sweeps")
    assert page.js("return document.querySelector('#main .quiet').textContent") == before
    page.js("document.querySelector('[data-key=show]').click()")
    wait_until(lambda: page.js("return document.querySelector('#main .quiet').textContent")
               != before, 20, "another time")
    page.go("/inventory?group=1")
    assert re.search(r"leaf-…\s+4\s", page.text), page.text
    page.js("[...document.querySelectorAll('#main tbody a')].find("
            "(it) => it.innerText === 'leaf-…').click()")
    page.wait_for_text("leaf-04")
    assert "spine" not in page.text and not page.errors()


@pytest.mark.row("N11")
def test_link_that_went_is_a_change_and_marked_in_the_picture(lab, page):
    before = ask_json(lab, "status")["images"]["last"]
    unlinked(lab, "spine-02", 3)
    wait_until(lambda: any(row["state"] == "down" for row in ask_json(lab, "links", "--down")),
               30, "the link to be down")

    def is_told():
        page.open(f"/changes?from={before[:19]}")
        return re.search(r"spine-02:3\b", page.text)
    wait_until(is_told, 30, lambda: page.text)
    # OpenSM without QoS knows no QoS tables: that is not that none changed.
    said = ask_json(lab, "diff", before[:19])
    assert said["routes_compared"] and (said["qos_compared"], said["qos"]) == (0, []), said
    [part] = page.js("return [...document.querySelectorAll('#main section')].filter((it) => "
                     "it.querySelector('h2').textContent.includes('QoS'))"
                     ".map((it) => it.innerText)")
    assert mentions(part, f"known {said['qos_not_known']}") and "None" not in part, part
    page.go(f"/fabric?changes={before[:19]}")
    # Without a choice, what is wrong is what the picture shows.
    assert page.js("return document.querySelector('[name=colour] option').textContent") == \
        "automatic: state"
    page.screenshot("changes")
    assert not page.errors()
    lab.sim('Link "spine-02"[3] "leaf-03"[4]')
    wait_until(lambda: [row["state"] for row in
                        ask_json(lab, "links", "--node", "spine-02", "--port", "3")]
               == ["active"], 30, lambda: ask(lab, "links", "--node", "spine-02"))


@pytest.mark.row("N11")
def test_way_of_packets_is_that_of_then_or_said_to_be_lost(lab, page):
    def settled():
        """The last image's time, once it has the tables of now: OpenSM may still route."""
        last = ask_json(lab, "status")["images"]["last"][:19]
        return lab.triad("routes", "between", "host-0005", "host-0008", "--at",
                         last).returncode == 0 and last
    then = wait_until(settled, 30, "tables that stay")
    wait_until(lambda: ask_json(lab, "status")["images"]["last"][:19] > then, 20,
               "the next second")
    view = f"/path?src=host-0005&dst=host-0008&at={then}"

    def way():
        page.open(view)
        return page.js("return [...document.querySelectorAll('#main section')].at(-1).innerText")
    assert mentions(way(), "arrives") and "to host-0008" in way(), page.text
    assert "present" not in way(), page.text
    assert "present" not in page.js("return document.querySelector('#time').innerText")
    unlinked(lab, "spine-02", 3)
    try:
        wait_until(lambda: lab.triad("routes", "between", "host-0005", "host-0008", "--at",
                                     then).returncode, 30, "other tables")
        assert mentions(way(), "changed since kept") and "arrives" not in way(), page.text
        # Once, and in no words of commands.
        assert "present" not in page.text and "diff" not in page.text, page.text
        assert page.js("return document.querySelectorAll('#main section').length") == 1
        assert page.js("return [...document.querySelectorAll('#main section a')].some((it) => "
                       "it.hash.startsWith('#/path') && it.hash.includes('src=host-0005') && "
                       "!it.hash.includes('at='))"), page.text
        assert page.js("return [...document.querySelectorAll('#main section a')].map("
                       "(it) => it.getAttribute('href')).filter((it) => "
                       "it.startsWith('#/changes') && !it.includes('at='))"), page.text
        # The picture marks no way of now, either.
        page.open(view.replace("/path?src=host-0005&dst=host-0008",
                               "/fabric?path=host-0005,host-0008,"))
        page.wait_for_text("changed since")
        page.errors()  # that these are refused is in the console
    finally:
        lab.sim('Link "spine-02"[3] "leaf-03"[4]')
    wait_until(lambda: [row["state"] for row in
                        ask_json(lab, "links", "--node", "spine-02", "--port", "3")]
               == ["active"], 30, lambda: ask(lab, "links", "--node", "spine-02"))


@pytest.mark.row("N11")
def test_routes_and_a_job_are_those_of_triadctl(lab, page):
    said = ask_json(lab, "routes")
    page.go("/routes")
    text = page.text.replace("\u202f", "")
    assert f"{said['arriving_pairs']} of {said['pairs']} pairs arrive" in text, text
    [most] = [tier["most"] for tier in said["tiers"] if (tier["from"], tier["to"]) == (1, 2)]
    assert re.search(rf"leaves\s+level 2\s.*\b{most}\b", text), text
    page.js("document.querySelector('#main [data-key^=over]').click()")
    wait_until(lambda: "Pairs over" in page.text, 20, lambda: page.text)
    [over] = page.js("return [new URLSearchParams(location.hash.split('?')[1]).get('over')]")
    first = ask_json(lab, "routes", "over", over)["pairs"][0]
    assert (f"{first['source_node_name']}:{first['source_port']} → "
            f"{first['destination_node_name']}:{first['destination_port']}") in page.text
    page.go("/path?src=host-0005&dst=host-0008")
    assert page.js("return [...document.querySelectorAll('.hops')].map("
                   "(it) => it.lastChild.innerText)") == ["to host-0008 HCA-1:1"], page.text
    page.go("/job?hosts=host-000[5-7]")
    assert "hosts 3" in " ".join(page.text.split()), page.text
    said = json.loads(ask(lab, "job", "--nodes", "host-000[5-7]", "--json"))
    assert page.js("return document.querySelectorAll('#main tbody tr').length") == \
        len(said["links"])
    assert not page.errors()


@pytest.mark.row("N11")
def test_job_has_all_its_links_and_leads_to_its_alerts(lab, page):
    lab.sim('PerformanceSet "host-0006"[1] PortCounters.SymbolErrorCounter=777')

    def host_errors():
        said = json.loads(ask(lab, "job", "--nodes", "host-000[5-8]", "-n", "1000", "--json"))
        return said["alerts"] and sorted(
            it[f"{end}port_errors"] for it in said["links"] for end in ("", "to_")
            if it[f"{end}node_name"].startswith("host-0006"))
    # As the end that sends, and as the one that is sent to.
    wait_until(lambda: host_errors() == [777, 777], 20, host_errors)
    page.go("/job?hosts=host-000[1,5-8]")
    said = json.loads(ask(lab, "job", "--nodes", "host-000[1,5-8]", "-n", "1000", "--json"))
    assert page.js("return document.querySelectorAll('#main tbody tr').length") == \
        said["links_used"] == len(said["links"])
    # In both directions it is said which end counted errors.
    told = page.js("return [...document.querySelectorAll('#main tbody tr')].map((it) => "
                   "it.innerText).filter((it) => it.includes('host-0006'))")
    assert len(told) == 2 and all(mentions(it, "777 at host-0006 HCA-1:1") for it in told), told
    assert all(re.match(r"#/port/(0x[0-9a-f]{16}|[^ ()]+)/\d+", it) for it in page.js(
        "return [...document.querySelectorAll('#main li a[href*=\"/port/\"], "
        "#main li a[href*=\"/node/\"]')].map((it) => it.getAttribute('href'))")), page.text
    assert not page.errors()


@pytest.mark.row("N11")
def test_ports_of_one_node_are_a_click_away(lab, page):
    leaf = next(row for row in ask_json(lab, "nodes") if row["name"] == "leaf-02")
    page.go(f"/node/{leaf['guid']}")
    page.js("[...document.querySelectorAll('#main a')].find("
            "(it) => it.innerText === 'Its ports').click()")
    page.wait_for_text("leaf-02 alone")
    assert page.js("return [...document.querySelectorAll('#main tbody tr')].map("
                   "(it) => it.cells[0].innerText.trim())") == \
        [f"leaf-02:{row['port']}" for row in ask_json(lab, "ports", "--node", "leaf-02")]


@pytest.mark.row("N11")
def test_what_comes_with_the_fabric_needs_no_sweep(lab, page):
    ask(lab, "set", "perfmgr.sweep_period", 3600)
    try:
        page.open("/busiest")
        page.wait_for_text("hosts and leaves", 10)
    finally:
        ask(lab, "set", "perfmgr.sweep_period", 1)


# What stands in the place of a small curve: its text and title, and whether something is drawn.
_SPARK = """
const [points, done] = arguments;
import("/spark.js").then(({sparkline}) => {
    const app = {status: {images: {first: "then"}},
                 server: {ask: () => points ? Promise.resolve({points}) : new Promise(() => {})}};
    const host = document.createElement("div");
    // Where what is live does not replace it.
    document.body.prepend(host);
    host.append(sparkline(app, String(Math.random()), 1, "PortXmitData"));
    const look = () => {
        if (points && host.innerText.trim() === "…") return requestAnimationFrame(look);
        const canvas = host.querySelector("canvas");
        const isDrawn = canvas?.getContext("2d").getImageData(0, 0, canvas.width, canvas.height)
            .data.some(Boolean);
        const titles = [...host.querySelectorAll("[title]")].map((it) => it.title).join("");
        done([host.innerText.trim(), titles, Boolean(isDrawn)]);
    };
    look();
});"""


@pytest.mark.row("N11")
def test_small_curve_is_never_blank(page):
    page.open("/busiest")

    def shown(*values):
        points = [{"time": f"2026-01-02T03:{k:02}:00Z", "per_second": it}
                  for k, it in enumerate(values)]
        return page.driver.execute_async_script(_SPARK, points or None)
    text, title, is_drawn = shown()  # it waits for its answer
    assert text and title and not is_drawn, (text, title)
    assert shown(None, None)[0] == "not known"
    for values in ((1, 2, 3), (0, 0), (None, 5), (None, 5, None, 6, None)):
        assert shown(*values)[2], values
    assert not page.errors()


@pytest.mark.row("N11")
def test_sums_by_tier_have_curves_when_somebody_wants_them(lab, page):
    written = status(lab)["images"]["written"]
    wait_until(lambda: status(lab)["images"]["written"] > written + 3, 20, "images")
    page.open("/busiest")
    page.wait_for_text("hosts and leaves")

    def asked():
        return [it for it in page.js(pagelib.REQUESTS) if "/perf/tiers" in it]
    assert not asked(), "it is not asked for unasked"
    page.js("document.querySelector('[data-key=curves]').click()")
    names = "return [...document.querySelectorAll('#main figcaption')].map((it) => it.innerText)"
    wait_until(lambda: len(page.js(names)) == 2, 20, lambda: page.text)
    for text, name in zip(page.js(names), ("hosts and leaves", "leaves and level 2")):
        assert re.match(name + r" [0-9.]+ \S*B up, [0-9.]+ \S*B down in .*sum of", text), text
    assert len(asked()) == 1

    def is_value_shown():
        press(page, "#main figure canvas", "ArrowLeft")
        return re.search(r"up [0-9.]+ \S*b/s", page.js(
            "return document.querySelector('.chart-values').innerText"))
    # An image may lack some.
    wait_until(is_value_shown, 10, lambda: page.text)
    page.js("document.querySelector('#main figure').scrollIntoView()")
    page.screenshot("tiers")
    # As of then: of the hour before.
    then = status(lab)["images"]["last"][:19]
    page.open(f"/busiest?curves=1&at={then}")
    wait_until(lambda: len(page.js(names)) == 2, 20, lambda: page.text)
    [address] = asked()
    assert f"at={then}" in address.replace("%3A", ":") and "since=20" in address, address
    page.resize(390, 844)
    try:
        assert page.js("return document.documentElement.scrollWidth") <= 390
    finally:
        page.cdp("Emulation.clearDeviceMetricsOverride")
    assert not page.errors()


def test_guards_show_what_is_held_and_what_is_off(lab, page):
    ask(lab, "set", "damp.mode", "act")
    try:
        page.open("/guards")
        assert "damp.mode = act" in page.text and "heal.mode = off" in page.text, page.text
        assert not page.errors()
    finally:
        ask(lab, "set", "damp.mode", "off")


def test_phone_keeps_state_and_far_end(lab, page):
    page.resize(390, 844)
    try:
        for view in ("links", "inventory/ports", "routes", "guards", "busiest", "changes"):
            page.open(f"/{view}")
            assert page.js("return document.documentElement.scrollWidth") <= 390, view
        # The view that is shown is to be seen in the row of views; words are not cut into letters.
        assert page.js("""const it = document.querySelector("#nav [aria-current]")
            .getBoundingClientRect(); return it.left >= 0 && it.right <= 390""")
        page.open("/job?hosts=host-000[4-7]")
        assert page.js("""return Math.min(...[...document.querySelectorAll("#main td .name")]
            .map((it) => it.closest("td").offsetWidth))""") > 60
        page.open("/links")
        shown = page.js("""return [...document.querySelectorAll('#main thead th')].filter(
            (it) => it.offsetWidth && it.getBoundingClientRect().right <= 390)
            .map((it) => it.textContent.trim())""")
        assert {"End", "Far end", "State"} <= set(shown), shown
        # Since when something is wrong is there, too.
        lab.sim('PerformanceSet "leaf-02"[1] PortCounters.PortRcvErrors=88')
        since = wait_until(lambda: [
            it["since"] for alert in ask_json(lab, "alerts", "--node", "leaf-02:1")["alerts"]
            for it in alert["findings"] if it["since"]], 20, "an alert")[0]
        page.open("/links?node=leaf-02&port=1")
        said = since[:19].replace("T", " ")
        wait_until(lambda: page.js("""return [...document.querySelectorAll('#main td div')].some(
            (it) => it.offsetWidth && it.getBoundingClientRect().right <= 390
                && it.textContent.includes(arguments[0]))""", said), 20, lambda: page.text)
        page.screenshot("links-phone")
    finally:
        page.cdp("Emulation.clearDeviceMetricsOverride")


# --- the picture -----------------------------------------------------------------

@pytest.mark.row("N11")
def test_picture_is_chosen_from_by_mouse_keys_and_search(lab, page):
    page.go("/fabric?colour=errors")
    wait_until(lambda: "8 hosts" in page.text, 20, lambda: page.text)
    page.screenshot("fabric")
    press(page, "#canvas", "ArrowRight")
    wait_until(lambda: "select=0x" in page.js("return location.hash"), 10, "a choice")
    chosen = page.js("return location.hash")
    # The page follows its address in a later turn.
    page.wait_for_text("spine")
    press(page, "#canvas", "ArrowDown")
    wait_until(lambda: page.js("return location.hash") != chosen, 10, "another choice")
    page.wait_for_text("leaf")
    press(page, "#canvas", "Escape")
    wait_until(lambda: "select" not in page.js("return location.hash"), 10, "no choice")
    search = page.driver.find_element("id", "search")
    search.send_keys("spine-02")
    wait_until(lambda: page.js("return document.querySelectorAll('#found li').length"), 10,
               "a node that is found")
    search.send_keys("\ue007")  # Enter
    wait_until(lambda: "select=0x" in page.js("return location.hash"), 10, "the choice")
    wait_until(lambda: "spine-02" in page.js("return document.querySelector('aside').innerText"),
               10, "what is chosen")
    click_switch(page)


def press(page, selector, key):
    page.js("document.querySelector(arguments[0]).focus()", selector)
    page.cdp("Input.dispatchKeyEvent", type="keyDown", key=key, code=key)
    page.cdp("Input.dispatchKeyEvent", type="keyUp", key=key, code=key)


def click_switch(page):
    """Points at places of the picture until one has something; clicks there."""
    before = page.js("return location.hash")
    left, top, width, height = page.js(
        "const it = document.querySelector('#canvas').getBoundingClientRect();"
        "return [it.left, it.top, it.width, it.height]")
    for x in range(int(left) + 10, int(left + width) - 60, 8):
        point = {"x": x, "y": int(top + height - 110 - (height - 150) / 2), "button": "left"}
        page.cdp("Input.dispatchMouseEvent", type="mouseMoved", **point)
        if page.js("return document.querySelector('#canvas').title").startswith("leaf"):
            page.cdp("Input.dispatchMouseEvent", type="mousePressed", clickCount=1, **point)
            page.cdp("Input.dispatchMouseEvent", type="mouseReleased", clickCount=1, **point)
            wait_until(lambda: page.js("return location.hash") != before, 10, "a choice")
            return
    raise AssertionError("nothing was found in the picture")


# --- for everybody ---------------------------------------------------------------

@pytest.mark.row("N11")
def test_focus_is_not_below_the_header(lab, page):
    page.open("/inventory/ports")

    def is_seen():
        """By keys; what is shown again on the way takes the place of what had the focus."""
        page.js("document.querySelector('[data-key=columns] summary').focus()")
        for _ in range(3):
            page.cdp("Input.dispatchKeyEvent", type="keyDown", key="Tab", code="Tab",
                     windowsVirtualKeyCode=9)
        at = page.js("""const it = document.activeElement;
            const {left, top} = it.getBoundingClientRect();
            return it.dataset.key?.startsWith("sort")
                ? it.contains(document.elementFromPoint(left + 2, top + 2)) : null""")
        assert at is not False, page.js("return document.activeElement.outerHTML.slice(0, 200)")
        return at
    wait_until(is_seen, 20, lambda: page.js("return document.activeElement.outerHTML"))


# The least contrast of texts with what is behind them, and where that is.
_CONTRAST = """
const channel = (it) => (it /= 255) <= 0.03928 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4;
const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
const parse = (text) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
};
const behind = (element) => {
    const layers = [];
    for (let it = element; it; it = it.parentElement)
        layers.push(parse(getComputedStyle(it).backgroundColor));
    return layers.reverse().reduce((under, [r, g, b, a]) =>
        [r, g, b].map((over, i) => over * a + under[i] * (1 - a)), [255, 255, 255]);
};
let least = [99, ""];
for (const element of document.querySelectorAll("body *")) {
    const hasText = [...element.childNodes].some((it) => it.nodeType === 3 && it.data.trim());
    if (!hasText || !element.checkVisibility() || element.matches("noscript, option, script"))
        continue;
    const a = light(parse(getComputedStyle(element).color)), b = light(behind(element));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < least[0])
        least = [ratio, element.tagName + "." + element.className + ": " + element.textContent];
}
return least;
"""
_WITHOUT_NAME = """
return [...document.querySelectorAll("input, select, button, a, canvas")].filter((it) =>
    it.checkVisibility() && !it.ariaLabel && !it.closest("label") && !it.textContent.trim()
    && !it.title).map((it) => it.outerHTML);
"""


@pytest.mark.row("N11")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.full
def test_texts_have_contrast_and_controls_have_names(page, scheme):
    page.prefer(prefers_color_scheme=scheme)
    try:
        for view in VIEWS:
            page.go(f"/{view}")
            ratio, where = page.js(_CONTRAST)
            assert ratio >= 4.5, f"{view}, {scheme}: {ratio:.2f} at {where}"
            assert not page.js(_WITHOUT_NAME), view
            page.screenshot(f"{re.sub('[^a-z]+', '-', view)}-{scheme}")
    finally:
        page.prefer()


@pytest.mark.row("N11")
@pytest.mark.full
def test_narrow_windows_paper_and_no_motion(lab, page):
    switch = first_node(lab, "switch")
    page.resize(390, 800)
    try:
        for view in (*VIEWS, f"port/{switch['guid']}/1", f"node/{switch['guid']}"):
            page.go(f"/{view}")
            assert page.js("return document.documentElement.scrollWidth") <= 390, view
            page.screenshot(f"{re.sub('[^a-z]+', '-', view)}-narrow")
    finally:
        page.cdp("Emulation.clearDeviceMetricsOverride")
    page.prefer(prefers_reduced_motion="reduce")
    assert page.js("return [...document.querySelectorAll('*')].every((it) => "
                   "getComputedStyle(it).transitionDuration === '0s' && "
                   "getComputedStyle(it).animationName === 'none')")
    page.prefer()
    page.go("/health")
    assert len(page.cdp("Page.printToPDF")["data"]) > 1000
    page.cdp("Emulation.setEmulatedMedia", media="print")
    assert not page.js("return document.querySelector('#nav').checkVisibility()")
    assert page.js("return getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    page.cdp("Emulation.setEmulatedMedia", media="")
    assert not page.errors()


# --- a large fabric, and none ----------------------------------------------------

_PAN = """
const done = arguments[0], canvas = document.querySelector("#canvas"), times = [];
let last = performance.now(), n = 0;
const step = () => {
    const now = performance.now();
    times.push(now - last);
    last = now;
    canvas.dispatchEvent(new WheelEvent("wheel", {deltaY: n < 30 ? -60 : 40, deltaX: 0,
        shiftKey: n > 30, offsetX: 300, offsetY: 200, bubbles: true, cancelable: true}));
    if (++n < 60)
        requestAnimationFrame(step);
    else
        done(times.sort((a, b) => a - b));
};
requestAnimationFrame(step);
"""


# What the browser was sent of the page itself, as it came over the wire; the fabric comes to
# a worker.
_SENT = """
return performance.getEntriesByType("resource").concat(
    performance.getEntriesByType("navigation")).reduce((n, it) => n + it.transferSize, 0);
"""


@pytest.mark.row("N11")
@pytest.mark.scripts
@pytest.mark.parametrize("hosts, levels", [(648, 2), (11664, 3)])
@pytest.mark.full
def test_large_fabric_is_drawn_and_moved(scratch, page, hosts, levels):
    """It is made up; its times are printed."""
    folder = scratch.folder()
    succeeded(subprocess.run([SCRIPTS / "gen-fabric", "fat-tree", "--levels", str(levels),
                              "--radix", "36", "-o", folder / "net"], check=False))
    succeeded(subprocess.run([SCRIPTS / "page-fabric", folder / "net", folder / "made"],
                             check=False))
    large = pagelib.Browser(page.driver, serve_made(scratch, folder / "made"))
    begun = time.monotonic()
    large.open("/fabric")
    loaded_s = time.monotonic() - begun
    assert f"{hosts:,} hosts".replace(",", " " if hosts > 9999 else "") in \
        large.text.replace("\u202f", " ")
    sent = large.js(_SENT)
    large.screenshot(f"fabric-{hosts}")
    frames = large.driver.execute_async_script(_PAN)
    large.screenshot(f"fabric-{hosts}-zoomed")
    pagelib.print_figures(f"{hosts:,} hosts", {
        "loaded_s": round(loaded_s, 2), "page_kb": round(sent / 1000),
        "frame_ms_median": round(frames[len(frames) // 2], 1),
        "frame_ms_most": round(frames[-1], 1)})
    large.errors()  # a made fabric has no /changes


# --- other roles -----------------------------------------------------------------

@pytest.mark.row("N11")
@pytest.mark.full
def test_page_of_an_agent_asks_for_its_token_and_leaves_out_what_it_lacks(scratch, page):
    address = free_address()
    with TriadLab(NET, triad_conf="[perfmgr]\nenabled = false\n") as lab:
        Agent(scratch, lab, f"{QUICK}[web]\nlisten = {address}\n"
              f"token_file = {token_file(scratch)}\n", node="Hca2")
        wait_until(lambda: is_served(f"http://{address}"), 20, "the agent's page")
        agent = pagelib.Browser(page.driver, f"http://{address}")
        page.errors()
        page.driver.get(f"{agent.base}/#/links")
        wait_until(lambda: page.driver.find_element("id", "token").is_displayed(), 20,
                   "the question for the token")
        refused = page.errors()
        assert refused and all("401" in it for it in refused), refused
        page.driver.find_element("name", "token").send_keys(f"{TOKEN}\ue007")
        wait_until(lambda: "Hca1" in agent.text, 20, lambda: agent.text)
        page.errors()
        names = page.driver.find_element("id", "nav").text
        assert "Links" in names and "QoS" not in names and "Election" not in names, names
        for view in (*VIEWS, "path?src=Hca1&dst=Hca3"):
            agent.go(f"/{view}")
            assert len(agent.text) > 10, view
        # This role has no routes: the page says so, and the browser that it was told.
        errors = page.errors()
        assert all("/routes/between/" in it for it in errors), errors
        page.driver.get("about:blank")


def is_served(address):
    try:
        with urllib.request.urlopen(address) as answer:
            return answer.status == 200
    except OSError:
        return False


@pytest.mark.row("N11")
@pytest.mark.full
def test_manager_shows_its_agents(scratch, page):
    broker, address = Broker(scratch), free_address()
    with lab_of(scratch, broker, f"[web]\nlisten = {address}\n") as lab:
        start(scratch, lab, broker, 2, 5)
        wait_until_settled(lab, 2)
        page.errors()
        manager = pagelib.Browser(page.driver, f"http://{address}")
        manager.open("/agents")
        # One that a busy machine kept from speaking for a second is dead until it does.
        wait_until(lambda: manager.text.count("alive") == 2, 20, lambda: manager.text)
        assert not page.errors()
        page.driver.get("about:blank")


def test_links_that_are_healed_are_among_the_links(page):
    address = free_address()
    with healing(out=600, more_heal=f"[web]\nlisten = {address}\n") as ports:
        wait_until(lambda: ports.lab.triad("heal", "take", "leaf-01:5").returncode == 0, 20,
                   "a link taken")
        web = pagelib.Browser(page.driver, f"http://{address}")
        web.open("/links")
        web.wait_for_text("out of routing, or on probation")
        [row] = web.js("return [...document.querySelectorAll('table')].filter((it) => "
                       "it.caption?.textContent.includes('probation')).flatMap((it) => "
                       "[...it.tBodies[0].rows].map((row) => row.innerText))")
        assert mentions(row, "leaf-01 spine-01"), row
        page.driver.get("about:blank")


def test_end_of_triad_is_seen(lab, page):
    page.open("/health")
    end(lab, signal.SIGKILL)
    wait_until(lambda: page.js("return document.body.dataset.stale") == "true", 30,
               "that nobody answers")
    assert "no answer since" in page.js("return document.querySelector('#freshness').innerText")
    assert "Findings" in page.text or "Parts" in page.text, "what was known stays"
    page.screenshot("no-answer")


# --- without a browser -----------------------------------------------------------

@pytest.mark.scripts
@pytest.mark.row("N11")
def test_pure_parts_by_node(tmp_path):
    tests = sorted(Path(SRCDIR / "page" / "tests").glob("*.test.js"))
    succeeded(subprocess.run([SCRIPTS / "page-build", "--out", tmp_path / "page"],
                             capture_output=True, text=True, check=False))
    succeeded(subprocess.run(["node", "--test", *tests], capture_output=True, text=True,
                             check=False, cwd=SRCDIR / "page",
                             env=os.environ | {"TRIAD_PAGE": str(tmp_path / "page")}))
