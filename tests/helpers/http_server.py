"""An HTTP server of this machine for tests of downloads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server(ThreadingHTTPServer):
    """A server that ends with its test, whatever its clients do."""

    daemon_threads = True

    def __init__(self, handler: type[Handler]) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.closing = threading.Event()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that close the connection: many tests do."""


class Handler(BaseHTTPRequestHandler):
    """Answers at once, or byte by byte."""

    server: Server

    def do_GET(self) -> None:
        self.respond()

    def respond(self) -> None:
        raise NotImplementedError

    def answer(self, status: int, content: bytes, send: int | None = None, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[:send])

    def drip(self, content: bytes) -> None:
        for byte in content:
            if self.server.closing.wait(0.02):
                return
            self.wfile.write(bytes([byte]))

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def running(server: Server) -> Iterator[None]:
    """Serve in a thread."""
    with server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield
        server.closing.set()
        server.shutdown()
        thread.join()
