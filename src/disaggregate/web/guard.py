"""Access control: only a browser on this machine with the token may use the page.

Another site that is open in the same browser could send requests here. So a request must name this host, must not
come from another origin, and must bring the token, which only the address in the terminal has.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlencode

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # with no-referrer a browser would call the origin of our own forms null
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_SAFE = ("GET", "HEAD")
_MOST_ADDRESS = 8192


class TooLarge(Exception):
    """Raised while a request is read that is longer than allowed."""


class Guard:
    """Let permitted requests through, and add headers to all answers.

    Parameters
    ----------
    app : ASGI application
        The page.
    token : str
        What a browser must bring.
    port : int
        Where the page is.
    most_bytes : int
        Longest request.
    """

    def __init__(self, app: App, token: str, port: int, most_bytes: int) -> None:
        self._app, self._token, self._most_bytes = app, token, most_bytes
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}
        self._cookie = f"disaggregate-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        send = _with_headers(send)
        refused = self._refusal(scope, headers)
        if refused is not None:
            await _answer(send, *refused)
            return
        given = _token_in(scope)
        if given is not None and secrets.compare_digest(given.encode(), self._token.encode()):
            await _redirect(send, _without_token(scope), f"{self._cookie}={self._token}")
            return
        if not scope["path"].startswith("/static/") and not self._has_token(headers):
            await _answer(
                send, 403, "No token. Open the address that `disaggregate serve` printed in the terminal."
            )
            return
        await self._pass_on(scope, receive, send)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False
        left = self._most_bytes

        async def counted() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise TooLarge
            return message

        async def noted(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, counted, noted)
        except TooLarge:
            if not started:
                await _answer(send, 413, _too_large(self._most_bytes))

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        if headers.get("host", "").lower() not in self._hosts:
            return 421, "Another host. This page answers to 127.0.0.1 and localhost only."
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > _MOST_ADDRESS:
            return 414, "The address is too long."
        origin = headers.get("origin")
        if origin is not None and origin.lower().removeprefix("http://") not in self._hosts:
            return 403, "Another origin. Requests must come from this page itself."
        if scope["method"] not in _SAFE and headers.get("sec-fetch-site", "same-origin") not in (
            "same-origin",
            "none",
        ):
            return 403, "Another site. Requests must come from this page itself."
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self._most_bytes:
            return 413, _too_large(self._most_bytes)
        return None

    def _has_token(self, headers: dict[str, str]) -> bool:
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(self._cookie)
        except CookieError:
            return False
        return cookie is not None and secrets.compare_digest(cookie.value.encode(), self._token.encode())


def _too_large(most_bytes: int) -> str:
    return f"Too large. Files of {most_bytes // 2**20} MB together are the most; use the command line for more."


def _token_in(scope: Scope) -> str | None:
    found = parse_qs(scope["query_string"].decode("latin-1")).get("token")
    return found[0] if found and scope["method"] in _SAFE else None


def _without_token(scope: Scope) -> str:
    """Return the address without the token; of one's own host, whatever the path begins with."""
    query = parse_qs(scope["query_string"].decode("latin-1"))
    query.pop("token", None)
    rest = f"?{urlencode(query, doseq=True)}" if query else ""
    path = "/" + scope.get("raw_path", b"/").split(b"?")[0].decode("latin-1").lstrip("/\\")
    return path + rest


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            names = {name.lower() for name, _ in message["headers"]}
            more = [
                (name.encode(), value.encode()) for name, value in HEADERS.items() if name.encode() not in names
            ]
            message = {**message, "headers": [*message["headers"], *more]}
        await send(message)

    return sent


async def _answer(send: Send, status: int, text: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})


async def _redirect(send: Send, where: str, cookie: str) -> None:
    headers = [
        (b"location", where.encode("latin-1")),
        (b"set-cookie", f"{cookie}; Path=/; HttpOnly; SameSite=Strict".encode("latin-1")),
    ]
    await send({"type": "http.response.start", "status": 303, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
