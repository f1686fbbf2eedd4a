from __future__ import annotations

from flowcabal_tui.agents.context.intent import SceneReading, read_intent
from flowcabal_tui.agents.context.relevance import Relevance, Weighed, _Hits, _most_telling, _of_things, weigh
from flowcabal_tui.agents.context.things import cohesion
from flowcabal_tui.agents.context.unknown_names import beside
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import PassagePlace
from tests.agents.fakes import FakeBook, person

FILLER = "天色已晚，众人散去，各自安歇。"
CAST = (person("林远"), person("沈青"), person("老周"), person("苏九"), person("白鹭渡", kind="location"))


def novel(*chapters: str) -> FakeBook:
    return FakeBook([(f"第{n}章", text) for n, text in enumerate(chapters, 1)], CAST, passage_size=12)


async def ranked(book: FakeBook, prompt: str, language: str = "zh") -> Relevance:
    view = book.before(len(book.texts) + 1)
    reading = read_intent(prompt, "", book.people, language)
    weighed = weigh(reading, await view.postings(_asked(reading)), view.before)
    return weighed.relevance(await view.chapter_texts(weighed.shortlist(50)), 50)


def _asked(reading: SceneReading) -> list[str]:
    return [*(form for name in reading.names for form in name.forms), *reading.words]


async def test_a_name_that_was_long_absent_comes_before_one_that_is_always_there() -> None:
    chapters = [f"林远来了，{FILLER}" for _ in range(12)]
    chapters[1] = f"老周来了，{FILLER}"
    assert (await ranked(novel(*chapters), "林远与老周说话。")).chapters[0] == "c2"


async def test_of_two_equally_rare_names_the_longer_absent_one_leads() -> None:
    chapters = [FILLER for _ in range(12)]
    chapters[2], chapters[9] = f"老周来了，{FILLER}", f"苏九来了，{FILLER}"
    assert (await ranked(novel(*chapters), "苏九与老周说话。")).chapters[:2] == ("c3", "c10")


async def test_where_two_names_stand_together_counts_for_more() -> None:
    chapters = [f"林远来了。{FILLER}沈青走了。{FILLER}" for _ in range(6)]
    chapters[3] = f"林远与沈青立约。{FILLER}{FILLER}"
    found = await ranked(novel(*chapters), "林远与沈青的一场戏。")
    assert found.chapters[0] == "c4"
    assert set(found.passages[0].found_by) >= {"林远", "沈青"}


async def test_a_place_weighs_less_than_two_persons_together() -> None:
    chapters = [f"林远来了，{FILLER}{FILLER}沈青走了，{FILLER}" for _ in range(20)]
    chapters[2] = f"白鹭渡的船，{FILLER}{FILLER}林远与沈青立约，{FILLER}"
    found = await ranked(novel(*chapters), "林远与沈青在白鹭渡的一场戏。")
    names = [each.found_by[:2] for each in found.passages if each.place.chapter == "c3"]
    assert names.index(("林远", "沈青")) < names.index(("白鹭渡",))


async def test_pairs_of_characters_across_two_words_are_not_looked_up() -> None:
    chapters = [f"铜铃响了，渡船来了，{FILLER}" for _ in range(10)]
    chapters[3] = f"他说铃渡二字，{FILLER}"
    found = await ranked(novel(*chapters, *[FILLER] * 40), "铜铃渡船")
    assert "c4" not in found.chapters
    assert {"铜铃", "渡船"} <= {word for each in found.passages for word in each.found_by}


async def test_where_a_name_stands_often_comes_before_where_it_is_mentioned() -> None:
    chapters = [FILLER for _ in range(8)]
    chapters[1] = f"老周来了，{FILLER}老周说老周，老周走了。{FILLER}"
    found = await ranked(novel(*chapters), "老周的一场戏。")
    assert found.passages[0].place.start > 0


