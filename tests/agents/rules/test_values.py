"""Rules about values: ages, looks, marks, amounts, sides and kin, against earlier text, notes and records."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flowcabal_tui.agents.checking.rules.ages import ages
from flowcabal_tui.agents.checking.rules.kinship import kinship
from flowcabal_tui.agents.checking.rules.looks import appearances
from flowcabal_tui.agents.checking.rules.material import Declared, NarratedText
from flowcabal_tui.agents.checking.rules.quantities import Range, range_of
from flowcabal_tui.agents.names.names import entity_id
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.memory import Evidence
from flowcabal_tui.domain.run import Quotation
from flowcabal_tui.domain.story import RecordId, Relation
from tests.agents.rules.books import book, words

FILL = "天色渐渐暗了，街上没有一个行人。"
FILL_EN = "It grew dark in the street, and nobody passed."
PEOPLE = ("沈知微", "顾长庚", "Ambrose Fenn", "Judith Crane")


@pytest.mark.parametrize(
    ("number", "around", "language", "least", "most"),
    [
        ("十五六", "", "zh", 15, 16),
        ("三十", "未满", "zh", 20, 29.5),
        ("四十", "来", "zh", 40, 49),
        ("二十万", "", "zh", 200_000, 200_000),
        ("三百五十", "", "zh", 350, 350),
        ("287,000", "", "en", 287_000, 287_000),
        ("twenty thousand", "", "en", 20_000, 20_000),
        ("five-and-twenty", "", "en", 25, 25),
        ("half a million", "", "en", 500_000, 500_000),
        ("forty", "little more than", "en", 40, 49),
    ],
)
def test_numbers_are_ranges(number: str, around: str, language: str, least: float, most: float) -> None:
    assert range_of(number, around, language) == Range(least, most)


def test_what_is_no_number() -> None:
    assert range_of("十百零", "", "zh") is not None
    assert range_of("三四七九", "", "zh") is None
    assert range_of("forty winks", "", "en") is None


@pytest.mark.parametrize(
    ("language", "text", "least"),
    [
        ("zh", "他年方十四，", 14),
        ("zh", "他是二十来岁的人。", 20),
        ("en", "a man of about fifty, tall", 42.5),
        ("en", "a ten-year-old boy", 10),
        ("en", "she was sixty years of age", 60),
    ],
)
def test_ages_that_are_told(language: str, text: str, least: float) -> None:
    assert [each.value.least for each in ages(NarratedText(text, language))] == [least]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("zh", "“我三十岁了。”他说。"),
        ("zh", "三十年前他走了。众人高呼万岁。"),
        ("en", "“He is thirty years old,” she said."),
        ("en", "a man of thirty thousand francs, thirty years ago"),
        ("zh", "他有一个女儿，比儿子小两岁。那个大三岁的先开口。"),
        ("zh", "那年他十八岁，刚离家。"),
        ("zh", "她小时候七八岁上就会摇橹。"),
        ("en", "He had come here when he was eighteen years old."),
        ("en", "She had been a girl of eighteen then."),
        ("en", "That year, when the boat burned, she was barely eighteen."),
    ],
)
def test_what_is_no_age(language: str, text: str) -> None:
    assert ages(NarratedText(text, language)) == ()


def test_a_person_grew_younger() -> None:
    zh = book("zh", FILL, "沈知微年已五十，守着这座灯塔。", FILL, FILL, people=PEOPLE)
    assert words("ages", "灯塔里坐着沈知微，她年纪不过三十。", zh) == [
        ("年纪不过三十", "沈知微年已五十，守着这座灯塔。")
    ]
    en = book("en", FILL_EN, "Ambrose Fenn, a man of fifty, kept the lighthouse.", FILL_EN, people=PEOPLE)
    assert words("ages", "In the lighthouse sat Ambrose Fenn, a lad of twenty.", en) == [
        ("lad of twenty", "Ambrose Fenn, a man of fifty, kept the lighthouse.")
    ]


@pytest.mark.parametrize("told", ["今年", "年方"])
def test_an_age_of_somebody_whom_every_chapter_names(told: str) -> None:
    zh = book("zh", f"沈知微{told}十六岁，住在灯塔。", "沈知微守着灯塔。", people=PEOPLE)
    assert [source for _draft, source in words("ages", f"沈知微{told}十二岁，站在湖边。", zh)] == [
        f"沈知微{told}十六岁，住在灯塔。"
    ]
    assert words("ages", f"顾长庚{told}十二岁，住在灯塔。", zh) == []
    assert words("ages", f"沈知微的弟弟{told}十二岁，站在湖边。", zh) == []
    en = book("en", "Ambrose Fenn was fifty years old.", "Ambrose Fenn kept the lighthouse.", people=PEOPLE)
    assert words("ages", "Ambrose Fenn was only twelve years old.", en) == [
        ("twelve years old", "Ambrose Fenn was fifty years old.")
    ]


@pytest.mark.parametrize(
    "draft",
    [
        "灯塔里坐着沈知微，她年已五十二。",
        "灯塔里坐着沈知微，她年已五十八。",
        "灯塔里坐着顾长庚，他年纪不过三十。",
        "顾长庚说：“沈知微年纪不过三十。”",
        "十年后的沈知微，如今已经年已七十。",
    ],
)
def test_ages_that_agree_or_are_others(draft: str) -> None:
    zh = book("zh", *[FILL] * 6, "沈知微年已五十，守着灯塔。", FILL, "顾长庚在城里。", people=PEOPLE)
    assert words("ages", draft, zh) == []


def test_looks_that_exclude_each_other() -> None:
    zh = book("zh", FILL, "沈知微有一双蓝眼睛，一头乌黑的头发。", FILL, people=PEOPLE)
    assert [draft for draft, _ in words("looks", "沈知微抬起头，绿眼睛里有泪，银白的头发散着。", zh)] == [
        "绿眼睛",
        "银白的头发",
    ]
    en = book("en", FILL_EN, "Judith Crane had long black hair and blue eyes.", FILL_EN, people=PEOPLE)
    assert [draft for draft, _ in words("looks", "Judith Crane shook her short red hair.", en)] == ["short red hair"]


@pytest.mark.parametrize(
    "draft",
    [
        "Judith Crane shook her dark hair.",
        "Ambrose Fenn shook his red hair.",
        "“Judith Crane has red hair,” he said.",
        "Judith Crane had dyed her hair: her red hair shone.",
        "Judith Crane shook her head; the red sky faded.",
    ],
)
def test_looks_that_agree_or_are_told_to_change(draft: str) -> None:
    en = book("en", FILL_EN, "Judith Crane had long black hair and blue eyes.", "Ambrose Fenn left.", people=PEOPLE)
    assert words("looks", draft, en) == []


def test_looks_are_read_of_parts_only() -> None:
    said = appearances(NarratedText("Her eyes, dark as night. A red sky. His beard was white. He blushed red.", "en"))
    assert [(each.part, sorted(each.value)) for each in said] == [("beard", ["shade.white"])]


def test_a_declared_value_counts_as_told() -> None:
    about = entity_id("character", "沈知微")
    note = Declared(about, NarratedText("眼睛是蓝色的", "zh"), Quotation("蓝眼睛", "entities/x", 0, 3))
    zh = replace(
        book("zh", FILL, people=PEOPLE), declared=(Declared(about, NarratedText("一双蓝眼睛", "zh"), note.source),)
    )
    assert [each.draft.text for each in _declared("沈知微的绿眼睛亮了。", zh)] == ["绿眼睛"]
    assert _declared("沈知微的蓝眼睛亮了。", zh) == []
    assert _declared("顾长庚的绿眼睛亮了。", zh) == []


def _declared(draft, earlier):
    from flowcabal_tui.agents.checking.rules.looks import find

    return list(find(NarratedText(draft, "zh"), earlier))


def test_a_bodily_mark_in_another_place_is_found() -> None:
    en = book("en", FILL_EN, "Judith Crane had a dark mole at the corner of her mouth.", FILL_EN, people=PEOPLE)
    moved = words("bodily-marks", "Judith Crane touched the mole on her forehead.", en)
    assert [draft for draft, _source in moved] == ["mole on her forehead"]
    assert words("bodily-marks", "Judith Crane touched the mole beside her mouth.", en) == []
    assert words("bodily-marks", "He touched the scar on his forehead.", en) == []


def test_an_amount_of_the_same_event() -> None:
    told = "The receipted bill for 287,000 francs lay beside the crimson purse on the mantelpiece."
    en = book("en", *[FILL_EN] * 4, told, *[FILL_EN] * 4, people=PEOPLE)
    draft = "He still kept the crimson purse from the mantelpiece, and the receipted bill for {} francs."
    assert words("amounts", draft.format("twenty thousand"), en) == [("twenty thousand francs", told)]
    assert words("amounts", draft.format("287,000"), en) == []
    assert words("amounts", "He lost twenty thousand francs at cards that winter.", en) == [], "another event"


@pytest.mark.parametrize(
    ("language", "total", "share"),
    [
        ("zh", "狼牙渡的铁匠阿勒坦领了赏银{}两。", "狼牙渡的铁匠阿勒坦和众弟兄各领了赏银{}两。"),
        (
            *("en", "The receipted bill for {} francs lay beside the crimson purse on the mantelpiece."),
            "Beside the crimson purse on the mantelpiece each receipted bill was for {} francs.",
        ),
    ],
)
def test_a_share_is_compared_with_shares_alone(language: str, total: str, share: str) -> None:
    fill, large, small = (FILL, "五百", "二十") if language == "zh" else (FILL_EN, "287,000", "two thousand")
    for told, draft, is_found in (
        (total, total, True), (share, share, True), (total, share, False), (share, total, False),
    ):  # fmt: skip
        earlier = book(language, *[fill] * 4, told.format(large), *[fill] * 4, people=PEOPLE)
        assert bool(words("amounts", draft.format(small), earlier)) == is_found, (told, draft)


def test_a_side_of_the_same_body() -> None:
    told = "The harpoon had torn the whaler’s left hand in the Greenland ice."
    en = book("en", *[FILL_EN] * 4, told, *[FILL_EN] * 4, people=PEOPLE)
    draft = "The whaler hid the {} hand that the harpoon had torn in the Greenland ice."
    assert words("sides", draft.format("right"), en) == [("right hand", told)]
    assert words("sides", draft.format("left"), en) == []
    assert words("sides", "He gave her his right hand at the gate.", en) == []
    both = draft.format("right").replace("that", "and the left hand that")
    assert words("sides", both, en) == [], "a sentence with both tells nothing"


def test_a_stranger_is_nobody_who_was_described() -> None:
    told = "Judith Crane, lean as a heron, limped out of the boathouse on two crutches."
    en = book("en", *[FILL_EN] * 4, told, *[FILL_EN] * 4, people=PEOPLE)
    assert words("looks", "From the boathouse on her crutches came Judith Crane, as stout as a cask.", en)
    assert words("looks", "Behind Judith Crane a stout man limped from the boathouse on crutches.", en) == []
    assert words("looks", "Judith Crane was a stout woman, and limped on crutches from the boathouse.", en)


def test_a_formula_is_one_word() -> None:
    told = "那将口中念念有词，喝声道：“疾！”随手掣出一口宝剑。"
    zh = book("zh", *[FILL] * 4, told, *[FILL] * 4, people=PEOPLE)
    assert words("others", "道人口中念念有词，提起一条铁枪。", zh) == []


@pytest.mark.parametrize(
    ("language", "text", "who", "kind", "of"),
    [
        ("zh", "沈知微是顾长庚的女儿。", "沈知微", "child", "顾长庚"),
        ("zh", "只因顾长庚有个妹子，名唤顾小满。", "顾小满", "sibling", "顾长庚"),
        ("en", "Judith Crane, the younger sister of Ambrose Fenn, rose.", "Judith Crane", "sibling", "Ambrose Fenn"),
        ("en", "Ambrose Fenn’s only daughter, Judith Crane, rose.", "Judith Crane", "child", "Ambrose Fenn"),
    ],
)
def test_a_stated_kinship_is_read(language: str, text: str, who: str, kind: str, of: str) -> None:
    said = kinship(NarratedText(text, language))[0]
    assert (said.who[-len(who) :], said.kind, said.of[-len(of) :]) == (who, kind, of)


def test_another_kinship_than_before_is_found() -> None:
    zh = book("zh", FILL, "沈知微是顾长庚的女儿。", people=PEOPLE)
    assert words("kinship", "原来沈知微是顾长庚的妹妹。", zh) == [
        ("原来沈知微是顾长庚的妹妹", "沈知微是顾长庚的女儿。")
    ]
    assert words("kinship", "原来沈知微是顾长庚的女儿。", zh) == []
    assert words("kinship", "“沈知微是顾长庚的妹妹。”他说。", zh) == []
    assert words("kinship", "原来林小满是顾长庚的妹妹。", zh) == []


def test_kin_against_a_record() -> None:
    ids = [entity_id("character", name) for name in ("沈知微", "顾长庚")]
    quoted = Evidence("沈知微是他的女儿", ChapterId("1"), 0, 8)
    record = Relation(RecordId("r"), ids[1], ids[0], "父亲", evidence=(quoted,))
    zh = replace(book("zh", "沈知微是他的女儿", people=PEOPLE), relations=(record,))
    from flowcabal_tui.agents.checking.rules.kinship import find

    other = list(find(NarratedText("沈知微是顾长庚的妹妹。", "zh"), zh))
    assert [each.source.text for each in other if each.source] == ["沈知微是他的女儿"]
    assert list(find(NarratedText("沈知微是顾长庚的女儿。", "zh"), zh)) == []


def test_a_thing_of_another_colour() -> None:
    told = "At the harbour lived one Bulph, a pilot, whose cottage had a green door and a barometer."
    en = book("en", *[FILL_EN] * 4, told, *[FILL_EN] * 4, people=PEOPLE)
    draft = "He knocked at the cottage of Bulph, the pilot; the door was {}, and the barometer fell."
    assert words("colours", draft.format("scarlet"), en) == [("door was scarlet", told)]
    assert words("colours", draft.format("green"), en) == []
    assert words("colours", "She painted the stable and its red door in April.", en) == [], "another door"
    zh = book("zh", *[FILL] * 4, "那年在狼牙渡，铁匠阿勒坦牵来一匹白马。", *[FILL] * 4, people=PEOPLE)
    assert words("colours", "狼牙渡的铁匠阿勒坦牵着那匹黑马。", zh) == [
        ("黑马", "那年在狼牙渡，铁匠阿勒坦牵来一匹白马。")
    ]


def test_another_weapon_or_season() -> None:
    told = "In the monastery at Trebizond the envoy drew a dagger upon the archimandrite."
    en = book("en", *[FILL_EN] * 4, told, *[FILL_EN] * 4, people=PEOPLE)
    draft = "He thought of the envoy at Trebizond, who drew {} upon the archimandrite in the monastery."
    assert words("others", draft.format("a pistol"), en) == [("a pistol", told)]
    assert words("others", draft.format("a dagger"), en) == []
    assert words("others", draft.format("a pistol and then a dagger"), en) == [], "two of a kind tell nothing"
    assert words("others", "The gamekeeper carried a gun.", en) == []


def test_calendar_years_are_no_length_of_time() -> None:
    told = "建安十三年冬，铁匠阿勒坦在狼牙渡开炉。"
    zh = book("zh", *[FILL] * 4, told, *[FILL] * 4, people=PEOPLE)
    assert words("amounts", "建安二十三年，铁匠阿勒坦在狼牙渡关了炉。", zh) == []
    lived = book("zh", *[FILL] * 4, "铁匠阿勒坦在狼牙渡守了六七年的炉。", *[FILL] * 4, people=PEOPLE)
    assert words("amounts", "铁匠阿勒坦在狼牙渡守炉，不过三五个月。", lived) == [
        ("三五个月", "铁匠阿勒坦在狼牙渡守了六七年的炉。")
    ]


def test_small_and_indefinite_amounts_go_by() -> None:
    told = "The receipted bill lay three days and a mile from the crimson purse on the mantelpiece."
    en = book("en", *[FILL_EN] * 4, told, *[FILL_EN] * 4, people=PEOPLE)
    draft = "The crimson purse lay a week and two miles from the receipted bill on the mantelpiece."
    assert words("amounts", draft, en) == []
