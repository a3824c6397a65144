# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Keys and JWTs as nats-server has them in its 'operator' mode, made with openssl."""

import base64
import json
import subprocess
import time

# What a public key begins with.
OPERATOR, ACCOUNT, USER = 14 << 3, 0, 20 << 3
SEED = 18 << 3
KEY_SIZE = 32


def _crc16(octets):
    """CRC-16/XMODEM."""
    crc = 0
    for octet in octets:
        crc ^= octet << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xffff
    return crc


def _base32(octets):
    octets += _crc16(octets).to_bytes(2, "little")
    return base64.b32encode(octets).decode().rstrip("=")


def _base64(octets):
    return base64.urlsafe_b64encode(octets).decode().rstrip("=")


def _openssl(*words):
    return subprocess.run(["openssl", *map(str, words)], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout


class NKey:
    """An Ed25519 key; files go to 'folder', which has one of each kind."""

    def __init__(self, folder, kind):
        self._path = folder / f"{kind}.pem"
        _openssl("genpkey", "-algorithm", "ed25519", "-out", self._path)
        # Both forms end with the key.
        key = _openssl("pkey", "-in", self._path, "-outform", "DER")[-KEY_SIZE:]
        public = _openssl("pkey", "-in", self._path, "-pubout", "-outform", "DER")
        self.public = _base32(bytes([kind]) + public[-KEY_SIZE:])
        self.seed = _base32(bytes([SEED | kind >> 5, (kind & 31) << 3]) + key)

    def sign_octets(self, octets):
        message = self._path.with_suffix(".txt")
        message.write_bytes(octets)
        return _base64(_openssl("pkeyutl", "-sign", "-rawin", "-inkey", self._path,
                                "-in", message))

    def sign(self, subject, claims):
        """A JWT of this key about another."""
        body = {"jti": subject.public, "iat": int(time.time()), "iss": self.public,
                "name": "test", "sub": subject.public, "nats": {"version": 2, **claims}}
        text = ".".join(_base64(json.dumps(part).encode())
                        for part in ({"typ": "JWT", "alg": "ed25519-nkey"}, body))
        return f"{text}.{self.sign_octets(text.encode())}"


class User:
    """One of an account, who may publish and listen to these subjects alone, or to all
    where none are given; 'credentials' is the file that clients read."""

    def __init__(self, folder, account, publish=(), listen=()):
        folder.mkdir(exist_ok=True)
        self._key = NKey(folder, USER)
        claims = {"type": "user", "subs": -1, "data": -1, "payload": -1}
        if publish:
            claims["pub"] = {"allow": list(publish)}
        if listen:
            claims["sub"] = {"allow": list(listen)}
        self._jwt = account.sign(self._key, claims)
        self.seed = self._key.seed
        self.credentials = folder / "credentials"
        self.credentials.write_text(
            f"-----BEGIN NATS USER JWT-----\n{self._jwt}\n------END NATS USER JWT------\n\n"
            f"-----BEGIN USER NKEY SEED-----\n{self.seed}\n"
            "------END USER NKEY SEED------\n")

    def login(self, nonce):
        """Members of CONNECT."""
        return {"jwt": self._jwt, "sig": self._key.sign_octets(nonce.encode())}
