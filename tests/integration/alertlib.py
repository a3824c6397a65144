# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Who is told of alerts: the real Alertmanager, and a server that makes trouble."""

import http.server
import json
import os
import ssl
import subprocess
import threading
import urllib.error
import urllib.request

import pytest

from checks import wait_until
from labs import TRIADD, need
from triadlab.tcp_ports import free_port

_ALERTMANAGER = "/usr/bin/prometheus-alertmanager"


class Alertmanager:
    """Debian's Alertmanager, which forgets all alerts when it ends.  'conf' is its configuration;
    it tells nobody."""

    def __init__(self, scratch, conf=None):
        need(TRIADD)
        if not os.path.exists(_ALERTMANAGER):
            pytest.skip("prometheus-alertmanager is not installed")
        self._folder = scratch.folder()
        self._port = free_port()
        self._process = None
        (self._folder / "conf.yml").write_text(conf or
            "route:\n  receiver: nobody\n  group_by: [alertname]\n  group_wait: 0s\n"
            "receivers:\n  - name: nobody\n", encoding="utf-8")
        scratch.callback(self.stop)

    @property
    def url(self):
        return f"http://127.0.0.1:{self._port}/api/v2/alerts"

    def start(self):
        with open(self._folder / "log", "a", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                [_ALERTMANAGER, f"--config.file={self._folder}/conf.yml",
                 f"--storage.path={self._folder}/data", "--cluster.listen-address=",
                 f"--web.listen-address=127.0.0.1:{self._port}"],
                stdout=log, stderr=log)
        wait_until(lambda: self._get("status") is not None, 60, "Alertmanager")

    def stop(self):
        if self._process:
            self._process.kill()
            self._process.wait()
        self._process = None

    def _get(self, what):
        try:
            with urllib.request.urlopen(self.url.replace("alerts", what)) as answer:
                return json.load(answer)
        except urllib.error.URLError:
            return None

    def alerts(self):
        """Those that are active, by name and (GUID, port)."""
        return {(alert["labels"]["alertname"], alert["labels"]["guid"],
                 alert["labels"].get("port")): alert
                for alert in self._get("alerts")}

    def take(self, *alerts):
        """Each is the labels of one."""
        request = urllib.request.Request(
            self.url, json.dumps([{"labels": labels} for labels in alerts]).encode(),
            {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            assert answer.status == 200

    def inhibited(self):
        """Names and GUIDs of those of which nobody is told, since another one says it better."""
        return {(alert["labels"]["alertname"], alert["labels"].get("guid"))
                for alert in self._get("alerts") if alert["status"]["inhibitedBy"]}

    def groups(self):
        return {group["labels"]["alertname"]: len(group["alerts"])
                for group in self._get("alerts/groups")}


class Receiver(http.server.ThreadingHTTPServer):
    """Takes what is sent to it, and makes trouble when told to."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, scratch, tls=None):
        need(TRIADD)
        super().__init__(("127.0.0.1", 0), _Handler)
        self.bodies, self.paths = [], []
        self.token = self.redirect = None
        self.let_go = threading.Event()  # nothing is answered before
        self.let_go.set()
        self._scheme = "http"
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            # The handshake is for the thread of the request: a client that breaks it off
            # must not end the server.
            self.socket = context.wrap_socket(self.socket, server_side=True,
                                              do_handshake_on_connect=False)
            self._scheme = "https"
        scratch.callback(self.server_close)
        scratch.callback(self.shutdown)
        scratch.callback(self.let_go.set)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"{self._scheme}://localhost:{self.server_address[1]}/alerts?fabric=a"

    def handle_error(self, request, client_address):
        pass  # clients that refuse the certificate

    def alerts(self):
        """The last that was said of each alert."""
        return {alert["labels"]["guid"]: alert for body in list(self.bodies)
                for alert in body}


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):  # pylint: disable=invalid-name
        body = self.rfile.read(int(self.headers["Content-Length"]))
        server = self.server
        server.paths.append(self.path)
        server.let_go.wait()
        if server.redirect:
            self._answer(302, Location=server.redirect)
        elif server.token and self.headers["Authorization"] != f"Bearer {server.token}":
            self._answer(401, b"who are you?\x1b[31m\n")
        else:
            assert self.headers["Content-Type"] == "application/json"
            server.bodies.append(json.loads(body))
            self._answer(200)

    def _answer(self, code, text=b"", **headers):
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format, *args):  # pylint: disable=redefined-builtin
        pass
