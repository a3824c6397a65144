# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Completion of triadctl's command lines: its answers, and each shell's script in that
shell."""

import json
import shutil
import subprocess
import time

import pytest

from checks import failed, succeeded, wait_until
from ctllib import (DONE, MESSAGE, OUTPUT, TRIADCTL, Plugin, Terminal, environment,
                    exit_frame, frame, run)
from labs import SRCDIR

SHELLS = ("bash", "zsh", "fish")
NODES = [{"name": "leaf-01", "guid": "0x0002c90300000001"},
         {"node_name": "leaf-02", "node_guid": "0x0002c90300000002", "ports": 36},
         {"name": "node 1 \"HCA-1\"", "guid": "0x0002c90300000003", "lid": None}]


@pytest.fixture
def plugin(scratch):
    return Plugin(scratch, frame(OUTPUT, json.dumps(NODES).encode()) + DONE)


def offered(*words, run_it=run, **options):
    """What the last of the words can become; explanations left out."""
    process = succeeded(run_it("complete", "--", *words, **options))
    assert process.stderr == "", process.stderr
    return [line.split("\t")[0] for line in process.stdout.splitlines()]


# --- triadctl complete -------------------------------------------------------

@pytest.mark.plain
def test_complete_commands_and_options():
    for words, expected in (
            (["sta"], ["status"]),
            (["perf", "s"], ["show", "sweep"]),
            (["agents", ""], ["owner", "drain", "resume"]),
            (["perf", "show", "--e"], ["--errors"]),
            (["perf", "show", "--node", "x", "--n"], ["--node", "--no-headings"]),
            (["perf", "show", "--type", "s"], ["switch"]),
            (["perf", "show", "--type=s"], ["--type=switch"]),
            (["perf", "top", "--by", "portxmitw"], ["PortXmitWait"]),
            (["perf", "histogram", "VL15"], ["VL15Dropped"]),
            (["perf", "clear", ""], ["totals", "hardware", "histograms"]),
            (["set", "perfmgr.sweep_p"], ["perfmgr.sweep_period"]),
            (["set", "port.mode", ""], ["observe", "enforce"]),
            (["set", "qos.enabled", "t"], ["true"]),
            (["port", "blacklist", ""], ["add", "remove"]),
            (["completion", ""], ["bash", "zsh", "fish"]),
            (["qos", "check", ""], [":files"]),
            (["setup", "--conf="], [":files"]),
            (["what-if", "--bundle", ""], [":files"]),
            (["what-if", "--upgrade"], ["--upgrade-order"]),
            (["help", "perf", "t"], ["top", "tiers"]),
            (["profile", "report", "a.csv", "--svg", ""], [":files"]),
            (["--ti"], ["--timeout"]),
            (["--color", "al"], ["always"]),
            (["--agent", "--timeout", "3", "ele"], ["election"]),
            (["nonsense", ""], []), (["perf", "nonsense", ""], [])):
        assert offered(*words) == expected, words
    first = offered("")
    assert len(first) == len(set(first)) and {"perf", "qos", "completion"} <= set(first)
    assert "complete" not in first, "a hidden command"


def test_complete_knows_every_command():
    overview = run("help").stdout
    for line in overview.splitlines():
        if not line.startswith("  ") or line[2] in " -":
            continue
        words = [word for word in line.split()[:2] if word.isalpha() and word.islower()]
        assert not words or words[-1] in offered(*words), words


def test_complete_nodes_of_the_running_plugin(plugin):
    def asked(*words):
        return offered(*words, run_it=lambda *rest: run(
            *rest[:2], "--socket", plugin.path, *rest[2:]))

    assert asked("perf", "show", "--node", "leaf-") == ["leaf-01", "leaf-02"], "names"
    assert asked("agents", "owner", "node") == ['node 1 "HCA-1"'], "an argument"
    assert asked("perf", "show", "--node=leaf-02") == ["--node=leaf-02"], "behind ="
    assert asked("qos", "explain", "--src", "0x0002c90300000002") == \
        ["0x0002c90300000002"], "a GUID"
    assert plugin.requests == [["nodes", "--json"]] * 4, "requests"


def test_complete_keys_of_groups_of_the_running_plugin(scratch):
    keys = ["perfmgr.sweep_period", "group.hot.skip", "group.hot.sweep_period",
            "group.cold.skip", "alerts.SymbolErrorCounter",
            "alerts.hot.SymbolErrorCounter", "group.odd.unknown"]
    answer = json.dumps([{"key": key, "value": "x", "from": "file"} for key in keys])
    plugin = Plugin(scratch, frame(OUTPUT, answer.encode()) + DONE)

    def asked(*words):
        return offered("--socket", plugin.path, *words)

    for command in ("get", "set"):
        assert asked(command, "group.") == \
            ["group.hot.skip", "group.hot.sweep_period", "group.cold.skip"], command
    assert asked("set", "alerts.hot") == ["alerts.hot.SymbolErrorCounter"], "a scope"
    assert asked("get", "perfmgr.sweep_p") == ["perfmgr.sweep_period"], "no key twice"
    assert asked("set", "alerts.SymbolE") == ["alerts.SymbolErrorCounter"], "in general"
    assert asked("set", "group.hot.skip", "t") == ["true"], "a value"
    assert set(map(tuple, plugin.requests)) == {("get", "--json")}, plugin.requests
    assert offered("--socket", "/nowhere", "get", "group.") == [], "no plugin"


def test_complete_without_plugin_is_silent(scratch):
    for env in (environment(TRIAD_SOCKET="/nowhere/x.sock"), environment()):
        assert offered("perf", "show", "--node", "", env=env) == [], "no plugin"
    for answer in (frame(MESSAGE, b"unknown command 'nodes'\n") + exit_frame(2),
                   frame(OUTPUT, b"\0\xff{\"name\":\"\\u00") + DONE, b"x" * 100,
                   frame(OUTPUT, b'[{"name":"\\u001b[2J"},{"name":7},{"nam":"a"}]') +
                   DONE):
        plugin = Plugin(scratch, answer)
        assert offered("--socket", plugin.path, "perf", "show", "--node", "") in \
            ([], ["?[2J"]), answer


def test_complete_of_48000_nodes_is_quick(scratch):
    nodes = json.dumps([{"name": f"host-{i:05}", "guid": f"0x{i + 1:016x}", "lid": i,
                         "type": "ca", "ports": 1} for i in range(48_000)]).encode()
    answer = b"".join(frame(OUTPUT, nodes[at:at + 8192])
                      for at in range(0, len(nodes), 8192))
    plugin = Plugin(scratch, answer + DONE)
    begin = time.process_time()
    found = offered("--socket", plugin.path, "perf", "show", "--node", "host-4799")
    assert found == [f"host-4799{i}" for i in range(10)], found
    # A test doesn't judge times, but this must not have become another matter.
    assert time.process_time() - begin < 20, "seconds"


def test_completion_prints_the_installed_scripts():
    for shell in SHELLS:
        script = SRCDIR / "contrib" / "completion" / f"triadctl.{shell}"
        assert succeeded(run("completion", shell)).stdout == \
            script.read_text(encoding="utf-8"), shell
    failed(run("completion", "csh"), 2,
           "completion csh bash zsh fish")
    failed(run("completion"), 2, "bash|zsh|fish")


# --- the scripts -------------------------------------------------------------

def shell_env(plugin):
    return environment(TRIAD_SOCKET=plugin.path, INPUTRC="/dev/null", HISTFILE="",
                       PATH=f"{TRIADCTL.parent}:/usr/bin:/bin", LC_ALL="C.UTF-8")


STARTS = {
    "bash": ["bash --norc --noprofile", "source <(triadctl completion bash)"],
    "zsh": ["zsh -f", "autoload -U compinit; compinit -u -D",
            "source <(triadctl completion zsh)"],
    "fish": ["fish --no-config", "triadctl completion fish | source"],
}


@pytest.mark.parametrize("shell", SHELLS)
def test_script_completes_in_its_shell(scratch, plugin, shell):
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    folder = scratch.folder()
    # Shells write to their home.
    (folder / "files").mkdir()
    (folder / "files" / "policy.conf").write_text("", encoding="utf-8")
    terminal = Terminal(scratch, 100, 30, env={
        **shell_env(plugin), "HOME": str(folder), "XDG_CONFIG_HOME": str(folder),
        "XDG_DATA_HOME": str(folder)})
    terminal.type("cd", folder / "files")
    for line in STARTS[shell]:
        terminal.type_line(line)
    terminal.type("echo", "ready", then="'!'")
    wait_until(lambda: "ready!" in terminal.shown(), 30, "the shell")
    for typed, completed in (
            ("triadctl stat", "triadctl status "),
            ("triadctl perf sho", "triadctl perf show "),
            ("triadctl perf top --by PortXmitW", "triadctl perf top --by PortXmitWait"),
            ("triadctl perf show --type=sw", "triadctl perf show --type=switch"),
            ("triadctl perf show --node leaf-01", "triadctl perf show --node leaf-01 "),
            ("triadctl agents owner node", 'node\\ 1\\ \\"HCA-1\\"'),
            ("triadctl qos check pol", "policy.conf"),
            ("triadctl setup --conf=pol", "--conf=policy.conf"),
            ("triadctl setup --triad-conf=", "--triad-conf=policy.conf")):
        terminal.clear_line()
        terminal.type_line(typed, enter=False)
        terminal.press("Tab")
        wait_until(lambda expected=completed: any(
            expected.strip() in line or expected.replace("\\", "").strip() in line or
            "'node 1 \"HCA-1\"'" in line
            for line in terminal.shown().splitlines()), 30, f"{typed}: {completed}")


def test_script_of_bash_gives_candidates_without_a_terminal(plugin, tmp_path):
    script = """
        source <(triadctl completion bash)
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _triadctl
        printf '%s\\n' "${COMPREPLY[@]}"
    """

    def replies(*words):
        return succeeded(subprocess.run(
            ["bash", "--norc", "-c", script, "bash", *words], env=shell_env(plugin),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60,
            cwd=tmp_path, check=False)).stdout.splitlines()

    assert replies("triadctl", "perf", "s") == ["show", "sweep"], "words"
    # readline parts words at "=".
    assert replies("triadctl", "perf", "top", "--by", "=", "PortXmitW") == \
        ["PortXmitWait"], "behind ="
    assert replies("triadctl", "perf", "top", "--by", "=") == \
        succeeded(run("complete", "--", "perf", "top", "--by", "")).stdout.split(), "all"
    (tmp_path / "policy.conf").touch()
    (tmp_path / "other.conf").touch()
    assert replies("triadctl", "setup", "--conf", "=", "pol") == ["policy.conf"], "a file"
    assert sorted(replies("triadctl", "setup", "--conf", "=")) == \
        ["other.conf", "policy.conf"], "all files"
    assert replies("triadctl", "perf", "show", "--node", "node\\ 1") == \
        ['node\\ 1\\ \\"HCA-1\\"'], "blanks"
    assert replies("triadctl", "nonsense", "") == [""], "none"


def test_scripts_are_clean():
    if shutil.which("shellcheck"):
        script = SRCDIR / "contrib" / "completion" / "triadctl.bash"
        succeeded(subprocess.run(["shellcheck", "-s", "bash", script], text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 check=False))
