# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Requests that OpenSM's SA must not get ([shield])."""

import concurrent.futures
import itertools
import re
import struct
import urllib.request

import pytest

from checks import mentions, succeeded, wait_until
from labs import BUILDDIR, sanitizer
from pathlab import path_ask, world
from test_audit import JOIN
from triadlab.tcp_ports import free_port
from triadlib import ask, ask_json, health_findings, status, triad_lab, wait_for_sweep

pytestmark = pytest.mark.row("N20")

SA_ASK = BUILDDIR / "tests/integration/sa_ask"
GROUP, NEW_GROUP = "ff12a01cfe8000000000000012345678", 66
GET, SET, GET_TABLE = "01", "02", "12"
NODE, SL2VL, LFT = "0011", "0013", "0015"
# What saquery can ask for, by name.
FORMS = ("CPI", "NR", "PIR", "SL2VL", "SWI", "LFTR", "SMIR", "LR", "SR", "PKTR", "VLAR",
         "MFTR", "MCMR", "IIR", "NR 2", "PIR 2/3", "SL2VL 2/3/4", "SL2VL 2//5", "LFTR 2/0",
         "VLAR 2/3/1", "PKTR 2/3/0")


def shield_lab(mode, conf=""):
    return triad_lab(f"[perfmgr]\nsweep_period = 1\n[shield]\nmode = {mode}\n{conf}")


def wait_for_shield(lab):
    wait_for_sweep(lab)
    wait_until(lambda: "requests" in status(lab)["shield"]["state"], 10, "the shield")


def sa_ask(lab, *requests):
    """(status, octets) of each answer, None where there is none; of
    'METHOD ATTRIBUTE MASK OCTETS'."""
    process = lab.run(SA_ASK, "--timeout-ms", "2000", node="Hca2", stdin=None,
                      input="\n".join(requests) + "\n", timeout_s=60)
    succeeded(process)
    lines = [line.split()[7:] for line in process.stdout.splitlines()]
    return [None if words == ["-"] else (words[0], int(words[1])) for words in lines]


def is_alive(lab):
    return lab.status()["sms"][0]["alive"]


def lid_of(lab, name):
    [lid] = {row["lid"] for row in ask_json(lab, "nodes") if row["name"] == name}
    return lid


def request_alerts(lab):
    return [alert for alert in ask_json(lab, "alerts")["alerts"]
            if alert["findings"][0]["why"] == "harmful_requests"]


def refused(lab):
    shield = status(lab)["shield"]
    return {name: count for name, count in shield.items()
            if name not in ("state", "requests", "waited") and count}


def test_request_that_ends_opensm_does_not_reach_it():
    port = free_port()
    with shield_lab("act", f"[prometheus]\nlisten = 127.0.0.1:{port}\n") as lab:
        wait_for_shield(lab)
        lid = lid_of(lab, "Switch1")
        everywhere = [f"{method} {SL2VL} {mask:x} {lid:04x}{ports}"
                      for method in (GET, GET_TABLE) for mask in (3, 5, 7)
                      for ports in ("ffff", "09c8", "c809")]
        answers = sa_ask(lab, *everywhere)
        assert [status for status, _ in answers] == \
            ["0300" if request.startswith(GET + " ") else "0000" for request in everywhere]
        # A port of all switches, which none has; and of one LID that is a host's.
        assert sa_ask(lab, f"{GET_TABLE} {SL2VL} 4 000000c8") == [("0000", 56)]
        assert sa_ask(lab, f"{GET} {SL2VL} 7 {lid_of(lab, 'Hca1'):04x}ffff")[0][0] == "0000"
        assert is_alive(lab)
        assert refused(lab) == {"no_such_port": len(everywhere) + 1}
        [row] = ask_json(lab, "shield")
        assert (row["lid"], row["node_name"]) == (lid_of(lab, "Hca2"), "Hca2")
        assert row["refused"] == len(everywhere) + 1
        # A sweep in between has fewer.
        wait_until(lambda: [alert["findings"][0]["value"] for alert in request_alerts(lab)] ==
                   [len(everywhere) + 1], 10, lambda: request_alerts(lab))
        [finding] = health_findings(lab, "end OpenSM")
        assert (finding["severity"], finding["at"]) == ("WARNING", "Hca2:1"), finding
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
            shown = answer.read().decode()
        assert f'triad_shield_refused_total{{reason="no_such_port"}} {row["refused"]}' in shown
        # Who did so may do it again, and nobody looks.
        for mode in ("watch", "off"):
            ask(lab, "set", "shield.mode", mode)
            [finding] = [finding for finding in health_findings(lab, "end OpenSM")
                         if "alert" not in finding or not finding["alert"]]
            assert finding["severity"] == "CRITICAL", (mode, finding)
            assert mentions(finding["what"], "the next one"), finding


