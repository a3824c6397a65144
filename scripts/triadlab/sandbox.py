# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A place for a copy of a fabric, out of which nothing comes and of which nothing is left.

Model: the function runs in a process of its own, in namespaces of its own:

    user     where the caller isn't root; it is root inside, and outside what it was
    network  ibsim's sockets, and no network
    mount    the root is a new tmpfs, in which FOLDER is the only place to write to; the
             machine's folders are there, read only, without /sys, /run and /dev/infiniband: no
             adapter and no other SM's socket can be reached
    process  its first process is the function's; when that ends, the kernel ends all others

The kernel ends the function when its caller ends, also by SIGKILL.  So processes, sockets and
files are gone then, without anybody who cleans up.

The caller is told by its exit status; text goes to standard output and error, as ever."""

from __future__ import annotations  # 'int | None' before Python 3.10

import contextlib
import ctypes
import os
import re
import select
import signal
import sys
import tempfile
import traceback
from pathlib import Path

from .errors import LabError

FOLDER = "/copy"

# Where the new root is put together.  Nobody needs what it hides.
_ROOT = "/sys"
_NOT_THERE = ("copy", "proc", "run", "sys")

_CLONE_NEWNS, _CLONE_NEWIPC, _CLONE_NEWUSER = 0x00020000, 0x08000000, 0x10000000
_CLONE_NEWPID, _CLONE_NEWNET = 0x20000000, 0x40000000
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 2, 4, 8
_MS_BIND, _MS_REC, _MS_PRIVATE = 0x1000, 0x4000, 0x40000
_MS_RDONLY, _MS_REMOUNT = 1, 32
# Flags of a mount, by what statvfs() calls them.
_FLAGS = {os.ST_NOSUID: _MS_NOSUID, os.ST_NODEV: _MS_NODEV, os.ST_NOEXEC: _MS_NOEXEC,
          os.ST_NOATIME: 0x400, os.ST_NODIRATIME: 0x800, os.ST_RELATIME: 0x200000}
_SYS_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE, _MOUNT_ATTR_RDONLY = 442, -100, 0x8000, 1
_PR_SET_PDEATHSIG = 1

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
FAILED = 3


class NoSandbox(LabError):
    """The machine doesn't let this user have one."""

    exit_status = FAILED


def run(function):
    """Calls function() in there and returns the exit status that it returned; 128+N when
    signal N ended it.  NoSandbox where there can be none."""
    sys.stdout.flush()
    sys.stderr.flush()
    reader, writer = os.pipe()
    starter = os.getpid()
    with _signals_passed() as (passed, got, mask):
        child = os.fork()
        if child == 0:
            os.close(reader)
            _leave(lambda: _enter(function, writer, starter, mask))
        passed.append(child)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        # Another thread, which does not hold signals back, may have had one before.
        if got:
            os.kill(child, signal.SIGKILL)
        os.close(writer)
        with open(reader, encoding="utf-8") as refusals:
            refusal = refusals.read()
        status = _wait_for(child)
        passed.clear()
    if refusal:
        raise NoSandbox(f"a copy of the fabric runs in namespaces of its own, which this "
                        f"machine does not let user {os.geteuid()} have: {refusal}; root can, or "
                        "where user namespaces are allowed (user.max_user_namespaces, "
                        "AppArmor's restriction of them), everybody")
    return status


@contextlib.contextmanager
def _signals_passed():
    """What asks this process to end kills the children in the list that is yielded, and waits
    until the signals' mask is what is yielded, too: each child is in the list then.  The list
    between them has what was asked."""
    children, got = [], []

    def kill(number, _frame):
        got.append(number)
        for child in children:
            os.kill(child, signal.SIGKILL)

    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    previous = {number: signal.signal(number, kill) for number in _SIGNALS}
    try:
        yield children, got, mask
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in previous.items():
            signal.signal(number, handler)
    if got:
        sys.exit(128 + got[0])


def _wait_for(child):
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status if status >= 0 else 128 - status


