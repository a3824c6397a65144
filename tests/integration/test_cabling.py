# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""'triadctl cabling check': what it says to do is done in a lab, and then all is as planned."""

import copy
import csv
import html
import io
import json
import os
import random
import signal
import subprocess

import pytest

from checks import lines_mention, mentions, succeeded, wait_until
from ctllib import SRCDIR, TRIADCTL, run
from test_devices import qsfp28
from triadlib import TriadLab, ask, sweep_heavily, wait_for_sweep

CONF = ("[perfmgr]\nsweep_period = 1\nreset = never\n"
        "[devices]\nperiod = 1\n")
AS_PLANNED, DIFFERS, NOT_KNOWN = 0, 1, 3

SWITCHES = ["leaf-01", "leaf-02", "spine"]
HOSTS = [f"host-{n}" for n in range(1, 8)]
# Four cables between switches, so that each switch is reached in spite of the faults.
PLAN = [("leaf-01", 1, "spine", 1), ("leaf-01", 2, "spine", 2),
        ("leaf-02", 1, "spine", 3), ("leaf-02", 2, "spine", 4),
        *[("leaf-01", 4 + n, HOSTS[n], 1) for n in range(4)],
        *[("leaf-02", 4 + n, HOSTS[4 + n], 1) for n in range(3)]]

# Two switches of a large fabric, with one description, and what is at them.
ALIKE = """\
switchguid=0x0002c9f17809a500(0002c9f17809a500)
Switch\t65 "S-0002c9f17809a500"\t\t# "Quantum-2 Mellanox Technologies" base port 0 lid 13 lmc 0
[1](1/1/1)\t"H-0002c90000000001"[1](2c90000000001) \t\t# "node-1 mlx5_0 " lid 1 4xNDR
[63](1/32/1)\t"S-0002c96b70f111c0"[63]\t\t# "Quantum-2 Mellanox Technologies" lid 115 4xNDR

switchguid=0x0002c96b70f111c0(0002c96b70f111c0)
Switch\t65 "S-0002c96b70f111c0"\t\t# "Quantum-2 Mellanox Technologies" base port 0 lid 115 lmc 0
[2](1/1/2)\t"H-0002c90000000002"[1](2c90000000002) \t\t# "node-2 mlx5_0 " lid 2 4xNDR
[63](1/32/1)\t"S-0002c9f17809a500"[63]\t\t# "Quantum-2 Mellanox Technologies" lid 13 4xNDR

Ca\t1 "H-0002c90000000001"\t\t# "node-1 mlx5_0 "
[1](2c90000000001)\t"S-0002c9f17809a500"[1]\t\t# lid 1 lmc 0 "Quantum-2 Mellanox Technologies" lid 13 4xNDR

Ca\t1 "H-0002c90000000002"\t\t# "node-2 mlx5_0 "
[1](2c90000000002)\t"S-0002c96b70f111c0"[2]\t\t# lid 2 lmc 0 "Quantum-2 Mellanox Technologies" lid 115 4xNDR
"""


def net():
    """The plan as ibsim reads it."""
    ends = {}
    for near, port, far, far_port in PLAN:
        ends.setdefault(near, []).append((port, far, far_port))
        ends.setdefault(far, []).append((far_port, near, port))
    text = ""
    for number, node in enumerate([*SWITCHES, *HOSTS], 1):
        guid = f"{number * 16:x}"
        text += "vendid=0x2c9\ndevid=0xd2f0\n"
        text += (f'switchguid=0x{guid}({guid})\nSwitch 12 "{node}" # "{node}"\n'
                 if node in SWITCHES else f'caguid=0x{guid}\nCa 1 "{node}" # "{node}"\n')
        text += "".join(f'[{port}]{"" if node in SWITCHES else f"({number * 16 + 1:x})"} '
                        f'"{far}"[{far_port}]\n'
                        for port, far, far_port in sorted(ends[node])) + "\n"
    return text


def plan_as_ndt():
    rows = "".join(f"{near},Port {port},{far},Port {far_port},Data\r\n"
                   for near, port, far, far_port in PLAN)
    return f"#StartDevice,StartPort,EndDevice,EndPort,LinkType\r\n{rows}"


