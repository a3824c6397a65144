# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A client of the SA, for labs: it joins ports to multicast groups, subscribes to traps,
registers services, and reads what the SA has.

As a program, on a node of a lab, it does what lines of its standard input say, and
answers each with one line of JSON:

    join MGID GUID, leave MGID GUID    a port; a group that is not there is created
    subscribe TRAP, unsubscribe TRAP
    register ID NAME LEASE, deregister ID
    alias LID INDEX GUID               of the port with that LID
    lid                                of the local port
    ports                              GUIDs of the HCAs' ports
    records                            all that the SA has

Names are hexadecimal, and so are MGIDs, without colons.  Client drives such a program."""

import ctypes
import json
import struct
import sys
import time

SA_CLASS, SA_VERSION, MAD_SIZE, DATA = 3, 2, 256, 56
GET_TABLE, SET, DELETE = 0x12, 0x02, 0x15
INFORM_INFO, NODE, GUIDINFO, SERVICE, MEMBER, INFORM_RECORD = \
    0x03, 0x11, 0x30, 0x31, 0x38, 0xf3
PREFIX = 0xfe80 << 48
SM_KEY, QKEY, PKEY = 1, 0x80010000, 0xffff
ROOM = 16 << 20
TIMEOUT_MS, TRIES = 1000, 20
_SM_LID_AGE_S = 0.05


# --- the program -------------------------------------------------------------

class _Port(ctypes.Structure):
    _fields_ = [("ca_name", ctypes.c_char * 20), ("number", ctypes.c_int),
                ("base_lid", ctypes.c_uint), ("lmc", ctypes.c_uint),
                ("sm_lid", ctypes.c_uint), ("sm_sl", ctypes.c_uint),
                ("state", ctypes.c_uint), ("phys_state", ctypes.c_uint),
                ("rate", ctypes.c_uint), ("capmask", ctypes.c_uint32),
                ("prefix", ctypes.c_uint64), ("guid", ctypes.c_uint64),
                ("n_pkeys", ctypes.c_uint), ("pkeys", ctypes.c_void_p),
                ("link_layer", ctypes.c_char * 20)]


class _Umad:
    """The local port."""

    def __init__(self):
        self._umad = ctypes.CDLL("libibumad.so.3")
        if self._umad.umad_init() < 0:
            sys.exit("no umad")
        self._fd = self._umad.umad_open_port(None, 0)
        self._agent = self._umad.umad_register(self._fd, SA_CLASS, SA_VERSION, 1, None)
        if self._agent < 0:
            sys.exit("no agent")
        self._head = self._umad.umad_size()
        self._buffer = ctypes.create_string_buffer(self._head + ROOM)
        self._number = int(time.time() * 1000) & 0xffffff
        self._sm_lid, self._read_at = 0, 0.0

    def port(self):
        port = _Port()
        if self._umad.umad_get_port(None, 0, ctypes.byref(port)):
            sys.exit("no port")
        self._umad.umad_release_port(ctypes.byref(port))
        return port

    def _find_sm(self):
        """Its LID, as the port has it; reading that takes longer than asking the SA."""
        if time.monotonic() > self._read_at + _SM_LID_AGE_S:
            self._sm_lid, self._read_at = self.port().sm_lid, time.monotonic()
        return self._sm_lid

    def _send(self, mad, timeout_ms):
        ctypes.memmove(ctypes.addressof(self._buffer) + self._head, mad, len(mad))
        return self._umad.umad_send(self._fd, self._agent, self._buffer, len(mad),
                                    timeout_ms, 0)

    def _receive(self, timeout_ms):
        """A MAD; b"" when there is none, or none came in time for one that was sent."""
        length = ctypes.c_int(ROOM)
        if self._umad.umad_recv(self._fd, self._buffer, ctypes.byref(length),
                                timeout_ms) < 0 or self._umad.umad_status(self._buffer):
            return b""
        return self._buffer[self._head:self._head + length.value]

    def ask(self, method, attribute, mask, data):
        """The answer's status and data, at last by whoever is master then."""
        for turn in range(TRIES):
            # A table of megabytes takes a while where processors are busy.
            timeout_ms = TIMEOUT_MS * (1 + turn)
            self._number += 1
            head = struct.pack(">BBBB4xQHHI", 1, SA_CLASS, SA_VERSION, method,
                               self._number, attribute, 0, 0)
            mad = (head + bytes(12) + struct.pack(">QHHQ", SM_KEY, 0, 0, mask) +
                   data).ljust(MAD_SIZE, b"\0")
            self._umad.umad_set_addr(self._buffer, self._find_sm(), 1, 0, QKEY)
            self._umad.umad_set_pkey(self._buffer, 0)
            if self._send(mad, timeout_ms):
                time.sleep(0.1)
                continue
            deadline = time.monotonic() + timeout_ms / 1000
            while time.monotonic() < deadline:
                answer = self._receive(100)
                if answer and struct.unpack_from(">I", answer, 12)[0] == self._number:
                    status, = struct.unpack_from(">H", answer, 4)
                    return status, answer
        sys.exit("the SA does not answer")

    def table(self, attribute):
        """Its records, as octets."""
        status, answer = self.ask(GET_TABLE, attribute, 0, b"")
        step = struct.unpack_from(">H", answer, 44)[0] * 8
        if status or not step:
            return []
        return [answer[at:at + step] for at in range(DATA, len(answer) - step + 1, step)]


