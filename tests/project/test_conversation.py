"""The conversation with the book over both wire forms: answers with places, levels, cards, permissions, limits."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
import pytest_asyncio

from flowcabal_tui.domain.conversation import Chip, Scope
from flowcabal_tui.domain.errors import Gone, RunError
from flowcabal_tui.domain.windows import prompt_room
from flowcabal_tui.protocol.book import WriteChapter, WriteMeta
from flowcabal_tui.protocol.conversations import (
    AnswerPermission,
    AnswerStreaming,
    AskBook,
    DeleteConversation,
    SendWaiting,
    SetLevel,
    StopAnswer,
    TurnChanged,
)
from flowcabal_tui.protocol.story import DecideProposals, PutEntity, UndoDecision
from tests.faultserver import FaultServer
from tests.project.case import change
from tests.project.talking import EDIT, FERRY, LEDGER, OUTLINE, Talking, book, call, calls, made, says, talking

CITED = "Tobias watched her. [[1|Tobias Crane watched her go]] It rained. [[1|the rain fell]]"


@pytest.fixture(params=["openai", "anthropic"])
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest_asyncio.fixture
async def talk(folder: Path, server: FaultServer, provider: str) -> AsyncIterator[Talking]:
    await made(folder, server, provider, price_in=Decimal(1), price_out=Decimal(2))
    async with talking(folder, server) as talk:
        yield talk


@pytest_asyncio.fixture
async def plain(folder: Path, server: FaultServer) -> AsyncIterator[Talking]:
    """Over one form only: what does not depend on it."""
    await made(folder, server)
    async with talking(folder, server) as talk:
        yield talk


async def test_an_answer_streams_and_only_what_stands_in_the_book_has_a_place(talk: Talking):
    turn = await talk.ask("What did Tobias do?", says(CITED))
    assert (turn.state, turn.stop, turn.answer) == ("completed", "end_turn", CITED)
    there, invented = turn.citations
    assert there.found and FERRY[there.at : there.until] == "Tobias Crane watched her go"
    assert not invented.found
    pieces = talk.case.told(AnswerStreaming)
    assert "".join(each.chunk for each in pieces) == CITED
    assert [each.state for each in talk.case.told(TurnChanged)][-1] == "completed"
    assert turn.input_tokens + turn.output_tokens > 0


async def test_a_wrong_number_of_a_chapter_does_not_lose_a_place(plain: Talking):
    turn = await plain.ask("Who read?", says("He opened it. [[1|opened the ledger in the counting house]]"))
    (cited,) = turn.citations
    assert cited.found and cited.chapter == await plain.case.chapter(2)


async def test_what_the_conversation_knows_is_what_its_receipt_says(plain: Talking):
    chapter = await plain.case.chapter(2)
    turn = await plain.ask("Who is Ines?", says("Ines."), chips=(Chip("chapter", chapter, whole=True),))
    assert turn.receipt is not None and turn.receipt.sources
    body = json.dumps(plain.sent()[-1])
    assert LEDGER in body and "Chapter 2: The Ledger" in body
    assert any("Chapter 2: The Ledger" in note and "tokens" in note for note in turn.receipt.notes)


async def test_earlier_turns_are_sent_with_the_next_question(talk: Talking):
    await talk.ask("Who is Ines?", says("A ferrywoman."))
    await talk.ask("And Tobias?", says("A clerk."))
    said = [(each["role"], str(each["content"])) for each in talk.sent()[-1]["messages"] if each["role"] != "system"]
    assert [role for role, _words in said] == ["user", "assistant", "user"]
    assert "Who is Ines?" in said[0][1] and "A ferrywoman." in said[1][1] and "And Tobias?" in said[2][1]


async def test_at_ask_there_is_no_tool_that_changes_anything(talk: Talking):
    before = await talk.book()
    turn = await talk.ask("Change it.", calls(EDIT), says("I cannot."))
    names = {tool.get("name") or tool["function"]["name"] for tool in talk.sent()[0]["tools"]}
    assert not any(name.startswith(("propose", "start")) for name in names)
    assert turn.used[0].status == "failed" and "read_chapter" in turn.used[0].said
    assert await talk.book() == before
    assert await talk.cards() == []


async def test_at_suggest_an_edit_is_a_card_that_the_writer_accepts_and_takes_back(talk: Talking):
    await talk.level("suggest")
    before = await talk.book()
    turn = await talk.ask("Make it shorter.", calls(EDIT), says("Proposed."))
    assert await talk.book() == before
    (card,) = await talk.cards("waiting")
    assert turn.used[0].proposals == (card.id,) and not turn.used[0].applied
    assert (card.quotation, card.reason.detail) == ("watched her go", "It is shorter.")
    await talk.case.project.carry_out(DecideProposals((card.id,), "confirm"))
    assert "Tobias Crane said nothing, one" in await talk.text(1)
    await talk.case.project.carry_out(UndoDecision(card.id))
    assert await talk.text(1) == FERRY


async def test_every_kind_of_proposal_waits_at_suggest(plain: Talking):
    await plain.level("suggest")
    before = await plain.book()
    proposed = (
        call("propose_fact", text="Tobias has one glove.", about=["Tobias Crane"], chapter=1,
             quotation="one blue glove in his hand", reason="It matters."),
        call("propose_name", name="the clerk", of="Tobias Crane", reason="He is called so."),
        call("propose_name", name="Saltreach", kind="location", reason="A place."),
        call("propose_outline", chapter=1, text="Ines leaves at dawn.", reason="Clearer."),
    )  # fmt: skip
    turn = await plain.ask("Note it.", calls(*proposed), says("Done."))
    assert [each.status for each in turn.used] == ["completed"] * 4, [each.said for each in turn.used]
    assert await plain.book() == before
    cards = await plain.cards("waiting")
    assert sorted(each.kind for each in cards) == ["entity", "fact", "name", "outline"]
    for each in cards:
        await plain.case.project.carry_out(DecideProposals((each.id,), "confirm"))
    project = plain.case.project
    assert [each.text for each in (await project.story.all()).facts] == ["Tobias has one glove."]
    assert {"the clerk"} <= {name for each in await project.story.entities() for name in each.names}
    assert await project.book.meta("outline") == OUTLINE.replace("leaves.", "leaves at dawn.")
    for _each in cards:
        await project.carry_out(UndoDecision())
    assert await plain.text(1) == FERRY and await project.book.meta("outline") == OUTLINE


async def test_a_proposal_that_was_dropped_is_not_made_again(plain: Talking):
    await plain.level("suggest")
    await plain.ask("Shorter.", calls(EDIT), says("Proposed."))
    (card,) = await plain.cards("waiting")
    await plain.case.project.carry_out(DecideProposals((card.id,), "drop"))
    turn = await plain.ask("Again.", calls(EDIT), says("It was turned down."))
    assert "dropped" in turn.used[0].said and turn.used[0].proposals == ()
    assert await plain.cards("waiting") == []


async def test_quotations_that_are_not_there_or_twice_there_are_refused(plain: Talking):
    await plain.level("suggest")
    reason = {"reason": "r"}
    wrong = (
        call("propose_edit", chapter=1, quotation="the moon rose over the bay", replacement="x", **reason),
        call("propose_edit", chapter=9, quotation="ferry", replacement="x", **reason),
        call("propose_edit", chapter=1, quotation="the", replacement="x", **reason),
        call("propose_fact", text="x", about=["Nobody"], chapter=1, quotation="pushed the ferry", **reason),
        call("propose_name", name="Ines Marlow", **reason),
        call("propose_workflow", workflow="none", wish="x"),
    )
    turn = await plain.ask("Try.", calls(*wrong), says("No."))
    assert [each.status for each in turn.used] == ["failed"] * len(wrong), [each.said for each in turn.used]
    assert "does not hold" in turn.used[0].said and "chapters 1 to 2" in turn.used[1].said
    assert "times" in turn.used[2].said and "Ines Marlow" in turn.used[3].said
    assert await plain.cards() == []


async def test_do_changes_its_chapter_at_once_each_with_an_undo_and_nothing_else(talk: Talking):
    chapter = await talk.case.chapter(1)
    await talk.level("do", Scope("chapter", chapter))
    other = call("propose_edit", chapter=2, quotation="said nothing", replacement="was silent", reason="r")
    cut = call("propose_edit", chapter=1, quotation="Ines Marlow pushed the ferry off the bank.", replacement="",
               reason="r")  # fmt: skip
    fact = call("propose_fact", text="A glove.", about=["Tobias Crane"], chapter=1, quotation="one blue glove",
                reason="r")  # fmt: skip
    turn = await talk.ask("Go.", calls(EDIT, other, cut, fact), says("Done."))
    assert [each.applied for each in turn.used] == [True, False, False, False]
    assert await talk.text(1) == FERRY.replace("watched her go", "said nothing")
    assert await talk.text(2) == LEDGER
    assert sorted(each.kind for each in await talk.cards("waiting")) == ["edit", "edit", "fact"]
    await talk.case.project.carry_out(UndoDecision(turn.used[0].proposals[0]))
    assert await talk.text(1) == FERRY


async def test_do_in_the_lore_writes_names_and_the_outline_but_no_chapter_and_no_fact(plain: Talking):
    await plain.level("do", Scope("lore"))
    name = call("propose_name", name="the clerk", of="Tobias Crane", reason="r")
    outline = call("propose_outline", chapter=2, text="Tobias counts twice.", reason="r")
    turn = await plain.ask("Go.", calls(name, outline, EDIT), says("Done."))
    assert [each.applied for each in turn.used] == [True, True, False]
    assert await plain.text(1) == FERRY
    assert await plain.case.project.book.meta("outline") == OUTLINE.replace("counts.", "counts twice.")
    for used in turn.used[:2]:
        await plain.case.project.carry_out(UndoDecision(used.proposals[0]))
    assert await plain.case.project.book.meta("outline") == OUTLINE
    assert "the clerk" not in {each for entity in await plain.case.project.story.entities() for each in entity.names}


async def test_do_in_the_lore_empties_no_outline(plain: Talking):
    chapter = await plain.case.chapter(2)
    await plain.case.project.carry_out(WriteMeta("outline", OUTLINE.replace("counts.", "counts. " + "He waits. " * 40)))
    await plain.level("do", Scope("lore"))
    cut = call("propose_outline", chapter=2, text="Tobias counts.", reason="r")
    (used,) = (await plain.ask("Go.", calls(cut), says("Done."))).used
    assert not used.applied and [each.place.chapter for each in await plain.cards("waiting")] == [chapter]


async def test_a_new_name_never_takes_the_place_of_another_entry(plain: Talking):
    project = plain.case.project
    (ines,) = [each for each in await project.story.entities() if each.id == "Ines"]
    await project.carry_out(PutEntity(replace(ines, note="She rows.")))
    await plain.level("suggest")
    await plain.ask("Go.", calls(call("propose_name", name="Ines", kind="location", reason="r")), says("Done."))
    (card,) = await plain.cards("waiting")
    await project.carry_out(DecideProposals((card.id,), "confirm"))
    names = {each.name: each.note for each in await project.story.entities()}
    assert names == {"Ines Marlow": "She rows.", "Ines": "", "Tobias Crane": ""}
    await project.carry_out(UndoDecision(card.id))
    assert {each.name for each in await project.story.entities()} == {"Ines Marlow", "Tobias Crane"}


async def test_do_applies_at_most_twenty_changes_a_turn(plain: Talking):
    await plain.level("do", Scope("lore"))
    many = [call("propose_name", name=f"Name {number}", reason="r") for number in range(22)]
    turn = await plain.ask("Go.", calls(*many), says("Done."))
    assert sum(each.applied for each in turn.used) == 20
    assert len(await plain.cards("waiting")) == 2


async def test_a_level_above_suggest_ends_with_the_program(folder: Path, server: FaultServer):
    await made(folder, server)
    async with talking(folder, server) as talk:
        await talk.level("do", Scope("lore"))
        assert (await talk.case.project.conversations.conversation(talk.id)).level == "do"
        with pytest.raises(RunError, match="what may be changed"):
            await talk.case.project.carry_out(SetLevel(talk.id, "do"))
        identity = talk.id
    async with talking(folder, server) as again:
        assert (await again.case.project.conversations.conversation(identity)).level == "suggest"


async def test_a_run_always_asks_with_its_price_and_begins_once(talk: Talking):
    await talk.level("do", Scope("chapter", await talk.case.chapter(1)))
    start = call("start_run", workflow="quick-draft", chapter=1, instruction="Short.")
    turn = await talk.ask("Write it.", calls(start), says("You are asked."))
    (used,) = turn.used
    assert used.permission is not None and used.status == "pending"
    assert "1 call," in used.permission.price and used.permission.limit is not None
    assert await talk.case.project.runs.summaries() == ()
    project = talk.case.project
    run = await project.carry_out(AnswerPermission(talk.id, 1, used.id, "allow_once"))
    assert [each.id for each in await project.runs.summaries()] == [run]
    with pytest.raises(RunError, match="Nothing waits"):
        await project.carry_out(AnswerPermission(talk.id, 1, used.id, "allow_once"))
    kept = (await talk.turn(1)).used[0].permission
    assert kept is not None and (kept.answer, kept.made) == ("allow_once", run)


async def test_a_refused_run_does_not_begin(plain: Talking):
    await plain.level("suggest")
    turn = await plain.ask("Write it.", calls(call("start_run", workflow="chapter", chapter=1)), says("Asked."))
    await plain.case.project.carry_out(AnswerPermission(plain.id, 1, turn.used[0].id, "reject_once"))
    assert await plain.case.project.runs.summaries() == ()


async def test_a_paid_build_is_asked_for_before_it_calls_a_model(talk: Talking):
    await talk.level("do", Scope("workflow", "chapter"))
    before = await talk.book()
    wish = call("propose_workflow", workflow="chapter", wish="Check the names before the polish.")
    turn = await talk.ask("Change the workflow.", calls(wish), says("Asked."))
    assert turn.used[0].permission is not None and "20" in turn.used[0].permission.price
    assert len(talk.sent()) == 2
    assert await talk.book() == before


async def test_a_stop_keeps_what_has_come_and_sends_nothing_behind_it(talk: Talking):
    project = talk.case.project
    talk.server.push(says("One two three four five six. " * 40, stall_after=8), says("Never."))
    project.send(AskBook(talk.id, "First?"))
    await talk.case.until(AnswerStreaming)
    project.send(AskBook(talk.id, "Second?"))
    await talk.case.until(TurnChanged, lambda event: event.turn == 2)
    await project.carry_out(StopAnswer(talk.id))
    await talk.case.until(TurnChanged, lambda event: (event.turn, event.state) == (1, "completed"))
    first, second = await project.conversations.turns(talk.id)
    assert first.stop == "cancelled" and first.answer.startswith("One two")
    assert (second.state, second.answer) == ("pending", "")
    assert len(talk.sent()) == 1
    totals = await project.runs.totals()
    assert totals.calls == 1 and totals.output_tokens > 0  # what came is booked
    talk.server.clear()
    talk.server.push(says("Second answer."))
    await project.carry_out(SendWaiting(talk.id, 2))
    assert (await talk.turn(2)).answer == "Second answer."


async def test_what_is_asked_while_an_answer_streams_waits_for_its_turn(talk: Talking):
    project = talk.case.project
    talk.server.push(says("First answer."), says("Second answer."))
    one, two = AskBook(talk.id, "First?"), AskBook(talk.id, "Second?")
    await asyncio.gather(project.carry_out(one), project.carry_out(two))
    assert [each.answer for each in await project.conversations.turns(talk.id)] == ["First answer.", "Second answer."]
    assert len(talk.sent()[1]["messages"]) > len(talk.sent()[0]["messages"])


async def test_a_question_is_quoted_with_its_chips_before_it_is_sent(plain: Talking):
    chapter = await plain.case.chapter(1)
    chips = (Chip("chapter", chapter, whole=True), Chip("name", "Ines"), Chip("selection", chapter, 0, 11))
    quote = await plain.case.project.conversations.ask_quote("Who?", chips, plain.id)
    assert [each.title for each in quote.chips] == ["Chapter 1: The Ferry", "Ines Marlow", "Chapter 1: The Ferry"]
    assert quote.tokens > sum(each.tokens for each in quote.chips) > 0
    assert plain.sent() == []
    with pytest.raises(Exception, match="no longer exists"):
        await plain.case.project.conversations.ask_quote("Who?", (Chip("name", "gone"),), plain.id)


async def test_a_small_window_leaves_room_for_what_is_read_while_answering(folder: Path, server: FaultServer):
    await made(folder, server, context_window=4_096)
    async with talking(folder, server) as talk:
        for number in (1, 2):
            text = "\n\n".join(f"Ines Marlow counted lamp {at}. {LEDGER}" for at in range(150))
            await talk.case.project.carry_out(WriteChapter(await talk.case.chapter(number), text))
        quote = await talk.case.project.conversations.ask_quote("What does Ines Marlow count?", (), talk.id)
        assert quote.receipt is not None and 0 < quote.receipt.used <= quote.receipt.budget
        assert quote.tokens < prompt_room(4_096, None)


async def test_a_chip_whose_chapter_is_gone_fails_with_a_reason(plain: Talking):
    turn = await plain.ask("Who?", chips=(Chip("chapter", "gone"),))
    assert turn.state == "failed" and "no longer exists" in turn.error
    assert plain.sent() == []


async def test_the_cap_of_the_project_holds_a_conversation(folder: Path, server: FaultServer):
    await made(folder, server)
    change(folder, "budget", max_tokens=10)
    async with talking(folder, server) as talk:
        first = await talk.ask("Who?", says("Ines."))
        second = await talk.ask("And?", says("Tobias."))
    assert "cap" in (first.error + second.error)
    assert len(server.log) <= 1


async def test_a_deleted_conversation_is_gone(plain: Talking):
    await plain.ask("Who?", says("Ines."))
    await plain.case.project.carry_out(DeleteConversation(plain.id))
    assert await plain.case.project.conversations.conversations() == ()
    with pytest.raises(Gone):
        await plain.case.project.carry_out(AskBook(plain.id, "Still there?"))


async def test_a_question_sent_again_keeps_the_cards_and_the_count_of_its_first_try(plain: Talking):
    await plain.level("do", Scope("lore"))
    many = [call("propose_name", name=f"Name {number}", reason="r") for number in range(15)]
    turn = await plain.ask("Go.", calls(*many), {"status": 400, "times": -1})
    assert turn.stop == "error" and sum(each.applied for each in turn.used) == 15
    more = [call("propose_name", name=f"More {number}", reason="r") for number in range(7)]
    plain.server.push(calls(many[0], *more), says("Done."))
    await plain.case.project.carry_out(SendWaiting(plain.id, 1))
    again = await plain.turn(1)
    assert [each.id for each in again.used[:15]] == [each.id for each in turn.used]
    assert sum(each.applied for each in again.used) == 20


async def test_the_same_proposal_is_one_card(plain: Talking):
    await plain.level("suggest")
    turn = await plain.ask("Shorter.", calls(EDIT, EDIT), says("Proposed."))
    assert [len(each.proposals) for each in turn.used] == [1, 0] and len(await plain.cards()) == 1


async def test_the_same_question_is_not_paid_twice(plain: Talking):
    await plain.ask("Who?", says("Ines."))
    stopped = await plain.turn(1)
    parts = plain.case.project._parts
    cut = stopped.__class__(**{name: getattr(stopped, name) for name in stopped.__slots__} | {"stop": "cancelled"})
    await plain.case.project._engine.call(parts.store.conversations.put(cut))
    await plain.case.project.carry_out(SendWaiting(plain.id, 1))
    assert (await plain.turn(1)).answer == "Ines." and len(plain.sent()) == 1
    assert "".join(each.chunk for each in plain.case.told(AnswerStreaming)) == "Ines.Ines."


async def test_the_offline_model_says_whether_it_proposed_or_applied(folder: Path, server: FaultServer):
    async with talking(await book(folder), server) as talk:
        await talk.level("suggest")
        first = await talk.ask("Replace “one blue glove” by “a glove”.")
        assert first.answer == "It is proposed; you decide." and await talk.text(1) == FERRY
        await talk.level("do", Scope("chapter", await talk.case.chapter(1)))
        second = await talk.ask("Replace “watched her go” by “said nothing”.")
        assert second.answer == "It is done; you can take it back."
        assert await talk.text(1) == FERRY.replace("watched her go", "said nothing")
