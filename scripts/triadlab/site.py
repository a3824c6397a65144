# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What a lab takes of a site: which LIDs, which of its opensm.conf, and the files that that
names.

Model: an SM of a lab routes as the site's does if it has the same fabric, LIDs and options of
routing, partitions and QoS.  Paths, keys, priorities and hooks are the site's own and stay
there.  TAKEN and FILES are all that is taken; what else differs from OpenSM's defaults is
named, never its value.

ibsim gives a host's port the GUID of its node, plus the port's number.  Files name the
site's GUIDs of ports, which are replaced."""

from __future__ import annotations  # 'int | None' before Python 3.10

import os
import re
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from . import netfile, opensm

TAKEN = frozenset("""
    subnet_prefix lmc lmc_esp0 sm_sl packet_life_time vl_stall_count leaf_vl_stall_count
    head_of_queue_lifetime leaf_head_of_queue_lifetime max_op_vls use_mfttop
    no_partition_enforcement part_enforce allow_both_pkeys keep_pkey_indexes
    port_profile_switch_nodes routing_engine avoid_throttled_links connect_roots
    quasi_ftree_indexing max_reverse_hops do_mesh_analysis lash_start_vl nue_max_num_vls
    nue_include_switches port_shifting scatter_ports guid_routing_order_no_scatter
    enable_quirks disable_multicast qos suppress_sl2vl_mad_status_errors use_optimized_slvl
    use_original_extended_sa_rates_only consolidate_ipv6_snm_req""".split())
_TAKEN_PREFIXES = ("qos_max_vls", "qos_high_limit", "qos_vlarb", "qos_sl2vl", "qos_ca_",
                   "qos_sw0_", "qos_swe_", "qos_rtr_")
# By the option, the name that its file has in the SM's folder, and in a bundle.
FILES = {
    "partition_config_file": "partitions.conf", "qos_policy_file": "qos-policy.conf",
    "torus_config": "torus-2QoS.conf", "root_guid_file": "root-guids",
    "cn_guid_file": "cn-guids", "io_guid_file": "io-guids", "ids_guid_file": "ids-guids",
    "guid_routing_order_file": "guid-routing-order", "hop_weights_file": "hop-weights",
    "port_search_ordering_file": "port-search-ordering",
    "port_prof_ignore_file": "port-prof-ignore",
}
# Where OpenSM finds them when opensm.conf does not say.
_DEFAULT_NAMES = {"partition_config_file": "partitions.conf",
                  "qos_policy_file": "qos-policy.conf", "torus_config": "torus-2QoS.conf"}
_UNSET = ("", "(null)")
# What each site has of its own, and nobody expects in a copy.
_OF_NO_INTEREST = re.compile(
    r"guid$|log_|.*_log|accum_log|force_log|dump_files|daemon|console|sm_priority|event_plugin|"
    r"node_name_map|max_wire|.*_dir$|per_module|prefix_routes|honor_guid2lid|sweep_|perfmgr|fsync_|sa_db_")


@dataclass
class Site:
    """Options of opensm.conf by their names, the texts of files of an SM's folder by theirs,
    options that name such a file, and what people are told."""

    keys: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    file_keys: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def set_file(self, key, text):
        self.files[FILES[key]] = text
        self.file_keys[key] = FILES[key]


def _is_taken(key):
    return key in TAKEN or key.startswith(_TAKEN_PREFIXES)


def defaults():
    """OpenSM's own values of options; {} where it doesn't tell them."""
    with tempfile.TemporaryDirectory(prefix="triad-lab-") as folder:
        path = Path(folder, "opensm.conf")
        try:
            subprocess.run(["opensm", "-c", str(path)], cwd=folder, check=False, timeout=30,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL,
                           env={**os.environ, "PATH": f"{os.environ.get('PATH', '')}:/usr/sbin",
                                "OSM_TMP_DIR": folder, "OSM_CACHE_DIR": folder})
            return opensm.conf_keys(path.read_text(encoding="utf-8"))
        except (OSError, subprocess.SubprocessError):
            return {}


