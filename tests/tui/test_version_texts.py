"""Texts of older versions that were asked for: each is asked for once, and again after a failed read."""

from __future__ import annotations

import asyncio

from flowcabal_tui.tui.book.open_text import VersionTexts


async def asked(texts: VersionTexts, version: int, asks: list[int]) -> asyncio.Task[str]:
    """A task that waits for the text of a version."""
    task = asyncio.create_task(texts.wait(version, lambda: asks.append(version)))
    await turns()
    return task


async def turns() -> None:
    """Lets the tasks that can go on go on."""
    for _turn in range(5):
        await asyncio.sleep(0)


async def test_a_version_that_could_not_be_read_is_asked_for_again():
    texts, asks = VersionTexts(), list[int]()
    first = await asked(texts, 3, asks)
    texts.arrive(3, None)
    await turns()
    assert first.cancelled()
    again = await asked(texts, 3, asks)
    assert asks == [3, 3]
    texts.arrive(3, "The older text.\r\n")
    assert await again == "The older text.\n"


async def test_a_version_is_asked_for_once_while_it_is_read():
    texts, asks = VersionTexts(), list[int]()
    one, other = await asked(texts, 2, asks), await asked(texts, 2, asks)
    texts.arrive(2, "Two.")
    assert (await one, await other, asks) == ("Two.", "Two.", [2])


async def test_a_failed_read_of_one_version_leaves_the_others():
    texts, asks = VersionTexts(), list[int]()
    one, other = await asked(texts, 1, asks), await asked(texts, 2, asks)
    texts.arrive(1, None)
    texts.arrive(2, "Two.")
    assert await other == "Two."
    assert one.cancelled()
