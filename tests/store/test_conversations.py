"""Conversations in the store: kept, found, journalled, deleted and purged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from flowcabal_tui.domain.conversation import Chip, Citation, Conversation, ConversationId, Scope, Turn, UsedTool
from flowcabal_tui.domain.errors import Gone, RunError, VersionConflict
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter, ImportedChapter
from flowcabal_tui.domain.proposals import Difference, Origin, Proposal, ProposalPlace, Reason, TextEdit
from flowcabal_tui.store.rows.proposals import CONVERSATION
from flowcabal_tui.store.rows.tasks import no_tasks
from flowcabal_tui.store.store import Store

AT = datetime(2026, 1, 1, tzinfo=UTC)
TEXTS = ("黛玉进了荣国府，步步留心，时时在意。她不肯轻易多说一句话。", "宝玉摔了玉，满屋的人都吓坏了，贾母急得搂了他。")


@pytest.fixture
async def talk(store: Store) -> Conversation:
    return await store.conversations.start()


@pytest.fixture
async def book(store: Store) -> Sequence[Chapter]:
    return await store.book.import_chapters([ImportedChapter(text[:4], text) for text in TEXTS])


def turn(talk: Conversation, asked: str, **fields: object) -> Turn:
    return replace(Turn(talk.id, 0, asked, AT), **fields)


async def test_turns_are_numbered_and_the_first_question_names_the_conversation(store, talk):
    one = await store.conversations.add(turn(talk, "Who is\x1b[31m Daiyu?"))
    two = await store.conversations.add(turn(talk, "And Baoyu?"))
    assert (one.number, two.number) == (1, 2)
    (known,) = await store.conversations.all()
    assert (known.title, known.turns, known.level) == ("Who is Daiyu?", 2, "ask")
    assert [each.asked for each in await store.conversations.turns(talk.id)] == ["Who is Daiyu?", "And Baoyu?"]


async def test_words_of_questions_and_answers_are_found_in_any_case(store, talk):
    await store.conversations.put(replace(await store.conversations.add(turn(talk, "Who?")), answer="Lin DAIYU."))
    other = await store.conversations.start("Baoyu")
    assert [each.id for each in await store.conversations.all("daiyu")] == [talk.id]
    assert [each.id for each in await store.conversations.all("BAOYU")] == [other.id]
    assert await store.conversations.all("nobody") == ()


async def test_what_arrived_before_a_kill_is_the_answer(store, talk, reopen):
    begun = await store.conversations.add(turn(talk, "Who?", state="in_progress"))
    await store.conversations.put(replace(begun, answer="First. "))
    for piece in ("She is ", "Lin Daiyu"):
        store.conversations.piece(talk.id, begun.number, piece)
    await store.values.put("x", 1)  # the pieces are written before this
    assert (await store.conversations.turn(talk.id, 1)).answer == "First. She is Lin Daiyu"
    await store.close()
    (found,) = await (await reopen()).conversations.turns(talk.id)
    assert (found.answer, found.state, found.stop) == ("First. She is Lin Daiyu", "completed", "cancelled")


async def test_what_was_typed_and_not_sent_stays_after_a_kill(store, talk, reopen):
    await store.conversations.add(turn(talk, "Later"))
    await store.close()
    (found,) = await (await reopen()).conversations.turns(talk.id)
    assert found.state == "pending"


async def test_a_level_above_suggest_is_not_kept(store, talk):
    await store.conversations.set_level(talk.id, "do", Scope("lore"))
    assert (await store.conversations.get(talk.id)).level == "suggest"


async def test_a_deleted_conversation_is_gone(store, talk):
    begun = await store.conversations.add(turn(talk, "Who?"))
    await store.conversations.delete(talk.id)
    assert await store.conversations.all() == ()
    await store.conversations.put(begun)  # an answer that ends later brings nothing back
    assert await store.conversations.turns(talk.id) == ()
    for identity in (talk.id, "talk-9", "x", "talk-x"):
        with pytest.raises(Gone):
            await store.conversations.get(ConversationId(identity))


async def test_a_purge_takes_the_turns_that_repeat_or_quote_the_chapter(store, talk, book):
    one, _two = book
    kept = await store.conversations.add(turn(talk, "宝玉为什么摔玉？", answer="不知道。"))
    for fields in (
        {"asked": "说一句", "answer": f"书里说：{TEXTS[0]}"},
        {"asked": TEXTS[0]},
        {"asked": "a", "citations": (Citation(0, 1, one.id, "黛玉"),)},
        {"asked": "b", "chips": (Chip("chapter", one.id),)},
        {"asked": "c", "used": (UsedTool("1", "read_chapter", "read", "completed", said=TEXTS[0]),)},
    ):
        await store.conversations.add(turn(talk, **fields))
    await store.maintenance.purge_chapter(one.id, no_tasks)
    assert [each.number for each in await store.conversations.turns(talk.id)] == [kept.number]


def edit(chapter: Chapter, before: str, after: str) -> Proposal:
    start = TEXTS[chapter.position - 1].find(before)
    said = TextEdit(f"edit-{after}", chapter.id, before, after)
    place = ProposalPlace(chapter.id, start, start + len(before))
    return Proposal("edit", place, before, Difference(said), Reason("worded", "短"), Origin("agent", CONVERSATION))


async def accept(store: Store, chapter: ChapterId, row: Proposal, text: str) -> None:
    version = (await store.book.chapter(chapter)).version
    await store.proposals.write_edit(row, "confirm", text, version, "", no_tasks)


async def test_an_accepted_edit_is_a_version_and_its_undo_brings_the_text_back(store, book):
    one, _two = book
    (row,) = await store.proposals.add([edit(one, "步步留心", "处处小心")])
    assert (await store.proposals.add([edit(one, "步步留心", "处处小心")]))[0].id == row.id
    await accept(store, one.id, row, TEXTS[0].replace("步步留心", "处处小心"))
    assert (await store.proposals.get([row.id]))[0].state == "confirmed"
    assert "处处小心" in await store.book.text(one.id)
    (back,) = await store.proposals.undo()
    assert (await store.book.text(one.id), back.state) == (TEXTS[0], "waiting")


async def test_each_edit_of_a_chapter_is_taken_back_by_itself(store, book):
    one, _two = book
    first, second = await store.proposals.add([edit(one, "步步留心", "处处小心"), edit(one, "多说一句话", "开口")])
    text = TEXTS[0].replace("步步留心", "处处小心")
    await accept(store, one.id, first, text)
    await accept(store, one.id, second, text.replace("多说一句话", "开口"))
    await store.proposals.undo(first.id)
    assert await store.book.text(one.id) == TEXTS[0].replace("多说一句话", "开口")
    assert [each.state for each in await store.proposals.get([first.id, second.id])] == ["waiting", "confirmed"]


async def test_an_undo_never_overwrites_what_was_written_since(store, book):
    one, _two = book
    (row,) = await store.proposals.add([edit(one, "步步留心", "处处小心")])
    await accept(store, one.id, row, TEXTS[0].replace("步步留心", "处处小心"))
    await store.book.write(one.id, "别的文字。", "human")
    with pytest.raises(RunError, match="changed since"):
        await store.proposals.undo(row.id)
    assert await store.book.text(one.id) == "别的文字。"


async def test_an_edit_of_an_older_version_is_refused(store, book):
    one, _two = book
    (row,) = await store.proposals.add([edit(one, "步步留心", "处处小心")])
    await store.book.write(one.id, f"{TEXTS[0]}。", "human")
    with pytest.raises(VersionConflict):
        await store.proposals.write_edit(row, "confirm", "x", one.version, "", no_tasks)
    assert (await store.proposals.get([row.id]))[0].state == "waiting"


async def test_an_edit_whose_words_are_gone_is_resolved_and_open_when_they_are_back(store, book):
    one, _two = book
    (row,) = await store.proposals.add([edit(one, "步步留心", "处处小心")])
    await store.book.write(one.id, "别的文字。", "human")
    assert (await store.proposals.get([row.id]))[0].state == "resolved"
    await store.book.write(one.id, TEXTS[0], "human")
    assert (await store.proposals.get([row.id]))[0].state == "waiting"
