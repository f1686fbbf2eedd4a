"""The beats of scenes: the text below smaller headings inside a chapter's part of the outline (decision 33)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.scenes import ChapterScene

_MARKS: Final = "####"


@dataclass(frozen=True, slots=True)
class SceneBeats:
    """A heading inside a chapter's part, and the span of the text below it."""

    title: str
    words: str
    span: Span


def scene_beats(body: str) -> tuple[SceneBeats, ...]:
    """The smaller headings in a chapter's text, in order."""
    heads: list[tuple[str, int, int]] = []
    at = 0
    for line in body.split("\n"):
        if line.startswith("#") and (title := line.strip("# \t")):
            heads.append((title, at, at + len(line)))
        at += len(line) + 1
    ends = [*(start for _title, start, _end in heads), len(body)][1:]
    return tuple(
        SceneBeats(title, body[begins:end].strip("\n").rstrip(), Span(begins, end))
        for (title, _start, begins), end in zip(heads, ends, strict=True)
    )


def with_beats(scenes: Iterable[ChapterScene], body: str) -> tuple[ChapterScene, ...]:
    """Scenes with the text below the heading of the same title."""
    known = {each.title.casefold(): each.words for each in reversed(scene_beats(body))}
    return tuple(replace(scene, beats=known.get(scene.title.casefold(), "") if scene.title else "") for scene in scenes)


def written_beats(body: str, title: str, words: str) -> str:
    """A chapter's text in the outline with the text below a scene's heading replaced; adds a missing heading."""
    words = words.strip("\n").rstrip()
    if found := _beats_of(body, title):
        rest = body[found.span.end :].lstrip("\n")
        return f"{body[: found.span.start]}\n{words}\n{rest}".rstrip("\n")
    return f"{body.rstrip()}\n\n{_MARKS} {title}\n{words}".strip("\n")


def renamed_beats(body: str, title: str, new: str) -> str:
    """A chapter's text in the outline with a scene's heading replaced; unchanged if it has none."""
    if found := _beats_of(body, title):
        start = body.rfind("\n", 0, found.span.start) + 1
        head = body[start : found.span.start].replace(found.title, new, 1)
        return f"{body[:start]}{head}{body[found.span.start :]}"
    return body


def _beats_of(body: str, title: str) -> SceneBeats | None:
    return next((each for each in scene_beats(body) if each.title.casefold() == title.casefold()), None)
