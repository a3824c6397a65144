# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A site's fabric and what is needed to have it a second time in a lab: from a bundle, from
ibdiagnet2's files, from what ibnetdiscover printed, or from a Triad that runs, which is only
read; and whether the second one's tables are those of the first."""

from __future__ import annotations  # 'int | None' before Python 3.10

import contextlib
import io
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from . import bundle, changes, forwarding, ibdiagnet, netfile, nodes, opensm, plugin, run, \
    site
from .errors import LabError

_CONF_FOLDERS = ("/etc/opensm", "/etc/rdma", "/usr/local/etc/opensm")
_WAIT_S = 600
_CONNECT_S = 5
_LIDS = "cache/guid2lid"
_RECORDS = "sa-records"


@dataclass
class Replica:
    """'unicast' and 'multicast' are the site's tables, None where they are not known; 'sm' is
    the id of its SM's node; 'notes' say what a copy can't have."""

    name: str
    fabric: netfile.Fabric
    site: site.Site = field(default_factory=site.Site)
    unicast: dict | None = None
    multicast: dict | None = None
    triad_conf: str | None = None
    sm: str | None = None
    notes: list[str] = field(default_factory=list)


def from_path(path, opensm_conf=None):
    """Of a bundle, packed or not, of a folder of ibdiagnet's, or of a file of a fabric."""
    with open(path, "rb") if not os.path.isdir(path) else io.BytesIO() as stream:
        is_archive = os.path.isdir(path) or stream.read(4) == b"\x28\xb5\x2f\xfd" \
            or b"ustar" in stream.read(512)
    if is_archive:
        return _of_bundle(bundle.read(path), opensm_conf)
    return _finish(Replica(str(path), netfile.read(path)), opensm_conf, _read_named)


def from_live(triadctl, opensm_conf=None):
    """Of the SM that this triadctl asks."""
    def ask(read, *words):
        return _ask([triadctl, *words], read, "the SM that runs can't be asked")

    files = {bundle.DB_CSV: ask(bytes_of, "topology", "--db-csv"),
             "answers/status.json": ask(bytes_of, "status", "--json")}
    found = bundle.Bundle("the SM that runs", files, {
        bundle.FDBS: ask(forwarding.read_unicast, "topology", "--fdbs"),
        bundle.MCFDBS: ask(forwarding.read_multicast, "topology", "--mcfdbs")})
    notes = []
    if opensm_conf is None:
        opensm_conf, notes = _conf_of_sm()
    if opensm_conf is not None:
        replica = _of_bundle(found, opensm_conf)
        replica.notes += notes
        return replica
    engine = json.loads(ask(bytes_of, "routes", "-n", "1", "--json"))["engine"]
    files["conf/opensm.conf"] = f"routing_engine {engine}\n".encode()
    replica = _of_bundle(found, None)
    replica.notes.append("opensm.conf can't be read here: of its options only the routing engine "
                         f"is known, {engine}")
    return replica


def _conf_of_sm():
    """The file with the options of the SM that runs, or None, and notes about that."""
    words = _command_of(os.environ.get("TRIAD_SOCKET"))
    named = words and option_of(words, "-F", "--config")
    if named and not os.path.isabs(named):
        words = None
    elif named:
        return (named if os.access(named, os.R_OK) else None), []
    path = next((path for folder in _CONF_FOLDERS
                 if os.access(path := f"{folder}/opensm.conf", os.R_OK)), None)
    return path, [] if words or path is None else [
        f"options are those of {path}: whether the SM has another file is not known here, "
        "--opensm-conf names it"]


