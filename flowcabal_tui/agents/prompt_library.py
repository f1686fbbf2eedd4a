"""Prompts as files: those of the package, which the writer's own files replace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.resources import files
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from string import Template
from typing import Final

from flowcabal_tui.domain.errors import SettingsError
from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.model_calls import Message
from flowcabal_tui.domain.prompt_parts import escaped, in_attribute
from flowcabal_tui.domain.text import digest
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import _
from flowcabal_tui.system.files import Folder

_LARGEST: Final = 1024 * 1024
_FOLDER: Final = files("flowcabal_tui.agents") / "prompts"
_RULE: Final = "\n---\n"
_BETWEEN: Final = "\n…\n"
"""The separator of two pieces of one text."""
_DRAFT_ENDS: Final = "</draft>"
_SENT_TWICE: Final = frozenset({"monitor.check"})
"""Prompts whose draft is sent twice with one tool. Others get no cache mark, which costs money."""


@dataclass(frozen=True, slots=True)
class Fenced:
    """Text that is already escaped and tagged, and goes into a prompt unchanged."""

    text: str


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text that a model may quote. `uri` is project-relative, `start` the offset of `text` in it.

    A `whole` text is not shortened to make space for others; `shortened` says to the model how much of a longer text
    this is. `about` names the subject if the text does not. Sources with the same id are pieces of one text.
    """

    id: str
    uri: str
    title: str
    text: str
    start: int = 0
    whole: bool = False
    about: str = ""
    shortened: str = ""


@dataclass(frozen=True, slots=True)
class AgentPrompt:
    """A prompt file: the system message and the user message, both with `${placeholders}`."""

    name: str
    system: Template
    user: Template

    @property
    def digest(self) -> Digest:
        return digest(self.system.template + _RULE + self.user.template)

    @property
    def placeholders(self) -> frozenset[str]:
        return frozenset((*self.system.get_identifiers(), *self.user.get_identifiers()))

    def fill(self, values: Mapping[str, str | Fenced]) -> tuple[Message, Message]:
        """The two messages, every plain value escaped. Raises KeyError for a placeholder without a value.

        Empty fenced material leaves no tags. The part up to the end of `<draft>` is marked as stable where two
        questions with one tool share it.
        """
        ready = {
            name: value.text
            if isinstance(value, Fenced)
            else (in_attribute if f'"${{{name}}}"' in self.user.template else escaped)(value)
            for name, value in values.items()
        }
        template = self.user.template
        for name in (name for name, value in values.items() if value == Fenced("")):
            template = template.replace(f"<{name}>\n${{{name}}}\n</{name}>\n", "")
        user = Template(template).substitute(ready)
        end = user.find(_DRAFT_ENDS) + len(_DRAFT_ENDS)
        stable = (end,) if self.name in _SENT_TWICE and _DRAFT_ENDS in user else ()
        return Message("system", self.system.substitute(ready)), Message("user", user, stable=stable)


def fenced_sources(sources: Iterable[SourceText]) -> Fenced:
    """`<source id="s1" title="...">text</source>`, one after the other, each piece of a text on a line of its own. A
    source without a title has no such attribute."""
    return Fenced("\n".join(_fenced_source(list(pieces)) for _id, pieces in groupby(sources, attrgetter("id"))))


def _fenced_source(pieces: Sequence[SourceText]) -> str:
    title = f' title="{in_attribute(pieces[0].title)}"' if pieces[0].title else ""
    head = f'<source id="{in_attribute(pieces[0].id)}"{title}>'
    notes = "".join(f"\n{each.shortened}" for each in pieces if each.shortened)
    lines = ((f"[{each.about}] {each.text}" if each.about else each.text).rstrip() for each in pieces)
    return f"{head}{escaped(_BETWEEN.join(lines))}</source>{notes}"


def name_lines(entities: Iterable[Entity]) -> str:
    """The `<names>` of a prompt: `kind: name | alias | alias`, one entity a line."""
    return "\n".join(f"{entity.kind}: {' | '.join(entity.names)}" for entity in entities)


