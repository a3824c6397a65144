# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What is kept of earlier releases (tests/compat/VERSION), and an SM that is played: the
other one of two peers, of any release."""

import hmac
import os
import socket
import struct
from pathlib import Path

from checks import wait_until
from labs import SRCDIR
from triadlab.tcp_ports import free_port

COMPAT = SRCDIR / "tests" / "compat"
RELEASES = sorted(path.name for path in COMPAT.glob("[0-9]*"))

SEAL_VERSION = 1
KEEPALIVE, PAYLOAD = 1, 2
_HEADER = struct.Struct(">IBBHQQQQQ")
_MAGIC = 0x5472436c  # "TrCl"
_MAC_SIZE = 32


class Peer:
    """An SM that is played.  Its datagrams are those of portmgr/cluster/seal.h."""

    def __init__(self, scratch, folder):
        self._key = os.urandom(32)
        self._file = Path(folder, "peers.key")
        self._file.write_bytes(self._key)
        self._file.chmod(0o600)
        self._theirs = free_port()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        scratch.callback(self._socket.close)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.settimeout(0.2)
        self._ours = self._socket.getsockname()[1]
        self._session = int.from_bytes(os.urandom(7), "big") + 1
        self._challenge = int.from_bytes(os.urandom(7), "big") + 1
        self._sequence = 0
        self._echo = 0
        self.guid = 0x7001

    def conf(self):
        """Keys of [election] of the SM that is real."""
        return ("enabled = yes\ncluster = peers\n"
                f"listen = 127.0.0.1:{self._theirs}\n"
                f"peers = 127.0.0.1:{self._theirs}; 127.0.0.1:{self._ours}\n"
                f"key_file = {self._file}\n")

    def _mac(self, octets, sender, receiver):
        ends = b"".join(struct.pack(">B16sH", 4, socket.inet_aton("127.0.0.1"), port)
                        for port in (sender, receiver))
        return hmac.new(self._key, octets + ends, "sha256").digest()

    def say(self, payload=b"", version=SEAL_VERSION):
        """A payload, or a keepalive."""
        self._sequence += 1
        octets = _HEADER.pack(
            _MAGIC, version, PAYLOAD if payload else KEEPALIVE, len(payload), self.guid,
            self._session, self._challenge, self._echo, self._sequence) + payload
        octets += self._mac(octets, self._ours, self._theirs)
        self._socket.sendto(octets, ("127.0.0.1", self._theirs))

    def receive(self):
        """One whole datagram and its payload, or None."""
        try:
            octets = self._socket.recv(2048)
        except socket.timeout:
            return None
        assert octets[-_MAC_SIZE:] == \
            self._mac(octets[:-_MAC_SIZE], self._theirs, self._ours), "authentic"
        self._echo = _HEADER.unpack_from(octets)[6]
        return octets, octets[_HEADER.size:-_MAC_SIZE]

    def talk(self, is_enough, payload=b"", version=SEAL_VERSION, timeout_s=30):
        """Says the same until is_enough(datagram, payload) of what is heard."""
        def goes_on():
            self.say(payload, version)
            heard = self.receive()
            return heard if heard and is_enough(*heard) else None
        return wait_until(goes_on, timeout_s, "what a peer says")
