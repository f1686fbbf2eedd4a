"""What is killed: one line an operation. Each does all or nothing, however it is cut off; see `kills.py`.

An operation is added by a line in OPERATIONS: how the book is prepared for it, what it does, and how it is gone on with
when it was cut off before it had done anything (None: it is simply done again).
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Final

from flowcabal_tui.domain.comments import Comment
from flowcabal_tui.domain.findings import FindingFilter
from flowcabal_tui.domain.ids import ChapterId, EntityId, NodeId, OutputId, RunId
from flowcabal_tui.domain.impact import ChapterChanged, Rename
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.proposals import ProposalId
from flowcabal_tui.domain.run import Decision, RunRequest
from flowcabal_tui.project import Project
from flowcabal_tui.protocol.book import (
    AddChapter,
    DeleteOutput,
    EditChapter,
    ImportManuscript,
    MergeChapters,
    PersistOutput,
    ReplaceText,
    RevertChange,
    SplitChapter,
    WriteChapter,
    WriteMeta,
)
from flowcabal_tui.protocol.findings import ChangeFromHere, CheckChapters, DecideFindings
from flowcabal_tui.protocol.memory import Purge
from flowcabal_tui.protocol.runs import Decide, ResumeRun, RunWorkflow
from flowcabal_tui.protocol.story import ApplyImpact, AskPatches, PutEntity, UndoDecision
from tests.bench import kill_candidates as candidates
from tests.bench import kill_revision as revision

Act = Callable[[Project], Awaitable[None]]
WORKFLOW: Final = "chapter"
SECRET: Final = "Zyxwold the ferryman counted quixotically beneath the oxbowed moon and hid the vexillary flag."
"""The words that are purged: no file of the project may hold them afterwards."""
OUTSIDE: Final = "An editor wrote this over the second chapter. Ines Marlow would not have liked it."
DEATH: Final = "The river fell at last.\n\nInes Marlow died in the night, and nobody came to the house before noon."
ACTS: Final = "The rain had stopped.\n\nInes Marlow walked to the window and looked at the river for a long time."
AGED: Final = "Ines Marlow was thirty-four years old, and her eyes were grey."
YOUNG: Final = "Ines Marlow was young, and her eyes were grey."
_CHAPTERS: Final = 4
_IMPORTED: Final = 6
_PATIENCE: Final = 60.0
_POLL: Final = 0.01


@dataclass(frozen=True, slots=True)
class Operation:
    """`prepare` and `act` get an open project; `again` goes on with what a kill left of `act`."""

    name: str
    act: Act
    prepare: Act | None = None
    again: Act | None = None


def text(number: int, version: int = 1) -> str:
    """A chapter of some pages that says which it is."""
    lines = (
        f"Ines Marlow counted part {part} of {number}. {'The river rose at Saltreach. ' * 8}" for part in range(12)
    )
    return "\n\n".join((f"Version {version} of chapter {number} began.", *lines))


async def book(project: Project) -> None:
    """The book that every operation begins with."""
    for number in range(1, _CHAPTERS + 1):
        chapter = ChapterId(await project.carry_out(AddChapter(f"Title {number}")))
        for version in (1, 2):
            await project.carry_out(WriteChapter(chapter, text(number, version)))
    await project.memory.settled()


async def _chapter(project: Project, number: int) -> ChapterId:
    return (await project.book.chapters())[number - 1].id


async def _save(project: Project) -> None:
    await project.carry_out(WriteChapter(await _chapter(project, 2), text(2, 3)))


async def _import(project: Project) -> None:
    folder = project.info.path.parent / "texts"
    folder.mkdir(exist_ok=True)
    for number in range(_CHAPTERS + 1, _CHAPTERS + _IMPORTED + 1):
        (folder / f"{number:02}.txt").write_text(f"Chapter {number} Imported\n\n{text(number)}\n", encoding="utf-8")
    await project.carry_out(ImportManuscript(str(folder)))


async def _new_chapter(project: Project) -> None:
    await project.carry_out(AddChapter("To Be Written"))


async def _run(project: Project) -> None:
    """Begins the run of the last chapter or goes on with it, and approves whatever it asks."""
    runs = await project.runs.summaries()
    if not runs:
        await project.carry_out(RunWorkflow(RunRequest(WORKFLOW, (await project.book.chapters())[-1].id)))
    elif runs[0].state == "interrupted":
        await project.carry_out(ResumeRun(runs[0].id))
    async with asyncio.timeout(_PATIENCE):
        while (run := (await project.runs.summaries())[0]).state not in ("done", "failed", "cancelled"):
            for question in await project.runs.questions():
                await project.carry_out(Decide(question.id, Decision("approve", max(question.attempts))))
            await asyncio.sleep(_POLL)
    if run.state != "done":
        raise RuntimeError(f"the run ended as {run.state}: {run.error}")


async def _ran(project: Project) -> None:
    await _new_chapter(project)
    await _run(project)


async def _keep(project: Project) -> None:
    run = RunId((await project.runs.summaries())[0].id)
    await project.carry_out(PersistOutput(run, NodeId("polish")))


async def _kept(project: Project) -> None:
    await _ran(project)
    await _keep(project)


async def _drafts(project: Project) -> None:
    await _ran(project)
    await candidates.write_two_more(project)


async def _chosen(project: Project) -> None:
    await _drafts(project)
    await candidates.choose(project)


async def _together(project: Project) -> None:
    await _drafts(project)
    await candidates.put_together(project)


async def _output(project: Project) -> OutputId:
    return (await project.book.kept())[0].id


async def _replace(project: Project) -> None:
    found = [one.place for one in await project.book.occurrences("Saltreach")]
    await project.carry_out(ReplaceText("Saltreach", "Northmere", tuple(found)))


async def _rename(project: Project) -> None:
    change = Rename("Saltreach", "Northmere")
    found = await project.story.impact(change)
    await project.carry_out(ApplyImpact(change, found.digest))


async def _name_place(project: Project) -> None:
    await project.carry_out(PutEntity(Entity(EntityId("saltreach"), "location", "Saltreach")))
    await project.carry_out(WriteMeta("outline", "# Saltreach\n\nThe river rises at Saltreach.\n"))


async def _renamed(project: Project) -> None:
    await _name_place(project)
    await _rename(project)


async def _patched(project: Project) -> None:
    """A statement of the second chapter that the third repeats is gone, and the model has proposed other words."""
    ines = Entity(EntityId("ines"), "character", "Ines Marlow", ("Ines",))
    await project.carry_out(PutEntity(ines))
    for number, told in ((2, f"It rained. {AGED}"), (3, f"The rain had stopped. {AGED}"), (2, f"It rained. {YOUNG}")):
        await project.carry_out(WriteChapter(await _chapter(project, number), told))
    await project.carry_out(AskPatches(ChapterChanged(await _chapter(project, 2))))
    await project.memory.settled()


async def _apply_patches(project: Project) -> None:
    found = await project.story.impact(ChapterChanged(await _chapter(project, 2)))
    taken = tuple(row.proposal.id for row in found.rows if row.is_by_model)
    if not taken:
        raise RuntimeError("the model has proposed nothing")
    await project.carry_out(ApplyImpact(found.change, found.digest, take=taken))


async def _patches_applied(project: Project) -> None:
    await _patched(project)
    await _apply_patches(project)


async def _undo(project: Project) -> None:
    await project.carry_out(UndoDecision())


async def _split(project: Project) -> None:
    chapter = (await project.book.chapters())[1]
    at = (await project.book.chapter_text(chapter.id)).index("Ines Marlow counted part 6")
    await project.carry_out(SplitChapter(chapter.id, at, "The Second Half", chapter.version))


async def _merge(project: Project) -> None:
    await project.carry_out(MergeChapters(await _chapter(project, 2), await _chapter(project, 3)))


async def _restore(project: Project) -> None:
    chapter = await _chapter(project, 2)
    await project.carry_out(WriteChapter(chapter, await project.book.chapter_text(chapter, 1), note="version 1 again"))


async def _delete(project: Project) -> None:
    await project.carry_out(EditChapter(await _chapter(project, 2), deleted=True))


async def _undelete(project: Project) -> None:
    await project.carry_out(EditChapter((await project.book.deleted_chapters())[0].id, deleted=False))


async def _revert(project: Project) -> None:
    change = await project.book.last_change()
    if change is None:
        raise RuntimeError("there is nothing to undo")
    await project.carry_out(RevertChange(change.generation))


async def _take_out(project: Project) -> None:
    await project.carry_out(DeleteOutput(await _output(project)))


async def _edit_outside(project: Project) -> None:
    """Another program writes the file, while the project is closed to it."""
    (path,) = (project.info.path / "manuscript").glob("0002-*")
    path.write_text(f"# Title 2\n\n{OUTSIDE}\n", encoding="utf-8")


async def _take_outside(project: Project) -> None:
    chapter = await _chapter(project, 2)
    async with asyncio.timeout(_PATIENCE):
        while await project.book.outside_text(chapter) is None:  # noqa: ASYNC110  # the feed is polled
            await asyncio.sleep(_POLL)
    await project.carry_out(WriteChapter(chapter, OUTSIDE))


async def _add_secret(project: Project) -> None:
    chapter = ChapterId(await project.carry_out(AddChapter("The Flag")))
    await project.carry_out(WriteChapter(chapter, SECRET))
    await project.memory.settled()


async def _purge(project: Project) -> None:
    await project.carry_out(Purge(chapter=(await project.book.chapters())[-1].id))


async def _delete_secret(project: Project) -> None:
    await _add_secret(project)
    await project.carry_out(EditChapter((await project.book.chapters())[-1].id, deleted=True))


async def _purge_deleted(project: Project) -> None:
    await project.carry_out(Purge(chapter=(await project.book.deleted_chapters())[0].id))


async def _contradicted(project: Project) -> None:
    """Two chapters at the end of which the second contradicts the first in a way that a rule finds."""
    for title, told in (("The Death", DEATH), ("The Window", ACTS)):
        await project.carry_out(WriteChapter(ChapterId(await project.carry_out(AddChapter(title))), told))
    await project.memory.settled()


async def _unchecked(project: Project) -> None:
    """As `_contradicted`, but nothing was checked or answered yet: the book's own checks follow each save."""
    await _contradicted(project)
    with closing(sqlite3.connect(project.info.path / ".flowcabal" / "project.db")) as database, database:
        for table in ("proposal", "checked", "result"):
            database.execute(f"DELETE FROM {table}")


