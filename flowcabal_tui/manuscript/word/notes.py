"""Writes comments of the book as comments of a DOCX, at the commented words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from copy import deepcopy
from datetime import UTC
from typing import Any, Final

from lxml import etree

from flowcabal_tui.domain.comments import COMMENT_KINDS, Comment
from flowcabal_tui.domain.manuscript import ImportedChapter
from flowcabal_tui.domain.text import clean, clean_line
from flowcabal_tui.locale import _
from flowcabal_tui.manuscript.blocks import legal, paragraphs
from flowcabal_tui.manuscript.xml_input import Element

_W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
Place = tuple[int, int]
"""The row of a chapter, and the number of a paragraph in it."""


def by_paragraph(
    chapters: Sequence[ImportedChapter], notes: Mapping[int, Sequence[Comment]]
) -> Mapping[Place, Sequence[Comment]]:
    """Each comment by the paragraph in which its words begin; one without words belongs to the first."""
    found: defaultdict[Place, list[Comment]] = defaultdict(list)
    for row, chapter in enumerate(chapters):
        for note in notes.get(row, ()):
            place = 0 if note.lost else chapter.text.rfind("\n", 0, note.start) + 1
            last = max(0, len(paragraphs(chapter.text)) - 1)
            found[row, min(len(paragraphs(chapter.text[:place])), last)].append(note)
    return found


def put_note(document: Any, paragraph: Element, note: Comment, author: str) -> None:
    """Adds the comment to a paragraph of the document: around its words, or around the whole paragraph."""
    kind = "" if note.kind == "note" else f"[{_(COMMENT_KINDS[note.kind])}] "
    words = legal(kind + clean(note.words))
    made = document.comments.add_comment(text=words, author=legal(clean_line(note.author or author)), initials="")
    if note.at is not None:
        made._comment_elm.set(f"{_W}date", note.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
    number = str(made.comment_id)
    first, last = _around(paragraph, legal(note.quotation.split("\n")[0].strip()))
    first.addprevious(_element("commentRangeStart", number))
    reference = etree.Element(f"{_W}r")
    reference.append(_element("commentReference", number))
    last.addnext(reference)
    last.addnext(_element("commentRangeEnd", number))


def _around(paragraph: Element, words: str) -> tuple[Element, Element]:
    """The first and the last run of these words, which get a run of their own; else of the whole paragraph."""
    runs = [run for run in paragraph.findall(f"{_W}r") if run.find(f"{_W}t") is not None]
    for run in runs:
        texts = run.findall(f"{_W}t")
        text = (texts[0].text or "") if len(texts) == 1 else ""
        if words and words in text:
            before, _words, behind = text.partition(words)
            for piece, put in ((before, run.addprevious), (behind, run.addnext)):
                if piece:
                    other = deepcopy(run)
                    other.find(f"{_W}t").text = piece
                    put(other)
            texts[0].text = words
            return run, run
    return runs[0], runs[-1]


def _element(name: str, number: str) -> Element:
    made = etree.Element(f"{_W}{name}")
    made.set(f"{_W}id", number)
    return made
