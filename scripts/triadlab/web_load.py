# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Clients of a triadd, many at one time: scrapers of its metrics, browsers with its page, and
a receiver of its alerts that takes each and never answers."""

import asyncio
import contextlib
import threading

# A scraper asks so long after its last answer, a page so long after a change.
_SCRAPE_S = 1
_TOGETHER_S = 0.3
_AGAIN_S = 1
# What the page asks for when something has changed: for its header, and for a view.
_ASKED = ("health", "status", "links")
_REQUEST = "GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n"


class _Silent(asyncio.Protocol):
    """A receiver of alerts."""

    def __init__(self, counts):
        self._counts = counts

    def connection_made(self, _transport):
        self._counts["webhook"] += 1


class WebLoad:
    """Within it the clients ask, in a thread; 'counts', a Counter, gets what became of their
    requests."""

    def __init__(self, metrics, page, n_scrapers, n_pages, counts):
        self.counts = counts
        self.webhook = None  # its URL
        self._clients = [lambda: self._scrape(metrics)] * n_scrapers + \
            [lambda: self._browse(page)] * n_pages
        self._ends = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=lambda: self._loop.run_until_complete(self._run()))
        self._has_begun = threading.Event()

    def __enter__(self):
        self._thread.start()
        self._has_begun.wait()
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._ends.set)
        self._thread.join()
        self._loop.close()

    async def _run(self):
        self._ends = asyncio.Event()
        silent = await self._loop.create_server(lambda: _Silent(self.counts), "127.0.0.1", 0)
        self.webhook = f"http://127.0.0.1:{silent.sockets[0].getsockname()[1]}/"
        self._has_begun.set()
        tasks = [asyncio.create_task(self._again(client)) for client in self._clients]
        await self._ends.wait()
        silent.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _again(self, client):
        while True:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                await client()
            await asyncio.sleep(_AGAIN_S)

    async def _get(self, address, path, what, take=None):
        """Reads an answer to its end, or calls take(reader) for what follows its head."""
        host, _, port = address.rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        try:
            writer.write(_REQUEST.format(path=path).encode())
            status = (await reader.readuntil(b"\r\n")).split()[1].decode()
            self.counts[f"{what} {status}"] += 1
            while take and status == "200":
                await take(reader)
            while await reader.read(65536):
                pass
        except (OSError, asyncio.IncompleteReadError):
            self.counts[f"{what} refused"] += 1
        finally:
            writer.close()

    async def _scrape(self, metrics):
        await self._get(metrics, "/metrics", "metrics")
        await asyncio.sleep(_SCRAPE_S)

    async def _browse(self, page):
        async def take(reader):
            if (await reader.readuntil(b"\n")).startswith(b"event:"):
                await asyncio.sleep(_TOGETHER_S)
                await asyncio.gather(*(self._get(page, f"/api/v1/{it}", "page")
                                       for it in _ASKED))
        await self._get(page, "/api/v1/changes", "stream", take)