@pytest.mark.skipif(bool(sanitizer()), reason="a sanitizer reports OpenSM's end")
def test_without_the_shield_that_request_ends_opensm():
    """What this is for; an OpenSM that has been mended needs the shield less."""
    with shield_lab("off") as lab:
        wait_for_sweep(lab)
        lid = lid_of(lab, "Switch1")
        requests = [f"{GET_TABLE} {SL2VL} 7 {lid:04x}{port:02x}{port:02x}"
                    for port in range(40, 250, 3)]
        lab.run(SA_ASK, "--timeout-ms", "200", node="Hca2", stdin=None,
                input="\n".join(requests) + "\n", timeout_s=60)
        wait_until(lambda: not is_alive(lab), 10, "its end")


def test_legal_requests_have_the_same_answers_with_the_shield():
    def answers(lab):
        found = {}
        for form in FORMS:
            process = lab.run("saquery", *form.split(), node="Hca2", timeout_s=60)
            # What counts since the start differs.
            found[form] = (process.returncode,
                           re.sub(r"(?i)(act_count|lease).*", "", process.stdout))
        return found
    with shield_lab("off") as lab:
        wait_for_sweep(lab)
        before = answers(lab)
        ask(lab, "set", "shield.mode", "act")
        wait_for_shield(lab)
        with_it = answers(lab)
        assert {form for form in FORMS if before[form] != with_it[form]} == set()
        assert refused(lab) == {}
        n = status(lab)["shield"]["requests"]
        assert n >= len(FORMS)
        # And off again, nobody looks.
        ask(lab, "set", "shield.mode", "off")
        wait_until(lambda: status(lab)["shield"]["state"] == "off", 10, "off")
        assert answers(lab) == before
        assert status(lab)["shield"]["requests"] == n


def test_what_the_sa_has_not_is_answered_and_not_logged():
    with shield_lab("act") as lab:
        wait_for_shield(lab)
        log = lab.folder / "sm-0" / "opensm.log"
        unknown = [f"{GET} 0016 0 00", f"{GET} ff01 0 00", f"{SET} {NODE} 0 00",
                   f"{GET} 003a 0 00"]
        assert {words[0] for words in sa_ask(lab, *unknown)} == {"000c"}
        assert "ERR 1A01" not in log.read_text()
        assert refused(lab) == {"attribute": 2, "method": 2}
        ask(lab, "set", "shield.mode", "watch")
        wait_until(lambda: mentions(status(lab)["shield"]["state"], "reach OpenSM"), 10, "it")
        assert sa_ask(lab, unknown[0]) == [None]
        assert "ERR 1A01" in log.read_text(), "OpenSM got it"
        assert refused(lab)["attribute"] == 3


def test_client_that_asks_too_often_is_dropped_and_others_are_not():
    with shield_lab("act") as lab:
        wait_for_shield(lab)
        ask(lab, "set", "shield.rate", "2")
        # A burst of ten seconds' requests, and one.
        request = f"{GET_TABLE} {NODE} 0 00"
        answers = sa_ask(lab, *[request] * 21)
        assert None not in answers
        process = lab.run(SA_ASK, "--timeout-ms", "50", node="Hca2", stdin=None,
                          input=f"{request}\n" * 5, timeout_s=60)
        assert process.stdout.count("-\n") >= 4, process.stdout
        assert refused(lab)["rate"] >= 4
        other = lab.run("saquery", "NR", node="Hca3", timeout_s=60)
        succeeded(other)
        # Its end.
        ask(lab, "set", "shield.rate", "0")
        assert None not in sa_ask(lab, *[request] * 30)
        assert [row["reason"] for row in ask_json(lab, "shield")] == \
            ["more requests than shield.rate"]


