# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A host of its own for each SM, with or without Corosync.

A host is a network namespace with one interface, eth0.  The other end of its wire is a
port of a bridge, br0, in one more namespace of the lab; nothing of it can be seen
outside, so that addresses are the same in all labs.  With Corosync a host also has
folders /run, /dev/shm and /var/lib/corosync of its own, and a name: a mount and a UTS
namespace, which live as long as a process that does nothing else.

The fabric is the same for all: programs reach ibsim, which is outside, through sockets
in its own network namespace (TRIAD_LAB_NETNS), whatever happens to the network."""

import os
import re
import secrets
import subprocess
from pathlib import Path

from . import environment, netfile, opensm
from .errors import LabError, UsageError
from .state import Host

NONE, COROSYNC, PEERS, FABRIC = KINDS = ("none", "corosync", "peers", "fabric")

_PORT = 7070
_FIRST_GUID, _GUID_STRIDE = 0x0200000300000010, 0x10
_KEY_OCTETS = 32
_KEY_FILE = "peers.key"

# What a host with Corosync has of its own.
_OWN_FOLDERS = ("/run", "/dev/shm", "/var/lib/corosync")

# Hosts of a lab share the machine's CPUs with all that runs there; as Corosync's token
# is short, it would take a busy machine for one that died.
_NICE = "-15"

_COROSYNC_CONF = """\
totem {{
	version: 2
	cluster_name: {name}
	transport: knet
	crypto_cipher: none
	crypto_hash: none
	token: 300
	token_coefficient: 0
	consensus: 360
	interface {{
		linknumber: 0
		knet_transport: udp
		knet_ping_interval: 75
		knet_ping_timeout: 400
	}}
}}
system {{
	sched_rr: no
	move_to_root_cgroup: no
}}
quorum {{
	provider: corosync_votequorum
}}
logging {{
	to_stderr: no
	to_syslog: no
	to_logfile: yes
	logfile: {log}
	timestamp: hires
}}
nodelist {{
{nodes}}}
"""


def check(lab_folder, kind, umad2sim):
    """Before anything is started."""
    if kind == NONE:
        return
    if umad2sim:
        raise UsageError("--umad2sim finds ibsim only where there are no hosts; leave "
                         "--cluster away")
    if os.geteuid():
        raise LabError("--cluster makes network namespaces, which only root may")
    environment.require_programs("ip", "nsenter", "unshare")
    if kind == COROSYNC:
        environment.require_programs("corosync", "corosync-quorumtool")
        for own in _OWN_FOLDERS:
            if Path(lab_folder).resolve().is_relative_to(own):
                raise UsageError(f"--dir {lab_folder}: with Corosync each host has its "
                                 f"own {own}; take another folder")


def make_hosts(lab, n):
    """What lab.json says of them; make_network() makes them."""
    return [Host(index=i, namespace=f"{_prefix(lab)}{i}", address=f"10.77.0.{i + 1}",
                 folder=str(lab.path(f"sm-{i}"))) for i in range(n)]


def host_of(lab, index):
    """The host of an SM; None in a lab without a cluster."""
    return lab.hosts[index] if lab.hosts else None


# --- the network -------------------------------------------------------------

def _prefix(lab):
    return f"triad-{lab.token}-"


def network(lab):
    """The namespace with the bridges."""
    return f"{_prefix(lab)}net"


def ip(*words):
    result = subprocess.run(["ip", *map(str, words)], capture_output=True, text=True,
                            stdin=subprocess.DEVNULL, check=False)
    if result.returncode:
        raise LabError(f"ip {' '.join(map(str, words))}: {result.stderr.strip()}")
    return result.stdout


def make_network(lab):
    ip("netns", "add", network(lab))
    add_bridge(lab, 0)
    for host in lab.hosts:
        ip("netns", "add", host.namespace)
        ip("-n", network(lab), "link", "add", port(host), "type", "veth",
           "peer", "name", "eth0", "netns", host.namespace)
        ip("-n", network(lab), "link", "set", port(host), "master", "br0", "up")
        ip("-n", host.namespace, "link", "set", "lo", "up")
        ip("-n", host.namespace, "address", "add", f"{host.address}/24", "dev", "eth0")
        ip("-n", host.namespace, "link", "set", "eth0", "up")


def port(host):
    """The bridge's end of its wire."""
    return f"host{host.index}"


def add_bridge(lab, number):
    ip("-n", network(lab), "link", "add", f"br{number}", "type", "bridge")
    ip("-n", network(lab), "link", "set", f"br{number}", "up")


def remove_network(lab):
    """Removes what there is, also of a network that was never finished."""
    if lab.cluster == NONE:
        return
    for line in ip("netns", "list").splitlines():
        name = line.split()[0]
        if name.startswith(_prefix(lab)):
            ip("netns", "delete", name)


# --- hosts -------------------------------------------------------------------

