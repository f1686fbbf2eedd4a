"""Comments, locks and ticks of a checklist among what is killed."""

from __future__ import annotations

from typing import Any, Final

from flowcabal_tui.domain.comments import Comment, CommentFilter
from flowcabal_tui.domain.revision import RevisionPass
from flowcabal_tui.project import Project
from flowcabal_tui.protocol.book import WriteChapter
from flowcabal_tui.protocol.revision import AddComment, EditComments, LockChapters, PutPasses, RemoveComments, TickPass

_QUOTED: Final = "The river rose at Saltreach."
_PASS: Final = RevisionPass("pace", "Pace", checklist=("Each scene ends early.", "No two walks."))
_EVERY: Final = CommentFilter(resolved=None)


async def comment(project: Project) -> None:
    """Words on a passage of the second chapter."""
    chapter = (await project.book.chapters())[1].id
    start = (await project.book.chapter_text(chapter)).index(_QUOTED)
    await project.carry_out(AddComment(chapter, "Is it the same river?", "question", _QUOTED, start))


async def commented(project: Project) -> None:
    """Two comments at passages of the second chapter, and one on all of it."""
    await comment(project)
    await comment(project)
    chapter = (await project.book.chapters())[1].id
    await project.carry_out(AddComment(chapter, "Too long."))


async def edit_comments(project: Project) -> None:
    """All of them get other words and are resolved."""
    numbers = tuple(each.id for each in await project.revision.comments(_EVERY))
    await project.carry_out(EditComments(numbers, "It is another river.", "todo", resolved=True))


async def remove_comments(project: Project) -> None:
    """The first and the last one."""
    found = await project.revision.comments(_EVERY)
    await project.carry_out(RemoveComments((found[0].id, found[-1].id)))


async def move_comments(project: Project) -> None:
    """A new version of the chapter, in which the quoted passage comes later."""
    chapter = (await project.book.chapters())[1].id
    await project.carry_out(WriteChapter(chapter, f"It began at dawn.\n\n{await project.book.chapter_text(chapter)}"))


async def lock(project: Project) -> None:
    """The first three chapters."""
    await project.carry_out(LockChapters(tuple(each.id for each in (await project.book.chapters())[:3])))


async def unlock(project: Project) -> None:
    """Two of the chapters that `lock` has locked."""
    two = tuple(each.id for each in (await project.book.chapters())[:2])
    await project.carry_out(LockChapters(two, locked=False))


async def passes(project: Project) -> None:
    """A pass of the writer's own."""
    await project.carry_out(PutPasses((_PASS,)))


async def tick(project: Project) -> None:
    """Both items of the pass for the third chapter."""
    chapter = (await project.book.chapters())[2].id
    await project.carry_out(TickPass(_PASS.id, chapter, _PASS.checklist))


async def state_of_revision(project: Project) -> dict[str, Any]:
    """What a writer sees of comments, locks, passes and their ticks."""
    shown = await project.revision.passes()
    return {
        "comments": [_seen(each) for each in await project.revision.comments(_EVERY)],
        "locks": sorted((each, lock.locked) for each, lock in (await project.revision.locks()).items()),
        "passes": [(each, await _progress(project, each)) for each in shown],
    }


async def _progress(project: Project, of: RevisionPass) -> list[tuple[object, ...]]:
    """The progress chapter by chapter, without ids: those of new chapters are random."""
    found = await project.revision.pass_progress(of.id)
    return [(each.comments, each.done, each.outdated, sorted(each.items)) for each in found.chapters]


def _seen(each: Comment) -> tuple[object, ...]:
    return each.words, each.kind, each.resolved, each.quotation, each.start, each.end, each.lost
