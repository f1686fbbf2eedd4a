"""Carrying actions out by functions and by commands of the project."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.actions.errors import (
    ActionDisabled,
    ActionError,
    ActionFailed,
    ActionForbidden,
    ActionUnbound,
    ApprovalRequired,
    BadOutput,
    BadParams,
    TimedOut,
    UnknownAction,
)
from flowcabal_tui.actions.executor import ActionExecutor
from flowcabal_tui.actions.registry import Action, ActionFunction, ActionRegistry
from flowcabal_tui.domain.errors import ProjectReadOnly
from tests.actions.functions import RegistryWithFunctions
from tests.waiting import PATIENCE, pass_time, until

HOSTILE = "$(touch owned); `touch owned` | touch owned && touch owned > owned\n'\"; --help \\ * ~ %s"
ECHO = "import json, sys; print(json.dumps({'given': json.load(sys.stdin), 'argv': sys.argv[1:]}))"


def action(**changes: Any) -> Action:
    return Action.model_validate({"action_id": "a", "description": "", "arg_schema": {}, **changes})


Run = Callable[..., Any]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs one action, with a function or with a Python program as its command."""

    async def with_parts(
        params: dict[str, Any] | None = None,
        *,
        function: ActionFunction | None = None,
        program: str | None = None,
        command: tuple[str, ...] = (),
        role: str = "author",
        approved: bool = False,
        timeout: float = 20,
        limit: int = 10_000,
        **changes: Any,
    ) -> Any:
        registry = RegistryWithFunctions(
            [action(**{"function" if function else "command": "it", **changes})],
            **({"it": function} if function else {}),
        )
        commands = {"it": command or (sys.executable, "-c", program or ECHO)}
        executor = ActionExecutor(registry, commands, folder=tmp_path, timeout=timeout, limit=limit)
        return await executor.run("a", params or {}, role=role, approved=approved)

    return with_parts


async def test_a_function_takes_the_params_and_gives_a_json_value(run: Run) -> None:
    async def later(params: dict[str, Any]) -> Any:
        await asyncio.sleep(0)
        return {"n": params["n"] + 1, "pair": (1, 2)}

    assert await run({"n": 1}, function=later) == {"n": 2, "pair": [1, 2]}
    assert await run({"n": 1}, function=lambda params: list(params)) == ["n"]


async def test_a_function_that_is_not_async_leaves_the_loop_free(run: Run) -> None:
    gate = threading.Event()

    def waits(params: dict[str, Any]) -> str:
        gate.wait(PATIENCE)
        return threading.current_thread().name

    waiting = asyncio.create_task(run(function=waits))
    await asyncio.sleep(0)
    gate.set()
    assert await waiting != threading.current_thread().name


async def test_a_command_gets_the_params_on_standard_input_only(run: Run) -> None:
    params = {"text": "雨夜", "n": 1.5}
    assert await run(params) == {"given": params, "argv": []}


async def test_what_a_shell_would_obey_is_only_text(run: Run, tmp_path: Path) -> None:
    assert (await run({"text": HOSTILE, HOSTILE: "x"}))["given"] == {"text": HOSTILE, HOSTILE: "x"}
    assert await run({"text": HOSTILE}, command=("cat",)) == {"text": HOSTILE}
    assert (
        await run(command=(sys.executable, "-c", "import sys, json; print(json.dumps(sys.argv[1]))", HOSTILE))
        == HOSTILE
    )
    assert list(tmp_path.iterdir()) in ([], [tmp_path / "home"])


