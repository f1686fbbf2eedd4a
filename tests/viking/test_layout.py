"""Where things stand in the tree, and how a chapter is cut."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.viking import layout

ZH = ("黛玉进了荣国府，见了贾母。" * 12 + "\n\n") * 30
EN = ("The rain had not stopped since the river. " * 12 + "\n\n") * 60


def pieces(text: str, language: str) -> list[str]:
    return [text[span.start : span.end] for span in layout.scenes(text, language)]


@pytest.mark.parametrize(("text", "language", "least", "most"), [(ZH, "zh", 800, 1500), (EN, "en", 3000, 5000)])
def test_scenes_cover_the_text_and_end_with_paragraphs(text: str, language: str, least: int, most: int) -> None:
    found = pieces(text, language)
    assert "".join(found) == text
    assert all(least <= len(piece) <= most for piece in found)
    assert all(piece.endswith("\n") for piece in found)


def test_a_giant_paragraph_is_cut_after_sentences() -> None:
    found = pieces("他说：“你来了。”她没有答话！" * 400, "zh")
    assert all(piece.endswith(("。”", "！")) and len(piece) <= 1500 for piece in found)


def test_a_text_without_any_stop_is_cut_anyway() -> None:
    assert max(map(len, pieces("字" * 4000, "zh"))) <= 1500


def test_a_short_rest_of_a_sentence_too_long_stays_a_piece_of_its_own() -> None:
    assert [*map(len, pieces("字" * 3200, "zh"))] == [1500, 1500, 200]


def test_an_empty_chapter_has_no_scenes() -> None:
    assert layout.scenes("", "zh") == ()


@given(st.text(alphabet="字a。.!”\n \x00", max_size=6000), st.sampled_from(["zh", "en"]))
def test_nothing_is_lost_or_too_long(text: str, language: str) -> None:
    found = pieces(text, language)
    assert "".join(found) == text
    assert all(0 < len(piece) <= (1500 if language == "zh" else 5000) for piece in found)


def test_names_from_a_model_cannot_leave_the_tree() -> None:
    chapter = Chapter(ChapterId("c1"), 1, "../../etc/passwd?", volume="..")
    path = layout.chapter_path(chapter)
    assert path.startswith("manuscript/main/etc-passwd-")
    assert "?" not in path
    assert ".." not in path


def test_two_chapters_of_one_name_have_two_places_and_the_order_moves_neither() -> None:
    first, second = Chapter(ChapterId("a"), 1, "雨"), Chapter(ChapterId("b"), 2, "雨")
    assert layout.chapter_path(first) != layout.chapter_path(second)
    assert layout.chapter_path(first) == layout.chapter_path(Chapter(ChapterId("a"), 9, "雨"))


def test_another_folder_or_another_server_has_another_workspace() -> None:
    names = {
        layout.workspace_name("p", folder, server) for folder in (Path("/a"), Path("/b")) for server in ("", "http://x")
    }
    assert len(names) == 4


@pytest.mark.parametrize("uri", ["profiles/world-state/era", "summaries/arcs/../../x", "profiles/a new kind/deep/er"])
def test_anything_derived_has_a_place_below_its_root(uri: str) -> None:
    path = layout.resource_path(uri, "名字?")
    assert path.startswith(uri.split("/")[0] + "/")
    assert ".." not in path.split("/") and "?" not in path
    assert path.count("/") == uri.count("/")


def test_no_piece_ends_with_the_full_stop_of_a_title_or_an_initial() -> None:
    text = "He had business with Mr. Ralph Nickleby of Golden Square, and with J. B. Snawley besides. " * 20
    found = [text[span.start : span.end].rstrip() for span in layout.pieces(text, 300, 1_000)]
    assert len(found) > 1 and all(piece.endswith("besides.") for piece in found)
