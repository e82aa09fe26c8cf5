"""gunicorn worker that gives a thread only to whole requests, so that slow clients do not occupy threads.

gunicorn's threads read requests themselves, so a slow client per thread is enough to block a server. This worker peeks
at the received data and waits for the rest of a request in its event loop, for at most `SECONDS`. It waits for up to
`BODY` bytes of a body, the limit for clients without a login; a thread reads the rest of longer bodies.
"""

from __future__ import annotations

import re
import socket
import time
from bisect import insort
from contextlib import suppress
from functools import partial
from operator import attrgetter
from selectors import EVENT_READ
from typing import Any

from gunicorn.workers.gthread import ThreadWorker

SECONDS = 10.0
# Maximum bytes of the request line with headers, and of the body.
HEAD, BODY = 32 << 10, 64 << 10
# Seconds to wait for the unread rest of a body before the connection is closed instead of reused.
REST = 0.5
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d{1,18})[ \t]*\r\n", re.IGNORECASE)
_EXPECT = re.compile(rb"\r\nexpect:[ \t]*100-continue[ \t]*\r\n", re.IGNORECASE)


class WebWorker(ThreadWorker):  # type: ignore[misc]
    """Worker whose threads receive only requests that have arrived."""

    def enqueue_req(self, conn: Any) -> None:
        """Pass a connection to a thread if its request has arrived; otherwise wait for more data."""
        if self.cfg.is_ssl or (conn.parser is not None and conn.parser.unreader.buf.getvalue()):
            super().enqueue_req(conn)
            return
        conn.sock.setblocking(False)
        try:
            data: bytes | None = conn.sock.recv(HEAD + BODY, socket.MSG_PEEK)
        except BlockingIOError:
            data = None
        except OSError:
            data = b""
        before, conn.arrived = getattr(conn, "arrived", 0), 0 if data is None else len(data)
        wanted = 1 if data is None else _wanted(data)
        # A wake-up without new data means the end of the connection or a full kernel buffer: pass it to a thread.
        if data == b"" or (data is not None and (len(data) >= wanted or len(data) == before)):
            conn.arrived, conn.due = 0, None
            conn.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1)
            conn.data_ready = True
            super().enqueue_req(conn)
        elif data is not None and wanted > HEAD + BODY:
            self.nr_conns -= 1
            conn.close()
        else:
            self._wait(conn, data or b"", wanted)

    def _wait(self, conn: Any, data: bytes, wanted: int) -> None:
        """Wait in the event loop until this many bytes have arrived."""
        if getattr(conn, "due", None) is None:
            conn.due, conn.continued = time.monotonic() + SECONDS, False
        if not conn.continued and _EXPECT.search(data):
            with suppress(OSError):
                conn.sock.send(b"HTTP/1.1 100 Continue\r\n\r\n")
            conn.continued = True
        conn.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, wanted)
        conn.timeout = conn.due
        insort(self.pending_conns, conn, key=attrgetter("timeout"))
        self.poller.register(conn.sock, EVENT_READ, partial(self.on_pending_socket_readable, conn))

    def _keepalive_after(self, conn: Any, keepalive: bool) -> bool:
        """Return whether the connection can serve another request; the unread rest of a body makes it unusable."""
        return bool(keepalive and conn.parser.finish_body(deadline=time.monotonic() + REST))


def _wanted(data: bytes) -> int:
    """Return the number of bytes to wait for, or more than fit if the headers are too long."""
    head = data.find(b"\r\n\r\n") + 4
    if head < 4:
        return len(data) + 1 if len(data) < HEAD else HEAD + BODY + 1
    length = _LENGTH.search(data, 0, head)
    return head + min(int(length[1]) if length else 0, BODY)