async def test_a_command_sees_neither_keys_nor_other_folders(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("ANYTHING", "else")
    registry = ActionRegistry([action(command="it")])
    program = "import json, os; print(json.dumps([dict(os.environ), os.getcwd()]))"
    executor = ActionExecutor(registry, {"it": (sys.executable, "-c", program)}, folder=tmp_path)
    environment, folder = await executor.run("a", {}, role="", approved=False)
    assert {"PATH", "LANG", "HOME", "PYTHONSAFEPATH"} <= set(environment)
    assert not {"OPENAI_API_KEY", "ANYTHING"} & set(environment)
    assert Path(folder).samefile(tmp_path)


async def test_a_script_of_the_project_runs_from_the_projects_folder(run: Run, tmp_path: Path) -> None:
    script = tmp_path / "say.sh"
    script.write_text("#!/bin/sh\necho '\"yes\"'\n")
    script.chmod(0o700)
    assert await run(command=("./say.sh",)) == "yes"


async def test_control_sequences_are_cleaned_on_the_way_in_and_out(run: Run) -> None:
    answer = await run(
        {"text": "\x1b[2Jred"}, program="import sys; print(sys.stdin.read().replace('red', '\\\\u001b]0;x\\\\u0007'))"
    )
    assert answer == {"text": ""}


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({}, "'n' is a required property"),
        ({"n": "3"}, "$.n: '3' is not of type 'integer'"),
        ({"n": float("nan")}, "JSON compliant"),
    ],
)
async def test_params_that_do_not_fit_are_refused_before_anything_starts(
    run: Run, params: dict[str, Any], words: str
) -> None:
    called: list[Any] = []
    schema = {"properties": {"n": {"type": "integer"}}, "required": ["n"]}
    with pytest.raises(BadParams) as caught:
        await run(params, function=called.append, arg_schema=schema)
    assert words in caught.value.detail and called == []


