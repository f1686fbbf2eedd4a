"""The codes of findings, each with what it means; the page of the language lists them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

CODES: Final[Mapping[str, str]] = {
    "ACTION_DISABLED": "The registry has switched the action off (warning).",
    "BAD_ID": "An id holds a slash or a control character, or begins or ends with a space.",
    "BAD_PARAMS": "A parameter is missing, unknown, or of the wrong type, or a value that its kind refuses.",
    "CHECK_FAILED": "A kind of a plug-in broke off while it checked its node.",
    "CYCLE": "Nodes need each other in a circle, which is named; also inside loops and branches.",
    "DOUBLE_EDGE": "The same edge stands twice (warning; a fix takes one away).",
    "DUPLICATE_ID": "Several nodes of a graph have the same id.",
    "DUPLICATE_SYMBOL": "Several aggregates of a loop have the same name.",
    "EMPTY_FROZEN": "The frozen text of a virtual block is empty (warning).",
    "EMPTY_INQUIRY": "A question to the Context agent is empty (warning).",
    "EMPTY_PARAM_VALUE": "A parameter that the action needs is an empty text.",
    "EMPTY_PROMPT": "A prompt says nothing.",
    "ENDLESS_CALLS": "A workflow comes back to itself through sub-flows, and no falling depth ends it.",
    "INVALID_SCHEMA": "The document has not the form of a workflow; the field is named.",
    "LOOP_TOO_LARGE": "Loops inside each other would run more than a million rounds (warning).",
    "MAY_NOT_RUN": "A node needs the output of a branch that may not be taken; then it is skipped too (warning).",
    "MISSING_ACTION": "An action node names no action.",
    "MISSING_PARAM": "A kind can do nothing without this parameter.",
    "MISSING_REFERENCE": "A prompt needs the output of a node that is not there, or lacks one that it must have.",
    "MISSING_REQUIRED_PARAM": "A parameter that the action, the condition or the loop needs is missing.",
    "MORE_FINDINGS": "Not all are listed: a thousand, of which 400 warnings, are enough (warning).",
    "NAME_CONFLICT": "A loop gives its item a name that has a meaning already.",
    "NO_NODES": "The workflow has no nodes.",
    "ONE_BY_ONE": "The rounds of this loop depend on each other and cannot go side by side (warning).",
    "SCHEMA_MISMATCH": "A binding or a value cannot be read, leads nowhere, or has another type than is wanted.",
    "SELF_REFERENCE": "A node asks for its own output, or an edge leads back to where it began.",
    "SYNTAX_ERROR": "An expression cannot be read.",
    "TOO_DEEP": "Graphs, values or calls of workflows stand inside each other deeper than can run.",
    "TOO_LARGE": "The parameters hold more than can be looked at.",
    "TOO_MANY_NODES": "The workflow has more nodes than can run.",
    "UNKNOWN_ACTION_ID": "The registry has no such action.",
    "UNKNOWN_BRANCH": "An edge names a branch that its source does not have.",
    "UNKNOWN_KIND": "There is no such kind of node.",
    "UNKNOWN_NAME": "A prompt asks for a name that there is not.",
    "UNKNOWN_NODE": "An edge, an exit, an export or the entry names a node that is not in its graph.",
    "UNKNOWN_PARAM": "An action or an aggregate knows no such parameter (an error where the action allows no others).",
    "UNKNOWN_WORKFLOW": "A sub-flow calls a workflow that is not there.",
    "UNREACHABLE": "What leads to the node stands on branches that exclude each other, so it never runs (warning).",
    "UNUSED_PARAM": "A parameter has no effect with the others that are given.",
}
