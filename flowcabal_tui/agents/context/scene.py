"""The scene of a chapter (who, where, when, kind): set by the writer, else read by the model, else by rule."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from flowcabal_tui.agents.context.candidates import ContextText
from flowcabal_tui.agents.names.names import NameIndex
from flowcabal_tui.agents.words import alternatives, alternatives_of, word_groups, word_table
from flowcabal_tui.domain.context import SCENE_FIELDS, Scene, SceneField, SceneKind, SceneOrigin
from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.locale import _

_CUES: Final = {cast(SceneKind, kind): alternatives(words) for kind, words in word_table("scene", "cues").items()}
_IN: Final = alternatives_of("scene", "when")
_COUNT_ZH: Final = r"(?<![\d一二两三四五六七八九十百几数半])[\d一二两三四五六七八九十百几数半]{1,8}"
_WHEN: Final = re.compile(
    rf"{_COUNT_ZH}(?:个)?(?:{_IN['units_zh']})(?:{_IN['sides_zh']})"
    rf"|(?:{_IN['days_zh']})(?:的?(?:{_IN['hours_zh']}))?"
    rf"|{_IN['alone_zh']}"
    rf"|\b(?:{_IN['counts_en']})\s+(?:{_IN['units_en']})s?\s+(?:{_IN['sides_en']})\b"
    rf"|\b(?:the\s+)?(?:{_IN['named_en']})\s+(?:{_IN['spans_en']})\b"
    rf"|\b(?:{_IN['beside_en']})\s+(?:{_IN['hours_en']})\b"
    rf"|\b(?:in the|late in the|early in the)\s+(?:{_IN['parts_en']})\b"
    rf"|\bin\s+(?:{_IN['seasons_en']})\b",
    re.IGNORECASE,
)
_PERSONS: Final = ("character", "organisation")
_THINGS: Final = frozenset(
    word
    for language in ("en", "zh")
    for group, words in word_groups(f"kinds.{language}").items()
    if group in ("place", "possession")
    for word in words
)
_WITH_KIND: Final = re.compile(r"(?:the |a |an )?([a-z]+)(?: [A-Z\u00c0-\u00de].*)?")
"""`the ship Prudence`: a word of a kind, then perhaps a name."""
_MOST_BORROWED: Final = 4
_MOST_CAST: Final = 12


@dataclass(frozen=True, slots=True)
class SceneTexts:
    """The texts from which a chapter's scene is read.

    `prompt` is the prompt's own text, `beats` the outline's text for the chapter, `nearby` the last pages before
    it.
    """

    prompt: str
    beats: str = ""
    nearby: str = ""

    @property
    def events(self) -> str:
        """The texts that describe events; the title of the chapter does not."""
        return "\n".join(filter(None, (self.prompt, self.beats)))


@dataclass(frozen=True, slots=True)
class Present:
    """The entities of the scene, most prominent first, with the reason for each; `others` are unknown names."""

    cast: tuple[Entity, ...]
    reasons: Mapping[EntityId, str]
    others: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Those of the cast who are people, then the unknown names."""
        return (*(each.name for each in self.cast if _is_person(each)), *self.others)


def merged(writer: Scene, model: Scene) -> tuple[Scene, tuple[tuple[SceneField, SceneOrigin], ...]]:
    """The scene's values, the writer's before the model's, and the origin of each."""
    values: dict[str, Any] = {}
    by: list[tuple[SceneField, SceneOrigin]] = []
    for field in SCENE_FIELDS:
        for origin, scene in (("writer", writer), ("model", model)):
            if (value := getattr(scene, field)) is not None:
                values[field] = value
                by.append((field, cast(SceneOrigin, origin)))
                break
    return Scene(**values), tuple(by)


