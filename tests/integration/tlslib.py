# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Certificates of tests of TLS."""

import shutil
import subprocess

from taplib import Skip


def certificate(t, name="localhost"):
    """Paths of a certificate and its key."""
    if not shutil.which("certtool"):
        raise Skip("certtool is not installed")
    folder = t.folder()
    (folder / "template").write_text(
        f'cn = "{name}"\ndns_name = "{name}"\nexpiration_days = 2\nca\n'
        "signing_key\ntls_www_server\n")
    for command in (["--generate-privkey", "--key-type", "ecdsa", "--outfile", "key"],
                    ["--generate-self-signed", "--load-privkey", "key", "--template",
                     "template", "--outfile", "certificate"]):
        t.succeeded(subprocess.run(["certtool", *command], cwd=folder, text=True,
                                   capture_output=True, check=False))
    return folder / "certificate", folder / "key"
