# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Examples of README.md and the manuals: each command line is typed as it is printed, in
a lab whose nodes have the names that the examples have.  Folders of the system stand for
folders of the test."""

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from agentlib import start_agent
from checks import succeeded, wait_until
from labs import BUILDDIR, SRCDIR, XML, need
from triadlib import TriadLab, status, wait_for_sweep

TEXTS = [SRCDIR / "README.md", *sorted((SRCDIR / "docs").glob("*.[1578]"))]

# Lines that can't be run here: why not.
NOT_RUN = {
    "./scripts/demo": "it builds in the source folder; scripts/bare-machine runs it",
    "./scripts/check": "it runs this test",
    "./scripts/deps build": "it installs packages; scripts/bare-machine runs it",
    "./autogen.sh": "as above",
    "mkdir -p build && cd build": "as above",
    "../configure && make && make install": "as above",
    "systemctl enable --now triad-agent triadd": "no systemd runs here",
    "systemctl enable --now triadd": "as above",
    "systemctl enable --now triadd@0x0002c90300001234": "as above",
    "chown triadd /etc/osmtriad/token && chmod 600 /etc/osmtriad/token":
        "there is no user triadd here",
    "install -d -o triadd -g triadd /srv/triad": "as above",
    "systemctl edit triadd": "no systemd runs here",
    "triadctl links --at 2h": "the lab has no images of that time; test_images.py asks",
    "triadctl diff 2h": "as above",
    "triadctl what-if --remove-switch leaf-07":
        "it runs an installed triad-lab; test_what_if.py runs that of the source folder",
    "triadctl setup --dry-run": "it looks at this machine's OpenSM; test_setup.py runs it",
    "triadctl setup --restart": "it changes this machine's OpenSM; test_setup.py runs it",
}

# Programs of which a line may be, besides what this machine has.
PROGRAMS = {"triadctl", "systemctl", "promtool", "jq", "rsync", "ssh"}

# What the lab's folder has instead of folders of the system.
MOVED = ("/etc/osmtriad", "/var/lib/osmtriad", "/var/lib/triadd", "/usr/local/sbin", "/tmp/lab")

# Exit statuses that are answers, not failures.
ANSWERS = {"triadctl health": (0, 1), "triadctl config diff": (0, 3),
           "triadctl qos plan": (0, 3), "triadctl port plan": (0, 3),
           "triadctl cabling check": (0, 3)}

# What two texts do: the second one finds the place as the first one did.
UNDONE = {"triadctl port blacklist add 0x0002c90300001234":
          "triadctl port blacklist remove 0x0002c90300001234"}

SWITCH = "0x0002c90300001234"
NET = f"""\
switchguid={SWITCH}
Switch	8 "leaf-01"	# "leaf-01"
[1]	"host-1"[1]	# lid 0 4xEDR
[2]	"oss-3"[1]	# lid 0 4xEDR
[3]	"compute-1"[1]	# lid 0 4xEDR
[4]	"compute-2"[1]	# lid 0 4xEDR
[5]	"host-0001"[1]	# lid 0 4xEDR
[6]	"host-0001"[2]	# lid 0 4xEDR

""" + "\n".join(f"""\
caguid=0x0002c9030001{at:02x}00
Hca	{2 if name == "host-0001" else 1} "{name}"	# "{name}"
[1]	"leaf-01"[{at}]	# lid 0 4xEDR
{'[2]	"leaf-01"[6]	# lid 0 4xEDR' if name == "host-0001" else ''}
""" for at, name in enumerate(
    ("host-1", "oss-3", "compute-1", "compute-2", "host-0001"), 1))

TRIAD_CONF = """\
[perfmgr]
sweep_period = 1
[history]
dir = {folder}/images
[election]
enabled = true
cluster = none
state_dir = {folder}/state
[port]
enabled = true
expected_file = {folder}/etc/osmtriad/expected.csv
[qos]
enabled = true
policy_file = {folder}/qos-policy.xml
[web]
listen = 127.0.0.1:9316
"""


# --- the lines ------------------------------------------------------------------

@dataclass(frozen=True)
class Example:
    where: str
    line: str

    def is_run(self):
        return self.line not in NOT_RUN


def blocks(path):
    """Those of a manual are between .EX and .EE, those of README.md are indented."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        found = re.findall(r"(?:^    .*\n|^\n(?=    ))+", text, re.MULTILINE)
        return [re.sub("^    ", "", block, flags=re.MULTILINE) for block in found]
    found = re.findall(r"^\.EX\n(.*?)^\.EE$", text, re.MULTILINE | re.DOTALL)
    return [block.replace("\\-", "-").replace("\\e", "\\") for block in found]