@cache
def _built_in(name: str) -> str:
    return (_FOLDER / f"{name}.md").read_text(encoding="utf-8")


@cache
def _built_in_names() -> tuple[str, ...]:
    stems = (item.name.removesuffix(".md") for item in _FOLDER.iterdir() if item.name.endswith(".md"))
    return tuple(sorted(stem for stem in stems if stem != "README"))


class PromptLibrary:
    """The prompts by name. A file `<name>.md` in the project's folder replaces the built-in one."""

    def __init__(self, project_prompts: Path | None = None, permit: Callable[[str, str], None] | None = None) -> None:
        """`permit` is called with the name and the text of each file of the project before it is used; it raises
        ModelError for one that the user has not confirmed. None: the files are the user's own."""
        self._folder, self._permit = project_prompts, permit

    def names(self) -> tuple[str, ...]:
        """All prompts that the agents use and all parts of prompts, sorted."""
        return _built_in_names()

    def source(self, name: str) -> Path | None:
        """The writer's file in use for `name`; None when the built-in one is used."""
        if self._folder is None or not Folder(self._folder.parent).is_there(self._folder.name, f"{name}.md"):
            return None
        return self._folder / f"{name}.md"

    def text(self, name: str) -> str:
        """The text of the file in use.

        Raises KeyError for an unknown name, SettingsError for an unreadable file, ModelError(NOT_CONFIRMED) for one
        that the user has not confirmed.
        """
        if name not in self.names():
            raise KeyError(name)
        own = self.source(name)
        if own is None:
            return _built_in(name)
        text = self._read(own)
        if self._permit is not None:
            self._permit(name, text)
        return text

    def own(self) -> Iterator[tuple[str, str]]:
        """Name and text of each readable file of the project, whether it may be used or not."""
        for name in self.names():
            if (path := self.source(name)) is not None:
                with suppress(SettingsError):
                    yield name, self._read(path)

    def _read(self, path: Path) -> str:
        try:
            return Folder(path.parent.parent).text(path.parent.name, path.name, limit=_LARGEST)
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(_("One of your prompts cannot be read."), f"{path}: {error}", _advice()) from error

    def get(self, name: str) -> AgentPrompt:
        """The prompt in use. Raises SettingsError for a writer's file without a rule, or with other placeholders."""
        text, path = self.text(name), self.source(name)
        if path is None:
            return _built_in_prompt(name)
        prompt, expected = _parse(name, text, path), _built_in_prompt(name).placeholders
        unknown, missing = sorted(prompt.placeholders - expected), sorted(expected - prompt.placeholders)
        if problems := [
            *(_("unknown placeholder ${{{name}}}").format(name=each) for each in unknown),
            *(_("missing placeholder ${{{name}}}").format(name=each) for each in missing),
        ]:
            raise _unfit(path, ", ".join(problems))
        return prompt

    def part(self, name: str) -> str:
        """Text that becomes part of a prompt, verbatim. Raises SettingsError if the writer's is a whole prompt."""
        words = self.text(name).strip()
        if not words or _RULE in self.text(name):
            problem = _("it contains text that becomes part of a prompt, so no line --- is allowed")
            raise _unfit(self.source(name), problem)
        return words


@cache
def _built_in_prompt(name: str) -> AgentPrompt:
    return _parse(name, _built_in(name), None)


def _advice() -> str:
    return _("Correct the file, or delete it to go back to the built-in prompt.")


def _unfit(path: Path | None, problem: str) -> SettingsError:
    return SettingsError(_("One of your prompts does not fit its task."), f"{path}: {problem}", _advice())


def _parse(name: str, text: str, path: Path | None) -> AgentPrompt:
    system, rule, user = text.partition(_RULE)
    prompt = AgentPrompt(name, Template(system.strip()), Template(user.strip()))
    problem = "" if rule else _("the line --- between the system message and the user message is missing")
    if not (prompt.system.is_valid() and prompt.user.is_valid()):
        problem = _("a $ that does not start a placeholder; write $$ for a dollar sign")
    if problem:
        raise _unfit(path, problem)
    return prompt
