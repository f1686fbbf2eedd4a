"""Findings in the store: raised once, following both texts that they quote, decided, taken back, counted, paged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from flowcabal_tui.domain.errors import Gone
from flowcabal_tui.domain.findings import SHOWN, FindingFilter
from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.manuscript import Chapter, ImportedChapter
from flowcabal_tui.domain.proposals import (
    Difference,
    Finding,
    Origin,
    Proposal,
    ProposalFilter,
    ProposalPlace,
)
from flowcabal_tui.domain.run import AngleCheck, Compared, Quotation
from flowcabal_tui.domain.story import Fact, RecordId
from flowcabal_tui.store import Keeping
from flowcabal_tui.store.store import Store
from tests.effort import effort

TEXTS = ("林住在扬州。她十二岁。", "林住在京城。她二十岁。", "林死了。")
ANY = FindingFilter(states=(), folded=True)


@pytest.fixture
async def book(store: Store) -> Sequence[Chapter]:
    return await store.book.import_chapters([ImportedChapter(f"第{n}章", text) for n, text in enumerate(TEXTS, 1)])


def found(
    chapter: Chapter,
    words: str,
    against: Chapter | None = None,
    said: str = "",
    *,
    check: str = "ages",
    draft: str = "",
    sure: bool = True,
    at: int | None = None,
) -> Proposal:
    """A finding about `words` of a chapter against words of another; `draft` is a node whose output is not kept."""
    start = at if at is not None else 0 if draft else TEXTS[chapter.position - 1].find(words)
    place = ProposalPlace(chapter.id, start, start + len(words))
    uri, at = (f"manuscript/{against.id}", TEXTS[against.position - 1].find(said)) if against else ("", 0)
    source = Quotation(said, uri, at, at + len(said))
    finding = Finding("quantitative mismatch", "…", source, 0.7, sure, (EntityId("lin"),), draft)
    return Proposal("finding", place, words, Difference(finding), origin=Origin("rule", check))


async def states(store: Store, where: FindingFilter = ANY) -> list[tuple[str, str]]:
    return [(row.proposal.quotation, row.proposal.state) for row in (await store.findings.page(where)).rows]


async def only(store: Store) -> Proposal:
    (row,) = (await store.findings.page(ANY)).rows
    return row.proposal


async def test_nothing_is_raised_twice_in_other_spacing_or_a_longer_quotation(store: Store, book) -> None:
    one, two, _three = book
    await store.findings.raise_all([found(two, "她二十岁。", one, "她十二岁。")] * 50)
    await store.findings.raise_all([found(two, "她二十岁", one, "十二岁")])
    await store.findings.raise_all([found(two, "她二十岁。", one, "她十二岁。", check="echoes")])
    assert await states(store) == [("她二十岁", "waiting")]


async def test_the_same_words_in_two_chapters_are_two_findings(store: Store, book) -> None:
    one, two, _three = book
    await store.book.write(two.id, TEXTS[0])
    await store.findings.raise_all(
        [found(one, "她十二岁。"), replace(found(one, "她十二岁。"), place=ProposalPlace(two.id, 6, 11))]
    )
    assert len(await states(store)) == 2


async def test_an_edit_around_it_moves_both_places_and_one_of_the_words_resolves_it(store: Store, book) -> None:
    one, two, _three = book
    await store.findings.raise_all([found(two, "她二十岁。", one, "她十二岁。")])
    await store.book.write(two.id, f"第二天，{TEXTS[1]}")
    await store.book.write(one.id, f"从前，{TEXTS[0]}")
    row = await only(store)
    assert (row.state, row.place, row.difference.after.source.start) == ("waiting", ProposalPlace(two.id, 10, 15), 9)
    await store.book.write(one.id, "林住在扬州。")
    assert (await only(store)).state == "resolved"
    await store.book.write(two.id, "林住在京城。")
    await store.book.write(one.id, TEXTS[0])
    assert (await only(store)).state == "resolved"
    await store.book.write(two.id, TEXTS[1])
    assert (await only(store)).state == "waiting"


async def test_a_decided_finding_stays_decided_and_undo_takes_the_word_back(store: Store, book) -> None:
    one, two, _three = book
    finding = found(two, "她二十岁。", one, "她十二岁。")
    await store.findings.raise_all([finding])
    row = await only(store)
    await store.findings.decide([row.id], "intended", "她说谎。")
    await store.findings.raise_all([finding])
    (kept,) = (await store.findings.page(ANY)).rows
    assert (kept.proposal.state, kept.word) == ("intended", "她说谎。")
    waived = await (await store.memory.view(two.id)).waived()
    assert waived == {("她二十岁。", "她十二岁。")}
    await store.proposals.undo()
    assert ((await only(store)).state, await (await store.memory.view(two.id)).waived()) == ("waiting", frozenset())
    with pytest.raises(Gone):
        await store.findings.decide([row.id, "none"], "later")
    assert (await only(store)).state == "waiting"


async def test_what_was_decided_follows_its_text_and_is_resolved_when_the_word_is_taken_back_after_an_edit(
    store: Store, book
) -> None:
    one, two, _three = book
    await store.findings.raise_all([found(two, "她二十岁。", one, "她十二岁。")])
    await store.findings.decide([(await only(store)).id], "intended", "她说谎。")
    await store.book.write(two.id, f"第二天，{TEXTS[1]}")
    row = await only(store)
    assert (row.state, row.place) == ("intended", ProposalPlace(two.id, 10, 15))
    await store.book.write(one.id, "林住在扬州。")
    assert (await only(store)).state == "intended"
    await store.proposals.undo()
    assert (await only(store)).state == "resolved"
    await store.book.write(one.id, TEXTS[0])
    assert (await only(store)).state == "waiting"


async def test_what_has_changed_is_written_with_the_end_of_the_old_fact_and_taken_back_as_one(
    store: Store, book
) -> None:
    one, two, _three = book
    old = Fact(RecordId("old"), "林十二岁", (EntityId("lin"),), since=one.id)
    await store.records.put(old)
    await store.findings.raise_all([found(two, "她二十岁。", one, "她十二岁。")])
    new = Fact(RecordId("new"), "林二十岁", (EntityId("lin"),), since=two.id)
    await store.findings.change((await only(store)).id, [replace(old, until=two.id), new])
    facts = (await (await store.memory.view(None)).story()).facts
    assert {(each.id, each.until, each.by) for each in facts} == {("old", two.id, "hand"), ("new", None, "hand")}
    assert (await only(store)).state == "changed"
    await store.proposals.undo()
    facts = (await (await store.memory.view(None)).story()).facts
    assert [(each.id, each.until) for each in facts] == [("old", None)]
    assert (await only(store)).state == "waiting"


async def test_findings_of_a_draft_wait_until_an_output_is_kept(store: Store, book) -> None:
    one, two, _three = book
    both = [found(two, "她三十岁。", one, "她十二岁。", draft="draft"), found(two, "她死了。", draft="draft")]
    await store.findings.raise_all(both)
    await store.book.write(two.id, f"{TEXTS[1]}完。")
    assert {state for _words, state in await states(store)} == {"waiting"}
    await store.book.keep(Keeping("林住在京城。她三十岁。", "chapter", "replace", two.id), lambda *_: ())
    assert await states(store) == [("她三十岁。", "waiting"), ("她死了。", "resolved")]
    row = next(each.proposal for each in (await store.findings.page(ANY)).rows if each.proposal.state == "waiting")
    assert (row.place, row.difference.after.draft) == (ProposalPlace(two.id, 6, 11), "")


async def test_what_a_check_does_not_say_any_more_is_withdrawn_with_the_note_that_it_was_checked(
    store: Store, book
) -> None:
    _one, two, _three = book
    by_rule = AngleCheck("rules", "found")
    finding = found(two, "她二十岁。")
    assert two.digest
    await store.findings.put_checked(two.id, two.digest, [by_rule], [finding], lambda row: True)
    await store.findings.put_checked(
        two.id, two.digest, [AngleCheck("timeline", "not checked", "offline")], [finding], lambda row: False
    )
    ((text, said),) = (await store.findings.checked()).values()
    assert (text, said.by_rules, said.by_model) == (two.digest, True, False)
    assert [(each.angle, each.outcome, each.detail) for each in said.checks][1] == (
        "timeline",
        "not checked",
        "offline",
    )
    await store.findings.put_checked(two.id, two.digest, [by_rule], [], lambda row: row.origin.by == "rule")
    assert await states(store) == [("她二十岁。", "withdrawn")]
    counted = AngleCheck("timeline", "passed", compared=Compared(3, 4, 5))
    await store.findings.put_checked(two.id, two.digest, [counted], [], lambda row: False)
    ((_text, said),) = (await store.findings.checked()).values()
    assert [each.compared for each in said.checks] == [Compared(), Compared(3, 4, 5)]
    await store._database.do(  # as an older program wrote it
        lambda at: at.execute('UPDATE checked SET body=\'[["timeline", "passed", ""]]\'').close()
    )
    ((_text, said),) = (await store.findings.checked()).values()
    assert said.checks == (AngleCheck("timeline", "passed"),)
    await store.findings.raise_all([finding])
    assert await states(store) == [("她二十岁。", "waiting")]


async def test_five_of_a_chapter_are_listed_the_sure_ones_first_in_story_order(store: Store, book) -> None:
    _one, two, three = book
    await store.findings.raise_all([found(three, "林死了。")])
    await store.findings.raise_all([found(two, f"第{n}", check=f"c{n}", sure=n > 5) for n in range(8)])
    page = await store.findings.page(FindingFilter())
    assert [row.proposal.quotation for row in page.rows] == ["第6", "第7", "第0", "第1", "第2", "林死了。"]
    assert [row.folded for row in page.rows] == [0, 0, 0, 0, 8 - SHOWN, 0]
    assert (page.total, page.folded, page.counts) == (6, 3, {"waiting": 9})
    assert len((await store.findings.page(FindingFilter(folded=True))).rows) == 9
    assert [row.proposal.quotation for row in (await store.findings.page(FindingFilter(folded=True), 7, 1)).rows] == [
        "第5"
    ]
    newest = await store.findings.page(FindingFilter(newest=True))
    assert newest.rows[0].at >= newest.rows[-1].at
    assert await states(store, FindingFilter(chapters=(three.id,))) == [("林死了。", "waiting")]
    assert await states(store, FindingFilter(checks=("c7",))) == [("第7", "waiting")]
    assert await states(store, FindingFilter(words="第3", folded=True)) == [("第3", "waiting")]


async def test_what_was_not_useful_counts_against_its_check(store: Store, book) -> None:
    _one, two, _three = book
    await store.findings.raise_all([found(two, f"第{n}", at=n * 10) for n in range(4)])
    ids = [row.proposal.id for row in (await store.findings.page(ANY)).rows]
    await store.findings.decide(ids[:2], "useless")
    await store.findings.decide(ids[2:3], "intended", "so")
    (rate,) = await store.findings.rates()
    assert (rate.check, rate.raised, rate.settled, rate.useless) == ("ages", 4, 3, 2)


async def test_findings_are_no_part_of_the_list_of_what_agents_propose(store: Store, book) -> None:
    await store.findings.raise_all([found(book[1], "她二十岁。")])
    assert (await store.proposals.page(ProposalFilter(states=()))).rows == ()
    assert len((await store.proposals.page(ProposalFilter(states=(), kinds=("finding",)))).rows) == 1


async def test_a_finding_of_a_deleted_chapter_on_either_side_is_not_listed(store: Store, book) -> None:
    one, two, _three = book
    await store.findings.raise_all([found(two, "她二十岁。", one, "她十二岁。")])
    await store.book.delete(one.id)
    assert await states(store) == []
    await store.book.undelete(one.id)
    assert len(await states(store)) == 1


@pytest.mark.parametrize("purged", [0, 1])
async def test_a_purge_of_either_chapter_takes_it_with_its_quotations(store: Store, folder: Path, book, purged) -> None:
    one, two, _three = book
    await store.findings.raise_all([found(two, "她二十岁。", one, "她十二岁。")])
    await store.findings.put_checked(ChapterId(book[purged].id), book[purged].digest, [], [], lambda _row: False)
    await store.maintenance.purge_chapter(book[purged].id, lambda *_: ())
    assert (await states(store), await store.findings.checked()) == ([], {})


async def test_five_thousand_rows_are_paged(store: Store, book) -> None:
    chapters = await store.book.import_chapters([ImportedChapter(f"{n}", f"文{n}") for n in range(100)])
    places = [ProposalPlace(chapters[n % 100].id, n * 10, n * 10 + 4) for n in range(5_000)]
    one = found(book[0], "第一件")
    made = [
        replace(one, quotation=f"第{n}件", place=place, origin=Origin("rule", f"c{n % 14}"))
        for n, place in enumerate(places)
    ]
    for start in range(0, 5_000, 500):
        await store.findings.raise_all(made[start : start + 500])
    with effort() as counted:
        page = await store.findings.page(FindingFilter(), 0, 100)
    assert (len(page.rows), page.total, page.folded) == (100, 500, 4_500)
    assert counted.calls < 40_000