def _command_of(path):
    """The folder of the process that listens at a control socket, "" where only root may know
    it, and its command line; None: it is not known, or files are others there."""
    try:
        with socket.socket(socket.AF_UNIX) as control:
            control.settimeout(_CONNECT_S)
            control.connect(path)
            pid, _, _ = struct.unpack("3i", control.getsockopt(
                socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[:-1]
    except (OSError, TypeError):
        return None
    folder = ""
    with contextlib.suppress(PermissionError, FileNotFoundError):
        if not os.path.samefile(f"/proc/{pid}/root", "/"):
            return None
        folder = os.readlink(f"/proc/{pid}/cwd")
    return [folder, *map(os.fsdecode, words)] if words else None


def option_of(words, letter, name):
    """The file behind an option of a command line, whose first word is its folder; None where
    it has none."""
    found, folder = None, words[0]
    for word, following in zip(words[2:], [*words[3:], None]):
        if word in (letter, name):
            found = following or found
        elif word.startswith(f"{name}="):
            found = word[len(name) + 1:]
        elif word.startswith(letter) and not word.startswith("--"):
            found = word[len(letter):]
    return found and os.path.join(folder, found)


def bytes_of(stream):
    return stream.read()


def _ask(command, read, trouble, **options):
    """What read(stream) makes of a command's output; LabError where it fails."""
    with tempfile.TemporaryFile() as errors, subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
            **options) as process:
        found = read(process.stdout)
        process.wait()
        errors.seek(0)
        said = errors.read().decode("utf-8", "replace").strip()
    if process.returncode:
        raise LabError(f"{trouble}: {' '.join(command[1:])}: {said}")
    return found


def find_triadctl():
    """The one that called this program, or the one in PATH."""
    found = os.environ.get("TRIADCTL") or shutil.which("triadctl")
    if not found:
        raise LabError("triadctl is not there to ask the SM: install it, or name a fabric with "
                       "--bundle or --net")
    return found


def _of_bundle(found, opensm_conf):
    fabric = ibdiagnet.parse(found.lines(bundle.DB_CSV))
    replica = Replica(found.name, fabric, triad_conf=found.conf("triad.conf"))
    replica.unicast = found.tables.get(bundle.FDBS) or None
    replica.multicast = found.tables.get(bundle.MCFDBS)
    replica.sm = _sm_of(found, fabric)
    if opensm_conf is None and found.conf("opensm.conf") is not None:
        return _finish(replica, found.conf("opensm.conf"),
                       lambda key, path: found.conf(site.FILES[key])
                       or found.conf(os.path.basename(path)), is_text=True)
    return _finish(replica, opensm_conf, _read_named)


def _read_conf(path):
    for folder in ("", *_CONF_FOLDERS):
        try:
            return Path(folder, path).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
    return None


def _read_named(_key, path):
    return _read_conf(path)


def _sm_of(found, fabric):
    sm = (found.answer("status") or {}).get("sm")
    guid = sm.get("port_guid") if isinstance(sm, dict) else None
    node = isinstance(guid, str) and changes.Names(fabric).find_all(guid)
    usable = node and node[0] in nodes.usable_hosts(fabric)
    return node[0].node_id if usable else None


def _prefix_of(of_site):
    text = of_site.keys.get("subnet_prefix", "0")
    try:
        prefix = int(text, 0)
    except ValueError:
        prefix = -1
    if not 0 <= prefix < 1 << 64:
        raise LabError(f"opensm.conf: subnet_prefix {text} is no number of 64 bits")
    return prefix or site.DEFAULT_PREFIX


def _finish(replica, opensm_conf, find_file, is_text=False):
    fabric = replica.fabric
    # It is written for ibsim anew, with what is changed in it.
    fabric.is_text_of_ibsim = False
    fabric.complete()
    replica.notes += fabric.notes
    if opensm_conf is not None:
        text = opensm_conf if is_text else _read_conf(opensm_conf)
        if text is None:
            raise LabError(f"{opensm_conf} can't be read")
        replica.site = site.take(text, find_file, site.defaults())
        guids = netfile.port_guids(fabric)
        for name, content in replica.site.files.items():
            replica.site.files[name] = netfile.translate(content, guids)
        replica.notes += replica.site.notes
    else:
        replica.notes.append("no opensm.conf: the routing engine is OpenSM's own choice, unless "
                             "one is named")
    if replica.unicast is not None:
        lacking = sum(1 for node in fabric.of_kind(netfile.SWITCH)
                      if node.guid not in replica.unicast)
        if lacking:
            replica.notes.append(f"forwarding tables of {lacking} switches are not known")
    if replica.multicast and (records := site.groups(fabric, replica.multicast,
                                                     _prefix_of(replica.site))):
        replica.site.files[_RECORDS] = records
        replica.site.file_keys["sa_db_file"] = _RECORDS
    lids, doubts = site.guid2lid(fabric)
    if lids:
        replica.site.files[_LIDS] = lids
        replica.site.keys["honor_guid2lid_file"] = "TRUE"
    if doubts:
        replica.notes.append(f"{doubts} ports share a LID, and get another one")
    return replica


# --- labs --------------------------------------------------------------------

# What of a site's triad.conf would reach out of a lab, or is its host's own.
_OWN_SECTIONS = ("webhook", "prometheus", "web", "sflow", "profile", "collect", "election",
                 "control", "state", "history")


def triad_conf_of(replica):
    """The site's triad.conf without what reaches out; LabError where there is none."""
    if replica.triad_conf is None:
        raise LabError(f"{replica.name} has no triad.conf")
    left = [name for name in _OWN_SECTIONS if opensm.section_of(replica.triad_conf, name)]
    if left:
        replica.notes.append("sections of triad.conf that stay at the site: "
                             + ", ".join(left))
    return opensm.without_sections(replica.triad_conf, left)


def report(replica, lab):
    """Lines about a lab of it: what was taken, what was not, and whether its tables are
    those of the site."""
    lines = ["taken of opensm.conf: " + (", ".join(
        f"{key} {value}" for key, value in sorted(replica.site.keys.items())) or "nothing")]
    if files := sorted({*replica.site.files, *(["partitions.conf"] if replica.fabric.partitions
                                               else [])}):
        lines.append("files: " + ", ".join(files))
    lines += replica.notes
    if others := len(netfile.port_guids(replica.fabric)):
        lines.append(f"{others} ports of hosts have another GUID: ibsim makes it of the node's and "
                     "the port's number; files of the SM have these")
    if replica.unicast is None:
        return [*lines, "the site's forwarding tables are not known: nothing to compare with"]
    if not lab.library_path:
        return [*lines, "tables are not compared: the lab has no plugin to ask"]
    plugin.wait(lambda: _knows_tables(lab), "the lab's tables", _WAIT_S)
    unicast, multicast = tables_of(lab)
    names = names_of(replica.fabric)
    lines += describe("forwarding tables", forwarding.compare_unicast(replica.unicast, unicast),
                      names)
    if replica.multicast is not None:
        difference = forwarding.compare_multicast(replica.multicast, multicast)
        lines += describe("multicast tables", difference, names)
        if not difference.is_none:
            lines.append("  a group's members are the ports to which the site's switches forward "
                         "it: those that only send are not known")
    return lines


def _knows_tables(lab):
    return bool(plugin.triadctl(lab, "routes", "check", "--json", allowed=(0, 1, 3)).strip())


# --- tables ------------------------------------------------------------------

def tables_of(lab):
    """Unicast and multicast tables of a lab that runs, as its Triad has them."""
    return _read_answer(lab, "--fdbs", forwarding.read_unicast), \
        _read_answer(lab, "--mcfdbs", forwarding.read_multicast)


def members_of(lab):
    """The partitions' members, as ibdiagnet.read_members() has them."""
    return _read_answer(lab, "--db-csv", lambda stream: ibdiagnet.read_members(
        io.TextIOWrapper(stream, "utf-8", "replace")))


def _read_answer(lab, form, read):
    call = run.prepare(lab, ["triadctl", "topology", form], None)
    return _ask(call.command, read, f"the lab in {lab.folder}", executable=call.program,
                env=call.variables)


def lids_of(lab):
    """The text of the file in which the lab's SM keeps LIDs."""
    return Path(lab.sms[0].folder, _LIDS).read_text(encoding="utf-8")


def set_lids(wanted, text):
    wanted.files[_LIDS] = text
    wanted.keys["honor_guid2lid_file"] = "TRUE"


def names_of(fabric):
    """What people call nodes, by GUID."""
    return {node.guid: changes.label(node) for node in fabric.nodes.values()}


def describe(what, difference, names):
    """Lines about how tables differ."""
    if difference.is_none:
        return [f"{what}: all {difference.n_equal} entries of {difference.n_compared} switches "
                "are equal"]
    lines = [f"{what}: {difference.entries} entries at {len(difference.switches)} of "
             f"{difference.n_compared} switches differ, {difference.n_equal} are equal"]
    for guids, text in (difference.missing, "switches are not in the copy"), \
            (difference.more, "switches are in the copy alone, or their tables are not known"):
        if guids:
            lines.append(f"  {len(guids)} {text}: "
                         + ", ".join(names.get(guid, f"0x{guid:016x}") for guid in guids[:3]))
    for guid, lid, before, after in difference.first:
        lines.append(f"  {names.get(guid, f'0x{guid:016x}')}, LID 0x{lid:04x}: "
                     f"{_ports(before)}, in the copy {_ports(after)}")
    return lines


def _ports(ports):
    if isinstance(ports, frozenset):
        return "ports " + " ".join(map(str, sorted(ports))) if ports else "no port"
    return "no port" if ports == forwarding.NO_PORT else f"port {ports}"