def _member(mgid, guid):
    return bytes.fromhex(mgid).rjust(16, b"\0") + struct.pack(">QQ", PREFIX, int(guid, 0))


def _join(umad, mgid, guid):
    # All that OpenSM wants for a group that is not there yet [IBA 15.2.5.17].
    mask = sum(1 << bit for bit in (0, 1, 2, 6, 7, 12, 13, 16))
    status, answer = umad.ask(SET, MEMBER, mask, _member(mgid, guid) + struct.pack(
        ">LHBBHBBLBBH", 0xb1b, 0, 0, 0, PKEY, 0, 0, 0, 0x21, 0, 0))
    return [status, struct.unpack_from(">H", answer, DATA + 36)[0]]


def _leave(umad, mgid, guid):
    status, _ = umad.ask(DELETE, MEMBER, 1 << 0 | 1 << 1 | 1 << 16, _member(mgid, guid) +
                         bytes(16) + b"\1")
    return status


def _inform(umad, trap, subscribe):
    data = bytes(16) + struct.pack(">HHHBBHHLL", 0xffff, 0, 0, 1, subscribe, 0xffff,
                                   int(trap), 1 << 8 | 18, 4)
    return umad.ask(SET, INFORM_INFO, 0, data)[0]


def _service(umad, method, number, name="", lease="0xffffffff"):
    port = umad.port()
    mask = sum(1 << bit for bit in (0, 1, 2, *((4, 5, 6) if name else ())))
    gid = struct.pack(">Q", PREFIX) + port.guid.to_bytes(8, sys.byteorder)
    data = struct.pack(">Q", int(number, 0)) + gid + struct.pack(
        ">HHL", PKEY, 0, int(lease, 0)) + bytes(16) + bytes.fromhex(name).ljust(64, b"\0")
    return umad.ask(method, SERVICE, mask, data + bytes(range(64)))[0]


def _alias(umad, lid, index, guid):
    index = int(index)
    guids = struct.pack(">Q", int(guid, 0)).rjust(8 * (1 + index % 8), b"\0")
    return umad.ask(SET, GUIDINFO, 3 | 1 << 4 + index % 8,
                    struct.pack(">HBx4x", int(lid), index // 8) + guids)[0]


def _gid(octets, at):
    return octets[at:at + 16].hex()


def _records(umad):
    members = umad.table(MEMBER)
    return {
        # MGID, port, MLID, Q_Key, MTU, P_Key, rate, SL and so on, state.
        "members": sorted([_gid(it, 0), _gid(it, 16), it[32:48].hex(), it[48]]
                          for it in members),
        "subscriptions": sorted([_gid(it, 0), it[24:60].hex()]
                                for it in umad.table(INFORM_RECORD)),
        # The lease is what is left of it.
        "services": sorted([it[:26].hex(), it[32:176].hex()]
                           for it in umad.table(SERVICE)),
        "aliases": sorted([it[:2].hex(), it[2], it[8:72].hex()]
                          for it in umad.table(GUIDINFO) if any(it[16:72])),
    }


_ORDERS = {
    "join": _join,
    "leave": _leave,
    "subscribe": lambda umad, trap: _inform(umad, trap, 1),
    "unsubscribe": lambda umad, trap: _inform(umad, trap, 0),
    "register": lambda umad, *words: _service(umad, SET, *words),
    "deregister": lambda umad, number: _service(umad, DELETE, number),
    "alias": _alias,
    "lid": lambda umad: umad.port().base_lid,
    "ports": lambda umad: sorted(f"0x{it[24:32].hex()}" for it in umad.table(NODE)
                                 if it[6] == 1),
    "records": _records,
}


def main():
    umad = _Umad()
    for line in sys.stdin:
        order, *words = line.split()
        print(json.dumps(_ORDERS[order](umad, *words)), flush=True)


# --- who drives it -----------------------------------------------------------

class Client:
    """Such a program, as a Popen with pipes for text."""

    def __init__(self, process):
        self._process = process

    def __enter__(self):
        return self

    def __exit__(self, *_exception):
        # The end of its input is its end.
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()

    def ask(self, *words):
        return self.ask_all([words])[0]

    def ask_all(self, orders):
        """The answers to many."""
        answers = []
        for words in orders:
            self._process.stdin.write(" ".join(map(str, words)) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
            if not line:
                raise RuntimeError(f"the client of the SA ended at {words}")
            answers.append(json.loads(line))
        return answers


if __name__ == "__main__":
    main()
