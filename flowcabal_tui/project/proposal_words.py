"""The user's words for proposals, shared by screen and command line: content, change, and reason for waiting."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.proposals import (
    Finding,
    NewName,
    Origin,
    OutlineEdit,
    Proposal,
    ProposalKind,
    ProposalState,
    Reason,
    ReasonCode,
    Review,
    TextEdit,
    TitleEdit,
    WorkflowEdit,
)
from flowcabal_tui.domain.quoting import quotable
from flowcabal_tui.domain.story import Fact, Moment, Promise, Relation, Sequel, StoryRecord
from flowcabal_tui.domain.text import clean_line
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.project.finding_words import finding_title

KINDS: Final[Mapping[ProposalKind, str]] = {
    "entity": mark("new name"),
    "name": mark("further name"),
    "relation": mark("relation"),
    "fact": mark("fact"),
    "promise": mark("promise"),
    "moment": mark("moment"),
    "sequel": mark("change"),
    "edit": mark("edit"),
    "outline": mark("outline"),
    "workflow": mark("workflow"),
    "finding": mark("finding"),
    "title": mark("title"),
    "review": mark("change of the book"),
}
_STATES: Final[Mapping[ProposalState, str]] = {
    "waiting": mark("waits for you"),
    "applied": mark("in use"),
    "confirmed": mark("confirmed"),
    "corrected": mark("corrected"),
    "dropped": mark("dropped"),
    "resolved": mark("the text was edited"),
    "withdrawn": mark("withdrawn"),
    "later": mark("set aside"),
    "intended": mark("intended"),
    "useless": mark("not useful"),
    "changed": mark("changed from here on"),
}
_EDIT_STATES: Final[Mapping[ProposalState, str]] = {
    "confirmed": mark("accepted"),
    "corrected": mark("accepted with your words"),
    "dropped": mark("refused"),
}
"""The states of changes to a text, an outline or a workflow."""
_REASONS: Final[Mapping[ReasonCode, str]] = {
    "quoted": mark("The quotation supports it."),
    "short": mark("The quotation is too short to support it."),
    "unnamed": mark("The quotation does not name whom it is about."),
    "unrelated": mark("The quotation has no word in common with it."),
    "unquoted": mark("Its quotation is not in the chapter: “{detail}”"),
    "unknown": mark("The book does not know the name {detail}."),
    "overrules": mark("It would change what you wrote: {detail} The change may be unintended."),
    "named": mark("An alias."),
    "rare": mark("The name occurs once."),
    "inside": mark("The name occurs only as a part of a longer word."),
    "shared": mark("The name could also belong to someone else."),
    "own": mark("An alias for an entry of yours."),
    "worded": "{detail}",
}
_ENDED: Final = late(r"""(?:([。！？]|……)|[.!?])[”’」』"')）]*$""")
NameOf = Callable[[EntityId], str]


def joined(*parts: str) -> str:
    """The parts on one line, separated by semicolons unless a part ends its sentence itself."""
    line = ""
    for part in filter(None, parts):
        ends = _ENDED.search(line)
        line += part if not line else f"{'' if ends and ends[1] else ' '}{part}" if ends else _("; ") + part
    return line


def proposal_line(proposal: Proposal, name_of: NameOf) -> str:
    """The content of a proposal, on one line."""
    match proposal.difference.after:
        case Entity(name=name, aliases=aliases):
            return clean_line(" = ".join((name, *aliases)))
        case NewName(entity=entity, name=name):
            return clean_line(f"{name_of(entity)} = {name}")
        case Sequel() as sequel:
            return _ending(sequel, proposal.difference.before, name_of)
        case TextEdit(after=after) | OutlineEdit(after=after) | TitleEdit(after=after):
            return clean_line(after) or _("(deleted)")
        case Review(words=words, places=places, chapters=number):
            counted = ngettext("{n} place", "{n} places", places).format(n=places)
            chapters = ngettext("{n} chapter", "{n} chapters", number).format(n=number)
            return joined(clean_line(words), counted, chapters)
        case WorkflowEdit(workflow=workflow, words=words, changes=number):
            title = clean_line(f"{workflow}: {words}" if workflow else words)
            return joined(title, ngettext("{n} change", "{n} changes", number).format(n=number))
        case Finding():
            return finding_title(proposal)
        case record:
            return record_words(record, name_of)


def record_words(record: StoryRecord, name_of: NameOf) -> str:
    """A relation with its ends, or the words of another record, on one line."""
    if isinstance(record, Relation):
        sign = "→" if record.directed else "─"
        source, target = (name_of(end) if end else "?" for end in (record.source, record.target))
        return clean_line(f"{source} {sign} {record.kind} {sign} {target}")
    return clean_line(record.text)


def _ending(sequel: Sequel, record: StoryRecord | None, name_of: NameOf) -> str:
    words = record_words(record, name_of) if record is not None else sequel.record
    if sequel.learned_by is not None:
        return _("{name} learns: {words}").format(name=name_of(sequel.learned_by), words=words)
    return (_("paid: {words}") if isinstance(record, Promise) else _("ends: {words}")).format(words=words)


def changed(proposal: Proposal, name_of: NameOf) -> str:
    """The change to an existing thing; "" when the proposal only adds."""
    before, after = proposal.difference.before, proposal.difference.after
    if isinstance(after, TextEdit | OutlineEdit | TitleEdit):
        return _("Previously: {words}").format(words=clean_line(after.before)) if after.before else ""
    if before is None or isinstance(after, Sequel):
        return ""
    return _("Previously: {words}").format(words=record_words(before, name_of))


def about(proposal: Proposal, name_of: NameOf) -> str:
    """The subjects, and a fact's state or a moment's time."""
    match proposal.difference.after:
        case Fact(about=people, attribute=detail) | Moment(about=people, when=detail):
            return joined(_(", ").join(map(name_of, people)), clean_line(detail))
        case Promise(about=people):
            return _(", ").join(map(name_of, people))
    return ""


def reason(proposal: Proposal) -> str:
    """The reason why it is made or waits."""
    if isinstance(proposal.difference.after, Finding):
        return clean_line(proposal.difference.after.explanation)
    if proposal.kind in ("entity", "name") and proposal.reason.grounds == "quoted":
        return _("The chapter mentions it.")
    return reason_words(proposal.reason)


def reason_words(why: Reason) -> str:
    """A reason as a sentence."""
    words, detail = _REASONS[why.grounds], clean_line(why.detail)
    detail = quotable(detail) if why.grounds == "unquoted" else detail
    return (words if words == "{detail}" else _(words)).format(detail=detail)


def origin(who: Origin) -> str:
    """The origin of a proposal."""
    return _("found in the text") if who.by == "rule" else _("by an agent")


def state_words(proposal: Proposal) -> str:
    """The state in words. An edit is accepted or refused; a note of a reader is answered, whatever happened to the
    text."""
    if proposal.origin.by == "reader" and proposal.state == "resolved":
        return _("answered")
    if isinstance(proposal.difference.after, TextEdit | OutlineEdit | TitleEdit | WorkflowEdit):
        return _(_EDIT_STATES.get(proposal.state, _STATES[proposal.state]))
    return _(_STATES[proposal.state])
