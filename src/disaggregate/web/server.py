"""The server: on this machine only, behind a token, with a private folder that is deleted when it stops."""

from __future__ import annotations

import secrets
import signal
import socket
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path

from disaggregate.web.limits import Limits

MISSING = "The page needs starlette, uvicorn and python-multipart. Run: pip install 'disaggregate[web]'"
HOST = "127.0.0.1"


def serve(
    port: int = 0, *, browser: bool = True, say: Callable[[str], object] = print, limits: Limits | None = None
) -> None:
    """Serve the page until Ctrl-C.

    Parameters
    ----------
    port : int, default=0
        Where; 0 for any that is free.
    browser : bool, default=True
        Whether to open it in a browser.
    say : callable
        Called with the address.
    limits : Limits, optional
        Bounds.
    """
    try:
        import multipart  # type: ignore[import-untyped,unused-ignore]  # noqa: F401
        import uvicorn

        from disaggregate.web.app import make_app
        from disaggregate.web.guard import Guard
    except ImportError as error:
        raise ImportError(MISSING) from error

    bounds = limits or Limits()
    token = secrets.token_urlsafe(24)
    with socket.socket() as listener, tempfile.TemporaryDirectory(prefix="disaggregate-") as folder:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except OSError as error:
            raise OSError(
                f"port {port} is not available ({error.strerror}); give another --port, or none."
            ) from error
        listener.listen(128)  # connections before the server is ready wait for it
        number = listener.getsockname()[1]
        address = f"http://{HOST}:{number}/?token={token}"
        app = Guard(make_app(Path(folder), bounds), token, number, bounds.upload)
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            lifespan="on",
            timeout_graceful_shutdown=2,
        )
        say(f"The page is at {address}")
        say("It runs on this machine only. Files are kept until it stops: Ctrl-C.")
        if browser:
            threading.Timer(0.5, webbrowser.open, (address,)).start()
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # else the folder would stay behind
        uvicorn.Server(config).run(sockets=[listener])
