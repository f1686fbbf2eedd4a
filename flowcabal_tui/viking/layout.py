"""Places of a book's texts in OpenViking's tree, and the division of a chapter into scenes. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Final

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter, Span
from flowcabal_tui.domain.memory import Level
from flowcabal_tui.domain.text import NOT_SHORT, digest, slug

RESOURCES: Final = "viking://resources"
L0_FILE: Final = ".abstract.md"
L1_FILE: Final = ".overview.md"
L1_PLAIN_FILE: Final = "overview.md"

_LEVEL_OF_FILE: Final[Mapping[str, Level]] = {L0_FILE: "L0", L1_FILE: "L1", L1_PLAIN_FILE: "L1"}

VERSION: Final = 2
"""The version of the tree's form: trees of another version are written again."""

_SCENE_SIZES: Final = {"zh": (800, 1_500), "en": (3_000, 5_000)}
_ATOM: Final = re.compile(
    rf"\n+|[^\n]+?(?:(?:[。！？…!?]|(?=\.){NOT_SHORT}\.)+[”’」』》）)\"']*[ \t\u3000]*|(?=\n)|\Z)"
)


def named(name: str, identity: str) -> str:
    """One part of a path: readable by its name, unique by its identity."""
    return f"{slug(name)}-{digest(identity)[:8]}"


def project_uri(project: str, name: str) -> str:
    """The root of a book's tree; every other path is relative to it."""
    return f"{RESOURCES}/{named(name, project)}"


def chapter_path(chapter: Chapter) -> str:
    """`manuscript/<arc>/<chapter>`; moves when the title or the volume changes, not with the position."""
    return f"manuscript/{slug(chapter.volume, fallback='main')}/{named(chapter.title, chapter.id)}"


def chapter_subject(chapter: ChapterId) -> str:
    """The subject of a chapter, independent of its place."""
    return f"manuscript/{chapter}"


def resource_path(uri: str, name: str) -> str:
    """The directory of anything but a chapter: that of its uri, its last part readable by `name`."""
    *folders, identity = uri.split("/")
    return "/".join((*map(slug, folders), named(name, identity)))


def tags(path: str, subject: str, language: str) -> tuple[str, ...]:
    """The tags of all files of a directory, as `key=value`, by which a search can be limited to a part of the book.

    They depend on the place alone, so that they can be restored for a tree that has lost them.
    """
    scope, *folders = path.split("/")[:-1]
    within = (f"folder={'/'.join(folders)}",) if folders else ()
    return (f"scope={scope}", *within, f"subject={subject.replace('=', '-')}", f"language={language}")


def scene_file(index: int) -> str:
    """The file of the scene at `index`, from 0."""
    return f"scene-{index + 1:03d}.md"


def scene_index(file: str) -> int:
    """The index that `scene_file` was given."""
    return int(file.removeprefix("scene-").removesuffix(".md")) - 1


def level_of(file: str) -> Level:
    """The level of a file in a directory of the tree."""
    return _LEVEL_OF_FILE.get(file, "L2")


def workspace_name(project: str, folder: Path, server: str = "") -> str:
    """A cache folder's name: one for every project, place and server elsewhere."""
    return digest("\n".join((project, str(folder), server)))[:16]


def scenes(text: str, language: str) -> tuple[Span, ...]:
    """Cuts `text` into pieces of 800-1,500 characters (3,000-5,000 unless Chinese), without gaps.

    A piece ends with a paragraph where it can, with a sentence in a paragraph that is too long, and anywhere in a
    sentence that is. A piece may be shorter before a sentence that does not fit, and at the end of the text.
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
            ends[-1] = atom.end()  # line ends belong to the line before them
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
    """Joins a short last piece to the one before it, or shares the two evenly where a sentence ends in between."""
    if len(cuts) < 2 or cuts[-1] - cuts[-2] >= least:
        return cuts
    start, end = (cuts[-3] if len(cuts) > 2 else 0), cuts[-1]
    if end - start <= most:
        return [*cuts[:-2], end]
    between = (cut for cut in ends if start < cut < end)
    middle = min(between, key=lambda cut: abs(2 * cut - start - end), default=start)
    return [*cuts[:-2], middle, end] if max(middle - start, end - middle) <= most else cuts
