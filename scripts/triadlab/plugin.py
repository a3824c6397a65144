# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Asks the plugin of a lab that runs."""

import json
import subprocess
import sys
import time
from pathlib import Path

from .errors import LabError

_LAB = Path(__file__).resolve().parent.parent / "lab"
_FIRST_SWEEP_S = 60
_POLL_S = 0.1


def run_in(lab, *command, text=None, allowed=(0,), sm=0):
    """Runs a command in the lab; triadctl asks that SM.  Returns what it printed."""
    process = subprocess.run(
        [sys.executable, str(_LAB), "run", "--dir", lab.folder, "--sm", str(sm), "--",
         *command],
        input=text, capture_output=True, text=True, check=False)
    if process.returncode not in allowed:
        raise LabError(f"{' '.join(command)}: {process.stderr.strip()}")
    return process.stdout


def triadctl(lab, *words, **options):
    return run_in(lab, "triadctl", *words, **options)


def triadctl_json(lab, *words, **options):
    return json.loads(triadctl(lab, *words, "--json", **options))


def wait(condition, what, wait_s=60):
    """Until the condition holds; returns what it gave."""
    deadline = time.monotonic() + wait_s
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise LabError(f"waited {wait_s} s for this in vain: {what}")
        time.sleep(_POLL_S)
    return found


def wait_for_first_sweep(lab):
    """The subnet of a large fabric is up a moment before it has been read."""
    deadline = time.monotonic() + _FIRST_SWEEP_S
    while not triadctl_json(lab, "status")["perfmgr"]["sweeps"]:
        if time.monotonic() > deadline:
            raise LabError(f"no sweep within {_FIRST_SWEEP_S} s; see {lab.sms[0].log}")
        time.sleep(_POLL_S)
