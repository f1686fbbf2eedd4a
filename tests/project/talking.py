"""A conversation of a project whose agents' model is a scripted server."""

from __future__ import annotations

import atexit
import hashlib
import json
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flowcabal_tui.domain.conversation import Chip, ConversationId, ConversationLevel, Scope, Turn
from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.proposals import Proposal, ProposalFilter
from flowcabal_tui.protocol.book import AddChapter, WriteChapter, WriteMeta
from flowcabal_tui.protocol.conversations import AskBook, SetLevel, StartConversation
from flowcabal_tui.protocol.story import PutEntity
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings
from tests.faultserver import FaultServer
from tests.project.case import Case, change, endpoint, make, opened
from tests.trusting import confirmed

Json = dict[str, Any]
FERRY = "Ines Marlow pushed the ferry off the bank. Tobias Crane watched her go, one blue glove in his hand."
LEDGER = "Tobias Crane opened the ledger in the counting house. Ines Marlow stood behind him and said nothing."
OUTLINE = "# The Ferry\n\nInes leaves.\n\n# The Ledger\n\nTobias counts.\n"


def call(tool: str, /, **arguments: Any) -> Json:
    return {"name": tool, "arguments": arguments}


def calls(*made: Json, **more: Any) -> Json:
    return {"tool_calls": list(made), **more}


def says(text: str, **more: Any) -> Json:
    return {"content": text, **more}


EDIT = call("propose_edit", chapter=1, quotation="watched her go", replacement="said nothing", reason="It is shorter.")


@dataclass
class Talking:
    """A conversation, and the server that answers in it."""

    case: Case
    server: FaultServer
    id: ConversationId

    async def ask(self, text: str, *script: Json, chips: tuple[Chip, ...] = ()) -> Turn:
        """The turn of a question when it has ended."""
        self.server.push(*script)
        number = int(await self.case.project.carry_out(AskBook(self.id, text, chips)))
        self.server.clear()
        return await self.turn(number)

    async def turn(self, number: int) -> Turn:
        return (await self.case.project.conversations.turns(self.id))[number - 1]

    async def level(self, level: ConversationLevel, scope: Scope | None = None) -> None:
        await self.case.project.carry_out(SetLevel(self.id, level, scope))

    async def cards(self, *states: str) -> list[Proposal]:
        page = await self.case.project.story.proposals(ProposalFilter(states))  # type: ignore[arg-type]
        return list(page.rows)

    async def text(self, number: int) -> str:
        return await self.case.project.book.chapter_text(await self.case.chapter(number))

    def sent(self) -> list[Json]:
        """The bodies of the requests for answers."""
        return [each["body"] for each in self.server.log]

    async def book(self) -> str:
        """The digest of everything that a conversation could change."""
        project = self.case.project
        texts = [
            [chapter.title, chapter.version, await project.book.chapter_text(chapter.id)]
            for chapter in await project.book.chapters()
        ]
        names = [repr(each) for each in await project.story.entities()]
        flows = [each.model_dump_json() for each in await project.workflows.newest()]
        outline = await project.book.meta("outline")
        runs = [each.id for each in await project.runs.summaries()]
        whole = json.dumps([texts, names, repr(await project.story.all()), flows, outline, runs])
        return hashlib.sha256(whole.encode()).hexdigest()


_BASE: list[Path] = []
"""The book that every test copies: making it takes longer than most of the tests."""


async def book(folder: Path) -> Path:
    """A book of two chapters with an outline, of the offline model."""
    if not _BASE:
        _BASE.append(await _base(Path(tempfile.mkdtemp(prefix="talking-")) / "book"))
        atexit.register(shutil.rmtree, _BASE[0].parent, ignore_errors=True)
    shutil.copytree(_BASE[0], folder)
    confirmed(folder)
    return folder


async def made(folder: Path, server: FaultServer, provider: str = "openai", **fields: Any) -> Path:
    """The same with a scripted server in both roles; no agent works in the background."""
    await book(folder)
    model = endpoint(server, provider, **fields)
    change(folder, "models", user=model, agent=model)
    return folder


async def _base(folder: Path) -> Path:
    await make(folder, ModelsSettings(user=OFFLINE, agent=OFFLINE))
    change(folder, "agents", curator=False, monitor=False)
    async with opened(folder) as case:
        for title, text in (("The Ferry", FERRY), ("The Ledger", LEDGER)):
            chapter = ChapterId(await case.project.carry_out(AddChapter(title)))
            await case.project.carry_out(WriteChapter(chapter, text))
        for name in ("Ines Marlow", "Tobias Crane"):
            await case.project.carry_out(PutEntity(Entity(EntityId(name.split()[0]), "character", name)))
        await case.project.carry_out(WriteMeta("outline", OUTLINE))
        await case.settled()
    return folder


@asynccontextmanager
async def talking(folder: Path, server: FaultServer, **how: Any) -> AsyncIterator[Talking]:
    """The book opened, with a new conversation."""
    async with opened(folder, **how) as case:
        identity = ConversationId(await case.project.carry_out(StartConversation()))
        yield Talking(case, server, identity)
