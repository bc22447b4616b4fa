"""The server of the explorer: this machine only, one token, one page, two questions."""

from __future__ import annotations

import hmac
import json
import secrets
import socket
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from redac._version import __version__
from redac.explore.answers import Exploration, QuestionError
from redac.show.bundle import security_policy

_HOST = "127.0.0.1"
_JSON = "application/json"
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
# Seconds after which a connection that says nothing is closed.
_PATIENCE = 30


class ExplorerServer(ThreadingHTTPServer):
    """Serves one exploration. ``address`` is where; nobody who does not know its token is heard."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, exploration: Exploration, port: int = 0) -> None:
        self.exploration = exploration
        self.page = exploration.page().encode()
        self.token = secrets.token_urlsafe(24)
        super().__init__((_HOST, port), _Handler)

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{_HOST}:{self.server_port}/{self.token}/"

    def server_bind(self) -> None:
        """Bind without asking the network what this machine is called."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = _HOST, int(self.server_address[1])

    def server_close(self) -> None:
        """Close, and end the work that is under way."""
        super().server_close()
        self.exploration.newest.close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Somebody has closed the page while an answer was on its way: nothing to tell."""


class _Handler(BaseHTTPRequestHandler):
    server: ExplorerServer
    server_version = f"redac/{__version__}"
    sys_version = ""
    timeout = _PATIENCE

    def do_GET(self) -> None:
        port = self.server.server_port
        # Another host name that leads here belongs to somebody who would like to read along.
        if self.headers.get("Host") not in (f"{_HOST}:{port}", f"localhost:{port}"):
            self._send(HTTPStatus.FORBIDDEN, _JSON, b'{"error":"wrong host"}')
            return
        parts = urlsplit(self.path)
        if parts.path == "/favicon.ico":
            self._send(HTTPStatus.NO_CONTENT, "image/x-icon", b"")
            return
        token, slash, rest = parts.path.removeprefix("/").partition("/")
        if not slash or not hmac.compare_digest(token.encode(), self.server.token.encode()):
            self._send(HTTPStatus.FORBIDDEN, _JSON, b'{"error":"wrong token"}')
            return
        if rest == "":
            self._send(HTTPStatus.OK, "text/html; charset=utf-8", self.server.page)
            return
        exploration = self.server.exploration
        answers = {"fit": exploration.fit, "stability": exploration.stability}
        if rest not in answers:
            self._send(HTTPStatus.NOT_FOUND, _JSON, b'{"error":"no such page"}')
            return
        self._answer(answers[rest], parts.query)

    def _answer(self, answer: Callable[[int, int], str | None], query: str) -> None:
        """The answer to a question, with the number that the page gave it."""
        try:
            given = {name: int(values[-1]) for name, values in parse_qs(query).items()}
            r, k = given["components"], given["cardinality"]
        except (KeyError, ValueError):
            self._send(HTTPStatus.BAD_REQUEST, _JSON, b'{"error":"components and cardinality?"}')
            return
        try:
            text = answer(r, k)
        except QuestionError as error:
            content = json.dumps({"error": str(error)}).encode()
            self._send(HTTPStatus.BAD_REQUEST, _JSON, content)
            return
        except Exception as error:  # the page shows it; the explorer goes on
            content = json.dumps({"error": f"{type(error).__name__}: {error}"}).encode()
            self._send(HTTPStatus.INTERNAL_SERVER_ERROR, _JSON, content)
            return
        head = {"question": given.get("question", 0), "components": r, "cardinality": k}
        if text is None:
            head["outdated"] = True
            text = "{}"
        body = f"{json.dumps(head)[:-1]}{', ' if len(text) > 2 else ''}{text[1:]}"
        self._send(HTTPStatus.OK, _JSON, body.encode())

    def _send(self, status: HTTPStatus, kind: str, content: bytes) -> None:
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        policy = f"{security_policy(live=True)}; frame-ancestors 'none'"
        self.send_header("Content-Security-Policy", policy)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing: the terminal belongs to the user."""
