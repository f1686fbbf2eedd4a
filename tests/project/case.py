"""A project as a test works with it: commands, runs followed to their end, and all that was told."""

from __future__ import annotations

import asyncio
import atexit
import json
import shutil
import tempfile
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.ids import ChapterId, NodeId, OutputId, RunId
from flowcabal_tui.domain.memory import Derived
from flowcabal_tui.domain.run import Decision, Question, RunRequest
from flowcabal_tui.project import Project, create_demo, create_project
from flowcabal_tui.project.views import NodeView
from flowcabal_tui.protocol.base import Event
from flowcabal_tui.protocol.book import AddChapter, PersistOutput
from flowcabal_tui.protocol.models import ConfirmTrust
from flowcabal_tui.protocol.runs import Decide, NodeNeedsHuman, RunStateChanged, RunWorkflow, WorkflowFailed
from flowcabal_tui.settings.paths import PROJECT_FILE
from flowcabal_tui.settings.project_file import ModelsSettings, load_project, save_project
from tests.faultserver import FaultServer
from tests.trusting import confirmed
from tests.waiting import PATIENCE

NO_FINDINGS = json.dumps({"verdicts": [], "compatible": [f"c{n}" for n in range(1, 60)], "findings": []})
"""A checker's answer: all statements of a short draft go with the book."""

_created: dict[str, Path] = {}
"""A new project by the language of its book."""

E = TypeVar("E", bound=Event)
Answer = Callable[[Question], Decision | None]
ENDED = ("done", "failed", "cancelled")

CHAPTERS = {
    "Chapter 1 The Ferry": "Ines Marlow pushed the ferry off the bank at Saltreach. Tobias Crane watched her go. "
    "He had red hair and one blue glove.\n\nInes Marlow did not wave. The river was high and brown.",
    "Chapter 2 The Ledger": "Tobias Crane opened the ledger in the counting house at Saltreach. Ines Marlow stood "
    "behind him.\n\nTobias Crane read the names aloud. Ines Marlow counted the dead on her fingers.",
    "Chapter 3 The Bell": "The bell at Saltreach rang at noon. Ines Marlow heard it on the water. Tobias Crane heard "
    "it in the tower.\n\nNobody at Saltreach had touched the rope.",
}


def approve(_question: Question) -> Decision:
    return Decision("approve")


def leave(_question: Question) -> None:
    """The human is away."""


@dataclass
class Case:
    """An open project, and every event that it told."""

    project: Project
    events: list[Event] = field(default_factory=list)

    def told(self, kind: type[E]) -> list[E]:
        """Events of this kind so far."""
        self.events += self.project.take()
        return [event for event in self.events if isinstance(event, kind)]

    async def until(self, kind: type[E], fits: Callable[[E], bool] = lambda _event: True) -> E:
        """The first event of this kind that fits, as soon as it was told."""
        async with asyncio.timeout(PATIENCE):
            while not (found := [event for event in self.told(kind) if fits(event)]):  # noqa: ASYNC110  # the feed is polled
                await asyncio.sleep(0.005)
        return found[0]

    async def chapter(self, number: int) -> ChapterId:
        return (await self.project.book.chapters())[number - 1].id

    async def start(self, workflow: str, chapter: int | None = None, **wishes: Any) -> RunId:
        identity = await self.chapter(chapter) if chapter else None
        return RunId(await self.project.carry_out(RunWorkflow(RunRequest(workflow, identity, **wishes))))

    async def follow(self, run: RunId, answer: Answer = approve) -> str:
        """The state in which the run ends, or "waiting" when the human does not answer."""
        answered: set[str] = set()
        async with asyncio.timeout(PATIENCE):
            while True:
                for state in self.told(RunStateChanged):
                    if state.run == run and state.state in ENDED:
                        return state.state
                for asked in self.told(NodeNeedsHuman):
                    if asked.question.run == run and asked.question.id not in answered:
                        answered.add(asked.question.id)
                        if (decision := answer(asked.question)) is None:
                            return "waiting"
                        await self.project.carry_out(Decide(asked.question.id, decision))
                await asyncio.sleep(0.005)

    async def run(self, workflow: str, chapter: int | None = None, answer: Answer = approve, **wishes: Any) -> RunId:
        """Runs to the end; the run must end well."""
        run = await self.start(workflow, chapter, **wishes)
        state = await self.follow(run, answer)
        assert state == "done", self.told(WorkflowFailed)
        return run

    async def keep(self, run: RunId, node: str, **how: Any) -> OutputId:
        return OutputId(await self.project.carry_out(PersistOutput(run, NodeId(node), **how)))

    async def view(self, run: RunId, node: str) -> NodeView:
        return await self.project.runs.node(run, NodeId(node))

    async def confirm(self) -> None:
        """The user says yes to all that the project asks for now."""
        asked = (await self.project.models.trust()).asked
        await self.project.carry_out(ConfirmTrust(tuple(item.digest for item in asked.items)))

    async def settled(self) -> None:
        async with asyncio.timeout(PATIENCE):
            await self.project.memory.settled()

    async def levels(self, uri: str) -> dict[str, Derived]:
        return {state.level: state for state in (await self.project.memory.profile(uri)).levels}


