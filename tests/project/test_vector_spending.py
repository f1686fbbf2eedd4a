"""Vectors that background work asks for follow the user's rule, like its other paid calls."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from decimal import Decimal
from pathlib import Path

import pytest

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import SpendingNotAgreed
from flowcabal_tui.domain.model_ports import EmbeddingPort
from flowcabal_tui.project.memory.knowledge import _ServedVectors
from flowcabal_tui.project.models.memory_gate import MemoryWork
from flowcabal_tui.protocol.memory import KnowledgeStatus, MemoryWaits, PayMemory
from flowcabal_tui.protocol.models import AnswerEmbeddings
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings
from tests.faultserver import FaultServer
from tests.project.case import Case, change, opened
from tests.project.served import knowledge, whole
from tests.project.test_embeddings import embeddings, sent, written
from tests.project.test_knowledge import book, vectors
from tests.project.test_memory_spending import booked, rule, unpaid
from tests.viking.fakes import DIMENSION
from tests.waiting import until

TEXTS = [f"Passage {number}: the ferry left." for number in range(4)]


async def served(case: Case, texts: Sequence[str], step: MemoryWork | None = None) -> list[list[float]]:
    """The vectors of texts, as the knowledge server requests them while a step is being done."""

    async def embed() -> list[list[float]]:
        made: EmbeddingPort = _ServedVectors(embeddings(case).embedder(), lambda: step or MemoryWork())
        return await made.embed(texts)

    return await case.project._engine.call(embed())


async def served_until_refused(case: Case) -> int:
    """Requests vectors of new texts until the rule refuses them; returns how many were made."""
    number = 0
    with suppress(SpendingNotAgreed):
        while number < 1_000:
            await served(case, [f"Number {number}. " * 4])
            number += 1
    return number


async def test_the_server_gets_no_vector_that_the_rule_does_not_pay_for(
    folder: Path, tmp_path: Path, server: FaultServer
) -> None:
    await written(folder, tmp_path, server)
    async with opened(folder) as case:
        await case.project.carry_out(AnswerEmbeddings(True))
    async with opened(folder) as case:
        step = MemoryWork()
        with pytest.raises(SpendingNotAgreed):
            await served(case, TEXTS, step)
        assert (server.log, step.refused is None) == ([], False)
        await case.project._engine.call(embeddings(case).embedder().embed(TEXTS[:1]))
        assert sent(server) == TEXTS[:1], "a run has a question of its own"
        assert len(await served(case, TEXTS[:1])) == 1, "what is stored costs nothing"
        assert sent(server) == TEXTS[:1]


async def test_a_yes_pays_for_the_texts_of_that_moment_and_no_more(
    folder: Path, tmp_path: Path, server: FaultServer
) -> None:
    await written(folder, tmp_path, server)
    async with opened(folder) as case:
        asked = await case.project.models.embedding_question()
        assert asked is not None and asked.cost is not None
        await case.project.carry_out(AnswerEmbeddings(True))
        number = await served_until_refused(case)
        totals = await case.project.runs.totals()
        assert 0 < number < 1_000
        assert totals.cost is not None and totals.cost <= 3 * asked.cost


async def test_an_amount_a_day_is_a_yes_and_a_bound(folder: Path, tmp_path: Path, server: FaultServer) -> None:
    await written(folder, tmp_path, server, price_in=Decimal(10_000))
    rule(Decimal("2.00"))
    async with opened(folder) as case:
        assert await case.project.models.embedding_question() is None
        number = await served_until_refused(case)
        totals = await case.project.runs.totals()
        assert 0 < number < 1_000
        assert totals.cost is not None and totals.cost == Decimal(booked()) <= Decimal("2.00")


async def test_an_amount_a_day_is_no_yes_to_a_model_without_a_price(
    folder: Path, tmp_path: Path, server: FaultServer
) -> None:
    await written(folder, tmp_path, server, price_in=None)
    change(folder, "models", embedding=Endpoint(model="elsewhere", base_url="https://models.example/v1"))
    rule(Decimal(5))
    async with opened(folder) as case:
        assert await case.project.models.embedding_question() is not None


async def test_a_free_model_of_this_machine_is_never_asked_about(
    folder: Path, tmp_path: Path, server: FaultServer
) -> None:
    rule("never")
    await written(folder, tmp_path, server, price_in=None)
    async with opened(folder) as case:
        assert len(await served(case, TEXTS)) == len(TEXTS)


@pytest.mark.parametrize(
    ("fields", "free"),
    [
        ({"base_url": "http://127.0.0.1:1/v1"}, True),
        ({"base_url": "http://127.0.0.1:1/v1", "price_in": Decimal(1)}, False),
        ({"base_url": "https://models.example/v1"}, False),
        ({"base_url": "https://models.example/v1", "price_in": Decimal(0)}, True),
        ({"provider": "offline"}, True),
    ],
)
def test_which_vectors_are_free(fields: dict[str, object], free: bool) -> None:
    assert Endpoint.model_validate({"model": "m"} | fields).embeds_free is free


@asynccontextmanager
async def priced(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[list[str], ModelsSettings]]:
    """A book whose vectors cost money, and the texts that were sent to their model."""
    async with vectors(monkeypatch) as (model, settings):
        found = settings("priced").embedding
        assert found is not None
        dear = found.model_copy(update={"price_in": Decimal(1), "dimensions": DIMENSION})
        models = ModelsSettings(user=OFFLINE, agent=OFFLINE, embedding=dear)
        await book(folder, tmp_path, models, 3)
        yield model.embedded, models


@pytest.mark.viking
@pytest.mark.usefixtures("quick_knowledge")
@pytest.mark.slow
async def test_a_real_server_waits_for_the_answer_and_then_has_everything(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with priced(folder, tmp_path, monkeypatch) as (embedded, _models):
        async with opened(folder) as case:
            await case.project.carry_out(AnswerEmbeddings(True))
        async with opened(folder, knowledge=True) as case:
            await case.until(KnowledgeStatus, lambda event: event.state == "ready")
            await case.until(MemoryWaits, lambda event: event.tasks > 0)
            await case.settled()
            work = await unpaid(case)
            assert embedded == []
            assert work.roles == ("embedding",) and work.quote.pause is not None
            assert work.quote.likely.cost is not None and work.quote.likely.cost > 0
            assert knowledge(case).records() == (), "what has no vectors counts as not sent"
            await case.project.carry_out(PayMemory(work.quote.pause))
            await whole(case)
            totals = await case.project.runs.totals()
            assert embedded and totals.cost is not None and totals.cost <= work.quote.pause.cost
            assert await case.project.memory.unpaid() is None


@pytest.mark.viking
@pytest.mark.usefixtures("quick_knowledge")
@pytest.mark.slow
async def test_a_yes_pays_for_all_that_a_real_server_requests_of_the_book_as_it_is(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with priced(folder, tmp_path, monkeypatch) as (embedded, _models), opened(folder, knowledge=True) as case:
        await case.until(KnowledgeStatus, lambda event: event.state == "asks")
        await case.project.carry_out(AnswerEmbeddings(True))
        await whole(case)
        assert embedded and await case.project.memory.unpaid() is None
        assert case.told(MemoryWaits) == []
        gate = case.project._parts.base.models.spending.vectors_gate
        await until(lambda: not gate.has_answer)  # it ends with the work that it was given for
