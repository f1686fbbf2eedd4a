"""Texts go to an embedding model after a person has agreed, once each, and never for a look."""

from __future__ import annotations

import asyncio
import shutil
from contextvars import Context
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.domain.errors import FlowCabalError, KnowledgePending
from flowcabal_tui.domain.ids import RunId
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.models.lexical import LexicalEmbedder
from flowcabal_tui.models.shared import SharedEmbedder
from flowcabal_tui.project.memory.finder import RememberingFinder
from flowcabal_tui.project.models.consent import EmbeddingsNotAgreed
from flowcabal_tui.project.models.embeddings import Embeddings
from flowcabal_tui.project.models.kept_vectors import KeptEmbedder
from flowcabal_tui.project.models.spending import PAYING_RUN
from flowcabal_tui.protocol.book import ImportManuscript
from flowcabal_tui.protocol.memory import KnowledgeStatus, Purge
from flowcabal_tui.protocol.models import AnswerEmbeddings
from flowcabal_tui.settings import paths
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings
from tests.faultserver import FaultServer
from tests.project.case import Case, change, endpoint, make, opened, write_chapters


def vectors(server: FaultServer, **fields: Any) -> ModelsSettings:
    return ModelsSettings(user=OFFLINE, agent=OFFLINE, embedding=endpoint(server, dimensions=8, **fields))


async def written(folder: Path, tmp_path: Path, server: FaultServer, **fields: Any) -> None:
    """A book of three chapters whose vectors cost a million a million tokens."""
    await make(folder, vectors(server, **{"price_in": Decimal(1_000_000), **fields}))
    async with opened(folder) as case:
        await case.project.carry_out(ImportManuscript(str(write_chapters(tmp_path / "texts"))))
        await case.settled()
    change(folder, "knowledge", enabled=True)


def embeddings(case: Case) -> Embeddings:
    return case.project._parts.memory.embeddings


def sent(server: FaultServer) -> list[str]:
    """Every text that the server has got."""
    return [text for entry in server.log for text in entry["body"]["input"]]


async def test_opening_a_book_sends_nothing_before_the_answer(
    folder: Path, tmp_path: Path, server: FaultServer
) -> None:
    await written(folder, tmp_path, server)
    async with opened(folder, knowledge=True) as case:
        status = await case.until(KnowledgeStatus)
        assert (status.state, server.log) == ("asks", [])
        asked = await case.project.models.embedding_question()
        assert asked is not None and asked.texts >= 3 and asked.tokens > 50
        assert asked.cost == asked.tokens
        assert f"{asked.tokens:,} tokens" in asked.words
        with pytest.raises(EmbeddingsNotAgreed) as caught:
            await case.project._engine.call(embeddings(case).embedder().embed(["The ferry."]))
        assert (caught.value.exit_code, server.log) == (3, [])


async def test_the_answer_is_the_users_and_is_asked_for_once(folder: Path, tmp_path: Path, server: FaultServer) -> None:
    await written(folder, tmp_path, server)
    async with opened(folder) as case:
        await case.project.carry_out(AnswerEmbeddings(True))
        assert await case.project.models.embedding_question() is None
    (record,) = (paths.state_folder() / "embeddings").iterdir()
    assert record.stat().st_mode & 0o777 == 0o600
    async with opened(folder) as case:
        assert await case.project.models.embedding_question() is None
        assert isinstance(embeddings(case).embedder(), KeptEmbedder)
    copied = shutil.copytree(folder, tmp_path / "copy")
    async with opened(copied) as case:
        assert await case.project.models.embedding_question() is not None, "a copy brings no answer along"
    change(folder, "models", embedding=endpoint(server, dimensions=16, price_in=Decimal(1)))
    async with opened(folder) as case:
        assert await case.project.models.embedding_question() is not None, "nor does the answer hold for other vectors"


