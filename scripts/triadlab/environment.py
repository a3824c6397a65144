# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What programs need to see of the machine and of a lab.

A program finds ibsim instead of an HCA because a library is loaded before all others:
our own (tests/lab/umad_preload.c), which behaves as the kernel does, or Debian's
libumad2sim.  Both take the lab from IBSIM_SOCKNAME and the node to be on from
SIM_HOST."""

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

from .errors import LabError

PLUGIN = "libosmtriad.so"
_SCRIPTS = Path(__file__).resolve().parents[1]
_LABUMAD = "tests/lab/.libs/liblabumad.so"
_LABSIM = "tests/lab/.libs/liblabsim.so"
_PORT_LIBRARIES = ("libumad2sim.so", "liblabumad.so")

# Variables that would lead those libraries, or whoever inherits them, astray.
_FOREIGN = ("IBSIM_SERVER_NAME", "IBSIM_SERVER_PORT", "SIM_HOST", "SIM_SET_ISSM",
            "TRIAD_LAB_FAULTS", "TRIAD_LAB_NETNS", "TRIAD_LAB_RETRAIN", "TRIAD_LAB_SYS")


def require_programs(*more):
    for program in ("ibsim", "opensm", *more):
        if not shutil.which(program, path=_search_path()):
            raise LabError(f"{program} is not installed"
                           + ("" if is_installed() else "; scripts/deps installs it"))


def _search_path(builddir=None):
    """Where commands are looked for: opensm is no user's command."""
    path = os.environ.get("PATH", os.defpath)
    return ":".join([*([builddir] if builddir else []), path, "/usr/sbin", "/sbin"])


def is_installed():
    """Whether these scripts are those of the package triad-lab.  What labs take from a
    build tree otherwise then stands beside the scripts."""
    return (_SCRIPTS / Path(_LABUMAD).name).exists()


def command(name):
    """What people type for one of the scripts."""
    return f"triad-{name}" if is_installed() else f"{_SCRIPTS}/{name}"


def find_built(builddir, path):
    """A file by its path in the build tree, or without a tree the one that is installed;
    None when it isn't there."""
    found = Path(builddir, path) if builddir else _SCRIPTS / Path(path).name
    return str(found) if found.exists() else None


def find_plugin(builddir):
    return find_built(builddir, f".libs/{PLUGIN}")


def find_builddir(wanted):
    """Where the plugin was built; None when nowhere."""
    wanted = wanted or os.environ.get("TRIAD_BUILDDIR")
    if wanted:
        return os.path.abspath(wanted)
    root = _SCRIPTS.parent
    # As scripts/build: what was configured in place is built there.
    is_in_place = (root / "config.status").exists()
    for folder in (root, root / "build") if is_in_place else (root / "build",):
        if find_plugin(folder):
            return str(folder)
    return None


def find_umad2sim():
    native = f"/usr/lib/{platform.machine()}-linux-gnu"
    others = sorted(map(str, Path("/usr/lib").glob("*-linux-gnu*")))
    for folder in [native, *others, "/usr/lib64", "/usr/lib"]:
        library = Path(folder, "umad2sim", "libumad2sim.so")
        if library.exists():
            return str(library)
    raise LabError("libumad2sim.so is not in /usr/lib/*/umad2sim: install "
                   "ibsim-utils (scripts/deps does)")


def find_labumad(builddir):
    """Our own library; None when it is not built."""
    return find_built(builddir, _LABUMAD)


def sanitizer(builddir):
    """What a plugin of that build tree that has a sanitizer, of addresses or of threads,
    needs loaded before all others, as a list: opensm itself has none.  Empty for any
    other."""
    plugin = find_plugin(builddir)
    code = Path(plugin).read_bytes() if plugin else b""
    for library in ("libasan.so", "libtsan.so"):
        if library.encode() in code:
            found = subprocess.run(["gcc", f"-print-file-name={library}"], text=True,
                                   check=True, stdout=subprocess.PIPE)
            return [found.stdout.strip()]
    return []


def plain(lab):
    """For programs that do not use the fabric: triadctl."""
    variables = {name: value for name, value in os.environ.items()
                 if name not in _FOREIGN}
    variables["IBSIM_SOCKNAME"] = lab.socket_name
    variables["PATH"] = _search_path(lab.builddir)
    preload = [name for name in re.split("[ :]+", variables.pop("LD_PRELOAD", ""))
               if name and not name.endswith(_PORT_LIBRARIES)]
    if preload:
        variables["LD_PRELOAD"] = ":".join(preload)
    return variables


def simulator(lab):
    """For ibsim.  A library keeps it from spinning while a client doesn't read."""
    variables = plain(lab)
    library = find_built(lab.builddir, _LABSIM)
    if library:
        variables["LD_PRELOAD"] = ":".join([
            *filter(None, [variables.get("LD_PRELOAD")]), library])
    variables["TRIAD_LAB_RATES"] = str(lab.path("rates"))
    if lab.retrain:
        variables["TRIAD_LAB_RETRAIN"] = "1"
    if lab.withhold:
        variables["TRIAD_LAB_WITHHOLD"] = "1"
    return variables


def to_keep():
    """What an opensm that is started again is to find as it was the first time."""
    return {name: value for name, value in os.environ.items()
            if name.endswith("SAN_OPTIONS")
            or (name.startswith("TRIAD_") and not name.startswith("TRIAD_LAB"))}


def opensm(lab, sm, host):
    """For the opensm of an SM, the first time and when it is started again."""
    variables = attached(lab, sm.node, f"{sm.folder}/cwd", lab.preload, host)
    variables |= lab.variables
    if lab.library_path:
        variables["LD_LIBRARY_PATH"] = ":".join(filter(None, [
            lab.library_path, variables.get("LD_LIBRARY_PATH")]))
    return variables


def attached(lab, node_id, folder, libraries=(), host=None):
    """For programs on a node of the fabric; 'libraries' are loaded before all others,
    files that stand for those of sysfs are put into 'folder'.  On a host of its own, a
    program would not find ibsim in its own network namespace."""
    variables = plain(lab)
    variables["SIM_HOST"] = node_id
    if host:
        variables["TRIAD_LAB_NETNS"] = f"/proc/{lab.simulator.pid}/ns/net"
    variables["TRIAD_LAB_FAULTS"] = str(lab.path("faults"))
    variables["TRIAD_LAB_PLANES"] = str(lab.path("planes"))
    variables["TRIAD_LAB_SYS"] = str(folder)
    variables["LD_PRELOAD"] = ":".join([
        *libraries, lab.port_library, *filter(None, [variables.get("LD_PRELOAD")])])
    return variables
