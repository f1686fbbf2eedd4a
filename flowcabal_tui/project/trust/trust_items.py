"""Makes the items of a trust request, each from the very value that is sent or run.

Enforcement and listing make an item by the same function, so nothing can be used that was not shown.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from flowcabal_tui.actions.registry import Action
from flowcabal_tui.agents.profile_kinds import ProfileKind
from flowcabal_tui.domain.addresses import host_of
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.text import clean_line, without_login
from flowcabal_tui.domain.trust import TrustItem
from flowcabal_tui.domain.workflow import Node, Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.graph import all_nodes
from flowcabal_tui.nodes.registry import plug_in_of
from flowcabal_tui.project.words import beside

HARMLESS: Final = frozenset(
    {"start", "end", "human", "condition", "loop", "parallel"}
    | {"map", "filter", "merge", "split", "state_read", "state_write"}
)
"""Kinds of nodes that send, spend and run nothing by themselves, with any parameters."""
Commands = Mapping[str, Sequence[str]]


def model_item(table: str, endpoint: Endpoint) -> TrustItem:
    """The item of a model: the host to which text is sent, by the table that names it, and the names of its keys.

    A price of 0 on another machine is a part of it: background work there needs no answer (decision 41).
    """
    says_free = endpoint.is_free and not endpoint.is_local
    shown = beside(f"{endpoint.provider} {endpoint.model}", _("its price is given as 0") if says_free else "")
    return TrustItem.of(
        "model",
        table,
        f"{_shown_host(endpoint.address)} ({shown})",
        binds=[endpoint.provider, endpoint.address, endpoint.api_key_env, endpoint.secret, *["free"] * says_free],
        text=without_login(endpoint.address),
    )


def key_item(name: str, url: str) -> TrustItem:
    """The item of a user's key and the host to which it would be sent."""
    return TrustItem.of("key", name, host_of(url), binds=host_of(url), text=without_login(url))


def key_items(endpoint: Endpoint) -> tuple[TrustItem, ...]:
    """One for each name under which the endpoint's key may be found."""
    names = filter(None, (endpoint.api_key_env, endpoint.secret))
    return tuple(key_item(name, endpoint.address) for name in dict.fromkeys(names))


def knowledge_item(url: str, key: str) -> TrustItem:
    """The item of an external knowledge server, to which the whole book is sent."""
    return TrustItem.of("knowledge", "url", _shown_host(url), binds=[url, key], text=without_login(url))


def _shown_host(url: str) -> str:
    """The host as it is reached; an address without a clear one, to which nothing is sent, is shown as it is."""
    return host_of(url) or without_login(url)


def command_item(name: str, command: Sequence[str]) -> TrustItem:
    """The item of a command line that actions and `code` nodes may run."""
    line = shlex.join(command)
    return TrustItem.of("command", name, line, binds=list(command), text=line)


def action_item(action: Action, registry: str = "") -> TrustItem:
    """The item of an enabled action; of the kind `gate` when it runs without a question.

    `registry` is its file, for display; the item is the same in another file.
    """
    function = action.function or action.tool_name or ""
    runs = _("command {name}").format(name=action.command) if action.command else _function(function)
    return TrustItem.of(
        "action" if action.requires_approval else "gate",
        action.action_id,
        f"{runs} ({registry})" if registry else runs,
        binds=[action.command, function],
        text=action.description,
    )


def plugin_item(name: str, entry: str) -> TrustItem:
    """The item of a function or a node kind that an installed plug-in offers by entry point."""
    return TrustItem.of("plugin", name, entry, binds=entry)


def prompt_item(name: str, text: str) -> TrustItem:
    """The item of a file in `prompts`, which replaces a prompt of the program."""
    return TrustItem.of("prompt", f"prompts/{name}.md", _first_words(text), binds=text, text=text)


def profile_item(kind: ProfileKind) -> TrustItem:
    """The item of a folder in `profiles`, whose prompt is sent to the agents' model in the background."""
    texts = "\n\n".join(text for _code, text in kind.prompts)
    binds = [list(map(list, kind.prompts)), kind.settings.model_dump(mode="json")]
    return TrustItem.of("prompt", f"profiles/{kind.name}", _first_words(texts), binds=binds, text=texts)


def workflow_items(workflow: Workflow, commands: Commands) -> tuple[TrustItem, ...]:
    """The workflow itself, its `code` nodes (which ask nobody), and the plug-ins among its kinds of nodes.

    () for one that only moves data about. Its name, descriptions and version are no part of the items.
    """
    nodes = tuple(all_nodes(workflow.nodes))
    if all(node.kind in HARMLESS for node in nodes):
        return ()
    binds = workflow.model_dump(mode="json", include={"nodes", "edges", "join", "skip_empty", "entry"})
    steps = _(", ").join(clean_line(node.title).strip() or node.id for node in nodes if node.kind not in HARMLESS)
    found = [TrustItem.of("workflow", workflow.id, steps, binds=binds, text=_texts(nodes))]
    for node in nodes:
        if node.kind == "code":
            found.append(code_item(workflow.id, node, commands))
        elif node.kind not in HARMLESS and (entry := plug_in_of(node.kind)):
            found.append(plugin_item(node.kind, entry))
    return tuple(found)


def code_item(workflow: str, node: Node, commands: Commands) -> TrustItem:
    """The item of a step that passes each of its items to a command or function without asking."""
    function = str(node.params.get("function", ""))
    runs = shlex.join(commands[function]) if function in commands else _function(function)
    return TrustItem.of("gate", f"{workflow}/{node.id}", runs, binds=["code", function])


def _function(name: str) -> str:
    return _("function {name}").format(name=name)


def _texts(nodes: Sequence[Node]) -> str:
    """The texts of the nodes in a readable form, node by node."""
    return "\n\n".join(
        "\n".join((f"── {node.title} ({node.kind})", *dict.fromkeys(_strings(node.params)))) for node in nodes
    )


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            if name not in ("kind", "nodes"):
                yield from _strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(inner)


def _first_words(text: str) -> str:
    return " ".join(text.split())[:80]
