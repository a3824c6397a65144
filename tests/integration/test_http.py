# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The HTTP server for Prometheus, run without a plugin around it: what it says, to whom,
and what clients can't do to it."""

import contextlib
import gzip
import http.client
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import threading
import time

import pytest

from checks import mentions, succeeded, wait_until
from labs import BUILDDIR, TRIADD, need
from tlslib import certificate, client_certificate
from triadlab.tcp_ports import free_port

OPENMETRICS = "application/openmetrics-text"
# Prometheus 2.42's.
ACCEPT = ("application/openmetrics-text;version=1.0.0,application/openmetrics-text;"
          "version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1")
TOKEN = "correct-horse-battery-staple"
# The same fabric at every run: 4 switches with 10 hosts each.
SWITCH = "0x0000000000000200"


class Server:
    """tests/lab/http_server, listening on a port of its own choice."""

    program = BUILDDIR / "tests" / "lab" / "http_server"

    def __init__(self, scratch, *size, **settings):
        need(TRIADD)
        self.log_path = scratch.folder() / "log"
        with open(self.log_path, "w", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                [self.program, *map(str, size)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
        scratch.callback(self._end)
        self.port = None
        assert self.configure(**settings) == 0, "configure"

    def command(self, line):
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, f"the server ended at {line!r}:\n{self.log()}"
        return json.loads(answer)

    def configure(self, **settings):
        words = " ".join(f"{name}={value}" for name, value in settings.items())
        answer = self.command(f"configure {words}")
        self.port = answer["port"]
        return answer["error"]

    def status(self):
        return self.command("status")

    def log(self):
        return self.log_path.read_text(encoding="utf-8", errors="replace")

    @property
    def pid(self):
        return self._process.pid

    def _end(self):
        self._process.stdin.close()
        status = self._process.wait(20)
        assert status == 0, f"the server ended with {status}:\n{self.log()}"

    def connect(self, receive_size=None, source="127.0.0.1"):
        connection = socket.socket()
        if receive_size:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_size)
        connection.settimeout(20)
        connection.bind((source, 0))
        connection.connect(("127.0.0.1", self.port))
        return connection

    def ask(self, path="/metrics", method="GET", headers=None, context=None):
        """The response, with its 'body'."""
        if context:
            connection = http.client.HTTPSConnection("localhost", self.port, timeout=60,
                                                     context=context)
        else:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with contextlib.closing(connection):
            connection.request(method, path, headers=headers or {})
            response = connection.getresponse()
            response.body = response.read()
            return response

    def text(self, path="/metrics", **options):
        response = self.ask(path, **options)
        assert response.status == 200, (response.status, response.body)
        return response.body.decode()


def samples(text):
    """Values by sample, as text."""
    return dict(line.rsplit(" ", 1) for line in text.splitlines()
                if not line.startswith("#"))


# --- what it says ------------------------------------------------------------

def promtool():
    path = shutil.which("promtool")
    if not path:
        pytest.skip("promtool is not installed")
    return path


def test_text_promtool_finds_no_mistake(scratch):
    server = Server(scratch)
    response = server.ask()
    assert response.getheader("Content-Type") == \
        "text/plain; version=0.0.4; charset=utf-8", "type"
    process = subprocess.run([promtool(), "check", "metrics"], input=response.body,
                             capture_output=True, check=False)
    assert (process.returncode, process.stderr) == (0, b""), "promtool's verdict"


def test_openmetrics_prometheus_reads_all(scratch):
    server = Server(scratch)
    response = server.ask(headers={"Accept": ACCEPT})
    assert response.getheader("Content-Type") == \
        OPENMETRICS + "; version=1.0.0; charset=utf-8", "type"
    text = response.body.decode()
    assert text.endswith("\n# EOF\n"), text[-100:]
    # Prometheus's own reader wants times, to put samples into blocks.
    path = scratch.folder() / "metrics"
    path.write_text(re.sub(r"^([^#].*)$", r"\1 1767225600", text, flags=re.M))
    succeeded(subprocess.run(
        [promtool(), "tsdb", "create-blocks-from", "openmetrics", path, path.parent],
        capture_output=True, text=True, check=False))


def test_openmetrics_strictest_reader_takes_all(scratch):
    try:
        from prometheus_client.openmetrics.parser import text_string_to_metric_families
    except ImportError:
        pytest.skip("python3-prometheus-client is not installed")
    server = Server(scratch)
    text = server.text(headers={"Accept": OPENMETRICS})
    families = list(text_string_to_metric_families(text))
    counts = {family.name: len(family.samples) for family in families}
    assert len(counts) == len(families), "families, each once"
    assert sum(counts.values()) == len(samples(server.text())), "samples"
    types = {family.name: (family.type, family.unit) for family in families}
    assert types["infiniband_switch_port_transmit_data_bytes"] == \
        ("counter", "bytes"), "type and unit"
    assert types["infiniband_switch_uplink"] == ("info", ""), "type and unit"
    assert types["triad_sweep_duration_seconds"] == ("gauge", "seconds"), \
        "type and unit"


@pytest.mark.plain
def test_both_formats_same_samples(scratch):
    server = Server(scratch)
    text = samples(server.text())
    other = samples(server.text(headers={"Accept": OPENMETRICS}))
    # Answers are counted between the two.
    for counted in [name for name in text if name.startswith("triad_http")]:
        del text[counted], other[counted]
    assert text == other, "samples"
    assert "infiniband_exporter_collect_timeouts{collector=\"switch\"}" in text, \
        "samples"


def test_gzip_unpacks_to_the_same(scratch):
    server = Server(scratch)
    plain = server.ask("/metrics?type=switch&counter=PortXmitData")
    assert plain.getheader("Content-Encoding") is None, "encoding"
    packed = server.ask("/metrics?type=switch&counter=PortXmitData",
                        headers={"Accept-Encoding": "gzip"})
    assert packed.getheader("Content-Encoding") == "gzip", "encoding"
    assert packed.getheader("Vary") == "Accept, Accept-Encoding", "Vary"
    lines = [set(text.splitlines()) for text in (plain.body.decode(),
                                                 gzip.decompress(packed.body).decode())]
    different = lines[0] ^ lines[1]
    assert all(line.startswith("triad_http_answers") for line in different), different


def test_large_answer_whole_and_packed_well(scratch):
    server = Server(scratch, 40, 36)
    text = server.text()
    packed = server.ask(headers={"Accept-Encoding": "gzip"}).body
    unpacked = gzip.decompress(packed).decode()
    assert samples(unpacked).keys() == samples(text).keys(), "samples"
    assert len(packed) * 8 < len(text), (len(packed), len(text))
    assert len(text) > 4 << 20, len(text)
    status = server.status()
    assert status["answers"] == 2, "answers"
    assert status["octets"] == len(text.encode()) + len(packed), "octets"


def test_old_protocol_answer_ends_with_connection(scratch):
    server = Server(scratch)
    with server.connect() as connection:
        connection.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
        head, body = read_all(connection).split(b"\r\n\r\n", 1)
    assert b"chunked" not in head, head
    assert samples(body.decode()).keys() == samples(server.text()).keys(), "samples"


def read_all(connection):
    pieces = []
    while piece := connection.recv(1 << 16):
        pieces.append(piece)
    return b"".join(pieces)


def test_head_has_headers_and_no_body(scratch):
    server = Server(scratch)
    for path, kind in (("/metrics", "text/plain; version=0.0.4; charset=utf-8"),
                       ("/", "text/html; charset=utf-8")):
        response = server.ask(path, "HEAD")
        assert (response.status, response.body, response.getheader("Content-Type")) == \
            (200, b"", kind), path
    assert server.ask("/nothing", "HEAD").status == 404, "status"


def test_page_for_people_points_to_metrics(scratch):
    assert '<a href="/metrics">' in Server(scratch).text("/"), "page"


def test_every_answer_ends_its_connection(scratch):
    server = Server(scratch)
    for path in ("/metrics", "/", "/nothing"):
        assert server.ask(path).getheader("Connection").lower() == "close", path


def test_without_fabric_own_metrics_alone(scratch):
    server = Server(scratch)
    server.command("running 0")
    for headers in ({}, {"Accept": OPENMETRICS}):
        names = {name.split("{")[0] for name in samples(server.text(headers=headers))}
        assert "triad_sweeps_total" in names, "names"
        assert not any(re.match("infiniband_.*_port_", name) for name in names), names


# --- filters -----------------------------------------------------------------

def test_filters_only_what_is_asked_for(scratch):
    server = Server(scratch)
    text = samples(server.text(
        f"/metrics?switch={SWITCH}&counter=PortXmitData&counter=vl15dropped"))
    names = {name.split("{")[0] for name in text if name.startswith("infiniband_switch")}
    assert names == \
        {"infiniband_switch_port_transmit_data_bytes_total",
         "infiniband_switch_port_vl15_dropped_total"}, "names"
    assert all(f'guid="{SWITCH}"' in name for name in text
               if name.startswith("infiniband_switch")), text
    assert not any(name.startswith("infiniband_hca") for name in text), text
    hosts = samples(server.text("/metrics?type=ca&type=router&node=host-1-*"))
    guids = set(re.findall(r'hca_info\{guid="(\w+)"', "\n".join(hosts)))
    assert guids, hosts
    assert not any(name.startswith("infiniband_switch") for name in hosts), hosts


def test_mistaken_argument_is_reported(scratch):
    server = Server(scratch)
    for query, says in (("counter=PortXmit", b"no counter 'PortXmit'"),
                        ("counter=PortXmitData&type=hca", b"no type 'hca'"),
                        ("type=hca&counter=PortXmitData", b"no type 'hca'"),
                        ("switch=0x12z", b"isn't a GUID"),
                        ("colour=blue", b"no argument 'colour'"),
                        ("counter", b"no counter ''"),
                        ("type=%1b%5b31m%0d%0aX:y", b"no type '?[31m??X:y'")):
        response = server.ask("/metrics?" + query)
        assert response.status == 400, query
        assert says in response.body, "body"
    assert server.status()["bad_requests"] == 7, "bad requests"


# --- who may, and what there isn't -------------------------------------------

def test_other_paths_and_methods_are_refused(scratch):
    server = Server(scratch)
    for path in ("/metrics/", "/metric", "//metrics", "/../etc/passwd", "/%2e%2e"):
        assert server.ask(path).status == 404, path
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE"):
        response = server.ask("/metrics", method)
        assert (response.status, response.getheader("Allow")) == (405, "GET, HEAD"), \
            method
    status = server.status()
    assert (status["not_found"], status["bad_methods"]) == (5, 5), "refusals"


def test_target_with_scheme_and_host_is_its_path(scratch):
    server = Server(scratch)
    for target, status in (("http://127.0.0.1:1/metrics", 200), ("HTTPS://127.0.0.1/", 200),
                           ("http://127.0.0.1", 200), ("http://127.0.0.1?x=1", 200),
                           ("http://127.0.0.1/metric", 404), ("http://evil/metrics", 421), ("ftp://127.0.0.1/", 404)):
        with server.connect() as connection:
            connection.sendall(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            assert read_all(connection).startswith(f"HTTP/1.1 {status}".encode()), target


def test_name_of_somebody_else_is_refused(scratch):
    server = Server(scratch)

    def asked(host):
        return server.ask(headers={"Host": host}).status
    for host in ("evil.example", f"evil.example:{server.port}", "localhost.evil.example",
                 socket.gethostname() + ".evil.example"):
        assert asked(host) == 421, host
    for host in ("localhost", f"LOCALHOST:{server.port}", "[::1]:9315", "10.0.0.1",
                 f"{socket.gethostname()}:{server.port}"):
        assert asked(host) == 200, host
    # A page of somebody else's has no token.
    path = token_file(scratch)
    assert server.configure(token=path) == 0, server.log()
    assert server.ask(headers={"Host": "evil.example", **bearer(TOKEN)}).status == 200, "token"


def test_body_of_request_is_not_read(scratch):
    server = Server(scratch)
    with server.connect() as connection:
        connection.sendall(b"POST /metrics HTTP/1.1\r\nHost: localhost\r\n"
                           b"Content-Length: 100000000\r\n\r\n" + b"x" * 1000)
        assert connection.recv(100).startswith(b"HTTP/1.1 405 "), "no answer"
    assert server.ask().status == 200, "status afterwards"


def token_file(scratch, text=TOKEN + "\n", mode=0o600):
    path = scratch.folder() / "token"
    path.write_text(text)
    path.chmod(mode)
    return path


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def test_token_wrong_or_missing_is_refused(scratch):
    server = Server(scratch, token=token_file(scratch, f"  {TOKEN} \nnothing else counts\n"))
    for path in ("/metrics", "/", "/nothing"):
        response = server.ask(path)
        assert (response.status, response.getheader("WWW-Authenticate")) == \
            (401, 'Bearer realm="triad"'), path
    for token in (TOKEN[:-1], TOKEN + "x", TOKEN.upper(), ""):
        assert server.ask(headers=bearer(token)).status == 401, token
    assert server.ask(headers=bearer(TOKEN)).status == 200, "status"
    assert server.status()["unauthorized"] == 7, "refusals"
    # Who could guess tokens can't fill the log.
    assert server.log().count("did not show the token") == 3, "lines"


def test_token_changed_in_file_is_taken_up(scratch):
    path = token_file(scratch)
    server = Server(scratch, token=path)
    assert server.ask(headers=bearer(TOKEN)).status == 200, "status"
    other = path.with_name("other")
    other.write_text("another-token-of-length\n")
    other.rename(path)
    wait_until(lambda: server.ask(headers=bearer("another-token-of-length")).status
               == 200, 10, "the new token")
    assert server.ask(headers=bearer(TOKEN)).status == 401, "status of the old one"
    path.write_text("short\n")
    wait_until(lambda: server.ask(headers=bearer(TOKEN)).status == 401 and
               "token" in server.log(), 10, "a complaint")
    path.unlink()
    wait_until(lambda: server.ask(headers=bearer(TOKEN)).status == 401 and
               "No such file" in server.log(), 10, "a complaint")
    assert server.ask(headers=bearer("another-token-of-length")).status == 200, \
        "the last good one"


def test_secret_that_all_can_read_is_reported(scratch):
    path = token_file(scratch, mode=0o644)
    assert f"chmod o-r {path}" in Server(scratch, token=path).log(), "log"
    assert "chmod" not in Server(scratch, token=token_file(scratch)).log()


# --- TLS ---------------------------------------------------------------------

def test_tls_answers_who_trusts_its_certificate(scratch):
    path, key = certificate(scratch)
    server = Server(scratch, certificate=path, key=key)
    context = ssl.create_default_context(cafile=str(path))
    text = server.text(context=context)
    assert "triad_sweeps_total" in samples(text), "samples"
    packed = server.ask(context=context, headers={"Accept-Encoding": "gzip"})
    assert b"triad_sweeps_total" in gzip.decompress(packed.body), "samples"
    try:
        server.ask(context=ssl.create_default_context())
        raise AssertionError("an unknown certificate was taken")
    except ssl.SSLError:
        pass


def test_tls_plain_and_old_clients_get_nothing(scratch):
    path, key = certificate(scratch)
    server = Server(scratch, certificate=path, key=key)
    with server.connect() as connection:
        connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            assert b"HTTP/1.1 200" not in read_all(connection)
    process = subprocess.run(
        ["curl", "-sS", "--cacert", path, "--tls-max", "1.1",
         f"https://localhost:{server.port}/metrics"],
        capture_output=True, text=True, check=False)
    assert process.returncode, process.stdout[:100]
    context = ssl.create_default_context(cafile=str(path))
    assert server.ask(context=context).status == 200, "status"


def test_tls_always_has_forward_secrecy(scratch):
    """Whoever gets the key later can't read what was recorded."""
    path, key = certificate(scratch, uses="tls_www_server\nencryption_key\n", key_type="rsa")
    server = Server(scratch, certificate=path, key=key)
    context = ssl.create_default_context(cafile=str(path))
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    assert server.ask(context=context).status == 200, "status"
    context.set_ciphers("kRSA")
    assert is_refused(server, context)


def test_tls_large_answer_whole(scratch):
    path, key = certificate(scratch)
    server = Server(scratch, 40, 36, certificate=path, key=key)
    text = server.text(context=ssl.create_default_context(cafile=str(path)))
    assert len(text) > 4 << 20, len(text)


def test_tls_new_certificate_taken_up_by_configure(scratch):
    path, key = certificate(scratch)
    server = Server(scratch, certificate=path, key=key)
    new_path, new_key = certificate(scratch)
    context = ssl.create_default_context(cafile=str(new_path))
    shutil.copy(new_path, path)
    shutil.copy(new_key, key)
    listen = f"127.0.0.1:{server.port}"
    assert server.configure(listen=listen, certificate=path, key=key) == 0, "configure"
    assert server.ask(context=context).status == 200, "status"


def client_context(path, own=None):
    context = ssl.create_default_context(cafile=str(path))
    if own:
        context.load_cert_chain(*map(str, own))
    return context


def is_refused(server, context, **options):
    try:
        server.ask(context=context, **options)
        return False
    except (ssl.SSLError, ConnectionError):
        return True


def test_client_certificate_is_demanded(scratch):
    path, key = certificate(scratch)
    authority, own = client_certificate(scratch, "client")
    _, stranger = client_certificate(scratch, "client")
    _, wrong_use = client_certificate(scratch, "server")
    server = Server(scratch, listen=f"[::]:{free_port()}", certificate=path, key=key,
                    client_ca=authority)
    assert server.ask(context=client_context(path, own)).status == 200, "its client"
    assert is_refused(server, client_context(path)), "none"
    assert is_refused(server, client_context(path, stranger)), "of another authority"
    assert is_refused(server, client_context(path, wrong_use)), "of another use"
    for address in "127.0.0.1", "::1":
        process = subprocess.run(
            ["openssl", "s_client", "-connect", f"{address}:{server.port}"
             if address != "::1" else f"[::1]:{server.port}", "-quiet", "-CAfile", path,
             "-cert", own[0], "-key", own[1]], input="GET / HTTP/1.0\r\n\r\n",
            capture_output=True, text=True, check=False, timeout=20)
        assert process.stdout.startswith("HTTP/1.1 200"), (address, process.stderr)
    command = ["curl", "-sS", "--cacert", path, f"https://localhost:{server.port}/"]
    assert subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode
    succeeded(subprocess.run([*command, "--cert", own[0], "--key", own[1]], text=True,
                             capture_output=True, check=False))


def test_client_certificate_and_token_both_are_needed(scratch):
    path, key = certificate(scratch)
    authority, own = client_certificate(scratch, "client")
    server = Server(scratch, certificate=path, key=key, client_ca=authority,
                    token=token_file(scratch, f"{TOKEN}\n"))
    headers = {"Authorization": f"Bearer {TOKEN}"}
    context = client_context(path, own)
    assert server.ask(context=context, headers=headers).status == 200, "both"
    assert server.ask(context=context).status == 401, "the certificate alone"
    assert is_refused(server, client_context(path), headers=headers), "the token alone"


def test_client_authorities_mistakes_keep_what_was(scratch):
    path, key = certificate(scratch)
    authority, own = client_certificate(scratch, "client")
    server = Server(scratch, certificate=path, key=key, client_ca=authority)
    listen = f"127.0.0.1:{server.port}"
    nonsense = token_file(scratch, "no certificate\n")
    writable = scratch.folder() / "writable"
    shutil.copy(authority, writable)
    writable.chmod(0o666)
    for bad, says in ((nonsense, "not certificates in PEM"),
                      (writable, "write"), ("/nonexistent", "No such file")):
        assert server.configure(listen=listen, certificate=path, key=key, client_ca=bad,
                                token=token_file(scratch, "short\n")), bad
        last = server.log().splitlines()[-1]
        assert mentions(last, says) and mentions(last, "token"), (bad, last)
        assert mentions(last, "as it was"), (bad, last)
        assert server.ask(context=client_context(path, own)).status == 200, "its client"
        assert is_refused(server, client_context(path)), "none"
    # Another authority, and the clients of the old one are strangers.
    other, new = client_certificate(scratch, "client")
    assert server.configure(listen=listen, certificate=path, key=key,
                            client_ca=other) == 0, "configure"
    assert server.ask(context=client_context(path, new)).status == 200, "its client"
    assert is_refused(server, client_context(path, own)), "the old one's"


# --- configurations ----------------------------------------------------------

def test_failing_configuration_keeps_the_old_one(scratch):
    path, key = certificate(scratch)
    _, other_key = certificate(scratch)
    server = Server(scratch)
    port = server.port
    taken = socket.create_server(("127.0.0.1", 0))
    scratch.callback(taken.close)
    fifo = scratch.folder() / "fifo"
    os.mkfifo(fifo)
    large = scratch.folder() / "large"
    large.write_bytes(b"x" * 300000)
    for settings, says in (
            ({"listen": f"127.0.0.1:{taken.getsockname()[1]}"}, "Address already in use"),
            ({"listen": "192.0.2.1:9315"}, "Cannot assign requested address"),
            ({"certificate": "/nonexistent", "key": key}, "No such file"),
            ({"certificate": fifo, "key": key}, "not a plain file"),
            ({"certificate": path.parent, "key": key}, "not a plain file"),
            ({"certificate": large, "key": key}, "too large"),
            ({"certificate": path, "key": path}, "fit together"),
            ({"certificate": path, "key": other_key}, "fit together"),
            ({"token": token_file(scratch, "short\n")}, "token"),
            ({"token": token_file(scratch, "")}, "token")):
        assert server.configure(**{"listen": f"127.0.0.1:{port}", **settings}), settings
        # What was said already is not said again.
        last = [line for line in server.log().splitlines() if "as it was" in line][-1]
        assert mentions(last, says), "the last line"
        assert server.ask().status == 200, "status"
    assert server.port == port, "port"


def test_same_configuration_cuts_nobody(scratch):
    server = Server(scratch, 40, 36)
    listen = f"127.0.0.1:{server.port}"
    assert server.configure(listen=listen) == 0, "configure"
    with server.connect(receive_size=4096) as connection:
        connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        wait_until(lambda: server.status()["octets"] > 0, 10, "an answer")
        assert server.configure(listen=listen) == 0, "configure"
        head, _, body = read_all(connection).partition(b"\r\n\r\n")
        assert f"Content-Length: {len(body)}".encode() in head, "the answer is cut"


def test_other_address_and_off(scratch):
    server = Server(scratch)
    first = server.port
    assert server.configure(listen=f"[::1]:{free_port()}", max=4) == 0, "configure"
    second = server.port
    with socket.create_connection(("::1", second), 10) as connection:
        connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
        assert read_all(connection).startswith(b"HTTP/1.1 200"), "no answer"
    refused(first)
    server.command("off")
    refused(second, "::1")
    assert server.status()["listening"] == 0, "listening"
    assert server.configure() == 0, "configure"
    assert server.ask().status == 200, "status"


def test_all_addresses_of_the_same_port(scratch):
    server = Server(scratch)
    port = server.port
    for host in ("0.0.0.0", "127.0.0.1", "[::]", "127.0.0.1"):
        assert server.configure(listen=f"{host}:{port}") == 0, (host, server.log())
        assert server.ask().status == 200, host
        assert answers_from(server, "127.0.0.1"), host
    # What is in force stays, where the port is another's.
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert server.configure(listen=f"0.0.0.0:{taken.getsockname()[1]}"), "a taken port"
    assert server.ask().status == 200, "as it was"


def refused(port, host="127.0.0.1"):
    try:
        socket.create_connection((host, port), 10).close()
    except ConnectionRefusedError:
        return
    raise AssertionError(f"{host}:{port} is open")


def test_any_address_takes_ipv4_too(scratch):
    server = Server(scratch, listen=f"[::]:{free_port()}")
    assert server.ask().status == 200, "status"
    with socket.create_connection(("::1", server.port), 10) as connection:
        connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
        assert read_all(connection).startswith(b"HTTP/1.1 200"), "no answer"


def test_thread_blocks_every_signal(scratch):
    server = Server(scratch)
    masks = {}
    for task in os.listdir(f"/proc/{server.pid}/task"):
        with open(f"/proc/{server.pid}/task/{task}/status", encoding="ascii") as file:
            status = dict(line.rstrip("\n").split(":\t", 1) for line in file)
        masks[status["Name"]] = int(status["SigBlk"], 16)
    # All but SIGKILL, SIGSTOP and the two that the C library keeps for itself.
    needed = (1 << 31) - 1 & ~(1 << 8) & ~(1 << 18)
    assert masks["triad-http"] & needed == needed, "blocked signals"


# --- clients that mean harm --------------------------------------------------

def is_closed(connection):
    """Its other end closes it, without having said a word."""
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


def answers_from(server, source, to="127.0.0.1"):
    """Whether somebody at another address gets an answer."""
    with socket.create_connection((to, server.port), 20,
                                  source_address=(source, 0)) as connection:
        connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
        return read_all(connection).startswith(b"HTTP/1.1 200")


def other_networks(scratch, n):
    """As many addresses of this host as networks: all of 127.0.0.0/8 is one."""
    addresses = [f"198.{18 + i}.{os.getpid() >> 8 & 255}.{os.getpid() & 255}" for i in range(n)]
    for address in addresses:
        added = subprocess.run(["ip", "addr", "add", f"{address}/32", "dev", "lo"],
                               capture_output=True, text=True, check=False)
        if added.returncode and os.geteuid():
            pytest.skip(f"no other address can be had: {added.stderr}")
        assert not added.returncode, added.stderr
        scratch.callback(subprocess.run, ["ip", "addr", "del", f"{address}/32", "dev", "lo"],
                         check=True)
    return addresses


WAITING = 64


def gone(status):
    """Connections that ended without an answer."""
    return status["too_many"] + status["incomplete"] + status["timeouts"]


def test_flood_refused_are_counted_others_served(scratch):
    server = Server(scratch, max=16)
    other, = other_networks(scratch, 1)
    flood = []
    while len(flood) < 1000:
        # The kernel, too, loses some of more than its queue has room for.
        flood += [server.connect() for _ in range(WAITING // 2)]
        # Half of the places are for one address; those that wait are few. Some of those that
        # have a place make room, a second later, or are cut when they have not asked in time.
        wait_until(lambda: gone(server.status()) >= len(flood) - WAITING - 8, 20,
                   lambda: f"refusals of {len(flood)}: {server.status()}")
    assert server.status()["clients"] <= 8, "clients"
    assert answers_from(server, other), "no answer"
    for connection in flood:
        connection.close()
    wait_until(lambda: server.status()["clients"] == 0, 10, "nobody there")
    assert server.ask().status == 200, "status"
    assert server.log().count("turned away") == 3, "lines in the log"


@pytest.mark.parametrize("to", ["127.0.0.1", "::1"])
def test_idle_connections_keep_nobody_out(scratch, to):
    server = Server(scratch, listen=f"[::]:{free_port()}", max=8)
    sources, other = (to,), to
    if to == "127.0.0.1":
        second, other = other_networks(scratch, 2)
        sources = (to, second)
    idle = [socket.create_connection((to, server.port), 20, source_address=(source, 0))
            for source in sources for _ in range(10)]
    wait_until(lambda: server.status()["clients"] >= 4 * len(sources), 10, "they came")
    begun = time.monotonic()
    assert answers_from(server, other, to), "no answer"
    # Not as late as those are cut that never ask.
    assert time.monotonic() - begun < 8, "how long it waited"
    for connection in idle:
        connection.close()


def test_slow_request_is_cut(scratch):
    server = Server(scratch, request_ms=600)
    with server.connect() as connection:
        connection.sendall(b"GET /metrics HTTP/1.1\r\n")
        begin = time.monotonic()
        # A header line now and then keeps nothing open.
        with contextlib.suppress(ConnectionError):
            while time.monotonic() < begin + 10:
                connection.sendall(b"X-a: b\r\n")
                connection.settimeout(0.1)
                with contextlib.suppress(socket.timeout):
                    if connection.recv(1) == b"":
                        break
        taken = time.monotonic() - begin
    assert 0.3 < taken < 5, taken
    wait_until(lambda: server.status()["timeouts"] == 1, 10, "what is counted")
    assert server.status()["incomplete"] == 0, "incomplete"
    assert server.ask().status == 200, "status"


def test_silent_client_is_cut(scratch):
    path, key = certificate(scratch)
    for settings in ({}, {"certificate": path, "key": key}):
        server = Server(scratch, request_ms=300, **settings)
        with server.connect() as connection:
            assert is_closed(connection), "it may stay"
        wait_until(lambda s=server: s.status()["clients"] == 0, 10, "nobody there")
        wait_until(lambda s=server: s.status()["timeouts"] == 1, 10, "time-outs")


def test_stalled_reader_is_cut_others_are_served(scratch):
    def stall(server, connection):
        connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        wait_until(lambda: server.status()["octets"] > 0, 10, "the answer's beginning")
        assert server.ask("/metrics?counter=VL15Dropped").status == 200, "status"

    server = Server(scratch, 40, 36, piece_ms=60000)
    with server.connect(receive_size=4096) as connection:
        stall(server, connection)
        assert server.status()["timeouts"] == 0, "time-outs so far"
    server = Server(scratch, 40, 36, piece_ms=1000)
    with server.connect(receive_size=4096) as connection:
        stall(server, connection)
        wait_until(lambda: server.status()["timeouts"] == 1, 10, "the cut")
        wait_until(lambda: server.status()["clients"] == 0, 10, "nobody there")
        with contextlib.suppress(ConnectionError):
            assert not read_all(connection).endswith(b"0\r\n\r\n"), "it came whole"
    assert server.status()["broken_off"] == 1, "broken off"


def test_reader_a_piece_a_second_has_an_end(scratch):
    server = Server(scratch, 40, 36, piece_ms=60000, answer_ms=1000)
    with server.connect(receive_size=4096) as connection:
        connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")

        def is_cut():
            with contextlib.suppress(ConnectionError):
                connection.recv(1000)
            return server.status()["timeouts"] == 1
        wait_until(is_cut, 15, "the end of its time")


def test_oversized_request_is_refused(scratch):
    server = Server(scratch)
    for request in (b"GET /" + b"a" * 200000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
                    b"GET / HTTP/1.1\r\nX: " + b"a" * 200000 + b"\r\n\r\n",
                    b"GET / HTTP/1.1\r\n" + b"X: a\r\n" * 40000 + b"\r\n"):
        with server.connect() as connection:
            answer = b""
            with contextlib.suppress(ConnectionError):
                connection.sendall(request)
                answer = read_all(connection)
            assert b" 200 " not in answer[:20], answer[:100]
    assert server.ask().status == 200, "status"


def test_garbage_does_no_harm(scratch):
    server = Server(scratch, request_ms=500)
    for request in (b"\x00" * 1000, b"GET\r\n\r\n", b"\r\n" * 1000, b"GET / HTTP/9.9\r\n\r\n",
                    b"GET /metrics?%00%ff=%zz&&==&=%00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
                    b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: \xff\";\"\r\n\r\n",
                    b"GET /metrics HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"):
        with server.connect() as connection:
            with contextlib.suppress(ConnectionError):
                connection.sendall(request)
                connection.shutdown(socket.SHUT_WR)
                read_all(connection)
    assert server.ask().status == 200, "status"


def test_free_with_stalled_clients_is_quick(scratch):
    path, key = certificate(scratch)
    for settings in ({}, {"certificate": path, "key": key}):
        server = Server(scratch, 40, 36, **settings)
        with contextlib.ExitStack() as stack:
            for _ in range(4):
                connection = stack.enter_context(server.connect(receive_size=4096))
                if settings:
                    connection = stack.enter_context(
                        ssl._create_unverified_context().wrap_socket(connection))
                connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
            stack.enter_context(server.connect())
            wait_until(lambda s=server: s.status()["answers"] == 4, 10, "four answers")
            took = server.command("free")["ms"]
            # Those who stall would otherwise have a minute.
            assert took < 10_000, took
            refused(server.port)


def test_many_at_once_all_get_all(scratch):
    server = Server(scratch, 10, 36, max=40)
    whole = samples(server.text()).keys()
    failures = []

    def client(packed):
        response = server.ask(headers={"Accept-Encoding": "gzip"} if packed else {})
        body = gzip.decompress(response.body) if packed else response.body
        if samples(body.decode()).keys() != whole:
            failures.append(len(body))

    threads = [threading.Thread(target=client, args=(i % 2,)) for i in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == [], "answers that differ"
    assert server.status()["answers"] == 21, "answers"
