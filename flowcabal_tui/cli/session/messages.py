"""The messages of a session besides the commands of the protocol, and the description of all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from flowcabal_tui.cli.session.lines import DEPTH, MOST_BYTES, BadLine, Identity
from flowcabal_tui.cli.session.questions import QUESTIONS, about, answer_of, arguments_of
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.model_calls import Role
from flowcabal_tui.domain.refusals import refusal
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.domain.workflow import Node, Workflow
from flowcabal_tui.locale import _, sentences
from flowcabal_tui.nodes.model_calls import call_fields
from flowcabal_tui.protocol.base import Command
from flowcabal_tui.protocol.messages import COMMANDS, EVENTS, from_message

_SHOWN: Final = 5


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Connect(_Message):
    """Begins to send events. The answer is `status` with the identity of the project."""

    project: str = Field("", description="The project's id; empty: whichever is open.")


class Disconnect(_Message):
    """Stops sending events; runs continue."""


class ListWorkflows(_Message):
    """Lists the newest version of each workflow, without their nodes."""


class LoadWorkflow(_Message):
    """Loads a document; the answer is `workflow:data`."""

    workflow: str = Field(description="`id` or `id@version`.")


class ListChapters(_Message):
    """Lists the chapters in story order."""


class ListRuns(_Message):
    """Lists runs, newest first."""

    limit: int = Field(50, ge=1, le=10_000)


class Ask(_Message):
    """Asks the project; the answer is `answer`."""

    question: str
    arguments: dict[str, Any] = {}


MESSAGES: Final[dict[str, type[_Message]]] = {
    "connect": Connect,
    "disconnect": Disconnect,
    "workflow:list": ListWorkflows,
    "workflow:load": LoadWorkflow,
    "chapter:list": ListChapters,
    "run:list": ListRuns,
    "ask": Ask,
}


class _Parameters(_Message):
    temperature: float | None = Field(None, ge=0, le=2)
    max_tokens: int | None = Field(None, ge=1)


class ApiConfig(_Message):
    """Selects one of the project's configured models for a run; no key and no host."""

    model: str | None = Field(None, description="A configured model of the project, by its name.")
    parameters: _Parameters = _Parameters()

    def request(
        self,
        request: RunRequest,
        workflow: Workflow,
        models: Mapping[Role, Endpoint],
        names: Sequence[str],
        identity: Identity,
    ) -> RunRequest:
        """The run request with this model for every writing step of the document. Raises BadLine for an unknown
        model."""
        given: dict[str, Any] = self.parameters.model_dump(exclude_none=True)
        if self.model is not None:
            roles = [role for role in ("user", "agent") if role in models and models[role].model == self.model]
            if not roles and self.model not in names:
                raise BadLine(
                    "UnknownModel",
                    _("The project has no model of this name."),
                    _("Configured: {names}").format(names=_(", ").join(names) or _("none")),
                    identity,
                )
            given |= {"role": roles[0], "model": None} if roles else {"model": self.model}
        wanted = {NodeId(node): dict(params) for node, params in request.overrides}
        for node in workflow.nodes:
            if fields := {f"{step}{name}": value for step in _steps(node) for name, value in given.items()}:
                wanted[node.id] = fields | wanted.get(node.id, {})
        return replace(request, overrides=tuple(wanted.items()))


def _steps(node: Node) -> list[str]:
    """The places of a node's parameters that hold a call by the writer's model, such as "draft."."""
    found = []
    for name, form in call_fields(node.kind).items():
        call = node.params.get(name) if name else node.params
        writes = form.model_fields["role"].default == "user"
        if writes and isinstance(call, Mapping) and call.get("role", "user") == "user":
            found.append(f"{name}." if name else "")
    return found


def message_of(identity: Identity, fields: Mapping[str, Any]) -> _Message | tuple[Command, ApiConfig | None]:
    """The request in a line. Raises BadLine."""
    name = fields.get("type")
    rest = {key: value for key, value in fields.items() if key != "type"}
    try:
        if isinstance(name, str) and name in MESSAGES:
            return MESSAGES[name].model_validate(rest)
        if isinstance(name, str) and name in COMMANDS:
            config = rest.pop("apiConfig", None) if name == "workflow:run" else None
            command = from_message({"type": name, **rest})
            assert isinstance(command, Command)
            return command, None if config is None else ApiConfig.model_validate(config)
    except ValidationError as error:
        raise bad_fields(error, identity) from error
    raise BadLine(
        "UnknownMessage",
        _("This type of message is unknown."),
        _("`flowcabal-tui session --describe` lists all."),
        identity,
    )


def bad_fields(error: ValidationError, identity: Identity) -> BadLine:
    """The error for invalid fields: it contains their names but never their values, which could be keys."""
    wrong = error.errors(include_url=False, include_input=False)[:_SHOWN]
    detail = "; ".join(f"{'.'.join(map(str, one['loc']))[: _SHOWN * 20]}: {refusal(one)}" for one in wrong)
    if error.title == ApiConfig.__name__:
        detail = sentences(detail, _("A run names a configured model, never a key or a host."))
    return BadLine("BadField", _("Fields of the message are wrong."), detail, identity)


def description() -> dict[str, Any]:
    """All messages, questions, commands and events, as JSON Schema."""
    return {
        "limits": {"bytes": MOST_BYTES, "depth": DEPTH},
        "messages": {name: kind.model_json_schema() for name, kind in MESSAGES.items()},
        "questions": {
            name: {
                "about": about(name),
                "arguments": arguments_of(name).model_json_schema(),
                "answer": {} if name in ("outline", "replay") else answer_of(name).json_schema(mode="serialization"),
            }
            for name in QUESTIONS
        },
        "commands": {name: TypeAdapter(kind).json_schema() for name, kind in COMMANDS.items()},
        "apiConfig": ApiConfig.model_json_schema(),
        "events": {name: TypeAdapter(kind).json_schema(mode="serialization") for name, kind in EVENTS.items()},
    }