@asynccontextmanager
async def opened(folder: Path, **how: Any) -> AsyncIterator[Case]:
    """The project of a folder, closed in the end; no knowledge server, and the offline model takes no time."""
    project = await Project.open(folder, **{"pace": 0.0, "knowledge": False, "everything": True} | how)
    try:
        yield Case(project)
    finally:
        await project.close()


def endpoint(server: FaultServer, provider: str = "openai", **fields: Any) -> Endpoint:
    """The fault server as a model; one try and little patience, unless the test says otherwise."""
    base_url = f"{server.url}/v1" if provider == "openai" else server.url
    given = {
        "provider": provider,
        "model": "mock",
        "base_url": base_url,
        "retries": 0,
        "max_wait": 5.0,
        "concurrency": 4,
    }
    return Endpoint.model_validate(given | {"first_token_timeout": 2.0, "idle_timeout": 2.0} | fields)


def both(model: Endpoint) -> ModelsSettings:
    """The same model writes and reasons."""
    return ModelsSettings(user=model, agent=model)


def change(folder: Path, table: str, **values: object) -> None:
    """Writes settings into the project's file, as the writer does with an editor, and confirms them."""
    settings = load_project(folder)
    part = getattr(settings, table).model_copy(update=values)
    save_project(folder, settings.model_copy(update={table: part}))
    confirmed(folder)


async def make(folder: Path, models: ModelsSettings | None = None, *, language: str = "en") -> Path:
    """A project without a knowledge server, whoever opens it.

    It is a copy of one that was created, with its own id: a database is created in 30 ms and copied in 1.
    """
    if language not in _created:
        template = Path(tempfile.mkdtemp(prefix="flowcabal-template-"))
        atexit.register(shutil.rmtree, template, ignore_errors=True)
        _created[language] = await create_project(template, name="The Ferry", language=language)
    shutil.copytree(_created[language], folder, dirs_exist_ok=True)
    settings = load_project(folder)
    (folder / PROJECT_FILE).unlink()
    project = settings.project.model_copy(update={"id": uuid.uuid4().hex})
    knowledge = settings.knowledge.model_copy(update={"enabled": False})
    own = {"project": project, "knowledge": knowledge, "models": models or settings.models}
    save_project(folder, settings.model_copy(update=own))
    return confirmed(folder)


async def make_one(folder: Path, models: ModelsSettings | None = None) -> Path:
    """A project with one chapter, which is empty."""
    await make(folder, models)
    async with opened(folder) as case:
        await case.project.carry_out(AddChapter("The Glove"))
    return folder


async def make_demo(folder: Path, language: str = "en") -> Path:
    await create_demo(folder, language)
    change(folder, "knowledge", enabled=False)
    return folder


def settled_demo(folder: Path, language: str) -> Path:
    """A demo whose memory is complete, to be copied: the offline model needs a second for it."""

    async def settle() -> None:
        await make_demo(folder, language)
        async with opened(folder) as case:
            await case.settled()

    asyncio.run(settle())
    return folder


@pytest.fixture(scope="session")
def demos(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A demo in each language, its memory complete, to be copied."""
    root = tmp_path_factory.mktemp("demos")
    return {language: settled_demo(root / language, language) for language in ("en", "zh")}


def demo_at(folder: Path, demos: dict[str, Path], language: str = "en") -> Path:
    """A copy of a demo, confirmed."""
    return confirmed(shutil.copytree(demos[language], folder))


def write_chapters(folder: Path, chapters: dict[str, str] | None = None) -> Path:
    """A folder with one text file a chapter."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, (title, text) in enumerate((CHAPTERS if chapters is None else chapters).items(), 1):
        (folder / f"{number:02}.txt").write_text(f"{title}\n\n{text}\n", encoding="utf-8")
    return folder


def calls(server: FaultServer) -> int:
    """Requests for an answer that the server has got."""
    return len([entry for entry in server.log if entry["path"].endswith(("completions", "messages"))])
