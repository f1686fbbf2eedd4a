"""The tree of all derived texts by kind, in the order of their rows, each with its line."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual.widgets.tree import TreeNode

from flowcabal_tui.project.views import ProfileRow
from flowcabal_tui.project.words import beside
from flowcabal_tui.tui.shared.lists import PickTree
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.roles import role_style


class ProfileTree(PickTree[str]):
    """A leaf contains the uri of its profile."""

    def __init__(self) -> None:
        super().__init__()
        self._leaves: dict[str, TreeNode[str]] = {}
        self.rows: tuple[ProfileRow, ...] = ()

    def holds(self, uri: str | None) -> bool:
        """True when there is such a profile."""
        return uri in self._leaves

    def show(self, rows: Sequence[ProfileRow], chosen: str) -> None:
        """Shows other rows; closed branches stay closed, and the cursor goes to the chosen one, or to the first."""
        self.rows = tuple(rows)
        closed = {str(branch.data) for branch in self.root.children if not branch.is_expanded}
        self.clear()
        self._leaves = {}
        for kind in dict.fromkeys(row.kind for row in rows):
            members = [row for row in rows if row.kind == kind]
            words = beside(one_line(members[0].kind_title, 60), f"{len(members)}")
            branch = self.root.add(Text(words, style="bold"), expand=kind not in closed)
            branch.data = kind
            for row in members:
                self._leaves[row.uri] = branch.add_leaf(_leaf(row), row.uri)
        if self._leaves:
            self.place(self._leaves.get(chosen) or next(iter(self._leaves.values())))

    def find(self, words: str, after: str) -> bool:
        """Moves the cursor to the next profile with the words in its name or line, wrapping around."""
        sought = words.casefold()
        uris = [row.uri for row in self.rows if sought in f"{row.name} {row.abstract}".casefold()]
        if not sought or not uris:
            return False
        leaf = self._leaves[uris[(uris.index(after) + 1) % len(uris)] if after in uris else uris[0]]
        if leaf.parent is not None:
            leaf.parent.expand()
        self.place(leaf)
        return True


def _leaf(row: ProfileRow) -> Text:
    label = Text(one_line(row.name, 60), no_wrap=True)
    abstract = one_line(row.abstract, 200)
    return label.append(f"  {abstract}" if abstract else "", style=role_style("secondary"))
