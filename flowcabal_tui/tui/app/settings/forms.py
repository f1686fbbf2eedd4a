"""The forms of single settings, and their results: values for a command."""

from __future__ import annotations

from flowcabal_tui.domain.addresses import host_of
from flowcabal_tui.locale import _
from flowcabal_tui.settings.project_file import AgentsSettings, KnowledgeSettings, ProjectTable
from flowcabal_tui.tui.app.settings.rows import AGENT_WORDS
from flowcabal_tui.tui.shared.form import Field, FormScreen, Typed, Unreadable

Values = dict[str, str | int | bool | None]


def project_form(project: ProjectTable) -> FormScreen[Values]:
    """The form for title, author and language of the book."""

    def read(typed: Typed) -> Values:
        if not typed.text("name"):
            raise Unreadable(_("The book needs a name."))
        return {name: typed.text(name) for name in ("name", "author", "language")} | {
            "blank_lines_break": typed.tick("blank_lines_break")
        }

    fields = (
        Field("name", _("Title"), project.name),
        Field("author", _("Author"), project.author),
        Field("language", _("Language of the book"), project.language, choices=(("zh", "中文"), ("en", "English"))),
        Field("blank_lines_break", _("more blank lines than usual break scenes"), project.blank_lines_break),
    )
    return FormScreen(_("This book"), fields, read)


def agents_form(agents: AgentsSettings) -> FormScreen[Values]:
    """The form for the enabled agents, and the number of profiles rewritten after a kept chapter."""

    def read(typed: Typed) -> Values:
        values: Values = {name: typed.tick(name) for name in AGENT_WORDS}
        profiles = typed.text("profiles")
        if not (profiles.isascii() and profiles.isdigit() and int(profiles[:4]) <= 50):
            raise Unreadable(_("The number of profiles is from 0 to 50."))
        return values | {"profiles": int(profiles)}

    ticks = tuple(Field(name, _(words), bool(getattr(agents, name))) for name, words in AGENT_WORDS.items())
    profiles = Field("profiles", _("Profiles a chapter"), str(agents.profiles), _("0 to 50: each is a call of a model"))
    return FormScreen(_("Agents"), (*ticks, profiles), read)


def knowledge_form(knowledge: KnowledgeSettings) -> FormScreen[Values]:
    """The form for the knowledge server."""

    def read(typed: Typed) -> Values:
        url = typed.text("url")
        if url and not (host_of(url) and url.startswith(("http://", "https://"))):
            raise Unreadable(_("Write the address with https://, as the provider gives it."))
        return {"enabled": typed.tick("enabled"), "url": url, "api_key_env": typed.text("api_key_env")}

    fields = (
        Field("enabled", _("use a knowledge server"), knowledge.enabled),
        Field("url", _("Address"), knowledge.url, _("empty: one is started on this machine")),
        Field("api_key_env", _("Variable with its key"), knowledge.api_key_env, _("name of an environment variable")),
    )
    return FormScreen(_("Knowledge server"), fields, read)