def present(
    named: Sequence[Entity], texts: SceneTexts, entities: Sequence[Entity], who: tuple[str, ...] | None, by: SceneOrigin
) -> Present:
    """The people in the scene. `named` are those whom the texts name, most prominent first.

    If the writer set the people, nobody else is added; those of the model precede those named. When the texts name
    fewer than two, those of the last pages join them.
    """
    reasons: dict[EntityId, str] = {}
    if who is not None:
        word = _("in the scene, as you set it") if by == "writer" else _("in the scene, as read by the agents' model")
        chosen = [each for name in who for each in entities if name in each.names]
        reasons |= {each.id: word for each in chosen}
        others = tuple(name for name in who if not any(name in each.names for each in entities))
        if by == "writer":
            return Present(tuple(_distinct(chosen)), reasons, others)
        kinds = {each.own_kind.lower() for each in entities if not _is_person(each)}
        others = tuple(name for name in others if not _names_thing(name, kinds))
    else:
        chosen, others = [], ()
    for each in named:
        reasons.setdefault(each.id, _why_named(each, texts))
    found = _most(_distinct([*chosen, *named]))
    if len(found) < 2:
        near = [each for each in named_in(texts.nearby, entities)[:_MOST_BORROWED] if each not in found]
        reasons |= {each.id: _("in the previous pages") for each in near}
        found += near
    return Present(tuple(found), reasons, others)


def _is_person(entity: Entity) -> bool:
    """True for a character or an organisation, unless its own kind or its name has a word for things."""
    of_things = entity.own_kind.lower() in _THINGS or _names_thing(entity.name)
    return entity.kind in _PERSONS and not of_things


def _names_thing(name: str, kinds: Collection[str] = ()) -> bool:
    """True for a name that is, or begins with, a word for things or one of the `kinds`."""
    with_kind = _WITH_KIND.fullmatch(name)
    word = with_kind[1] if with_kind else name
    return word in _THINGS or word in kinds


def _most(found: list[Entity]) -> list[Entity]:
    """The first entities, in order; if there are too many, people precede places and things."""
    kept = {each.id for each in sorted(found, key=lambda each: each.kind != "character")[:_MOST_CAST]}
    return [each for each in found if each.id in kept]


def place_of(named: Sequence[Entity], texts: SceneTexts, entities: Sequence[Entity]) -> str:
    """The place that the texts name most often, else the last one of the last pages; "" if there is none."""
    places = [each for each in entities if each.kind == "location"]
    if (here := next((each for each in named if each.kind == "location"), None)) is not None:
        return here.name
    hits = NameIndex(places).find(texts.nearby)
    return next((each.name for each in places if hits and each.id == hits[-1].entity), "")


def time_of(text: str) -> str:
    """The first words of a text that give a time; "" if there are none."""
    found = _WHEN.search(text)
    return " ".join(found[0].split()) if found else ""


def kind_of(text: str) -> SceneKind:
    """The kind of scene with most matching words in a text."""
    counts = [(len(re.findall(f"(?<![a-z])(?:{cues})", text, re.IGNORECASE)), kind) for kind, cues in _CUES.items()]
    most = max(count for count, _kind in counts)
    return next(kind for count, kind in counts if count == most) if most else "unknown"


def named_in(text: str, entities: Sequence[Entity]) -> tuple[Entity, ...]:
    """The entities whose names occur in `text`, those named most often first, then by place."""
    hits = NameIndex(entity for entity in entities if any(name in text for name in entity.names)).find(text)
    counts = Counter(hit.entity for hit in hits)
    first = {hit.entity: hit.start for hit in reversed(hits)}
    known = {entity.id: entity for entity in entities}
    return tuple(known[each] for each in sorted(counts, key=lambda each: (-counts[each], first[each])))


def scene_lines(chapter: ChapterId | None, scene: Scene, language: str) -> list[ContextText]:
    """The scene that the writer set for the chapter, as a line; nothing when nothing was set."""
    words = word_table("scene", "zh" if language.startswith("zh") else "en")
    values = {
        "who": words["names"].join(scene.who or ()),
        "where": scene.where or "",
        "when": scene.when or "",
        "kind": words[scene.kind] if scene.kind else "",
    }
    label = words["fields"].join(words[name].format(value) for name, value in values.items() if value)
    if not label:
        return []
    text = words["line"].format(label).rstrip()
    return [
        ContextText(
            f"scenes/{chapter}", "", _("set by you for this chapter"), "L2", "facts", text, line=True, label=label
        )
    ]


def _distinct(entities: Iterable[Entity]) -> list[Entity]:
    return list({each.id: each for each in entities}.values())


def _why_named(entity: Entity, texts: SceneTexts) -> str:
    """The reason for a named entity in the receipt: which text names it."""
    if named_in(texts.prompt, [entity]):
        return _("named in the prompt")
    if named_in(texts.beats, [entity]):
        return _("named in the outline")
    return _("named in the title")