async def test_a_passage_about_a_name_continues_beyond_its_border() -> None:
    chapters = [FILLER for _ in range(8)]
    chapters[1] = "天色已晚，众人散去，忽见老周走来。他提着灯。"
    best = (await ranked(novel(*chapters), "老周的一场戏。")).passages[0]
    assert (best.place.end, best.span.end) == (17, 22)


async def test_a_thing_that_counts_more_has_more_passages_of_its_own() -> None:
    places = [PassagePlace(ChapterId(f"c{n}"), n, 0, 0, 10) for n in range(40)]
    heavy = _Hits("铜铃", tuple(range(20)), 4.0, 4.0)
    light = _Hits("灯下", tuple(range(20, 40)), 2.0, 2.0)
    chosen = list(_of_things([light, heavy], dict.fromkeys(range(40), 1.0), places, {}))
    assert len(chosen) == 12
    assert sum(at < 20 for at in chosen) == 10, "four to one, by the squares of their weights"
    few = _Hits("铜铃", (0, 1), 4.0, 4.0)
    assert {0, 1} < set(_of_things([light, few], dict.fromkeys(range(40), 1.0), places, {}))


def test_the_passage_that_has_a_thing_most_often_comes_before_a_better_scored_one_of_its_chapter() -> None:
    places = [PassagePlace(ChapterId("c1"), 1, n, 10 * n, 10 * n + 10) for n in range(3)]
    bell = _Hits("铜铃", (0, 1, 2), 1.0, 1.0)
    counts = {("铜铃", 0): 1, ("铜铃", 1): 3, ("铜铃", 2): 1}
    assert list(_of_things([bell], {0: 0.1, 1: 0.1, 2: 0.9}, places, counts)) == [1, 2, 0]


