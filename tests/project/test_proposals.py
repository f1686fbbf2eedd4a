"""Proposals of a kept chapter in a project: listed, decided, taken back, followed by names, index and contexts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flowcabal_tui.domain.errors import RunError, UnknownName
from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.proposals import Proposal, ProposalId, ProposalWish
from flowcabal_tui.domain.story import Fact, RecordId
from flowcabal_tui.protocol.book import EditChapter, WriteChapter
from flowcabal_tui.protocol.memory import Purge
from flowcabal_tui.protocol.messages import from_message, to_message
from flowcabal_tui.protocol.story import CorrectProposal, DecideProposals, PutEntity, PutRecord, UndoDecision
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings
from tests.project.desk import Desk, make_one, opened
from tests.project.test_story import FERRY, INES, LATER, TOBIAS, written

ANY = ProposalWish(states=())


@pytest.fixture
async def desk(folder):
    async with opened(await make_one(folder, ModelsSettings(user=OFFLINE, agent=OFFLINE))) as desk:
        for name in ("Ines Marlow", "Tobias Crane"):
            await desk.project.carry_out(PutEntity(Entity(EntityId(name.split()[0].lower()), "character", name)))
        yield desk


async def rows(desk: Desk, kind: str = "", wish: ProposalWish = ANY) -> list[Proposal]:
    return [row for row in (await desk.project.story.proposals(wish)).rows if kind in ("", row.kind)]


async def states(desk: Desk, kind: str = "") -> set[str]:
    return {row.state for row in await rows(desk, kind)}


async def test_a_kept_chapter_is_one_list_of_people_facts_relations_and_promises_with_quotations(desk):
    one, two = await written(desk, FERRY, LATER)
    found = await rows(desk)
    assert {row.kind for row in found} >= {"entity", "relation", "fact", "promise", "sequel"}
    texts = {chapter: await desk.project.book.chapter_text(chapter) for chapter in (one, two)}
    assert all(texts[row.place.chapter][row.place.start : row.place.end] == row.quotation for row in found)
    assert {row.place.chapter for row in found} == {one, two}
    again = [row.id for row in found]
    await desk.project.carry_out(WriteChapter(one, FERRY))
    await desk.settled()
    assert [row.id for row in await rows(desk)] == again


async def test_a_confirmed_row_is_a_hands_word_and_undo_gives_it_back_to_the_agent(desk):
    await written(desk, FERRY)
    (relation,) = await rows(desk, "relation")
    await desk.project.carry_out(DecideProposals((relation.id,), "confirm"))
    assert [(each.kind, each.by) for each in (await desk.project.story.all()).relations] == [("sister of", "hand")]
    assert await states(desk, "relation") == {"confirmed"}
    await desk.project.carry_out(UndoDecision())
    assert [each.by for each in (await desk.project.story.all()).relations] == ["agent"]
    with pytest.raises(RunError, match="no decision"):
        await desk.project.carry_out(UndoDecision())


async def test_a_dropped_row_leaves_the_story_and_is_not_said_again(desk):
    (one,) = await written(desk, FERRY)
    facts = [row for row in await rows(desk, "fact") if row.state == "applied"]
    await desk.project.carry_out(DecideProposals(tuple(row.id for row in facts), "drop"))
    assert (await desk.project.story.all()).facts == ()
    await desk.project.carry_out(WriteChapter(one, f"{FERRY} It rained."))
    await desk.settled()
    assert (await desk.project.story.all()).facts == ()
    await desk.project.carry_out(UndoDecision())
    assert {fact.id for fact in (await desk.project.story.all()).facts} == {row.target for row in facts}


async def test_a_correction_is_written_in_its_place(desk):
    await written(desk, FERRY)
    (relation,) = await rows(desk, "relation")
    with pytest.raises(RunError, match="something else"):
        await desk.project.carry_out(CorrectProposal(relation.id, Fact(RecordId("x"), "She hums.", (INES,))))
    half = replace(relation.difference.after, kind="half-sister of")
    await desk.project.carry_out(from_message(to_message(CorrectProposal(relation.id, half))))
    assert [(each.kind, each.by) for each in (await desk.project.story.all()).relations] == [("half-sister of", "hand")]
    assert await states(desk, "relation") == {"corrected"}
    await desk.project.carry_out(UndoDecision())
    assert [(each.kind, each.by) for each in (await desk.project.story.all()).relations] == [("sister of", "agent")]


async def test_an_agent_ends_nothing_that_a_hand_wrote_but_proposes_the_change(desk):
    one, two = await written(desk, FERRY, "It rained.")
    homes = [row for row in await rows(desk, "fact") if row.difference.after.attribute == "lives in"]
    await desk.project.carry_out(DecideProposals(tuple(row.id for row in homes), "confirm"))
    await desk.project.carry_out(WriteChapter(two, LATER))
    await desk.settled()
    (moved,) = [row for row in await rows(desk, "fact") if row.reason.grounds == "overrules"]
    assert (moved.state, moved.difference.before.text) == ("waiting", "Ines Marlow now lives in Saltreach.")
    here = [fact for fact in (await desk.project.story.all()).facts if fact.attribute == "lives in"]
    assert [(fact.text, fact.until) for fact in here] == [("Ines Marlow now lives in Saltreach.", None)]
    await desk.project.carry_out(DecideProposals((moved.id,), "confirm"))
    here = [fact for fact in (await desk.project.story.all()).facts if fact.attribute == "lives in"]
    assert [(fact.since, fact.until) for fact in here] == [(one, two), (two, None)]


async def test_what_an_edit_took_away_is_resolved_and_not_said_to_be_withdrawn(desk):
    (one,) = await written(desk, FERRY)
    await desk.project.carry_out(WriteChapter(one, FERRY.replace("was Tobias Crane's sister", "hummed")))
    await desk.settled()
    assert await states(desk, "relation") == {"resolved"}


async def test_what_ended_stays_ended_when_it_is_confirmed(desk):
    one, two = await written(desk, FERRY, LATER)
    before = await desk.project.story.all()
    confirmed = [row for row in await rows(desk) if row.kind in ("fact", "promise") and row.place.chapter == one]
    await desk.project.carry_out(DecideProposals(tuple(row.id for row in confirmed), "confirm"))
    after = await desk.project.story.all()
    assert [(each.id, each.until) for each in after.facts] == [(each.id, each.until) for each in before.facts]
    assert [(each.id, each.paid) for each in after.promises] == [(each.id, each.paid) for each in before.promises]
    assert any(each.paid == two for each in after.promises)


async def test_names_are_confirmed_and_found_in_the_text_and_undo_takes_them_back(desk):
    await desk.project.carry_out(PutEntity(Entity(INES, "character", "Ines Marlow", proposed=("Mar", "Saltreach"))))
    await written(desk, FERRY)
    wanted = [row for row in await rows(desk, "name") if row.says in ("Mar", "Saltreach")]
    before = len(await desk.project.story.mentions(INES))
    await desk.project.carry_out(DecideProposals(tuple(row.id for row in wanted), "confirm"))
    await desk.settled()
    assert len(await desk.project.story.mentions(INES)) > before
    await desk.project.carry_out(UndoDecision())
    await desk.settled()
    assert len(await desk.project.story.mentions(INES)) == before
    (ines,) = [entity for entity in await desk.project.story.entities() if entity.id == INES]
    assert (ines.aliases, set(ines.proposed)) == ((), {"Mar", "Saltreach"})


async def test_people_and_records_are_one_decision_and_one_undo(desk):
    await written(desk, FERRY)
    found = [row for row in await rows(desk) if row.state == "applied"]
    people = {entity.id for entity in await desk.project.story.entities()}
    await desk.project.carry_out(DecideProposals(tuple(row.id for row in found), "drop"))
    assert (await desk.project.story.all()).facts == ()
    assert {entity.id for entity in await desk.project.story.entities()} < people
    await desk.project.carry_out(UndoDecision())
    assert {entity.id for entity in await desk.project.story.entities()} == people
    assert {row.id for row in await rows(desk) if row.state == "applied"} == {row.id for row in found}


async def test_a_relation_to_an_unknown_name_cannot_be_confirmed_before_it_is_corrected(desk):
    await written(desk, FERRY)
    (relation,) = await rows(desk, "relation")
    store = desk.project._parts.store
    nobody = replace(relation.difference.after, id=RecordId("nobody"), target=EntityId(""))
    waits = replace(relation, difference=replace(relation.difference, after=nobody), state="waiting")
    await desk.project._engine.call(store.memory.put_entities((), (), [waits]))
    (row,) = [each for each in await rows(desk, "relation") if each.target == "nobody"]
    with pytest.raises(RunError, match="two names"):
        await desk.project.carry_out(DecideProposals((row.id,), "confirm"))
    await desk.project.carry_out(CorrectProposal(row.id, replace(nobody, target=TOBIAS)))
    assert [each.id for each in (await desk.project.story.all()).relations if each.by == "hand"] == ["nobody"]


async def test_rows_go_with_a_deleted_chapter_and_for_good_with_a_purged_one(desk):
    one, _two = await written(desk, FERRY, LATER)
    await desk.project.carry_out(EditChapter(one, deleted=True))
    assert one not in {row.place.chapter for row in await rows(desk)}
    await desk.project.carry_out(EditChapter(one, deleted=False))
    assert one in {row.place.chapter for row in await rows(desk)}
    await desk.project.carry_out(Purge(chapter=ChapterId(one)))
    assert one not in {row.place.chapter for row in await rows(desk) if row.place}


async def test_a_word_on_an_unknown_row_is_refused_and_a_hand_elsewhere_counts(desk):
    await written(desk, FERRY)
    with pytest.raises(UnknownName):
        await desk.project.carry_out(DecideProposals((ProposalId("none"),), "confirm"))
    (relation,) = await rows(desk, "relation")
    await desk.project.carry_out(PutRecord(relation.difference.after))
    assert await states(desk, "relation") == {"confirmed"}
