"""A real server under attack: what is too much is refused by name, in bounded memory, and others are answered."""

import contextlib
import gzip
import http.client
import io
import os
import re
import signal
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

import pytest

from tests.web.conftest import PEOPLE, RESULTS

UPLOAD = 16 * 2**20
CODE = f"""
from disaggregate.web.limits import Limits
from disaggregate.web.server import serve
serve(browser=False, say=lambda text: print(text, flush=True), limits=Limits(upload={UPLOAD}, task_seconds=90.0))
"""
PATIENCE = 10.0  # seconds for a page while others attack; it takes milliseconds on a quiet machine
pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="looks at memory in /proc")


class Server:
    """A server in a process of its own."""

    def __init__(self, command=(sys.executable, "-c", CODE), env=None):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
        found = re.search(r":(\d+)/\?token=(\S+)", self.process.stdout.readline())
        self.port, self.token = int(found[1]), found[2]

    def ask(self, path="/", method="GET", body=None, **headers):
        """Return status and page, also if the server hangs up before all was sent."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        sent = {"Cookie": f"disaggregate-{self.port}={self.token}", **headers}
        named = {name.replace("_", "-"): text for name, text in sent.items()}
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it answers before all was sent
            connection.request(method, path, body, named)
        try:
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    @property
    def peak(self):
        """Most memory that the server itself ever had, in bytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return 1024 * int(re.search(r"VmHWM:\s+(\d+)", status)[1])


@pytest.fixture(scope="module")
def server():
    running = Server()
    running.ask()
    yield running
    running.process.terminate()  # not killed: its folder goes with it
    running.process.wait()


@pytest.fixture
def others(server):
    """Open the start page all the time while something else happens, and judge how long that took."""
    times, over = [], threading.Event()

    def visit():
        while len(times) < 3 or not over.is_set():
            started = time.monotonic()
            assert server.ask()[0] == 200
            times.append(time.monotonic() - started)
            over.wait(0.02)

    thread = threading.Thread(target=visit)
    thread.start()
    yield times
    over.set()
    thread.join()
    assert sorted(times)[len(times) // 2] < PATIENCE


def form(people, name):
    """Write a form with two files."""
    parts = []
    for field, file, content in (("people", name, people), ("results", "results.csv", RESULTS.encode())):
        head = f'--b\r\nContent-Disposition: form-data; name="{field}"; filename="{file}"\r\n\r\n'
        parts += [head.encode(), content, b"\r\n"]
    return b"".join([*parts, b"--b--\r\n"])


def send(server, people, name):
    return server.ask("/tables", "POST", form(people, name), Content_Type="multipart/form-data; boundary=b")


def book(sheet):
    """Make a workbook of which only the sheet is there, in pieces."""
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as part,
    ):
        for piece in sheet:
            part.write(piece)
    return packed.getvalue()


def test_an_upload_of_5_gb_is_refused_before_it_comes(server, others):
    before = server.peak
    status, page = server.ask("/tables", "POST", b"x", Content_Length=str(5 * 2**30))
    assert status == 413
    assert "large" in page
    assert server.peak < before + 2**24


def test_an_upload_that_never_ends_is_refused_on_the_way(server, others):
    sent = 0

    def pieces():
        nonlocal sent
        yield b'--b\r\nContent-Disposition: form-data; name="people"; filename="p.csv"\r\n\r\n'
        while sent < 8 * UPLOAD:
            sent += 2**20
            yield b"x" * 2**20

    before = server.peak
    status, page = server.ask("/tables", "POST", pieces(), Content_Type="multipart/form-data; boundary=b")
    assert status == 413
    assert "large" in page.lower()
    assert server.peak < before + 2**26


def assert_refused_by_size(server, bomb, name):
    assert len(bomb) < UPLOAD
    before = server.peak
    status, page = send(server, bomb, name)
    assert status == 400
    assert "expands to" in page
    assert server.peak < before + 2**26


def test_a_zip_bomb_is_refused_by_its_size(server, others):
    pytest.importorskip("openpyxl")
    blanks = b" " * 2**20
    bomb = book(blanks for _ in range(300))
    assert_refused_by_size(server, bomb, "people.xlsx")


@pytest.mark.parametrize("name", ["people.csv.gz", "people.parquet", "people.xlsx", "people.csv"])
def test_rubbish_is_refused_in_words(server, name):
    status, page = send(server, b"PK\x03\x04\x00" * 1000, name)
    assert status == 400
    assert 'role="alert"' in page
    assert "Traceback" not in page
    assert "disaggregate-" not in page  # where the files are


def test_a_gzip_bomb_is_refused_by_its_size(server, others):
    line = b"d0,20,f," + b"p" * 10**5 + b"\n"  # few and long, as lines are looked at one by one
    bomb = gzip.compress(PEOPLE.encode() + line * 1000, compresslevel=1)
    assert_refused_by_size(server, bomb, "people.csv.gz")


def test_a_task_cannot_take_all_memory():
    code = (
        "from multiprocessing import Pipe\n"
        "from disaggregate.web import task_runner, tasks\n"
        "tasks.ready = lambda: len(bytearray(2**33))\n"
        "ours, theirs = Pipe(duplex=False)\n"
        "task_runner.work(theirs, 'ready', (), 2**31)\n"
        "print(ours.recv())"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "False" in ended.stdout
    assert "memory" in ended.stdout


@pytest.mark.parametrize("signal_number", [signal.SIGTERM, signal.SIGINT])
def test_files_are_private_and_go_with_the_server(tmp_path, signal_number):
    command = [sys.executable, "-m", "disaggregate.cli.main", "serve", "--no-browser"]
    running = Server(command, {**os.environ, "TMPDIR": str(tmp_path)})
    try:
        assert send(running, PEOPLE.encode(), "people.csv")[0] == 303
        [folder] = tmp_path.glob("disaggregate-*")
        assert folder.stat().st_mode & 0o777 == 0o700
        assert len(list(folder.rglob("people.csv"))) == 1
    finally:
        running.process.send_signal(signal_number)
        assert running.process.wait(timeout=30) == 0
    assert list(tmp_path.iterdir()) == []
