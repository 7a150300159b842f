"""The pages: each step is an address that can be reloaded; what is computed is a task or a fit."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Route

from disaggregate.web.downloads import commands, python_code
from disaggregate.web.fit_length import estimate, expected_seconds, settings_of
from disaggregate.web.fits import Fits
from disaggregate.web.forms import (
    LONGEST_NAME,
    PEOPLE_ROLES,
    RESULTS_ROLES,
    FormError,
    read_columns,
    read_fewest,
    read_length,
    read_settled,
    read_way,
    roles_sent,
)
from disaggregate.web.guard import TooLarge
from disaggregate.web.limits import Limits
from disaggregate.web.progress_text import describe
from disaggregate.web.sessions import STEPS, Session, Sessions, TooMany
from disaggregate.web.task_runner import TaskError, TaskRunner

_STATIC = {
    "page.css": ("report/page.css", "text/css"),
    "sort.js": ("report/sort.js", "text/javascript"),
    "icon.svg": ("web/static/icon.svg", "image/svg+xml"),
    "web.css": ("web/static/web.css", "text/css"),
    "web.js": ("web/static/web.js", "text/javascript"),
}
# What may be taken home: the file in the folder, and its name.
_FILES = {
    "report.html": "report.html",
    "groups.csv": "groups.csv",
    "subgroups.csv": "subgroups.csv",
    "effects.csv": "effects.csv",
    "predictions.csv": "predictions.csv",
    "tables.xlsx": "tables.xlsx",
    "model.dgz": "model.dgz",
    "people.csv": "fit_people.csv",
    "results.csv": "fit_results.csv",
}
_TITLES = dict(zip(STEPS, ("Columns", "Check", "Fit", "Answer", "Take home"), strict=True))
_ENDING = re.compile(r"(\.[a-z0-9]{1,8}){1,2}$")
_CHUNK = 2**20
_MOST_FIELDS = 1200
_NOT_OPEN = "This analysis is not open any more. Its files were deleted when it was closed."
_OF_REPORT = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; sandbox allow-scripts"


class Pages:
    """Answers requests.

    Parameters
    ----------
    folder : Path
        Private folder of the server.
    limits : Limits
        Bounds.
    """

    def __init__(self, folder: Path, limits: Limits) -> None:
        self.sessions, self.fits = Sessions(folder, limits.sessions), Fits(limits.fits)
        self._limits, self.tasks = limits, TaskRunner(limits)
        # Looked for from above: looking into the folder of the report would import it, and with it the library.
        self._static = {
            name: (files("disaggregate").joinpath(path).read_text(encoding="utf-8"), kind)
            for name, (path, kind) in _STATIC.items()
        }
        self._templates = Environment(
            loader=PackageLoader("disaggregate.web", "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )

    # ---- tables ------------------------------------------------------------------------------------------

    async def start(self, request: Request) -> Response:
        """Show the first step, and the analyses that are open."""
        return self._start()

    async def example(self, request: Request) -> Response:
        """Open a session with an example."""
        form = await request.form(max_files=0, max_fields=_MOST_FIELDS)
        name = str(form.get("name", ""))
        return await self._opened("make_example", {"people": "people.csv", "results": "results.csv"}, name=name)

    async def upload(self, request: Request) -> Response:
        """Open a session with two files."""
        async with request.form(max_files=2, max_fields=10) as form:
            given = {kind: form.get(kind) for kind in ("people", "results")}
            for kind, file in given.items():
                if file is None or isinstance(file, str) or not file.filename:
                    return self._start(f"Choose a file of {kind}, too: both tables are needed.", 400)
            return await self._opened("look", given)

    async def _opened(self, task: str, given: dict[str, Any], name: str = "") -> Response:
        try:
            session = self.sessions.new()
        except TooMany as error:
            return self._start(str(error), 429)
        try:
            if name:
                found = await self.tasks.run(task, str(session.folder), name)
                session.names = session.files = dict(given)
                found["outcome"] = {"country": "voted purple", "new-york": "voted for the challenger"}[name]
            else:
                for kind, file in given.items():
                    session.names[kind], session.files[kind] = await _kept(file, session.folder, kind)
                found = await self._looked(session)
        except BaseException as error:
            self.sessions.remove(session.key)
            if isinstance(error, TaskError):
                return self._start(str(error), 400)
            raise
        return _to(session, session.take(found))

    async def _looked(self, session: Session) -> dict[str, Any]:
        found: dict[str, Any] = await self.tasks.run("look", str(session.folder), session.files, session.readings)
        return found

    async def tables(self, request: Request) -> Response:
        """Show the ways in which the tables can be read, or take one of them."""
        session = self._opened_session(request)
        if request.method == "GET":
            return self._ways(session) if session.unread else _to(session, "columns")
        form = await request.form(max_files=0, max_fields=_MOST_FIELDS)
        before = session.readings, session.files
        if form.get("settle") == "undo":
            session.unsettle()
        session.resolve(read_way(form, session.unread))
        try:
            return _to(session, session.take(await self._looked(session)))
        except TaskError as error:  # as it was before
            session.readings, session.files = before
            return (
                self._ways(session, str(error), 400) if session.unread else self._columns(session, str(error), 400)
            )

    def _ways(self, session: Session, problem: str = "", status: int = 200) -> Response:
        return self._page("tables.html.j2", status, session=session, problem=problem)

    def _start(self, problem: str = "", status: int = 200) -> Response:
        opened = [(one, self.fits.state(one.key)["state"]) for one in self.sessions.all()]
        return self._page("start.html.j2", status, problem=problem, sessions=opened, limits=self._limits)

    async def close(self, request: Request) -> Response:
        """Close a session, and remove its files."""
        session = self._opened_session(request)
        self.fits.forget(session.key)
        self.sessions.remove(session.key)
        return RedirectResponse("/", 303)

    # ---- columns and check -------------------------------------------------------------------------------

    async def columns(self, request: Request) -> Response:
        """Show which column is what, or take a choice of it."""
        session = self._session(request)
        if request.method == "GET":
            return self._columns(session)
        form = await request.form(max_files=0, max_fields=_MOST_FIELDS)
        assert session.looked is not None
        try:
            session.choice = read_columns(form, session.looked)
            await self._check(session)
        except (FormError, TaskError) as error:
            return self._columns(session, str(error), 400, form)
        return _to(session, "check")

    def _columns(self, session: Session, problem: str = "", status: int = 200, sent: Any = None) -> Response:
        """Show the step with what was sent, else with what was chosen before, else with what is guessed."""
        assert session.looked is not None
        roles = {"people": PEOPLE_ROLES, "results": RESULTS_ROLES}
        chosen = session.choice or {**session.looked, "fields": {}}
        fields = dict(chosen["fields"])
        if sent is not None:
            chosen = {
                "outcome": str(sent.get("outcome", ""))[:LONGEST_NAME],
                "sampled": sent.get("sampled") == "yes",
            }
            fields = roles_sent(sent, session.looked)
        tables = {
            table: [
                {**column, "role": fields.get(f"{table}-{column['name']}", column["role"])}
                for column in session.looked[table]["columns"]
            ]
            for table in roles
        }
        return self._step(
            session,
            "columns",
            status,
            problem=problem,
            tables=tables,
            roles=roles,
            chosen=chosen,
            looked=session.looked,
        )

    async def check(self, request: Request) -> Response:
        """Show every problem of the tables, or settle one."""
        session = self._session(request)
        if session.choice is None or session.checked is None:
            return _to(session, "columns")
        problem = ""
        if request.method == "POST":
            form = await request.form(max_files=0, max_fields=_MOST_FIELDS)
            session.choice["reading"] |= read_settled(form, session.checked["problems"])
            if form.get("settle") == "undo":
                session.choice["reading"] = {}
            try:
                await self._check(session)
            except TaskError as error:
                problem = str(error)
            else:
                return _to(session, "check")
        return self._step(session, "check", checked=session.checked, problem=problem)

    async def _check(self, session: Session) -> None:
        session.checked = await self.tasks.run(
            "check", str(session.folder), session.files, session.readings, session.choice
        )

    # ---- fit ---------------------------------------------------------------------------------------------

    async def fit(self, request: Request) -> Response:
        """Show how far the fit is, or start, stop or resume one."""
        session = self._session(request)
        if session.checked is None or not session.checked["ready"]:
            return _to(session, "check")
        n_rows = session.checked["n_rows"]
        if request.method == "POST":
            form = await request.form(max_files=0, max_fields=_MOST_FIELDS)
            action = form.get("action")
            if action == "stop":
                self.fits.stop(session.key)
            elif action in ("start", "resume"):
                job = self._job(session, form, resume=action == "resume")
                session.answers.clear()
                self.fits.start(session.key, session.folder, job)
            else:
                raise HTTPException(400, "The form requests nothing that this page can do.")
            return _to(session, "fit")
        times = {length: estimate(length, n_rows) for length in ("quick", "full")}
        return self._step(session, "fit", fit=self._fit(session), times=times, checked=session.checked)

    def _fit(self, session: Session) -> dict[str, Any]:
        state = self.fits.state(session.key)
        return {**state, "progress": describe(state)}

    def _job(self, session: Session, form: Any, *, resume: bool) -> dict[str, Any]:
        assert session.choice is not None
        assert session.checked is not None
        last = self.fits.job(session.key)
        if resume and last is not None:
            return {**last, "resume": True}
        try:
            length, fewest = read_length(form), read_fewest(form, session.checked["n_people"])
        except FormError as error:
            raise HTTPException(400, str(error)) from error
        roles = {name: value for name, value in session.choice["roles"].items() if name != "ignore"}
        return {
            "roles": {**roles, "features": session.checked["features"]},
            "sampled": session.choice["sampled"],
            "outcome": session.choice["outcome"],
            "settings": settings_of(length, session.checked["n_rows"]),
            "seconds": expected_seconds(length, session.checked["n_rows"]),
            "min_group_size": fewest,
            "resume": False,
        }

    def _fewest(self, session: Session) -> int:
        """Return how many people a number must be about."""
        return int((self.fits.job(session.key) or {}).get("min_group_size", 1))

    async def progress(self, request: Request) -> Response:
        """Return how far the fit is, for the script of the page."""
        return JSONResponse(self._fit(self._session(request)))

    # ---- answer ------------------------------------------------------------------------------------------

    async def answer(self, request: Request) -> Response:
        """Show the answer, and subgroups by the chosen columns."""
        session = self._session(request)
        state = self.fits.state(session.key)
        if state["state"] != "done":
            return _to(session, "fit")
        by = list(dict.fromkeys(filter(None, request.query_params.getlist("by"))))[:3]
        asked, problem = "", ""
        if by:
            name = "\n".join(by)
            if name not in session.answers:
                try:
                    found = await self.tasks.run("subgroups", str(session.folder), by, self._fewest(session))
                    session.answers[name] = found["html"]
                except TaskError as error:
                    problem = str(error)
            asked = session.answers.get(name, "")
        answer, more = (
            (session.folder / name).read_text(encoding="utf-8") for name in ("answer.html", "more.html")
        )
        return self._step(
            session,
            "answer",
            400 if problem else 200,
            answer=answer,
            more=more,
            asked=asked,
            by=by,
            columns=state["columns"],
            problem=problem,
        )

    async def take_home(self, request: Request) -> Response:
        """Show what can be taken home."""
        session = self._session(request)
        job = self.fits.job(session.key)
        if self.fits.state(session.key)["state"] != "done" or job is None:
            return _to(session, "fit")
        has_excel = (session.folder / "tables.xlsx").exists()
        return self._step(
            session, "take-home", commands=commands(job), python=python_code(job), has_excel=has_excel
        )

    async def file(self, request: Request) -> Response:
        """Hand out one of the files that may be taken home."""
        session = self._session(request)
        name = request.path_params["name"]
        path = session.folder / _FILES.get(name, "")
        if name not in _FILES or not path.is_file():
            raise HTTPException(404, "There is no such file.")
        if name == "report.html" and "look" in request.query_params:
            return FileResponse(path, media_type="text/html", headers={"content-security-policy": _OF_REPORT})
        return FileResponse(path, filename=name, media_type="application/octet-stream")

    async def static(self, request: Request) -> Response:
        """Hand out style and script."""
        found = self._static.get(request.path_params["name"])
        if found is None:
            raise HTTPException(404, "There is no such file.")
        text, kind = found
        return Response(text, media_type=kind, headers={"cache-control": "max-age=3600"})

    # ---- what pages share --------------------------------------------------------------------------------

    def _opened_session(self, request: Request) -> Session:
        session = self.sessions.get(request.path_params["key"])
        if session is None:
            raise HTTPException(404, _NOT_OPEN)
        return session

    def _session(self, request: Request) -> Session:
        """Return the session, whose tables must have been read."""
        session = self._opened_session(request)
        if session.looked is None:
            raise HTTPException(404, "The tables of this analysis are not read yet; go to the start page.")
        return session

    def _step(self, session: Session, step: str, status: int = 200, **values: Any) -> Response:
        reached = session.reached(self.fits.state(session.key)["state"] == "done")
        n_reached = STEPS.index(reached)
        steps = [(name, _TITLES[name], index <= n_reached) for index, name in enumerate(STEPS)]
        return self._page(f"{step}.html.j2", status, session=session, step=step, steps=steps, **values)

    def _page(self, template: str, status: int, **values: Any) -> Response:
        return HTMLResponse(self._templates.get_template(template).render(**values), status)

    async def error(self, request: Request, error: Exception) -> Response:
        """Say in words what went wrong."""
        status = error.status_code if isinstance(error, HTTPException) else 400
        detail = error.detail if isinstance(error, HTTPException) else str(error)
        if request.url.path.endswith(".json"):
            return PlainTextResponse(str(detail), status)
        return self._page("error.html.j2", status, message=str(detail))

    async def too_large(self, request: Request, error: Exception) -> Response:
        """Refuse a request that is longer than it may be."""
        return self._start(f"Too large. The files may have {self._limits.upload // 2**20} MB together.", 413)


def make_app(folder: Path, limits: Limits | None = None) -> Starlette:
    """Make the application, without its guard.

    Parameters
    ----------
    folder : Path
        Private folder for all files.
    limits : Limits, optional
        Bounds.
    """
    pages = Pages(folder, limits or Limits())

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        warming = asyncio.create_task(pages.tasks.warm_up())
        yield
        warming.cancel()
        pages.fits.close()

    both = ["GET", "POST"]
    routes = [
        Route("/", pages.start),
        Route("/example", pages.example, methods=["POST"]),
        Route("/tables", pages.upload, methods=["POST"]),
        Route("/s/{key}/tables", pages.tables, methods=both),
        Route("/s/{key}/columns", pages.columns, methods=both),
        Route("/s/{key}/check", pages.check, methods=both),
        Route("/s/{key}/fit", pages.fit, methods=both),
        Route("/s/{key}/fit.json", pages.progress),
        Route("/s/{key}/answer", pages.answer),
        Route("/s/{key}/take-home", pages.take_home),
        Route("/s/{key}/files/{name}", pages.file),
        Route("/s/{key}/close", pages.close, methods=["POST"]),
        Route("/static/{name}", pages.static),
    ]
    handlers: dict[Any, Any] = {
        HTTPException: pages.error,
        MultiPartException: pages.error,
        TooLarge: pages.too_large,
    }
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)
    app.state.pages = pages
    return app


def _to(session: Session, step: str) -> Response:
    return RedirectResponse(f"/s/{session.key}/{step}", 303)


async def _kept(file: Any, folder: Path, kind: str) -> tuple[str, str]:
    """Write an upload to the folder, under an internal name; of its own name only the suffix counts."""
    shown = Path(str(file.filename).replace("\\", "/")).name[:100] or "file"
    ending = _ENDING.search(shown.lower())
    name = kind + (ending.group() if ending else "")
    with (folder / name).open("xb") as kept:
        while chunk := await file.read(_CHUNK):
            kept.write(chunk)
    return shown, name