def take(text, find_file, stock):
    """A Site of the text of an opensm.conf.  find_file(key, path) gives the text of a file that
    the option 'key' names, or None; 'stock' are OpenSM's defaults."""
    site, keys = Site(), opensm.conf_keys(text)
    lacking, left = [], []
    for key, value in keys.items():
        if key in FILES:
            continue
        if _is_taken(key):
            # A key without a value is one that OpenSM decides on.
            if value not in _UNSET and value != stock.get(key):
                site.keys[key] = value
        elif value not in _UNSET and value != stock.get(key, value) \
                and not _OF_NO_INTEREST.match(key):
            left.append(key)
    for key in FILES:
        path = keys.get(key, "")
        path = _DEFAULT_NAMES.get(key, "") if path in _UNSET else path
        found = find_file(key, path) if path else None
        if found is not None:
            site.set_file(key, found)
        elif path and key not in _DEFAULT_NAMES:
            lacking.append(f"{key} ({path})")
    if lacking:
        site.notes.append("files that opensm.conf names and a copy can't have: "
                          + ", ".join(lacking))
    if left:
        site.notes.append("options of opensm.conf that stay at the site: " + ", ".join(left))
    return site


# --- LIDs ------------------------------------------------------------------

def guid2lid(fabric):
    """The text of OpenSM's file of LIDs, and what of the fabric's LIDs it can't have."""
    lines, taken, doubts = [], {}, 0
    for node in fabric.nodes.values():
        for port, (lid, lmc) in node.lids.items():
            if any(taken.setdefault(lid + i, node) is not node for i in range(1 << lmc)):
                doubts += 1
                continue
            lines.append(f"0x{netfile.port_guid(node, port):016x} 0x{lid:04x} "
                         f"0x{lid + (1 << lmc) - 1:04x}\n\n")
    return "".join(lines), doubts


# --- multicast groups --------------------------------------------------------

# What all ports can do: 256 octets, 2.5 Gbit/s.
_GROUP = """\
MC Group 0x{mlid:04x} : mgid={mgid} port_gid=0x{prefix:016x}:0x{guid:016x} \
qkey=0x00000b1b mlid=0x{mlid:04x} mtu=0x81 tclass=0x00 pkey=0xffff rate=0x82 pkt_life=0x80 \
sl_flow_hop=0x00000000 scope_state=0x21 proxy_join=0x0
"""
_MEMBER = "mcm_port: port_gid=0x{prefix:016x}:0x{guid:016x} scope_state=0x21 proxy_join=0x0\n"
DEFAULT_PREFIX = 0xfe80000000000000
# IPoIB's broadcast group has the first MLID, and is there already.
_BROADCAST = {0xc000: "0xff12401bffff0000:0x00000000ffffffff"}


def groups(fabric, multicast, prefix=DEFAULT_PREFIX):
    """The text of OpenSM's file of the SA's records, with a group for each multicast LID.  Its
    members are the ports to which switches forward its packets; what else the site knows of a
    group is made up."""
    members = {}
    by_guid = {node.guid: node for node in fabric.nodes.values()}
    for guid, table in multicast.items():
        node = by_guid.get(guid)
        for mlid, ports in table.items() if node else ():
            ends = [(node, 0) if port == 0 else _end(fabric, node, port) for port in ports]
            members.setdefault(mlid, set()).update(
                netfile.port_guid(*end) for end in ends if end)
    lines = []
    for mlid, guids in sorted(members.items()):
        if guids:
            mgid = _BROADCAST.get(mlid, f"0xff15000000000000:0x{mlid:016x}")
            lines.append(_GROUP.format(mlid=mlid, mgid=mgid, prefix=prefix, guid=min(guids)))
            lines += [_MEMBER.format(prefix=prefix, guid=guid) for guid in sorted(guids)]
    return "".join(lines)


def _end(fabric, node, port):
    """The host's port at the far end, if it is one."""
    peer, peer_port = node.links.get(port, (None, 0))
    far = fabric.nodes.get(peer)
    return (far, peer_port) if far and far.kind != netfile.SWITCH else None
