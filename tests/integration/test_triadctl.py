# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""triadctl against a plugin that is played here: what it sends, shows, returns."""

import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time

import pytest

from checks import failed, lines_mention, mentions, succeeded, wait_until
from ctllib import (DONE, MESSAGE, OUTPUT, PROGRESS, TRIADCTL, Plugin, ask,
                    ask_on_terminal, environment, exit_frame, frame, run)
from labs import SRCDIR, XML, need


GUID = "0x0002c90300001234"
ADVICE = "event_plugin_name osmtriad ERR 1000"


# --- requests and answers ----------------------------------------------------

@pytest.mark.plain
def test_request_words_arrive_as_typed(scratch):
    plugin = Plugin(scratch, DONE)
    words = ["perf", "show", "--node", "node 1 HCA-1", "--port=3", "--json"]
    succeeded(ask(plugin, *words))
    assert plugin.requests == [words], "request"


def test_set_dash_value_is_a_line_of_standard_input(scratch):
    plugin = Plugin(scratch, DONE)
    for given, value in (("a b; c\n", "a b; c"), ("x", "x"), ("x\ny\n", "x"), ("\n", "")):
        succeeded(ask(plugin, "set", "collect.servers", "-", input=given))
        assert plugin.requests.pop() == ["set", "collect.servers", value], "request"
    for given, why in (("", "no line"), ("x" * 5000, "too long")):
        failed(ask(plugin, "set", "collect.servers", "-", input=given), 2, why)
    assert plugin.requests == [], "requests"


def test_answer_streams_kept_apart(scratch):
    plugin = Plugin(scratch, frame(OUTPUT, b"one\n") + frame(MESSAGE, b"beware\n") +
                    frame(OUTPUT) + frame(OUTPUT, b"two\n") + DONE)
    process = ask(plugin, "status")
    succeeded(process)
    assert process.stdout == "one\ntwo\n", "standard output"
    assert process.stderr == "beware\n", "standard error"


def test_answer_status_returned(scratch):
    for status in (0, 1, 2):
        process = ask(Plugin(scratch, exit_frame(status)), "reload")
        assert (process.returncode, process.stdout, process.stderr) == (status, "", "")


def test_answer_long_copied_octet_for_octet(scratch):
    data = os.urandom(65536)
    plugin = Plugin(scratch, (frame(OUTPUT, data) * 20) + frame(OUTPUT, data[:4097]) + DONE)
    process = ask(plugin, "status", text=False)
    assert process.returncode == 0, "status"
    assert process.stdout == data * 20 + data[:4097], len(process.stdout)


def test_answer_in_small_pieces_put_together(scratch):
    def answer(connection):
        for octet in frame(OUTPUT, b"slow\n") + DONE:
            connection.sendall(bytes([octet]))

    process = ask(Plugin(scratch, answer), "status")
    succeeded(process)
    assert process.stdout == "slow\n", "standard output"


def test_answer_before_request_is_read_shown(scratch):
    plugin = Plugin(scratch, frame(MESSAGE, b"too many clients\n") + exit_frame(1),
                    read_request=False)
    process = ask(plugin, "status")
    failed(process, 1)
    assert process.stderr == "too many clients\n", "standard error"


def test_answer_after_exit_ignored(scratch):
    process = ask(Plugin(scratch, DONE + frame(OUTPUT, b"late\n")), "status")
    succeeded(process)
    assert process.stdout == "", "standard output"


# --- mistakes, help ----------------------------------------------------------

