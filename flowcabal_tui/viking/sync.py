"""Synchronises OpenViking's tree with the book: called by the background work after a keep."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from flowcabal_tui.domain.ids import ChapterId, Digest
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import Level
from flowcabal_tui.domain.text import digest
from flowcabal_tui.locale import _
from flowcabal_tui.viking import layout, pack, search
from flowcabal_tui.viking.client import FileWrite, KnowledgeClient, KnowledgeMissing
from flowcabal_tui.viking.manifest import MANIFEST, Head, Manifest, Record, head_of
from flowcabal_tui.viking.search import KnowledgeHit

_ON_DISK: Final = Path("viking/default/resources")
_SIDECARS: Final = (layout.L0_FILE, layout.L1_FILE)


class KnowledgeSync:
    """One book in one server. `folder` contains the manifest; for a local server it is the workspace itself, so that
    the two vanish together. Every operation is safe to repeat, and several may run in parallel: those on one subject
    wait for each other.

    All raise KnowledgeError when the server is not available or refuses; then nothing is marked as done. A directory
    has an L0 and an L1 of our own, written without OpenViking's summariser. It allows an L1 to be changed but not
    created; so, if `workspace` (a local server's files) is given, a placeholder is put there first. Without it (an
    external server) the L1 is an ordinary file tagged `layer=L1`, and `find` identifies it by its name.
    """

    def __init__(self, client: KnowledgeClient, head: Head, folder: Path, workspace: Path | None = None) -> None:
        self._client, self._head, self._root, self._workspace = client, head, head.root, workspace
        self._manifest = Manifest(folder / MANIFEST, head)
        self._writing: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._under_way: set[str] = set()

    async def put_chapter(self, chapter: Chapter, text: str, l0: str, l1: str, *, source: str = "") -> bool:
        """Makes the chapter's directory contain exactly this; returns False if it already did and nothing was sent.

        `source` is the digest of the request, which `sources` returns.
        """
        record = Record(layout.chapter_subject(chapter.id), chapter.position, {}, source=source)
        return await self._put(layout.chapter_path(chapter), record, text, l0, l1, chapter.title)

    async def put_resource(
        self,
        uri: str,
        name: str,
        l0: str,
        l1: str,
        text: str,
        *,
        subject: str = "",
        position: int = 0,
        source: str = "",
    ) -> bool:
        """Like `put_chapter` for everything else: meta texts, entities, summaries and profiles of any kind.

        `subject` (else `uri`) stays when the uri changes; `position` is the last chapter position that the text covers.
        """
        record = Record(subject or uri, position, {}, source=source)
        return await self._put(layout.resource_path(uri, name), record, text, l0, l1, name)

    async def remove(self, subject: str) -> None:
        """Removes a chapter or resource, if it exists."""
        async with self._writing[subject]:
            for path in self._manifest.paths_of(subject):
                await self._remove_directory(path)

    def forget(self, subject: str) -> None:
        """Marks a subject as not sent, so that the next `put` sends all of it."""
        for path in self._manifest.paths_of(subject):
            self._manifest.forget(path)

    async def clear(self) -> None:
        """Removes everything."""
        await self._client.rm(self._root)
        for path, _record in list(self._manifest):
            self._manifest.forget(path)

    def sources(self) -> dict[str, str]:
        """The content of the server's tree that the manifest confirms: subjects and their sources."""
        return {record.subject: record.source for _path, record in self._manifest}

    def records(self) -> tuple[tuple[str, Record], ...]:
        """The directories that the manifest confirms, by their paths."""
        return tuple(self._manifest)

    async def read(self, subject: str, limit: int) -> tuple[tuple[Level, str], ...]:
        """The texts of a subject as the server has them, level by level, at most `limit` characters in all."""
        found: dict[Level, str] = {}
        for path in self._manifest.paths_of(subject):
            record = self._manifest.get(path)
            for name in sorted(record.files if record else (), key=lambda name: (layout.level_of(name), name)):
                if (left := limit - sum(map(len, found.values()))) > 0:
                    level = layout.level_of(name)
                    found[level] = found.get(level, "") + (await self._text(path, name))[:left]
        return tuple(found.items())

    async def words(self, hit: KnowledgeHit, limit: int) -> str:
        """The beginning of the found text, as the server has it."""
        record = self._manifest.get(hit.uri)
        if record is None:
            path, _slash, name = hit.uri.rpartition("/")
            return (await self._text(path, name))[:limit]
        files = [name for name in record.files if layout.level_of(name) == hit.level]
        return (await self._text(hit.uri, files[0]))[:limit] if files else ""

    async def _text(self, path: str, name: str) -> str:
        """The file as sent, without the header that OpenViking adds to the L0 and L1."""
        uri = f"{self._root}/{path}"
        if name == layout.L0_FILE:
            return await self._client.abstract(uri)
        if name == layout.L1_FILE:
            return await self._client.overview(uri)
        return await self._client.read(f"{uri}/{name}")

    def set_positions(self, positions: Mapping[ChapterId, int]) -> None:
        """Records new chapter positions; makes no call."""
        for path, record in list(self._manifest):
            position = positions.get(record.place) if record.place else None
            if position is not None and position != record.position:
                self._manifest.put(path, replace(record, position=position))

    async def find(
        self, query: str, before_position: int | None = None, limit: int = 10, scope: str = ""
    ) -> tuple[KnowledgeHit, ...]:
        """The nearest texts of all levels, best first.

        With `before_position`, only texts that cover no chapter at or after it; with `scope` (`manuscript`,
        `profiles/characters` ...), only texts below it. A directory's L0 and L1 count as one hit, with the better score
        of the two, and bring the nearest texts of the directory with them. Only texts in the manifest are returned.
        """
        return await search.find(self._client, self._root, self._manifest, query, before_position, limit, scope)

    async def repair(self, *, thorough: bool) -> tuple[str, ...]:
        """Compares the server's tree with the manifest: removes unknown directories, forgets incomplete ones.

        Vectors are compared one by one when `thorough` (after an unclean end) or when there are too few of them.
        Returns the subjects that were forgotten: they must be put again.
        """
        former = self._manifest.former
        if former is not None and former.root != self._root:  # the book was given another name
            await self._client.rm(former.root)
        there = await self._there()
        for path in there.keys() - {path for path, _record in self._manifest} - self._under_way:
            await self._client.rm(f"{self._root}/{path}")
        broken = [(path, record) for path, record in self._manifest if not there.get(path, set()) >= {*record.files}]
        self._forget(broken)
        return tuple(record.subject for _path, record in (*broken, *await self._without_vectors(thorough)))

    async def _there(self) -> dict[str, set[str]]:
        """The directories with files in the server's tree, and the files' names."""
        try:
            entries = await self._client.tree(self._root)
        except KnowledgeMissing:
            return {}
        found: defaultdict[str, set[str]] = defaultdict(set)
        for entry in entries:
            path, _slash, name = entry.uri.removeprefix(f"{self._root}/").rpartition("/")
            if not entry.directory and path:
                found[path].add(name)
        return found

    async def _without_vectors(self, thorough: bool) -> list[tuple[str, Record]]:
        """The directories that lack vectors, which are forgotten: the next `put` embeds them again."""
        records = list(self._manifest)
        least = sum(text != digest("") for _path, record in records for text in record.files.values())
        if not records or not (thorough or await self._client.vectors() < least):
            return []
        if (await self._client.check_consistency(self._root)).ok:
            return []
        bare = [
            (path, record)
            for path, record in records
            if not (await self._client.check_consistency(f"{self._root}/{path}")).ok
        ]
        self._forget(bare)
        return bare

    def _forget(self, records: Sequence[tuple[str, Record]]) -> None:
        for path, _record in records:
            self._manifest.forget(path)

    async def export_pack(self, path: Path) -> None:
        """Writes the tree with its vectors, and the manifest, into one file."""
        known = self._manifest.text()
        tree = await self._client.export_pack(self._root)
        await asyncio.to_thread(pack.write, path, pack.Pack(tree, known))

    async def import_pack(self, path: Path) -> None:
        """Replaces this tree by one that `export_pack` wrote; nothing is embedded again.

        An ovpack has no tags, so they are set again. Raises KnowledgeError for one that cannot be read, or was made
        with another embedder; then nothing was changed.
        """
        found = await asyncio.to_thread(pack.read, path)
        head = head_of(found.known)
        if head is None or replace(head, root=self._root) != self._head:
            raise pack.unfit(_("Its language, format or embedding model is different."))
        await self.clear()
        await self._client.import_pack(found.tree, layout.RESOURCES)
        if head.root != self._root:
            await self._client.mv(head.root, self._root)
        self._manifest.take(found.known)
        for path_in_tree, record in self._manifest:
            await self._client.set_tags(f"{self._root}/{path_in_tree}", self._tags(path_in_tree, record))

    async def _put(self, path: str, record: Record, text: str, l0: str, l1: str, name: str) -> bool:
        l0 = next(words for words in (l0, name, "…") if words.strip())  # OpenViking keeps no empty L0
        spans = layout.scenes(text, self._head.language)
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
            self._under_way.add(path)
            try:
                present = known.files if known is not None else await self._begin(path, l0)
                changed = {name: content for name, content in texts.items() if present.get(name) != record.files[name]}
                await self._write(path, record, changed, [name for name in present if name not in texts])
            finally:
                self._under_way.discard(path)
            for old in moved:
                await self._remove_directory(old)
            self._manifest.put(path, record)
            return True

    async def _begin(self, path: str, l0: str) -> dict[str, Digest]:
        """Makes the directory; returns the names of files in it that the manifest does not know."""
        uri = f"{self._root}/{path}"
        if await self._client.mkdir(uri, l0):
            return {}
        names = [entry.uri.rpartition("/")[2] for entry in await self._client.ls(uri) if not entry.directory]
        return {name: Digest("") for name in names if name not in _SIDECARS}

    async def _write(self, path: str, record: Record, texts: Mapping[str, str], leftovers: Sequence[str]) -> None:
        """One batch. Leftovers are emptied, which removes their vectors: to delete a file makes OpenViking
        write over the L0 and L1 of its directory, and of every directory above."""
        uri = f"{self._root}/{path}"
        if layout.L1_FILE in texts:
            placeholder = self._on_disk(path) / layout.L1_FILE
            if not placeholder.exists():
                placeholder.write_text("…", encoding="utf-8")
        tags = self._tags(path, record)
        writes = [
            FileWrite(f"{uri}/{name}", text, (*tags, "layer=L1") if name == layout.L1_PLAIN_FILE else tags)
            for name, text in texts.items()
        ]
        writes += [FileWrite(f"{uri}/{name}", "") for name in leftovers]
        await self._client.batch_write(uri, writes, wait=True)

    def _tags(self, path: str, record: Record) -> tuple[str, ...]:
        return layout.tags(path, record.subject, self._head.language)

    def _l1_file(self) -> str:
        """The file of an L1: the server's sidecar if a placeholder can be put into its workspace, else an ordinary
        file."""
        laid_out_as_known = self._workspace is not None and (self._workspace / _ON_DISK).is_dir()
        return layout.L1_FILE if laid_out_as_known else layout.L1_PLAIN_FILE

    def _on_disk(self, path: str) -> Path:
        assert self._workspace is not None
        return self._workspace / _ON_DISK / self._root.removeprefix(f"{layout.RESOURCES}/") / path

    async def _remove_directory(self, path: str) -> None:
        await self._client.rm(f"{self._root}/{path}")
        self._manifest.forget(path)
