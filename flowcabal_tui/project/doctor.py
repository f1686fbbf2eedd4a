"""Examines the requirements of a project: models, keys, the knowledge server, the terminal, the disk."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from flowcabal_tui import __version__
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import FlowCabalError, ProjectLocked
from flowcabal_tui.domain.text import clean_line
from flowcabal_tui.locale import _, mark, sentences
from flowcabal_tui.models.discover import discover
from flowcabal_tui.models.vocabularies import HOST, Vocabulary, fetch, load, vocabulary_of
from flowcabal_tui.project.project import Project
from flowcabal_tui.project.words import network_words, skipped_words
from flowcabal_tui.settings.paths import PROJECT_FILE, PROJECT_STATE, locations, user_file
from flowcabal_tui.settings.project_file import ProjectSettings, load_project
from flowcabal_tui.settings.secrets import has_key, read_secrets
from flowcabal_tui.settings.user_file import load_user
from flowcabal_tui.store.file.filesystem import network_of
from flowcabal_tui.store.store import DATABASE
from flowcabal_tui.viking.server import find_server

LITTLE_ROOM: Final = 200 * 2**20
Outcome = Literal["ok", "note", "failed"]
_MARKS: Final[dict[Outcome, str]] = {"ok": mark("ok  "), "note": mark("note"), "failed": mark("FAIL")}
_PLACES: Final = {
    "config": mark("settings file"),
    "secrets": mark("secrets file"),
    "state": mark("state folder"),
    "cache": mark("cache folder"),
    "data": mark("data folder"),
}
_MODELS: Final = {"user": mark("model user"), "agent": mark("model agent"), "embedding": mark("model embedding")}


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """One thing that was examined."""

    subject: str
    outcome: Outcome
    message: str
    advice: str = ""

    @property
    def mark(self) -> str:
        return _(_MARKS[self.outcome])


async def examine(folder: Path | None, *, trust: bool = False) -> tuple[DoctorFinding, ...]:
    """Examines the machine and, if a folder is given, its project; each model that the user has confirmed, or all with
    `trust`, gets one small call."""
    found = [
        DoctorFinding(_("program"), "ok", f"flowcabal-tui {__version__}, Python {sys.version.split()[0]}"),
        _terminal(),
        _user(),
        _secrets(),
        _knowledge(),
        *(_space(_(_PLACES[name]), path) for name, path in locations()),
    ]
    if folder is None:
        found += [DoctorFinding(_("model found"), "note", proposal.name) for proposal in await discover(os.environ)]
    else:
        found += [item async for item in _project(folder.expanduser().resolve(), trust)]
    return tuple(found)


def _terminal() -> DoctorFinding:
    if not sys.stdout.isatty():
        return DoctorFinding(_("terminal"), "note", _("the output is not a terminal; the screen cannot open here"))
    size = shutil.get_terminal_size()
    words = f"{os.environ.get('TERM', '?')} {size.columns}x{size.lines} {sys.stdout.encoding}"
    if size.columns < 80 or size.lines < 24:
        return DoctorFinding(_("terminal"), "note", words, _("80x24 or more shows everything."))
    return DoctorFinding(_("terminal"), "ok", words)


def _user() -> DoctorFinding:
    try:
        load_user()
    except FlowCabalError as error:
        return DoctorFinding(user_file().name, "failed", sentences(error.title, error.detail), error.advice)
    return DoctorFinding(user_file().name, "ok", str(user_file()))


def _secrets() -> DoctorFinding:
    try:
        count = len(read_secrets())
    except FlowCabalError as error:
        return DoctorFinding(_("secrets"), "failed", error.title, error.advice)
    return DoctorFinding(_("secrets"), "ok", _("{n} entries").format(n=count))


def _knowledge() -> DoctorFinding:
    server = find_server()
    if not server:
        return DoctorFinding(
            _("knowledge server"),
            "note",
            _("openviking-server is not installed; everything works without semantic search"),
            _("`flowcabal-tui knowledge install` installs it."),
        )
    return DoctorFinding(_("knowledge server"), "ok", server[0])


def _space(name: str, path: Path) -> DoctorFinding:
    place = next(parent for parent in (path, *path.parents) if parent.exists())
    free = shutil.disk_usage(place).free
    words = _("{path}, free: {size:,} MiB").format(path=path, size=free // 2**20)
    if not os.access(place, os.W_OK):
        return DoctorFinding(name, "failed", words, _("You are not allowed to write there."))
    return DoctorFinding(
        name, "ok" if free > LITTLE_ROOM else "note", words, "" if free > LITTLE_ROOM else _("Little space left.")
    )


def _counting(settings: ProjectSettings) -> DoctorFinding | None:
    """How the tokens of the writing model are counted; None for the offline model, or without a model."""
    chosen = settings.models.of("user")
    if chosen is None or chosen.provider == "offline":
        return None
    known = vocabulary_of(chosen.model)
    if known is None:
        return DoctorFinding(_("tokens"), "note", _("estimated, corrected by the provider's counts"))
    if load(known) is not None:
        return DoctorFinding(_("tokens"), "ok", _("counted with {name}").format(name=known.name))
    words = _("estimated; the vocabulary {name} is not on disk").format(name=known.name)
    advice = _("`doctor PROJECT --fetch-vocabulary` fetches it ({size} MB) from {host}.")
    return DoctorFinding(_("tokens"), "note", words, advice.format(size=known.megabytes, host=HOST))


def missing_vocabulary(model: Endpoint | None) -> Vocabulary | None:
    """The vocabulary of a model if it is known but not on disk, so that tokens are estimated. Takes up to a second."""
    known = vocabulary_of(model.model) if model and model.provider != "offline" else None
    return known if known is not None and load(known) is None else None


def vocabulary_question(known: Vocabulary) -> tuple[str, str]:
    """The title and text of the question before a vocabulary is fetched."""
    title = _("Fetch the vocabulary {name} from {host}?").format(name=known.name, host=HOST)
    words = _(
        "{size} MB, once. Runs that begin later count their tokens with it; without it they are estimated. "
        "None of your text is sent."
    )
    return title, words.format(size=known.megabytes)


async def fetch_known(known: Vocabulary) -> str:
    """Fetches a vocabulary and returns a message. Raises SettingsError."""
    await fetch(known)
    return _("Fetched {name} from {host}; runs that start from now on use it to count.").format(
        name=known.name, host=HOST
    )


async def fetch_vocabulary(folder: Path) -> str:
    """Fetches the vocabulary of the project's writing model and returns a message. Raises SettingsError."""
    chosen = load_project(folder.expanduser().resolve()).models.of("user")
    known = vocabulary_of(chosen.model) if chosen else None
    if known is None:
        return _("No vocabulary is known for the writing model; tokens are estimated.")
    return await fetch_known(known)


