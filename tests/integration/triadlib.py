# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What tests of the plugin share: triadctl's answers, perfquery's, the log's."""

import contextlib
import fcntl
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from checks import mentions, succeeded, wait_until
from labs import BUILDDIR, EXAMPLE_NETS, Lab


NET = EXAMPLE_NETS / "net.2sw2path4hca"

# Counters that ibsim's agents have in PortCounters and that count errors.
ERRORS = ("SymbolErrorCounter", "LinkErrorRecoveryCounter", "LinkDownedCounter",
          "PortRcvErrors", "PortRcvRemotePhysicalErrors", "PortRcvSwitchRelayErrors",
          "PortXmitDiscards", "PortXmitConstraintErrors", "PortRcvConstraintErrors",
          "LocalLinkIntegrityErrors", "ExcessiveBufferOverrunErrors", "VL15Dropped",
          "PortXmitWait")

# Hardware is left alone, so that perfquery sees what Triad saw.
QUICK = "[perfmgr]\nsweep_period = 1\nreset = never\n"


class TriadLab(Lab):
    """Up when the master's Triad has the fabric, with all speeds: OpenSM's log says a moment
    before that it brought the subnet up."""

    def up(self):
        super().up()
        wait_until(self._has_fabric, 30, "the fabric in Triad")

    def _has_fabric(self):
        """True also without a Triad to be asked: there is nothing to wait for then."""
        answers = [self.triad("status", "--json", sm=sm)
                   for sm in range(len(self.state().sms))]
        reports = [json.loads(answer.stdout) for answer in answers
                   if answer.returncode == 0]
        return all(report["topology"]["nodes"]
                   and report["speeds"]["known"] == report["speeds"]["unknown_to_sm"]
                   for report in reports if report["sm"]["state"] == "master")


def triad_lab(triad_conf=QUICK, **options):
    return TriadLab(NET, triad_conf=triad_conf, **options)


def ask(lab, *words, **options):
    """What triadctl would print; fails the test when it would fail."""
    return succeeded(lab.triad(*words, **options)).stdout


def ask_json(lab, *words, **options):
    return json.loads(ask(lab, *words, "--json", **options))


def status(lab, **options):
    return ask_json(lab, "status", **options)


def health_findings(lab, words):
    """Those whose texts mention this."""
    found = json.loads(lab.triad("health", "--json").stdout)["findings"]
    return [finding for finding in found if mentions(finding["what"], words)]


def ports(lab, *words):
    """Rows of 'perf show' by (GUID, port)."""
    return {(row["node_guid"], row["port"]): row
            for row in ask_json(lab, "perf", "show", *words)}


def wait_for_sweep(lab, n=1):
    """Until 'n' sweeps have ended; returns the status."""
    def swept():
        report = status(lab)
        return report if report["perfmgr"]["sweeps"] >= n else None
    return wait_until(swept, 30, f"{n} sweeps")


def perfquery(lab, lid, port, *options):
    """The counters that perfquery prints, by name."""
    process = lab.run("perfquery", *options, str(lid), str(port), node="Hca4")
    succeeded(process)
    return {name: int(value, 0)
            for name, value in re.findall(r"^(\w+):\.+(\w+)$", process.stdout,
                                          re.MULTILINE)
            if value[:1].isdigit()}


def triad_lines(log):
    """What Triad wrote into OpenSM's log."""
    return re.findall(r"triad: (.*)", log)


def triadd_says(lab, words, sm=0, timeout_s=10):
    """Waits until the log of an SM's triadd has the words."""
    log = lab.folder / f"sm-{sm}" / "triadd.log"
    wait_until(lambda: mentions(log.read_text(encoding="utf-8"), words), timeout_s,
               f"{words!r} in the log of triadd")


def log_has(lab, words, sm=0, timeout_s=10):
    return wait_until(lambda: mentions(lab.log(sm), words), timeout_s,
                      f"{words!r} in the log")