def is_command(line):
    word = line.split(" ")[0]
    if re.match(r"\w+ +(=|::=) ", line):
        return False  # a key with its value, or a rule of a grammar
    return (word in PROGRAMS or word.startswith(("scripts/", "./", "../"))
            or re.fullmatch(r"[\w.-]+", word) and shutil.which(word) is not None)


def command_lines(block):
    """Lines of a program, without their prompts and comments; those that go on in the
    next line as one."""
    lines = iter(block.splitlines())
    for line in lines:
        line = re.sub(r"^(\w*# |\$ )(?=triadctl)", "", line)
        line = re.sub(r"\s+# .*", "", line)
        if not line or not is_command(line):
            continue
        while is_open(line):
            line += "\n" + next(lines)
        yield line


def is_open(line):
    """Whether a quoted text or the line itself goes on in the next one."""
    try:
        shlex.split(line)
    except ValueError:
        return True
    return line.endswith("\\")


def examples():
    return [Example(path.name, line) for path in TEXTS for block in blocks(path)
            for line in command_lines(block)]


# --- the place ------------------------------------------------------------------

class Place:
    """A lab, a folder with the files that examples name, and an agent on a host."""

    def __init__(self, scratch):
        self.folder = scratch.folder()
        for moved in MOVED[:-1]:
            self.moved(moved).mkdir(parents=True)
        self._put_files()
        net = self.folder / "examples.net"
        net.write_text(NET, encoding="utf-8")
        self.lab = scratch.enter_context(TriadLab(
            net, opensm_conf="qos TRUE\n",
            triad_conf=TRIAD_CONF.format(folder=self.folder)))
        wait_for_sweep(self.lab, 2)
        self._start_agent(scratch)
        # A configuration that describes the fabric, as the port manager's first step has.
        succeeded(self.run("triadctl port snapshot > /etc/osmtriad/expected.csv"))
        wait_until(lambda: status(self.lab)["ports"]["generation"] == 1, 20,
                   "the expected configuration in force")
        succeeded(self.run("triadctl port snapshot --from fabric.txt > expected.csv"))
        scratch.callback(self.run, "scripts/lab down --dir /tmp/lab")

    def moved(self, path):
        return Path(f"{self.folder}{path}")

    def _put_files(self):
        (self.folder / "scripts").symlink_to(SRCDIR / "scripts")
        for policy in (SRCDIR / "contrib" / "qos").iterdir():
            shutil.copy(policy, self.folder)
        shutil.copy(SRCDIR / "tests" / "fuzz" / "corpus" / "fuzz_netdiscover" / "pair",
                    self.folder / "fabric.txt")
        # A plan of another fabric: of its nodes nothing is known here.
        shutil.copy(self.folder / "fabric.txt", self.folder / "plan.csv")
        profile = ("time,node_guid,port,remote_guid,remote_port,gbps,PortXmitData,"
                   f"PortRcvData\n2026-01-02T03:04:05.678Z,{SWITCH},1,,,,1,2\n")
        for folder in (self.folder, self.folder / "rack1", self.folder / "rack2",
                       self.moved("/var/lib/triadd")):
            folder.mkdir(exist_ok=True)
            subprocess.run(["zstd", "-q", "-o", folder / "profile.csv.zst"],
                           input=profile, text=True, check=True)
        check = self.moved("/usr/local/sbin") / "may-enforce"
        check.write_text(f"#!/bin/sh\ntouch {self.folder}/asked\n", encoding="ascii")
        check.chmod(0o755)

    def _start_agent(self, scratch):
        conf, self.agent_socket = self.folder / "agent.conf", self.folder / "agent.sock"
        conf.write_text(f"[control]\nsocket = {self.agent_socket}\n"
                        f"[state]\ndir = {self.folder}\n[history]\ndir =\n", encoding="ascii")
        agent = start_agent(self.lab, "compute-2", "--conf", conf,
                            stderr=subprocess.DEVNULL)

        def end():
            agent.terminate()
            agent.communicate(timeout=20)
        scratch.callback(end)
        wait_until(self.agent_socket.exists, 20, "the agent")

    def start(self, line):
        """The shell that runs it, in a namespace where /run has the sockets of the lab's
        OpenSM and agent as if they ran on this host."""
        for path in MOVED:
            line = line.replace(path, str(self.moved(path)))
        socket = self.lab.state().sms[0].control_socket
        setup = ("mount -t tmpfs none /run && mkdir /run/osmtriad && "
                 f"ln -s {socket} /run/osmtriad/0x0002c90300001235.sock && "
                 f"ln -s {self.agent_socket} /run/osmtriad/agent-{SWITCH}.sock\n")
        variables = {name: text for name, text in os.environ.items()
                     if name != "TRIAD_SOCKET"}
        return subprocess.Popen(
            ["unshare", "--mount", "bash", "-o", "pipefail", "-c", setup + line],
            cwd=self.folder, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True,
            env=variables | {"PATH": f"{BUILDDIR}:{os.environ['PATH']}:/usr/sbin:/sbin",
                             "TRIAD_BUILDDIR": str(BUILDDIR)})

    def run(self, line):
        """A CompletedProcess."""
        process = self.start(line)
        output, errors = process.communicate(timeout=60)
        return subprocess.CompletedProcess(line, process.returncode, output, errors)

    def watch(self, example):
        """What goes on until somebody ends it has shown something before."""
        process = self.start(example.line)
        try:
            if "election check" in example.line:
                wait_until((self.folder / "asked").exists, 20, example)
            else:
                assert process.stdout.readline(), f"{example}: {process.stderr.read()}"
            assert process.poll() is None, f"{example} ended"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGINT)
            process.communicate(timeout=20)