def _leave(function):
    """Ends this process with what the function returns."""
    status = FAILED
    try:
        status = function()
    except LabError as error:
        print(f"what-if: {error}", file=sys.stderr)
        status = error.exit_status if error.exit_status == 2 else FAILED
    except SystemExit as left:
        status = left.code if isinstance(left.code, int) else FAILED
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def _enter(function, writer, starter, mask):
    """The process between: its child is the first of the namespace."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        _unshare(libc)
        _call(libc, "prctl", _PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != starter:
            return FAILED
        alive, end = os.pipe()
        child = os.fork()
    except OSError as error:
        os.write(writer, (error.strerror or str(error)).encode())
        return FAILED
    if child == 0:
        os.close(end)
        _leave(lambda: _first(libc, function, writer, alive))
    os.close(writer)
    return _wait_for(child)


def _first(libc, function, writer, alive):
    try:
        _call(libc, "prctl", _PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        # In here the parent has no number: that it ended before, its pipe tells.
        if select.select([alive], [], [], 0)[0]:
            return FAILED
        _mount_all(libc)
    except OSError as error:
        os.write(writer, f"{error.filename or ''} {error.strerror}".strip().encode())
        return FAILED
    os.close(writer)
    return function()


def _call(libc, name, *arguments, path=None):
    if getattr(libc, name)(*arguments):
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}", path)


def _unshare(libc):
    """Before the parent's death is asked for: a change of rights takes that back."""
    flags = _CLONE_NEWNS | _CLONE_NEWIPC | _CLONE_NEWPID | _CLONE_NEWNET
    uid, gid = os.geteuid(), os.getegid()
    if uid == 0:
        _call(libc, "unshare", flags)
        return
    _call(libc, "unshare", flags | _CLONE_NEWUSER)
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"0 {uid} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"0 {gid} 1", encoding="ascii")


def _mount(libc, kind, where, flags, options=""):
    _call(libc, "mount", kind.encode(), where.encode(), kind.encode(), flags,
          options.encode(), path=where)


def _mount_all(libc):
    """Folders above FOLDER belong to this process's user, as Triad wants it of a
    configuration's."""
    _call(libc, "mount", b"none", b"/", None, _MS_REC | _MS_PRIVATE, None, path="/")
    _mount(libc, "tmpfs", _ROOT, _MS_NOSUID | _MS_NODEV, "mode=0755,size=75%")
    for entry in os.scandir("/"):
        there = f"{_ROOT}/{entry.name}"
        if entry.is_symlink():
            os.symlink(os.readlink(entry.path), there)
        elif entry.is_dir() and entry.name not in _NOT_THERE:
            os.mkdir(there)
            _bind(libc, entry.path, there)
    for name in _NOT_THERE:
        os.mkdir(f"{_ROOT}/{name}")
    _mount(libc, "proc", f"{_ROOT}/proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
    if os.path.isdir(f"{_ROOT}/dev/infiniband"):
        _mount(libc, "tmpfs", f"{_ROOT}/dev/infiniband", _MS_NOSUID | _MS_NODEV, "size=4k")
    os.chroot(_ROOT)
    os.chdir(FOLDER)
    # Programs and this process, which may have looked before.
    os.environ["TMPDIR"] = tempfile.tempdir = FOLDER


def _bind(libc, folder, there):
    _call(libc, "mount", folder.encode(), there.encode(), None, _MS_BIND | _MS_REC, None,
          path=folder)
    attributes = (ctypes.c_uint64 * 4)(_MOUNT_ATTR_RDONLY, 0, 0, 0)
    # Kernels before 5.12 don't have it.
    if libc.syscall(_SYS_MOUNT_SETATTR, _AT_FDCWD, there.encode(), _AT_RECURSIVE,
                    ctypes.byref(attributes), ctypes.c_size_t(ctypes.sizeof(attributes))):
        for mounted in _mounts_below(there):
            _remount_read_only(libc, mounted)


def _mounts_below(folder):
    """This mount and those in it."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as stream:
        paths = [re.sub(r"\\([0-7]{3})", lambda it: chr(int(it[1], 8)), line.split()[4])
                 for line in stream]
    return [path for path in paths if path == folder or path.startswith(f"{folder}/")]


def _remount_read_only(libc, path):
    """OSError where root could still write there; what belongs to others nobody else can."""
    try:
        flags = os.statvfs(path).f_flag
        # What a mount has may not be taken from it.
        kept = sum(flag for is_set, flag in _FLAGS.items() if flags & is_set)
        _call(libc, "mount", None, os.fsencode(path), None,
              _MS_REMOUNT | _MS_BIND | _MS_RDONLY | kept, None, path=path)
    except OSError:
        if os.access(path, os.W_OK):
            raise
