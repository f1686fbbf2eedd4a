"""Caches shared by views, of data that never changes: unpacked texts, term counts, snapshots of a generation."""

from __future__ import annotations

from collections import OrderedDict

from flowcabal_tui.domain.ids import Digest, Generation
from flowcabal_tui.store.memory.ranking import Counts
from flowcabal_tui.store.memory.snapshot import Snapshot
from flowcabal_tui.store.memory.story import Parsed
from flowcabal_tui.store.rows.tokens import Term


class MemoryCache:
    """Keeps the last used items: texts up to `characters` in all, counts of up to `terms` terms, `snapshots`
    snapshots."""

    def __init__(self, characters: int = 8_000_000, terms: int = 200, snapshots: int = 2) -> None:
        self._characters, self._terms, self._most = characters, terms, snapshots
        self._texts: OrderedDict[Digest, str] = OrderedDict()
        self._used = 0
        self._counts: OrderedDict[str, Counts] = OrderedDict()
        self._snapshots: OrderedDict[Generation, Snapshot] = OrderedDict()
        self._since: dict[Generation, Generation] = {}
        self.records: Parsed = {}
        """States of records that were parsed; to be added to."""

    def text(self, name: Digest) -> str | None:
        """A cached text."""
        if name in self._texts:
            self._texts.move_to_end(name)
        return self._texts.get(name)

    def put_text(self, name: Digest, text: str) -> None:
        """Caches a text and drops the least recently used ones."""
        if name in self._texts:
            return
        self._texts[name] = text
        self._used += len(text)
        while self._used > self._characters and len(self._texts) > 1:
            self._used -= len(self._texts.popitem(last=False)[1])

    def counts(self, term: Term) -> Counts:
        """The cached counts of this term, for the caller to extend."""
        counts = self._counts.setdefault(term.text, {})
        self._counts.move_to_end(term.text)
        if len(self._counts) > self._terms:
            self._counts.popitem(last=False)
        return counts

    def snapshot(self, generation: Generation) -> Snapshot | None:
        """A cached snapshot, by its own generation or by a later one that shares it."""
        since = self._since.get(generation, generation)
        if since in self._snapshots:
            self._snapshots.move_to_end(since)
        return self._snapshots.get(since)

    def put_snapshot(self, generation: Generation, snapshot: Snapshot) -> Snapshot:
        """Caches the snapshot for the generation that uses it, and drops the least recently used one."""
        self._snapshots[snapshot.generation] = snapshot
        self._snapshots.move_to_end(snapshot.generation)
        if len(self._snapshots) > self._most:
            self._snapshots.popitem(last=False)
        self._since = {at: since for at, since in self._since.items() if since in self._snapshots}
        self._since[generation] = snapshot.generation
        return snapshot