async def test_saying_no_makes_vectors_here(folder: Path, tmp_path: Path, server: FaultServer) -> None:
    await written(folder, tmp_path, server)
    async with opened(folder) as case:
        await case.project.carry_out(AnswerEmbeddings(False))
        embedder = embeddings(case).embedder()
        assert isinstance(embedder, LexicalEmbedder)
        assert await case.project.models.embedding_question() is None
    assert server.log == []


async def test_a_free_server_of_this_machine_needs_no_answer(folder: Path, tmp_path: Path, server: FaultServer) -> None:
    await written(folder, tmp_path, server, price_in=None)
    async with opened(folder) as case:
        assert await case.project.models.embedding_question() is None
        await case.project._engine.call(embeddings(case).embedder().embed(["The ferry."]))
    assert sent(server) == ["The ferry."]


async def test_a_text_is_paid_for_once_in_the_life_of_the_project(
    folder: Path, tmp_path: Path, server: FaultServer
) -> None:
    await written(folder, tmp_path, server)
    texts = [f"Passage {number}." for number in range(23)]
    async with opened(folder) as case:
        await case.project.carry_out(AnswerEmbeddings(True))
        first = await case.project._engine.call(embeddings(case).embedder().embed([*texts, *texts[:3]]))
        assert sent(server) == texts
        paid = await case.project.runs.totals()
    async with opened(folder) as case:
        again = await case.project._engine.call(embeddings(case).embedder().embed([*texts[::-1], "A new one."]))
        assert again[:-1] == first[:23][::-1]
        assert sent(server) == [*texts, "A new one."]
        assert (await case.project.runs.totals()).input_tokens == paid.input_tokens + len("A new one.")


async def test_a_purge_removes_the_vectors(folder: Path, tmp_path: Path, server: FaultServer) -> None:
    await written(folder, tmp_path, server)
    async with opened(folder) as case:
        await case.project.carry_out(AnswerEmbeddings(True))
        embedder = embeddings(case).embedder()
        await case.project._engine.call(embedder.embed(["The ferry."]))
        database = case.project._parts.store.vectors._database
        assert await case.project._engine.call(database.row("SELECT count(*) FROM vector")) == (1,)
        chapter = await case.chapter(1)
        await case.project.carry_out(Purge(chapter=chapter))
        assert await case.project._engine.call(database.row("SELECT count(*) FROM vector")) == (0,)


class Counted:
    """A knowledge server that lets the project's endpoint embed its queries, as OpenViking does."""

    embedder, is_up, vectors = "counted", True, None

    def __init__(self, kept: KeptEmbedder) -> None:
        self._kept, self._loopback = kept, SharedEmbedder(kept)

    async def started(self, seconds: float) -> None:
        pass

    def require_paid(self) -> None:
        pass

    async def costs_nothing(self, query: str) -> bool:
        return await self._kept.stored([query]) is not None

    async def known_vectors(self, texts: list[str]) -> list[list[float]] | None:
        return await self._kept.stored(texts)

    async def paid_vector(self, query: str) -> None:
        await self._kept.embed([query])

    def sync(self) -> Counted:
        return self

    async def close(self) -> None:
        pass

    async def find(self, query: str, before: int, limit: int, scope: str) -> list[Any]:
        await asyncio.create_task(self._loopback.embed([query]), context=Context())  # it comes in over HTTP
        return []


async def test_a_look_sends_no_query_and_a_run_sends_one(folder: Path, tmp_path: Path, server: FaultServer) -> None:
    await written(folder, tmp_path, server)
    async with opened(folder) as case:
        await case.project.carry_out(AnswerEmbeddings(True))
        parts = case.project._parts
        kept = embeddings(case).embedder()
        assert isinstance(kept, KeptEmbedder)
        knowledge = Counted(kept)
        generation = await case.project._engine.call(parts.store.memory.generation())

        def finder(*, remember: bool) -> RememberingFinder:
            return RememberingFinder(knowledge, parts.store, parts.memory.sources, generation, remember=remember)  # type: ignore[arg-type]  # a fake

        with pytest.raises(KnowledgePending):
            await case.project._engine.call(finder(remember=False).find("the ferry", 3, 10))
        assert server.log == []
        await case.project._engine.call(finder(remember=True).find("the ferry", 3, 10))
        assert sent(server) == ["the ferry"]
        await case.project._engine.call(finder(remember=False).find("the ferry", 2, 10))
        assert sent(server) == ["the ferry"], "its vector is there now"


