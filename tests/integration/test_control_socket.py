# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The control socket under clients that hang, flood or send garbage, and its file."""

import contextlib
import fcntl
import os
import resource
import signal
import socket
import stat
import struct
import subprocess
import sys
import termios
import threading
import time
from pathlib import Path

import pytest

from checks import failed, succeeded, wait_until
from labs import SRCDIR, Lab
from triadlib import ask, log_has, status, triad_lab, wait_for_sweep


def path_of(lab):
    return str(lab.folder / "sm-0" / "triad.sock")


def connect(lab):
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(20)
    client.connect(path_of(lab))
    return client


def request(*words):
    payload = b"".join(word.encode() + b"\0" for word in words)
    return struct.pack(">BBHI", ord("R"), 1, 0, len(payload)) + payload


def read_to_end(client):
    data = b""
    with contextlib.suppress(ConnectionResetError):
        while chunk := client.recv(65536):
            data += chunk
    return data


def exit_status(reply):
    assert len(reply) >= 9 and reply[-9:-8] == b"X", f"no end: {reply[-40:]!r}"
    return reply[-1]


# --- clients -----------------------------------------------------------------

def test_clients_two_at_once_both_answered():
    with triad_lab() as lab:
        wait_for_sweep(lab)
        replies = []

        def client():
            for _ in range(20):
                with connect(lab) as it:
                    it.sendall(request("perf", "show", "--json"))
                    replies.append(exit_status(read_to_end(it)))
        threads = [threading.Thread(target=client) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert replies == [0] * 40, "exit statuses"


def test_client_that_hangs_others_answered_and_it_is_cut():
    with triad_lab() as lab:
        with connect(lab) as silent, connect(lab) as half:
            half.sendall(request("status")[:5])
            ask(lab, "status")
            assert read_to_end(silent) == b"", "the answer to nothing"
            assert read_to_end(half) == b"", "the answer to half a request"
        wait_until(lambda: status(lab)["control"]["timeouts"] == 2, 10, "both cut")


@pytest.mark.long
def test_client_that_does_not_read_is_cut(tmp_path):
    """After the ten seconds that it has."""
    net = tmp_path / "tree.net"
    subprocess.run([SRCDIR / "scripts" / "gen-fabric", "fat-tree", "--levels", "2",
                    "--radix", "16", "-o", net], check=True)
    with Lab(net, triad_conf="") as lab:
        wait_for_sweep(lab)
        clients = [connect(lab) for _ in range(3)]
        for client in clients:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.sendall(request("perf", "show", "--json"))
        ask(lab, "status")
        wait_until(lambda: status(lab)["control"]["clients"] == 1, 20, "they are cut")
        for client in clients:
            client.close()


def test_client_garbage_refused():
    with triad_lab() as lab:
        garbage = (b"\0" * 64, b"GET / HTTP/1.0\r\n\r\n", b"R\1\0\0\xff\xff\xff\xff",
                   struct.pack(">BBHI", ord("R"), 1, 0, 4) + b"abcd",
                   struct.pack(">BBHI", ord("R"), 9, 0, 4) + b"a\0b\0",
                   struct.pack(">BBHI", ord("R"), 1, 0, 2000) + b"a\0" * 1000)
        for octets in garbage:
            with connect(lab) as client:
                client.sendall(octets)
                assert exit_status(read_to_end(client)) == 2, \
                    f"status for {octets[:9]!r}"
        assert status(lab)["control"]["bad_requests"] == len(garbage), "counted"


def unread_octets(client):
    """Of what was sent over a UNIX socket, what the other end has not read."""
    return int.from_bytes(fcntl.ioctl(client, termios.TIOCOUTQ, bytes(4)), sys.byteorder)


def test_clients_too_many_turned_away():
    """Those who have asked keep their places until they are answered."""
    conf = ("[perfmgr]\nsweep_period = 3600\ntimeout = 2000\nretries = 5\n")
    with triad_lab(conf) as lab:
        wait_for_sweep(lab)
        lab.harm_mads("lose class 0x04 direction in\n")
        with contextlib.ExitStack() as stack:
            clients = [stack.enter_context(connect(lab)) for _ in range(16)]
            for client in clients:
                client.sendall(request("perf", "sweep"))
                # One whose request was not read yet would give its place to others.
                wait_until(lambda: not unread_octets(client), 10, "the request is read")
            process = wait_until(
                lambda: (p := lab.run("triadctl", "status")).returncode and p, 5, "busy")
            failed(process, 1, "busy")
        wait_until(lambda: lab.run("triadctl", "status").returncode == 0, 30, "room")


def test_clients_many_nothing_leaks():
    with triad_lab() as lab:
        wait_for_sweep(lab)
        pid = lab.status()["sms"][0]["pid"]

        def descriptors():
            return len(os.listdir(f"/proc/{pid}/fd"))

        def threads():
            return len(os.listdir(f"/proc/{pid}/task"))
        ask(lab, "status")
        wait_until(lambda: status(lab)["control"]["clients"] == 1, 10, "others gone")
        before = descriptors(), threads()
        for _ in range(200):
            with connect(lab) as client:
                client.sendall(request("status", "--json"))
                assert exit_status(read_to_end(client)) == 0, "exit status"
        # A client of before may still have been ending.
        wait_until(lambda: descriptors() <= before[0] and threads() <= before[1], 20,
                   f"no more descriptors and threads than before: {before}")


def cpu_ticks(pid):
    """Of all threads of ours."""
    ticks = 0
    for path in Path(f"/proc/{pid}/task").glob("*/stat"):
        name, fields = path.read_text().rsplit(")", 1)
        if "(triad-" in name:
            ticks += sum(map(int, fields.split()[11:13]))
    return ticks


def test_descriptors_used_up_clients_wait():
    with triad_lab() as lab:
        wait_for_sweep(lab)
        pid = lab.status()["sms"][0]["pid"]
        limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        last = max(int(name) for name in os.listdir(f"/proc/{pid}/fd"))
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (last + 1, limits[1]))
        clients = [connect(lab) for _ in range(last + 2)]
        log_has(lab, "client Too many open files")
        before = cpu_ticks(pid)
        time.sleep(1)  # a second of CPU time is what this is about
        used = (cpu_ticks(pid) - before) / os.sysconf("SC_CLK_TCK")
        assert used < 0.3, f"{used} s of CPU time in a second"
        resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)
        for client in clients:
            client.close()
        wait_until(lambda: lab.run("triadctl", "status").returncode == 0, 30, "room")