def needs_loopback_console(lab=None):
    """Skips the test on an OpenSM that was built without libwrap, which it takes.  In a lab
    that shall have the console, Triad says so before."""
    opensm = shutil.which("opensm", path=f"{os.environ['PATH']}:/usr/sbin")
    linked = subprocess.run(["ldd", opensm], capture_output=True, text=True,
                            check=True).stdout
    if "libwrap.so" not in linked:
        if lab:
            log_has(lab, "console loopback needs an OpenSM with libwrap")
        pytest.skip("this OpenSM was built without libwrap: no loopback console")


def wait_for_console(lab):
    """Until 'triad' works in OpenSM's loopback console."""
    needs_loopback_console(lab)
    log_has(lab, "'triad help' in OpenSM's console")


def _has_syslog():
    """Whether somebody listens there."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as client:
        try:
            client.connect("/dev/log")
        except OSError:
            return False
    return True


@contextlib.contextmanager
def syslog():
    """What is written to syslog, on a machine without a daemon: a function that waits
    for a line with these texts in it.  There is one /dev/log, so tests take turns, those
    with a /tmp of their own, too."""
    with open("/run/lock/triad-test-syslog.lock", "w", encoding="utf-8") as turn, \
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as daemon:
        fcntl.flock(turn, fcntl.LOCK_EX)
        if _has_syslog():
            pytest.skip("this machine has a syslog daemon of its own")
        with contextlib.suppress(FileNotFoundError):
            os.unlink("/dev/log")  # of a test that was killed
        daemon.bind("/dev/log")
        daemon.settimeout(20)

        def line_with(*texts):
            # OpenSM writes there, too, and so do labs of other tests.
            while True:
                line = daemon.recv(4096).decode()
                if all(text in line for text in texts):
                    return line
        try:
            yield line_with
        finally:
            os.unlink("/dev/log")


REPORT_SAY = BUILDDIR / "tests/integration/report_say"


def lid_of(rows, node):
    """The LID of a host, as 'perf show' has it."""
    return next(row["lid"] for row in rows if row["node_name"].startswith(node))


def report_ports(lab, lid, count, every_ms, *nodes):
    """Has these nodes report to a LID, at the same time, that ports came into service."""
    processes = [lab.start(REPORT_SAY, lid, count, every_ms, node=node)
                 for node in nodes]
    for process in processes:
        process.communicate()
        assert process.returncode == 0, "report_say"


class Locker:
    """A plugin beside Triad that holds the SM's lock (tests/lab/locker.c): lab options for
    it in 'options', and 'with locker.held():'."""

    def __init__(self, scratch):
        self._trigger = scratch.folder() / "locker"
        self._held = self._trigger.with_name("locker.held")
        os.environ["TRIAD_LOCKER"] = str(self._trigger)
        scratch.callback(os.environ.pop, "TRIAD_LOCKER")
        self.options = {"preload": [BUILDDIR / "tests/lab/.libs/liblocker.so"]}

    @contextlib.contextmanager
    def held(self):
        """Nobody else has the lock from the beginning of the block to its end."""
        self._trigger.touch()
        wait_until(self._held.exists, 30, "the SM's lock")
        try:
            yield
        finally:
            self._held.unlink()


def slow_down(lab):
    """Has both ends of a link between Hca1 and Switch1 say that they could do more."""
    lab.sim('Speed "Hca1"[1] supported=4xQDR', 'Speed "Switch1"[1] supported=4xQDR')
    sweep_heavily(lab, lambda: ask_json(lab, "links", "--slow"), what="a slow link")


def sweep_heavily(lab, has_swept, sm=0, what="a sweep"):
    """Has opensm sweep the whole fabric until has_swept() gives something true; returns
    that.  It is asked again each second: a sweep that is just ending forgets a request."""
    pid = lab.status()["sms"][sm]["pid"]
    asked = 0

    def has_swept_or_asked():
        nonlocal asked
        if time.monotonic() - asked > 1:
            os.kill(pid, signal.SIGHUP)
            asked = time.monotonic()
        return has_swept()

    return wait_until(has_swept_or_asked, 60, what)
