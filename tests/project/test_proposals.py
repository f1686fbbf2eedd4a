"""Proposals of a kept chapter in a project: listed, decided, taken back, followed by names, index and contexts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flowcabal_tui.domain.errors import RunError, UnknownName
from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.proposals import Proposal, ProposalFilter, ProposalId
from flowcabal_tui.domain.story import Fact, RecordId
from flowcabal_tui.protocol.book import EditChapter, WriteChapter
from flowcabal_tui.protocol.memory import Purge
from flowcabal_tui.protocol.messages import from_message, to_message
from flowcabal_tui.protocol.story import CorrectProposal, DecideProposals, PutEntity, PutRecord, UndoDecision
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings
from tests.project.case import Case, make_one, opened
from tests.project.test_story import FERRY, INES, LATER, TOBIAS, written

ANY = ProposalFilter(states=())


@pytest.fixture
async def case(folder):
    async with opened(await make_one(folder, ModelsSettings(user=OFFLINE, agent=OFFLINE))) as case:
        for name in ("Ines Marlow", "Tobias Crane"):
            await case.project.carry_out(PutEntity(Entity(EntityId(name.split()[0].lower()), "character", name)))
        yield case


async def rows(case: Case, kind: str = "", where: ProposalFilter = ANY) -> list[Proposal]:
    return [row for row in (await case.project.story.proposals(where)).rows if kind in ("", row.kind)]


async def states(case: Case, kind: str = "") -> set[str]:
    return {row.state for row in await rows(case, kind)}


async def test_a_kept_chapter_is_one_list_of_people_facts_relations_and_promises_with_quotations(case):
    one, two = await written(case, FERRY, LATER)
    found = await rows(case)
    assert {row.kind for row in found} >= {"entity", "relation", "fact", "promise", "sequel"}
    texts = {chapter: await case.project.book.chapter_text(chapter) for chapter in (one, two)}
    assert all(texts[row.place.chapter][row.place.start : row.place.end] == row.quotation for row in found)
    assert {row.place.chapter for row in found} == {one, two}
    again = [row.id for row in found]
    await case.project.carry_out(WriteChapter(one, FERRY))
    await case.settled()
    assert [row.id for row in await rows(case)] == again


async def test_a_confirmed_row_is_a_hands_word_and_undo_gives_it_back_to_the_agent(case):
    await written(case, FERRY)
    (relation,) = await rows(case, "relation")
    await case.project.carry_out(DecideProposals((relation.id,), "confirm"))
    assert [(each.kind, each.by) for each in (await case.project.story.all()).relations] == [("sister of", "hand")]
    assert await states(case, "relation") == {"confirmed"}
    await case.project.carry_out(UndoDecision())
    assert [each.by for each in (await case.project.story.all()).relations] == ["agent"]
    with pytest.raises(RunError, match="no decision"):
        await case.project.carry_out(UndoDecision())


async def test_a_dropped_row_leaves_the_story_and_is_not_said_again(case):
    (one,) = await written(case, FERRY)
    facts = [row for row in await rows(case, "fact") if row.state == "applied"]
    await case.project.carry_out(DecideProposals(tuple(row.id for row in facts), "drop"))
    assert (await case.project.story.all()).facts == ()
    await case.project.carry_out(WriteChapter(one, f"{FERRY} It rained."))
    await case.settled()
    assert (await case.project.story.all()).facts == ()
    await case.project.carry_out(UndoDecision())
    assert {fact.id for fact in (await case.project.story.all()).facts} == {row.target for row in facts}


async def test_a_correction_is_written_in_its_place(case):
    await written(case, FERRY)
    (relation,) = await rows(case, "relation")
    with pytest.raises(RunError, match="something else"):
        await case.project.carry_out(CorrectProposal(relation.id, Fact(RecordId("x"), "She hums.", (INES,))))
    half = replace(relation.difference.after, kind="half-sister of")
    await case.project.carry_out(from_message(to_message(CorrectProposal(relation.id, half))))
    assert [(each.kind, each.by) for each in (await case.project.story.all()).relations] == [("half-sister of", "hand")]
    assert await states(case, "relation") == {"corrected"}
    await case.project.carry_out(UndoDecision())
    assert [(each.kind, each.by) for each in (await case.project.story.all()).relations] == [("sister of", "agent")]


async def test_an_agent_ends_nothing_that_a_hand_wrote_but_proposes_the_change(case):
    one, two = await written(case, FERRY, "It rained.")
    homes = [row for row in await rows(case, "fact") if row.difference.after.attribute == "lives in"]
    await case.project.carry_out(DecideProposals(tuple(row.id for row in homes), "confirm"))
    await case.project.carry_out(WriteChapter(two, LATER))
    await case.settled()
    (moved,) = [row for row in await rows(case, "fact") if row.reason.grounds == "overrules"]
    assert (moved.state, moved.difference.before.text) == ("waiting", "Ines Marlow now lives in Saltreach.")
    here = [fact for fact in (await case.project.story.all()).facts if fact.attribute == "lives in"]
    assert [(fact.text, fact.until) for fact in here] == [("Ines Marlow now lives in Saltreach.", None)]
    await case.project.carry_out(DecideProposals((moved.id,), "confirm"))
    here = [fact for fact in (await case.project.story.all()).facts if fact.attribute == "lives in"]
    assert [(fact.since, fact.until) for fact in here] == [(one, two), (two, None)]


async def test_what_an_edit_took_away_is_resolved_and_not_said_to_be_withdrawn(case):
    (one,) = await written(case, FERRY)
    await case.project.carry_out(WriteChapter(one, FERRY.replace("was Tobias Crane's sister", "hummed")))
    await case.settled()
    assert await states(case, "relation") == {"resolved"}


async def test_what_ended_stays_ended_when_it_is_confirmed(case):
    one, two = await written(case, FERRY, LATER)
    before = await case.project.story.all()
    confirmed = [row for row in await rows(case) if row.kind in ("fact", "promise") and row.place.chapter == one]
    await case.project.carry_out(DecideProposals(tuple(row.id for row in confirmed), "confirm"))
    after = await case.project.story.all()
    assert [(each.id, each.until) for each in after.facts] == [(each.id, each.until) for each in before.facts]
    assert [(each.id, each.paid) for each in after.promises] == [(each.id, each.paid) for each in before.promises]
    assert any(each.paid == two for each in after.promises)


async def test_names_are_confirmed_and_found_in_the_text_and_undo_takes_them_back(case):
    await case.project.carry_out(PutEntity(Entity(INES, "character", "Ines Marlow", proposed=("Mar", "Saltreach"))))
    await written(case, FERRY)
    wanted = [row for row in await rows(case, "name") if row.says in ("Mar", "Saltreach")]
    before = len(await case.project.story.mentions(INES))
    await case.project.carry_out(DecideProposals(tuple(row.id for row in wanted), "confirm"))
    await case.settled()
    assert len(await case.project.story.mentions(INES)) > before
    await case.project.carry_out(UndoDecision())
    await case.settled()
    assert len(await case.project.story.mentions(INES)) == before
    (ines,) = [entity for entity in await case.project.story.entities() if entity.id == INES]
    assert (ines.aliases, set(ines.proposed)) == ((), {"Mar", "Saltreach"})


async def test_people_and_records_are_one_decision_and_one_undo(case):
    await written(case, FERRY)
    found = [row for row in await rows(case) if row.state == "applied"]
    people = {entity.id for entity in await case.project.story.entities()}
    await case.project.carry_out(DecideProposals(tuple(row.id for row in found), "drop"))
    assert (await case.project.story.all()).facts == ()
    assert {entity.id for entity in await case.project.story.entities()} < people
    await case.project.carry_out(UndoDecision())
    assert {entity.id for entity in await case.project.story.entities()} == people
    assert {row.id for row in await rows(case) if row.state == "applied"} == {row.id for row in found}


async def test_a_relation_to_an_unknown_name_cannot_be_confirmed_before_it_is_corrected(case):
    await written(case, FERRY)
    (relation,) = await rows(case, "relation")
    store = case.project._parts.store
    nobody = replace(relation.difference.after, id=RecordId("nobody"), target=EntityId(""))
    waits = replace(relation, difference=replace(relation.difference, after=nobody), state="waiting")
    await case.project._engine.call(store.memory.put_entities((), (), [waits]))
    (row,) = [each for each in await rows(case, "relation") if each.target == "nobody"]
    with pytest.raises(RunError, match="two names"):
        await case.project.carry_out(DecideProposals((row.id,), "confirm"))
    await case.project.carry_out(CorrectProposal(row.id, replace(nobody, target=TOBIAS)))
    assert [each.id for each in (await case.project.story.all()).relations if each.by == "hand"] == ["nobody"]


async def test_rows_go_with_a_deleted_chapter_and_for_good_with_a_purged_one(case):
    one, _two = await written(case, FERRY, LATER)
    await case.project.carry_out(EditChapter(one, deleted=True))
    assert one not in {row.place.chapter for row in await rows(case)}
    await case.project.carry_out(EditChapter(one, deleted=False))
    assert one in {row.place.chapter for row in await rows(case)}
    await case.project.carry_out(Purge(chapter=ChapterId(one)))
    assert one not in {row.place.chapter for row in await rows(case) if row.place}


async def test_a_decision_on_an_unknown_row_is_refused_and_a_decision_elsewhere_counts(case):
    await written(case, FERRY)
    with pytest.raises(UnknownName):
        await case.project.carry_out(DecideProposals((ProposalId("none"),), "confirm"))
    (relation,) = await rows(case, "relation")
    await case.project.carry_out(PutRecord(relation.difference.after))
    assert await states(case, "relation") == {"confirmed"}
