"""Headings as novels write them: forms, numerals, ornaments, and random books whose chapters are known."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowcabal_tui.domain.manuscript import ImportedChapter
from flowcabal_tui.headings.numerals import chinese_number, english_number
from flowcabal_tui.headings.rules import LONGEST_MARKED, heading_of
from flowcabal_tui.manuscript.chapters import split_chapters

PROSE = "他推开门，雪落了一地。\n她没有回头，只说了一句：“走吧。”\n"


def found(text: str) -> list[tuple[str, str]]:
    return [(chapter.volume, chapter.title) for chapter in split_chapters(text, "book")[0]]


def warnings(text: str) -> str:
    return "\n".join(split_chapters(text, "book")[1])


@pytest.mark.parametrize(
    ("line", "title", "number"),
    [
        ("——第一章——", "第一章", 1),
        ("=== 第一章 风起 ===", "第一章 风起", 1),
        ("*** CHAPTER 5 ***", "CHAPTER 5", 5),
        ("★ 第十章", "第十章", 10),
        ("【第一章】风起", "第一章 风起", 1),
        ("（第一章）", "第一章", 1),
        ("[Chapter 3] The Bell", "Chapter 3 The Bell", 3),
        ("正文卷 第一章 风起", "第一章 风起", 1),
        ("第壹章 风", "第壹章 风", 1),
        ("第卌二章 花", "第卌二章 花", 42),
        ("楔 子", "楔子", None),
        ("间章 夜", "间章 夜", None),
        ("最终章 归", "最终章 归", None),
        ("外传一 剑", "外传一 剑", None),
        ("CHAPTER THE FIRST", "CHAPTER THE FIRST", 1),
        ("Chapter the Twenty-first", "Chapter the Twenty-first", 21),
        ("Chapter One Hundred and Four", "Chapter One Hundred and Four", 104),
        ("CHAPTER THE LAST", "CHAPTER THE LAST", None),
        ("Ch. 12: The Ledger", "Ch. 12: The Ledger", 12),
        ("STAVE ONE.", "STAVE ONE.", 1),
        ("Interlude II", "Interlude II", None),
    ],
)
def test_chapter_headings_in_other_dress(line: str, title: str, number: int | None) -> None:
    heading = heading_of(line)
    assert heading is not None
    assert (heading.kind, heading.trust, heading.title, heading.number) == ("chapter", "sure", title, number)


@pytest.mark.parametrize("line", ["Book the Third: Exile", "VOL. II", "Act II", "卷上", "下篇 归来", "第三册"])
def test_volume_headings_in_other_dress(line: str) -> None:
    heading = heading_of(line)
    assert heading is not None and heading.kind == "volume"


@pytest.mark.parametrize(
    "line",
    [
        "——第一章里他就死了，她想。",
        "Part the curtains",
        "Act two was dull",
        "Chapter hundreds",
        "卷上袖子，他走了过去",
        "插曲响起时她哭了",
    ],
)
def test_running_text_in_a_headings_dress_is_text(line: str) -> None:
    assert heading_of(line) is None


@given(st.integers(min_value=1, max_value=9999))
def test_chinese_numerals_read_as_they_are_written(number: int) -> None:
    assert chinese_number(written_zh(number)) == number
    assert chinese_number("".join("〇一二三四五六七八九"[int(digit)] for digit in str(number))) == number


@given(st.integers(min_value=1, max_value=3999))
def test_roman_numerals_read_as_they_are_written(number: int) -> None:
    assert english_number(written_roman(number)) == number


@given(st.integers(min_value=1, max_value=999))
def test_english_numerals_read_as_they_are_written(number: int) -> None:
    assert english_number(written_en(number)) == number


def written_zh(number: int) -> str:
    """一千零五, as a person writes it."""
    words = ""
    for unit, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // unit % 10
        if digit:
            words += "零一二三四五六七八九"[digit] + name
        elif words and not words.endswith("零") and number % unit:
            words += "零"
    return words.removeprefix("一") if words.startswith("一十") else words


def written_roman(number: int) -> str:
    values = (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1)
    names = ("M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I")
    words = ""
    for value, name in zip(values, names, strict=True):
        words += name * (number // value)
        number %= value
    return words


def written_en(number: int) -> str:
    small = ["", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    small += ["thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
    tens = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
    hundreds, rest = divmod(number, 100)
    last = small[rest] if rest < 20 else "-".join(filter(None, (tens[rest // 10], small[rest % 10])))
    return " and ".join(filter(None, (f"{small[hundreds]} hundred" if hundreds else "", last)))


FORMS = (
    lambda n, title: f"第{written_zh(n)}章 {title}",
    lambda n, title: f"第{n}章　{title}",
    lambda n, title: f"第{written_zh(n)}回{title}",
    lambda n, title: f"【第{n}章】{title}",
    lambda n, title: f"—— 第{written_zh(n)}话 {title} ——",
    lambda n, title: f"正文 第{written_zh(n)}章：{title}",
    lambda n, title: f"Chapter {written_roman(n)}",
    lambda n, title: f"CHAPTER {n}. {title}",
    lambda n, title: f"{n}、{title}",
    lambda n, title: f"## 第{n}章 {title}",
)
TITLES = st.text(alphabet="风雪夜归人灯影江湖旧梦长街茶馆少年", min_size=2, max_size=8)
BODY_LINES = st.sampled_from(
    [
        "夜色落在长街上，灯火一点一点亮起来。",
        "“第二章你看了吗？”她问。",
        "第四回中既将薛家母子在荣府中寄居等事略已表明，此回暂可不写了。",
        "第三节课的铃声响了，他还没有来。",
        "他数了数：一、二、三。",
        "1937年的冬天很冷。",
        "",
    ]
)


@settings(max_examples=60, deadline=None)
@given(
    form=st.sampled_from(FORMS),
    titles=st.lists(TITLES, min_size=3, max_size=12),
    bodies=st.data(),
    with_contents=st.booleans(),
)
def test_the_chapters_of_a_random_book_are_those_that_were_planted(
    form: object, titles: list[str], bodies: st.DataObject, with_contents: bool
) -> None:
    assert callable(form)
    headings = [form(n, title) for n, title in enumerate(titles, 1)]
    texts = [PROSE + "\n".join(bodies.draw(st.lists(BODY_LINES, max_size=5))) for _title in titles]
    contents = "目录\n" + "\n".join(headings) + "\n\n" if with_contents else ""
    chapters, _said = split_chapters(
        contents + "\n".join(f"{heading}\n\n{text}" for heading, text in zip(headings, texts, strict=True)), "book"
    )
    assert [chapter.number for chapter in chapters] == list(range(1, len(titles) + 1))
    assert [chapter.text for chapter in chapters] == [text.strip("\n").rstrip() for text in texts]


def test_sections_belong_to_their_chapter_and_a_collection_holds_chapters() -> None:
    text = f"第一集 渡口\n第一章 甲\n第一节\n{PROSE}第二节\n{PROSE}第二集 江湖\n第二章 乙\n{PROSE}"
    assert found(text) == [("第一集 渡口", "第一章 甲"), ("第二集 江湖", "第二章 乙")]
    assert "第二节" in split_chapters(text, "book")[0][0].text


def test_without_chapters_sections_are_chapters() -> None:
    assert found(f"第一节\n{PROSE}第二节\n{PROSE}") == [("", "第一节"), ("", "第二节")]


def test_bare_numbers_are_chapters_only_where_the_book_counts_by_them() -> None:
    text = "".join(f"{n}\n\n{PROSE}" for n in range(1, 5))
    assert [title for _volume, title in found(text)] == ["1", "2", "3", "4"]
    assert "numbers" in warnings(text)
    assert [title for _volume, title in found(f"第一章\n{text}第二章\n{PROSE}")] == ["第一章", "第二章"]
    assert len(found(f"{PROSE}1、米\n2、盐\n{PROSE}")) == 1, "two numbers are no habit"


def test_a_table_with_pages_and_volumes_is_left_out() -> None:
    names = ["第一章 甲", "第二章 乙", "第三章 丙", "第四章 丁"]
    table = "目 录\n第一卷 风\n" + "\n".join(f"{name}……{n}" for n, name in enumerate(names, 1)) + "\n"
    text = table + "第一卷 风\n" + "".join(f"{name}\n{PROSE}" for name in names)
    assert found(text) == [("第一卷 风", name) for name in names]
    assert "5" in warnings(text), "four chapters and their volume"


def test_a_heading_that_stands_twice_is_one_chapter() -> None:
    assert found(f"第一章 甲\n\n第一章 甲\n{PROSE}第二章 乙\n第二章 乙\n{PROSE}") == [
        ("", "第一章 甲"),
        ("", "第二章 乙"),
    ]


def test_volumes_that_begin_anew_with_their_numbers_are_no_doubles() -> None:
    text = "".join(f"第{volume}卷\n" + "".join(f"第{n}章\n{PROSE * 9}" for n in (1, 2, 3)) for volume in "一二")
    assert len(found(text)) == 6
    assert warnings(text) == ""


def test_numbers_that_go_back_are_told() -> None:
    assert "第3章" in warnings("".join(f"第{n}章\n{PROSE * 9}" for n in (1, 2, 4, 3, 5)))


def test_no_text_is_lost_in_any_book() -> None:
    text = f"前记一行\n{PROSE * 30}第一章\n{PROSE}番外\n{PROSE}THE END\n"
    chapters: tuple[ImportedChapter, ...] = split_chapters(text, "book")[0]
    kept = "\n".join(chapter.text for chapter in chapters)
    assert all(line in kept for line in text.splitlines() if line and line not in ("第一章", "番外"))


@pytest.mark.parametrize(
    ("headings", "titles"),
    [
        (["第一回", "第二回", "第三回"], ["第一回 渡口", "第二回 渡口", "第三回 渡口"]),
        (["CHAPTER I.", "CHAPTER II.", "CHAPTER III."], ["CHAPTER I 渡口", "CHAPTER II 渡口", "CHAPTER III 渡口"]),
        (["1", "2", "3"], ["1 渡口", "2 渡口", "3 渡口"]),
    ],
)
@pytest.mark.parametrize("blank", ["", "\u3000\n"])
def test_a_title_below_the_number_is_joined_to_it(headings: list[str], titles: list[str], blank: str) -> None:
    chapters = split_chapters("".join(f"{heading}\n{blank}\n渡口\n\n{PROSE}" for heading in headings), "book")[0]
    assert [(c.title, c.text) for c in chapters] == [(title, PROSE.strip()) for title in titles]


def test_a_first_line_is_no_title_where_most_chapters_have_none() -> None:
    text = "".join(f"第{n}章\n\n{PROSE}" for n in range(1, 6)) + f"第6章\n\n渡口\n\n{PROSE}"
    assert [title for _volume, title in found(text)][-1] == "第6章"


@pytest.mark.parametrize("mark", ["# ", "## ", "### ", "# Chapter 3: ", "# 第三章 "])
@pytest.mark.parametrize("filling", ["x", "雪", "# ", " \t"], ids=("word", "han", "marks", "blanks"))
def test_a_marked_line_that_is_too_long_for_a_title_is_text(mark: str, filling: str) -> None:
    long = mark + "a" + filling * 200_000 + "b"
    chapters, _warnings = split_chapters(f"# One\n\nSnow.\n\n{long}\n\n# Two\n\nRain.", "book")
    assert [chapter.title for chapter in chapters] == ["One", "Two"]
    assert long in chapters[0].text


def test_a_marked_line_of_400_characters_is_a_title() -> None:
    title = "x" * (LONGEST_MARKED - 2)
    assert found(f"# {title}\n\nSnow.") == [("", title)]
    assert found(f"# {title}x\n\nSnow.") == [("", "book")]