def test_usage_wrong_command_reported_without_plugin():
    for words, part in (
            ([], "a command is missing"),
            (["statsu"], "did you mean 'status'?"),
            (["perf"], "perf show, perf top, perf sweep"),
            (["show"], "'perf show'"),
            (["nonsense"], "'help' lists all"),
            (["--timeout", "500ms", "status"], "1 to 3600"),
            (["perf", "show", "--port", "999"], "0 to 254"),
            (["perf", "top", "--by", "PortXmitWiat"], "did you mean 'PortXmitWait'?"),
            (["set", "log.level"], "it needs KEY VALUE"),
            (["--sockt", "/x", "status"], "'triadctl --help' lists the options"),
            (["--socket"], "'triadctl --help' lists the options"),
            (["--timeout", "0", "status"], "1 to 3600"),
            (["--timeout", "3601", "status"], "1 to 3600"),
            (["--timeout", "x", "status"], "1 to 3600"),
            (["--port-guid", "1234", "status"], "a GUID is 0x"),
            (["--port-guid", GUID, "--socket", "/x", "status"], "exclude each other"),
            (["status"] + ["--json"] * 40, "too long"),
            (["perf", "show"] + ["--node", "x" * 127] * 15 +
             ["--node=" + "x" * 127] * 20, "too long")):
        process = run(*words, env=environment(TRIAD_SOCKET="/nowhere/x.sock"))
        failed(process, 2, part)
        assert "triadctl: " in process.stderr, "message"
        assert process.stdout == "", "standard output"


def test_help_answered_without_plugin():
    overview = run("--help")
    succeeded(overview)
    for part in ("Usage: triadctl COMMAND", "perf sweep", "--port-guid GUID", "--socket",
                 "--timeout"):
        assert part in overview.stdout, "help"
    assert max(map(len, overview.stdout.splitlines())) <= 80, "width"
    assert run("help").stdout == overview.stdout, "help"
    assert run("-h").stdout == overview.stdout, "help"
    one = run("help", "perf", "top")
    succeeded(one)
    assert "PortXmitWait" in one.stdout, "help"
    assert run("perf", "top", "--bogus", "--help").stdout == one.stdout, "help"


def test_version_answered_without_plugin():
    process = run("--version")
    succeeded(process)
    assert re.search(r"^triadctl \d+\.\d+\.\d+\n$", process.stdout), "version"


def test_version_command_asks_and_falls_back(scratch):
    plugin = Plugin(scratch, frame(OUTPUT, b"triadctl  1\n") + DONE)
    process = ask(plugin, "version")
    succeeded(process)
    own = run("--version").stdout.split()[1]
    assert plugin.requests == [["version", f"--client={own}"]], "the request"
    assert process.stdout == "triadctl  1\n", "the answer"
    process = run("--socket", "/nowhere/x.sock", "version")
    succeeded(process)
    assert process.stdout == f"triadctl  {own}\nanswers   nothing\nprotocol  1\n", "alone"
    assert "isn't running here" in process.stderr, "why"
    answer = json.loads(run("--socket", "/nowhere/x.sock", "version", "--json").stdout)
    assert answer == {"triadctl": own, "program": None, "version": None, "sm": None,
                      "protocol": 1}, "JSON"
    # One that does not know the command, yet.
    older = ask(Plugin(scratch, frame(MESSAGE, b"unknown\n") + exit_frame(2)), "version")
    succeeded(older)
    assert "answers   nothing" in older.stdout and older.stderr == "unknown\n", "older"


# --- finding the plugin ------------------------------------------------------

def test_socket_missing_says_what_to_do(tmp_path):
    path = tmp_path / "none.sock"
    process = run("--socket", path, "status")
    failed(process, 1, "triadctl: OpenSM Triad plugin running")
    assert str(path) in process.stderr, "message"
    assert mentions(process.stderr, ADVICE), "message"


def test_socket_left_behind_says_what_to_do(scratch):
    plugin = Plugin(scratch, DONE)
    plugin.stop()
    failed(ask(plugin, "status"), 1, ADVICE)


