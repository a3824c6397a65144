# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The web listener, run with made-up commands: what slow, hung and hostile clients can't do
to it, and that it ends whatever they do."""

import contextlib
import gzip
import json
import socket
import ssl
import threading
import time

import pytest

from checks import wait_until
from labs import BUILDDIR, TRIADD, need
from test_http import (TOKEN, Server, bearer, is_closed, other_networks, read_all, refused,
                       token_file)
from tlslib import certificate
from triadlab.tcp_ports import free_port

# More than a buffer and what the kernel takes for a client.
MANY_ROWS = 200_000


class Web(Server):
    """tests/lab/web_server."""

    program = BUILDDIR / "tests" / "lab" / "web_server"
    settings = {}

    def __init__(self, scratch, **settings):
        need(TRIADD)
        super().__init__(scratch, **settings)

    def configure(self, **settings):
        """These keys of [web] on top of those set before."""
        self.settings = {"listen": f"127.0.0.1:{free_port()}", **self.settings, **settings}
        words = " ".join(f"{name}={value}" for name, value in self.settings.items())
        self.port = self.command(f"set {words}")["port"]
        return 0

    def ask(self, path="/api/v1/nodes", method="GET", headers=None, context=None):
        return super().ask(path, method, headers, context)

    def command(self, line):
        self.is_freed = line == "free"
        return super().command(line)

    def _end(self):
        if not self.is_freed:
            # A test that failed may have left commands waiting.
            self.command("hold 0")
        super()._end()

    def begin(self, path, receive_size=None, context=None, source="127.0.0.1"):
        """A connection on which this was asked for."""
        connection = self.connect(receive_size, source)
        if context:
            connection = context.wrap_socket(connection)
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        return connection

    def wait(self, name, number, timeout_s=20):
        wait_until(lambda: self.status()[name] == number, timeout_s, f"{name} {number}")


def problem(response, status):
    assert response.status == status, (response.status, response.body)
    assert response.getheader("Content-Type") == "application/problem+json", "type"
    report = json.loads(response.body)
    assert report["status"] == status and report["title"] and report["detail"], report
    return report["detail"]


def events(connection, n):
    """So many events, as dictionaries."""
    octets = b""
    while octets.count(b"\ndata: ") < n or not octets.endswith(b"\n\n\r\n"):
        piece = connection.recv(10000)
        assert piece, octets
        octets += piece
    lines = octets.decode().replace("\r\n", "\n").split("\n\n")
    return [dict(line.split(": ", 1) for line in text.split("\n") if ": " in line)
            for text in lines if "event: " in text]


# --- pauses ------------------------------------------------------------------

@pytest.mark.plain
@pytest.mark.row("N11")
def test_command_that_waits_holds_up_nobody(scratch):
    server = Web(scratch)
    server.command("rows 3")
    server.command("hold 1")
    with server.begin("/api/v1/health") as waiting:
        server.wait("commands", 1)
        assert len(json.loads(server.ask().body)) == 3, "others"
        server.command("hold 0")
        answer = read_all(waiting)
    assert answer.startswith(b"HTTP/1.1 200 ") and answer.endswith(b"\r\n\r\n{}\n"), answer
    server.wait("clients", 0)


def test_stop_with_clients_that_wait_is_quick(scratch):
    path, key = certificate(scratch)
    for settings in ({}, {"tls_certificate": path, "tls_key": key}):
        server = Web(scratch, **settings)
        context = ssl._create_unverified_context() if settings else None
        server.command(f"rows {MANY_ROWS}")
        server.command("hold 1")
        with contextlib.ExitStack() as stack:
            def begin(*words, **options):
                stack.enter_context(server.begin(*words, context=context, **options))
            for _ in range(2):
                begin("/api/v1/health")
                begin("/api/v1/changes")
                begin("/api/v1/nodes", receive_size=4096)
            server.wait("commands", 2)
            server.wait("streams", 2)
            stack.enter_context(server.connect())
            server.command("hold 0")
            took = server.command("free")["ms"]
            assert took < 5_000, took
            refused(server.port)


def test_client_that_is_killed_amid_answer_leaves_nothing(scratch):
    server = Web(scratch)
    server.command(f"rows {MANY_ROWS}")
    with server.begin("/api/v1/nodes", receive_size=4096) as connection:
        assert connection.recv(1000).startswith(b"HTTP/1.1 200 "), "an answer"
    server.wait("commands", 0)
    server.wait("clients", 0)
    assert server.status()["broken_off"] == 1, "broken off"


def test_client_that_goes_while_it_waits_leaves_nothing(scratch):
    server = Web(scratch)
    server.command("hold 1")
    with server.begin("/api/v1/health"):
        server.wait("commands", 1)
    server.command("hold 0")
    server.wait("commands", 0)
    server.wait("clients", 0)


def test_hung_readers_hold_up_no_command(scratch):
    server = Web(scratch)
    server.command(f"rows {MANY_ROWS}")
    with contextlib.ExitStack() as stack:
        hung = [stack.enter_context(server.begin("/api/v1/nodes", receive_size=4096))
                for _ in range(8)]
        for connection in hung:
            assert connection.recv(100).startswith(b"HTTP/1.1 200 "), "it has begun"
        server.wait("commands", 0)
        assert server.ask("/api/v1/health").status == 200, "another"
        # What they were promised is there whenever they read on.
        assert read_all(hung[0]).endswith(b"}]\n"), "the end"
    server.wait("clients", 0)


def test_large_answer_is_whole_however_it_is_read(scratch):
    server = Web(scratch)
    server.command(f"rows {MANY_ROWS}")
    whole = server.ask().body
    assert json.loads(whole)[-1]["row"] == MANY_ROWS - 1, "rows"
    packed = server.ask(headers={"Accept-Encoding": "gzip"})
    assert gzip.decompress(packed.body) == whole, "packed"
    with server.begin("/api/v1/nodes", receive_size=4096) as connection:
        pieces = []
        while piece := connection.recv(20000):
            pieces.append(piece)
            if len(pieces) % 50 == 0:
                time.sleep(0.002)
        assert b"".join(pieces).endswith(whole), "slowly"


def hold(server, stack, n, path="/api/v1/health?limit={}", source="127.0.0.1", first=1):
    """Connections that wait for this, all of which have a place.  Those who ask for the same
    would share one."""
    before = server.status()
    held = [stack.enter_context(server.begin(path.format(first + i), source=source))
            for i in range(n)]
    wait_until(lambda: server.status()["running"] + server.status()["waiting"] ==
               before["running"] + before["waiting"] + n, 20, "places that are taken")
    return held


def told_to_come_back(response):
    assert "ask again" in problem(response, 503), "problem"
    assert response.getheader("Retry-After"), "Retry-After"


def test_too_many_commands_are_asked_to_come_back(scratch):
    server = Web(scratch, max_clients=100)
    second, third = other_networks(scratch, 2)
    server.command("hold 1")
    with contextlib.ExitStack() as stack:
        held = hold(server, stack, 10)
        # One address has half of the places.
        told_to_come_back(server.ask("/api/v1/health"))
        held += hold(server, stack, 10, source=second, first=11)
        with server.begin("/api/v1/health", source=third) as connection:
            assert read_all(connection).startswith(b"HTTP/1.1 503 "), "a full queue"
        assert server.ask("/").status == 200, "the page needs no place"
        server.command("hold 0")
        for connection in held:
            assert read_all(connection).endswith(b"{}\n"), "an answer"
    assert server.status()["busy"] == 2, "busy"


def test_disk_that_hangs_holds_up_who_reads_it(scratch):
    server = Web(scratch, max_clients=100)
    second, = other_networks(scratch, 1)
    server.command("hold 1")
    with contextlib.ExitStack() as stack:
        held = hold(server, stack, 5, "/api/v1/health?at={}h")
        held += hold(server, stack, 5, "/api/v1/health?at={}h", source=second, first=6)
        server.wait("running", 2)  # half of the threads
        told_to_come_back(server.ask("/api/v1/health?at=20h"))
        assert server.ask().status == 200, "what is of now"
        assert server.status()["running"] == 2, "half of the threads"
        server.command("hold 0")
        for connection in held:
            assert read_all(connection).endswith(b"{}\n"), "an answer"


def test_two_hundred_clients_all_get_all(scratch):
    server = Web(scratch, max_clients=500)
    server.command("rows 2000")
    whole = server.ask().body
    failures = []

    def client():
        while True:
            response = server.ask()
            if response.status != 503:
                break
            time.sleep(0.2)
        if response.body != whole:
            failures.append(response.status)

    threads = [threading.Thread(target=client) for _ in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == [], "answers that differ"
    server.wait("clients", 0)


# --- streams -----------------------------------------------------------------

def test_stream_tells_what_is_new_and_what_was_missed(scratch):
    server = Web(scratch)
    with server.begin("/api/v1/changes") as connection:
        first = events(connection, 1)[0]
        assert first["event"] == "begin", first
        server.command("sweep")
        event = events(connection, 1)[0]
        assert (event["event"], event["data"]) == ("sweep", '{"number":1}'), event
        server.wait("streams", 1)
    server.command("sweep")
    server.wait("streams", 0)
    connection = server.connect()
    with connection:
        connection.sendall(b"GET /api/v1/changes HTTP/1.1\r\nHost: localhost\r\n"
                           b"Last-Event-ID: " + first["id"].encode() + b"\r\n\r\n")
        event = events(connection, 1)[0]
        assert (event["event"], event["data"]) == ("sweep", '{"number":2}'), event


def test_stream_of_an_id_that_nobody_gave_begins_anew(scratch):
    server = Web(scratch)
    for last in (b"9" * 3000 + b"." * 3000, b"a.b.c.d.e.f", b"\xff", b"-1.-1.-1.-1.-1.-1x"):
        with server.connect() as connection:
            connection.sendall(b"GET /api/v1/changes HTTP/1.1\r\nHost: localhost\r\n"
                               b"Last-Event-ID: " + last + b"\r\n\r\n")
            assert events(connection, 1)[0]["event"] == "begin", last


def test_streams_beyond_their_share_are_refused(scratch):
    server = Web(scratch, max_clients=8)
    with server.begin("/api/v1/changes") as one, server.begin("/api/v1/changes") as two:
        events(one, 1), events(two, 1)
        assert "poll" in problem(server.ask("/api/v1/changes"), 503), "problem"
        assert server.ask().status == 200, "other requests"
    server.wait("streams", 0)
    with server.begin("/api/v1/changes") as connection:
        events(connection, 1)


@pytest.mark.parametrize("is_packed", [False, True], ids=["plain", "tls"])
def test_stream_that_is_closed_keeps_no_place(scratch, is_packed):
    path, key = certificate(scratch)
    settings = {"tls_certificate": path, "tls_key": key} if is_packed else {}
    server = Web(scratch, **settings)
    context = ssl._create_unverified_context() if is_packed else None
    with server.begin("/api/v1/changes", context=context) as stream:
        events(stream, 1)
        begun = time.monotonic()
        if is_packed:
            # TLS's own end is octets that nobody reads.
            with contextlib.suppress(OSError):
                stream.settimeout(0)
                stream.unwrap()
    server.wait("streams", 0)
    # A stream says something every 15 s, and finds out at the latest then.
    assert time.monotonic() - begun < 10, "how long it took"


# --- configurations ----------------------------------------------------------

def test_other_port_cuts_who_waits(scratch):
    server = Web(scratch)
    server.command("hold 1")
    with server.begin("/api/v1/health") as waiting, \
            server.begin("/api/v1/changes") as stream:
        server.wait("commands", 1)
        events(stream, 1)
        old = server.port
        server.configure(listen=f"127.0.0.1:{free_port()}")
        refused(old)
        assert is_closed(waiting), "the old connection"
        with contextlib.suppress(ConnectionError):
            read_all(stream)
        server.command("hold 0")
        assert server.ask("/api/v1/health").status == 200, "status"
    server.wait("streams", 0)


def test_token_is_for_the_interface_and_not_for_the_page(scratch):
    server = Web(scratch, token_file=token_file(scratch))
    assert server.ask("/").status == 200, "the page"
    for path in ("/api/v1/nodes", "/api/v1/openapi.json", "/api/v1/changes", "/api/",
                 "/api/v1/none"):
        assert problem(server.ask(path), 401), path
    assert server.ask(headers=bearer(TOKEN)).status == 200, "status"
    assert server.ask(headers=bearer(TOKEN[:-1])).status == 401, "status"


def test_other_hosts_need_tls_and_the_token(scratch):
    path, key = certificate(scratch)
    server = Web(scratch, listen=f"0.0.0.0:{free_port()}", tls_certificate=path,
                 tls_key=key, token_file=token_file(scratch))
    context = ssl.create_default_context(cafile=str(path))
    server.command(f"rows {MANY_ROWS}")
    assert server.ask(context=context).status == 401, "without the token"
    response = server.ask(context=context, headers=bearer(TOKEN))
    assert json.loads(response.body)[-1]["row"] == MANY_ROWS - 1, "rows"
    with server.connect() as connection:
        connection.sendall(b"GET /api/v1/nodes HTTP/1.1\r\nHost: localhost\r\n"
                           b"Authorization: Bearer " + TOKEN.encode() + b"\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            assert b"HTTP/1.1 200" not in read_all(connection), "without TLS"


# --- what is asked for -------------------------------------------------------

@pytest.mark.row("N11")
def test_answer_that_is_the_same_is_not_sent_again(scratch):
    server = Web(scratch)
    server.command("rows 5")
    for headers in ({}, {"Accept-Encoding": "gzip"}):
        etag = server.ask(headers=headers).getheader("ETag")
        same = server.ask(headers={**headers, "If-None-Match": f'"x", {etag}'})
        assert (same.status, same.body) == (304, b""), same.status
        assert same.getheader("ETag") == etag, "ETag"
        server.command("rows 6")
        assert server.ask(headers={**headers, "If-None-Match": etag}).status == 200, \
            "another one"
        server.command("rows 5")


def test_pages_lead_through_all_rows(scratch):
    server = Web(scratch)
    server.command("rows 25")
    path, rows = "/api/v1/nodes?limit=10", []
    while path:
        response = server.ask(path)
        rows += [row["row"] for row in json.loads(response.body)]
        link = response.getheader("Link")
        path = link and link.split("<")[1].split(">")[0]
    assert rows == list(range(25)), rows
    # The command was asked for no more than the page needs, so none was counted before.
    assert response.getheader("Triad-Total") == "25", "total"


def test_next_page_is_found_whatever_is_asked_for(scratch):
    server = Web(scratch)
    server.command("rows 25")
    link = server.ask("/api/v1/nodes?limit=10&node=" + "%C3%A4" * 1000).getheader("Link")
    assert link.startswith("</api/v1/nodes?node=%C3%A4") and "&offset=10>" in link, link


def test_head_has_no_body(scratch):
    server = Web(scratch)
    server.command("rows 5")
    for path in ("/api/v1/nodes", "/", "/api/v1/none", "/api/v1/changes"):
        response = server.ask(path, "HEAD")
        assert response.body == b"", path
    assert server.ask("/api/v1/nodes", "HEAD").getheader("Content-Length") == \
        str(len(server.ask().body)), "size"
    server.wait("streams", 0)


def test_requests_that_are_none_of_ours(scratch):
    server = Web(scratch)
    for path in ("/api/v1/reload", "/api/v1/perf/clear", "/api/v1/status", "/api/v1/",
                 "/api/v2/nodes", "/../etc/passwd", "/%2e%2e/x", "//", "/index.html/"):
        assert problem(server.ask(path), 404), path
    for path in ("/api/v1/nodes?limit=0", "/api/v1/nodes?limit=x", "/api/v1/nodes?x",
                 "/api/v1/nodes?limit=1&limit=2", "/api/v1/nodes?node=%ff",
                 "/api/v1/nodes?json=false", "/api/v1/nodes?table"):
        assert problem(server.ask(path), 400), path
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
        response = server.ask("/api/v1/nodes", method)
        assert problem(response, 405), method
        assert response.getheader("Allow") == "GET, HEAD", method
    for host in ("evil.example", "localhost.evil.example", f"evil:{server.port}", ""):
        assert problem(server.ask(headers={"Host": host}), 421), host
    # What a browser says of who asks; only Triad's page and the address bar may.
    for site in ("cross-site", "same-site"):
        headers = {"Sec-Fetch-Site": site}
        assert problem(server.ask(headers=headers), 403), site
        assert problem(server.ask("/api/v1/changes", headers=headers), 403), site
        assert server.ask("/", headers=headers).status == 200, "a link to the page"
    for site in ("same-origin", "none"):
        assert server.ask(headers={"Sec-Fetch-Site": site}).status == 200, site
    server.configure(names="SM.example")
    assert server.ask(headers={"Host": f"sm.example:{server.port}"}).status == 200, \
        "a name of ours"
    assert not server.ask().getheader("Access-Control-Allow-Origin"), "other origins"


def test_oversized_and_broken_requests_do_no_harm(scratch):
    server = Web(scratch)
    for request in (b"GET /api/v1/nodes?node=" + b"a" * 5000 + b" HTTP/1.1\r\n"
                    b"Host: localhost\r\n\r\n",
                    b"GET /" + b"a" * 200000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
                    b"GET /api/v1/nodes HTTP/1.1\r\n\r\n",
                    b"GET /api/v1/nodes HTTP/1.1\r\nHost: localhost\r\n"
                    b"Content-Length: 1000000\r\n\r\n" + b"x" * 1000,
                    b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n"
                    b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
                    b"GET /api/v1/nodes?%00=%zz HTTP/1.1\r\nHost: localhost\r\n\r\n",
                    b"GET * HTTP/1.1\r\nHost: localhost\r\n\r\n",
                    b"GET http://evil/api/v1/nodes HTTP/1.1\r\nHost: localhost\r\n\r\n"):
        with server.connect() as connection:
            answer = b""
            with contextlib.suppress(ConnectionError):
                connection.sendall(request)
                connection.shutdown(socket.SHUT_WR)
                answer = read_all(connection)
            assert b" 200 " not in answer[:20], (request[:60], answer[:100])
    assert server.ask().status == 200, "status"
    server.wait("clients", 0)
    server.wait("streams", 0)
