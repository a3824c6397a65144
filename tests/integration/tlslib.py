# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Certificates of tests of TLS."""

import shutil
import subprocess

import pytest

from checks import succeeded



def certificate(scratch, name="localhost"):
    """Paths of a certificate and its key."""
    if not shutil.which("certtool"):
        pytest.skip("certtool is not installed")
    folder = scratch.folder()
    (folder / "template").write_text(
        f'cn = "{name}"\ndns_name = "{name}"\nexpiration_days = 2\nca\n'
        "signing_key\ntls_www_server\n")
    for command in (["--generate-privkey", "--key-type", "ecdsa", "--outfile", "key"],
                    ["--generate-self-signed", "--load-privkey", "key", "--template",
                     "template", "--outfile", "certificate"]):
        succeeded(subprocess.run(["certtool", *command], cwd=folder, text=True,
                                 capture_output=True, check=False))
    return folder / "certificate", folder / "key"