# --- the tests ------------------------------------------------------------------

def test_lines_are_found_and_those_not_run_are_still_there():
    found = examples()
    lines = {example.line for example in found}
    assert {example.where for example in found} >= {
        "README.md", "triadctl.1", "osmtriad-ports.7", "osmtriad-election.7",
        "triad-agent.8", "triad-profile.5", "triadd.8"}, "texts with examples"
    for line in ("triadctl health", "triadctl port priority 12", "triadctl alerts --watch",
                 "scripts/lab up   --dir /tmp/lab --net tree.net"):
        assert line in lines, line
    assert len(found) >= 70, len(found)
    stale = set(NOT_RUN) - lines
    assert not stale, f"no text has these any more: {stale}"


def test_line_of_a_block_is_distinguished_from_what_stands_around_it():
    block = ("# triad.conf\n[port]\nmode = observe\n\nsm2# triadctl port priority 12\n"
             "# edit it\ntriadctl health     # a verdict\nawk '/x/ {\n    y}' file\n")
    assert list(command_lines(block)) == [
        "triadctl port priority 12", "triadctl health", "awk '/x/ {\n    y}' file"]


@pytest.mark.long
@pytest.mark.full
@pytest.mark.scripts  # OpenSM has mistakes that a sanitizer stops it for
def test_examples_run_as_printed(scratch):
    need(XML)
    place = Place(scratch)
    wrong = []
    for example in filter(Example.is_run, examples()):
        if "--watch" in example.line or "election check" in example.line:
            place.watch(example)
            continue
        process = place.run(example.line)
        allowed = next((codes for words, codes in ANSWERS.items()
                        if example.line.startswith(words)), (0,))
        if process.returncode not in allowed:
            wrong.append(f"{example.where}: {example.line}: exit status "
                         f"{process.returncode}: {process.stderr}")
        if example.line in UNDONE:
            succeeded(place.run(UNDONE[example.line]))
    assert not wrong, "\n".join(wrong)
