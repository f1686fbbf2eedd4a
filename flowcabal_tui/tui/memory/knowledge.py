"""The page of the knowledge server: its state, its contents and missing texts, and its installation and removal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static, Tree
from textual.widgets.tree import TreeNode

from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _, mark
from flowcabal_tui.project.memory.knowledge_contents import KnowledgeEntry, KnowledgeFound
from flowcabal_tui.project.words import LEVELS, TASK_STATES, beside
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.lists import PickTree
from flowcabal_tui.tui.shared.trouble import attempt, attempted
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.widgets.role_words import facts_words, key_words
from flowcabal_tui.tui.widgets.roles import Role, role_sign, role_style

if TYPE_CHECKING:
    from flowcabal_tui.project.memory.knowledge_contents import KnowledgeContents, KnowledgeFound
    from flowcabal_tui.tui.memory.knowledge_controller import KnowledgeController

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
    owed = sum(not entry.is_stored or entry.step != "fresh" for entry in members)
    return _("{n}, {owed} to send").format(n=len(members), owed=owed) if owed else str(len(members))


def look_of(entry: KnowledgeEntry) -> tuple[Role, str]:
    """The role of an entry's state, and the state in words."""
    if entry.step == "failed":
        return "failed", _(TASK_STATES["failed"])
    if entry.step == "running":
        return "focus", _("being sent")
    if not entry.is_stored:
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


_LOOK: Final = 1.0
"""Interval in seconds for reading the state."""
STATES: Final[Mapping[str, str]] = {
    "off": mark("is switched off"),
    "absent": mark("is not installed"),
    "starting": mark("is starting"),
    "ready": mark("is ready"),
    "restarting": mark("is started again"),
    "failed": mark("has failed"),
    "external": mark("is ready, elsewhere"),
    "stopped": mark("was stopped"),
    "asks": mark("waits for your answer about embeddings"),
}


