"""Records of the story: whose word stands, what is seen before a chapter, and what leaves with a chapter's text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flowcabal_tui.domain.errors import Gone
from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.manuscript import ImportedChapter, Passage
from flowcabal_tui.domain.memory import Entity, Evidence, Mention
from flowcabal_tui.domain.story import ChapterReading, Fact, Knower, Moment, Promise, RecordId, Relation, Sequel
from flowcabal_tui.domain.text import digest

LIN, JIA = EntityId("lin"), EntityId("jia")
TEXTS = ("林住在扬州。林是贾的表妹。", "贾丢了玉。林搬到京城。", "贾知道了林的病。玉找到了。", "第四章。")


@pytest.fixture
async def book(store):
    """Four chapters and two people."""
    for identity, name in ((LIN, "林"), (JIA, "贾")):
        await store.memory.put_entity(Entity(identity, "character", name))
    return await store.book.import_chapters([ImportedChapter(text[:4], text) for text in TEXTS])


def quoted(text: str, sentence: str, chapter: ChapterId) -> tuple[Evidence, ...]:
    return (Evidence(sentence, chapter, text.index(sentence), text.index(sentence) + len(sentence)),)


def lives(chapter, place, sentence, text, **more):
    return Fact(
        RecordId(f"lives-{place}"), f"林住在{place}", (LIN,), "住处", chapter.id,
        evidence=quoted(text, sentence, chapter.id), by="agent", **more,
    )  # fmt: skip


async def read(store, chapter, *records, sequels=()):
    text = await store.book.text(chapter.id)
    await store.records.put_reading(
        ChapterReading(chapter.id, chapter.position, digest(text), digest(f"{text}?"), records, tuple(sequels))
    )


async def story(store, chapter=None):
    return await (await store.memory.view(chapter and chapter.id)).story()


async def test_a_later_state_ends_the_earlier_one_but_not_before_it_is_told(store, book):
    one, two, three, _four = book
    await read(store, two, lives(two, "京城", "林搬到京城。", TEXTS[1]))
    await read(store, one, lives(one, "扬州", "林住在扬州。", TEXTS[0]))
    assert [(fact.text, fact.until) for fact in (await story(store, two)).facts] == [("林住在扬州", None)]
    assert [(fact.text, fact.until) for fact in (await story(store, three)).facts] == [
        ("林住在扬州", two.id), ("林住在京城", None),
    ]  # fmt: skip
    assert (await story(store, one)).facts == ()
    await store.book.delete(two.id)
    assert [(fact.text, fact.until) for fact in (await story(store)).facts] == [("林住在扬州", None)]
    await store.book.undelete(two.id)
    assert len((await story(store)).facts) == 2


async def test_an_agents_record_does_not_end_one_by_hand(store, book):
    one, two, three, four = book
    await store.records.put(replace(lives(one, "扬州", "林住在扬州。", TEXTS[0]), by="hand"))
    await store.records.put(Relation(RecordId("kin"), LIN, JIA, "表妹", since=one.id))
    await read(store, two, lives(two, "京城", "林搬到京城。", TEXTS[1]))
    again = replace(lives(three, "扬州", "林住在扬州。", TEXTS[0]), id=RecordId("again"), evidence=(), until=four.id)
    kin = Relation(RecordId("kin2"), LIN, JIA, "表妹", since=three.id, until=four.id, by="agent")
    await read(store, three, again, kin)
    now = await story(store)
    assert [(fact.text, fact.until) for fact in now.facts] == [("林住在扬州", None)]
    assert [(each.id, each.until) for each in now.relations] == [("kin", None)]
    await store.records.put(replace(lives(one, "扬州", "林住在扬州。", TEXTS[0]), until=two.id))
    ends = [(fact.text, fact.until) for fact in (await story(store)).facts]
    assert ends == [("林住在扬州", two.id), ("林住在京城", three.id), ("林住在扬州", four.id)]


async def test_a_secret_does_not_end_what_everybody_believes(store, book):
    one, two, _three, four = book
    await read(store, one, lives(one, "扬州", "林住在扬州。", TEXTS[0]))
    await read(store, two, lives(two, "京城", "林搬到京城。", TEXTS[1], secret=True))
    assert [fact.until for fact in (await story(store, four)).facts] == [None, None]
    await read(store, two, lives(two, "京城", "林搬到京城。", TEXTS[1]))
    assert [fact.until for fact in (await story(store, four)).facts] == [two.id, None]


async def test_what_a_later_chapter_adds_is_seen_only_after_it_and_leaves_with_it(store, book):
    one, two, three, four = book
    cousin = Relation(
        RecordId("cousin"),
        LIN,
        JIA,
        "表妹",
        True,
        one.id,
        evidence=quoted(TEXTS[0], "林是贾的表妹。", one.id),
        by="agent",
    )
    jade = Promise(RecordId("jade"), "玉丢了", two.id, evidence=quoted(TEXTS[1], "贾丢了玉。", two.id), by="agent")
    ill = Fact(
        RecordId("ill"), "林病了", (LIN,), since=one.id, secret=True, known_by=(Knower(LIN),),
        evidence=quoted(TEXTS[0], "林住在扬州。", one.id), by="agent",
    )  # fmt: skip
    found, learns = quoted(TEXTS[2], "玉找到了。", three.id), quoted(TEXTS[2], "贾知道了林的病。", three.id)
    await read(store, one, cousin, ill)
    await read(store, two, jade)
    await read(
        store,
        three,
        sequels=(
            Sequel(RecordId("s1"), jade.id, three.id, evidence=found),
            Sequel(RecordId("s2"), ill.id, three.id, JIA, learns),
            Sequel(RecordId("s3"), cousin.id, three.id, evidence=learns),
        ),
    )
    before, after = await story(store, three), await story(store, four)
    assert (before.promises, before.relations, before.facts) == ((jade,), (cousin,), (ill,))
    assert after.promises == (replace(jade, paid=three.id, payment=found),)
    assert after.relations == (replace(cousin, until=three.id),)
    assert after.facts == (replace(ill, known_by=(Knower(LIN), Knower(JIA, three.id, learns))),)
    await store.book.delete(three.id)
    assert await story(store) == before


async def test_a_repeated_statement_is_evidence_instead_of_a_second_record(store, book):
    one, two, three, _four = book
    kin, again = quoted(TEXTS[0], "林是贾的表妹。", one.id), quoted(TEXTS[1], "贾丢了玉。", two.id)
    ends = (LIN, JIA, "朋友", False)
    other_way = Relation(RecordId("b"), JIA, LIN, "朋友", False, two.id, None, again, "agent")
    home = lives(two, "扬州", "贾丢了玉。", TEXTS[1])
    friends = Relation(RecordId("a"), *ends, one.id, None, kin, "agent")
    await read(store, one, friends, lives(one, "扬州", "林住在扬州。", TEXTS[0]))
    await read(store, two, other_way, replace(home, id=RecordId("again")))
    await read(store, three, Relation(RecordId("c"), LIN, JIA, "朋友", True, three.id, None, again, "agent"))
    now = await story(store)
    assert [(each.id, len(each.evidence)) for each in now.relations] == [("a", 2), ("c", 1)]
    assert [(each.since, each.until, len(each.evidence)) for each in now.facts] == [(one.id, None, 2)]


async def test_a_relation_said_again_before_it_ends_ends_with_it_and_after_that_it_is_a_new_one(store, book):
    one, two, three, four = book
    friends = Relation(RecordId("r1"), LIN, JIA, "朋友", since=one.id, by="agent")
    await read(store, one, friends)
    await read(store, two, replace(friends, id=RecordId("r2"), since=two.id))
    await read(store, three, sequels=(Sequel(RecordId("s1"), friends.id, three.id),))
    seen = [[(each.id, each.until) for each in (await story(store, at)).relations] for at in (three, four, None)]
    assert seen == [[("r1", None)], [("r1", three.id)], [("r1", three.id)]]
    await read(store, four, replace(friends, id=RecordId("r3"), since=four.id))
    assert [(each.id, each.until) for each in (await story(store)).relations] == [("r1", three.id), ("r3", None)]
    await read(store, three, sequels=(Sequel(RecordId("s2"), RecordId("r2"), three.id),))
    assert [(each.id, each.until) for each in (await story(store, four)).relations] == [("r1", three.id)]
    await store.book.delete(one.id)
    assert [(each.id, each.until) for each in (await story(store, four)).relations] == [("r2", three.id)]


async def test_a_fact_said_again_before_it_ends_ends_with_it_and_after_that_it_holds_again(store, book):
    one, two, three, four = book
    home = replace(lives(one, "扬州", "林住在扬州。", TEXTS[0]), evidence=())
    await read(store, one, home)
    await read(store, two, replace(home, id=RecordId("f2"), since=two.id))
    await read(store, three, sequels=(Sequel(RecordId("s1"), home.id, three.id),))
    assert [(each.id, each.until) for each in (await story(store)).facts] == [(home.id, three.id)]
    await read(store, four, replace(home, id=RecordId("f4"), since=four.id))
    assert [(each.id, each.until) for each in (await story(store)).facts] == [(home.id, three.id), ("f4", None)]


async def test_a_record_of_the_writer_takes_precedence_over_later_readings(store, book):
    one, two, *_rest = book
    fact, other = lives(one, "扬州", "林住在扬州。", TEXTS[0]), lives(one, "苏州", "林住在扬州。", TEXTS[0])
    await read(store, one, fact, other)
    await store.records.put(replace(fact, text="林住在扬州城外"))
    await store.records.remove(other.id)
    await read(store, one, fact, other)
    await store.book.write(one.id, "全改了。")
    await read(store, await store.book.chapter(one.id))
    assert [(found.text, found.by) for found in (await story(store)).facts] == [("林住在扬州城外", "hand")]
    with pytest.raises(Gone):
        await store.records.remove(other.id)
    made = await store.records.put(Moment(RecordId(""), "\x1b[31m雨夜", two.id, "当夜"))
    assert [(moment.id, moment.text) for moment in (await story(store)).moments] == [(made, "雨夜")]


async def test_a_reading_takes_the_place_of_the_one_before_and_a_repeated_one_changes_nothing(store, book):
    one = book[0]
    first, second = lives(one, "扬州", "林住在扬州。", TEXTS[0]), lives(one, "苏州", "林是贾的表妹。", TEXTS[0])
    assert await store.records.source(one.id) is None
    await read(store, one, first)
    pinned = await store.memory.generation()
    await read(store, one, second)
    await read(store, one, second)
    assert [fact.id for fact in (await story(store)).facts] == [second.id]
    assert [fact.id for fact in await (await store.memory.view(None, pinned)).facts()] == [first.id]
    assert await store.records.source(one.id) == digest(f"{TEXTS[0]}?")


async def test_until_a_changed_chapter_is_read_again_only_what_it_still_says_stands(store, book):
    one = book[0]
    stays, goes = lives(one, "扬州", "林是贾的表妹。", TEXTS[0]), lives(one, "苏州", "林住在扬州。", TEXTS[0])
    await read(store, one, stays, goes)
    await store.book.write(one.id, "新的开头。林是贾的表妹。")
    (fact,) = (await story(store)).facts
    assert (fact.id, fact.evidence[0].start) == (stays.id, 5)
    await store.book.write(one.id, "")
    assert (await story(store)).facts == ()


async def test_what_is_planned_for_later_and_people_who_are_gone_are_not_seen(store, book):
    one, _two, three, _four = book
    await store.records.put(Promise(RecordId("gun"), "墙上的枪", three.id))
    await store.records.put(Relation(RecordId("kin"), LIN, JIA, "表妹"))
    assert (await story(store, three)).promises == ()
    assert [promise.id for promise in (await story(store)).promises] == ["gun"]
    assert [relation.id for relation in (await story(store, one)).relations] == ["kin"]
    await store.memory.remove_entity(JIA)
    assert (await story(store)).relations == ()


async def test_the_storys_time_orders_moments(store, book):
    one, two, three, _four = book
    for name, chapter, order in (("第二", two, None), ("回忆", three, 0.5), ("第一", one, None)):
        await store.records.put(Moment(RecordId(f"m{chapter.position}"), name, chapter.id, order=order))
    assert [moment.text for moment in (await story(store)).moments] == ["回忆", "第一", "第二"]


async def test_companions_are_those_named_in_the_same_passage(store, book):
    one, two, *_rest = book
    for chapter, text, cut in ((one, TEXTS[0], 6), (two, TEXTS[1], 5)):
        bounds = ((0, cut), (cut, len(text)))
        passages = [Passage(chapter.id, chapter.position, n, a, b, text[a:b]) for n, (a, b) in enumerate(bounds)]
        mentions = [
            Mention(entity, chapter.id, chapter.position, at, at + 1)
            for at, letter in enumerate(text)
            for entity, name in ((LIN, "林"), (JIA, "贾"))
            if letter == name
        ]
        assert await store.memory.index_chapter(chapter.id, chapter.version, passages, mentions)
    view = await store.memory.view(None)
    assert await view.companions(LIN) == ((JIA, 1, one.id),)
    assert await view.companions(JIA) == ((LIN, 1, one.id),)
    assert await (await store.memory.view(one.id)).companions(LIN) == ()


async def test_who_is_seen_how_often_and_from_where_to_where(store, book):
    one, two, three, _four = book
    for chapter, count in ((one, 2), (three, 1)):
        mentions = [Mention(LIN, chapter.id, chapter.position, at, at + 1) for at in range(count)]
        text = TEXTS[chapter.position - 1]
        passages = [Passage(chapter.id, chapter.position, 0, 0, len(text), text)]
        assert await store.memory.index_chapter(chapter.id, chapter.version, passages, mentions)
    assert await (await store.memory.view(None)).seen() == ((LIN, 3, 1, 3),)
    assert await (await store.memory.view(two.id)).seen() == ((LIN, 2, 1, 1),)
    assert await (await store.memory.view(one.id)).seen() == ()