def test_a_name_in_few_chapters_has_one_most_telling_passage_in_each() -> None:
    places = [PassagePlace(ChapterId(f"c{n // 2}"), n // 2, n % 2, 0, 10) for n in range(40)]
    scores, rare, common = dict.fromkeys(range(40), 1.0), range(6), range(40)
    names = [_Hits("苏九", rare, 1.0, 1.0), _Hits("林远", common, 1.0, 1.0)]
    parts = {at: {0: 0.2 + at % 2 / 10, 1: 0.1} if at in rare else {1: 0.1} for at in common}
    assert [*_most_telling(names, scores, parts, places)] == [(1, 0), (3, 0), (5, 0)]


async def test_words_find_what_no_name_does() -> None:
    chapters = [FILLER for _ in range(8)]
    chapters[4] = f"铜铃落入井底，{FILLER}"
    found = await ranked(novel(*chapters), "铜铃的下落")
    assert (found.chapters[0], found.passages[0].found_by[0]) == ("c5", "铜铃")


async def test_a_capital_inside_a_sentence_is_looked_up_like_a_name() -> None:
    texts = [("I", "They talked of the weather and the harvest, of Ruthven too."), ("II", "Nothing new was said.")]
    book = FakeBook(texts, (), language="en")
    assert read_intent("A scene about Ruthven.", "", (), "en").names[0].name == "Ruthven"
    assert (await ranked(book, "A scene about Ruthven.", "en")).chapters == ("c1",)


async def test_what_is_listed_among_names_is_looked_up_like_a_name() -> None:
    book = novel(f"阎王翻开簿子，{FILLER}", FILLER, FILLER)
    reading = read_intent("出场人物：林远、沈青、阎王。", "", CAST, "zh")
    assert [name.name for name in reading.names] == ["林远", "沈青", "阎王"]
    found = await ranked(book, "出场人物：林远、沈青、阎王。")
    assert [each.found_by for each in found.passages] == [("阎王",)]


def test_a_list_of_other_things_names_nobody() -> None:
    for prompt in ("桌上有笔、墨盒、砚台。", "林远带着干粮、灯笼、雨伞。", "林远、干粮、灯笼、雨伞。", "林远、阎王。"):
        assert [name.name for name in read_intent(prompt, "", CAST, "zh").names] in ([], ["林远"])


async def test_what_stands_beside_a_known_name_is_looked_up_like_one() -> None:
    book = novel(f"金星捧着诏书，{FILLER}", FILLER, FILLER)
    for prompt in ("写林远与金星的一场戏。", "里金星与林远的一场戏。金星是信使。"):
        assert [name.name for name in read_intent(prompt, "", CAST, "zh").names] == ["林远", "金星"]
    assert [each.found_by for each in (await ranked(book, "写林远与金星的一场戏。")).passages] == [("金星",)]


def test_a_full_name_beside_a_known_one_is_looked_up_by_its_given_name_too() -> None:
    names = read_intent("写赵元春与林远的一场戏。赵元春是他的妹妹。", "", CAST, "zh").names
    assert [name.forms for name in names] == [("林远",), ("赵元春", "元春")]


def test_of_very_many_that_are_joined_to_a_name_the_first_are_looked_for() -> None:
    items = [chr(0x5000 + n) + chr(0x6000 + n) for n in range(200)]
    found = beside("，".join(f"{item}与林远。{item}走了" for item in items), ["林远"])
    assert found == tuple((item,) for item in items[:64])


def test_what_is_no_name_is_not_looked_up_beside_one() -> None:
    for prompt in ("林远与众人说话。", "林远与他说话。", "话说林远和沈青。", "灯下与林远说话。", "林远与那边的船。"):
        assert {name.name for name in read_intent(prompt, "", CAST, "zh").names} <= {"林远", "沈青"}


async def test_a_word_whose_characters_seldom_stand_apart_has_more_passages_than_a_chance_pair() -> None:
    sample = "玉兔捣药。" + "他来了，她去了，看他来去，看她去来。" * 20
    assert cohesion("玉兔", 0.01, sample) > 2 * cohesion("来去", 0.01, sample)
    assert cohesion("bell", 0.01, sample) == cohesion("灯", 0.01, sample) == 1.0
    places = [PassagePlace(ChapterId(f"c{n}"), n, 0, 0, 10) for n in range(30)]
    pair, word = _Hits("来去", tuple(range(15)), 2.0, 2.0), _Hits("玉兔", tuple(range(15, 30)), 2.0, 2.0)
    chapters = tuple(place.chapter for place in places[:10])
    weighed = Weighed(chapters, places, dict.fromkeys(range(30), 1.0), [], [pair, word], [], [], 1.0)
    found = weighed.relevance({place.chapter: sample for place in places}, 19)
    assert sum("玉兔" in each.found_by for each in found.passages[10:]) >= 6


async def test_where_the_context_holds_few_passages_those_behind_the_first_are_shorter() -> None:
    text = f"林远来了。{'众人散去。' * 12}"
    book = FakeBook([(f"第{n}章", text) for n in range(1, 41)], CAST, passage_size=200)
    view = book.before(41)
    reading = read_intent("林远说话。", "", book.people, "zh")
    weighed = weigh(reading, await view.postings(_asked(reading)), view.before)
    texts = await view.chapter_texts(weighed.shortlist(40))

    def lengths(space: int) -> list[int]:
        found = weighed.relevance(texts, 40, (), lambda passages: len(passages) <= space)
        return [each.span.end - each.span.start for each in found.passages]

    whole = lengths(40 * len(text))
    brief = lengths(40 * len(text) - 1)
    assert len(brief) == 40 and brief[:24] == whole[:24]
    assert all(each < other for each, other in zip(brief[24:], whole[24:], strict=True))


async def test_a_prompt_without_names_borrows_none_for_the_search() -> None:
    reading = read_intent("写下一章。", "林远来了。", CAST, "zh")
    assert [entity.name for entity in reading.cast] == ["林远"]
    assert reading.names == ()


async def test_an_empty_book_has_nothing_relevant() -> None:
    view = novel(FILLER).before(1)
    reading = read_intent("林远的铜铃", "", CAST, "zh")
    assert weigh(reading, await view.postings(_asked(reading)), 1).relevance({}, 50) == Relevance((), ())
