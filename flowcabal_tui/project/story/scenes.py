"""The writer's scene of a chapter, validated and merged with the stored one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from flowcabal_tui.domain.context import SCENE_FIELDS, SCENE_KINDS, Scene
from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.protocol.book import SetScene

_MOST_NAMES: Final = 16
_LONGEST: Final = 120


async def set_scene(base: ProjectBase, command: SetScene) -> None:
    """Stores the fields of the scene. Raises UnknownName or RunError; then nothing was changed."""
    known = await base.store.memory.scene((await base.chapter(command.chapter)).id)
    forgotten: dict[str, Any] = dict.fromkeys(set(command.forget) & set(SCENE_FIELDS))
    await base.store.book.write_scene(command.chapter, replace(known, **forgotten, **_checked(command.scene)))


def _checked(scene: Scene) -> dict[str, Any]:
    """The fields that are given, each in one line. Raises RunError."""
    values: dict[str, Any] = {}
    if scene.who is not None:
        values["who"] = tuple(dict.fromkeys(name for each in scene.who if (name := _line(each))))
        if not 0 < len(values["who"]) <= _MOST_NAMES:
            raise RunError(_("Name one to {n} people.").format(n=_MOST_NAMES), _("Nothing was changed."))
    for field, words in (("where", scene.where), ("when", scene.when)):
        if words is not None and (line := _line(words)):
            values[field] = line
    if scene.kind is not None:
        if scene.kind not in SCENE_KINDS:
            raise RunError(
                _("{kind} is not a kind of scene.").format(kind=clean(scene.kind)[:_LONGEST]), _("Nothing was changed.")
            )
        values["kind"] = scene.kind
    return values


def _line(words: str) -> str:
    """The words on one line. Raises RunError when they are too long."""
    line = " ".join(clean(words).split())
    if len(line) > _LONGEST:
        title = _("That is longer than {n} characters: {words}...").format(n=_LONGEST, words=line[:40])
        raise RunError(title, _("Nothing was changed."))
    return line