def entrance(host, folder=None):
    """The command that leads into a host, and there to the folder; it becomes the
    command that follows it, with the same pid."""
    if host is None:
        return []
    if host.holder is None:
        return ["nsenter", f"--net=/run/netns/{host.namespace}"]
    return ["nsenter", "--target", str(host.holder.pid), "--mount", "--net", "--uts",
            *([f"--wdns={folder}"] if folder else [])]


def start_holder(host, variables):
    """Starts what keeps the namespaces of a host with Corosync."""
    mounts = [f"mount -t tmpfs tmpfs {folder}" for folder in _OWN_FOLDERS]
    steps = [*mounts, f"hostname host{host.index}", f"echo ready >{_ready_file(host)}",
             "exec sleep infinity"]
    with open(f"{host.folder}/host.err", "wb") as messages:
        return subprocess.Popen(
            ["nsenter", f"--net=/run/netns/{host.namespace}", "unshare", "--mount",
             "--uts", "--propagation", "private", "sh", "-c", " && ".join(steps)],
            env=variables, cwd="/", stdin=subprocess.DEVNULL, stdout=messages,
            stderr=subprocess.STDOUT, start_new_session=True)


def _ready_file(host):
    return f"{host.folder}/host.ready"


def is_holder_ready(host):
    try:
        return Path(_ready_file(host)).read_text(encoding="ascii") == "ready\n"
    except FileNotFoundError:
        return False


# --- Corosync ----------------------------------------------------------------

def write_corosync_conf(lab, host):
    nodes = "".join(f"\tnode {{\n\t\tring0_addr: {it.address}\n"
                    f"\t\tname: host{it.index}\n\t\tnodeid: {it.index + 1}\n\t}}\n"
                    for it in lab.hosts)
    Path(host.folder, "corosync.conf").write_text(
        _COROSYNC_CONF.format(name=f"triad-{lab.token}", nodes=nodes,
                              log=f"{host.folder}/corosync.log"), encoding="ascii")


def start_corosync(host, variables):
    with open(f"{host.folder}/corosync.out", "ab") as output:
        return subprocess.Popen(
            [*entrance(host, "/"), "nice", "-n", _NICE, "corosync", "-f", "-c",
             f"{host.folder}/corosync.conf"],
            env=variables, cwd="/", stdin=subprocess.DEVNULL, stdout=output,
            stderr=subprocess.STDOUT, start_new_session=True)


def quorum(host, timeout_s=2):
    """Whether the host's partition has a quorum and the number of its members, as its
    Corosync says; None when it says nothing."""
    try:
        shown = subprocess.run(
            [*entrance(host, "/"), "corosync-quorumtool", "-s"], capture_output=True,
            text=True, timeout=timeout_s, stdin=subprocess.DEVNULL, check=False).stdout
    except subprocess.TimeoutExpired:
        return None
    quorate = re.search(r"^Quorate:\s+(\w+)", shown, re.MULTILINE)
    members = re.search(r"^Nodes:\s+(\d+)", shown, re.MULTILINE)
    return (quorate[1] == "Yes", int(members[1])) if quorate and members else None


def is_whole(lab):
    """Whether all hosts are members of one cluster."""
    return all(quorum(host) == (True, len(lab.hosts)) for host in lab.hosts)


# --- what the plugin is told -------------------------------------------------

def make_key(lab):
    """The secret that all SMs share."""
    fd = os.open(lab.path(_KEY_FILE), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(fd, "wb") as stream:
        stream.write(secrets.token_bytes(_KEY_OCTETS))


def give_guids(lab, sm_nodes):
    """SMs that elect over the fabric know each other's GUIDs before it is there: so those
    whose choice the file leaves to ibsim are chosen here."""
    if lab.cluster != FABRIC:
        return
    missing = {node.node_id: node for node in sm_nodes if node.guid is None}
    for index, node in enumerate(missing.values()):
        node.guid = _FIRST_GUID + index * _GUID_STRIDE
    net = Path(lab.net)
    net.write_text(netfile.add_guids(
        net.read_text(encoding="utf-8"),
        {node_id: node.guid for node_id, node in missing.items()}), encoding="utf-8")


def add_election(lab, host, sm_nodes, text):
    """Adds to a triad.conf what the election of the SMs on these nodes needs, but for what
    the user's has."""
    if host is None:
        return text
    state_folder = Path(host.folder, "state")
    state_folder.mkdir(exist_ok=True)
    keys = {"enabled": "yes", "cluster": lab.cluster, "state_dir": state_folder}
    if lab.cluster == PEERS:
        keys["listen"] = f"{host.address}:{_PORT}"
        keys["peers"] = "; ".join(f"{it.address}:{_PORT}" for it in lab.hosts)
    if lab.cluster == FABRIC:
        keys["peers"] = "; ".join(f"{netfile.port_guid(node):#018x}" for node in sm_nodes)
    if lab.cluster in (PEERS, FABRIC):
        keys["key_file"] = lab.path(_KEY_FILE)
    return opensm.add_missing_keys(text, "election", keys)
