"""Reading novels: headings, encodings, files and folders."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from flowcabal_tui.domain.errors import ManuscriptError
from flowcabal_tui.domain.manuscript import ImportPreview
from flowcabal_tui.headings.numerals import chinese_number, english_number
from flowcabal_tui.headings.rules import heading_of
from flowcabal_tui.manuscript.reader import read_manuscript

ZH = "他推开门，雪落了一地。\n她没有回头，只说了一句：“走吧。”\n"
EN = "He opened the door. Snow lay on the step.\n\n“Come in,” she said.\n"


def read(folder: Path, text: str, encoding: str = "utf-8", name: str = "novel.txt") -> ImportPreview:
    file = folder / name
    file.write_bytes(text.encode(encoding))
    return read_manuscript(file)


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("第十二回", 12),
        ("第12章", 12),
        ("第１２章　风雪夜归人", 12),
        ("【第一百零八章 归来】", 108),
        ("正文 第三章：灯", 3),
        ("第一百二十回（上）", 120),
        ("第7章 你是谁？", 7),
        ("楔子", None),
        ("番外三 雪夜", None),
        ("尾声", None),
        ("后记", None),
        ("Chapter XII", 12),
        ("CHAPTER 3. Title", 3),
        ("Chapter Twenty-One", 21),
        ("Chapter 4 — The Ferry", 4),
        ("Prologue", None),
        ("Epilogue: After", None),
    ],
)
def test_a_line_is_a_chapter_heading(line: str, number: int | None) -> None:
    heading = heading_of(line)
    assert heading is not None
    assert (heading.kind, heading.trust, heading.number) == ("chapter", "sure", number)


@pytest.mark.parametrize("line", ["第一卷 风起", "卷二", "第三部", "第二篇　归途", "Part Two", "BOOK IV: Exile"])
def test_a_line_is_a_volume_heading(line: str) -> None:
    heading = heading_of(line)
    assert heading is not None
    assert heading.kind == "volume"


@pytest.mark.parametrize(
    "line",
    [
        "第四回中既将薛家母子在荣府内寄居等事略已表明，此回暂可不写了。",
        "第二节课的铃声响了",
        "第三次见到她是在渡口",
        "第一章里他就死了，你忘了？",
        "尾声渐起",
        "序幕拉开之前",
        "Part of him wanted to stay",
        "Chapter and verse",
        "Chapter one was the hardest to write.",
        "Part I have forgotten",
        "Book two tickets",
        "",
    ],
)
def test_running_text_is_no_heading(line: str) -> None:
    assert heading_of(line) is None


@pytest.mark.parametrize(
    ("text", "number"), [("一百二十", 120), ("二〇三", 203), ("十", 10), ("廿一", 21), ("千零五", 1005), ("１２", 12)]
)
def test_chinese_numerals(text: str, number: int) -> None:
    assert chinese_number(text) == number


@pytest.mark.parametrize(
    ("text", "number"), [("xlix", 49), ("C", 100), ("nineteen", 19), ("ninety-nine", 99), ("iiii", None)]
)
def test_english_numerals(text: str, number: int | None) -> None:
    assert english_number(text) == number


def test_a_body_line_that_begins_like_a_heading_is_text(tmp_path: Path) -> None:
    chapters = [f"第{n}回　题目{n}\n{ZH}" for n in range(1, 8)]
    chapters[4] += "第四回中既将薛家母子在荣府内寄居等事略已表明\n第四回中之事\n"
    assert [c.number for c in read(tmp_path, "".join(chapters)).chapters] == list(range(1, 8))


def test_headings_without_a_gap_are_found_when_the_book_writes_them_so(tmp_path: Path) -> None:
    names = ["初遇", "归途", "中乡魁宝玉却尘缘", "大雪"]
    text = "".join(f"第{n}章{name}\n{ZH}" for n, name in enumerate(names, start=1))
    assert [c.title for c in read(tmp_path, text).chapters] == [
        "第1章初遇",
        "第2章归途",
        "第3章中乡魁宝玉却尘缘",
        "第4章大雪",
    ]


def test_volumes_are_kept_with_their_chapters(tmp_path: Path) -> None:
    text = f"第一卷 风起\n\n第一章 甲\n{ZH}\n第二卷 云涌 第二章 乙\n{ZH}第三章 丙\n{ZH}"
    chapters = read(tmp_path, text).chapters
    assert [(c.volume, c.title) for c in chapters] == [
        ("第一卷 风起", "第一章 甲"),
        ("第二卷 云涌", "第二章 乙"),
        ("第二卷 云涌", "第三章 丙"),
    ]


def test_markdown_levels(tmp_path: Path) -> None:
    text = f"# The Salt Ledger\n\n## Snow\n\n{EN}\n### a scene\n\n{EN}\n## Thaw\n\n{EN}"
    preview = read(tmp_path, text, name="book.md")
    assert [c.title for c in preview.chapters] == ["Snow", "Thaw"]
    assert "### a scene" in preview.chapters[0].text


def test_markdown_parts_are_volumes(tmp_path: Path) -> None:
    text = f"# Part One\n\n## Chapter 1\n\n{EN}\n# Part Two\n\n## Chapter 2\n\n{EN}"
    assert [(c.volume, c.title) for c in read(tmp_path, text).chapters] == [
        ("Part One", "Chapter 1"),
        ("Part Two", "Chapter 2"),
    ]


def test_a_table_of_contents_is_left_out_and_named(tmp_path: Path) -> None:
    names = ["第一章 甲", "第二章 乙", "第三章 丙"]
    preview = read(tmp_path, "目录\n" + "\n".join(names) + "\n\n" + "".join(f"{n}\n{ZH}" for n in names))
    assert [c.title for c in preview.chapters] == names
    assert any("3" in w for w in preview.warnings)


def test_no_text_before_the_first_heading_is_lost(tmp_path: Path) -> None:
    preface = "此书写于雪中。" * 40
    chapters = read(tmp_path, f"{preface}\n\n第一章 甲\n{ZH}").chapters
    assert chapters[0].text == preface
    assert chapters[1].title == "第一章 甲"


def test_gaps_doubles_and_odd_lengths_are_warned_of(tmp_path: Path) -> None:
    body = ZH * 20
    text = "".join(f"第{n}章 题\n{body}" for n in (1, 2, 2, 5)) + f"第6章 短\n短。\n第7章 长\n{ZH * 1000}"
    warnings = "\n".join(read(tmp_path, text).warnings)
    for expected in ("3-4", "第2章 题", "第6章 短", "第7章 长"):
        assert expected in warnings


def test_a_text_without_headings_is_one_chapter_and_says_so(tmp_path: Path) -> None:
    preview = read(tmp_path, EN, name="draft.txt")
    assert [(c.title, c.text) for c in preview.chapters] == [("draft", EN.strip())]
    assert preview.warnings


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "gb18030"])
def test_chinese_encodings(tmp_path: Path, encoding: str) -> None:
    preview = read(tmp_path, f"第一章 雪夜\n{ZH}", encoding)
    assert preview.chapters[0].text == ZH.strip()
    assert preview.language == "zh"


@pytest.mark.parametrize(
    ("text", "encoding"), [("雪停了。", "gb18030"), ("他來了，她說不。", "big5"), ("她走了", "utf-8")]
)
def test_the_encoding_of_very_short_files(tmp_path: Path, text: str, encoding: str) -> None:
    assert read(tmp_path, text, encoding).chapters[0].text == text


def test_western_quotes_in_a_windows_encoding(tmp_path: Path) -> None:
    assert read(tmp_path, EN, "cp1252").chapters[0].text == EN.strip()


def test_a_damaged_byte_does_not_stop_an_import(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes((f"第一章 雪\n{ZH * 200}").encode("gb18030") + b"\xff\xff")
    assert read_manuscript(file).encoding == "gb18030"


@pytest.mark.parametrize("content", [b"", b" \n\n", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0", bytes(range(256)) * 8])
def test_what_is_no_text_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "picture.txt"
    file.write_bytes(content)
    with pytest.raises(ManuscriptError, match=r"picture\.txt"):
        read_manuscript(file)


@pytest.mark.parametrize("name", ["broken.docx", "broken.epub"])
def test_damaged_documents_are_refused_by_name(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_bytes(b"PK\x03\x04 not really")
    with pytest.raises(ManuscriptError, match=name):
        read_manuscript(file)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.txt", "text")
    with pytest.raises(ManuscriptError, match=name):
        read_manuscript(file)


def test_a_missing_file_and_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(ManuscriptError, match="nowhere"):
        read_manuscript(tmp_path / "nowhere.txt")
    with pytest.raises(ManuscriptError):
        read_manuscript(tmp_path)


def test_control_sequences_do_not_survive(tmp_path: Path) -> None:
    chapter = read(tmp_path, "Chapter 1\n\nred \x1b[31mink\x1b[0m and \u202eflipped").chapters[0]
    assert chapter.text == "red ink and flipped"


def test_a_folder_is_a_chapter_a_file_in_natural_order(tmp_path: Path) -> None:
    for name, text in {
        "第十章.txt": ZH,
        "第二章.txt": ZH,
        "第九章 灯.txt": f"第九章 灯火\n{ZH}",
        ".hidden.txt": ZH,
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    chapters = read_manuscript(tmp_path).chapters
    assert [(c.title, c.number) for c in chapters] == [("第二章", 2), ("第九章 灯火", 9), ("第十章", 10)]
    assert all(c.text == ZH.strip() for c in chapters)


def test_a_table_of_contents_may_have_only_the_numbers(tmp_path: Path) -> None:
    listed = "\n".join(f"第{n}回" for n in "一二三四五六")
    told = "\n\n".join(f"第{n}回　风雪{n}\n\n{'他走了很远的路。' * 30}" for n in "一二三四五六")
    (tmp_path / "book.txt").write_text(f"目录\n{listed}\n\n上卷 山行\n\n{told}\n", encoding="utf-8")
    preview = read_manuscript(tmp_path / "book.txt")
    assert [chapter.title for chapter in preview.chapters] == [f"第{n}回　风雪{n}" for n in "一二三四五六"]
    assert {chapter.volume for chapter in preview.chapters} == {"上卷 山行"}
    assert any("table of contents" in warning for warning in preview.warnings)


def test_chapters_without_text_are_no_table_when_numbers_begin_anew_in_each_volume(tmp_path: Path) -> None:
    first = "".join(f"Chapter {n} Snow {n}\n\n{EN}\n" for n in range(1, 6))
    planned = "".join(f"Chapter {n} Planned {n}\n\n" for n in range(6, 11))
    for second in ("Chapter {n} Thaw {n}", "Chapter {n}"):
        told = "".join(f"{second.format(n=n)}\n\n{EN}\n" for n in range(1, 11))
        preview = read(tmp_path, f"Volume One\n\n{first}{planned}Volume Two\n\n{told}")
        assert [chapter.number for chapter in preview.chapters] == [*range(1, 11)] * 2
        assert [c.title for c in preview.chapters if c.volume == "Volume One"][5:] == [
            f"Chapter {n} Planned {n}" for n in range(6, 11)
        ]
        assert not any("table of contents" in warning for warning in preview.warnings)


def test_chapters_still_to_be_written_are_kept_before_the_next_volume(tmp_path: Path) -> None:
    first = f"第一卷 风起\n第一章 雪\n{ZH}第二章 灯\n{ZH}第三章 待写\n第四章 待写\n第五章 待写\n"
    second = "第二卷 云涌\n" + "".join(f"第{n}章 云{n}\n{ZH}" for n in "一二三四五")
    assert len(read(tmp_path, first + second).chapters) == 10
    planned = "第一卷 风起\n" + "".join(f"第{n}章 待写\n" for n in "一二三四五")
    assert len(read(tmp_path, planned + second).chapters) == 10, "also if nothing of the first volume is written"


def test_a_table_of_volumes_may_have_only_the_numbers(tmp_path: Path) -> None:
    listed = "目录\n" + "".join(f"第{v}卷\n" + "".join(f"第{n}章\n" for n in "一二三") for v in "一二")
    told = "".join(f"第{v}卷 山{v}\n" + "".join(f"第{n}章 雪{n}\n{ZH}" for n in "一二三") for v in "一二")
    chapters = read(tmp_path, f"{listed}\n楔子\n{ZH}{told}").chapters
    assert [(c.volume, c.title) for c in chapters] == [
        ("", "楔子"),
        *((f"第{v}卷 山{v}", f"第{n}章 雪{n}") for v in "一二" for n in "一二三"),
    ]


def test_a_table_may_have_titles_that_stand_only_there(tmp_path: Path) -> None:
    listed = "".join(f"第{n}章 雪{n}......{n}\n" for n in "一二三四")
    told = "".join(f"第{n}章\n{ZH}" for n in "一二三四")
    assert [c.title for c in read(tmp_path, f"目录\n{listed}\n{told}").chapters] == [f"第{n}章" for n in "一二三四"]
