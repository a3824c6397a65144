# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Rules by which the wire of a lab does harm to MADs.

liblabumad, which is in every program of the lab, reads them; it also checks them here, so
that there is one opinion about what a rule is."""

import ctypes
import os
import tempfile

from .errors import LabError

_FILE = "faults"


def install(lab, text, name):
    """Puts the rules in force; 'name' is what mistakes are told about."""
    _require_library(lab)
    with tempfile.NamedTemporaryFile("w", dir=lab.folder, prefix="run-",
                                     encoding="utf-8", delete=False) as stream:
        stream.write(text)
    try:
        _check(lab, stream.name, name)
        os.replace(stream.name, lab.path(_FILE))
    except BaseException:
        os.unlink(stream.name)
        raise


def clear(lab):
    lab.path(_FILE).unlink(missing_ok=True)


def active(lab):
    """The rules in force, a line each."""
    try:
        lines = lab.path(_FILE).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    return [rule for line in lines if (rule := line.split("#")[0].strip())]


def _require_library(lab):
    if lab.port_library.endswith("libumad2sim.so"):
        raise LabError("this lab leads programs to ibsim by umad2sim, which knows no "
                       "faults; start it without --umad2sim, after scripts/build")


def _check(lab, path, name):
    """Mistakes are told on standard error."""
    try:
        library = ctypes.CDLL(lab.port_library)
    except OSError as error:
        raise LabError(f"{error}: run scripts/build, then start the lab again") from error
    if library.triad_lab_check_faults(path.encode(), name.encode()):
        raise LabError(f"{name}: nothing was changed")
