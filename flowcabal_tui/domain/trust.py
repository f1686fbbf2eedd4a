"""The permissions that a project folder asks for: everything in it that can send, spend or run, item by item."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Literal

from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.text import clean, clean_line, digest_of
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import _, mark

TrustKind = Literal["model", "key", "knowledge", "command", "action", "gate", "plugin", "agent", "workflow", "prompt"]
TRUST_KINDS: Final[dict[TrustKind, str]] = {
    "model": mark("Models that the text of the book is sent to"),
    "key": mark("Your keys, and the host that each is sent to"),
    "knowledge": mark("Knowledge servers"),
    "command": mark("Commands that run on this machine"),
    "action": mark("Actions that ask you each time"),
    "gate": mark("Actions and steps that run WITHOUT asking you"),
    "plugin": mark("Installed plug-ins that it uses"),
    "agent": mark("Agents that it uses"),
    "workflow": mark("Workflows whose prompts are sent to the models"),
    "prompt": mark("Its own prompts for background work"),
}
"""Every kind with the heading of its items, in display order."""
TrustState = Literal["trusted", "changed", "restricted"]
"""trusted: all of it is confirmed; changed: some items are new; restricted: this user never confirmed the folder."""


@dataclass(frozen=True, slots=True)
class TrustItem:
    """One permission that a project asks for.

    `name` identifies it within its kind; `target` is the host, command line or file; `text` is the full text that the
    user may want to read before answering. All three are cleaned. `digest` covers everything that identifies this item.
    """

    kind: TrustKind
    name: str
    target: str
    digest: Digest
    text: str = ""

    @classmethod
    def of(cls, kind: TrustKind, name: str, target: str, *, binds: Any, text: str = "") -> TrustItem:
        """Makes an item. `binds` is the JSON value that must not change unnoticed; kind and name are always part of
        it."""
        return cls(kind, clean_line(name), clean_line(target), digest_of([kind, name, binds]), clean(text))

    @property
    def description(self) -> str:
        """One line for a person, in the language of the screen."""
        words = _("{name} to {host}") if self.kind == "key" else _("{name}: {target}")
        return words.format(name=self.name, target=self.target, host=self.target)


@dataclass(frozen=True, slots=True)
class TrustRequest:
    """All permissions that a project asks for, in the order of the kinds."""

    items: tuple[TrustItem, ...] = ()

    @classmethod
    def of(cls, items: Iterable[TrustItem]) -> TrustRequest:
        """The request with each item once."""
        order = list(TRUST_KINDS)
        once = {item.digest: item for item in items}.values()
        return cls(tuple(sorted(once, key=lambda item: (order.index(item.kind), item.target, item.name))))

    def lines(self) -> tuple[str, ...]:
        """A heading for each kind, and below it an indented line for each item."""
        found: list[str] = []
        for kind, title in TRUST_KINDS.items():
            listed = [f"  {item.description}" for item in self.items if item.kind == kind]
            found += [_("{title}:").format(title=_(title)), *listed] if listed else []
        return tuple(found)


@dataclass(frozen=True, slots=True)
class TrustView:
    """The trust of this user in a project.

    `asked` are the unanswered items, `confirmed` the rest of the request. `for_this_run`: the user accepted until the
    program ends. `problem` is the reason why the answer could not be recorded ("": it was).
    """

    state: TrustState
    asked: TrustRequest
    confirmed: TrustRequest = TrustRequest()
    for_this_run: bool = False
    problem: str = ""