def test_socket_of_another_user_reported(scratch):
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    plugin, folder = Plugin(scratch, DONE), scratch.folder()
    folder.chmod(0o755)
    triadctl = shutil.copy(TRIADCTL, folder)
    process = subprocess.run([triadctl, "--socket", plugin.path, "status"], user=65534,
                             timeout=60, check=False, text=True, env=environment(),
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    failed(process, 1, "Permission denied root")


def test_socket_path_too_long_reported():
    failed(run("--socket", "/" + "x" * 107, "status"), 1, "File name too long")


def test_socket_of_environment_taken(scratch):
    plugin = Plugin(scratch, DONE)
    succeeded(run("status", env=environment(TRIAD_SOCKET=plugin.path)))
    assert plugin.requests == [["status"]], "request"


def test_socket_typed_goes_before_environment(scratch):
    plugin, other = Plugin(scratch, DONE), Plugin(scratch, DONE)
    env = environment(TRIAD_SOCKET=other.path)
    succeeded(ask(plugin, "status", env=env))
    assert (len(plugin.requests), len(other.requests)) == (1, 0), "requests"
    process = run("--port-guid", "0x2C90300FFFFFF", "status", env=env)
    failed(process, 1, "/run/osmtriad/0x0002c90300ffffff.sock")
    assert len(other.requests) == 0, "requests"


# --- when the plugin fails ---------------------------------------------------

def test_answer_cut_reported(scratch):
    for answer in (b"", frame(OUTPUT, b"half\n"), frame(OUTPUT, b"x" * 100)[:50],
                   DONE[:5], DONE[:8]):
        failed(ask(Plugin(scratch, answer), "status"), 1,
               "connection cut")


def test_answer_none_times_out(scratch):
    asked_to_end = threading.Event()
    plugin = Plugin(scratch, lambda connection: asked_to_end.wait(30))
    begin = time.monotonic()
    process = ask(plugin, "--timeout", "1", "status")
    took_s = time.monotonic() - begin
    asked_to_end.set()
    failed(process, 1, "nothing 1 s")
    assert 1 <= took_s < 10, took_s


def test_answer_slow_but_alive_waited_for(scratch):
    def answer(connection):
        for _ in range(9):
            time.sleep(0.4)
            connection.sendall(frame(PROGRESS, b"still at it"))
        connection.sendall(DONE)

    # Pauses are far shorter than that, also on a busy machine, and together longer.
    process = ask(Plugin(scratch, answer), "--timeout", "3", "perf", "sweep")
    succeeded(process)
    assert process.stderr == "", "standard error"


def test_answer_of_other_protocol_reported(scratch):
    for answer, part in (
            (frame(OUTPUT, b"x", version=2), "version protocol"),
            (b"HTTP/1.1 400 Bad Request\r\n\r\n", "version protocol"),
            (frame(b"?", b"x"), "Triad protocol"),
            (frame(b"R", b"x"), "Triad protocol"),
            (frame(OUTPUT, b"x" * 65537), "Triad protocol"),
            (frame(b"X", b""), "Triad protocol"),
            (exit_frame(5), "Triad protocol")):
        failed(ask(Plugin(scratch, answer), "status"), 1, part)


# --- the receivers of what it writes -----------------------------------------

def test_output_reader_gone_ends_quietly(scratch):
    plugin = Plugin(scratch, frame(OUTPUT, b"line\n" * 1000) * 200 + DONE)
    process = subprocess.Popen([TRIADCTL, "--socket", plugin.path, "status"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=environment())
    assert process.stdout.read(5) == b"line\n", "first line"
    process.stdout.close()
    assert process.stderr.read() == b"", "standard error"
    process.stderr.close()
    assert process.wait(60) == 0, "status"


def test_output_not_writable_reported(scratch):
    plugin = Plugin(scratch, frame(OUTPUT, b"text\n") + DONE)
    with open("/dev/full", "wb") as full:
        for process in (ask(plugin, "status", stdout=full), run("help", stdout=full),
                        run("--version", stdout=full)):
            failed(process, 1, "standard output No space left")


def test_color_asked_for_on_terminals_alone(scratch):
    plugin = Plugin(scratch, frame(OUTPUT, b"\033[1mbold\033[0m\n") + DONE)
    succeeded(ask(plugin, "status"))
    _, shown = ask_on_terminal(scratch, plugin, "status")
    assert shown == b"\033[1mbold\033[0m\r\n", "terminal"
    for variables in ({"NO_COLOR": "1"}, {"NO_COLOR": ""}, {"TERM": "dumb"}):
        ask_on_terminal(scratch, plugin, "status", env=environment(**variables))
    assert plugin.requests == \
        [["status"], ["status", "--color"], ["status"],
         ["status", "--color"], ["status"]], "requests"


def test_progress_rewritten_then_cleared(scratch):
    plugin = Plugin(scratch, frame(PROGRESS, b"1 of 2") + frame(PROGRESS, b"2 of 2\033[2J") +
                    frame(MESSAGE, b"done\n") + frame(PROGRESS, b"x" * 500) + DONE)
    process, shown = ask_on_terminal(scratch, plugin, "perf", "sweep", stream="stderr")
    succeeded(process)
    assert shown == \
        (b"\r\033[K1 of 2\r\033[K2 of 2?[2J\r\033[Kdone\r\n"
            b"\r\033[K" + b"x" * 79 + b"\r\033[K"), "terminal"


def test_progress_not_shown_elsewhere(scratch):
    plugin = Plugin(scratch, frame(PROGRESS, b"1 of 2") + frame(OUTPUT, b"text\n") + DONE)
    process = ask(plugin, "perf", "sweep")
    assert (process.stdout, process.stderr) == ("text\n", ""), "output"


# --- perf top --watch --------------------------------------------------------

def start_watch(scratch, plugin, *arguments, **options):
    process = subprocess.Popen(
        [TRIADCTL, "--socket", plugin.path, "perf", "top", "--watch", *arguments],
        env=environment(), stdin=subprocess.DEVNULL,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options})
    scratch.callback(process.wait)
    scratch.callback(process.kill)
    return process


def test_watch_asks_again_until_interrupted(scratch):
    plugin = Plugin(scratch, frame(OUTPUT, b"[]\n") + DONE)
    process = start_watch(scratch, plugin, "--interval", "1", "--json")
    wait_until(lambda: len(plugin.requests) >= 3, what="three requests")
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 0, "status"
    assert stderr == b"", "standard error"
    documents = [json.loads(line) for line in stdout.splitlines()]
    assert len(documents) >= 2, documents
    assert plugin.requests[0] == \
        ["perf", "top", "--watch", "--interval", "1", "--json"], "request"


def test_watch_interval_runs_from_question_to_question(scratch):
    times = []

    def answer(connection):
        times.append(time.monotonic())
        time.sleep(0.5)
        connection.sendall(DONE)

    process = start_watch(scratch, Plugin(scratch, answer), "--interval", "1")
    # From answer to question each would take 1.5 s at least, on any machine; a busy one
    # makes some of these longer, but not all.
    wait_until(lambda: any(later - earlier < 1.45
                           for earlier, later in itertools.pairwise(times)),
               60, "a question a second after the one before")
    wait_until(lambda: len(times) >= 4, what="four requests")
    process.terminate()
    assert process.wait(60) == 0, "status"
    assert times[3] - times[0] > 2, times


def test_watch_paints_terminals_alone(scratch):
    plugin = Plugin(scratch, frame(OUTPUT, b"a\n") + frame(OUTPUT, b"b\n") + exit_frame(1))
    for words in (["--watch", "--json"], []):
        _, shown = ask_on_terminal(scratch, plugin, "perf", "top", *words)
        assert shown == b"a\r\nb\r\n", "terminal"
    assert ask(plugin, "perf", "top", "--watch").stdout == "a\nb\n", "standard output"


def test_watch_plugin_gone_reported_and_waited_for(scratch):
    plugin = Plugin(scratch, frame(OUTPUT, b"[]\n") + DONE)
    process = start_watch(scratch, plugin, "--interval", "1", "--json")
    wait_until(lambda: plugin.requests, what="a request")
    plugin.stop()
    assert b"isn't running here" in process.stderr.readline(), "message"
    assert process.poll() is None, "it goes on"


def test_watch_refusal_ends(scratch):
    process = ask(Plugin(scratch, frame(MESSAGE, b"not now\n") + exit_frame(1)),
                  "perf", "top", "--watch")
    failed(process, 1, "not now")


def test_watch_reader_gone_ends_quietly(scratch):
    plugin = Plugin(scratch, frame(OUTPUT, b"[]\n") + DONE)
    process = start_watch(scratch, plugin, "--interval", "1", "--json")
    assert process.stdout.readline() == b"[]\n", "first answer"
    process.stdout.close()
    assert process.wait(60) == 0, "status"
    assert process.stderr.read() == b"", "standard error"
    process.stderr.close()


# --- QoS policies ------------------------------------------------------------

POLICIES = SRCDIR / "contrib" / "qos"


def test_config_check_tells_all_mistakes(tmp_path):
    conf = tmp_path / "triad.conf"
    for text in ("[collect]\npaths = true\n",
                 "[perfmgr]\nsweep_period = 0\n\nwindw = 8\n[collect]\npaths = true\n"):
        conf.write_text(text)
        process = run("config", "check", conf)
        assert mentions(process.stderr, f"{conf} no longer does anything collect.paths")
        assert process.returncode == ("windw" in text)
        assert ("no mistakes" in process.stdout) == ("windw" not in text)
    assert mentions(process.stderr, f"{conf}:2: sweep_period")
    assert mentions(process.stderr, f"{conf}:4: windw")
    conf.write_text("")
    conf.chmod(0o666)
    failed(run("config", "check", conf), 1, "others can change it")
    failed(run("config", "check", tmp_path / "none"), 1, "No such file")
    failed(run("config", "check", tmp_path, tmp_path), 2, "one word too many")
    succeeded(run("config", "check", SRCDIR / "docs" / "triad.conf.example"))


def test_qos_check_installed_examples_pass():
    need(XML)
    for name in ("qos-policy.xml", "qos-policy.conf"):
        process = run("qos", "check", POLICIES / name)
        succeeded(process)
        assert "(the default level)" in process.stdout, name
        policy = json.loads(run("qos", "check", "--json", POLICIES / name).stdout)
        assert policy["default_level"].lower() == "default", name
        shown = {word: int(n) for word, n in
                 re.findall(r"^(\S.*?) +(\d+)$", process.stdout, re.MULTILINE)}
        assert shown == \
            {"Groups": len(policy["groups"]),
             "Levels": len(policy["levels"]),
             "Rules": len(policy["rules"]),
             "Partitions' levels": len(policy["partition_levels"]),
             "SL2VL tables": len(policy["sl2vl"]),
             "VLArb tables": len(policy["vlarb"])}, name


def test_qos_check_default_level_chosen():
    need(XML)
    process = run("qos", "check", POLICIES / "qos-policy.xml", "--default-level=3",
                  "--json")
    succeeded(process)
    assert json.loads(process.stdout)["default_level"] == "3", "default level"


def test_qos_check_mistakes_reported_with_places(tmp_path):
    path = tmp_path / "policy"
    path.write_text("qos-ulps\nsdp : 16\nrds : x\nend-qos-ulps\n", encoding="utf-8")
    process = run("qos", "check", path)
    failed(process, 1)
    assert lines_mention(process.stderr, f"{path}:2:7: SL 16 0 15", f"{path}:3:7: SL x 0 15",
                         f"{path}: default level")
    assert process.stdout == "", "standard output"


def test_qos_words_wrong_refused():
    need(XML)
    path = POLICIES / "qos-policy.xml"
    cases = [
        (["qos"], 2, "qos on"),
        (["qos", "chek", path], 2, "'qos check'"),
        (["qos", "check"], 2, "qos check: it needs FILE"),
        (["qos", "check", path, path], 2, "too many"),
        (["qos", "check", "--default-level=", path], 2, "the name is empty"),
        (["qos", "check", "--default-level", "9", path], 1, "no level is called '9'"),
        (["qos", "check", path / "none"], 1, "Not a directory"),
        (["qos", "check", "--", "--help"], 1, "--help policy"),
        (["qos", "check", path.parent], 1, "Is a directory"),
    ]
    for words, status, message in cases:
        failed(run(*words), status, message)


def test_qos_help_in_manual():
    manual = (SRCDIR / "docs" / "triadctl.1").read_text(encoding="utf-8")
    overview = run("help").stdout
    assert "qos check FILE" in overview, "help"
    shown = run("qos", "check", "--help").stdout
    for option in re.findall(r"^  (--\S+)", shown, re.MULTILINE):
        section = manual[manual.index('"qos check"'):]
        assert option.replace("-", "\\-") in section, "the manual"
