"""Answers as text: `approve`, `approve:2`, `choose:2`, `reject`, `retry:more rain`, `mend:rain`, `edit:@file.txt`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from flowcabal_tui.domain.errors import RunError, available
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.domain.run import Decision, Question
from flowcabal_tui.domain.text import clean, clean_line
from flowcabal_tui.locale import _, in_every_language


class BadArgument(RunError):
    """Invalid words on the command line."""

    exit_code = 2


def require_beside(needed: str, is_there: bool, **given: object) -> None:
    """Raises BadArgument for a flag, by its name, that would be ignored without the needed one."""
    for name, value in given.items():
        if value and not is_there:
            raise BadArgument(_("--{flag} can only be used with {needed}.").format(flag=name, needed=needed))


def named(wanted: str, known: Mapping[str, str], unknown: str) -> str:
    """The id that is typed, or whose title in any language is. Raises BadArgument, with `unknown` as its title and all
    of `known`: titles by id."""
    typed = wanted.strip().casefold()
    for identity, title in known.items():
        if typed in {each.casefold() for each in (identity, *in_every_language(title))}:
            return identity
    names = (clean_line(each if _(title) == each else f"{each} ({_(title)})") for each, title in known.items())
    raise BadArgument(unknown.format(name=clean_line(wanted)), "", available(names))


def parse_answer(words: str) -> Decision:
    """The decision in a text. Raises BadArgument, also for a file that cannot be read."""
    kind, _colon, rest = words.strip().partition(":")
    match kind:
        case "approve" if rest.isdecimal() or not rest:
            return Decision("approve", attempt=int(rest or 0))
        case "choose" if rest.strip().isdecimal():
            return Decision("choose", attempt=int(rest))
        case "reject" if not rest:
            return Decision("reject")
        case "retry":
            return Decision("retry", note=rest.strip())
        case "mend":
            return Decision("mend", note=rest.strip())
        case "edit" if rest:
            return Decision("edit", text=_text(rest))
    raise BadArgument(
        _("{answer} is not a valid answer.").format(answer=words.strip()[:60] or '""'),
        "",
        _("Answer approve, approve:ATTEMPT, choose:N, reject, retry:NOTE, mend:NOTE or edit:@FILE."),
    )


def answer_to(question: Question, words: str) -> Decision:
    """The decision for typed words, which may also be the number or the name of a choice, or a text if one is expected.

    Raises BadArgument for words that do not answer this question.
    """
    words = words.strip()
    if question.kind == "choice":
        labels = [choice.label for choice in question.choices]
        if words.isdecimal():
            return Decision("choose", attempt=int(words))
        if words in labels:
            return Decision("choose", attempt=labels.index(words) + 1)
    try:
        return parse_answer(words)
    except BadArgument:
        if question.kind == "input" and words and not words.startswith("edit:@"):
            return Decision("edit", text=clean(words))
        raise


def how_to_answer(question: Question) -> str:
    """The answers that a person may type to this question."""
    match question.kind:
        case "choice":
            return _("Answer with a number, edit:TEXT, edit:@FILE or reject.")
        case "gate" | "limit":
            return _("Answer approve or reject.")
        case "input":
            return _("Type the text, or answer approve, edit:@FILE or reject.")
        case _:
            return _("Answer approve, approve:ATTEMPT, reject, retry:NOTE, mend:NOTE or edit:@FILE.")


def _text(rest: str) -> str:
    if not rest.startswith("@"):
        return clean(rest)
    try:
        return clean(Path(rest[1:]).read_text(encoding="utf-8"))
    except OSError as error:
        raise BadArgument(_("Cannot read {file}.").format(file=rest[1:]), os_reason(error)) from error
    except UnicodeDecodeError as error:
        title, advice = _("Cannot read {file}.").format(file=rest[1:]), _("Save it as UTF-8 and try again.")
        raise BadArgument(title, _("Its text is not UTF-8."), advice) from error


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers given before the run: each answers the question of its node, and never a required approval."""

    by_node: Mapping[str, Decision]

    @classmethod
    def from_flags(cls, flags: Iterable[str]) -> Answers:
        """The answers from `NODE=ANSWER` flags. Raises BadArgument."""
        pairs = (flag.partition("=") for flag in flags)
        return cls({node: parse_answer(words) for node, _equals, words in pairs})

    @property
    def nodes(self) -> Iterable[str]:
        """The nodes with an answer, as written."""
        return self.by_node.keys()

    def for_question(self, question: Question) -> Decision | None:
        """The answer to this question, if one was given and is permitted."""
        return None if question.required else self.given(question)

    def given(self, question: Question) -> Decision | None:
        """The answer given for the node by its path, else by its id, at any depth."""
        return next((self.by_node[name] for name in _names(question) if name in self.by_node), None)

    def unused(self, questions: Sequence[Question]) -> Iterable[str]:
        """Messages about answers that matched no question."""
        for node in self.by_node:
            of_node = [question for question in questions if node in _names(question)]
            if not of_node:
                yield _("note: {node} asked no question, so --decide was not used.").format(node=node)
            elif all(question.required for question in of_node):
                yield _("note: {node} must be approved by a person; --decide does not answer it.").format(node=node)


def _names(question: Question) -> tuple[str, str]:
    return question.node, question.node.rsplit("/", 1)[-1]
