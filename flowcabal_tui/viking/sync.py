"""Keeps OpenViking's tree like the book: what the background work after a keep calls."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Final, Literal

from flowcabal_tui.domain.ids import ChapterId, Digest
from flowcabal_tui.domain.manuscript import Chapter, Span
from flowcabal_tui.domain.memory import Level
from flowcabal_tui.domain.text import digest
from flowcabal_tui.viking import layout
from flowcabal_tui.viking.client import FileWrite, Found, KnowledgeClient, KnowledgeMissing
from flowcabal_tui.viking.manifest import Manifest, Record

_LEVELS: Final[tuple[Literal[0, 1, 2], ...]] = (0, 1, 2)
_LEVEL_OF_FILE: Final[Mapping[str, Level]] = {
    layout.L0_FILE: "L0",
    layout.L1_FILE: "L1",
    layout.L1_PLAIN_FILE: "L1",
}
_ON_DISK: Final = Path("viking/default/resources")


@dataclass(frozen=True, slots=True)
class KnowledgeHit:
    """Something near in meaning. `uri` is project-relative: a directory (L0, L1) or one of its files (L2).

    `chapter` is set for the manuscript, and then `start` and `end` are the scene's character offsets (L2;
    else -1). `position` is the chapter position that the text is from (0: from none). `score` is 0..1,
    unrelated texts are about 0.5.
    """

    uri: str
    level: Level
    score: float
    position: int
    subject: str
    """The chapter's id, or kind and identity as given to `put_resource`."""
    chapter: ChapterId | None = None
    start: int = -1
    end: int = -1