class Schemas(BaseHTTPRequestHandler):
    """Answers every request with a schema that everything fits."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_values: object) -> None:
        """Says nothing."""


async def test_a_schema_that_refers_to_elsewhere_fetches_nothing(run: Run) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Schemas) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(BadParams, match="which is not in it"):
            await run(arg_schema={"$ref": f"http://127.0.0.1:{server.server_port}/schema.json"})
        server.shutdown()


async def test_a_forbidden_role_is_refused(run: Run) -> None:
    with pytest.raises(ActionForbidden, match="The role author may not use a") as caught:
        await run(allowed_roles=["editor"])
    assert caught.value.detail == "Allowed: editor."
    with pytest.raises(ActionForbidden):
        await run(allowed_roles=["editor"], role="")
    assert await run(allowed_roles=["editor"], role="editor", command=("echo", "1")) == 1


async def test_an_action_that_is_switched_off_does_not_run(run: Run) -> None:
    with pytest.raises(ActionDisabled):
        await run(enabled=False)


async def test_an_action_that_needs_approval_waits_for_it(run: Run) -> None:
    called: list[Any] = []
    with pytest.raises(ApprovalRequired) as caught:
        await run({"to": "编辑"}, function=called.append, requires_approval=True)
    assert caught.value.action_id == "a" and caught.value.detail == '{"to": "编辑"}' and called == []
    with pytest.raises(ApprovalRequired) as caught:
        await run({"to": "x" * 9000 + "secret"}, function=called.append, requires_approval=True)
    assert "secret" in caught.value.detail, "nothing is approved unseen"
    await run({"to": "编辑"}, function=called.append, requires_approval=True, approved=True)
    assert called == [{"to": "编辑"}]


async def attempt(registry: ActionRegistry, **commands: tuple[str, ...]) -> Any:
    return await ActionExecutor(registry, commands, folder=Path()).run("a", {}, role="", approved=False)


@pytest.mark.parametrize(
    ("binding", "words"),
    [
        ({"command": "rm"}, "does not allow the command rm.\nAllowed: list."),
        ({"function": "gone"}, "No plug-in provides a function gone."),
        ({"tool_name": "search_web"}, "No plug-in provides a function search_web."),
        ({}, "a has no function or command."),
        ({"requires_approval": True}, "a has no function or command."),
    ],
)
async def test_an_action_with_nothing_behind_it_says_so_before_anybody_is_asked(
    binding: dict[str, Any], words: str
) -> None:
    with pytest.raises(ActionUnbound) as caught:
        await attempt(ActionRegistry([action(**binding)]), list=("ls",))
    assert words in str(caught.value)


async def test_the_originals_tool_name_finds_a_function_too() -> None:
    registry = RegistryWithFunctions([action(tool_name="search_web")], search_web=lambda params: "found")
    assert await attempt(registry) == "found"


async def test_an_action_that_nobody_knows_is_refused() -> None:
    with pytest.raises(UnknownAction):
        await attempt(ActionRegistry())


async def test_a_command_that_cannot_be_started_is_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no program")
    for command in (("no-such-program-here",), ("./text",), ("nul\0",)):
        with pytest.raises(ActionFailed, match="cannot be started"):
            await run(command=command)


async def test_a_command_that_fails_is_told_with_its_last_words(run: Run) -> None:
    program = "import sys; print('{}'); print('x' * 9000 + '\\x1b[31mno disk', file=sys.stderr); sys.exit(3)"
    with pytest.raises(ActionFailed, match="a failed with code 3") as caught:
        await run(program=program)
    assert caught.value.detail.endswith("xno disk") and len(caught.value.detail) < 4097


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("pass", "Expecting value"),
        ("print('Done.')", "Expecting value"),
        ("print('{} {}')", "Extra data"),
        ("print('[NaN]')", "NaN"),
        ("import sys; sys.stdout.buffer.write(b'\"\\xe9\"')", "utf-8"),
        ("print('[' * 200_000)", "recursion"),
    ],
)
async def test_output_that_is_not_json_is_refused(run: Run, program: str, words: str) -> None:
    with pytest.raises(BadOutput, match="not JSON") as caught:
        await run(program=program, limit=1_000_000)
    assert words in caught.value.detail


async def test_output_that_breaks_its_promise_is_refused(run: Run) -> None:
    with pytest.raises(BadOutput) as caught:
        await run(function=lambda params: {"n": "1"}, output_schema={"properties": {"n": {"type": "number"}}})
    assert caught.value.detail == "$.n: '1' is not of type 'number'"
    with pytest.raises(BadOutput, match="not JSON"):
        await run(function=lambda params: {1, 2})
    assert await run(function=lambda params: None) is None


async def test_huge_output_is_cut_while_it_comes(run: Run) -> None:
    endless = "import sys\nwhile True: sys.stdout.write('[' * 65536)"
    with pytest.raises(BadOutput, match="more than 10000 bytes"):
        await run(program=endless)
    with pytest.raises(BadOutput, match="more than 10000 bytes"):
        await run(function=lambda params: "x" * 10_001)
    assert await run(program="print('\"' + 'x' * 9000 + '\"')") == "x" * 9000


async def test_a_command_may_ignore_what_it_is_given(run: Run) -> None:
    assert await run({"text": "x" * 1_000_000}, command=("echo", "1")) == 1


def ended(pid: int) -> bool:
    """Is the process gone, or dead and not yet reaped by its parent?"""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        return False
    return state == "Z"


FAMILY = "sleep 600 & echo $$ $! > pids.part; mv pids.part pids; "
"""A shell script of the test that leaves a child in the background and writes both process ids down."""
ESCAPE = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
print(child.pid, flush=True)
"""


def pids(folder: Path) -> list[int]:
    return [int(pid) for pid in (folder / "pids").read_text().split()]


async def test_a_command_that_hangs_is_cut_with_its_children(run: Run, tmp_path: Path) -> None:
    task = asyncio.create_task(run(command=("sh", "-c", FAMILY + "echo thinking >&2; touch said; wait"), timeout=60))
    await until((tmp_path / "said").exists)
    while not all(map(ended, pids(tmp_path))):  # its time begins to run when we know of it, which may be after it spoke
        pass_time(60)
        await asyncio.sleep(0.05)
    with pytest.raises(TimedOut, match=r"did not end within 60 s and was stopped") as caught:
        await task
    assert caught.value.detail == "thinking"
    for pid in pids(tmp_path):
        await until(partial(ended, pid))