async def _check(project: Project) -> None:
    await project.carry_out(CheckChapters(model=True))


async def _checked(project: Project) -> None:
    await _contradicted(project)
    await _check(project)


async def _finding(project: Project) -> ProposalId:
    page = await project.findings.findings(FindingFilter(folded=True))
    return next(row.proposal.id for row in page.rows if row.proposal.origin.maker == "dead-acts")


async def _change(project: Project) -> None:
    await project.carry_out(ChangeFromHere(await _finding(project)))


async def _changed(project: Project) -> None:
    await _checked(project)
    await _change(project)


async def _intend(project: Project) -> None:
    await project.carry_out(DecideFindings((await _finding(project),), "intended", "It is her ghost."))


async def _noted(project: Project) -> None:
    """As `_checked`, with a note of a reader on the last chapter."""
    await _checked(project)
    chapter = (await project.book.chapters())[-1].id
    note = Comment(chapter, "Is she not dead?", "question", "Ines Marlow", ACTS.index("Ines"), 0, "Anna")
    await project._engine.call(project._parts.store.comments.add(replace(note, end=note.start + len(note.quotation))))


async def _note(project: Project) -> ProposalId:
    page = await project.findings.findings(FindingFilter(states=(), folded=True, notes=True))
    return next(row.proposal.id for row in page.rows if row.proposal.origin.by == "reader")