# --- the file ----------------------------------------------------------------

@pytest.mark.plain
def test_socket_mode_is_0600():
    with triad_lab() as lab:
        mode = os.stat(path_of(lab)).st_mode
        assert stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o600, oct(mode)


def test_socket_of_another_user_refused():
    with triad_lab() as lab:
        os.chmod(path_of(lab), 0o666)
        for folder in (lab.folder, lab.folder / "sm-0"):
            os.chmod(folder, 0o755)
        code = ("import os,socket,sys\nos.setuid(65534)\ns=socket.socket(1)\n"
                f"s.connect({path_of(lab)!r})\nprint(s.makefile('rb').read())\n")
        process = subprocess.run(["python3", "-c", code], capture_output=True, text=True,
                                 check=False)
        assert "only root" in process.stdout, f"answer ({process.stderr})"
        assert status(lab)["control"]["forbidden"] == 1, "counted"
        log_has(lab, "user 65534")


def test_socket_stale_after_kill_taken_over(tmp_path):
    path = tmp_path / "triad.sock"
    conf = f"[control]\nsocket = {path}\n"
    with triad_lab(conf) as lab:
        pid = lab.status()["sms"][0]["pid"]
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not lab.status()["sms"][0]["alive"], 10, "opensm is dead")
        assert path.exists(), "the socket file should have been left"
        process = lab.run("triadctl", "--socket", path, "status")
        failed(process, 1, str(path))
        lab.down()
        lab.up()
        succeeded(lab.run("triadctl", "--socket", path, "status"))
    assert not path.exists(), "the socket file should be gone after a clean end"


def test_socket_path_is_a_directory_opensm_runs_on(tmp_path):
    folder = tmp_path / "here"
    folder.mkdir()
    with triad_lab(f"[control]\nsocket = {folder}\n") as lab:
        log_has(lab, f"control socket {folder} directory")
        succeeded(lab.run("saquery"))
        failed(lab.run("triadctl", "--socket", folder, "status"), 1, str(folder))
    assert folder.is_dir(), "the directory must stay"


def test_socket_path_is_a_file_left_alone(tmp_path):
    path = tmp_path / "precious"
    path.write_text("data")
    with triad_lab(f"[control]\nsocket = {path}\n") as lab:
        log_has(lab, "not a socket")
    assert path.read_text() == "data", "the file"
