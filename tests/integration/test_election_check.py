# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""'triadctl election check' against a plugin that is played here, or none: what it runs,
what it reports, what it ends."""

import os
import signal
import subprocess

import pytest

from checks import failed, mentions, wait_until
from ctllib import (DONE, MESSAGE, OUTPUT, TRIADCTL, Plugin, environment, exit_frame,
                    frame, run)
from test_triadctl import ADVICE


class Helper:
    """Runs it in the background; 'errors' is what it has said so far."""

    def __init__(self, scratch, path, *words):
        self._path = scratch.folder() / "errors"
        with open(self._path, "wb") as stream:
            self.process = subprocess.Popen(
                [TRIADCTL, "--socket", path, "election", "check", "--every", "1",
                 *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=stream, env=environment(), text=True)
        scratch.callback(self.end)

    def errors(self):
        return self._path.read_text().splitlines()

    def end(self, number=signal.SIGTERM):
        """Its exit status and standard output."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        output = None
        if not self.process.stdout.closed:
            output, _ = self.process.communicate(timeout=20)
        return self.process.returncode, output


def verdicts(plugin):
    for request in plugin.requests:
        assert request[:2] == ["port", "verdict"], request
    return [request[2] for request in plugin.requests]


def wait_for_verdicts(plugin, n):
    wait_until(lambda: len(plugin.requests) >= n, 20, f"{n} verdicts")


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            return stat.read().split()[2] != "Z"
    except FileNotFoundError:
        return False


def pids(path, n):
    """What a command wrote there, a number a line."""
    def written():
        lines = path.read_text().split() if path.exists() else []
        return [int(line) for line in lines] if len(lines) >= n else None
    return wait_until(written, 20, f"{n} processes")


@pytest.mark.plain
@pytest.mark.row("E6")
def test_check_exit_status_reported_again_and_again(scratch):
    plugin = Plugin(scratch, frame(OUTPUT, b"verdict: yes\n") + DONE)
    helper = Helper(scratch, plugin.path, "--", "sh", "-c", "echo said; echo -n", "-x")
    wait_for_verdicts(plugin, 2)
    status, output = helper.end()
    assert (status, set(verdicts(plugin))) == (0, {"yes"}), "status, verdicts"
    assert set(output.splitlines()) == {"said"}, "the command's output alone"
    (error,) = helper.errors()
    assert mentions(error, "election check: yes status 0")


def test_check_no_for_other_status_signal_and_what_cannot_run(scratch):
    for command, reason in ((("sh", "-c", "exit 3"), "exit status 3"),
                            (("sh", "-c", "kill -9 $$"), "signal 9"),
                            (("/nowhere/check",), "exit status 127")):
        plugin = Plugin(scratch, DONE)
        helper = Helper(scratch, plugin.path, "--", *command)
        wait_for_verdicts(plugin, 1)
        helper.end()
        assert set(verdicts(plugin)) == {"no"}, command
        assert f"triadctl: election check: no ({reason})" in helper.errors(), command


def test_check_timeout_ends_the_whole_group(scratch):
    path = scratch.folder() / "pids"
    plugin = Plugin(scratch, DONE)
    stubborn = f"trap '' TERM; sleep 1000 & echo $$ $! >> {path}; wait; sleep 1000"
    helper = Helper(scratch, plugin.path, "--timeout", 1, "--", "sh", "-c", stubborn)
    group = pids(path, 2)[:2]
    wait_for_verdicts(plugin, 1)
    assert verdicts(plugin)[0] == "no", "verdict"
    assert "no end within 1 s" in helper.errors()[0], "reason"
    wait_until(lambda: not any(map(is_alive, group)), 10, "the end of the group")


def test_check_ended_by_signal_ends_its_command(scratch):
    for number in (signal.SIGTERM, signal.SIGINT):
        path = scratch.folder() / "pids"
        plugin = Plugin(scratch, DONE)
        helper = Helper(scratch, plugin.path, "--timeout", 100, "--", "sh", "-c",
                        f"sleep 1000 & echo $$ $! >> {path}; wait")
        group = pids(path, 2)
        assert helper.end(number)[0] == 0, "exit status"
        wait_until(lambda: not any(map(is_alive, group)), 10, "the end of the group")
        assert plugin.requests == [], "verdicts"


def test_check_killed_takes_its_command_along(scratch):
    path = scratch.folder() / "pids"
    plugin = Plugin(scratch, DONE)
    helper = Helper(scratch, plugin.path, "--timeout", 100, "--", "sh", "-c",
                    f"echo $$ >> {path}; exec sleep 1000")
    pid, = pids(path, 1)
    helper.end(signal.SIGKILL)
    wait_until(lambda: not is_alive(pid), 10, "the command's end")


def test_check_plugin_gone_reported_once_and_heard_again(scratch):
    path = scratch.folder() / "none.sock"
    helper = Helper(scratch, path, "--", "sh", "-c", f"echo x >> {path}.runs")
    runs = path.with_name("none.sock.runs")
    wait_until(lambda: runs.exists() and len(runs.read_text()) >= 6, 20, "three runs")
    errors = helper.errors()
    assert len([line for line in errors if mentions(line, ADVICE)]) == 1, errors
    plugin = Plugin(scratch, DONE)
    os.rename(plugin.path, path)
    wait_for_verdicts(plugin, 1)
    wait_until(lambda: mentions("\n".join(helper.errors()), "election check plugin again"), 10,
               "the word of it")
    assert helper.end()[0] == 0, "exit status"


def test_check_elections_off_reported_once(scratch):
    plugin = Plugin(scratch, frame(MESSAGE, b"port verdict: elections are off\n") +
                    exit_frame(1))
    helper = Helper(scratch, plugin.path, "--", "true")
    wait_for_verdicts(plugin, 3)
    helper.end()
    assert helper.errors().count("port verdict: elections are off") == 1, "told"


def test_check_words_wrong_refused():
    for words, part in (((), "it needs -- COMMAND [ARG...]"),
                        (("--every", "0", "--", "true"), "1 to 3600"),
                        (("--often", "--", "true"), "it has --every, --timeout")):
        failed(run("election", "check", *words), 2, part)
    failed(run("election", "chekc"), 2, "'election check'")
    help_text = run("help", "election").stdout
    assert "election check [--every S] [--timeout S] -- COMMAND" in help_text, "help"
    assert "Usage: triadctl election [--at TIME] [--watch] [--interval S]" in help_text, "help"
