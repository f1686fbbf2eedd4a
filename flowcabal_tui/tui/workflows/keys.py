"""The keys of the workflow pane: running a workflow, and editing its graph."""

from __future__ import annotations

from typing import Final

from textual.binding import Binding, BindingType

from flowcabal_tui.locale import mark


def _asks(keys: str, verb: str, label: str, tooltip: str, *, show: bool = False) -> Binding:
    """A key that the workspace answers: `verb` with the node under the cursor."""
    return Binding(keys, f"ask('{verb}')", label, show=show, tooltip=tooltip, id=f"workflow.{verb}")


KEYS: Final[list[BindingType]] = [
    Binding("r", "run_workflow", mark("Run"), tooltip=mark("Run this workflow."), id="workflow.run"),
    _asks("plus", "add", mark("Add"), mark("Add a node after this one."), show=True),
    _asks("i", "connect", mark("Connect"), mark("Connect this node with the output of another."), show=True),
    Binding("w", "choose", mark("Template"), tooltip=mark("Choose another workflow."), id="workflow.template"),
    Binding("t", "rails", mark("Rails"), tooltip=mark("Switch between tree and rails."), id="workflow.rails"),
    Binding("c", "preview", mark("Context"), tooltip=mark("Show the context of this node; costs nothing."),
            id="workflow.context"),
    Binding("space", "fold", mark("Open or close"), show=False, tooltip=mark("Show or hide the contents of a node."),
            id="workflow.fold"),
    _asks("p", "params", mark("Parameters"), mark("Edit the parameters of this node.")),
    _asks("e", "document", mark("Edit as text"), mark("Edit this node as YAML; problems are shown beside it.")),
    _asks("n", "rename", mark("Rename"), mark("Give this node another name.")),
    _asks("N", "id", mark("Other id"), mark("Give this node another id; references to it are updated.")),
    _asks("minus", "disconnect", mark("Disconnect"), mark("Remove a connection that ends at this node.")),
    _asks("delete", "remove", mark("Remove"), mark("Remove this node; shows which nodes read it first.")),
    _asks("y", "copy", mark("Copy"), mark("Copy this node.")),
    _asks("v", "paste", mark("Paste"), mark("Paste the copied node after this one, also in another workflow.")),
    _asks("less_than_sign,shift+up", "up", mark("Move up"), mark("Move the node up in the document.")),
    _asks("greater_than_sign,shift+down", "down", mark("Move down"), mark("Move the node down in the document.")),
    _asks("exclamation_mark", "findings", mark("Problems"), mark("List the problems that validation found.")),
    _asks("ctrl+s", "save", mark("Save"), mark("Store the document as a new version.")),
    _asks("o", "versions", mark("Versions"), mark("All outputs of this node: compare, select, freeze, edit.")),
    _asks("f", "freeze", mark("Freeze"), mark("Later runs use the current output; again: they write a new one.")),
    _asks("s", "target", mark("Target"), mark("Add or remove the star: starred nodes, and what they need, run.")),
    _asks("T", "todo", mark("To do"), mark("Nodes without output or with an outdated one, level by level.")),
    _asks("Q", "quote", mark("What would run"), mark("What a run would do and cost; does not start it.")),
    _asks("R", "again", mark("Again from here"), mark("Run this node again and everything that depends on it.")),
    _asks("S", "step", mark("Step by step"), mark("Run level by level; F7 starts the next one.")),
    Binding("x", "stop(False)", mark("Stop node"), show=False, id="workflow.stop-node"),
    _asks("b", "branch", mark("Stop branch"), mark("Stop this node and everything that depends on it.")),
    Binding("X", "stop(True)", mark("Stop all"), show=False, id="workflow.stop-all"),
    Binding("escape", "leave", mark("Back"), show=False, id="workflow.back"),
]  # fmt: skip
