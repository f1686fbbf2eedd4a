"""Chapters in the layout of a platform, and the report of what it may refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowcabal_tui.domain.errors import SettingsError
from flowcabal_tui.domain.manuscript import ImportedChapter
from flowcabal_tui.locale import use_language
from flowcabal_tui.manuscript.platforms import laid_out, load_platforms

CHAPTER = ImportedChapter("第三章 渡口", '她说:"走吧,雨停了..."\n\n*** 灯 ***\n\n「好」--他说。')


def test_a_chapter_gets_the_marks_breaks_title_and_indent_of_the_platform():
    known = load_platforms()
    assert laid_out(known["qidian"], [CHAPTER]).text == (
        "第三章 渡口\n　　她说：“走吧，雨停了……”\n※\n　　“好”——他说。\n"
    )
    assert laid_out(known["fanqie"], [CHAPTER]).text.startswith("渡口\n她说：")
    english = ImportedChapter("Chapter 1: Rain", "One.\n\n---\n\nTwo.")
    assert laid_out(known["royal-road"], [english]).text == "One.\n\n***\n\nTwo.\n"


def test_a_mark_behind_an_ellipsis_or_a_straight_quote_becomes_full_width():
    chapter = ImportedChapter("第三章 渡口", '他走了...!她说"好"?他点头(很慢)。')
    assert laid_out(load_platforms()["qidian"], [chapter]).text.endswith("　　他走了……！她说“好”？他点头（很慢）。\n")


def test_the_report_names_chapters_and_blocks_nothing():
    odd = ImportedChapter("第三章 渡口", '（）他说"。' + "长" * 301)
    export = laid_out(load_platforms()["qidian"], [CHAPTER, odd])
    told = "\n".join(export.report)
    assert export.chapters == 2 and export.text
    for words in ("shorter than 1,000", "the same title twice", "a paragraph longer than 300", "empty brackets",
                  "unpaired straight quotes", "as known on 2026-11-21"):  # fmt: skip
        assert words in told


def test_the_users_profile_replaces_ours_and_a_wrong_one_is_named(tmp_path: Path):
    (tmp_path / "qidian.toml").write_text('name = "Mine"\nlanguage = "zh"\nknown = "2027-01-01"\n', encoding="utf-8")
    assert load_platforms(tmp_path)["qidian"].name == "Mine"
    (tmp_path / "mine.toml").write_text(
        'name = "X"\nlanguage = "zh"\nknown = "2027"\nleast = "many"\n', encoding="utf-8"
    )
    with pytest.raises(SettingsError, match=r"mine\.toml"):
        load_platforms(tmp_path)
    (tmp_path / "mine.toml").write_text("x=" + "[" * 5_000, encoding="utf-8")
    with pytest.raises(SettingsError, match=r"mine\.toml"):
        load_platforms(tmp_path)


def test_a_report_in_chinese_has_full_width_marks():
    use_language("zh_CN")
    try:
        said = laid_out(load_platforms()["qidian"], [CHAPTER]).report
    finally:
        use_language("en")
    assert (
        not any(": " in line or " (" in line for line in said)
        and "起点中文网：1 章，" in said[-1]
        and " 字（" in said[-1]
    )
