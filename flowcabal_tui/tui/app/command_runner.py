"""Runs a command of the palette in its place, after showing its pane or opening its page."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widget import Widget
from textual.worker import WorkerError

from flowcabal_tui.locale import _
from flowcabal_tui.tui.shared.trouble import attempt

if TYPE_CHECKING:
    from flowcabal_tui.tui.app.commands import PaletteCommand
    from flowcabal_tui.tui.app.departure import Departure
    from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen


class CommandRunner:
    """Asks for a command and runs it in its place. Stops waiting when another key is pressed."""

    def __init__(self, app: App[int], departure: Departure, own_keys: Mapping[str, str]) -> None:
        self._app, self._departure, self._own_keys = app, departure, own_keys
        self._awaited: tuple[type[DOMNode], asyncio.Future[Screen[Any] | None]] | None = None
        self._pressed = 0
        self._below: list[Screen[Any]] = []
        """The screens that were there when the command was chosen that runs now."""
        self.begun = asyncio.Event()
        """Set when the chosen command has ended or has opened a screen, which gets the keys that follow."""
        self.begun.set()

    def _start(self, command: PaletteCommand) -> None:
        async def carried() -> None:
            try:
                await self.carry_out(command)
            finally:
                self.begun.set()

        self.begun.clear()
        attempt(self._departure.workspace or self._app.screen_stack[0], carried())

    def screen_changed(self, screen: Screen[Any]) -> None:
        """Continues a command when the page for which it waited is open."""
        if screen not in self._below:
            self.begun.set()
        if self._awaited is not None and isinstance(screen, self._awaited[0]) and not self._awaited[1].done():
            self._awaited[1].set_result(screen)

    def give_up(self) -> None:
        """Stops waiting for a command's place, because a key was pressed."""
        self._pressed += 1
        if self._awaited is not None:
            if not self._awaited[1].done():
                self._awaited[1].set_result(None)
            self._awaited = None

    def ask(self) -> None:
        """Shows the palette, and runs the chosen command."""
        from flowcabal_tui.tui.app.palette import PaletteScreen  # knows every screen: read when it is opened

        def chosen(command: PaletteCommand | None) -> None:
            if command is not None:
                self._start(command)

        found = sorted(self._app.screen.active_bindings.values(), key=lambda each: -len(each.node.ancestors))
        here = dict.fromkeys(each.binding.id for each in found if each.binding.id and each.enabled)
        palette = PaletteScreen({name: place for place, name in enumerate(here)}, self._own_keys)
        self._below = [*self._app.screen_stack, palette]
        self._app.push_screen(palette, chosen)

    def lead(self) -> None:
        """Waits for the letter after the leader key, and runs its command."""
        from flowcabal_tui.tui.app.leader import LeaderScreen

        if isinstance(self._app.screen, LeaderScreen):
            self._app.screen.action_show_keys()
        else:
            self._app.push_screen(LeaderScreen(), lambda action: self.run(action) if action else None)

    def run(self, action: str) -> None:
        """Runs the command with the id `action` in the open book; does nothing without one."""
        from flowcabal_tui.tui.app.commands import all_commands  # knows every screen: read when it is needed

        if (workspace := self._departure.workspace) is not None:
            attempt(workspace, self.carry_out(next(each for each in all_commands() if each.id == action)))

    async def carry_out(self, command: PaletteCommand) -> None:
        """Runs the command in its place, or shows the reason why it cannot."""
        place = self._here(command) or await self._reach(command)
        if place is not None and not await self._app.run_action(command.action, place):
            from flowcabal_tui.tui.book.manuscript import ManuscriptPane  # imported by then

            words = _("{title} is not possible at the moment.")
            if isinstance(place, ManuscriptPane) and place.face == "edit":
                words = _("{title} is not possible in the editor: press `Esc` first.")
            self._say(words.format(title=_(command.title)))

    def _here(self, command: PaletteCommand) -> DOMNode | None:
        """The node of the command's keys, where they work already."""
        if command.where == "app":
            return self._app
        for active in self._app.screen.active_bindings.values():
            if active.binding.id == command.id:
                return active.node
        return None

    async def _reach(self, command: PaletteCommand) -> DOMNode | None:
        """Opens the place of the command. Returns None if it cannot be opened, or if the writer must choose a row
        first.

        In the second case a notice names the key of the command.
        """
        from flowcabal_tui.tui.app.commands import is_of_page
        from flowcabal_tui.tui.app.effects import acts_on_row

        workspace = self._departure.workspace
        if (obstacle := self._obstacle(command)) or workspace is None:
            self._say(obstacle)
            return None
        if not await self._back_to(workspace):
            self._say(_("Close this first: {title} works elsewhere.").format(title=_(command.title)))
            return None
        if command.owner is None:
            return workspace
        node = await self._show(workspace, command.owner)
        if isinstance(node, Screen) and is_of_page(command):
            return await self._filled(node)
        if node is not None and (isinstance(node, Screen) or acts_on_row(command.id)):
            key, words = command.shown_key(self._own_keys), _(command.words) or _(command.title)
            self._say(_("Check what is shown, then press {key}: {words}").format(key=key, words=words))
            return None
        return node

    async def _filled(self, page: Screen[Any]) -> Screen[Any] | None:
        """Waits until a page that was just opened has read its rows; None when a key was pressed meanwhile."""
        pressed = self._pressed
        await _handled(self._app)
        for each in [each for each in self._app.workers if each.node is page and each.is_running]:
            with suppress(WorkerError):
                await each.wait()
        return page if pressed == self._pressed else None

    def _obstacle(self, command: PaletteCommand) -> str:
        """The reason why the command is not available from here; "" if it is."""
        from flowcabal_tui.tui.app.commands import opener
        from flowcabal_tui.tui.app.keyed import keyed

        title, owner = _(command.title), command.owner
        if command.where == "home":
            return _("{title} works on the start page.").format(title=title)
        if self._departure.workspace is None:
            return _("{title} needs an open book.").format(title=title)
        if owner is not None and not keyed()[owner].pane and opener(owner) is None:
            return _("{title} works in {place}, which is not open.").format(title=title, place=_(command.place))
        return ""

    async def _show(self, workspace: WorkspaceScreen, owner: type[DOMNode]) -> DOMNode | None:
        """Shows the pane, or opens the page, of a command."""
        from flowcabal_tui.tui.app.commands import opener
        from flowcabal_tui.tui.app.keyed import keyed

        if pane := keyed()[owner].pane:
            workspace.action_pane(pane)
            return workspace.query_one(f"#{pane}")
        way = opener(owner)
        if way is None:
            return None
        if issubclass(owner, Widget) and not issubclass(owner, Screen):
            return await self._part(workspace, owner, way)
        return await self._page(owner, way)

    async def _part(self, workspace: WorkspaceScreen, owner: type[Widget], way: PaletteCommand) -> DOMNode | None:
        """Shows a part of the workspace that is not always there."""
        if not any(each.is_on_screen for each in workspace.query(owner)):
            if (place := self._here(way) or await self._reach(way)) is None:
                return None
            await self._app.run_action(way.action, place)
            await _handled(self._app)
        return next((each for each in workspace.query(owner) if each.display), None)

    async def _page(self, owner: type[DOMNode], way: PaletteCommand) -> DOMNode | None:
        """Opens a page and returns it once it is the current screen; None when a key was pressed meanwhile."""
        page: asyncio.Future[Screen[Any] | None] = asyncio.get_running_loop().create_future()
        place = self._here(way) or await self._reach(way)
        if place is None:
            return None
        self._awaited = (owner, page)
        await self._app.run_action(way.action, place)
        self.screen_changed(self._app.screen)
        shown = await page
        self._awaited = None
        return shown

    async def _back_to(self, base: Screen[Any]) -> bool:
        """Leaves the screens over the workspace as Esc does; False if one stays because it asks something."""
        while (top := self._app.screen) is not base:
            left, count = top.active_bindings.get("escape"), len(self._app.screen_stack)
            if left is None:
                return False
            await self._app.run_action(left.binding.action, left.node)
            await _handled(self._app)
            if len(self._app.screen_stack) >= count:
                return False
        return True

    def _say(self, words: str) -> None:
        self._app.notify(words, severity="warning", markup=False)


async def _handled(app: App[int]) -> None:
    """Returns when the app has handled all messages in its queue."""
    done = asyncio.Event()
    app.call_later(done.set)
    await done.wait()
