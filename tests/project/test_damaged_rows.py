"""Rows that a stranger wrote, or that are damaged: a list keeps its other rows, and anything else is a typed error."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.domain.comments import CommentFilter
from flowcabal_tui.domain.errors import FlowCabalError, ProjectDamaged, ProjectError
from flowcabal_tui.domain.findings import FindingFilter
from flowcabal_tui.domain.ids import NodeId, RunId
from flowcabal_tui.domain.proposals import ProposalFilter
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.project import Project
from flowcabal_tui.project.engine import EngineThread
from flowcabal_tui.project.proxy import on_engine
from flowcabal_tui.protocol.base import Status
from flowcabal_tui.protocol.builds import UndoBuild
from flowcabal_tui.protocol.conversations import StartConversation
from flowcabal_tui.protocol.revision import AddComment
from flowcabal_tui.store.file.blobs import pack
from tests.project.case import opened
from tests.project.talking import FERRY, book

MALFORMED = ("7", "null", "{}", "[[7]]", '"x"', "NaN", "{", "[" * 5_000, '{"x": [7]}')
AT = "'2026-01-01T00:00:00+00:00'"
ENTITY = """'{"after": {"id": "x", "kind": "character", "name": "X"}}'"""
WHY, WHO = """'["quoted",""]'""", """'["agent",""]'"""


def proposal(kind: str = "'entity'", body: str = ENTITY, reason: str = WHY, origin: str = WHO) -> str:
    values = f"'p', {kind}, 'waiting', '', '', '', '', 0, 0, '', {body}, {reason}, {origin}, 1, {AT}"
    return (
        "INSERT INTO proposal (id, kind, state, identity, words, target, chapter, start, end, quotation, body, reason,"
        f" origin, raised, at) VALUES ({values})"
    )


async def proposals(project: Project) -> Sequence[Any]:
    return (await project.story.proposals(ProposalFilter(()))).rows


async def findings(project: Project) -> Sequence[Any]:
    return (await project.findings.findings(FindingFilter(()))).rows


async def facts(project: Project) -> Sequence[Any]:
    return (await project.story.all()).facts


def names(project: Project) -> Awaitable[Sequence[Any]]:
    return project.story.entities()


LISTS: dict[str, tuple[str, Callable[[Project], Awaitable[Sequence[Any]]], int]] = {
    "aliases": ("UPDATE entity SET aliases=? WHERE id='Ines'", names, 1),
    "fields": ("UPDATE entity SET fields=? WHERE id='Ines'", names, 1),
    "proposal": (proposal(body="?"), proposals, 0),
    "kind": (proposal(kind="?"), proposals, 0),
    "reason": (proposal(reason="?"), proposals, 0),
    "origin": (proposal(origin="?"), proposals, 0),
    "finding": (proposal(kind="'finding'", body="?"), findings, 0),
    "record": ("INSERT INTO record VALUES ('f', 1, 'fact', ?, '', '', 'hand', 0)", facts, 0),
    "kind of record": ("INSERT INTO record VALUES ('f', 1, ?, '{}', '', '', 'hand', 0)", facts, 0),
    "comment": ("UPDATE comment SET at=? WHERE words='One.'", lambda it: it.revision.comments(CommentFilter()), 1),
    "scope": ("UPDATE conversation SET scope=? WHERE number=1", lambda it: it.conversations.conversations(), 1),
    "workflow": (
        "UPDATE blob SET body=? WHERE digest IN (SELECT document FROM workflow WHERE id<>'quick-draft')",
        lambda it: it.workflows.newest(),
        1,
    ),
    "rewrite": (
        "INSERT INTO proposed_rewrite (chapter, state, body, at) SELECT chapter, 'waiting', ?, '' FROM place",
        lambda it: it.revision.proposed_rewrites(),
        0,
    ),
    "build": ("INSERT INTO value VALUES ('build-1', ?)", lambda it: it.builds.build_rows(), 0),
    "question": (
        "INSERT INTO question (id, run, node, body, asked_at) VALUES ('q', 'r', 'n', ?, '')",
        lambda it: it.runs.questions(),
        0,
    ),
    "comparison": (
        f"INSERT INTO comparison VALUES ('c', 'f', 'n', '', '', 1, 'open', '', '', '', ?, {AT})",
        lambda it: it.comparisons.comparisons(),
        0,
    ),
    "tags": (
        "INSERT INTO curated (id, kind, mode, chapter, subject, digest, tags, at, run, node, attempt, version)"
        f" VALUES ('o', 'note', 'append', NULL, 's', 'd', ?, {AT}, 'r', 'n', 1, 1)",
        lambda it: it.book.kept(),
        0,
    ),
}
RUN = "INSERT INTO run VALUES (NULL, 'r', 'f@1', (SELECT max(document) FROM workflow), {request}, NULL, 1, " + AT + ")"
EVENT = f"INSERT INTO event (run, node, attempt, kind, payload, at) VALUES ('r', 'n', 1, 'node-done', ?, {AT})"
ONE: dict[str, tuple[tuple[str, ...], Callable[[Project], Awaitable[Any]]]] = {
    "turn": (("INSERT INTO turn VALUES (1, 1, 'completed', ?)",), lambda it: it.conversations.turns("talk-1")),
    "passes": (("INSERT INTO value VALUES ('revision/passes', ?)",), lambda it: it.revision.passes()),
    "build": (("INSERT INTO value VALUES ('build-1', ?)",), lambda it: it.builds.build("build-1")),
    "undone build": (("INSERT INTO value VALUES ('build-1', ?)",), lambda it: it.carry_out(UndoBuild("build-1"))),
    "job": (("INSERT INTO value VALUES ('bootstrap', ?)",), lambda it: it.memory.bootstrap()),
    "request": ((RUN.format(request="?"),), lambda it: it.runs.run_details(RunId("r"))),
    "event": ((RUN.format(request="'{}'"), EVENT), lambda it: it.runs.node(RunId("r"), NodeId("n"))),
    "log": ((RUN.format(request="'{}'"), EVENT), lambda it: it.runs.replay(RunId("r"))),
    "mentions": (("UPDATE mention SET spans=?",), lambda it: it.story.mentions("Ines")),
    "document": (
        ("UPDATE blob SET body=? WHERE digest IN (SELECT document FROM workflow)",),
        lambda it: it.runs.quote(RunRequest("quick-draft")),
    ),
}


@pytest.fixture
async def damaged(folder: Path) -> Path:
    """A book with two names, two comments and two conversations."""
    await book(folder)
    async with opened(folder) as case:
        for words in ("One.", "Two."):
            await case.project.carry_out(AddComment(await case.chapter(1), words))
            await case.project.carry_out(StartConversation())
    return folder


def planted(folder: Path, bad: object, *statements: str) -> None:
    with closing(sqlite3.connect(folder / ".flowcabal" / "project.db")) as database, database:
        for each in statements:
            database.execute(each.replace("INSERT", "INSERT OR REPLACE"), (bad,) if "?" in each else ())


@pytest.mark.parametrize("name", LISTS)
async def test_a_list_keeps_its_rows_beside_one_that_cannot_be_read(damaged: Path, name: str) -> None:
    sql, ask, left = LISTS[name]
    async with opened(damaged, read_only=True) as case:
        for bad in MALFORMED:
            planted(damaged, bad, sql)
            assert len(await ask(case.project)) == left, bad
        assert await case.project.book.chapter_text(await case.chapter(1)) == FERRY


async def test_skipped_rows_are_counted_and_reported_once_for_each_kind(damaged: Path) -> None:
    planted(damaged, "{", "UPDATE comment SET at=?", "UPDATE entity SET aliases=? WHERE id='Ines'")
    async with opened(damaged, read_only=True) as case:
        for _refresh in range(3):
            await case.project.revision.comments(CommentFilter())
            await names(case.project)
        assert await case.project.skipped_rows() == {"comments": 2, "names": 1}
        reported = [event.message for event in case.told(Status) if event.status == "error"]
    assert [words for words in reported if "2 entries cannot be read and are left out (comments)." in words]
    assert len(reported) == 2 and all("rescue" in words for words in reported)


async def test_a_whole_project_skips_nothing(damaged: Path) -> None:
    async with opened(damaged) as case:
        assert await case.project.skipped_rows() == {}


@pytest.mark.parametrize("name", ONE)
async def test_what_cannot_be_read_is_a_typed_error_and_the_book_stays_open(damaged: Path, name: str) -> None:
    (statements, ask), titles = ONE[name], []
    async with opened(damaged) as case:
        for bad in MALFORMED:
            planted(damaged, bad, *statements)
            try:
                await ask(case.project)
            except FlowCabalError as error:
                titles.append(error.title)
        assert await case.project.book.chapter_text(await case.chapter(1)) == FERRY
    assert not [title for title in titles if "error in the program" in title or "named" in title]


@pytest.mark.parametrize("key", ["tokens", "structured modes", "windows"])
async def test_values_that_can_be_learned_again_never_close_the_book(damaged: Path, key: str) -> None:
    for bad in MALFORMED:
        planted(damaged, bad, f"INSERT INTO value VALUES ('{key}', ?)")
        async with opened(damaged) as case:
            assert await case.project.runs.totals()


async def test_an_error_about_damaged_data_names_what_is_kept(damaged: Path) -> None:
    planted(damaged, pack("[7]"), "INSERT INTO turn VALUES (1, 1, 'completed', ?)")
    async with opened(damaged) as case:
        with pytest.raises(ProjectDamaged, match="rescue"):
            await case.project.conversations.turns("talk-1")


class Broken:
    async def sums(self) -> int:
        return sum(["x"])  # type: ignore[list-item]


async def test_a_question_that_meets_data_of_another_form_is_a_typed_error() -> None:
    engine = EngineThread()
    with pytest.raises(ProjectError, match="still be used"):
        await on_engine(Broken, engine).sums()
    engine.stop()
