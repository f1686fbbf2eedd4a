"""The rows of the settings page: the current values in words, by file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from flowcabal_tui.domain.addresses import host_of
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.text import clean_line
from flowcabal_tui.locale import _, mark
from flowcabal_tui.project.services.settings import SettingsView
from flowcabal_tui.project.words import money
from flowcabal_tui.settings.project_file import AgentsSettings, GoalsSettings, KnowledgeSettings, ModelsSettings
from flowcabal_tui.settings.user_file import SpendingRule, UserSettings
from flowcabal_tui.tui.app.themes import theme_words

ROLE_WORDS: Final = {
    "user": mark("Writes the book"),
    "agent": mark("Checks and summarizes"),
    "embedding": mark("Search by meaning"),
}
LANGUAGES: Final = {"": mark("from the environment"), "zh": "中文", "en": "English"}
SPENDING: Final = {
    "ask": mark("ask before it costs money"),
    "never": mark("never: wait until you start it"),
}
AGENT_WORDS: Final = {
    "context": mark("Context: adds relevant parts of the book to prompts"),
    "monitor": mark("Monitor: checks drafts for contradictions"),
    "curator": mark("Curator: summaries and profiles"),
    "references": mark("Always search reference books"),
    "scene": mark("Ask a model who is in a scene"),
}
ABOUT: Final = {
    "user": mark("The model that plans, drafts and rewrites. A run shows its cost before it starts."),
    "agent": mark("The model that checks drafts and writes summaries and profiles. A cheaper one is often enough."),
    "embedding": mark("Finds earlier passages of the same meaning for a prompt."),
    "more": mark("A further model, which a node of a workflow can name."),
    "project": mark("The language is that of the text: it decides how words are counted and which rules check it."),
    "goals": mark("Lengths of the book, a volume, a chapter and a day. The status line shows today's words against "
                  "the goal."),
    "agents": mark("The steps around a draft: the context in its prompt, its checks, and the summaries that follow."),
    "knowledge": mark("A server that searches the whole book by meaning. The book works without it."),
    "spending": mark("What summaries, profiles, the reading of kept chapters and vectors for the search by meaning "
                     "may cost, in all books. A paid model is not called beyond it; the work waits, and the text is "
                     "saved at once."),
    "language": mark("Menus and messages only; each book has a language of its own."),
    "theme": mark("Six themes come with the program; yours are read from the folder themes beside config.toml."),
    "keys": mark("Every command and its key. Press a new key to change one."),
    "editor": mark("The program in which `F4` opens the chapter."),
}  # fmt: skip
"""The effect of each setting, by the end of the id of its row."""


@dataclass(frozen=True, slots=True)
class SettingRow:
    """A row: `id` identifies what Enter changes, `later` marks values that take effect when the book is opened
    again."""

    id: str
    name: str
    value: str
    later: bool = False

    @property
    def about(self) -> str:
        """Its effect."""
        kind = self.id.partition(":")[2] or self.id
        return _(ABOUT[kind.partition(".")[0]])

    @property
    def file(self) -> str:
        """The file that has it."""
        if self.id.startswith("own:") or self.id in ("spending", "language", "theme", "keys", "editor"):
            return _("In your config.toml.")
        return _("In the flowcabal.toml of this book.")


@dataclass(frozen=True, slots=True)
class Section:
    """Rows under a heading that names their file."""

    heading: str
    rows: tuple[SettingRow, ...]


def sections(user: UserSettings, view: SettingsView | None) -> Iterator[Section]:
    """The sections of the open book (`view` None: no book is open), then those of the user."""
    if view is not None:
        book, later = view.settings, view.later
        yield Section(_("Models of this book"), tuple(_model_rows(book.models, "book")))
        named = (clean_line(book.project.name), clean_line(book.project.author), LANGUAGES[book.project.language])
        words = _(", ").join(part for part in named if part)
        yield Section(
            _("This book"),
            (
                SettingRow("project", _("Title, author, language"), words, "project.language" in later),
                SettingRow("goals", _("Goals"), goals_words(book.goals)),
                SettingRow("agents", _("Agents"), agents_words(book.agents)),
                SettingRow("knowledge", _("Knowledge server"), knowledge_words(book.knowledge), "knowledge" in later),
            ),
        )
    yield Section(_("Models of new books"), tuple(_model_rows(user.models, "own")))
    spending = SettingRow("spending", _("Background work of the memory"), spending_words(user.memory_spending))
    yield Section(_("Money"), (spending,))
    changed = len(user.keys)
    yield Section(
        _("The screen"),
        (
            SettingRow("language", _("Language of the screen"), _(LANGUAGES.get(user.language[:2], user.language))),
            SettingRow("theme", _("Colours"), theme_words(user.theme)),
            SettingRow("keys", _("Keys"), _("{n} changed").format(n=changed) if changed else _("defaults")),
            SettingRow("editor", _("External editor"), user.editor or _("$VISUAL or $EDITOR")),
        ),
    )


def _model_rows(models: ModelsSettings, where: str) -> Iterator[SettingRow]:
    unset = {
        "user": _("not set: choose one"),
        "agent": _("same as the writing model"),
        "embedding": _("computed here, from words alone"),
    }
    for role, words in ROLE_WORDS.items():
        endpoint: Endpoint | None = getattr(models, role)
        yield SettingRow(f"{where}:{role}", _(words), model_words(endpoint) if endpoint else unset[role])
    for name, endpoint in models.more.items():
        yield SettingRow(f"{where}:more.{name}", clean_line(name), model_words(endpoint))


def model_words(endpoint: Endpoint) -> str:
    """The model, its host and its prices."""
    if endpoint.provider == "offline":
        return _("offline model, for trying out")
    where = f"{clean_line(endpoint.model)} @ {host_of(endpoint.address) or clean_line(endpoint.address)}"
    if endpoint.price_in is None or endpoint.price_out is None:
        price = _("free, on this machine") if endpoint.is_free else _("price unknown")
    else:
        price = " / ".join(
            money(each, clean_line(endpoint.currency)) for each in (endpoint.price_in, endpoint.price_out)
        )
    return _("{model}, {price}").format(model=where, price=price)


def spending_words(rule: SpendingRule) -> str:
    """The rule for background work with paid models."""
    if isinstance(rule, Decimal):
        return _("up to {amount} a day without asking").format(amount=f"{rule:f}")
    return _(SPENDING[rule])


def goals_words(goals: GoalsSettings) -> str:
    """The configured goals."""
    named = (
        (_("the book {n}"), goals.book), (_("a volume {n}"), goals.volume), (_("a chapter {n}"), goals.chapter),
        (_("a day {n}"), goals.day),
    )  # fmt: skip
    return _(", ").join(words.format(n=f"{n:,}") for words, n in named if n) or _("none")


def agents_words(agents: AgentsSettings) -> str:
    """The enabled agents."""
    working = [_(AGENT_WORDS[name]).partition(":")[0].partition("：")[0] for name in ("context", "monitor", "curator")
               if getattr(agents, name)]  # fmt: skip
    return _(", ").join(working) or _("none")


def knowledge_words(knowledge: KnowledgeSettings) -> str:
    """The knowledge server in use."""
    if not knowledge.enabled:
        return _("not used")
    if not knowledge.url:
        return _("on this machine, where installed")
    return host_of(knowledge.url) or clean_line(knowledge.url)