class KnowledgeSync:
    """One book in one server. `folder` keeps the manifest; for a local server it is the workspace itself,
    so that the two vanish together. Every operation is safe to repeat, and several
    may go on at once: those on one subject wait for each other.

    All raise KnowledgeError when the server is not there or refuses; then nothing is marked as done. A
    directory has an L0 and an L1 of our own, written without OpenViking's summariser. It lets an L1 be
    changed but not created; so, if `workspace` (a local server's files) is given, a placeholder is laid
    there first. Without it (a server elsewhere) the L1 is an ordinary file tagged `layer=L1`, and
    `find` tells it apart by its name.
    """

    def __init__(
        self, client: KnowledgeClient, root: str, folder: Path, language: str, workspace: Path | None = None
    ) -> None:
        self._client, self._root, self._language, self._workspace = client, root, language, workspace
        self._manifest = Manifest(folder / "manifest.jsonl")
        self._writing: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def put_chapter(self, chapter: Chapter, text: str, l0: str, l1: str) -> bool:
        """Makes the chapter's directory hold exactly this; False: it did already, and nothing was sent."""
        record = Record(chapter.id, True, chapter.position, {})
        return await self._put(layout.chapter_path(chapter), record, text, l0, l1, chapter.title)

    async def remove_chapter(self, chapter: ChapterId) -> None:
        """Takes the chapter out; nothing happens when it is not there."""
        await self._remove(chapter)

    async def put_resource(
        self,
        kind: layout.ResourceKind,
        name: str,
        l0: str,
        l1: str,
        text: str,
        *,
        identity: str = "",
        position: int = 0,
    ) -> bool:
        """The same for meta, entities, summaries and profiles.

        `identity` (else `name`) stays when the name changes; `position` is the last chapter position that
        the text knows of.
        """
        subject = f"{kind}/{identity or name}"
        path = layout.resource_path(kind, name, identity or name)
        return await self._put(path, Record(subject, False, position, {}), text, l0, l1, name)

    async def remove_resource(self, kind: layout.ResourceKind, identity: str) -> None:
        """Takes a resource out; `identity` as given to `put_resource` (or the name)."""
        await self._remove(f"{kind}/{identity}")

    def subjects(self) -> frozenset[str]:
        """What the server's tree holds, as far as the manifest vouches for it."""
        return frozenset(record.subject for _path, record in self._manifest)

    def set_positions(self, positions: Mapping[ChapterId, int]) -> None:
        """The chapters' places in story order have changed; costs no call."""
        for path, record in list(self._manifest):
            position = positions.get(ChapterId(record.subject)) if record.chapter else None
            if position is not None and position != record.position:
                self._manifest.put(path, replace(record, position=position))

    async def find(self, query: str, before_position: int | None = None, limit: int = 10) -> tuple[KnowledgeHit, ...]:
        """The nearest texts of all levels, best first.

        With `before_position`, only what knows of no chapter at or after it. A directory's L0 and L1 count
        as one hit, at the better of the two. Only what the manifest vouches for is returned.
        """
        allowed = {
            path: record
            for path, record in self._manifest
            if before_position is None or record.position < before_position
        }
        if not allowed or not query.strip():
            return ()
        target = [f"{self._root}/{path}" for path in self._targets(allowed)]
        found = await asyncio.gather(
            *(self._client.find(query, level=level, target_uri=target, limit=2 * limit) for level in _LEVELS)
        )
        best: dict[str, KnowledgeHit] = {}
        for one in chain.from_iterable(found):
            hit = self._hit(one, allowed)
            if hit is not None and (hit.uri not in best or hit.score > best[hit.uri].score):
                best[hit.uri] = hit
        return tuple(sorted(best.values(), key=lambda hit: (-hit.score, hit.uri))[:limit])

    def _targets(self, allowed: Mapping[str, Record]) -> list[str]:
        """Where to search: whole arcs and kinds where all in them is allowed, since each target costs time."""
        total = Counter(_parent(path) for path, _record in self._manifest)
        whole = {parent for parent, count in Counter(map(_parent, allowed)).items() if count == total[parent]}
        return sorted({parent if (parent := _parent(path)) in whole else path for path in allowed})

    async def repair(self) -> tuple[str, ...]:
        """After an unclean end of the server: makes missing vectors anew, forgets what is not there.

        Returns the subjects (chapter ids, `kind/identity`) to put again.
        """
        missing = []
        for path, record in list(self._manifest):
            uri = f"{self._root}/{path}"
            async with self._writing[record.subject]:
                if not await self._holds(uri, record):
                    self._manifest.forget(path)
                    missing.append(record.subject)
                elif not (await self._client.check_consistency(uri)).ok:
                    await self._client.reindex(uri)
        return tuple(missing)

    async def _holds(self, uri: str, record: Record) -> bool:
        try:
            names = {entry.uri.rpartition("/")[2] for entry in await self._client.ls(uri)}
        except KnowledgeMissing:
            return False
        return names.issuperset(record.files)

    async def _put(self, path: str, record: Record, text: str, l0: str, l1: str, name: str) -> bool:
        l0 = next(words for words in (l0, name, "…") if words.strip())  # OpenViking keeps no empty L0
        spans = layout.scenes(text, self._language)
        texts = {layout.scene_file(n): text[span.start : span.end] for n, span in enumerate(spans)}
        async with self._writing[record.subject]:
            texts |= {layout.L0_FILE: l0, self._l1_file(): l1 if l1.strip() else l0}
            record = replace(
                record,
                files={name: digest(content) for name, content in texts.items()},
                scenes=tuple((span.start, span.end) for span in spans),
            )
            known = self._manifest.get(path)
            moved = [old for old in self._manifest.paths_of(record.subject) if old != path]
            if known is not None and known.files == record.files and not moved:
                if known != record:
                    self._manifest.put(path, record)
                return False
            # A crash or refusal half way leaves nothing known, so the next try sends everything.
            self._manifest.forget(path)
            present = known.files if known is not None else await self._begin(path, l0)
            changed = {name: content for name, content in texts.items() if present.get(name) != record.files[name]}
            await self._write(path, changed, [name for name in present if name not in texts])
            for old in moved:
                await self._remove_directory(old)
            self._manifest.put(path, record)
            return True

    async def _begin(self, path: str, l0: str) -> dict[str, Digest]:
        """Makes the directory; returns the names of files that stood there unknown to the manifest."""
        uri = f"{self._root}/{path}"
        if await self._client.mkdir(uri, l0):
            return {}
        sidecars = {layout.L0_FILE, layout.L1_FILE}
        names = [entry.uri.rpartition("/")[2] for entry in await self._client.ls(uri) if not entry.directory]
        return {name: Digest("") for name in names if name not in sidecars}

    async def _write(self, path: str, texts: Mapping[str, str], leftovers: Sequence[str]) -> None:
        """One batch. Leftovers are emptied, which removes their vectors: to delete a file makes OpenViking
        write over the L0 and L1 of its directory, and of every directory above."""
        uri = f"{self._root}/{path}"
        if layout.L1_FILE in texts:
            placeholder = self._on_disk(path) / layout.L1_FILE
            if not placeholder.exists():
                placeholder.write_text("…", encoding="utf-8")
        writes = [
            FileWrite(f"{uri}/{name}", text, ("layer=L1",) if name == layout.L1_PLAIN_FILE else ())
            for name, text in texts.items()
        ]
        writes += [FileWrite(f"{uri}/{name}", "") for name in leftovers]
        await self._client.batch_write(uri, writes, wait=True)

    def _l1_file(self) -> str:
        """The real sidecar where we can lay its placeholder, a plain file elsewhere."""
        laid_out_as_known = self._workspace is not None and (self._workspace / _ON_DISK).is_dir()
        return layout.L1_FILE if laid_out_as_known else layout.L1_PLAIN_FILE

    def _on_disk(self, path: str) -> Path:
        assert self._workspace is not None
        return self._workspace / _ON_DISK / self._root.removeprefix(f"{layout.RESOURCES}/") / path

    async def _remove(self, subject: str) -> None:
        async with self._writing[subject]:
            for path in self._manifest.paths_of(subject):
                await self._remove_directory(path)

    async def _remove_directory(self, path: str) -> None:
        await self._client.rm(f"{self._root}/{path}", recursive=True)
        self._manifest.forget(path)

    def _hit(self, found: Found, allowed: Mapping[str, Record]) -> KnowledgeHit | None:
        path, _slash, name = found.uri.removeprefix(f"{self._root}/").rpartition("/")
        record = allowed.get(path)
        if record is None or name not in record.files:
            return None
        chapter = ChapterId(record.subject) if record.chapter else None
        level = _LEVEL_OF_FILE.get(name, "L2")
        if level != "L2":
            return KnowledgeHit(path, level, found.score, record.position, record.subject, chapter)
        span = Span(*record.scenes[layout.scene_index(name)])
        uri = f"{path}/{name}"
        return KnowledgeHit(uri, level, found.score, record.position, record.subject, chapter, span.start, span.end)


def _parent(path: str) -> str:
    return path.rpartition("/")[0]
