"""Runs an action as a function of a plug-in or a command that the project permits."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import json
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from flowcabal_tui.actions.errors import (
    ActionDisabled,
    ActionFailed,
    ActionForbidden,
    ActionUnbound,
    ApprovalRequired,
    BadOutput,
    BadParams,
    TimedOut,
)
from flowcabal_tui.actions.process import LINGER, run_process
from flowcabal_tui.actions.registry import Action, ActionFunction, ActionRegistry
from flowcabal_tui.actions.values import parse, problems
from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _
from flowcabal_tui.system.processes import minimal_environment

Commands = Mapping[str, tuple[str, ...]]
"""The project's allow-list: a name and its command line."""
OUTPUT_LIMIT: Final = 1024 * 1024
TIMEOUT: Final = 60.0


class _Ended(NamedTuple):
    """The end of a function: its value, or its exception."""

    value: Any = None
    error: BaseException | None = None


class ActionExecutor:
    """Runs the actions of a registry in `folder`. `timeout` is in seconds, `limit` in bytes of an output as JSON.

    A command sees no key. It runs only what its command line names: PATH contains no relative folder, and a Python
    (3.11 or later) imports nothing from the folder unless the command line names it.
    """

    def __init__(
        self,
        registry: ActionRegistry,
        commands: Commands,
        *,
        folder: Path,
        environment: Mapping[str, str] = os.environ,
        timeout: float = TIMEOUT,
        limit: int = OUTPUT_LIMIT,
        confirmed: Callable[[Action], None] = lambda _action: None,
    ) -> None:
        """`confirmed` raises FlowCabalError for an action that the user has not confirmed; nothing is started then."""
        self._registry, self._commands, self._folder = registry, commands, folder
        self._environment = {"LANG": "C.UTF-8", **minimal_environment(environment), "PYTHONSAFEPATH": "1"}
        self._timeout, self._limit, self._confirmed = timeout, limit, confirmed

    async def run(self, action_id: str, params: Mapping[str, Any], *, role: str, approved: bool) -> Any:
        """The action's output, a cleaned JSON value that matches its output schema.

        A function receives the parameters as its own dict, a command as JSON on standard input. A function that is not
        `async` cannot be stopped: after the time limit, its thread continues and its result is dropped. Raises
        UnknownAction, ActionDisabled, ActionForbidden, BadParams, ActionUnbound and ApprovalRequired before anything is
        started, in this order; then ActionFailed, TimedOut, BadOutput.
        """
        action = self._registry.get(action_id)
        self._permit(action, role)
        self._confirmed(action)
        given = _checked(action, params)
        binding = self._binding(action)
        if action.requires_approval and not approved:
            raise ApprovalRequired(
                action.action_id,
                _("{action} needs your approval.").format(action=action.title),
                json.dumps(given, ensure_ascii=False),  # whole: a part cut off would be approved unseen
                _("Approve it where the run asks for it."),
            )
        if isinstance(binding, tuple):
            text = await self._command(action, binding, given)
        else:
            text = await self._function(action, binding, given)
        return self._output(action, text)

    def _permit(self, action: Action, role: str) -> None:
        if not action.enabled:
            raise ActionDisabled(
                _("{action} is switched off.").format(action=action.title),
                "",
                _('Set "enabled" to true in the action registry.'),
            )
        if not action.allows(role):
            raise ActionForbidden(
                _("The role {role} may not use {action}.").format(role=role or _("(none)"), action=action.title),
                _("Allowed: {roles}.").format(roles=_(", ").join(action.allowed_roles)),
                _("Run as one of these roles, or change allowed_roles in the action registry."),
            )

    def _binding(self, action: Action) -> ActionFunction | tuple[str, ...]:
        """The function or the command line behind an action."""
        if action.command:
            if command := self._commands.get(action.command):
                return command
            raise ActionUnbound(
                _("The project does not allow the command {name}.").format(name=action.command),
                _("Allowed: {names}.").format(names=_(", ").join(sorted(self._commands)) or _("nothing")),
                _("Add it to the commands in flowcabal.toml if you trust it."),
            )
        name = action.function or action.tool_name
        if name and (function := self._registry.function(name)):
            return function
        raise ActionUnbound(
            _("{action} has no function or command.").format(action=action.title),
            _("No plug-in provides a function {name}.").format(name=name) if name else "",
            _("Give it a function of a plug-in or a command of the project, or simulate the run."),
        )

    async def _command(self, action: Action, command: tuple[str, ...], given: dict[str, Any]) -> str:
        try:
            finished = await run_process(
                command,
                json.dumps(given, ensure_ascii=False).encode(),
                folder=self._folder,
                environment=self._environment,
                timeout=self._timeout,
                limit=self._limit,
            )
        except (OSError, ValueError) as error:
            raise ActionFailed(
                _("The command of {action} cannot be started.").format(action=action.title),
                clean(f"{command[0]}: {error}"),
                _("Check the commands in flowcabal.toml."),
            ) from error
        complaint = clean(finished.complaint.decode("utf-8", "replace")).strip()
        if finished.overflowed:
            raise self._too_much(action)
        if finished.code is None:
            raise self._late(action, complaint)
        if finished.code:
            raise ActionFailed(
                _("{action} failed with code {code}.").format(action=action.title, code=finished.code),
                complaint,
                _("Correct the cause and run the node again."),
            )
        try:
            return finished.output.decode("utf-8")
        except UnicodeDecodeError as error:
            raise _not_json(action, str(error)) from error

    async def _function(self, action: Action, function: ActionFunction, given: dict[str, Any]) -> str:
        if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__):
            call: asyncio.Future[_Ended] = asyncio.ensure_future(_awaited(function, given))
        else:
            call = _in_thread(function, given)
        try:
            done, _waiting = await asyncio.wait({call}, timeout=self._timeout)
            if not done:
                raise self._late(action, "")
        finally:
            if not call.done():
                call.cancel()
                await asyncio.wait({call}, timeout=LINGER)
        ended = call.result()
        if isinstance(ended.error, FlowCabalError):
            raise ended.error
        if ended.error is not None:
            raise ActionFailed(
                _("{action} failed.").format(action=action.title),
                clean(f"{type(ended.error).__name__}: {ended.error}"),
                _("Correct the cause and run the node again."),
            ) from ended.error
        try:
            return json.dumps(ended.value, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise _not_json(action, str(error)) from error

    def _output(self, action: Action, text: str) -> Any:
        if len(text.encode("utf-8", "surrogatepass")) > self._limit:
            raise self._too_much(action)
        try:
            value = parse(text)
        except (ValueError, RecursionError) as error:
            raise _not_json(action, str(error)) from error
        if wrong := problems(action.output_schema, value):
            raise BadOutput(
                _("{action} returned something other than its schema promises.").format(action=action.title),
                "\n".join(wrong),
                _("Correct the action, or its output_schema in the action registry."),
            )
        return value

    def _too_much(self, action: Action) -> BadOutput:
        return BadOutput(
            _("{action} returned more than {n} bytes.").format(action=action.title, n=self._limit),
            _("It was stopped; nothing was kept."),
            _("Let it write to a file and return the file's name."),
        )

    def _late(self, action: Action, complaint: str) -> TimedOut:
        return TimedOut(
            _("{action} did not end within {n} s and was stopped.").format(action=action.title, n=f"{self._timeout:g}"),
            complaint,
            _("Run the node again, or correct the action."),
        )


def _checked(action: Action, params: Mapping[str, Any]) -> dict[str, Any]:
    """A cleaned copy of the parameters. Raises BadParams when they do not fit the schema."""
    try:
        given: dict[str, Any] = parse(json.dumps(dict(params), allow_nan=False))
        wrong = problems(action.arg_schema, given)
    except (TypeError, ValueError, RecursionError) as error:
        given, wrong = {}, [clean(str(error))]
    if wrong:
        raise BadParams(
            _("The parameters do not fit {action}.").format(action=action.title),
            "\n".join(wrong),
            _("Correct the parameters of the node."),
        )
    return given


def _not_json(action: Action, reason: str) -> BadOutput:
    return BadOutput(
        _("{action} returned something that is not JSON.").format(action=action.title),
        clean(reason),
        _("It must print one JSON value and nothing else; messages belong on standard error."),
    )


async def _awaited(function: ActionFunction, params: dict[str, Any]) -> _Ended:
    """Calls an `async` function. Its task is cancelled only when the caller no longer waits for the outcome."""
    try:
        return _Ended(await function(params))
    except (Exception, SystemExit, asyncio.CancelledError) as error:  # the edge: a plug-in may raise anything
        return _Ended(error=error)


def _in_thread(function: ActionFunction, params: dict[str, Any]) -> asyncio.Future[_Ended]:
    """Calls `function` in a daemon thread; a hanging thread of the loop's executor would block the program's end."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[_Ended] = loop.create_future()
    context = contextvars.copy_context()

    def settle(ended: _Ended) -> None:
        if not future.done():
            future.set_result(ended)

    def call() -> None:
        try:
            ended = _Ended(context.run(function, params))
        except (Exception, SystemExit) as error:  # the edge: a plug-in may raise anything
            ended = _Ended(error=error)
        with contextlib.suppress(RuntimeError):  # the loop is closed: the function ended too late
            loop.call_soon_threadsafe(settle, ended)

    threading.Thread(target=call, name="action", daemon=True).start()
    return future
