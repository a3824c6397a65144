# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What is plugged in at ports, as octets of a module's memory, for the lab's library.

Source: SFF-8636 (QSFP28), CMIS (QSFP-DD, OSFP)."""

import struct

QSFP28 = 0x11
_CMIS = {0x18, 0x19, 0x1e}
_MOST_OCTETS = 32  # of one command
_VOLTS_3_3 = 33000


class Module:
    """The memory of what is plugged in, as the documents lay it out."""

    def __init__(self, identifier):
        self.pages = {}
        self.put(0, 0, bytes([identifier]))
        self.put(0, 128, bytes([identifier]))

    def put(self, page, at, octets):
        for i, octet in enumerate(octets):
            self.pages.setdefault(page, {})[at + i] = octet

    def text(self, page, at, text, size):
        self.put(page, at, text.encode("ascii", "replace")[:size].ljust(size))

    def words(self, page, at, *words):
        self.put(page, at, struct.pack(f">{len(words)}H", *(word % 65536 for word in words)))

    def commands(self, node, port):
        for page, octets in self.pages.items():
            places = sorted(octets)
            while places:
                run = [at for i, at in enumerate(places)
                       if at == places[0] + i][:_MOST_OCTETS]
                places = places[len(run):]
                text = "".join(f"{octets[at]:02x}" for at in run)
                yield f'Cable "{node}"[{port}] {page}.{run[0]}={text}'


def cable(identifier, *, vendor, part, serial, revision, oui, length_m, is_optical,
          temperature_c=None):
    """A module with these facts; other values are 0."""
    module = Module(identifier)
    is_cmis = identifier in _CMIS
    at = {"vendor": 129, "oui": 145, "part": 148, "revision": 164, "serial": 166} \
        if is_cmis else \
        {"vendor": 148, "oui": 165, "part": 168, "revision": 184, "serial": 196}
    module.text(0, at["vendor"], vendor, 16)
    module.put(0, at["oui"], struct.pack(">I", oui & 0xffffff)[1:])
    module.text(0, at["part"], part, 16)
    module.text(0, at["revision"], revision, 2)
    module.text(0, at["serial"], serial, 16)
    if is_cmis:
        # Tenths of a meter, up to 6.3 m, else meters; a copper cable or one of light.
        module.put(0, 202, bytes([int(length_m * 10) if length_m < 6.4
                                  else 0x40 | min(int(length_m), 63)]))
        module.put(0, 203, bytes([0x23]))
        module.put(0, 212, bytes([0x00 if is_optical else 0x0a]))
    else:
        module.put(0, 130, bytes([0x23]))
        module.put(0, 146, bytes([min(int(length_m), 255),
                                  0x00 if is_optical else 0xa0]))
    if temperature_c is not None:
        module.words(0, 14 if is_cmis else 22, int(temperature_c * 256))
        # What has no voltage does not measure.
        module.words(0, 16 if is_cmis else 26, _VOLTS_3_3)
    return module
