# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""How programs and the plugin were built: what makes a mistake in memory harder to use.

Read with readelf, which comes with the compiler: hardening-check, of Debian's devscripts,
looks at the same with it and would bring some fifty packages."""

import re
import subprocess

import pytest
from labs import AGENT, BUILDDIR, TRIADD, need

pytestmark = [pytest.mark.scripts]

OBJECTS = {"libosmtriad.so": ".libs/libosmtriad.so", "triadctl": "triadctl",
           "triad-agent": "triad-agent", "triadd": "triadd"}
PARTS = {"triad-agent": AGENT, "triadd": TRIADD}


def read_elf(name):
    """readelf's long words about an object."""
    path = BUILDDIR / OBJECTS[name]
    assert path.exists(), f"{path} has not been built"
    return subprocess.run(["readelf", "--wide", "--segments", "--dynamic", "--dyn-syms",
                           "--file-header", path], check=True, capture_output=True,
                          text=True).stdout


@pytest.fixture(params=OBJECTS)
def elf(request):
    if request.param in PARTS:
        need(PARTS[request.param])
    return read_elf(request.param)


def test_plugin_calls_nothing_of_glib_that_allocates():
    """Its allocators end the process, so opensm, when memory is short."""
    called = set(re.findall(r" UND (g_\w+)", read_elf("libosmtriad.so")))
    others = {name for name in called if not re.match(r"g_(ascii|unichar|utf8)_", name)}
    assert called and others <= {"g_strchomp", "g_str_has_prefix"}, others


def test_tables_of_addresses_are_read_only(elf):
    assert re.search(r"^ +GNU_RELRO ", elf, re.MULTILINE)
    assert re.search(r"\((FLAGS|FLAGS_1)\).*\b(BIND_NOW|NOW)\b", elf)


def test_stack_is_guarded_and_not_executable(elf):
    assert "__stack_chk_fail" in elf
    assert re.search(r"^ +GNU_STACK .* RW ", elf, re.MULTILINE)


@pytest.mark.full  # a sanitizer checks them itself
def test_libc_checks_sizes(elf):
    assert re.search(r" __(mem|str|v?sn?printf|v?fprintf|read|recv|f?gets)\w*_chk\b", elf)


def test_addresses_are_random(elf):
    assert re.search(r"^ +Type: +DYN ", elf, re.MULTILINE)


def test_plugin_needs_few_libraries():
    """The SM's process has what it needs, and what these libraries load themselves."""
    needed = {name.rsplit(".so", 1)[0] + ".so" for name in
              re.findall(r"\(NEEDED\).*\[(.*)\]", read_elf("libosmtriad.so"))}
    allowed = {f"lib{name}.so" for name in (
        "glib-2.0", "ibumad", "nettle", "xml2", "cpg", "quorum", "votequorum", "qb", "m", "c")}
    assert needed - allowed <= {"ld-linux-x86-64.so", "libasan.so", "libubsan.so",
                                "libtsan.so"}, needed
