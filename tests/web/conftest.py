"""The page behind its guard, and a client that has the token."""

import pytest

pytest.importorskip("starlette")
pytest.importorskip("multipart")

from starlette.testclient import TestClient

from disaggregate.web.app import make_app
from disaggregate.web.guard import Guard
from disaggregate.web.limits import Limits

PORT, TOKEN = 8123, "right-token"
LIMITS = Limits(upload=300_000, sessions=3, fits=1, task_seconds=60.0)
BASE = f"http://127.0.0.1:{PORT}"
PEOPLE = "district,age,sex,id\n" + "".join(
    f"d{row % 4},{20 + row % 50},{'fm'[row % 2]},p{row}\n" for row in range(80)
)
RESULTS = "district,share\nd0,0.5\nd1,0.25\nd2,0.75\nd3,0.4\n"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    app = make_app(tmp_path_factory.mktemp("web"), LIMITS)
    return Guard(app, TOKEN, PORT, LIMITS.upload), app.state.pages


@pytest.fixture(scope="module")
def pages(guarded):
    return guarded[1]


@pytest.fixture(scope="module")
def stranger(guarded):
    with TestClient(guarded[0], base_url=BASE, follow_redirects=False) as client:
        yield client


@pytest.fixture(scope="module")
def client(guarded, stranger):
    known = TestClient(guarded[0], base_url=BASE, follow_redirects=False)
    known.portal = stranger.portal  # one event loop for both
    assert known.get(f"/?token={TOKEN}").status_code == 303
    return known


@pytest.fixture
def none_open(pages):
    yield
    for session in list(pages.sessions.all()):
        pages.fits.forget(session.key)
        pages.sessions.remove(session.key)


def sent(people=PEOPLE, results=RESULTS, names=("people.csv", "results.csv")):
    return {"people": (names[0], people), "results": (names[1], results)}
