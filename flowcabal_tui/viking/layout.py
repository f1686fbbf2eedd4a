"""Where everything of a book stands in OpenViking's tree, and how a chapter is cut into scenes. Pure."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Final, Literal

from flowcabal_tui.domain.manuscript import Chapter, Span
from flowcabal_tui.domain.text import digest, slug

RESOURCES: Final = "viking://resources"
L0_FILE: Final = ".abstract.md"
L1_FILE: Final = ".overview.md"
L1_PLAIN_FILE: Final = "overview.md"

ResourceKind = Literal[
    "meta",
    "entities/characters",
    "entities/locations",
    "entities/plot-threads",
    "entities/items",
    "entities/organisations",
    "summaries",
    "profiles/characters",
    "profiles/plot-threads",
    "profiles/world-state",
    "profiles/themes",
    "profiles/style",
]

_SCENE_SIZES: Final = {"zh": (800, 1_500), "en": (3_000, 5_000)}
_ATOM: Final = re.compile(r"\n+|[^\n]+?(?:[。！？…!?.]+[”’」』》）)\"']*[ \t\u3000]*|(?=\n)|\Z)")


def named(name: str, identity: str) -> str:
    """One part of a path: readable by its name, unique by its identity."""
    return f"{slug(name)}-{digest(identity)[:8]}"


def project_uri(project: str, name: str) -> str:
    """The root of a book's tree; every other path is relative to it."""
    return f"{RESOURCES}/{named(name, project)}"


def chapter_path(chapter: Chapter) -> str:
    """`manuscript/<arc>/<chapter>`; moves when the title or the volume changes, not with the position."""
    return f"manuscript/{slug(chapter.volume, fallback='main')}/{named(chapter.title, chapter.id)}"


def resource_path(kind: ResourceKind, name: str, identity: str) -> str:
    """The directory of anything but a chapter."""
    return f"{kind}/{named(name, identity)}"


def scene_file(index: int) -> str:
    """The file of the scene at `index`, from 0."""
    return f"scene-{index + 1:03d}.md"


def scene_index(file: str) -> int:
    """The index that `scene_file` was given."""
    return int(file.removeprefix("scene-").removesuffix(".md")) - 1


def workspace_name(project: str, folder: Path, model: str, dimension: int) -> str:
    """A cache folder's name: one for every project, place and embedder, since vectors cannot be mixed."""
    return digest("\n".join((project, str(folder), model, str(dimension))))[:16]


def scenes(text: str, language: str) -> tuple[Span, ...]:
    """Cuts `text` into pieces of 800-1,500 characters (3,000-5,000 unless Chinese), without gaps.

    A piece ends with a paragraph where it can, with a sentence in a paragraph that is too long, and
    anywhere in a sentence that is. Only a whole text, or the halves of its end, may be shorter.
    """
    return pieces(text, *_SCENE_SIZES["zh" if language.startswith("zh") else "en"])


def pieces(text: str, least: int, most: int) -> tuple[Span, ...]:
    """Cuts `text` like `scenes`, into pieces of `least` to `most` characters."""
    cuts = _cuts(_ends(text), least, most, text)
    return tuple(Span(start, end) for start, end in pairwise((0, *cuts)))


def _ends(text: str) -> list[int]:
    """The offsets where a cut would not break a sentence."""
    ends: list[int] = []
    for atom in _ATOM.finditer(text):
        if text.startswith("\n", atom.start()) and ends:
            ends[-1] = atom.end()  # line ends belong to what they end
        else:
            ends.append(atom.end())
    return ends


def _cuts(ends: list[int], least: int, most: int, text: str) -> list[int]:
    cuts, start, previous = [], 0, 0
    for end in ends:
        while end - start > most:
            start = previous if previous > start else start + most
            cuts.append(start)
        if end - start >= least and text.endswith("\n", start, end):
            cuts.append(end)
            start = end
        previous = end
    if len(text) > start:
        cuts.append(len(text))
    return _with_balanced_end(cuts, ends, least, most)


def _with_balanced_end(cuts: list[int], ends: list[int], least: int, most: int) -> list[int]:
    """Joins a short last piece to the one before it, or shares the two evenly."""
    if len(cuts) < 2 or cuts[-1] - cuts[-2] >= least:
        return cuts
    start, end = (cuts[-3] if len(cuts) > 2 else 0), cuts[-1]
    if end - start <= most:
        return [*cuts[:-2], end]
    middle = min((cut for cut in ends if start < cut < end), key=lambda cut: abs(2 * cut - start - end))
    return [*cuts[:-2], middle, end] if max(middle - start, end - middle) <= most else cuts
