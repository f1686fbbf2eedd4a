"""The beats of scenes: words below smaller headings inside of a chapter's part of the outline (decision 33)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.scenes import ChapterScene

_MARKS: Final = "####"


@dataclass(frozen=True, slots=True)
class SceneBeats:
    """A heading inside of a chapter's part, and the span of the words below it in the part's own words."""

    title: str
    words: str
    span: Span


def scene_beats(body: str) -> tuple[SceneBeats, ...]:
    """The smaller headings of a chapter's words, in order."""
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
    """Scenes with the words of the heading of the same title."""
    known = {each.title.casefold(): each.words for each in reversed(scene_beats(body))}
    return tuple(replace(scene, beats=known.get(scene.title.casefold(), "") if scene.title else "") for scene in scenes)


def written_beats(body: str, title: str, words: str) -> str:
    """A chapter's words in the outline with other words below the heading of a scene, which is added at the end."""
    words = words.strip("\n").rstrip()
    for each in scene_beats(body):
        if each.title.casefold() == title.casefold():
            rest = body[each.span.end :].lstrip("\n")
            return f"{body[: each.span.start]}\n{words}\n{rest}".rstrip("\n")
    return f"{body.rstrip()}\n\n{_MARKS} {title}\n{words}".strip("\n")


def renamed_beats(body: str, title: str, new: str) -> str:
    """A chapter's words in the outline with another heading for a scene; unchanged where it has none."""
    for each in scene_beats(body):
        if each.title.casefold() == title.casefold():
            start = body.rfind("\n", 0, each.span.start) + 1
            head = body[start : each.span.start].replace(each.title, new, 1)
            return f"{body[:start]}{head}{body[each.span.start :]}"
    return body
