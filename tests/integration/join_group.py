#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Joins a port to the IPoIB broadcast group of the default partition, or to another group, which
is made if there is none, once:

    join_group.py PORT_GUID SM_LID [MGID [leave]]

and prints the multicast LID [IBA 15.2.5.17].  With 'leave' it leaves the group.  In a lab, on the
node of that port."""

import ctypes
import struct
import sys

SA_CLASS, SA_VERSION, SET, DELETE, MC_MEMBER_RECORD = 3, 2, 2, 0x15, 0x38
WITH_MGID, WITH_PORT_GID, WITH_JOIN_STATE = 1 << 0, 1 << 1, 1 << 16
WITH_Q_KEY, WITH_T_CLASS, WITH_P_KEY, WITH_SL, WITH_FLOW = \
    1 << 2, 1 << 6, 1 << 7, 1 << 12, 1 << 13
TO_MAKE_ONE = WITH_Q_KEY | WITH_T_CLASS | WITH_P_KEY | WITH_SL | WITH_FLOW
Q_KEY, P_KEY, FULL_MEMBER = 0x80010001, 0xffff, 1
DATA, SIZE = 56, 256
PREFIX, BROADCAST = 0xfe80 << 48, bytes.fromhex("ff12401bffff000000000000ffffffff")


def request(port_guid, mgid, leaves):
    record = mgid + struct.pack(">QQ", PREFIX, port_guid) + \
        struct.pack(">I4xH6x", Q_KEY, P_KEY) + bytes([FULL_MEMBER])
    mask = WITH_MGID | WITH_PORT_GID | WITH_JOIN_STATE
    if mgid != BROADCAST and not leaves:
        mask |= TO_MAKE_ONE
    head = struct.pack(">BBBB4xQHHI", 1, SA_CLASS, SA_VERSION, DELETE if leaves else SET, 1,
                       MC_MEMBER_RECORD, 0, 0)
    return (head + bytes(24) + struct.pack(">Q", mask) + record).ljust(SIZE, b"\0")


def main():
    umad = ctypes.CDLL("libibumad.so.3")
    port_guid, sm_lid, mgid, leaves = (*sys.argv[1:], None, None)[:4]
    port_guid, sm_lid = int(port_guid, 0), int(sm_lid)
    mgid = bytes.fromhex(mgid) if mgid else BROADCAST
    if umad.umad_init() < 0:
        sys.exit("no umad")
    descriptor = umad.umad_open_port(None, 0)
    agent = umad.umad_register(descriptor, SA_CLASS, SA_VERSION, 0, None)
    head = umad.umad_size()
    buffer = ctypes.create_string_buffer(head + SIZE)
    ctypes.memmove(ctypes.addressof(buffer) + head, request(port_guid, mgid, leaves), SIZE)
    umad.umad_set_addr(buffer, sm_lid, 1, 0, 0x80010000)
    length = ctypes.c_int(SIZE)
    if umad.umad_send(descriptor, agent, buffer, SIZE, 5000, 3) or \
            umad.umad_recv(descriptor, buffer, ctypes.byref(length), 20000) < 0:
        sys.exit("no answer")
    answer = buffer.raw[head:]
    status, = struct.unpack_from(">H", answer, 4)
    if status:
        sys.exit(f"status {status:#06x}")
    print(struct.unpack_from(">H", answer, DATA + 36)[0])


if __name__ == "__main__":
    main()