async def test_a_command_that_is_cancelled_is_killed_with_its_children(run: Run, tmp_path: Path) -> None:
    task = asyncio.create_task(run(command=("sh", "-c", FAMILY + "wait")))
    await until((tmp_path / "pids").exists)
    assert not any(map(ended, pids(tmp_path)))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    for pid in pids(tmp_path):
        await until(partial(ended, pid))


async def test_a_child_left_behind_neither_holds_up_the_answer_nor_lives_on(run: Run, tmp_path: Path) -> None:
    assert await run(command=("sh", "-c", FAMILY + "echo 7")) == 7
    await until(partial(ended, pids(tmp_path)[1]))


async def test_a_child_that_escapes_with_the_pipe_does_not_hold_up_the_answer(run: Run) -> None:
    pid = await run(program=ESCAPE)
    assert not ended(pid), "the answer came before the end of the child"
    os.kill(pid, signal.SIGKILL)


async def test_functions_that_hang_are_cut(run: Run) -> None:
    gate = threading.Event()

    async def forever(params: dict[str, Any]) -> None:
        await asyncio.Event().wait()

    async def stubborn(params: dict[str, Any]) -> None:
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if gate.is_set():
                    raise

    for function in (forever, stubborn, lambda params: gate.wait(PATIENCE)):
        with pytest.raises(TimedOut):
            await run(function=function, timeout=0.05)
    gate.set()


async def test_a_function_that_is_cancelled_is_told_so(run: Run) -> None:
    begun, told = asyncio.Event(), asyncio.Event()

    async def function(params: dict[str, Any]) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            told.set()

    task = asyncio.create_task(run(function=function))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert told.is_set()


@pytest.mark.parametrize(
    "fault",
    [ValueError("bad \x1b[31mday"), SystemExit("bad day"), TimeoutError("bad day")],
)
@pytest.mark.parametrize("is_async", [True, False])
async def test_what_a_function_raises_is_told_and_hurts_nobody(run: Run, fault: BaseException, is_async: bool) -> None:
    def fails(params: dict[str, Any]) -> None:
        raise fault

    async def fails_later(params: dict[str, Any]) -> None:
        raise fault

    with pytest.raises(ActionFailed) as caught:
        await run(function=fails_later if is_async else fails)
    assert "bad day" in caught.value.detail and not isinstance(caught.value, TimedOut)


async def test_a_function_that_cancels_itself_has_failed(run: Run) -> None:
    async def gives_up(params: dict[str, Any]) -> None:
        raise asyncio.CancelledError("given up")

    with pytest.raises(ActionFailed, match="a failed"):
        await run(function=gives_up)


async def test_an_error_in_the_users_words_is_passed_on(run: Run) -> None:
    def fails(params: dict[str, Any]) -> None:
        raise ProjectReadOnly("Read only.")

    with pytest.raises(ProjectReadOnly):
        await run(function=fails)


async def test_a_function_cannot_change_the_nodes_params(run: Run) -> None:
    params = {"list": [1]}
    await run(params, function=lambda given: given["list"].append(2))
    assert params == {"list": [1]}


async def test_many_commands_run_beside_each_other(run: Run) -> None:
    values = await asyncio.gather(*(run({"n": n}, command=("cat",)) for n in range(20)))
    assert values == [{"n": n} for n in range(20)]


async def test_every_refusal_is_an_action_error_with_advice(run: Run) -> None:
    for changes in ({"enabled": False}, {"allowed_roles": ["x"]}, {"requires_approval": True}, {"command": "gone"}):
        with pytest.raises(ActionError) as caught:
            await run(**changes) if "command" not in changes else await attempt(ActionRegistry([action(**changes)]))
        assert caught.value.title and caught.value.advice
