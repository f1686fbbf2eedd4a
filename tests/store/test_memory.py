"""What the agents see: nothing later in the story, and the same as of the same generation."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from flowcabal_tui.domain.errors import Gone
from flowcabal_tui.domain.ids import ChapterId, Digest, EntityId, Generation
from flowcabal_tui.domain.manuscript import ImportedChapter, Passage
from flowcabal_tui.domain.memory import Derived, Entity, Evidence, Mention
from flowcabal_tui.store.rows.tokens import match, term, tokens

DAI = Entity(EntityId("dai"), "character", "林黛玉", ("黛玉", "颦儿"), "多愁", "discovered")
FENG = Entity(EntityId("feng"), "character", "王熙凤", (), "", "discovered")


async def novel(store, *texts):
    """Chapters with these texts, each indexed as sentences, and every name found."""
    chapters = await store.book.import_chapters([ImportedChapter(f"{n}", text) for n, text in enumerate(texts, 1)])
    for chapter in chapters:
        assert await index(store, chapter.id)
    return [chapter.id for chapter in chapters]


async def index(store, chapter):
    at, text = await store.book.chapter(chapter), await store.book.text(chapter)
    passages, start = [], 0
    for number, sentence in enumerate(text.split("|")):
        end = start + len(sentence)
        passages.append(Passage(chapter, at.position, number, start, end, sentence))
        start = end + 1
    mentions = [
        Mention(entity.id, chapter, at.position, found, found + len(name))
        for entity in (DAI, FENG)
        for name in entity.names
        if (found := text.find(name)) >= 0
    ]
    return await store.memory.index_chapter(chapter, at.version, passages, mentions)


def l1(uri, text, position, source="s", method="model"):
    evidence = (Evidence("句。", ChapterId("c"), 0, 2),)
    return Derived(uri, "L1", text, Digest(source), position, Generation(0), method, evidence)


async def found(view, *terms):
    return [hit.passage.text for hit in await view.search(terms, 10)]


async def test_only_what_stands_before_the_chapter_is_visible(store):
    one, two, three = await novel(store, "黛玉来了|晴", "凤姐和黛玉", "王熙凤走了")
    await store.memory.put_entity(DAI)
    await store.memory.put_entity(FENG)
    view = await store.memory.view(two)
    assert [chapter.id for chapter in await view.chapters()] == [one]
    assert [passage.text for passage in await view.passages(one)] == ["黛玉来了", "晴"]
    assert await found(view, "黛玉") == ["黛玉来了"]
    assert [entity.id for entity in await view.entities()] == ["dai"]
    assert await view.mentions(DAI.id) == (Mention(DAI.id, one, 1, 0, 2),)
    assert await view.mentions(FENG.id) == ()
    assert await view.mentions_in(one) == (Mention(DAI.id, one, 1, 0, 2),)
    assert await view.mentions_in(two) == ()
    assert await store.memory.names() == (DAI, FENG)
    assert await view.mention_counts() == ((DAI.id, 1),)
    for hidden in (two, three):
        with pytest.raises(Gone):
            await view.chapter_text(hidden)
    with pytest.raises(Gone):
        await store.memory.view(ChapterId("none"))
    everything = await store.memory.view(None)
    assert [entity.first_position for entity in await everything.entities()] == [1, 3]
    assert await everything.mention_counts() == ((DAI.id, 2), (FENG.id, 1))


async def test_a_pinned_generation_reads_the_book_as_it_was(store):
    one, two, three = await novel(store, "黛玉来了", "旧文", "第三")
    await store.memory.put_entity(DAI)
    await store.memory.put_derived(l1(f"manuscript/{one}", "旧摘要", 1))
    await store.book.write_meta("outline", "旧纲")
    pinned = await store.memory.generation()

    async def seen():
        view = await store.memory.view(three, pinned)
        return (
            *(await view.chapters(), await view.meta(), await view.entities(), await found(view, "黛玉", "旧文")),
            *(await view.derived(f"manuscript/{one}", "L1"), await view.mentions(DAI.id), view.before),
            [await view.chapter_text(chapter.id) for chapter in await view.chapters()],
        )

    before = await seen()
    await store.book.write(one, "黛玉走了，新文")
    await index(store, one)
    await store.book.write_meta("outline", "新纲")
    await store.memory.put_derived(l1(f"manuscript/{one}", "新摘要", 1, "s2"))
    await store.memory.put_entity(Entity(DAI.id, "character", "林姑娘"))
    await store.book.move(three, 1)
    await store.book.delete(two)
    assert await seen() == before
    now = await store.memory.view(None)
    assert [chapter.id for chapter in await now.chapters()] == [three, one]
    assert await found(now, "新文") == ["黛玉走了，新文"]
    assert await now.meta() == (("outline", "新纲"),)


async def test_scores_count_only_what_is_visible(store):
    texts = ["宝玉笑|宝玉看黛玉|雨", "雪|黛玉葬花"]
    _one, _two, third = await novel(store, *texts, "黛玉黛玉黛玉")
    before = await (await store.memory.view(third)).search(["黛玉", "宝玉"], 10)
    await store.book.write(third, "宝玉|黛玉|" * 50)
    await index(store, third)
    assert await (await store.memory.view(third)).search(["黛玉", "宝玉"], 10) == before
    assert [hit.passage.text for hit in before] == ["宝玉看黛玉", "宝玉笑", "黛玉葬花"]
    assert before[0].terms == ("黛玉", "宝玉")
    idf, length, average = math.log(1 + (5 - 2 + 0.5) / 2.5), 4, (3 + 5 + 1 + 1 + 4) / 5
    assert before[2].score == pytest.approx(idf * 2.2 / (1 + 1.2 * (0.25 + 0.75 * length / average)))


async def test_equal_scores_come_in_story_order(store):
    await novel(store, "雪月|雪花", "雪人")
    assert await found(await store.memory.view(None), "雪") == ["雪月", "雪花", "雪人"]


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        ("林黛玉", ["林黛玉。"]),
        ("黛玉", ["林黛玉。", "黛玉"]),
        ("玉", ["林黛玉。", "黛玉", "宝玉x"]),
        ("Mr Darcy", ["said Mr. Darcy's aunt"]),
        ("DARCY", ["said Mr. Darcy's aunt"]),
        ("arc", []),
        ("宝玉x", ["宝玉x"]),
        ("玉黛", []),
        ("“”*", []),
        ('玉" OR "雪', []),
    ],
)
async def test_names_of_any_script_are_found_as_phrases(store, query, texts):
    await novel(store, "林黛玉。|黛玉|宝玉x|said Mr. Darcy's aunt|Mister darcys")
    assert sorted(await found(await store.memory.view(None), query)) == sorted(texts)


def test_every_character_begins_one_token():
    assert tokens("林黛玉，AI时代_2") == ["林黛", "黛玉", "玉", "ai", "时代", "代", "2"]
    assert term("，。") is None
    assert term("Lady  Catherine").count("lady-catherine, lady catherines, my lady\ncatherine") == 2


async def test_a_new_index_of_the_same_text_is_not_seen_by_a_pinned_generation(store):
    (one,) = await novel(store, "黛玉来了|凤姐")
    pinned = await store.memory.generation()
    old = await store.memory.view(None, pinned)
    before = await old.passages(one), await old.mentions(DAI.id), await old.mention_counts()
    whole = Passage(one, 1, 0, 0, 7, "黛玉来了|凤姐")
    assert await store.memory.index_chapter(one, 1, [whole], [Mention(FENG.id, one, 1, 5, 7)])
    again = await store.memory.view(None, pinned)
    assert (await again.passages(one), await again.mentions(DAI.id), await again.mention_counts()) == before
    now = await store.memory.view(None)
    assert await now.passages(one) == (whole,)
    assert await now.mention_counts() == ((FENG.id, 1),)
    assert await found(now, "黛玉") == ["黛玉来了|凤姐"]


async def test_an_index_of_an_old_version_is_ignored_and_the_same_again_changes_nothing(store):
    (one,) = await novel(store, "黛玉")
    generation = await store.memory.generation()
    assert await index(store, one)
    assert await store.memory.generation() == generation
    await store.book.write(one, "新")
    assert not await store.memory.index_chapter(one, 1, [], [])
    assert await (await store.memory.view(None)).passages(one) == ()


async def test_a_hand_wins_over_an_agent(store, reopen):
    await store.memory.put_entity(DAI)
    by_hand = Entity(DAI.id, "character", "黛玉", note="改过")
    assert await store.memory.put_entity(by_hand) == by_hand
    assert await store.memory.put_entity(DAI) == by_hand
    await store.memory.remove_entity(DAI.id)
    await store.memory.put_entity(DAI)
    assert await store.memory.entities() == ()
    with pytest.raises(Gone):
        await store.memory.remove_entity(DAI.id)
    await store.memory.put_entity(FENG)
    await store.memory.put_entity(by_hand)
    await store.close()
    assert await (await reopen()).memory.entities() == (by_hand, FENG)


async def test_the_newest_derived_state_before_the_chapter_is_read(store):
    one, two, three = await novel(store, "一", "二", "三")
    uri = "profiles/characters/dai"
    await store.memory.put_derived(l1(uri, "初见", 1))
    await store.memory.put_derived(l1(uri, "后来", 2))
    await store.memory.put_derived(l1(uri, "初见，改", 1, "s2"))
    await store.memory.put_derived(l1("profiles/style/book", "白描", 0))
    view = await store.memory.view(three)
    state = await view.derived(uri, "L1")
    assert (state.text, state.position, state.evidence[0].sentence) == ("后来", 2, "句。")
    assert (await (await store.memory.view(two)).derived(uri, "L1")).text == "初见，改"
    assert await (await store.memory.view(one)).derived(uri, "L1") is None
    assert [one.text for one in await view.derived_under("profiles/", "L1")] == ["白描", "后来"]
    assert await view.derived_under("profiles/", "L0") == ()
    assert [one.text for one in await store.memory.derived_history(uri)] == ["初见，改", "后来", "初见"]
    assert await store.memory.derived_counts("profiles/c") == {uri: 3}


async def test_the_same_source_is_derived_once_and_an_earlier_one_can_come_back(store):
    await novel(store, "一")
    first = await store.memory.put_derived(l1("u", "甲", 1, "a"))
    assert await store.memory.put_derived(l1("u", "甲二", 1, "a")) == first
    await store.memory.put_derived(l1("u", "乙", 1, "b"))
    assert await store.memory.put_derived(l1("u", "甲", 1, "a")) > first
    assert (await (await store.memory.view(None)).derived("u", "L1")).text == "甲"


async def test_derived_texts_follow_their_chapter_and_leave_with_it(store):
    one, two, three = await novel(store, "一", "二", "三")
    await store.memory.put_derived(l1("profiles/characters/dai", "到二", 2))
    await store.book.add_chapter("楔子", position=1)
    await store.memory.put_derived(l1(f"manuscript/{two}", "摘要", 2))
    assert (await (await store.memory.view(three)).derived("profiles/characters/dai", "L1")).position == 3
    assert await (await store.memory.view(two)).derived("profiles/characters/dai", "L1") is None
    assert (await (await store.memory.view(three)).derived(f"manuscript/{two}", "L1")).position == 3
    await store.book.delete(two)
    view = await store.memory.view(None)
    assert await view.derived("profiles/characters/dai", "L1") is None
    assert await view.derived_under("manuscript/", "L1") == ()
    assert [chapter.id for chapter in await view.chapters()] == [one, three]


async def test_only_a_change_of_the_truth_before_the_chapter_counts(store):
    one, two, three = await novel(store, "一", "二", "三")
    memory = store.memory
    pinned = await memory.generation()
    await memory.put_derived(l1(f"manuscript/{one}", "摘要", 1))
    await memory.put_entity(DAI)
    await store.book.write(two, "改")
    await index(store, two)
    await store.book.write(three, "改")
    assert not await memory.truth_changed_since(pinned, 2)
    assert await memory.truth_changed_since(pinned, 3)
    pinned = await memory.generation()
    await store.book.write(one, "一")
    assert not await memory.truth_changed_since(pinned, 9)
    await store.book.write_meta("notes", "记")
    assert await memory.truth_changed_since(pinned, 1)


async def test_a_chapter_that_the_generation_does_not_know_stands_where_it_stands_now(store):
    one, _two = await novel(store, "一", "二")
    pinned = await store.memory.generation()
    new = await store.book.add_chapter("插", position=2)
    view = await store.memory.view(new.id, pinned)
    assert [chapter.id for chapter in await view.chapters()] == [one]


async def test_what_the_writer_waived_is_seen_at_once(store):
    view = await store.memory.view(None)
    await store.memory.waive(("左手", "右手"), "双生子")
    assert await view.waived() == {("左手", "右手")}


async def test_what_is_read_at_once_is_what_is_read_one_by_one(store):
    one, two, three = await novel(store, "黛玉来了", "凤姐和黛玉", "王熙凤走了")
    await store.memory.put_entity(DAI)
    for chapter, text in ((one, "一"), (two, "二")):
        await store.memory.put_derived(l1(f"manuscript/{chapter}", text, 1 if chapter == one else 2))
    view = await store.memory.view(three)
    uris = [f"manuscript/{chapter}" for chapter in (two, one, three)]
    assert [each.text for each in await view.derived_of(uris, "L1")] == ["一", "二"]
    assert await view.chapter_texts([one, two]) == {one: "黛玉来了", two: "凤姐和黛玉"}
    assert await view.chapters_with(DAI.id) == (one, two)
    assert await (await store.memory.view(two)).chapters_with(DAI.id) == (one,)
    with pytest.raises(Gone):
        await view.chapter_texts([three])


async def test_postings_of_an_earlier_chapter_are_the_beginning_of_those_of_a_later_one(store):
    one, two, three = await novel(store, "黛玉来了|晴", "晴天|黛玉走了", "黛玉")
    late, early = await store.memory.view(three), await store.memory.view(two)
    assert [list(at) for at in (await late.postings(["黛玉", "晴", "无"])).found] == [[0, 3], [1, 2], []]
    assert [list(at) for at in (await early.postings(["黛玉", "晴"])).found] == [[0], [1]]
    assert [place.chapter for place in (await late.postings([])).passages] == [one, one, two, two]


async def test_who_is_named_in_each_passage_before_the_target(store):
    _one, two, three = await novel(store, "晴|黛玉来了", "王熙凤走了", "黛玉")
    await store.memory.put_entity(DAI)
    await store.memory.put_entity(FENG)
    late, early = await store.memory.view(three), await store.memory.view(two)
    assert await late.named_by_passage() == (set(), {DAI.id}, {FENG.id})
    assert await early.named_by_passage() == (set(), {DAI.id})


async def test_where_somebody_is_named_is_asked_for_a_few_as_for_all(store):
    one, two, three = await novel(store, "晴|黛玉来了，林黛玉", "王熙凤走了|黛玉", "黛玉")
    await store.memory.put_entity(DAI)
    await store.memory.put_entity(FENG)
    for chapter in (three, two):
        view = await store.memory.view(chapter)
        by_passage = await view.named_by_passage()
        places = await view.passages_naming([DAI.id, FENG.id])
        for who, at in places.items():
            assert list(at) == [number for number, named in enumerate(by_passage) if who in named]
    view = await store.memory.view(three)
    said = await view.offsets_of([DAI.id], [one, two, three])
    assert said == {
        each: [(mention.start, DAI.id) for mention in await view.mentions_in(each) if mention.entity == DAI.id]
        for each in (one, two)
    }, "the target itself is not seen"


async def test_postings_of_a_real_chapter_are_those_of_a_question_for_each_word(store):
    file = Path(__file__).parents[3] / "shared" / "bench" / "context" / "novels" / "hongloumeng" / "003.txt"
    if not file.exists():
        pytest.skip("the novels of the laboratory are not here")
    text = file.read_text(encoding="utf-8")
    await novel(store, text.replace("\n", "|"), text[::-1].replace("\n", "|"), "完")
    words = sorted({text[at : at + n] for at in range(0, len(text), 7) for n in (1, 2, 3)})
    found = (await (await store.memory.view(None)).postings(words)).found
    numbers = {row: at for at, (row,) in enumerate(await store._database.rows("SELECT id FROM passage ORDER BY id"))}
    for word, at in zip(words, found, strict=True):
        question = "SELECT rowid FROM passage_words WHERE passage_words MATCH ?"
        rows = await store._database.rows(question, (match(word),)) if match(word) else []
        assert list(at) == sorted(numbers[row] for (row,) in rows), word
    assert sum(map(len, found)) > 5_000
