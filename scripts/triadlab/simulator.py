# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""ibsim: its start, and commands typed into its console.

ibsim reads commands from its standard input, a FIFO here, and prints a prompt
when it is ready for the next one.  Answers have no other mark, so each command
is followed by a comment with a token of ours: ibsim repeats comments."""

import contextlib
import errno
import fcntl
import os
import re
import secrets
import subprocess
import time
from pathlib import Path

from .errors import LabError, UsageError
from .netfile import SWITCH

QUEUE_LIMIT = 4096

PROMPT = "sim> "

# ibsim 0.10 reads 127 octets of a line, the newline among them.
MAX_COMMAND_OCTETS = 126

_UNKNOWN_SPEEDS = ("NDR", "XDR")

# A FIFO holds 64 KiB; with less under way, writing never has to wait.
_BATCH_OCTETS = 32 * 1024

_POLL_S = 0.002

# Lines with which ibsim refuses.  Dump has lines that begin with '#', too.
_REFUSAL = re.compile(
    r"^(# (?! |Net status)|command '.*' unknown|bad (params|lid value)\."
    r"|to/from lid unconfigured|do_cmd_from_file: |wait: bad param"
    r"|disconnect client: bad)", re.MULTILINE)


def raise_queue_limit(progress):
    """Lets many MADs wait in ibsim's sockets, and says whether they can.  With
    the 10 that kernels start with, ibsim spins as soon as there are more."""
    path = Path("/proc/sys/net/unix/max_dgram_qlen")
    limit = int(path.read_text(encoding="ascii"))
    if limit >= QUEUE_LIMIT:
        return True
    try:
        path.write_text(str(QUEUE_LIMIT), encoding="ascii")
    except OSError as error:
        progress.warn(f"net.unix.max_dgram_qlen is {limit} and cannot be raised to "
                      f"{QUEUE_LIMIT} ({error.strerror}): ibsim may hang under load")
        return False
    progress.say(f"raised net.unix.max_dgram_qlen from {limit} to {QUEUE_LIMIT}")
    return True


def arguments(fabric, net):
    """ibsim's command line, with tables large enough for the fabric, and LIDs as
    many as there are."""
    nodes = fabric.nodes.values()
    n_ports = sum(node.n_ports + (node.kind == SWITCH) for node in nodes)
    sizes = {"-N": len(nodes), "-S": len(fabric.of_kind(SWITCH)), "-P": n_ports}
    options = [text for option, number in sizes.items()
               for text in (option, str(number + number // 8 + 64))]
    return ["ibsim", "-s", *options, "-L", str(0xBFFF), str(net)]


def write_rates(lab, fabric):
    """Tells the library in ibsim the rates that ibsim 0.10 does not know, and takes for
    4x SDR."""
    lab.path("rates").write_text("".join(
        f"{node.guid:016x} {port} {rate}\n"
        for node in fabric.nodes.values() if node.guid is not None
        for port, rate in sorted(node.rates.items())
        if rate.endswith(_UNKNOWN_SPEEDS)), encoding="ascii")


def start(lab, fabric, variables):
    """Starts ibsim with its input, output and messages in sim.in, .out, .err."""
    fifo = lab.path("sim.in")
    os.mkfifo(fifo)
    # Opened for writing, too, so that it never is at its end.
    with open(os.open(fifo, os.O_RDWR), "rb+", buffering=0) as commands, \
            open(lab.path("sim.out"), "wb") as output, \
            open(lab.path("sim.err"), "wb") as messages:
        return subprocess.Popen(
            arguments(fabric, lab.net), env=variables, cwd=lab.folder,
            stdin=commands, stdout=output, stderr=messages, start_new_session=True)


def is_ready(lab):
    """Whether a client can reach it: it says 'ready' before it has a socket."""
    with open("/proc/net/unix", encoding="utf-8", errors="replace") as sockets:
        return f"@{lab.socket_name}:ctl" in sockets.read()


class Console:
    """Asks ibsim, whoever else does so at the same time."""

    def __init__(self, lab, timeout_s):
        self._lab = lab
        self._timeout_s = timeout_s

    def ask(self, commands):
        """Yields (command, answer, whether ibsim refused it) for each."""
        commands = list(commands)
        for command in commands:
            _check(command)
        with self._exclusive(), self._open_input() as fifo:
            for batch in _batches(commands):
                yield from self._ask_batch(fifo, batch)

    @contextlib.contextmanager
    def _exclusive(self):
        with open(self._lab.path("sim.lock"), "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _open_input(self):
        try:
            # Without O_NONBLOCK this would wait for a reader that is dead.
            fd = os.open(self._lab.path("sim.in"), os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno not in (errno.ENXIO, errno.ENOENT):
                raise
            raise self._is_dead() from error
        os.set_blocking(fd, True)
        return open(fd, "wb", buffering=0)

    def _is_dead(self):
        return LabError(f"ibsim of the lab in {self._lab.folder} is dead; see "
                        f"{self._lab.path('sim.err')}")

    def _ask_batch(self, fifo, commands):
        token = secrets.token_hex(4)
        output = Path(self._lab.path("sim.out"))
        offset = output.stat().st_size
        fifo.write(b"".join(f"{command}\n#{token}\n".encode()
                            for command in commands))
        text = self._read_until(output, offset, f"#{token}{PROMPT}", len(commands))
        # The prompt after a command stands before our comment.
        answers = text.split(f"{PROMPT}#{token}{PROMPT}")
        for command, answer in zip(commands, answers):
            answer = answer.strip("\n")
            yield command, answer, bool(_REFUSAL.search(answer))

    def _read_until(self, output, offset, mark, count):
        """What ibsim printed, up to and with the mark's last occurrence."""
        deadline = time.monotonic() + self._timeout_s
        text = b""
        with open(output, "rb") as stream:
            stream.seek(offset)
            while text.count(mark.encode()) < count:
                more = stream.read()
                if more:
                    text += more
                    continue
                if not self._lab.simulator.is_alive():
                    raise self._is_dead()
                if time.monotonic() > deadline:
                    raise LabError(f"ibsim has not answered for {self._timeout_s} s; "
                                   "it may still be working (--timeout S waits "
                                   "longer)")
                time.sleep(_POLL_S)
        return text.decode("utf-8", "replace")


def _check(command):
    size = len(command.encode())
    if size > MAX_COMMAND_OCTETS:
        raise UsageError(f"the command {command[:40]!r}... has {size} octets; ibsim "
                         f"reads {MAX_COMMAND_OCTETS}, and would take the rest for "
                         "another command")
    if "\n" in command or command.lstrip().startswith("#") or not command.strip():
        raise UsageError(f"{command!r} is not a command; give one a word, or one a "
                         "line to 'lab sim -'")


def _batches(commands):
    """Cuts the list so that no batch, with its tokens, is too large."""
    batch, size = [], 0
    for command in commands:
        octets = len(command.encode()) + len("\n#01234567\n")
        if size + octets > _BATCH_OCTETS:
            yield batch
            batch, size = [], 0
        batch.append(command)
        size += octets
    if batch:
        yield batch
