# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What 'demo --qos' tells: what the fabric has, what a policy asks, what OpenSM answers
alone, what Triad answers and why; then the policy's tables, planned, programmed, read
back."""

import re
from dataclasses import dataclass, field

from . import netfile
from .errors import LabError
from .plugin import run_in, triadctl_json, wait
from .story import Story

# SL 6 comes to VL15 at switches: a path that dies there.
OPENSM_CONF = """\
qos TRUE
qos_max_vls 8
qos_sl2vl 0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7
qos_swe_sl2vl 0,1,2,3,4,5,15,7,0,1,2,3,4,5,15,7
"""

TRIAD_CONF = """\
[perfmgr]
enabled = false
[qos]
enabled = true
policy_file = {policy}
"""

POLICY = """\
<?xml version="1.0" encoding="UTF-8"?>
<qos-policy>
 <port-groups>
  <port-group> <name>Storage</name> <use>storage targets</use>
   <port-name>{storage}</port-name>
  </port-group>
 </port-groups>
 <qos-setup>
  <sl2vl-tables>
   <sl2vl-scope> <across>Storage</across>
    <sl2vl-table>0,0,2,0,0,5,15,0,0,0,0,0,0,0,0,0</sl2vl-table>
   </sl2vl-scope>
  </sl2vl-tables>
  <vlarb-tables>
   <vlarb-scope> <across>Storage</across>
    <vlarb-high>5:64,2:32</vlarb-high> <vlarb-low>0:16,2:64</vlarb-low>
   </vlarb-scope>
  </vlarb-tables>
 </qos-setup>
 <qos-levels>
  <qos-level> <name>default</name> <use>everything else</use> <sl>0</sl> </qos-level>
  <qos-level> <name>bulk</name> <use>at most 40 Gb/s and packets of 2048 octets</use>
   <sl>2</sl> <mtu-limit>4</mtu-limit> <rate-limit>16</rate-limit>
  </qos-level>
  <qos-level> <name>latency</name> <use>before all others</use>
   <sl>5</sl> <tclass>7</tclass>
  </qos-level>
  <qos-level> <name>lost</name> <use>an SL that no switch carries</use>
   <sl>6</sl>
  </qos-level>
 </qos-levels>
 <qos-match-rules>
  <qos-match-rule> <use>storage by its service</use>
   <destination>Storage</destination> <service>0x1234</service>
   <match-level>bulk</match-level>
  </qos-match-rule>
  <qos-match-rule> <use>low latency by class of traffic</use>
   <tclass>7-9,11</tclass> <match-level>latency</match-level>
  </qos-match-rule>
  <qos-match-rule> <use>a mistake of somebody's</use>
   <service>0x6666</service> <match-level>lost</match-level>
  </qos-match-rule>
 </qos-match-rules>
