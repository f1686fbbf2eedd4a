"""The background work that follows a change of the book."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import BackgroundTask, TaskKind
from flowcabal_tui.store import TaskMaker

AFTER_KEEP: tuple[TaskKind, ...] = ("mirror", "index", "entities", "story", "l1", "l0", "check", "knowledge")
AFTER_IMPORT: tuple[TaskKind, ...] = ("mirror", "index", "l1", "l0", "check", "knowledge")
"""An import spends no money: imported chapters are summarised by rule, from sentences of their own, and checked by
rule."""
AFTER_EDIT: tuple[TaskKind, ...] = tuple(kind for kind in AFTER_KEEP if kind != "check")
"""The steps after a text is edited or taken out, without advice on it: hundreds of chapters are not checked again for
one name."""
AFTER_RENAME: tuple[TaskKind, ...] = ("mirror", "index", "knowledge")
"""The steps after names change; no model reads a chapter again."""


def tasks(kinds: Sequence[TaskKind], subject: str, source: Digest, position: int) -> tuple[BackgroundTask, ...]:
    """New outbox rows; the store assigns their ids. Tasks for the knowledge server carry uris.

    A subject that is not a chapter (`meta/outline`, `entity/<id>`) concerns the knowledge server only.
    """
    uri = subject if "/" in subject else f"manuscript/{subject}"
    return tuple(
        BackgroundTask(0, kind, uri if kind == "knowledge" else subject, source, "waiting", position)
        for kind in kinds
        if kind == "knowledge" or subject != uri
    )


def profile_task(uri: str, chapter: Chapter, source: Digest) -> BackgroundTask:
    """A step that checks a profile as of a chapter; a source with a sample requests a further answer."""
    return BackgroundTask(0, "profile", f"{uri}@{chapter.id}", source, "waiting", chapter.position)


def arc_task(uri: str, source: Digest) -> BackgroundTask:
    """A step that checks an arc or the work; a source with a sample requests a further answer."""
    return BackgroundTask(0, "arc", uri, source, "waiting")


def following(kinds: Sequence[TaskKind]) -> TaskMaker:
    """Returns a maker of the tasks that follow a change: these steps for its subject."""
    return partial(tasks, kinds)