def test_requests_wait_for_their_turns_and_none_is_lost():
    with shield_lab("act", "rate = 0\n") as lab:
        wait_for_shield(lab)
        asked = ("--count", 20000, "--kind", "path", "--plain", "--only", 0, "--quiet")
        _, counted = path_ask(lab, world(lab), *asked, "--window", 64, node="Hca2")
        assert (counted["sent"], counted["unanswered"]) == (20000, 0)
        waited = status(lab)["shield"]["waited"]
        assert waited > 0
        # One after the other, nobody waits.
        assert None not in sa_ask(lab, *[f"{GET} {NODE} 1 0001"] * 100)
        assert status(lab)["shield"]["waited"] == waited
        assert refused(lab) == {}


# --- registrations ---

PREFIX = 0xfe80 << 48
SERVICE, INFORM_INFO, GUIDINFO, MEMBER = "0031", "0003", "0030", "0038"
ALIAS, OTHER_ALIAS = 0xaaaa000000000001, 0xbbbb000000000002


def alias_request(lid, guid):
    """GUID 1 of block 0."""
    return f"{SET} {GUIDINFO} {3 | 1 << 5:x} {lid:04x}000000000000{0:016x}{guid:016x}"


def join_request(guid):
    mgid = bytes.fromhex("ff12a01cfe800000") + struct.pack(">Q", 0xabcd)
    rest = struct.pack(">LHBBHBBLBBH", 0xb1b, 0, 0, 0, 0xffff, 0, 0, 0, 0x21, 0, 0)
    mask = sum(1 << bit for bit in (0, 1, 2, 6, 7, 12, 13, 16))
    return f"{SET} {MEMBER} {mask:x} {(mgid + struct.pack('>QQ', PREFIX, guid) + rest).hex()}"


def move_alias_of_a_group(lab):
    """The statuses when an alias that joined goes to another port, which joins."""
    here, there = lid_of(lab, "Hca2"), lid_of(lab, "Hca3")
    return [status for status, _ in sa_ask(
        lab, alias_request(here, ALIAS), join_request(ALIAS), alias_request(here, OTHER_ALIAS),
        alias_request(there, ALIAS), join_request(ALIAS))]


def can_answer(lab):
    return sa_ask(lab, f"{GET_TABLE} {NODE} 0 00") != [None]


def test_alias_of_a_group_is_not_replaced():
    with shield_lab("act") as lab:
        wait_for_shield(lab)
        # The alias is not put there either, as it is at another port; its joining again is
        # nothing new.
        assert move_alias_of_a_group(lab) == ["0000", "0000", "0700", "0000", "0000"]
        assert refused(lab) == {"alias_in_use": 1}
        lab.sim('Unlink "Hca3"[1]')
        wait_until(lambda: "Hca3" not in {row["name"] for row in ask_json(lab, "nodes")}, 30,
                   "its absence")
        assert can_answer(lab)
        # One that is in no group is replaced.
        here = lid_of(lab, "Hca4")
        assert [status for status, _ in sa_ask(
            lab, alias_request(here, 7), alias_request(here, 8))] == ["0000", "0000"]


def test_without_the_shield_a_moved_alias_stops_opensm():
    """What this is for: the SM loops with its lock once the other port goes."""
    with shield_lab("off") as lab:
        wait_for_sweep(lab)
        assert set(move_alias_of_a_group(lab)) == {"0000"}
        lab.sim('Unlink "Hca3"[1]')
        wait_until(lambda: not can_answer(lab), 30, "the end of its answers")
        assert is_alive(lab), "it does not even end"


def service_request(number, mask, lease):
    return (f"{SET} {SERVICE} {mask:x} {number:016x}{PREFIX:016x}{1:016x}ffff0000"
            f"{lease:08x}")


def test_services_with_short_leases_are_refused():
    with shield_lab("act") as lab:
        wait_for_shield(lab)
        answers = sa_ask(lab, *(service_request(number, 0x13, lease)
                                for number, lease in enumerate((0, 1, 2, 0xffffffff))),
                         service_request(9, 3, 0))
        assert [status for status, _ in answers] == ["0200", "0200", "0000", "0000", "0000"]
        assert refused(lab) == {"short_lease": 2}


def test_tables_are_answered_and_others_do_not_wait_for_all_of_them():
    table = f"{GET_TABLE} {SL2VL} 0 0"
    with shield_lab("act", "rate = 0\n") as lab:
        wait_for_shield(lab)
        assert sa_ask(lab, table)[0][0] == "0000"
        waited = status(lab)["shield"]["waited"]
        assert waited == 1
        # Each table waits for its turn, even alone; none is lost.
        with concurrent.futures.ThreadPoolExecutor() as pool:
            asked = [pool.submit(sa_ask, lab, *[table] * 200) for _ in range(2)]
            single = sa_ask(lab, *[f"{GET} {NODE} 1 0001"] * 200)
        answers = [answer for one in asked for answer in one.result()]
        assert None not in answers + single
        assert status(lab)["shield"]["waited"] >= waited + len(answers)
        assert refused(lab) == {}


