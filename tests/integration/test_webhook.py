# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Alerts sent to the real Alertmanager, and to servers that make trouble."""

import contextlib
import json
import os
import signal
import time
from pathlib import Path

import pytest

from alertlib import Alertmanager, Receiver
from checks import failed, mentions, wait_until
from tlslib import certificate
from triadlib import ask, log_has, status, triad_lab, triad_lines, wait_for_sweep

SWITCH1, SWITCH2 = "0x0000000000200000", "0x0000000000200001"
OPENSM_CONF = "sweep_interval 1\n"


def conf(url, more=""):
    return f"""\
[perfmgr]
sweep_period = 1
[alerts]
clear_after = 0
webhook = {url}
{more}"""


def webhook(lab):
    return status(lab)["webhook"]


def finding(lab):
    """What 'health' says of the webhook, or None."""
    answer = json.loads(lab.triad("health", "--json").stdout)
    return next((finding["what"] for finding in answer["findings"]
                 if finding["at"] == "alerts.webhook"), None)


def raise_errors(lab, node, port):
    lab.sim(f'PerformanceSet "{node}"[{port}] PortCounters.SymbolErrorCounter=60')


def token_file(folder, token):
    path = Path(folder) / "token"
    path.write_text(f"{token}\n", encoding="utf-8")
    path.chmod(0o600)
    return path


# --- Alertmanager ------------------------------------------------------------

@pytest.mark.threads
@pytest.mark.row("N2")
@pytest.mark.plain
def test_dead_links_are_in_alertmanager_until_they_are_back(scratch):
    alertmanager = Alertmanager(scratch)
    alertmanager.start()
    # What the environment says of proxies does not matter.
    os.environ["http_proxy"] = os.environ["all_proxy"] = "http://127.0.0.1:1"
    with triad_lab(conf(alertmanager.url), opensm_conf=OPENSM_CONF) as lab:
        wait_for_sweep(lab, 2)
        lab.sim('Unlink "Switch1"[3]', 'Unlink "Switch2"[1]')
        wait_until(lambda: len(alertmanager.alerts()) == 2, 60, "both alerts")
        told = list(alertmanager.alerts().values())
        link = next(alert for alert in told
                    if alert["labels"]["alertname"] == "TriadLinkDown")
        assert link["labels"]["severity"] == "warning", link
        assert {link["labels"]["guid"], link["labels"]["far_end_guid"]} == \
            {SWITCH1, SWITCH2}, link
        assert link["labels"]["port"] == link["labels"]["far_end_port"] == "3", link
        assert mentions(link["annotations"]["advice"], "cable"), link
        assert "link down" in link["annotations"]["description"], link
        groups = wait_until(lambda: len(found := alertmanager.groups()) >= 2 and found,
                            30, "groups")
        assert groups == {"TriadLinkDown": 1, "TriadNodeGone": 1}, "groups"
        lab.sim('ReLink "Switch1"[3]', 'ReLink "Switch2"[1]')
        wait_until(lambda: not alertmanager.alerts(), 60, "the end of both")
        assert webhook(lab)["state"] == "sending", "status"
        assert webhook(lab)["refused"] == 0, "status"
        assert finding(lab) is None, "health"


def test_alertmanager_that_was_away_is_right_again(scratch):
    alertmanager = Alertmanager(scratch)
    with triad_lab(conf(alertmanager.url), opensm_conf=OPENSM_CONF) as lab:
        # It is noticed before there is an alert.
        log_has(lab, f"alerts.webhook: {alertmanager.url}: Failed to connect")
        assert wait_until(lambda: finding(lab), 10, "the finding")
        alertmanager.start()
        log_has(lab, f"alerts.webhook: {alertmanager.url} takes alerts again", timeout_s=90)
        assert finding(lab) is None, "health"
        lab.sim('Unlink "Switch2"[1]')
        wait_until(lambda: len(alertmanager.alerts()) == 1, 60, "the first alert")
        before = webhook(lab)["failures"]
        alertmanager.stop()
        lab.sim('ReLink "Switch2"[1]', 'Unlink "Switch1"[2]')
        wait_until(lambda: status(lab)["alerts"]["cleared"] >= 1 and
                   status(lab)["alerts"]["active"] == 1 and
                   webhook(lab)["failures"] >= before + 3, 60, "an outage")
        assert finding(lab), "health in the outage"
        alertmanager.start()
        wait_until(alertmanager.alerts, 90, "the second alert")
        wait_until(lambda: not webhook(lab)["waiting"], 30, "all told")
        assert len(alertmanager.alerts()) == 1, "alerts after the outage"
        assert status(lab)["alerts"]["active"] == 1, "alerts of Triad"
        lines = [line for line in lab.log().splitlines()
                 if "alerts.webhook" in line and "Failed to connect" in line]
        assert len(lines) == 2, f"once for each outage: {lines}"


def test_url_that_is_set_later_is_shown_what_is_active(scratch):
    receiver = Receiver(scratch)
    with triad_lab(conf(""), opensm_conf=OPENSM_CONF, triadd=True) as lab:
        wait_for_sweep(lab, 2)
        lab.sim('Unlink "Switch1"[3]')
        wait_until(lambda: status(lab)["alerts"]["active"] == 1, 30, "the alert")
        assert webhook(lab)["state"] == "off", "status"
        # What was raised before somebody is to be told is told as well.
        ask(lab, "set", "alerts.webhook", receiver.url)
        alert, = wait_until(receiver.alerts, 30, "the alert there").values()
        assert alert["labels"]["kind"] == "link_down" and "endsAt" not in alert, alert
        assert set(receiver.paths) == {"/alerts?fabric=a"}, "the whole path"
        ask(lab, "set", "alerts.enabled", "false")
        wait_until(lambda: all("endsAt" in alert for alert in receiver.alerts().values()),
                   30, "the end of alerts")


