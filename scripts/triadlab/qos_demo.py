# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What 'demo --qos' shows: a policy, saquery's answers by it, and why they are so; then
its tables, planned, programmed, read back."""

import json
import re
import sys
import time

from . import netfile
from .errors import LabError
from .plugin import run_in, triadctl, triadctl_json

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

_POLL_S = 0.05
_FIELD = re.compile(r"^\t\t(\w+)\.+(\S+)$", re.MULTILINE)


def ends(net):
    """Names of three hosts: who asks, the storage target, somebody else."""
    hosts = netfile.read(net).of_kind(netfile.HCA)
    if len(hosts) < 4:
        raise LabError(f"{net}: the QoS demo wants 4 hosts, there are {len(hosts)}")
    return [node.description for node in (hosts[1], hosts[-1], hosts[2])]


def _requests(client, storage, other):
    """(what it shows, destination, words for saquery, words for 'qos explain')."""
    return [
        ("no rule", other, [], []),
        ("by Service-ID, to the storage target", storage,
         ["--service_id", "0x1234"], ["--service-id", "0x1234"]),
        ("the same Service-ID to somebody who is not in the group", other,
         ["--service_id", "0x1234"], ["--service-id", "0x1234"]),
        ("by TClass", other, ["--tclass", "8"], ["--tclass", "8"]),
        ("to an SL that comes to VL15", other,
         ["--service_id", "0x6666"], ["--service-id", "0x6666"]),
    ]


def _lid(lab, client, node):
    report = triadctl_json(lab, "qos", "explain", "--src", client, "--dst", node)
    return report["destination"]["lid"], report["source"]["lid"]


def _ask(lab, client, node, words):
    dlid, slid = _lid(lab, client, node)
    command = ["saquery", "PR", "--src-to-dst", f"{slid}:{dlid}", *words]
    try:
        fields = dict(_FIELD.findall(run_in(lab, *command)))
    except LabError:
        fields = {}  # saquery's way to say that there is no path
    return " ".join(command), fields


def show(lab, net, as_json):
    client, storage, other = ends(net)
    found = []
    for what, node, asked, explained in _requests(client, storage, other):
        command, fields = _ask(lab, client, node, asked)
        words = ["qos", "explain", "--src", client, "--dst", node, *explained]
        report = triadctl_json(lab, *words)
        found.append({"what": what, "command": command,
                      "sl": int(fields["sl"], 0) if fields else None,
                      "tclass": int(fields["tclass"], 0) if fields else None,
                      "mtu": int(fields["mtu"], 0) & 63 if fields else None,
                      "rate": int(fields["rate"], 0) & 63 if fields else None,
                      "level": report["level"], "answer": report["answer"]})
        if not as_json:
            _print(what, command, fields)
            print(triadctl(lab, *words))
    tables = _show_tables(lab, net, as_json)
    if as_json:
        print(json.dumps({"answers": found, "tables": tables}))
    else:
        print("Who asked most:\n" + triadctl(lab, "qos", "clients"))
    sys.stdout.flush()


# --- tables ------------------------------------------------------------------

def _wait_for_tables(lab):
    deadline = time.monotonic() + 60
    while triadctl_json(lab, "status")["qos_tables"]["state"] != "in force":
        if time.monotonic() > deadline:
            raise LabError("the policy's tables are not in force; see "
                           f"{lab.sms[0].log}")
        time.sleep(_POLL_S)


def _at_storage(net):
    """The switch and port that the storage target is linked to."""
    fabric = netfile.read(net)
    storage = ends(net)[1]
    for node in fabric.of_kind(netfile.HCA):
        for end in node.links.values():
            if node.description == storage:
                return fabric.nodes[end[0]].description, end[1]
    raise LabError(f"{net}: {storage} has no link")


def _show_tables(lab, net, as_json):
    switch, port = _at_storage(net)
    before = triadctl_json(lab, "qos", "plan", allowed=(0, 3))
    say = (lambda *_: None) if as_json else print
    say("--- the policy's tables: what would change\n$ triadctl qos plan -n 4")
    say(triadctl(lab, "qos", "plan", "-n", "4", allowed=(0, 3)))
    say("$ triadctl set qos.tables_enabled true")
    triadctl(lab, "set", "qos.tables_enabled", "true")
    _wait_for_tables(lab)
    after = triadctl_json(lab, "qos", "plan", allowed=(0, 3))
    words = ("qos", "tables", "--node", switch, "--port", str(port))
    rows = triadctl_json(lab, *words)
    say("and now\n$ triadctl qos plan -n 4")
    say(triadctl(lab, "qos", "plan", "-n", "4", allowed=(0, 3)))
    say(f"--- read back from the port\n$ triadctl {' '.join(words)}")
    say(triadctl(lab, *words))
    for table in ("sl2vl", "vlarb"):
        command = ("smpquery", "-G", table, rows[0]["node_guid"], str(port))
        say(f"$ {' '.join(command)}\n{run_in(lab, *command)}")
    return {"before": before["changed"], "after": after["changed"], "rows": rows}


def _print(what, command, fields):
    print(f"--- {what}\n$ {command}")
    if not fields:
        print("  no path")
    for name in ("sl", "tclass", "mtu", "rate", "pkt_life"):
        if name in fields:
            print(f"  {name:<9} {fields[name]}")
    print("$ triadctl qos explain ...")
