from __future__ import annotations

from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.project.book.matching import Page, SearchedText, best, fold, places


def page(text: str, title: str = "One") -> Page:
    return Page(SearchedText("text", f"manuscript/{title}", title, text))


def lines(pages: list[Page], query: str) -> list[str]:
    return [hit.line for hit in best(pages, query, 50)[0]]


def test_every_run_of_chinese_characters_is_found_also_a_single_one() -> None:
    pages = [page("雨下了一夜。\n沈月把灯推远了些。")]
    assert lines(pages, "月") == ["沈月把灯推远了些。"]
    assert lines(pages, "了一夜") == ["雨下了一夜。"]
    assert lines(pages, "沈灯") == []


def test_a_latin_word_is_found_by_its_beginning_but_not_from_amid() -> None:
    pages = [page("The harrow lay there.\nHarrowing days.\nA farrow.")]
    assert lines(pages, "harr") == ["Harrowing days.", "The harrow lay there."]
    assert lines(pages, "arrow") == []


def test_letter_case_and_quotation_marks_do_not_matter_and_offsets_are_those_of_the_text() -> None:
    text = "İstanbul was far.\nShe didn’t wave."
    (hit,), count = best([page(text)], "Didn't", 5)
    assert count == 1
    assert text[hit.start : hit.end] == "didn’t"
    assert [hit.line[span.start : span.end] for span in hit.spans] == ["didn’t"]
    assert len(fold(text)) == len(text)


def test_the_whole_query_stands_before_its_words_and_those_with_all_words_alone_count() -> None:
    pages = [page("The hand, and the siege.\nShe lost her left hand.\nHer hand was left there.\nA left turn.")]
    found, count = best(pages, "left hand", 50)
    assert [hit.line for hit in found] == ["She lost her left hand.", "Her hand was left there."]
    assert count == 2
    assert [found[1].line[span.start : span.end] for span in found[1].spans] == ["hand", "left"]


def test_words_that_never_stand_together_are_found_apart() -> None:
    assert lines([page("A bell.\nA boat.")], "bell boat") == ["A bell.", "A boat."]


def test_chinese_that_stands_nowhere_as_typed_is_found_by_most_of_its_pairs() -> None:
    pages = [page("潇湘馆外有千百竿翠竹。\n馆外的竹子。\n潇湘馆里的竹子。")]
    assert lines(pages, "潇湘馆的竹子") == ["潇湘馆里的竹子。"]


def test_the_paragraph_that_says_it_more_often_and_in_fewer_words_is_the_better_one() -> None:
    long = "The bell rang " + "over the wide and empty town " * 5
    assert lines([page(long), page("Bell, bell, bell!", "Two")], "bell")[0] == "Bell, bell, bell!"


def test_of_a_long_paragraph_what_lies_around_the_place_is_shown() -> None:
    text = "风" * 3_000 + "沈月" + "雨" * 3_000
    (hit,), _count = best([page(text)], "沈月", 5)
    assert len(hit.line) < 400
    assert [hit.line[span.start : span.end] for span in hit.spans] == ["沈月"]
    assert text[hit.start : hit.end] == "沈月"


def test_only_so_many_are_given_but_all_are_counted() -> None:
    found, count = best([page("\n".join(["bell"] * 30))], "bell", 7)
    assert (len(found), count) == (7, 30)
    assert [hit.start for hit in found] == [5 * number for number in range(7)], "equal ones in the order of the text"


def test_nothing_is_found_by_nothing() -> None:
    assert best([page("A bell.")], "  ", 5) == ((), 0)
    assert best([], "bell", 5) == ((), 0)


def test_whole_words_end_where_they_end() -> None:
    assert list(places("Mara and Maraschino", "Mara", whole=True)) == [0]
    assert list(places("沈月亮", "沈月", whole=True)) == [0]


def test_a_document_that_tells_of_a_place_opens_there() -> None:
    told = SearchedText("story", "manuscript/one", "One", "lost her hand", cited=Span(7, 19))
    (hit,), _count = best([Page(told)], "hand", 5)
    assert (hit.start, hit.end) == (7, 19)


def test_a_long_paragraph_is_shown_where_the_words_stand_together() -> None:
    text = "黛玉来了。" + "众人都笑。" * 120 + "黛玉荷锄葬花，独自落泪。" + "夜已深了。" * 60
    (hit,), _number = best([page(text)], "黛玉 葬花", 5)
    assert "黛玉荷锄葬花" in hit.line and text[hit.start : hit.end] == "黛玉"
    assert {hit.line[span.start : span.end] for span in hit.spans} == {"黛玉", "葬花"}


def test_a_part_of_a_paragraph_begins_with_a_word() -> None:
    text = "She counted every lantern. " * 20 + "Then the glove fell. " + "She counted every lantern. " * 20
    (hit,), _number = best([page(text)], "glove", 5)
    assert hit.line.strip().split()[0] in ("She", "counted", "every", "lantern.")
