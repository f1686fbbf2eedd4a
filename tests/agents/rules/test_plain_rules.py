"""Rules about the draft alone, repeated sentences and names."""

from __future__ import annotations

import pytest

from tests.agents.rules.books import book, words

FILL_ZH = "".join(f"第{number}盏灯在风里晃了一晃便灭了。" for number in range(10))


@pytest.mark.parametrize(
    ("draft", "left"),
    [
        ("灯灭了。\n\n作为一个AI，我不能继续写。", "作为一个AI，我"),
        ("以下是修改后的章节：\n灯灭了。", "以下是修改后"),
        ("灯灭了。\n（字数：2134）", "（字数：2134"),
        ("灯灭了。【此处插入战斗描写】天亮了。", "【此处插入战斗描写】"),
        ("灯灭了，**他转过身**。", "**他转过身**"),
        ("As an AI language model, I cannot write this.", "As an AI language model, I"),
        ("Here is the revised chapter:\nThe lamp died.", "Here is the revised chapter"),
        ("He met {{character_name}} at noon.", "{{character_name}}"),
        ("He met [INSERT NAME] at noon.", "[INSERT NAME]"),
        ("The end.<|im_end|>", "<|im_end|>"),
    ],
)
def test_leftovers_of_models(draft: str, left: str) -> None:
    assert [text for text, _source in words("leftovers", draft, book("zh"))] == [left]


@pytest.mark.parametrize(
    "draft",
    [
        "AI接管了灯塔，人工智能不再听命。",
        "“我是一名水手。”他说。",
        "The AI opened the hatch. As a model of tact, I kept quiet.",
        "* * *\n\n# One\nHe wrote [sic] and 2 * 3 * 4.",
        "Here is the chapter of the order; I hope this is so.",
    ],
)
def test_what_only_looks_like_a_leftover(draft: str) -> None:
    assert words("leftovers", draft, book("en")) == []


def test_latin_words_in_chinese() -> None:
    known = book("zh", FILL_ZH + "他打开Windows的窗口。", people=["Anna"])
    draft = FILL_ZH + "她很nervous，关掉了Windows，对Anna说CPU坏了，OK，发到a@b.com。他也nervous。"
    assert words("latin", draft, known) == [("nervous", "")]
    assert words("latin", "Only English words stand here 灯", known) == []


@pytest.mark.parametrize(
    ("draft", "odd"),
    [
        ("“Go,” she said. “Now.\n\nThe lamp died.", 1),
        ("“Go,” she said.” Now.\n\nThe lamp died.", 1),
        ('"Go," she said. "Now.\n\nThe lamp died.', 1),
        ("“Go,” she said.\n\nThe lamp died.", 0),
        ("“It was long.\n\n“It was longer.”", 0),
        ("“It was verse,\n\nAnd went on.”", 0),
        ("“He said, ‘Go “there” now.’ ”", 0),
        ("“When night falls on the harbour,\nThe lamps go out in rows.”\n\nHe stopped.", 0),
        ("He sang—\n\n“Hold off, ye winds,\nYe winds of night.\n\n“For me alone was it sung.”", 0),
        ("“It runs as follows—\n\nThe lamp is out.\n\nAnd that is all there is of it.” He wept.", 0),
        ("“You are young.\n\nWhat is youth?\n\nA lamp!” he cried. “A lamp!”", 0),
        ("“You are young.\n\nThe lamp died.\n\nShe said, “Go.”", 1),
        ("“You are young.\n\nThe lamp died.\n\n“Go,” she said.", 1),
        ("The lamp died.\n\nIt was dark.” She went.", 1),
    ],
)
def test_quotation_marks_of_english(draft: str, odd: int) -> None:
    assert len(words("quote-marks", draft, book("en"))) == odd
    assert words("quote-marks", draft, book("zh")) == []


@pytest.mark.parametrize(
    ("draft", "odd"),
    [
        ("“灯灭了。”他说。", 0),
        ("「灯灭了。」他说。", 0),
        ("“他说‘灯灭了’。”", 0),
        ("“灯灭了。\n\n“船也走了。”", 0),
        ("“灯灭了。他走了。", 1),
        ("「灯灭了。他走了。", 1),
        ("灯灭了。”他走了。", 1),
        ("“灯灭了。”他说，“船也走了。", 1),
    ],
)
def test_quotation_marks_of_chinese_where_the_book_pairs_them(draft: str, odd: int) -> None:
    pairs, leaves_open = "“天亮了。”她说。", "“天亮了。她说。\n\n她走了。"
    assert len(words("quote-marks", draft, book("zh", pairs, pairs, pairs))) == odd
    assert words("quote-marks", draft, book("zh", pairs, pairs)) == []
    assert words("quote-marks", draft, book("zh", pairs, leaves_open, pairs, leaves_open)) == []


def test_a_sentence_of_another_chapter() -> None:
    same = "他把那只旧怀表贴在耳边，听见里面有海的声音。也听见了从前在船上过的那许多日子。"
    first = same.index("。") + 1
    earlier = book("zh", FILL_ZH + same + FILL_ZH)
    assert words("repeated", FILL_ZH.replace("灯", "船") + same + FILL_ZH.replace("灯", "帆"), earlier) == [
        (same[:first], same[:first])
    ]


