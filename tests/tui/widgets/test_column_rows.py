"""Rows in columns: alignment, what is cut and left out first, cell widths of Chinese."""

from __future__ import annotations

import pytest
from rich.cells import cell_len
from textual.style import Style
from textual.visual import RenderOptions

from flowcabal_tui.tui.widgets.cells import crop_middle
from flowcabal_tui.tui.widgets.column_rows import Cell, Column, ColumnRow, Columns


def drawn(row: ColumnRow, width: int) -> str:
    options = RenderOptions(lambda style: Style.null(), {})
    (strip,) = row.render_strips(width, None, Style.null(), options)
    return strip.text


def chapters() -> tuple[Columns, list[ColumnRow]]:
    columns = Columns(
        Column("", is_number=True),
        Column("title", fill=True, least=6),
        Column("words", is_number=True, rank=1),
        Column("why", rank=2, least=8),
    )
    rows = [
        columns.row("9", "The Thursday Boat", "700", "always in the prompt"),
        columns.row("10", "雨夜的渡口", "12,034", "本章大纲里提到"),
    ]
    return columns, rows


def test_numbers_stand_below_numbers_in_both_languages() -> None:
    _columns, rows = chapters()
    assert [drawn(row, 60) for row in rows] == [
        " 9 The Thursday Boat                700 always in the prompt",
        "10 雨夜的渡口                    12,034 本章大纲里提到      ",
    ]


@pytest.mark.parametrize(
    ("width", "english", "chinese"),
    [
        (38, " 9 The Thursday Boat    700 always…mpt", "10 雨夜的渡口        12,034 本章大…到 "),
        (28, " 9 The Thur…    700 alway…pt", "10 雨夜的渡… 12,034 本章…到 "),
        (20, " 9 The Thurs…    700", "10 雨夜的渡口 12,034"),
    ],
)
def test_what_matters_least_is_cut_in_its_middle_and_then_left_out(width: int, english: str, chinese: str) -> None:
    _columns, rows = chapters()
    assert [drawn(row, width) for row in rows] == [english, chinese]


@pytest.mark.parametrize("width", range(12, 70))
def test_no_row_is_wider_than_the_list(width: int) -> None:
    _columns, rows = chapters()
    for row in rows:
        assert cell_len(drawn(row, width)) <= width


def test_a_column_is_as_wide_as_a_row_that_is_added_later() -> None:
    columns, rows = chapters()
    before = drawn(rows[0], 60)
    columns.row("1000", "x", "1,000,000", "y")
    assert drawn(rows[0], 60) != before
    assert drawn(rows[0], 60).startswith("   9 ")


def test_a_row_is_found_by_all_its_words() -> None:
    _columns, rows = chapters()
    assert str(rows[0]) == "9 The Thursday Boat 700 always in the prompt"


def test_heads_have_the_widths_of_their_columns() -> None:
    columns, rows = chapters()
    assert drawn(columns.head(), 60).index("words") + len("words") == drawn(rows[0], 60).index("700") + len("700")


def test_a_cell_can_have_a_role_of_its_own() -> None:
    seen: list[str] = []

    def noted(style: str | Style) -> Style:
        seen.append(str(style))
        return Style.null()

    columns = Columns(Column(), Column())
    row = columns.row(Cell("failed", "failed", is_bold=True), "words")
    row.render_strips(20, None, Style.null(), RenderOptions(noted, {}))
    assert any("$role-failed" in style for style in seen)


@pytest.mark.parametrize(
    ("text", "cells", "cut"),
    [
        ("The House on Cooper's Hard", 12, "The Hous…ard"),
        ("雨夜的渡口与旧船票", 11, "雨夜的渡…票"),
        ("short", 12, "short"),
        ("narrow", 4, "nar…"),
    ],
)
def test_words_are_cut_in_the_middle_by_cell_width(text: str, cells: int, cut: str) -> None:
    assert crop_middle(text, cells) == cut
    assert cell_len(crop_middle(text, cells)) <= cells
