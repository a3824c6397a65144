# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Folders with a Debian of their own, made by debootstrap, as root, and commands run in them.

A command has a root's files, its own /proc, /dev, /sys and process numbers; whatever it leaves
running ends with it.  It shares the network and the kernel's settings with this machine.  Its
environment is empty but for what a login has."""

import os
import subprocess
from pathlib import Path

MIRROR = "http://deb.debian.org/debian"

# How this machine reaches Debian, which a root needs as well.
_VARIABLES = ("http_proxy", "https_proxy", "no_proxy")

# $0 is the root, $1 the folder of packages or "", the rest the command.  The root becomes that
# of the mount namespace, by pivot_root: with chroot alone, who enters the namespace of one of
# its processes, as labs do, would see this machine's files.
_ENTER = """\
set -e
root=$0 packages=$1
shift
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t tmpfs -o mode=755 dev "$root/dev"
for node in "null 1 3" "zero 1 5" "full 1 7" "random 1 8" "urandom 1 9" "tty 5 0"; do
    set -- $node "$@"
    mknod -m 666 "$root/dev/$1" c "$2" "$3"
    shift 3
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$root/dev/pts"
mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
ln -s fd/0 "$root/dev/stdin"
ln -s fd/1 "$root/dev/stdout"
ln -s fd/2 "$root/dev/stderr"
if [ -n "$packages" ]; then
    mount --bind "$packages" "$root/var/cache/apt/archives"
fi
cd "$root"
pivot_root . .
umount -l .
exec chroot . "$@"
"""


class RootError(Exception):
    """What can't be done in a root, and why."""


class Root:
    """A root in 'folder'.  What its commands print goes to the end of the file 'log'; packages
    that apt fetches stay in the folder 'packages' for other roots, if it is given."""

    def __init__(self, folder, log, packages=None):
        self.folder = Path(folder)
        self.log = Path(log)
        self._packages = packages

    def make(self, release, architecture="amd64"):
        """Installs the smallest Debian, unless it is there whole."""
        whole = self.folder.with_name(self.folder.name + ".whole")
        if not whole.exists():
            subprocess.run(["rm", "-rf", "--one-file-system", self.folder], check=True)
            options = [f"--cache-dir={self._packages}"] if self._packages else []
            with open(self.log, "a", encoding="utf-8") as log:
                done = subprocess.run(
                    ["debootstrap", "--variant=minbase", f"--arch={architecture}", *options,
                     release, self.folder, MIRROR], stdout=log, stderr=log, check=False)
            if done.returncode:
                raise RootError(f"debootstrap failed; see {self.log}")
            # A root is made again, not mended: no need to wait for the disk.
            (self.folder / "etc/dpkg/dpkg.cfg.d/triad-roots").write_text(
                "force-unsafe-io\n", encoding="ascii")
            whole.touch()
        self._copy_ways_out()

    def _copy_ways_out(self):
        copies = {str(path): path for path in Path("/etc/apt/apt.conf.d").glob("*prox*")}
        copies |= {path: Path(path) for path in ("/etc/resolv.conf", "/etc/hosts")}
        for name, path in copies.items():
            if path.exists():
                (self.folder / name.lstrip("/")).write_bytes(path.read_bytes())

    def copy(self, folder, log):
        """A root that is as this one is now."""
        remove(folder)
        subprocess.run(["cp", "-a", "--reflink=auto", self.folder, folder], check=True)
        return Root(folder, log, self._packages)

    def run(self, command, *, check=True, variables=None):
        """Runs a shell command; returns a CompletedProcess with both outputs in one text.  Raises
        RootError if it fails, unless 'check' says no."""
        login = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                 "HOME": "/root", "TERM": "dumb", "DEBIAN_FRONTEND": "noninteractive",
                 **{name: os.environ[name] for name in _VARIABLES if name in os.environ},
                 **(variables or {})}
        with open(self.log, "a", encoding="utf-8") as log:
            log.write(f"# {command}\n")
            log.flush()
            begin = log.tell()
            done = subprocess.run(
                ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child", "--ipc",
                 "--propagation", "private", "sh", "-c", _ENTER, self.folder,
                 self._packages or "", "/bin/sh", "-exc", command],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False, env=login)
        text = self.log.read_bytes()[begin:].decode(errors="replace")
        if check and done.returncode:
            # The shell prints each command before it begins.
            last = [line for line in text.splitlines() if line.startswith("+ ")][-1:]
            raise RootError(f"'{last[0][2:] if last else command}' ended with "
                            f"{done.returncode}; see {self.log}")
        return subprocess.CompletedProcess(command, done.returncode, text)

    def install(self, *packages):
        self.run("apt-get -q update && apt-get -q install -y --no-install-recommends "
                 + " ".join(packages))


def remove(folder):
    """Also a root in which something is still mounted for others stays whole: no other file
    system is entered."""
    subprocess.run(["rm", "-rf", "--one-file-system", folder], check=True)