async def test_the_vector_of_a_query_is_booked_to_its_run(folder: Path, tmp_path: Path, server: FaultServer) -> None:
    await written(folder, tmp_path, server)
    async with opened(folder) as case:
        await case.project.carry_out(AnswerEmbeddings(True))
        parts, kept = case.project._parts, embeddings(case).embedder()
        assert isinstance(kept, KeptEmbedder)
        generation = await case.project._engine.call(parts.store.memory.generation())
        finder = RememberingFinder(Counted(kept), parts.store, parts.memory.sources, generation, remember=True)  # type: ignore[arg-type]  # a fake

        async def search() -> None:
            PAYING_RUN.set(RunId("run-1"))
            await finder.find("the ferry", 3, 10)

        await case.project._engine.call(search())
        totals = await case.project._engine.call(parts.store.usage.totals(RunId("run-1")))
        assert (totals.calls, sent(server)) == (1, ["the ferry"])


async def test_a_preview_names_the_search_as_pending(folder: Path, tmp_path: Path, server: FaultServer) -> None:
    await written(folder, tmp_path, server)
    async with opened(folder) as case:
        await case.project.carry_out(AnswerEmbeddings(True))
        kept = embeddings(case).embedder()
        assert isinstance(kept, KeptEmbedder)
        case.project._parts.memory.knowledge = Counted(kept)  # type: ignore[assignment]  # a fake
        request = RunRequest("chapter", await case.chapter(3), (("instruction", "The bell."),))
        receipt = await case.project.runs.preview_context(request, _first(await case.project.workflows.get("chapter")))
        assert [each for each in receipt.pending if each.startswith("similar places")]
        assert server.log == []


async def test_a_local_model_embeds_the_query_and_no_passage(
    folder: Path, tmp_path: Path, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await written(folder, tmp_path, server)
    async with opened(folder) as case:
        await case.project.carry_out(AnswerEmbeddings(True))
        kept = embeddings(case).embedder()
        assert isinstance(kept, KeptEmbedder)
        knowledge = case.project._parts.memory.knowledge
        knowledge._stored = KeptEmbedder(kept._embedder, kept._vectors, lambda: None, costs=False)
        assert await case.project._engine.call(knowledge.known_vectors(["the ferry", "a passage"])) is None
        assert server.log == [], "what a model on this machine costs is time"


def _first(workflow: Any) -> Any:
    return workflow.nodes[0].id


async def test_the_search_for_actions_sends_nothing_past_the_cap(
    folder: Path, tmp_path: Path, server: FaultServer
) -> None:
    await written(folder, tmp_path, server)
    change(folder, "budget", max_cost=Decimal(5))
    async with opened(folder) as case:
        assert isinstance(embeddings(case).for_search(), LexicalEmbedder), "nobody has answered"
        await case.project.carry_out(AnswerEmbeddings(True))
        await case.project._engine.call(embeddings(case).for_search().embed(["The ferry."]))
        assert (await case.project.runs.totals()).cost == 10
        assert isinstance(embeddings(case).for_search(), LexicalEmbedder), "the cap is used up"


async def test_an_answer_that_cannot_be_saved_sends_nothing(
    folder: Path, tmp_path: Path, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await written(folder, tmp_path, server)
    (tmp_path / "taken").write_text("a file where the folder should be")
    async with opened(folder) as case:
        monkeypatch.setenv("FLOWCABAL_STATE_DIR", str(tmp_path / "taken"))
        case.project._parts.memory.embeddings = Embeddings(
            case.project._parts.base.models, case.project._parts.store, "x", folder, "en"
        )
        with pytest.raises(FlowCabalError, match="could not be saved"):
            await case.project.carry_out(AnswerEmbeddings(True))
        assert await case.project.models.embedding_question() is not None
    assert server.log == []
