"""The same text is embedded once, and what failed is tried again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from flowcabal_tui.domain.errors import ModelError, ModelFault
from flowcabal_tui.models.lexical import LexicalEmbedder
from flowcabal_tui.models.shared import KEPT, SharedEmbedder


class Counting(LexicalEmbedder):
    """Counts its calls; fails as often as it is told."""

    def __init__(self) -> None:
        super().__init__(8)
        self.calls: list[list[str]] = []
        self.fails = 0

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.calls.append([*texts])
        await asyncio.sleep(0)
        if self.fails:
            self.fails -= 1
            raise ModelError(ModelFault.OVERLOADED, "busy")
        return await super().embed(texts)


async def test_one_query_asked_for_by_many_is_one_call() -> None:
    counting = Counting()
    shared = SharedEmbedder(counting)
    found = await asyncio.gather(*(shared.embed(["渡口的灯火"]) for _time in range(12)))
    assert all(one == found[0] for one in found) and len(counting.calls) == 1
    assert await shared.embed(["渡口的灯火", "雨"]) == await LexicalEmbedder(8).embed(["渡口的灯火", "雨"])
    assert (shared.identity, shared.dimensions) == (counting.identity, 8)


async def test_a_failure_is_not_remembered() -> None:
    counting = Counting()
    counting.fails = 1
    shared = SharedEmbedder(counting)
    answers = await asyncio.gather(*(shared.embed(["雨"]) for _time in range(3)), return_exceptions=True)
    assert all(isinstance(answer, ModelError) for answer in answers)
    assert await shared.embed(["雨"]) == await LexicalEmbedder(8).embed(["雨"])


async def test_one_who_goes_takes_the_answer_from_nobody() -> None:
    shared = SharedEmbedder(Counting())
    first, second = (asyncio.create_task(shared.embed(["雨"])) for _time in range(2))
    await asyncio.sleep(0)
    first.cancel()
    assert await second == await LexicalEmbedder(8).embed(["雨"])
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_only_the_newest_are_kept() -> None:
    counting = Counting()
    shared = SharedEmbedder(counting)
    for number in range(KEPT + 1):
        await shared.embed([f"text {number}"])
    await shared.embed(["text 1"])
    await shared.embed(["text 0"])
    assert len(counting.calls) == KEPT + 2