async def _project(folder: Path, trust: bool) -> AsyncIterator[DoctorFinding]:
    try:
        settings = load_project(folder)
    except FlowCabalError as error:
        yield DoctorFinding(PROJECT_FILE, "failed", sentences(error.title, error.detail), error.advice)
        return
    yield DoctorFinding(PROJECT_FILE, "ok", settings.project.name)
    yield _space(_("project"), folder)
    if network := network_of(folder):
        yield DoctorFinding(_("file system"), "note", *network_words(network))
    if (counting := _counting(settings)) is not None:
        yield counting
    for table, chosen in settings.models.tables.items():
        if (chosen.api_key_env or chosen.secret) and not has_key(chosen):
            place = chosen.api_key_env or chosen.secret
            yield DoctorFinding(clean_line(table), "failed", _("no key"), _("Set {name}.").format(name=place))
    try:
        try:
            project = await Project.open(folder, knowledge=False, trust=trust)
        except ProjectLocked as error:
            yield DoctorFinding(_("database"), "note", error.title, error.detail)
            project = await Project.open(folder, read_only=True, trust=trust)
    except FlowCabalError as error:
        yield DoctorFinding(_("database"), "failed", error.title, error.advice)
        return
    try:
        await project.check()
        size = (folder / PROJECT_STATE / DATABASE).stat().st_size
        yield DoctorFinding(_("database"), "ok", _("intact, {size:.1f} MiB").format(size=size / 2**20))
        view = await project.models.trust()
        for what, n in (await project.skipped_rows()).items():
            yield DoctorFinding(_("database"), "failed", skipped_words(what, n))
        if view.state != "trusted":
            yield DoctorFinding(
                _("trust"),
                "note",
                _("{n} items are not confirmed").format(n=len(view.asked.items)),
                _("See `flowcabal-tui trust PROJECT`."),
            )
        for model in await project.models.check_models() if view.state != "restricted" else ():
            outcome: Outcome = "ok" if model.ok else "failed"
            advice = "" if model.ok else model.advice or _("See `flowcabal-tui models PROJECT`.")
            words = _("{words} ({seconds:.1f} s)").format(words=model.message, seconds=model.seconds)
            yield DoctorFinding(_(_MODELS.get(model.role, model.role)), outcome, words, advice)
    except FlowCabalError as error:
        yield DoctorFinding(_("database"), "failed", error.title, error.advice)
    finally:
        await project.close()