def test_more_subscriptions_than_reports_that_may_wait_is_a_warning(monkeypatch):
    monkeypatch.setenv("OSM_UMAD_MAX_PENDING", "64")
    with shield_lab("off") as lab:
        wait_for_sweep(lab)
        assert health_findings(lab, "subscriptions") == []
        sa_ask(lab, *(subscription_request(1000 + i, 1) for i in range(64)))
        [finding] = health_findings(lab, "subscriptions")
        assert finding["severity"] == "WARNING", finding
        assert mentions(finding["advice"], "OSM_UMAD_MAX_PENDING=256"), finding
        sa_ask(lab, subscription_request(1000, 0))
        assert health_findings(lab, "subscriptions") == []


def test_reports_that_nobody_answers_do_not_end_opensm(monkeypatch):
    monkeypatch.setenv("OSM_UMAD_MAX_PENDING", "64")
    with shield_lab("act") as lab:
        wait_for_shield(lab)
        answers = sa_ask(lab, *(subscription_request(NEW_GROUP, 1, 0x1000 + i)
                                for i in range(64)))
        assert {status for status, _ in answers} == {"0000"}
        assert health_findings(lab, "subscriptions") == []
        # The second member has the SM send tables while 64 reports wait.
        for name, guid in (("Hca3", "0x100007"), ("Hca4", "0x10000a")):
            succeeded(lab.run(JOIN, guid, str(lid_of(lab, "Hca1")), GROUP, node=name))
        wait_until(lambda: lab.log().count("Method 0x6, Attr 0x2") == 64, 20,
                   "time-outs of all reports")
        assert is_alive(lab)
        wait_until(lambda: lab.triad("audit").returncode == 0, 20, "the group's tables")


def test_paths_with_a_pkey_between_all_ports_are_not_logged():
    with shield_lab("act") as lab:
        wait_for_shield(lab)
        answers = sa_ask(lab, f"{GET_TABLE} 0035 2000 {bytes(50).hex()}1234")
        assert [status for status, _ in answers] == ["0600"]
        assert "ERR 1F1A" not in (lab.folder / "sm-0" / "opensm.log").read_text()
        assert refused(lab) == {"paths_of_all": 1}


def subscription_request(trap, subscribe, last_lid=None):
    """To what comes from all LIDs, or from those up to one."""
    lids = (1, last_lid) if last_lid else (0xffff, 0)
    info = bytes(16) + struct.pack(">HHHBBHHLL", *lids, 0, 1, subscribe, 0xffff, trap,
                                   1 << 8 | 18, 4)
    return f"{SET} {INFORM_INFO} 0 {info.hex()}"


def test_one_client_has_no_more_than_its_share_of_subscriptions():
    with shield_lab("act") as lab:
        wait_for_shield(lab)
        answers = sa_ask(lab, *(subscription_request(1000 + i, 1) for i in range(66)))
        assert [status for status, _ in answers] == ["0000"] * 64 + ["0100"] * 2
        assert refused(lab) == {"registrations": 2}
        answers = sa_ask(lab, subscription_request(1000, 0), subscription_request(2000, 1))
        assert [status for status, _ in answers] == ["0000", "0000"]


@pytest.mark.threads
def test_it_is_switched_on_and_off_while_requests_come():
    request = f"{GET_TABLE} {SL2VL} 1 {1:04x}"
    with shield_lab("off") as lab:
        wait_for_sweep(lab)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            asked = [pool.submit(sa_ask, lab, *[request, f"{GET_TABLE} 0035 0 0"] * 1000)
                     for _ in range(2)]
            modes = itertools.cycle(("act", "off", "watch"))
            states = itertools.cycle(("true", "true", "false", "false"))
            while not all(one.done() for one in asked):
                ask(lab, "set", "shield.mode", next(modes))
                ask(lab, "set", "qos.enabled", next(states))
            # What waits when it is switched off may be lost, and a client asks again.
            lost = sum(one.result().count(None) for one in asked)
        assert lost < 20, lost
        assert is_alive(lab)
        ask(lab, "set", "shield.mode", "act")
        wait_for_shield(lab)
        assert None not in sa_ask(lab, request)