</qos-policy>
"""

# Exit statuses of 'qos plan': nothing to change, something.
_PLANNED = (0, 3)

# (what was shown, the command)
SHOWN = (
    ("a policy that is read without being put into force", "triadctl qos check FILE"),
    ("why a request gets the path that it gets",
     "triadctl qos explain --src NODE --dst NODE --service-id 0x1234"),
    ("giving requests back to OpenSM, and taking them again",
     "triadctl qos off; triadctl qos on"),
    ("which tables of which ports would change", "triadctl qos plan"),
    ("the tables that switches have", "triadctl qos tables --node NODE --port N"),
    ("who asks most", "triadctl qos clients"),
)

_FIELD = re.compile(r"^\t\t(\w+)\.+(\S+)$", re.MULTILINE)

# How PathRecord writes them [IBA 15.2.5.16].
_MTU_OCTETS = {1: 256, 2: 512, 3: 1024, 4: 2048, 5: 4096}
_RATE_GBPS = {2: 2.5, 3: 10, 4: 30, 5: 5, 6: 20, 7: 40, 8: 60, 9: 80, 10: 120, 11: 14,
              12: 56, 13: 112, 14: 168, 15: 25, 16: 100, 17: 200, 18: 300}


def ends(net):
    """Names of three hosts: who asks, the storage target, somebody else."""
    hosts = netfile.read(net).of_kind(netfile.HCA)
    if len(hosts) < 4:
        raise LabError(f"{net}: the QoS demo wants 4 hosts, there are {len(hosts)}")
    return [node.description for node in (hosts[1], hosts[-1], hosts[2])]


# --- requests for paths --------------------------------------------------------

@dataclass
class _Request:
    """One that a client sends, and who answered it how."""

    what: str
    client: str
    node: str
    asked: tuple  # saquery's options
    explained: tuple  # those of 'qos explain'
    command: tuple = ()
    stock: dict = field(default_factory=dict)  # OpenSM's answer: {field: text}
    answer: dict = field(default_factory=dict)  # Triad's

    def find_lids(self, lab):
        report = triadctl_json(lab, *self.explain())
        lids = f"{report['source']['lid']}:{report['destination']['lid']}"
        self.command = ("saquery", "PR", "--src-to-dst", lids, *self.asked)

    def explain(self):
        return ("qos", "explain", "--src", self.client, "--dst", self.node,
                *self.explained)

    def ask(self, lab):
        """What the SM answers now."""
        try:
            return dict(_FIELD.findall(run_in(lab, *self.command)))
        except LabError:
            return {}  # saquery's way to say that there is no path


def _requests(client, storage, other):
    return [
        _Request("a request that no rule is about", client, other, (), ()),
        _Request("storage traffic, known by its Service-ID", client, storage,
                 ("--service_id", "0x1234"), ("--service-id", "0x1234")),
        _Request("the same Service-ID, to a host that is no storage target", client,
                 other, ("--service_id", "0x1234"), ("--service-id", "0x1234")),
        _Request("traffic that can't wait, known by its TClass", client, other,
                 ("--tclass", "8"), ("--tclass", "8")),
        _Request("the Service-ID of the rule with the mistake", client, other,
                 ("--service_id", "0x6666"), ("--service-id", "0x6666")),
    ]


def _said(fields):
    if not fields:
        return "no path"
    mtu, rate = int(fields["mtu"], 0) & 63, int(fields["rate"], 0) & 63
    tclass = int(fields["tclass"], 0)
    return (f"SL {int(fields['sl'], 0)}, {_RATE_GBPS.get(rate, '?')} Gb/s, MTU "
            f"{_MTU_OCTETS.get(mtu, '?')}" + (f", TClass {tclass}" if tclass else ""))


def show(lab, net, as_json):
    story = Story(lab, as_json)
    client, storage, other = ends(net)
    _tell_fabric(story, net, client, storage)
    requests = _requests(client, storage, other)
    for request in requests:
        request.find_lids(lab)
    story.say("--- what OpenSM answers alone: it programs SLs and VLs, but has no policy "
              "for paths here")
    story.command("qos", "off")
    for request in requests:
        request.stock = request.ask(lab)
        story.say(f"  {request.what}: {_said(request.stock)}")
    story.say("\n--- what Triad answers by the policy, and why")
    story.command("qos", "on")
    wait(lambda: triadctl_json(lab, "status")["qos"]["state"] == "answering",
         "answers by Triad")
    story.document["answers"] = [_show_answer(story, request) for request in requests]
    story.document["tables"] = _show_tables(story, net)
    story.say("--- who asked most")
    story.command("qos", "clients", key="clients")
    story.end()


def _tell_fabric(story, net, client, storage):
    fabric = netfile.read(net)
    story.say(
        f"--- the fabric: {len(fabric.of_kind(netfile.HCA))} hosts, "
        f"{len(fabric.of_kind(netfile.SWITCH))} switches, 8 VLs at each port;\n"
        f"    {client} is a client, {storage} a storage target\n"
        "--- the policy asks that\n"
        "    - storage traffic (Service-ID 0x1234 to the storage target) takes SL 2, at "
        "most 40 Gb/s\n"
        "      and packets of at most 2048 octets, so that it leaves room for others;\n"
        "    - what can't wait (TClass 7 to 9, and 11) takes SL 5;\n"
        "    - all else takes SL 0;\n"
        "    - Service-ID 0x6666 takes SL 6: a mistake, because this SL comes to VL15 at "
        "switches,\n"
        "      and what does is dropped;\n"
        "    - the switch port of the storage target serves VLs 5 and 2 first, two to one.")


def _show_answer(story, request):
    """Returns what the document has of it."""
    request.answer = fields = request.ask(story.lab)
    report = triadctl_json(story.lab, *request.explain())
    rule = f"rule {report['matched']['rule']}" if report["matched"] else "no rule"
    story.say(f"  {request.what}:\n"
              f"    OpenSM alone: {_said(request.stock)}\n"
              f"    Triad:        {_said(fields)}\n"
              f"    because {rule} of the policy matches: its level is {report['level']}\n")
    # The two of which more can be said.
    if request.explained and (not fields or report["level"] == "bulk"):
        story.program(*request.command, allowed=(0, 1, 2))
        story.command(*request.explain())
    return {"what": request.what, "command": " ".join(request.command),
            "stock_sl": int(request.stock["sl"], 0) if request.stock else None,
            "sl": int(fields["sl"], 0) if fields else None,
            "tclass": int(fields["tclass"], 0) if fields else None,
            "mtu": int(fields["mtu"], 0) & 63 if fields else None,
            "rate": int(fields["rate"], 0) & 63 if fields else None,
            "level": report["level"], "answer": report["answer"]}


# --- tables ------------------------------------------------------------------

def _at_storage(net):
    """The switch and port that the storage target is linked to."""
    fabric = netfile.read(net)
    storage = ends(net)[1]
    for node in fabric.of_kind(netfile.HCA):
        for end in node.links.values():
            if node.description == storage:
                return fabric.nodes[end[0]].description, end[1]
    raise LabError(f"{net}: {storage} has no link")


def _show_tables(story, net):
    lab = story.lab
    switch, port = _at_storage(net)
    words = ("qos", "tables", "--node", switch, "--port", str(port))
    plan = ("qos", "plan", "-n", "4")
    before = triadctl_json(lab, "qos", "plan", allowed=_PLANNED)
    guid = triadctl_json(lab, *words)[0]["node_guid"]
    story.say(f"--- the tables: the policy says how {switch} port {port}, where the "
              "storage target is, sends VLs.\n"
              "    OpenSM reads that section of a policy and ignores it. The port has "
              "OpenSM's tables:")
    _show_port(story, guid, port)
    story.say("--- what Triad would change, and because of which line of the policy")
    story.command(*plan, allowed=_PLANNED)
    story.say("--- Triad may: it puts its tables into OpenSM's next sweep")
    story.command("set", "qos.tables_enabled", "true")
    wait(lambda: triadctl_json(lab, "status")["qos_tables"]["state"] == "in force",
         f"the policy's tables in force; see {lab.sms[0].log}")
    after = triadctl_json(lab, "qos", "plan", allowed=_PLANNED)
    story.say(f"--- {after['changed']} tables are left to change, and the port itself says "
              "what it has now")
    story.command(*words)
    _show_port(story, guid, port)
    return {"before": before["changed"], "after": after["changed"],
            "rows": triadctl_json(lab, *words)}


def _show_port(story, guid, port):
    """What the switch answers, which knows nothing of Triad."""
    for table in ("sl2vl", "vlarb"):
        story.program("smpquery", "-G", table, guid, str(port))
