"""The form of a chapter's scene: who, where, when, which kind. Emptied fields are read from the texts again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flowcabal_tui.domain.context import NO_SCENE, Intent, Scene, SceneField
from flowcabal_tui.locale import _
from flowcabal_tui.project.words import SCENE_FIELDS, SCENE_KINDS, SCENE_ORIGINS
from flowcabal_tui.tui.shared.form import Field, FormScreen, Typed, names_of

SceneAnswer = tuple[Scene, tuple[SceneField, ...]]
"""The changed fields, and the fields that are determined from the texts again."""
_BY_RULE = "-"


def scene_notice(answer: SceneAnswer) -> str:
    """The notice after a scene was set; "" if nothing was changed."""
    scene, forget = answer
    if scene != NO_SCENE:
        return _("Kept for the chapter: it takes precedence over rule and model.")
    return _("Reset: it is read from the texts again.") if forget else ""


def scene_form(intent: Intent, names: Sequence[str]) -> FormScreen[SceneAnswer]:
    """Returns only the changed fields: unchanged ones continue to follow the texts."""
    shown = {"who": ", ".join(intent.entities), "where": intent.where, "when": intent.when}

    def read(typed: Typed) -> SceneAnswer:
        values: dict[str, Any] = {}
        forget: list[SceneField] = []
        for field in ("who", "where", "when"):
            words = typed.text(field)
            if words == shown[field]:
                continue
            if not words:
                forget.append(field)
            else:
                values[field] = names_of(words) if field == "who" else words
        kind = typed.text("kind")
        if kind == _BY_RULE:
            forget.append("kind")
        elif kind != intent.scene or intent.origin("kind") == "writer":
            values["kind"] = kind
        return Scene(**values), tuple(forget)

    kinds = ((_BY_RULE, _("according to the text")), *((each, _(words)) for each, words in SCENE_KINDS.items()))
    by = {field: _(SCENE_ORIGINS[intent.origin(field)]) for field in SCENE_FIELDS}
    fields = (
        Field("who", _(SCENE_FIELDS["who"]), shown["who"], by["who"], names=True),
        Field("where", _(SCENE_FIELDS["where"]), shown["where"], by["where"], names=True),
        Field("when", _(SCENE_FIELDS["when"]), shown["when"], by["when"]),
        Field("kind", _(SCENE_FIELDS["kind"]), intent.scene, by["kind"], choices=kinds),
    )
    title = _("The scene of this chapter (an empty field is read from the texts again)")
    return FormScreen(title, fields, read, names)
