"""Comments in a project: at words of the text, saved or not; exported when asked; purged with the words they quote."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowcabal_tui.domain.comments import CommentFilter
from flowcabal_tui.domain.errors import ManuscriptError, RunError
from flowcabal_tui.protocol.book import AddChapter, ImportManuscript, WriteChapter
from flowcabal_tui.protocol.messages import from_message, to_message
from flowcabal_tui.protocol.revision import AddComment, CommentsChanged, EditComments
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings
from tests.project.case import Case, make_one, opened

TEXT = "The rain stopped.\n\nMara opened the green door and went in.\n\nNobody was there."


@pytest.fixture
async def case(folder: Path):
    async with opened(await make_one(folder, ModelsSettings(user=OFFLINE, agent=OFFLINE))) as case:
        await case.project.carry_out(AddChapter("The Door"))
        await case.project.carry_out(WriteChapter(await case.chapter(1), TEXT))
        yield case


async def test_a_comment_is_at_its_words_and_is_found_by_what_it_says(case: Case) -> None:
    chapter = await case.chapter(1)
    made = AddComment(chapter, "Which green?\x1b[31m", "question", "green door", 3)
    identity = int(await case.project.carry_out(from_message(to_message(made))))
    await case.project.carry_out(AddComment(chapter, "Too short."))
    one, two = await case.project.revision.comments(CommentFilter())
    assert (two.id, TEXT[two.start : two.end], two.words) == (identity, "green door", "Which green?")
    assert (one.quotation, one.lost) == ("", False)
    assert await case.project.revision.comments(CommentFilter(kinds=("question",), words="WHICH")) == (two,)
    await case.project.carry_out(EditComments((two.id,), resolved=True))
    assert await case.project.revision.comments(CommentFilter()) == (one,)
    assert case.told(CommentsChanged)
    for command in (AddComment(chapter, " "), AddComment(chapter, "x", quotation="no such words")):
        with pytest.raises(RunError):
            await case.project.carry_out(command)


async def test_a_comment_on_unsaved_words_gets_its_place_when_they_are_saved(case: Case) -> None:
    chapter = await case.chapter(1)
    typed = f"{TEXT}\n\nA dog barked."
    await case.project.drafts.put(chapter, typed, 1)
    await case.project.carry_out(AddComment(chapter, "Whose?", "idea", "A dog barked.", typed.index("A dog")))
    (comment,) = await case.project.revision.comments(CommentFilter(lost=True))
    await case.project.carry_out(WriteChapter(chapter, typed, settles_draft=True))
    (comment,) = await case.project.revision.comments(CommentFilter())
    assert (comment.lost, typed[comment.start : comment.end]) == (False, "A dog barked.")


async def test_an_export_has_comments_only_when_they_are_asked_for(case: Case, tmp_path: Path) -> None:
    chapter = await case.chapter(1)
    await case.project.carry_out(AddComment(chapter, "Which green?", "question", "green door"))
    plain, noted = tmp_path / "a.md", tmp_path / "b.md"
    await case.project.book.export(plain, "md")
    await case.project.book.export(noted, "md", comments=True)
    assert "Which green?" not in plain.read_text(encoding="utf-8")
    assert "> [question on “green door”] Which green?" in noted.read_text(encoding="utf-8")
    with pytest.raises(ManuscriptError, match=r"c\.epub"):
        await case.project.book.export(tmp_path / "c.epub", "epub", comments=True)


async def test_comments_of_a_docx_are_what_was_exported(case: Case, tmp_path: Path) -> None:
    chapter = await case.chapter(1)
    for words, quotation in (("Which green?", "green door"), ("Slow.", "went in."), ("Good.", "")):
        await case.project.carry_out(AddComment(chapter, words, quotation=quotation))
    file, again = tmp_path / "a.docx", tmp_path / "b.docx"
    await case.project.book.export(file, "docx", comments=True)
    await case.project.book.export(again, "docx", comments=True)
    assert file.read_bytes() == again.read_bytes()
    async with opened(await make_one(tmp_path / "other", ModelsSettings(user=OFFLINE, agent=OFFLINE))) as other:
        await other.project.carry_out(ImportManuscript(str(file)))
        found = await other.project.revision.comments(CommentFilter())
        texts = {
            each.id: await other.project.book.chapter_text(each.id) for each in await other.project.book.chapters()
        }
    said = {each.words: texts[each.chapter][each.start : each.end] for each in found}
    assert said["Which green?"] == "green door" and said["Slow."] == "went in."
    assert said["Good."] == "The rain stopped."
