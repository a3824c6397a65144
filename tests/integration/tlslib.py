# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Certificates of tests of TLS."""

import shutil
import subprocess

import pytest

from checks import succeeded


def certificate(scratch, name="localhost", uses="tls_www_server\n", key_type="ecdsa"):
    """Paths of a certificate, of an authority and for these uses, and its key."""
    if not shutil.which("certtool"):
        pytest.skip("certtool is not installed")
    folder = scratch.folder()
    (folder / "template").write_text(
        f'cn = "{name}"\ndns_name = "{name}"\nexpiration_days = 2\nca\n'
        f"signing_key\ncert_signing_key\n{uses}")
    for command in (["--generate-privkey", "--key-type", key_type, "--outfile", "key"],
                    ["--generate-self-signed", "--load-privkey", "key", "--template",
                     "template", "--outfile", "certificate"]):
        succeeded(subprocess.run(["certtool", *command], cwd=folder, text=True,
                                 capture_output=True, check=False))
    return folder / "certificate", folder / "key"


def client_certificate(scratch, use):
    """Paths of an authority, and of a certificate of it, for the use of a "client" or a
    "server", and its key."""
    authority, authority_key = certificate(scratch, "authority", uses="")
    folder = scratch.folder()
    (folder / "template").write_text(
        f'cn = "somebody"\nexpiration_days = 2\nsigning_key\ntls_www_{use}\n')
    for command in (["--generate-privkey", "--key-type", "ecdsa", "--outfile", "key"],
                    ["--generate-certificate", "--load-privkey", "key", "--template",
                     "template", "--load-ca-certificate", authority,
                     "--load-ca-privkey", authority_key, "--outfile", "certificate"]):
        succeeded(subprocess.run(["certtool", *command], cwd=folder, text=True,
                                 capture_output=True, check=False))
    return authority, (folder / "certificate", folder / "key")
