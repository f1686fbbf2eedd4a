from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from flowcabal_tui.tui.widgets.cells import cell_widths, crop
from flowcabal_tui.tui.widgets.prose_wrap import NEVER_FIRST, NEVER_LAST, wrap
from flowcabal_tui.tui.widgets.wrapped_text import WrappedText

PROSE = st.text(alphabet="雨門她あカ한。，、」「（”“…—aB9 -.\tе\u0301\u200d👩\ufe0f❤\n", max_size=160)
ANY_TEXT = st.text(max_size=80)


def test_a_closing_mark_never_begins_a_row_and_an_opening_bracket_never_ends_one() -> None:
    text = "她推开门，雨正落在院子里。「你怎么来了？」他问（声音很轻），又说：“不走了。”" * 20
    for width in range(8, 60):
        rows = wrap(text, width)
        assert not [row for row in rows[1:] if row[0] in NEVER_FIRST]
        assert not [row for row in rows[:-1] if row[-1] in NEVER_LAST]


def test_a_latin_word_stays_whole_and_spaces_hang() -> None:
    assert wrap("the quick brown fox", 9) == ["the quick ", "brown fox"]


def test_a_dash_of_two_marks_is_not_torn() -> None:
    assert all("——" in row or "—" not in row for row in wrap("他来了——走了" * 9, 12))


def test_a_word_longer_than_the_row_is_cut() -> None:
    assert wrap("a" * 25, 10) == ["a" * 10, "a" * 10, "a" * 5]


@given(PROSE.map(lambda text: text.replace("\n", "")), st.integers(1, 30))
def test_rows_joined_are_the_text_and_fit(text: str, width: int) -> None:
    rows = wrap(text, width)
    assert "".join(rows) == text
    for row in rows:
        cells = sum(cell_widths(row.rstrip(" ")))
        assert cells <= width or sum(1 for cell in cell_widths(row.rstrip(" ")) if cell) == 1


@given(st.lists(PROSE, max_size=8), st.integers(2, 40), st.integers(2, 40))
def test_appending_piece_by_piece_gives_the_rows_of_the_whole(pieces: list[str], width: int, other: int) -> None:
    grown = WrappedText(width)
    for piece in pieces:
        grown.append(piece)
    whole = WrappedText(width)
    whole.append("".join(pieces))
    assert (grown.rows, grown.starts) == (whole.rows, whole.starts)
    assert grown.text == "".join(pieces)
    grown.rewrap(other)
    assert grown.text == "".join(pieces)


@given(ANY_TEXT, st.integers(1, 20))
def test_any_text_survives_wrapping(text: str, width: int) -> None:
    wrapped = WrappedText(width)
    wrapped.append(text)
    assert wrapped.text == text
    for offset, character in enumerate(text):
        row = wrapped.row_of(offset)
        if character != "\n":
            assert wrapped.rows[row][offset - wrapped.starts[row]] == character


@given(st.text(alphabet="雨a\u200d👩\ufe0f❤\u0301", max_size=12))
def test_widths_add_up_to_what_the_terminal_library_measures(text: str) -> None:
    assert sum(cell_widths(text)) == cell_len(text)


@given(ANY_TEXT.filter(lambda text: "\t" not in text), st.integers(0, 20))
def test_a_cropped_text_fits(text: str, cells: int) -> None:
    assert cell_len(crop(text, cells)) <= cells
