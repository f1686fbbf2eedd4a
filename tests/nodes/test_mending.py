"""An answer with single paragraphs changes these and nothing else, or it is not used at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowcabal_tui.domain.run import CheckFinding, Quotation
from flowcabal_tui.nodes.mending import any_paragraph, concerned, mended, paragraphs

TEXT = (
    "　　Mara climbed the tower before dawn.\n\n"
    "　　The lamp was red when she reached it.\n\n"
    "　　Below her the boats came in one by one.\n\n"
    "　　She wrote three names in the book and went down.\n"
)


def found(*words: str, text: str = TEXT) -> list[CheckFinding]:
    source = Quotation("The lamp was green.", "manuscript/001", 0, 19)
    places = [(word, text.index(word)) for word in words]
    drafts = [Quotation(word, "draft/a", start, start + len(word)) for word, start in places]
    return [CheckFinding("world_rules", "", "", draft, source, 0.9) for draft in drafts]


def answer(*changed: tuple[int, str]) -> str:
    return "\n".join(f'<paragraph n="{n}">\n{text}\n</paragraph>' for n, text in changed)


def test_a_finding_names_its_paragraph():
    assert concerned(TEXT, found("The lamp was red")) == (2,)
    longer = TEXT + "\n　　The harbour was full by noon, and nobody asked about the light.\n" * 3
    assert concerned(longer, found("three names", "The lamp")) == (2, 4)
    assert concerned(longer, found("it.\n\n　　Below")) == (2, 3)


def test_what_concerns_most_of_a_text_or_a_short_one_is_no_mend():
    assert concerned(TEXT, found("Mara", "lamp", "boats")) == ()
    short = "One.\n\nThe lamp was red.\n\nA third paragraph that is longer than the others."
    assert concerned(short, found("The lamp", text=short)) == ()


def test_a_quotation_that_is_not_at_its_place_is_no_mend():
    assert concerned(TEXT + "x", found("The lamp was red", text="x" + TEXT)) == ()


def test_only_the_paragraph_is_changed_and_its_indent_stays():
    done = mended(TEXT, answer((2, "The lamp was green when she reached it.")), (2,))
    assert done == TEXT.replace("red", "green")


def test_words_around_the_paragraphs_are_left_out():
    told = "Here it is:\n```\n" + answer((2, "The lamp was green when she reached it.")) + "\n```"
    assert mended(TEXT, told, (2,)) == TEXT.replace("red", "green")


@pytest.mark.parametrize(
    "told",
    [
        "",
        "The lamp was green when she reached it.",
        TEXT.replace("red", "green"),
        answer((3, "The lamp was green when she reached it.")),
        answer((9, "The lamp was green when she reached it.")),
        answer((2, "The lamp was green."), (2, "The lamp was blue.")),
        answer((2, " ")),
        answer((2, "The lamp was green."))[:-5],
        '<paragraph n="2">a <paragraph n="4">b</paragraph> c</paragraph>',
        '<paragraph n="2">The lamp was green.</paragraph></paragraph>',
        "</paragraph>The lamp<paragraph n=2>",
        '<paragraph n="two">The lamp was green when she reached it.</paragraph>',
        answer((2, "The lamp was green.")) + "\n" + TEXT.replace("red", "green") * 2,
        answer((2, TEXT * 4)),
        answer((2, "Below her the boats came in, one by one.")),
    ],
)
def test_an_answer_that_cannot_be_placed_is_not_used(told):
    assert mended(TEXT, told, (2, 4)) is None


def test_a_note_may_concern_any_paragraph():
    assert any_paragraph(TEXT) == (1, 2, 3, 4)
    assert any_paragraph("one\ntwo") == () and any_paragraph("line\n" * 200) == ()


PIECES = st.sampled_from(['<paragraph n="2">', '<paragraph n="4">', "</paragraph>", "The lamp", "\n", "她", "<", '"'])


@given(st.lists(PIECES, max_size=12).map("".join))
def test_whatever_comes_the_other_paragraphs_stay(told):
    done = mended(TEXT, told, (2, 4))
    if done is not None:
        before, _second, between, *_ = TEXT.split("\n\n")
        assert done.startswith(before + "\n\n") and between in done
        assert len(paragraphs(done)) >= len(paragraphs(TEXT))