def test_standby_sends_nothing_until_it_is_the_master(scratch):
    receiver = Receiver(scratch)
    quick = OPENSM_CONF + "sminfo_polling_timeout 1000\npolling_retry_number 1\n"
    with triad_lab(conf(receiver.url), sms=("Hca1", "Hca4"), opensm_conf=quick) as lab:
        wait_for_sweep(lab, 2)
        wait_until(receiver.bodies.copy, 30, "a list of the master")
        standby = status(lab, sm=1)["webhook"]
        assert mentions(standby["state"], "nothing sent counters"), standby
        assert (standby["last_taken"], standby["failures"]) == (None, 0), standby
        os.kill(lab.status()["sms"][0]["pid"], signal.SIGKILL)
        wait_until(lambda: status(lab, sm=1)["webhook"]["state"] == "sending", 60,
                   "the new master")
        wait_until(lambda: status(lab, sm=1)["perfmgr"]["sweeps"] > 1, 30, "sweeps")
        raise_errors(lab, "Switch1", 3)
        alert = wait_until(lambda: receiver.alerts().get(SWITCH1), 30, "its alert")
        assert alert["labels"]["what"] == "SymbolErrorCounter", alert


# --- servers that make trouble -----------------------------------------------

def test_tls_by_own_ca_and_token(scratch, tmp_path):
    tls = certificate(scratch)
    receiver = Receiver(scratch, tls)
    receiver.token = "right-token-0123456789"
    path = token_file(tmp_path, "wrong-token-0123456789")
    with triad_lab(conf(receiver.url, f"webhook_token_file = {path}\n")) as lab:
        wait_for_sweep(lab, 2)
        raise_errors(lab, "Switch1", 3)
        # The system's authorities don't know it.
        assert "certificate" in wait_until(lambda: finding(lab), 30, "a finding").lower()
        assert not receiver.paths, "nothing is sent to a server that is not verified"
        ask(lab, "set", "alerts.webhook_ca", str(tls[0]))
        wait_until(lambda: "answers 401: who are you?" in (finding(lab) or ""), 30,
                   "a finding")
        log_has(lab, "401 who are you?")
        assert "\x1b" not in lab.log(), "what a server says does not drive terminals"
        assert "wrong-token" not in lab.log(), "secrets are not logged"
        assert not receiver.bodies, "nothing is taken without the token"
        token_file(tmp_path, receiver.token)
        wait_until(receiver.bodies.copy, 60, "the right token")
        wait_until(lambda: finding(lab) is None, 10, "health")
        path.chmod(0o644)
        # With another URL it is read at once.
        ask(lab, "set", "alerts.webhook", receiver.url + "?again")
        assert str(path) in wait_until(lambda: finding(lab), 30, "a finding")


def test_server_that_hangs_delays_neither_sweeps_nor_the_end(scratch):
    receiver = Receiver(scratch)
    receiver.let_go.clear()
    # With a period of 5 s no busy machine makes a sweep late.
    slow = conf(receiver.url).replace("sweep_period = 1", "sweep_period = 5")
    with triad_lab(slow) as lab:
        wait_until(lambda: receiver.paths, 30, "a request")
        wait_for_sweep(lab)
        raise_errors(lab, "Switch1", 3)

        def swept_while_it_hung():
            """Whether the last request that came had no end before three sweeps had."""
            n = len(receiver.paths)
            for _ in range(3):
                ask(lab, "perf", "sweep")
            return webhook(lab)["failures"] < n
        wait_until(swept_while_it_hung, 60, "sweeps")
        wait_for_sweep(lab, status(lab)["perfmgr"]["sweeps"] + 1)
        assert status(lab)["alerts"]["raised"] >= 1, "alerts"
        assert status(lab)["perfmgr"]["sweeps_late"] == 0, "late sweeps"
        pid = lab.status()["sms"][0]["pid"]
        begun = time.monotonic()
        os.kill(pid, signal.SIGTERM)
        wait_until(lambda: not _is_running(pid), 30, "the end of opensm")
        # The answer would have been waited for for 15 s.
        assert time.monotonic() - begun < 8, "the end"
        assert triad_lines(lab.log())[-1] == "ended", "Triad's last line"


def _is_running(pid):
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    return False


def test_redirect_is_not_followed(scratch):
    receiver, other = Receiver(scratch), Receiver(scratch)
    receiver.redirect = other.url
    with triad_lab(conf(receiver.url)) as lab:
        assert mentions(wait_until(lambda: finding(lab), 30, "a finding"), "redirect")
        assert not other.paths, "requests to where it leads"
        receiver.redirect = None
        wait_until(lambda: receiver.bodies == [[]] * len(receiver.bodies) and
                   receiver.bodies, 60, "empty lists while there is no alert")


def test_url_that_is_none_is_refused(scratch):
    with triad_lab(conf("")) as lab:
        for url in ("ftp://host/alerts", "host:9093", "http://", "https:///alerts"):
            failed(lab.triad("set", "alerts.webhook", url), 1, "URL http")
        failed(lab.triad("set", "alerts.webhook", "http://me:secret@host/alerts"), 1,
               "webhook_token_file")
