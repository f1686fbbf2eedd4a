"""Rules about who has what, and about a name that is used before it is introduced."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flowcabal_tui.agents.checking.rules.belongings import belongings
from flowcabal_tui.agents.checking.rules.material import Declared, EarlierBook, NarratedText
from flowcabal_tui.agents.names.names import entity_id
from flowcabal_tui.domain.run import Quotation
from tests.agents.rules.books import book, words

FILL = "天色渐渐暗了，街上没有一个行人。"
FILL_EN = "It grew dark in the street, and nobody passed."
PEOPLE = ("沈知微", "顾长庚", "Ambrose Fenn", "Judith Crane")


def _book(language: str, *told: str) -> EarlierBook:
    fill = FILL if language == "zh" else FILL_EN
    return book(language, *[fill] * 8, *told, fill, people=PEOPLE)


@pytest.mark.parametrize(
    ("language", "text", "said"),
    [
        ("zh", "沈知微的怀表停了。", ("沈知微", "has", "怀表", "", True)),
        ("zh", "沈知微提着一把长剑。", ("沈知微", "has", "剑", "", False)),
        ("zh", "顾长庚把怀表送给了沈知微。", ("沈知微", "gets", "怀表", "", False)),
        ("zh", "他将那枚玉戒指递给沈知微。", ("沈知微", "gets", "戒指", "玉", False)),
        ("zh", "顾长庚骑着一匹白马。", ("顾长庚", "has", "马", "白", False)),
        ("en", "Judith Crane’s silver watch stopped.", ("Judith Crane", "has", "watch", "silver", True)),
        ("en", "Ambrose Fenn slowly drew his sabre.", ("Ambrose Fenn", "has", "sword", "", True)),
        ("en", "He gave Judith Crane the garnet ring.", ("Judith Crane", "gets", "ring", "garnet", False)),
        ("en", "He handed the garnet ring to Judith Crane.", ("Judith Crane", "gets", "ring", "garnet", False)),
        ("en", "Judith Crane came in. She wound her watch.", ("Judith Crane", "has", "watch", "", True)),
    ],
)
def test_statements_of_belongings(language: str, text: str, said: tuple[str, str, str, str, bool]) -> None:
    found = belongings(NarratedText(text, language), book(language, people=PEOPLE))
    assert [(each.act, each.thing, each.mark, each.is_own) for each in found] == [said[1:]]
    assert found[0].owner == entity_id("character", said[0])


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("zh", "“沈知微的怀表停了。”他说。"),
        ("zh", "沈知微，怀表停了。"),
        ("en", "“Judith Crane’s watch stopped,” he said."),
        ("en", "Judith Crane left. A watch stopped."),
    ],
)
def test_what_says_nothing_of_belongings(language: str, text: str) -> None:
    assert belongings(NarratedText(text, language), book(language, people=PEOPLE)) == ()


def test_another_weapon_than_always() -> None:
    zh = _book("zh", *["沈知微提着一把长剑。"] * 2, *["沈知微拔出宝剑。"] * 2)
    assert words("possession", "门外沈知微挺着一杆长枪。", zh) == [("沈知微挺着一杆长枪", "沈知微拔出宝剑。")]
    assert words("possession", "门外沈知微掣出宝剑。", zh) == []
    assert words("possession", "门外顾长庚挺着一杆长枪。", zh) == [], "somebody else"
    assert words("possession", "沈知微夺过一杆枪。沈知微挺着枪走来。", zh) == [], "it came to her"
    en = _book("en", *["Ambrose Fenn drew his sword."] * 4)
    assert words("possession", "At noon Ambrose Fenn raised his pistol.", en) == [
        ("Ambrose Fenn raised his pistol", "Ambrose Fenn drew his sword.")
    ]
    seldom = _book("en", *["Ambrose Fenn drew his sword."] * 2)
    assert words("possession", "At noon Ambrose Fenn raised his pistol.", seldom) == [], "no habit"


def test_the_thing_of_another() -> None:
    en = _book("en", "He gave Judith Crane the garnet ring.")
    assert words("possession", "At noon Ambrose Fenn twirled his garnet ring.", en) == [
        ("Ambrose Fenn twirled his garnet ring", "He gave Judith Crane the garnet ring.")
    ]
    assert words("possession", "At noon Judith Crane twirled her garnet ring.", en) == []
    assert words("possession", "At noon Ambrose Fenn twirled his iron ring.", en) == [], "another ring"
    zh = _book("zh", "顾长庚把怀表送给了沈知微。")
    assert words("possession", "顾长庚掏出自己的怀表。", zh) == [("顾长庚掏出自己的怀表", "顾长庚把怀表送给了沈知微。")]
    assert words("possession", "顾长庚掏出怀表。", zh) == [], "the words do not say whose it is"
    assert words("possession", "沈知微掏出自己的怀表。", zh) == []
    back = "她把怀表还给顾长庚。顾长庚掏出自己的怀表。"
    assert words("possession", back, zh) == [], "it came back"


def test_a_note_declares_the_weapon() -> None:
    about = entity_id("character", "沈知微")
    note = Declared(about, NarratedText("惯使一对短剑。", "zh"), Quotation("惯使一对短剑。", "entities/a", 0, 7))
    zh = replace(_book("zh"), declared=(note,))
    assert [source for _draft, source in _declared("沈知微抡起大斧。", zh)] == ["惯使一对短剑。"]
    assert _declared("沈知微拔出剑。", zh) == []
    assert _declared("顾长庚抡起大斧。", zh) == []


def _declared(draft: str, earlier: EarlierBook) -> list[tuple[str, str]]:
    from flowcabal_tui.agents.checking.rules.possession import find

    return [(each.draft.text, each.source.text) for each in find(NarratedText(draft, "zh"), earlier) if each.source]


@pytest.mark.parametrize(
    ("language", "draft", "found"),
    [
        ("zh", "周砚走进院子。灯灭了。来的是个货郎，名唤周砚，专卖灯油。", ["周砚走进院子"]),
        ("zh", "周砚走进院子。灯灭了。那货郎姓周，名砚，专卖灯油。", ["周砚走进院子"]),
        ("zh", "来的是个货郎，名唤周砚，专卖灯油。周砚走进院子。", []),
        ("zh", "“周砚走了。”他说。来的是个货郎，名唤周砚，专卖灯油。", []),
        ("zh", "周砚走进院子\n灯灭了。来的是个货郎，名唤周砚，专卖灯油。", []),
        ("zh", "沈知微走进院子。那女子名唤沈知微，专卖灯油。", []),
        ("en", "Tom Gray opened the door. He was a pedlar named Tom Gray.", ["Tom Gray opened the door"]),
        ("en", "Tom Gray opened the door. “I sell oil.” His name was Tom Gray.", ["Tom Gray opened the door"]),
        ("en", "A pedlar named Tom Gray came. Tom Gray opened the door.", []),
        ("en", "Judith Crane opened the door. It was a woman called Judith Crane.", []),
    ],
)
def test_a_name_before_its_introduction(language: str, draft: str, found: list[str]) -> None:
    known = "沈知微守着灯。" if language == "zh" else "Judith Crane kept the lamp."
    assert [draft for draft, _source in words("introductions", draft, _book(language, known))] == found