def plan_as_topoconfig():
    """Switches by the GUIDs of their nodes, hosts by those of their ports."""
    guids = {node: number * 16 + (node in HOSTS)
             for number, node in enumerate([*SWITCHES, *HOSTS], 1)}
    return "".join(f"0x{guids[near]:016x},{port},0x{guids[far]:016x},{far_port},Any,Active\n"
                   for near, port, far, far_port in PLAN)


def write(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cabling")


@pytest.fixture(scope="module")
def lab(folder):
    with TriadLab(write(folder, "net", net()), sms=["host-1"], triad_conf=CONF,
                  retrain=True) as lab:
        wait_for_sweep(lab)
        # Before Triad asks for it.
        lab.sim(*qsfp28("MT2133VS01234").commands("leaf-01", 5))
        ask(lab, "set", "devices.enabled", "true")
        yield lab


def check(lab, *words):
    return run("--socket", lab.state().sms[0].control_socket, "cabling", "check", *words)


def check_json(lab, plan):
    process = check(lab, plan, "--json")
    answer = json.loads(process.stdout)
    assert process.returncode == (DIFFERS if answer["to_do"] else
                                  NOT_KNOWN if answer["not_known"] else AS_PLANNED)
    return answer


def kinds(answer):
    return sorted(item["kind"] for item in answer["to_do"])


# --- cables of the lab -------------------------------------------------------

def end(item):
    return f'"{item["node_name"]}"[{item["port"]}]'


def link(lab, a, b):
    lab.sim(f"Link {a} {b}")


def unlink(lab, a):
    lab.sim(f"Unlink {a}")


def carry_out(lab, item):
    """What the item says, with two hands."""
    ports = [end(port) for port in item["ports"]]
    if item["kind"] == "move":
        unlink(lab, ports[0])
        link(lab, ports[1], ports[2])
    elif item["kind"] == "swap":
        unlink(lab, ports[0])
        unlink(lab, ports[1])
        link(lab, ports[0], ports[3])
        link(lab, ports[1], ports[2])
    elif item["kind"] == "put":
        link(lab, *ports)
    else:
        assert item["kind"] == "take_out", item
        unlink(lab, ports[0])


def wait_for(lab, plan, expected):
    """The answer when it has items of these kinds, and all is known: a host is not in the
    fabric while its cable is out."""
    def has_kinds():
        answer = check_json(lab, plan)
        is_so = kinds(answer) == sorted(expected) and not answer["not_known"]
        return answer if is_so else None
    return sweep_heavily(lab, has_kinds, what=f"{expected}")


# --- tests -------------------------------------------------------------------

@pytest.mark.plain
def test_lab_is_cabled_as_the_answers_say(lab, folder):
    plan = write(folder, "plan.csv", plan_as_ndt())
    answer = check_json(lab, plan)
    assert (answer["format"], answer["planned"], answer["right"]) == ("ndt", 11, 11)
    assert succeeded(check(lab, plan)).stdout
    answer = check_json(lab, write(folder, "topoconfig", plan_as_topoconfig()))
    assert (answer["format"], answer["right"]) == ("topoconfig", 11)
    own = write(folder, "expected.csv", ask(lab, "port", "snapshot"))
    answer = check_json(lab, own)
    assert (answer["format"], answer["right"]) == ("expected", 11)

    # Crossed; in a wrong port; taken out; one too many.
    for port in ('"leaf-01"[5]', '"leaf-01"[6]', '"leaf-02"[4]', '"leaf-02"[2]'):
        unlink(lab, port)
    link(lab, '"leaf-01"[5]', '"host-3"[1]')
    link(lab, '"leaf-01"[6]', '"host-2"[1]')
    link(lab, '"leaf-01"[9]', '"host-5"[1]')
    link(lab, '"leaf-01"[11]', '"spine"[11]')
    answer = wait_for(lab, plan, ["move", "put", "swap", "take_out"])
    # What the expected configuration does not say does not matter: the cable too many.
    assert kinds(check_json(lab, own)) == ["move", "put", "swap"]
    assert answer["right"] == 7, answer
    for item in answer["to_do"]:
        assert all(mentions(item["text"], f'{port["node_name"]}:{port["port"]}')
                   for port in item["ports"][:2]), item
    rows = list(csv.DictReader(io.StringIO(check(lab, plan, "--csv").stdout)))
    assert [row["text"] for row in rows] == [it["text"] for it in answer["to_do"]]
    page = check(lab, plan, "--html").stdout
    assert page.count("checkbox") == 4 and "<script" not in page
    assert all(html.escape(it["text"], quote=False) in page for it in answer["to_do"])
    assert lines_mention(check(lab, plan).stdout,
                         *[f"{i}. {item['kind'].split('_')[0]}"
                           for i, item in enumerate(answer["to_do"], 1)],
                         "7 of 11 4")

    # One after the other: each is the end of that item, and of no other.
    for n, item in enumerate(answer["to_do"], 1):
        carry_out(lab, item)
        wait_for(lab, plan, [it["kind"] for it in answer["to_do"][n:]])
    assert check(lab, plan).returncode == AS_PLANNED


def watched(lab, plan, *words):
    return subprocess.Popen(
        [TRIADCTL, "--socket", lab.state().sms[0].control_socket, "cabling", "check", plan,
         "--watch", "--interval", "1", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def read_until(process, *words):
    """The lines up to the first that has all of these words."""
    lines = []
    for line in process.stdout:
        lines.append(line)
        if mentions(line, " ".join(words)):
            return lines
    raise AssertionError(f"{words} were not said: {lines} {process.stderr.read()}")


def test_watch_ticks_off_what_is_done_and_ends(lab, folder):
    plan = write(folder, "watched.csv", plan_as_ndt())
    unlink(lab, '"leaf-01"[1]')
    unlink(lab, '"leaf-02"[1]')
    link(lab, '"leaf-02"[1]', '"spine"[9]')
    wait_for(lab, plan, ["move", "put"])
    with watched(lab, plan) as process:
        try:
            first = read_until(process, "9 of 11", "to do: 2")
            [move] = [line for line in first if mentions(line, "to do move")]
            unlink(lab, '"leaf-02"[1]')
            link(lab, '"leaf-02"[1]', '"spine"[3]')
            sweep_heavily(lab, lambda: kinds(check_json(lab, plan)) == ["put"])
            done = read_until(process, "done", "move", "spine:3")
            assert done[-1].split("done", 1)[1] == move.split("to do", 1)[1]
            link(lab, '"leaf-01"[1]', '"spine"[1]')
            sweep_heavily(lab, lambda: check(lab, plan).returncode == AS_PLANNED)
            read_until(process, "done", "put", "spine:1")
            read_until(process, "11 of 11")
            assert process.wait(30) == AS_PLANNED
        finally:
            process.kill()


def test_watch_that_is_interrupted_is_not_as_planned(lab, folder):
    """Also while there is no answer."""
    plan = write(folder, "interrupted.csv", plan_as_ndt() + "leaf-01,11,spine,11,Data\r\n")
    with watched(lab, plan) as process:
        try:
            read_until(process, "11 of 12")
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == NOT_KNOWN
        finally:
            process.kill()
    assert check(lab, plan, "--interval", "2").returncode == 2
    assert check(lab, plan, "--watch", "--json").returncode == 2


def test_host_behind_a_disabled_port_is_not_known(lab, folder):
    plan = write(folder, "plan.txt", succeeded(lab.run("ibnetdiscover", node="host-1"))
                 .stdout)
    assert check_json(lab, plan)["format"] == "netdiscover"
    # The route from host-1 over leaf-01 to port 6, where host-3 is.
    lab.run("ibportstate", "-D", "0,1", 6, "disable", node="host-1")

    def is_absent():
        answer = check_json(lab, plan)
        found = [item["kind"] for item in answer["not_known"]]
        return answer if found == ["node_absent"] and not answer["to_do"] else None
    [item] = sweep_heavily(lab, is_absent, what="a node that is not there")["not_known"]
    assert item["planned_name"] == "host-3"
    assert mentions(item["text"], "host-3 leaf-01:6"), item
    lab.run("ibportstate", "-D", "0,1", 6, "enable", node="host-1")
    sweep_heavily(lab, lambda: check(lab, plan).returncode == AS_PLANNED,
                  what="the cable again")


def test_cable_of_another_length_is_to_be_replaced(lab, folder):
    """One is 20 m long, others tell no length."""
    plan = write(folder, "plan.csv", "StartDevice,StartPort,EndDevice,EndPort,Cable Length\n"
                 "leaf-01,5,host-2,1,5m\nleaf-01,7,host-4,1,5m\n")

    def is_replaced():
        answer = check_json(lab, plan)
        return answer if "replace" in kinds(answer) else None
    answer = wait_until(is_replaced, 60, "a cable that is read")
    [item] = [it for it in answer["to_do"] if it["kind"] == "replace"]
    assert mentions(item["text"], "leaf-01:5 host-2:1 20 m planned 5 m"), item
    [item] = answer["not_known"]
    assert (item["kind"], item["cables"]) == ("length_unknown", 1), item
    plan.write_text(plan.read_text().replace("5m", "20m"))
    assert "replace" not in kinds(check_json(lab, plan))


def test_names_of_several_nodes_are_not_guessed(tmp_path):
    fabric = write(tmp_path, "fabric.txt", ALIKE)
    assert run("cabling", "check", fabric, "--fabric", fabric).returncode == AS_PLANNED
    text = ("StartDevice,StartPort,EndDevice,EndPort\n"
            "Quantum-2 Mellanox Technologies,Port 1,node-1,Port 1\n"
            "Quantum-2 Mellanox Technologies,Port 2,node-2 mlx5_0,Port 1\n")
    plan = write(tmp_path, "plan.csv", text)
    process = run("cabling", "check", plan, "--fabric", fabric)
    assert process.returncode == NOT_KNOWN
    assert lines_mention(process.stdout, "Quantum-2 2 GUID", "0")
    # With the last digits of their GUIDs they are known.
    lines = text.splitlines(keepends=True)
    plan = write(tmp_path, "plan.csv", lines[0]
                 + lines[1].replace("Technologies", "Technologies#09a500")
                 + lines[2].replace("Technologies", "Technologies#f111c0")
                 + "Quantum-2 Mellanox Technologies#09a500,63,"
                 "Quantum-2 Mellanox Technologies#f111c0,63\n")
    assert run("cabling", "check", plan, "--fabric", fabric).returncode == AS_PLANNED


def test_mistakes_are_told_with_lines_and_not_known(tmp_path):
    plan = write(tmp_path, "plan.csv", "StartDevice,StartPort,EndDevice,EndPort\n"
                 "leaf,Port 0,spine,1\nleaf,,spine,Port x\n")
    fabric = write(tmp_path, "fabric.txt", ALIKE)
    process = run("cabling", "check", plan, "--fabric", fabric)
    assert (process.returncode, process.stdout) == (NOT_KNOWN, "")
    assert lines_mention(process.stderr, f"{plan}:2:6", f"{plan}:3:6", f"{plan}:3:13")
    assert run("cabling", "check", tmp_path / "none", "--fabric", fabric).returncode == \
        NOT_KNOWN
    assert run("cabling", "check", plan, "--json", "--csv").returncode == 2
    assert run("--socket", tmp_path / "none", "cabling", "check", fabric).returncode == \
        NOT_KNOWN


# --- many faults at once, in a tree ------------------------------------------

class Cables:
    """The cables of a fabric, and what is done to them, there and here."""

    def __init__(self, lab):
        self.lab, self.sim = lab, lab.sim
        self.planned = self.seen()
        self.far = dict(self.planned)

    def would_be_as_planned(self, items):
        """Whether that is so when the items are carried out: on paper alone."""
        paper = copy.copy(self)
        paper.sim, paper.far = (lambda command: None), dict(self.far)
        try:
            for item in items:
                paper.carry_out(item)
        except (AssertionError, KeyError):
            return False
        return paper.far == self.planned

    def seen(self):
        """What the SM has: the far end of each port."""
        far = {}
        for row in json.loads(ask(self.lab, "links", "--json")):
            one, other = [(end["node_name"], end["port"]) for end in row["ends"]]
            if row["state"] == "active":
                far[one], far[other] = other, one
        return far

    def as_plan(self):
        rows = [",".join(f"{node},Port {port}" for node, port in (near, far))
                for near, far in sorted(self.planned.items()) if near < far]
        return "\n".join(["StartDevice,StartPort,EndDevice,EndPort", *rows, ""])

    @staticmethod
    def in_sim(port):
        """By the node's id, of which its description has more."""
        return f'"{port[0].split()[0]}"[{port[1]}]'

    def pull(self, port):
        self.sim(f"Unlink {self.in_sim(port)}")
        del self.far[self.far.pop(port)]

    def plug(self, a, b):
        assert a not in self.far and b not in self.far, (a, b)
        self.sim(f"Link {self.in_sim(a)} {self.in_sim(b)}")
        self.far[a], self.far[b] = b, a

    def move(self, old, new):
        far = self.far[old]
        self.pull(old)
        self.plug(new, far)

    def swap(self, a, b):
        far_a, far_b = self.far[a], self.far[b]
        self.pull(a)
        self.pull(b)
        self.plug(a, far_b)
        self.plug(b, far_a)

    def carry_out(self, item):
        ports = [(port["node_name"], port["port"]) for port in item["ports"]]
        if item["kind"] == "move":
            self.move(ports[0], ports[1])
        elif item["kind"] == "swap":
            self.swap(ports[0], ports[1])
        elif item["kind"] == "put":
            self.plug(*ports)
        elif item["kind"] == "take_out":
            self.pull(ports[0])
        else:
            assert item["kind"] == "ring", item
            held = self.far[ports[0]]
            self.pull(ports[0])
            for near, old in zip(ports, ports[1:]):
                self.move(old, near)
            self.plug(ports[-1], held)


def is_switch(port):
    return port[0].startswith(("leaf", "spine"))


def miscable(cables, dice, radix):
    """One fault with which no host is lost from sight; returns whether it was made."""
    ends = sorted(port for port in cables.far if is_switch(port))
    links = [port for port in ends if is_switch(cables.far[port])]
    free = sorted({(node, port) for node, _ in ends for port in range(1, radix + 1)}
                  - set(ends))
    kind = dice.choice(["move", "swap", "swap", "pull", "plug"])
    if kind == "swap":
        a, b = dice.sample(ends, 2)
        if cables.far[a] == b or (is_switch(cables.far[a]) != is_switch(cables.far[b])):
            return False
        cables.swap(a, b)
    elif kind == "pull":
        cables.pull(dice.choice(links))
    elif kind == "plug":
        cables.plug(*dice.sample(free, 2))
    else:
        old = dice.choice(ends)
        # Where a way of the SM's led through, no host comes: OpenSM takes the next port of that way
        # for one of the host's, and may crash.
        new = [port for port in free if is_switch(cables.far[old]) or port[0].startswith("leaf")]
        cables.move(old, dice.choice(new))
    return True


# TRIAD_MISCABLINGS=FIRST:END has it do others, and more of them.
@pytest.mark.long
@pytest.mark.timeout(3600)
def test_random_miscablings_of_a_tree_end_as_planned(tmp_path):
    n_hosts, radix = 648, 40
    subprocess.run([SRCDIR / "scripts" / "gen-fabric", "fat-tree", "--levels", "2",
                    "--radix", str(radix), "--hosts", str(n_hosts), "-o", tmp_path / "net"],
                   check=True)
    with TriadLab(tmp_path / "net", triad_conf="[perfmgr]\nsweep_period = 60\n",
                  retrain=True) as lab:
        wait_for_sweep(lab)
        cables = Cables(lab)
        path = write(tmp_path, "plan.csv", cables.as_plan())

        def sees_all():
            answer = check_json(lab, path)
            is_it = not answer["not_known"] and cables.would_be_as_planned(answer["to_do"])
            return answer if is_it else None
        for seed in range(*map(int, os.environ.get("TRIAD_MISCABLINGS", "0:2").split(":"))):
            dice = random.Random(seed)
            n_faults = 0
            for _ in range(dice.randint(1, 12)):
                n_faults += miscable(cables, dice, radix)
            answer = sweep_heavily(lab, sees_all, what=f"the faults of {seed}")
            assert len(answer["to_do"]) <= n_faults, (seed, answer)
            for item in answer["to_do"]:
                cables.carry_out(item)
            assert cables.far == cables.planned, seed
            sweep_heavily(lab, lambda: check(lab, path).returncode == AS_PLANNED,
                          what=f"{seed} to be as planned")