def test_a_refrain_and_the_ends_of_chapters_may_be_repeated() -> None:
    refrain = "海水慢慢涨上来淹没了那一排旧的木桩。"
    earlier = book(
        "zh", *(f"{FILL_ZH.replace('灯', lamp)}{refrain}{FILL_ZH.replace('灯', lamp * 2)}" for lamp in "星月雨")
    )
    assert words("repeated", FILL_ZH.replace("灯", "船") + refrain + FILL_ZH.replace("灯", "帆"), earlier) == []
    last = book("zh", FILL_ZH + "欲知后事如何，且听下回为诸位看官分解。")
    draft = FILL_ZH.replace("灯", "船") + "欲知后事如何，且听下回为诸位看官分解。"
    assert words("repeated", draft, last) == []


def test_a_name_one_character_away() -> None:
    zh = book("zh", "沈知微道：“好。”" * 10, people=["沈知微"])
    assert words("name-drift", "灯灭了。沈知徽道：“走。”", zh) == [("沈知徽", "沈知微")]
    en = book("en", "Then Margarethe said no. " * 20, people=["Margarethe"])
    assert words("name-drift", "In the hall Margarete said no.", en) == [("Margarete", "Margarethe")]


def test_names_that_are_other_names() -> None:
    zh = book("zh", "沈知微道：“好。”" * 10 + "沈知徽道：“好。”", people=["沈知微", "李夫人"])
    assert words("name-drift", "沈知徽道：“走。”王夫人道：“走。”", zh) == [], "the book has both"
    en = book("en", "Then Margaret said no. The rose was red. " * 20, people=["Margaret", "Rosie"])
    assert words("name-drift", "In the hall Margarets sat. In the Rose sat Tom.", en) == []
    assert words("name-drift", "At noon Margalet came. Then Margalet and Margalet sat.", en) == [], "somebody new"


def test_names_that_hardly_are_slips() -> None:
    zh = book("zh", "孙大坚道：“好。”他们鸣锣。" * 10, people=["孙大坚"])
    assert words("name-drift", "忽听鸣孙大吹，各自归队。", zh) == [], "in the middle of other words"
    en = book("en", "Then Margarethe said no. The Rhone was wide. " * 20, people=["Margarethe", "Rhone"])
    assert words("name-drift", "In the hall Marga-rethe said no.", en) == [], "a hyphen"
    assert words("name-drift", "In the hall Bargarethe said no.", en) == [], "another first letter is another name"
    assert words("name-drift", "He saw, beyond, Rhine and Rhone.", en) == [], "no person bears it"
    assert words("name-drift", "He crossed the Margarete at noon.", en) == [], "an article"


def test_the_dead_act() -> None:
    zh = book("zh", "沈知微站在门口。", "那夜沈知微病故，众人举哀。", "灯灭了。", people=["沈知微"])
    assert words("dead-acts", "天亮了。沈知微走进院子。", zh) == [("沈知微走进院子", "那夜沈知微病故，众人举哀。")]
    en = book("en", "Tom Gray died that night.", "The lamp burned.", people=["Tom Gray"])
    assert words("dead-acts", "At noon Tom Gray opened the door.", en) == [
        ("At noon Tom Gray opened the door", "Tom Gray died that night.")
    ]


@pytest.mark.parametrize(
    ("language", "earlier", "draft"),
    [
        ("zh", "沈知微病故，众人举哀。", "她梦见沈知微走进院子。"),
        ("zh", "沈知微病故，众人举哀。", "他说：“沈知微走进院子。”"),
        ("zh", "沈知微病故，众人举哀。", "那年沈知微走进院子，灯还亮着。"),
        ("zh", "沈知微病故，众人举哀。", "众人谈起沈知微的好处。"),
        ("zh", "他说：“沈知微病故。”", "沈知微走进院子。"),
        ("zh", "沈知微险些病故。", "沈知微走进院子。"),
        ("zh", "沈知微为母亲之病故而哭。", "沈知微走进院子。"),
        ("en", "Tom Gray died that night.", "In a dream Tom Gray opened the door."),
        ("en", "Tom Gray died that night.", "She remembered how Tom Gray laughed."),
        ("en", "Tom Gray nearly died that night.", "Tom Gray opened the door."),
        ("en", "“Tom Gray died,” she said.", "Tom Gray opened the door."),
    ],
)
def test_the_dead_in_dreams_and_the_living(language: str, earlier: str, draft: str) -> None:
    assert words("dead-acts", draft, book(language, earlier, people=["沈知微", "Tom Gray"])) == []


def test_who_acts_after_a_death_has_not_died() -> None:
    zh = book("zh", "沈知微病故，众人举哀。", "沈知微走进院子，人人惊骇。", people=["沈知微"])
    assert words("dead-acts", "沈知微站在门口。", zh) == []


def test_the_death_of_somebody_whom_the_book_does_not_list() -> None:
    zh = book("zh", "有个丫鬟名唤阿芷者，见主母已去，他也投井而亡。", "灯灭了。", people=["沈知微"])
    assert words("dead-acts", "阿芷捧着一碗汤进来。", zh) == [
        ("阿芷捧着一碗汤进来", "有个丫鬟名唤阿芷者，见主母已去，他也投井而亡。")
    ]
    assert words("dead-acts", "她睡下不久，只见阿芷捧着一碗汤进来，正要说话，便惊醒了。", zh) == []
    assert words("dead-acts", "众人说起阿芷。", zh) == []