class KnowledgeScreen(ModalScreen[None]):
    """Follows the server while the page is open."""

    help = HelpData(
        mark("Knowledge server"),
        mark("The contents of the server for search by meaning: each text in up to three levels (L0 one line, L1 "
             "summary, L2 full text), as it was last sent, and what is still to be sent. `+` installs the "
             "server, after showing size, licence and host; `x` stops that, `D` removes the server. `/` searches "
             "by meaning; `m` sends an entry, or a whole branch, again. The server keeps no versions: those are "
             "in the book, and everything here can be rebuilt from it."),
    )  # fmt: skip
    DEFAULT_CSS = """
    KnowledgeScreen { background: $background; }
    KnowledgeScreen > .head { height: auto; max-height: 5; padding: 0 1; }
    KnowledgeScreen > KnowledgeTree { height: 3fr; }
    KnowledgeScreen > VerticalScroll { height: 2fr; padding: 0 1; border-top: solid $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", mark("Back"), priority=True, id="knowledge.back"),
        Binding("slash", "find", mark("Find"), tooltip=mark("Search the server by meaning."), id="knowledge.find"),
        Binding("m", "write_again", mark("Write again"), id="knowledge.write",
                tooltip=mark("Send this entry, or the whole branch, to the server again.")),
        Binding("plus", "install", mark("Install"), tooltip=mark("Install the knowledge server; asks first."),
                id="knowledge.install"),
        Binding("D", "remove", mark("Remove"), show=False, tooltip=mark("Remove the knowledge server that was "
                                                                        "installed from here; asks first."),
                id="knowledge.remove"),
        Binding("x", "stop", mark("Stop installing"), show=False, id="knowledge.stop",
                tooltip=mark("Stop the installation; downloads are kept for the next try.")),
        HELP_KEYS,
    ]  # fmt: skip

    def __init__(self, controller: KnowledgeController) -> None:
        super().__init__()
        self._controller = controller
        self._contents: KnowledgeContents | None = None
        self._names: Mapping[str, str] = {}
        self._found: Sequence[KnowledgeFound] = ()
        self._query, self._shown = "", ""
        self._head_now: tuple[str, ...] = ()

    def compose(self) -> ComposeResult:
        """Yields the state, the tree, and the texts of the entry under the cursor."""
        yield Static(markup=False, classes="head")
        yield KnowledgeTree()
        with VerticalScroll():
            yield Static(markup=False, id="text")
        yield HintLine()

    def on_mount(self) -> None:
        """Reads the state now, and then every second."""
        self.query_one(KnowledgeTree).focus()
        attempt(self, self.reload(), group="reload")
        self.set_interval(_LOOK, lambda: attempt(self, self.reload(), group="reload", exclusive=True))

    async def reload(self) -> None:
        """Reads the state again; repaints nothing if nothing has changed."""
        contents, version = await self._controller.project.knowledge.contents(), await self._controller.installed()
        head = tuple(self._head(contents, version))
        if head != self._head_now:
            self._head_now = head
            self.query_one(".head", Static).update(key_words("\n".join(head)))
        if self._contents is None or contents.entries != self._contents.entries:
            self._names = await self._controller.subjects()
            self._contents = contents
            self._refill()
        self._contents = contents

    def _head(self, contents: KnowledgeContents, version: str) -> Iterator[str]:
        state, message = contents.status.state, contents.status.message
        named_server = _("The knowledge server {state}.").format(state=_(STATES[state]))
        reason = one_line(message) if state in ("failed", "restarting", "starting", "stopped") else ""
        own = _("openviking {version} installed").format(version=version) if version else ""
        yield facts_words(named_server, reason, own)
        if self._controller.progress:
            yield _("Installation: {words}").format(words=self._controller.progress)
        elif state == "absent":
            yield _("`+` installs it: search by meaning. Everything else works without it.")
        stored = sum(entry.is_stored for entry in contents.entries)
        owed = sum(not entry.is_stored or entry.step != "fresh" for entry in contents.entries)
        counted = facts_words(_("stored: {n}").format(n=f"{stored:,}"), _("to send: {owed}").format(owed=f"{owed:,}"))
        vectors = _("vectors of {name}").format(name=one_line(contents.embedder)) if contents.embedder else ""
        yield facts_words(counted, vectors, one_line(contents.place))

    def _refill(self) -> None:
        if self._contents is not None:
            tree = self.query_one(KnowledgeTree)
            tree.show(self._contents.entries, self._names, self._found, self._query)

    @on(Tree.NodeHighlighted)
    def follow_cursor(self, message: Tree.NodeHighlighted[str]) -> None:
        """Shows the texts of another entry."""
        message.stop()
        node = message.node
        subject = "" if node.allow_expand else node.data or ""
        if subject != self._shown:
            self._shown = subject
            attempt(self, self._show_text(subject), group="text", exclusive=True)

    async def _show_text(self, subject: str) -> None:
        entries = self._contents.entries if self._contents else ()
        entry = next((each for each in entries if each.subject == subject), None)
        if entry is None:
            self.query_one("#text", Static).update("")
            return
        lines = [facts_words(named(subject, self._names), look_of(entry)[1])]
        lines += [clean(entry.error)] if entry.error else []
        if entry.is_stored and self._contents and self._contents.is_up:
            for level, text in await self._controller.project.knowledge.text(subject):
                lines += ["", f"{level} {_(LEVELS[level])}", clean(text)]
        self.query_one("#text", Static).update("\n".join(lines))

    def action_leave(self) -> None:
        """Returns from the results to the whole tree, else closes the page."""
        if self._query:
            self._query, self._found = "", ()
            self._refill()
        else:
            self.dismiss(None)

    @attempted(group="find", exclusive=True)
    async def action_find(self) -> None:
        """Asks for words, and shows the texts nearest in meaning."""
        query = await self.app.push_screen_wait(PromptLine(_("Find by meaning:"), value=self._query))
        if not query or not query.strip():
            return
        found = await self._controller.find(query)
        if found is not None:
            self._query, self._found = query, found
            self._refill()

    def action_write_again(self) -> None:
        """Writes the entries under the cursor to the server again."""
        if subjects := self.query_one(KnowledgeTree).chosen():
            attempt(self, self._controller.write_again(subjects), group="change")

    def action_install(self) -> None:
        """Installs the server."""
        self._controller.install()

    def action_stop(self) -> None:
        """Stops the installation."""
        self._controller.stop_installing()

    def action_remove(self) -> None:
        """Removes the server."""
        attempt(self, self._controller.remove(), group="change")
