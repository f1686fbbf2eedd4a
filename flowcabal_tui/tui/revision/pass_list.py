"""The passes of a revision: adding, editing, moving, removing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Final, get_args

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.comments import COMMENT_KINDS, CommentKind
from flowcabal_tui.domain.revision import PassId, RevisionPass, new_pass
from flowcabal_tui.domain.run import ANGLES, RuleName
from flowcabal_tui.locale import _, mark
from flowcabal_tui.project.finding_words import check_title
from flowcabal_tui.project.project import Project
from flowcabal_tui.protocol.revision import PutPasses
from flowcabal_tui.tui.shared.form import Field, FormScreen, Typed, Unreadable, names_of
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.trouble import attempt, attempted
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.column_rows import Column, Columns
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData

_ITEMS: Final = re.compile("[;；]")
_CHECKS: Final = (*get_args(RuleName), *ANGLES)


class PassesScreen(ModalScreen[None]):
    """Lists the passes; every change is stored at once."""

    help = HelpData(
        mark("Passes"),
        mark("Each pass lists the findings of some checks and the comments of some kinds, and has a checklist. `+` "
             "adds one, `e` changes it, `<` and `>` move it, `D` removes it with its ticks."),
    )  # fmt: skip
    DEFAULT_CSS = """
    PassesScreen { background: $background; }
    PassesScreen > .head { height: 1; padding: 0 1; text-style: bold; }
    PassesScreen > .details { height: auto; max-height: 10; padding: 0 1; border-top: solid $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", mark("Back"), priority=True, id="passes.back"),
        Binding("plus", "add", mark("Add"), id="passes.add"),
        Binding("e", "change", mark("Change"), id="passes.change"),
        Binding("greater_than_sign,shift+down", "move(1)", mark("Move down"), id="passes.later"),
        Binding("less_than_sign,shift+up", "move(-1)", mark("Move up"), id="passes.earlier"),
        Binding("D,delete", "remove", mark("Remove"), id="passes.remove"),
        HELP_KEYS,
    ]

    def __init__(self, project: Project, cursor: PassId | None = None) -> None:
        super().__init__()
        self._project, self._first = project, cursor
        self._passes: tuple[RevisionPass, ...] = ()

    def compose(self) -> ComposeResult:
        """Yields the passes, and the subject of the one under the cursor."""
        yield Static(_("Passes of the revision, in their order"), markup=False, classes="head")
        yield PickList()
        yield Static(markup=False, classes="details")
        yield HintLine()

    def on_mount(self) -> None:
        """Selects the current pass."""
        self.query_one(PickList).focus()
        attempt(self, self._reload(self._first))

    async def _reload(self, cursor: PassId | None = None) -> None:
        self._passes = await self._project.revision.passes()
        columns = Columns(Column(is_number=True, role="secondary"), Column(fill=True))
        rows = [Option(columns.row(f"{n}", one_line(_(each.title), 60)), id=each.id)
                for n, each in enumerate(self._passes, 1)]  # fmt: skip
        self.query_one(PickList).refill(rows, cursor)
        self._show_pass()

    @property
    def _current(self) -> RevisionPass | None:
        picked = self.query_one(PickList).picked
        return next((each for each in self._passes if each.id == picked), None)

    @on(OptionList.OptionHighlighted)
    def _show_pass(self) -> None:
        if (each := self._current) is not None:
            checks = _(", ").join(map(check_title, each.checks)) or _("all")
            kinds = _(", ").join(_(COMMENT_KINDS[kind]) for kind in each.kinds) or _("all")
            lines = [
                _("Findings: {names}").format(names=checks),
                _("Comments: {names}").format(names=kinds),
                *(f"[ ] {one_line(_(item), 300)}" for item in each.checklist),
            ]
            self.query_one(".details", Static).update("\n".join(lines))

    @attempted()
    async def action_add(self) -> None:
        """Adds a pass at the end."""
        made = await self.app.push_screen_wait(pass_form(new_pass(_("New pass"), self._passes), is_new=True))
        if made is not None:
            await self._put((*self._passes, made), made.id)

    @on(OptionList.OptionSelected)
    @attempted()
    async def action_change(self) -> None:
        """Edits title, findings, comments and checklist."""
        old = self._current
        made = await self.app.push_screen_wait(pass_form(old)) if old is not None else None
        if old is not None and made is not None:
            await self._put([made if each.id == old.id else each for each in self._passes], old.id)

    def action_move(self, delta: int) -> None:
        """Moves the pass earlier or later."""
        if (each := self._current) is not None:
            passes = list(self._passes)
            at = passes.index(each)
            passes.insert(max(0, at + delta), passes.pop(at))
            attempt(self, self._put(passes, each.id))

    @attempted()
    async def action_remove(self) -> None:
        """Removes it after a question."""
        if (gone := self._current) is None:
            return
        title = _("Remove the pass {name}?").format(name=one_line(_(gone.title), 60))
        if await self.app.push_screen_wait(ConfirmScreen(title, _("Its ticks are lost."))):
            await self._put([each for each in self._passes if each.id != gone.id])

    async def _put(self, passes: Sequence[RevisionPass], cursor: PassId | None = None) -> None:
        await self._project.carry_out(PutPasses(tuple(passes)))
        await self._reload(cursor)


def pass_form(known: RevisionPass, *, is_new: bool = False) -> FormScreen[RevisionPass]:
    """Asks for the title, the listed comments, and the checklist. Built-in words that are not changed stay
    translatable."""
    kinds = {_(words): kind for kind, words in COMMENT_KINDS.items()}
    shown = "; ".join(_(item) for item in known.checklist)
    fields = (
        Field("title", _("Title"), "" if is_new else _(known.title)),
        Field("checks", _("Findings of"), _(", ").join(known.checks), _("names of checks; nothing: all")),
        Field(
            "kinds",
            _("Comments of kind"),
            _(", ").join(_(COMMENT_KINDS[kind]) for kind in known.kinds),
            _("nothing: all"),
        ),
        Field("checklist", _("Checklist"), shown, _("items separated by semicolons")),
    )

    def read(typed: Typed) -> RevisionPass:
        title, checklist = typed.text("title"), typed.text("checklist")
        if not title:
            raise Unreadable(_("A title is missing."))
        checks, named = names_of(typed.text("checks")), names_of(typed.text("kinds"))
        _require(checks, _CHECKS)
        _require(named, tuple(kinds))
        chosen: tuple[CommentKind, ...] = tuple(kinds[name] for name in named)
        items = known.checklist if checklist == shown else tuple(filter(None, map(str.strip, _ITEMS.split(checklist))))
        title = known.title if title == _(known.title) else title
        return replace(known, title=title, checks=checks, kinds=chosen, checklist=items)

    heading = _("A new pass") if is_new else _("The pass {name}").format(name=one_line(_(known.title), 60))
    return FormScreen(heading, fields, read, (*_CHECKS, *kinds))


def _require(names: Sequence[str], known: Sequence[str]) -> None:
    if unknown := [name for name in names if name not in known]:
        raise Unreadable(
            _("There is no {name}. Available: {names}").format(name=_(", ").join(unknown), names=_(", ").join(known))
        )
