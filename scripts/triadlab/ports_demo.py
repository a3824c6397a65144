# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What 'demo --ports' shows: a cable in the wrong place is found, planned, disabled with
its reason, and released when it is mended; a port under test is held back, then admitted."""

from pathlib import Path

from . import netfile, simulator
from .errors import LabError
from .plugin import triadctl, triadctl_json, wait
from .story import Story

TRIAD_CONF = """\
[perfmgr]
enabled = false
[election]
enabled = true
cluster = none
state_dir = {folder}/state
[port]
enabled = true
mode = observe
expected_file = {folder}/expected.csv
test_time = 4
"""

# The port manager looks at its file once a second, and acts after sweeps.
OPENSM_CONF = "sweep_interval 1\n"

_TO_DO = 3

# (what was shown, the command)
SHOWN = (
    ("what ports should be, and are", "triadctl port list"),
    ("what would be done, and why", "triadctl port plan"),
    ("letting the plan be done", "triadctl set port.mode enforce"),
    ("ports that failed", "triadctl port list --failed"),
    ("a mended port enabled again", "triadctl port release NODE PORT"),
    ("what was done, and when", "triadctl port history"),
)


class _Place:
    """The ports that the demo plays with: two of one leaf, with a host each."""

    def __init__(self, lab, net):
        fabric = netfile.read(net)
        self.lab = lab
        self.console = simulator.Console(lab, 10)
        for node in fabric.of_kind(netfile.SWITCH):
            hosts = [(port, far[0]) for port, far in sorted(node.links.items())
                     if fabric.nodes[far[0]].kind != netfile.SWITCH and
                     far[0] != lab.sms[0].node]
            if len(hosts) > 1:
                self.leaf, self.hosts = node.node_id, hosts[:2]
                return
        raise LabError("the fabric has no switch with two hosts beside the SM's")

    def type(self, *commands):
        for command, answer, is_refused in self.console.ask(list(commands)):
            if is_refused:
                raise LabError(f"ibsim refused '{command}': {answer}")

    def row(self, port):
        return triadctl_json(self.lab, "port", "list", "--node", self.leaf, "--port",
                             str(port))["ports"][0]

    def wait_for(self, port, found):
        return wait(lambda: self.row(port)["found"] == found,
                    f"{self.leaf} port {port} {found}")

    def wait_enabled(self, port):
        wait(lambda: self.row(port)["phys_state"] != "disabled",
             f"{self.leaf} port {port} enabled")

    def link(self, port, host):
        self.type(f'Link "{self.leaf}"[{port}] "{host}"[1]')

    def unlink(self, port):
        self.type(f'Unlink "{self.leaf}"[{port}]')

    def relink(self, port):
        """ibsim's links do not train again by themselves."""
        self.type(f'Unlink "{self.leaf}"[{port}]', f'ReLink "{self.leaf}"[{port}]')


def _load(lab, folder, generation, change=None):
    """What there is becomes what is expected, but for what 'change' makes of a line."""
    lines = triadctl(lab, "port", "snapshot").splitlines()[1:]
    if change:
        lines = [change(line) for line in lines]
    path = Path(folder, "expected.csv")
    path.with_suffix(".new").write_text(
        "\n".join([f"generation {generation}", *lines, ""]), encoding="utf-8")
    path.with_suffix(".new").rename(path)
    wait(lambda: triadctl_json(lab, "status")["ports"]["generation"] == generation,
         f"generation {generation} in force")


def show(lab, net, folder, as_json):
    shown = Story(lab, as_json)
    place = _Place(lab, net)
    wait(lambda: triadctl_json(lab, "status")["topology"]["nodes"], "the fabric")
    shown.say("--- the fabric as it is becomes what is expected: triadctl port snapshot "
              f"> {folder}/expected.csv")
    _load(lab, folder, 1)
    shown.command("port", "list", "--node", place.leaf, key="expected")
    _show_miswire(shown, place)
    _show_test(shown, place, folder)
    shown.command("port", "history", key="history")
    shown.end()


def _show_miswire(shown, place):
    (port, host), (other_port, other_host) = place.hosts
    shown.say(f"--- two cables are swapped: {host} and {other_host}, at {place.leaf} ports "
              f"{port} and {other_port}; mode is observe")
    place.unlink(port)
    place.unlink(other_port)
    place.link(port, other_host)
    place.link(other_port, host)
    wait(lambda: triadctl_json(place.lab, "status")["ports"]["disable"] == 2,
         "both in the plan")
    shown.command("port", "plan", key="plan", allowed=(_TO_DO,))
    shown.command("set", "port.mode", "enforce")
    for number in (port, other_port):
        place.wait_for(number, "failed")
    shown.command("port", "list", "--failed", key="failed")
    shown.say("--- the cables are put right, and the ports released")
    place.unlink(port)
    place.unlink(other_port)
    place.link(port, host)
    place.link(other_port, other_host)
    for number in (port, other_port):
        shown.command("port", "release", place.leaf, str(number))
        place.wait_enabled(number)
    for number in (port, other_port):
        place.relink(number)
        place.wait_for(number, "active")
    shown.command("port", "list", "--node", place.leaf, key="released")


def _show_test(shown, place, folder):
    port, host = place.hosts[0]
    guid = triadctl_json(place.lab, "port", "list", "--node", place.leaf, "--port",
                         str(port))["ports"][0]["node_guid"]
    shown.say(f"--- {place.leaf} port {port} is expected to be tested: its link is taken "
              "down, and held back when it comes up again")

    def change(line):
        words = line.split(",")
        if words[:2] == [guid, str(port)]:
            words[2] = "test"
        return ",".join(words)

    _load(place.lab, folder, 2, change)
    wait(lambda: any(one["deed"] == "test" for one in
         triadctl_json(place.lab, "port", "history")), "the test")
    place.relink(port)
    shown.command_when(lambda answer: answer["ports"][0]["held"], "the port held",
                       "port", "list", "--node", place.leaf, "--port", str(port),
                       key="held")
    wait(lambda: place.row(port)["admitted"], "the port admitted")
    place.wait_for(port, "active")
    shown.command("port", "list", "--node", place.leaf, "--port", str(port),
                  key="admitted")
