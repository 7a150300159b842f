"""Who is let in: this host, this origin, the token; and nothing that is too large."""

import pytest
from starlette.testclient import TestClient

from disaggregate.web.app import make_app
from disaggregate.web.guard import Guard
from disaggregate.web.limits import Limits
from tests.web.conftest import BASE, LIMITS, PORT, TOKEN, sent


def test_without_the_token_nothing_is_reported(stranger, pages):
    for address in ("/", "/?token=wrong", "/s/x/columns", "/s/x/files/report.html"):
        answer = stranger.get(address)
        assert answer.status_code == 403
        assert "token" in answer.text.lower()
    assert stranger.post("/example", data={"name": "country"}).status_code == 403
    assert len(pages.sessions) == 0


def test_the_token_becomes_a_cookie_and_leaves_the_address(stranger):
    answer = stranger.get(f"/?token={TOKEN}&by=a")
    stranger.cookies.clear()
    assert answer.status_code == 303
    assert answer.headers["location"] == "/?by=a"
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert "SameSite=Strict" in answer.headers["set-cookie"]


def test_the_redirect_stays_on_this_host(stranger):
    answer = stranger.get(f"{BASE}//elsewhere.invalid/?token={TOKEN}")
    stranger.cookies.clear()
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/elsewhere")


@pytest.mark.parametrize(
    "host", ["elsewhere.invalid", f"elsewhere.invalid:{PORT}", "127.0.0.1", "", f"127.0.0.1:{PORT}1"]
)
def test_another_host_is_refused(client, host):
    answer = client.get("/", headers={"host": host})
    assert answer.status_code == 421
    assert "host" in answer.text.lower()


@pytest.mark.parametrize(
    "origin", ["http://elsewhere.invalid", "null", f"https://127.0.0.1:{PORT}", "http://127.0.0.1:1"]
)
def test_another_origin_is_refused(client, pages, origin):
    answer = client.post("/example", data={"name": "country"}, headers={"origin": origin})
    assert answer.status_code == 403
    assert "origin" in answer.text.lower()
    assert len(pages.sessions) == 0


def test_another_site_is_refused(client):
    answer = client.post("/example", data={"name": "country"}, headers={"sec-fetch-site": "cross-site"})
    assert answer.status_code == 403


def test_every_answer_has_the_policy(client, stranger):
    for answer in (client.get("/"), client.get("/nothing"), stranger.get("/"), client.get("/static/web.css")):
        assert answer.headers["content-security-policy"].startswith("default-src 'self'")
        assert answer.headers["x-content-type-options"] == "nosniff"
    page = client.get("/").text
    assert "://" not in page
    assert "<script>" not in page
    assert "style=" not in page


def test_a_large_upload_is_refused_before_it_is_read(client):
    answer = client.post("/tables", headers={"content-length": str(5 * 2**30)}, content=b"x")
    assert answer.status_code == 413
    assert "large" in answer.text.lower()


def test_a_large_upload_that_hides_its_length_is_refused(client, pages):
    def chunks():
        yield b'--b\r\nContent-Disposition: form-data; name="people"; filename="p.csv"\r\n\r\n'
        for _ in range(LIMITS.upload // 1000 + 10):
            yield b"x" * 1000

    answer = client.post("/tables", content=chunks(), headers={"content-type": "multipart/form-data; boundary=b"})
    assert answer.status_code == 413
    assert len(pages.sessions) == 0


@pytest.mark.parametrize(
    "address",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/s/../../etc/passwd",
        "/s/x/files/..%2f..%2fjob.json",
    ],
)
def test_paths_lead_nowhere_else(client, address):
    assert client.get(address).status_code == 404


def test_files_are_kept_under_names_of_ours(client, pages, none_open):
    names = ("../../../tmp/evil.csv", "..\\..\\windows\\r.csv")
    answer = client.post("/tables", files=sent(names=names))
    assert answer.status_code == 303
    (session,) = pages.sessions.all()
    assert sorted(file.name for file in session.folder.iterdir()) == ["people.csv", "results.csv"]
    assert session.names == {"people": "evil.csv", "results": "r.csv"}
    assert session.folder.stat().st_mode & 0o777 == 0o700
    for name in ("job.json", "fit.log", "fit_people.csv", "checkpoint.dgc"):
        assert client.get(f"/s/{session.key}/files/{name}").status_code == 404


def test_only_so_many_sessions_are_open(client, pages, none_open):
    answers = [client.post("/tables", files=sent()).status_code for _ in range(LIMITS.sessions + 2)]
    assert answers == [303] * LIMITS.sessions + [429] * 2
    page = client.post("/tables", files=sent())
    assert "Close one" in page.text
    assert len(list(pages.sessions._folder.iterdir())) == LIMITS.sessions
    key = pages.sessions.all()[0].key
    folder = pages.sessions.get(key).folder
    assert client.post(f"/s/{key}/close").status_code == 303
    assert not folder.exists()
    assert client.post("/tables", files=sent()).status_code == 303


def test_of_200_sessions_most_are_refused_and_the_first_stay(tmp_path):
    """With the bounds as they are; what is read is made up, as reading has bounds of its own."""
    limits = Limits()
    app = make_app(tmp_path, limits)
    pages = app.state.pages
    columns = [{"name": "district", "role": "group", "kind": "number", "examples": []}]
    table = {"columns": columns, "preview": [], "n_rows": 4}

    async def looked(*_):
        return {"people": table, "results": table, "sampled": False}

    pages.tasks.run = looked
    with TestClient(Guard(app, TOKEN, PORT, limits.upload), base_url=BASE, follow_redirects=False) as client:
        client.get(f"/?token={TOKEN}")
        answers = [client.post("/tables", files=sent()) for _ in range(200)]
        assert [answer.status_code for answer in answers] == [303] * limits.sessions + [429] * (
            200 - limits.sessions
        )
        assert "Close one" in answers[-1].text
        assert all(
            client.get(answer.headers["location"]).status_code == 200 for answer in answers[: limits.sessions]
        )
    assert len(list(tmp_path.iterdir())) == limits.sessions


def test_files_on_their_way_leave_nothing_behind(client, pages, none_open):
    """A request that is broken off within a file, or has too many of them."""
    broken = b'--b\r\nContent-Disposition: form-data; name="people"; filename="p.csv"\r\n\r\nabc'
    for body in (broken, b"--b--", b"", b"\x00" * 1000):
        answer = client.post("/tables", content=body, headers={"content-type": "multipart/form-data; boundary=b"})
        assert answer.status_code == 400
    many = [("people", (f"p{number}.csv", "a")) for number in range(5)]
    assert client.post("/tables", files=many).status_code == 400
    assert len(pages.sessions) == 0
