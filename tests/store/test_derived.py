"""Which state of a profile stands: the newest, what a hand wrote, what was pinned; never one that tells too much."""

from __future__ import annotations

import pytest

from flowcabal_tui.domain.errors import Gone
from flowcabal_tui.domain.ids import Digest, Generation
from flowcabal_tui.domain.manuscript import ImportedChapter
from flowcabal_tui.domain.memory import Derived

DAI = "profiles/characters/dai"


@pytest.fixture
async def chapters(store):
    """Four chapters, and a profile as of each of the first three."""
    added = await store.book.import_chapters([ImportedChapter(f"{n}", f"第{n}回") for n in range(1, 5)])
    for position in (1, 2, 3):
        await put(store, f"到{position}", position)
    return [chapter.id for chapter in added]


async def put(store, text, position, method="model", source="", uri=DAI):
    states = [
        Derived(uri, level, f"{text} {level}", Digest(source or text), position, Generation(0), method)
        for level in ("L1", "L0")
    ]
    return await store.memory.put_derived(*states)


async def standing(store, chapter, generation=None):
    """The texts of both levels for a context of that chapter."""
    view = await store.memory.view(chapter, generation)
    found = [await view.derived(DAI, level) for level in ("L1", "L0")]
    return [state.text.removesuffix(f" {state.level}") if state else None for state in found]


async def test_the_levels_of_a_state_have_one_generation(store, chapters):
    before = await store.memory.generation()
    made = await put(store, "到四", 4)
    assert made == await store.memory.generation() == before + 1
    assert {state.generation for state in (await store.memory.derived_history(DAI))[:2]} == {made}


async def test_what_a_hand_wrote_stands_before_what_is_made_later(store, chapters):
    await put(store, "手写", 2, "hand")
    offered = await put(store, "到三，改", 3, source="s2")
    assert await standing(store, chapters[3]) == ["手写", "手写"]
    assert await standing(store, chapters[1]) == ["到1", "到1"], "the hand's words know of a later chapter"
    made = await (await store.memory.view(None)).made(DAI, "L1")
    assert (made.text, made.generation) == ("到三，改 L1", offered)


async def test_what_was_made_since_stands_once_it_is_taken(store, chapters):
    await put(store, "手写", 3, "hand")
    await put(store, "到三，改", 3, source="s2")
    then = await store.memory.generation()
    await store.memory.choose_derived(DAI, "take")
    assert await standing(store, chapters[3]) == ["到三，改"] * 2
    assert await standing(store, chapters[3], then) == ["手写"] * 2, "a run that began before reads as before"
    await put(store, "手写二", 3, "hand")
    assert await standing(store, chapters[3]) == ["手写二"] * 2


async def test_a_source_that_was_made_is_not_made_again_below_a_hands_words(store, chapters):
    await put(store, "手写", 3, "hand")
    states = len(await store.memory.derived_history(DAI))
    await put(store, "到3", 3)
    assert len(await store.memory.derived_history(DAI)) == states


async def test_a_pinned_state_stands_until_it_is_unpinned(store, chapters):
    second = (await (await store.memory.view(chapters[2])).derived(DAI, "L1")).generation
    await put(store, "手写", 3, "hand")
    await store.memory.choose_derived(DAI, "pin", second)
    await put(store, "到四", 4)
    assert await (await store.memory.view(None)).pinned(DAI) == second
    assert await standing(store, None) == ["到2", "到2"]
    assert await standing(store, chapters[1]) == ["到1", "到1"], "the pinned state knows of a later chapter"
    await store.memory.choose_derived(DAI, "unpin")
    assert await standing(store, None) == ["手写", "手写"]
    assert await (await store.memory.view(None)).pinned(DAI) is None


async def test_a_pin_follows_its_chapter(store, chapters):
    second = (await (await store.memory.view(chapters[2])).derived(DAI, "L1")).generation
    await store.memory.choose_derived(DAI, "pin", second)
    await store.book.add_chapter("楔子", position=1)
    assert await standing(store, chapters[2]) == ["到2", "到2"]
    assert await standing(store, chapters[1]) == ["到1", "到1"]


async def test_a_state_that_never_was_cannot_be_pinned(store, chapters):
    with pytest.raises(Gone):
        await store.memory.choose_derived(DAI, "pin", Generation(10_000))
    with pytest.raises(Gone):
        await store.memory.choose_derived("profiles/characters/nobody", "take")


async def test_all_below_a_prefix_are_found_and_nothing_beside_it(store, chapters):
    await put(store, "宝", 2, uri="profiles/characters/bao")
    await put(store, "白描", 2, uri="profiles/style/book")
    await put(store, "旁", 2, uri="profiles/characters-old/bao")
    view = await store.memory.view(None)
    found = await view.derived_under("profiles/characters/", "L0")
    assert [state.uri.rsplit("/", 1)[1] for state in found] == ["bao", "dai"]
