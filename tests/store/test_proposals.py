"""Proposals in the store: raised once, decided, taken back, and following what a hand and an edit do."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from flowcabal_tui.domain.errors import Gone, RunError
from flowcabal_tui.domain.ids import ChapterId, EntityId, Generation
from flowcabal_tui.domain.manuscript import Chapter, ImportedChapter
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.proposals import (
    Difference,
    NewName,
    Proposal,
    ProposalFilter,
    ProposalPlace,
    Reason,
    judged,
)
from flowcabal_tui.domain.story import ChapterReading, Fact, Promise, RecordId, Sequel
from flowcabal_tui.domain.text import digest
from flowcabal_tui.store.migrations import MIGRATIONS
from flowcabal_tui.store.rows.proposals import raise_proposals
from flowcabal_tui.store.store import Store
from tests.effort import effort

LIN, JIA = EntityId("lin"), EntityId("jia")
TEXTS = ("林住在扬州。林是贾的表妹。", "贾丢了玉。林搬到京城。")
ANY = ProposalFilter(states=())


@pytest.fixture
async def book(store: Store) -> Sequence[Chapter]:
    for identity, name in ((LIN, "林"), (JIA, "贾")):
        await store.memory.put_entity(Entity(identity, "character", name))
    return await store.book.import_chapters([ImportedChapter(text[:4], text) for text in TEXTS])


def fact(chapter: Chapter, text: str, quotation: str, *, record: str = "", grounds: str = "quoted") -> Proposal:
    whole = TEXTS[chapter.position - 1]
    start = max(0, whole.find(quotation))
    said = Fact(RecordId(record or digest(text)[:8]), text, (LIN,), since=chapter.id, by="agent")
    place = ProposalPlace(chapter.id, start, start + len(quotation))
    state = "applied" if grounds == "quoted" else "waiting"
    return Proposal("fact", place, quotation, Difference(said), Reason(grounds), state=state)


async def read(store: Store, chapter: Chapter, *proposals: Proposal, sequels: Sequence[Sequel] = ()) -> None:
    applied = [each.difference.after for each in proposals if each.state == "applied"]
    records = tuple(each for each in applied if not isinstance(each, Sequel))
    text = await store.book.text(chapter.id)
    reading = ChapterReading(chapter.id, chapter.position, digest(text), digest(f"{text}?"), records, tuple(sequels))
    await store.records.put_reading(reading, proposals)


async def rows(store: Store, where: ProposalFilter = ANY) -> list[tuple[str, str]]:
    return [(each.says, each.state) for each in (await store.proposals.page(where)).rows]


async def facts(store: Store) -> list[tuple[str, str]]:
    return [(each.text, each.by) for each in (await (await store.memory.view(None)).story()).facts]


async def test_reading_a_chapter_again_raises_nothing_twice_in_other_words_or_order(store: Store, book) -> None:
    one = book[0]
    home, cousin = fact(one, "林住在扬州", "林住在扬州。"), fact(one, "林有个家", "林住在扬州。")
    await read(store, one, home, cousin)
    before = {each.id for each in (await store.proposals.page(ANY)).rows}
    await read(store, one, replace(cousin, quotation="林 住在扬州"), home)
    assert {each.id for each in (await store.proposals.page(ANY)).rows} == before
    await read(store, one, fact(one, "林家在扬州", "林住在扬州。"), cousin)
    assert {each.id for each in (await store.proposals.page(ANY)).rows} == before
    assert await rows(store) == [("林家在扬州", "applied"), ("林有个家", "applied")]
    assert sorted(await facts(store)) == [("林家在扬州", "agent"), ("林有个家", "agent")]


async def test_what_waits_is_in_no_view_until_it_is_confirmed_and_undo_takes_it_out_again(store: Store, book) -> None:
    one = book[0]
    weak = fact(one, "林是贵族", "林住在", grounds="short")
    await read(store, one, weak)
    assert await facts(store) == []
    (row,) = (await store.proposals.page(ANY)).rows
    assert row.reason.grounds == "short"
    await store.proposals.decide([(row.id, "confirm", weak.difference.after)])
    assert (await rows(store), await facts(store)) == ([("林是贵族", "confirmed")], [("林是贵族", "hand")])
    (back,) = await store.proposals.undo()
    assert (back.state, await facts(store)) == ("waiting", [])
    assert await store.proposals.undo() == ()


async def test_what_is_dropped_is_not_said_again_and_undo_brings_it_back(store: Store, book) -> None:
    one = book[0]
    home = fact(one, "林住在扬州", "林住在扬州。")
    await read(store, one, home)
    (row,) = (await store.proposals.page(ANY)).rows
    await store.proposals.decide([(row.id, "drop", None)])
    await read(store, one, home)
    await read(store, one, fact(one, "林家在扬州", "林住在扬州。"))
    assert (await rows(store), await facts(store)) == ([("林住在扬州", "dropped")], [])
    await store.proposals.undo()
    assert (await rows(store), await facts(store)) == ([("林住在扬州", "applied")], [("林住在扬州", "agent")])


async def test_many_are_decided_at_once_and_taken_back_at_once(store: Store, book) -> None:
    one = book[0]
    await read(store, one, fact(one, "林住在扬州", "林住在扬州。"), fact(one, "林是表妹", "林是贾的表妹。"))
    both = (await store.proposals.page(ANY)).rows
    await store.proposals.decide([(each.id, "confirm", each.difference.after) for each in both])
    assert {by for _text, by in await facts(store)} == {"hand"}
    assert len(await store.proposals.undo()) == 2
    assert {by for _text, by in await facts(store)} == {"agent"}
    with pytest.raises(Gone):
        await store.proposals.decide([(both[0].id, "drop", None), ("none", "drop", None)])
    assert {state for _says, state in await rows(store)} == {"applied"}


async def test_undo_refuses_when_what_it_wrote_was_changed_since(store: Store, book) -> None:
    await store.memory.put_entity(Entity(LIN, "character", "林", by="agent", proposed=("颦儿",)))
    (lin, *_others) = [each for each in await store.memory.names() if each.id == LIN]
    await store.memory.put_entity(judged(lin, "颦儿", confirms=True))
    await store.memory.put_entity(replace(judged(lin, "颦儿", confirms=True), note="扬州人"))
    with pytest.raises(RunError):
        await store.proposals.undo()
    assert await rows(store) == [("颦儿", "confirmed")]
    assert [each.note for each in await store.memory.names() if each.id == LIN] == ["扬州人"]


async def test_a_word_given_elsewhere_decides_the_row(store: Store, book) -> None:
    one = book[0]
    await read(store, one, fact(one, "林住在扬州", "林住在扬州。"), fact(one, "林是表妹", "林是贾的表妹。"))
    home, cousin = (each.difference.after for each in (await store.proposals.page(ANY)).rows)
    await store.records.put(replace(home, text="林住在扬州城外"))
    await store.records.remove(cousin.id)
    assert [state for _says, state in await rows(store)] == ["corrected", "dropped"]


async def test_an_edit_resolves_what_it_took_away_and_moves_the_rest(store: Store, book) -> None:
    one = book[0]
    await read(store, one, fact(one, "林住在扬州", "林住在扬州。"), fact(one, "林是表妹", "林是贾的表妹。"))
    await store.book.write(one.id, "新的开头。林是贾的表妹。")
    gone, stays = (await store.proposals.page(ANY)).rows
    assert (gone.state, stays.state, stays.place) == ("resolved", "applied", ProposalPlace(one.id, 5, 12))
    await store.book.write(one.id, TEXTS[0])
    assert [each.state for each in (await store.proposals.page(ANY)).rows] == ["applied", "applied"]


async def test_what_a_later_reading_does_not_say_is_withdrawn(store: Store, book) -> None:
    one = book[0]
    await read(store, one, fact(one, "林住在扬州", "林住在扬州。"))
    await read(store, one)
    assert await rows(store) == [("林住在扬州", "withdrawn")]
    await read(store, one, fact(one, "林住在扬州", "林住在扬州。"))
    assert await rows(store) == [("林住在扬州", "applied")]


async def test_names_that_wait_have_rows_which_follow_the_entity(store: Store, book) -> None:
    await store.memory.put_entity(Entity(LIN, "character", "林", by="agent", proposed=("颦儿", "潇湘")))
    assert await rows(store) == [("颦儿", "waiting"), ("潇湘", "waiting")]
    (lin, *_others) = [each for each in await store.memory.names() if each.id == LIN]
    await store.memory.put_entity(judged(lin, "颦儿", confirms=True))
    assert await rows(store) == [("颦儿", "confirmed"), ("潇湘", "waiting")]
    await store.proposals.undo()
    assert await rows(store) == [("颦儿", "waiting"), ("潇湘", "waiting")]
    (lin,) = [each for each in await store.memory.names() if each.id == LIN]
    assert (lin.aliases, lin.proposed) == ((), ("颦儿", "潇湘"))
    await store.memory.remove_entity(LIN)
    assert await rows(store) == [("颦儿", "dropped"), ("潇湘", "dropped")]
    await store.proposals.undo()
    assert [each.name for each in await store.memory.names() if each.id == LIN] == ["林"]


async def test_rows_leave_with_their_chapter_and_come_back_with_it(store: Store, book) -> None:
    one, two = book
    await read(store, one, fact(one, "林住在扬州", "林住在扬州。"))
    await read(store, two, fact(two, "林搬了", "林搬到京城。"))
    await store.book.delete(one.id)
    assert await rows(store) == [("林搬了", "applied")]
    await store.book.undelete(one.id)
    assert len(await rows(store)) == 2


async def test_pages_filters_and_counts(store: Store, book) -> None:
    one, two = book
    many = [fact(one, f"第{n}件", "林住在扬州。", grounds="short") for n in range(30)]
    await read(store, one, *many)
    await read(store, two, fact(two, "林搬了", "林搬到京城。"))
    page = await store.proposals.page(ProposalFilter(), 25, 10)
    assert [each.says for each in page.rows] == [f"第{n}件" for n in range(24, 30)]
    assert (page.counts, page.total(()), page.total(("waiting",))) == ({"waiting": 30, "applied": 1}, 31, 30)
    assert await rows(store, ProposalFilter(chapter=two.id)) == [("林搬了", "applied")]
    assert await rows(store, ProposalFilter(words="第17")) == [("第17件", "waiting")]
    assert await rows(store, ProposalFilter(kinds=("name",))) == []


async def test_hostile_words_are_stored_without_what_controls_a_terminal(store: Store, book) -> None:
    one = book[0]
    await read(store, one, fact(one, "\x1b[31m[bold]林\x07[/]", "林住在\x1b]0;x\x07扬州。", grounds="short"))
    (row,) = (await store.proposals.page(ANY)).rows
    assert (row.says, row.quotation) == ("[bold]林[/]", "林住在扬州。")


async def test_names_that_waited_in_an_older_project_are_in_the_list(folder: Path, reopen) -> None:
    (folder / ".flowcabal").mkdir(parents=True)
    with closing(sqlite3.connect(folder / ".flowcabal" / "project.db", isolation_level=None)) as connection:
        for number, step in enumerate(MIGRATIONS[:5], 1):
            step(connection)
            connection.execute(f"PRAGMA user_version={number}")
        for generation, removed, proposed in ((1, 0, '["颦儿","旧名"]'), (2, 0, '["颦儿"]')):
            connection.execute(
                "INSERT INTO entity VALUES ('lin', ?, 'character', '林', '[]', '', 'agent', ?, ?, '[]')",
                (generation, removed, proposed),
            )
        connection.execute(
            "INSERT INTO entity VALUES ('x', 1, 'character', 'X', '[]', '', 'agent', 1, '[\"Y\"]', '[]')"
        )
    store = await reopen()
    (row,) = (await store.proposals.page(ANY)).rows
    assert (row.kind, row.state, row.difference.after) == ("name", "waiting", NewName(LIN, "颦儿"))
    (lin,) = await store.memory.names()
    await store.memory.put_entity(judged(lin, "颦儿", confirms=False))
    assert await rows(store) == [("颦儿", "dropped")]


async def test_a_sequel_of_a_hands_record_is_written_with_the_record_and_taken_back(store: Store, book) -> None:
    one, two = book
    vow = Promise(RecordId("vow"), "找回玉", one.id)
    await store.records.put(vow)
    paid = Sequel(RecordId("paid"), vow.id, two.id)
    place = ProposalPlace(two.id, 0, 5)
    waits = Proposal("sequel", place, "贾丢了玉。", Difference(paid, vow), Reason("overrules"))
    await read(store, two, waits)
    (row,) = (await store.proposals.page(ANY)).rows
    assert row.difference == Difference(paid, vow)
    await store.proposals.decide([(row.id, "confirm", replace(vow, paid=two.id))])
    assert [each.paid for each in (await (await store.memory.view(None)).story()).promises] == [two.id]
    await store.proposals.undo()
    assert [each.paid for each in (await (await store.memory.view(None)).story()).promises] == [None]


async def test_a_purge_takes_the_rows_that_quote_the_chapter(store: Store, book) -> None:
    one, two = book
    await read(store, one, fact(one, "林住在扬州", "林住在扬州。"))
    await read(store, two, fact(two, "林搬了", "林搬到京城。"))
    await store.maintenance.purge_chapter(ChapterId(one.id), lambda *_: ())
    assert await rows(store) == [("林搬了", "applied")]


async def test_five_thousand_rows_cost_a_page_what_a_hundred_do(store: Store, book) -> None:
    one = book[0]
    steps, before = [], 0
    for count in (100, 5_000):
        for start in range(before, count, 100):
            many = [fact(one, f"第{start + n}件", f"第{start // 100}组", grounds="short") for n in range(100)]
            await store._database.do(lambda connection, rows=many: raise_proposals(connection, rows, Generation(1)))
        with effort() as counted:
            page = await store.proposals.page(ProposalFilter(), 0, 100)
        assert (len(page.rows), page.counts["waiting"]) == (100, count)
        steps, before = [*steps, counted.calls], count
    assert steps[1] <= steps[0] * 1.1
