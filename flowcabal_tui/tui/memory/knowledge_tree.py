"""The entries of the knowledge server as a tree: a branch for each part of the book, and one for search results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from rich.text import Text
from textual.widgets.tree import TreeNode

from flowcabal_tui.locale import _, mark
from flowcabal_tui.project.memory.knowledge_contents import KnowledgeEntry, KnowledgeFound
from flowcabal_tui.project.words import TASK_STATES, beside
from flowcabal_tui.tui.shared.lists import PickTree
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.roles import Role, role_sign, role_style

PARTS: Final[Mapping[str, str]] = {
    "manuscript": mark("Chapters"),
    "profiles": mark("Profiles"),
    "summaries": mark("Arcs and the whole work"),
    "entity": mark("Names"),
    "story": mark("What the story says"),
    "meta": mark("Outline, style, rules"),
}
_FOUND: Final = "found"


class KnowledgeTree(PickTree[str]):
    """A leaf contains the subject of its entry, a branch the part of the book."""

    def __init__(self) -> None:
        super().__init__()
        self._members: dict[str, list[str]] = {}

    def chosen(self) -> tuple[str, ...]:
        """The subjects under the cursor: one, or all of a branch."""
        node = self.cursor_node
        if node is None or node.data is None:
            return ()
        return tuple(self._members[node.data]) if node.allow_expand else (node.data,)

    def show(
        self, entries: Sequence[KnowledgeEntry], names: Mapping[str, str], found: Sequence[KnowledgeFound], query: str
    ) -> None:
        """Shows other entries; open branches stay open, and the cursor stays at its subject."""
        opened = {str(branch.data) for branch in self.root.children if branch.is_expanded}
        at = self.cursor_node.data if self.cursor_node else None
        self.clear()
        self._members, leaves = {}, dict[str, TreeNode[str]]()
        if query:
            self._members[_FOUND] = list(dict.fromkeys(hit.subject for hit in found))
            words = _("near in meaning to “{query}” ({n})").format(query=one_line(query, 40), n=len(found))
            branch = self.root.add(Text(words, style="bold"), _FOUND, expand=True)
            for hit in found:
                leaves.setdefault(hit.subject, branch.add_leaf(_hit(hit, names), hit.subject))
        parts = defaultdict[str, list[KnowledgeEntry]](list)
        for entry in entries:
            parts[entry.subject.partition("/")[0]].append(entry)
        for part in sorted(parts, key=lambda name: [*PARTS, name].index(name)):
            members = parts[part]
            self._members[part] = [entry.subject for entry in members]
            label = Text(beside(_(PARTS.get(part, part)), _sum(members)), style="bold")
            branch = self.root.add(label, part, expand=part in opened)
            for entry in sorted(members, key=lambda entry: (entry.position, named(entry.subject, names))):
                leaves.setdefault(entry.subject, branch.add_leaf(_leaf(entry, names), entry.subject))
        branches = {str(branch.data): branch for branch in self.root.children}
        first = next(iter(self.root.children), None)
        newly = leaves[found[0].subject] if found and _FOUND not in opened else None
        self.place(newly or branches.get(at or "") or leaves.get(at or "") or first)


def named(subject: str, names: Mapping[str, str]) -> str:
    """The display name of an entry."""
    return one_line(names.get(subject) or names.get(subject.rpartition("/")[2], subject), 60)


def _sum(members: Sequence[KnowledgeEntry]) -> str:
    """The number of entries, and the number of those that the server lacks in their current form."""
    owed = sum(not entry.held or entry.step != "fresh" for entry in members)
    return _("{n}, {owed} to send").format(n=len(members), owed=owed) if owed else str(len(members))


def look_of(entry: KnowledgeEntry) -> tuple[Role, str]:
    """The role of an entry's state, and the state in words."""
    if entry.step == "failed":
        return "failed", _(TASK_STATES["failed"])
    if entry.step == "running":
        return "focus", _("being sent")
    if not entry.held:
        return "secondary", _("not sent yet") if entry.step == "waiting" else _(TASK_STATES[entry.step])
    return ("done", _("stored")) if entry.step == "fresh" else ("stale", _("stored, out of date"))


def _leaf(entry: KnowledgeEntry, names: Mapping[str, str]) -> Text:
    role, state = look_of(entry)
    levels = " ".join(entry.levels)
    pieces = f"×{entry.pieces}" if entry.pieces > 1 else ""
    label = Text(no_wrap=True).append(f"{role_sign(role) or '.'} ", style=role_style(role))
    label.append(named(entry.subject, names))
    details = "  ".join(filter(None, ("" if role == "done" else state, levels + pieces, one_line(entry.error, 80))))
    return label.append(f"  {details}" if details else "", style=role_style("secondary"))


def _hit(hit: KnowledgeFound, names: Mapping[str, str]) -> Text:
    label = Text(f"{hit.score:.2f} ", no_wrap=True).append(named(hit.subject, names)).append(f"  {hit.level}  ")
    return label.append(one_line(hit.text, 160), style=role_style("quoted"))