async def _decide_note(project: Project) -> None:
    """One word on the note and on the finding that says the same."""
    both = (await _note(project), await _finding(project))
    await project.carry_out(DecideFindings(both, "intended", "It is her ghost."))


async def _change_by_note(project: Project) -> None:
    await project.carry_out(ChangeFromHere(await _note(project)))


async def _changed_by_note(project: Project) -> None:
    await _noted(project)
    await _change_by_note(project)


async def _mend(project: Project) -> None:
    chapter = (await project.book.chapters())[-1].id
    await project.carry_out(WriteChapter(chapter, ACTS.replace("Ines Marlow", "Her sister")))


OPERATIONS: Final[tuple[Operation, ...]] = (
    Operation("save", _save),
    Operation("import", _import),
    Operation("run", _run, prepare=_new_chapter, again=_run),
    Operation("keep", _keep, prepare=_ran),
    Operation("choose", candidates.choose, prepare=_drafts),
    Operation("put together", candidates.put_together, prepare=_drafts, again=candidates.put_together),
    Operation("sift", candidates.sift, prepare=_drafts, again=candidates.sift),
    Operation("take a choice back", candidates.take_back, prepare=_chosen),
    Operation("take parts back", candidates.take_back, prepare=_together),
    Operation("answer", candidates.answer, prepare=candidates.ask, again=candidates.answer),
    Operation("take an answer back", candidates.take_back, prepare=candidates.answered),
    Operation("comment", revision.comment),
    Operation("edit comments", revision.edit_comments, prepare=revision.commented),
    Operation("remove comments", revision.remove_comments, prepare=revision.commented),
    Operation("move comments", revision.move_comments, prepare=revision.commented),
    Operation("lock", revision.lock),
    Operation("unlock", revision.unlock, prepare=revision.lock),
    Operation("passes", revision.passes),
    Operation("tick", revision.tick, prepare=revision.passes),
    Operation("take out", _take_out, prepare=_kept),
    Operation("replace", _replace),
    Operation("rename", _rename, prepare=_name_place),
    Operation("undo rename", _undo, prepare=_renamed),
    Operation("apply patches", _apply_patches, prepare=_patched),
    Operation("undo patches", _undo, prepare=_patches_applied),
    Operation("split", _split),
    Operation("merge", _merge),
    Operation("restore", _restore),
    Operation("delete", _delete),
    Operation("undo of a replacement", _revert, prepare=_replace),
    Operation("undo of a merge", _revert, prepare=_merge),
    Operation("undelete", _undelete, prepare=_delete),
    Operation("outside edit", _take_outside, prepare=_edit_outside),
    Operation("check", _check, prepare=_unchecked, again=_check),
    Operation("change", _change, prepare=_checked),
    Operation("intend", _intend, prepare=_checked),
    Operation("mend", _mend, prepare=_checked),
    Operation("word on a note", _decide_note, prepare=_noted),
    Operation("fact of a note", _change_by_note, prepare=_noted),
    Operation("undo of a note", _undo, prepare=_changed_by_note),
    Operation("undo", _undo, prepare=_changed),
    Operation("purge", _purge, prepare=_add_secret),
    Operation("purge deleted", _purge_deleted, prepare=_delete_secret),
)


async def _two_steps(project: Project) -> None:
    for number in (1, 2):
        await project.carry_out(WriteChapter(await _chapter(project, number), text(number, 3)))


TWO_STEPS: Final = Operation("two steps", _two_steps)
"""No operation of the program: two saves, between which a kill leaves half. It shows that the harness sees that."""
