"""Builds of an invented project: suggestions that are marked, accepted and taken back as in a real one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from flowcabal_tui.demo import templates
from flowcabal_tui.domain.builds import REJECTED, BuildRow, BuildState, NearTemplate
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.project.builder.kept import plain
from flowcabal_tui.project.builder.prices import BuildPrice
from flowcabal_tui.project.builder.records import BuildRecord, change_key
from flowcabal_tui.project.views import ProjectInfo
from flowcabal_tui.protocol.base import Command
from flowcabal_tui.protocol.builds import AcceptBuild, MarkChanges, RejectBuild, UndoBuild


def suggestion(language: str = "en") -> BuildRecord:
    """A node that checks names between the draft and the polish of the template, read by the polish."""
    base = plain(templates(language)[0])
    document = plain(templates(language)[0])
    zh = language.startswith("zh")
    text = "逐条列出写错的人名。" if zh else "List every name that is wrong."
    prompt = [{"kind": "virtual", "node": "draft"}, {"kind": "text", "text": text}]
    node = {"id": "names", "kind": "prompt", "name": "核查人名" if zh else "Names", "params": {"prompt": prompt}}
    document["nodes"].insert(2, node)
    document["nodes"][3]["params"]["prompt"].append({"kind": "virtual", "node": "names"})
    document["nodes"][1]["params"]["temperature"] = 1.5
    wish = "初稿之后核查人名。" if zh else "Check the names after the draft."
    what = "核查人名" if zh else "The names are checked"
    seen = "润色时看到结果" if zh else "The polish sees what was found"
    calls = [{"tool": "add_node", "arguments": '{"id": "names"}', "answer": "Done.", "refused": False}]
    refused = {"tool": "connect", "arguments": "{}", "answer": "There is no node x. Allowed: plan", "refused": True}
    rounds = ({"round": 1, "text": "", "calls": [*calls, refused], "input_tokens": 4200, "output_tokens": 310},)
    record = BuildRecord(
        "build-1", wish, language, base, document, "finished", items=(("i1", what), ("i2", seen)),
        explanation=wish, rounds=rounds, tokens=4510,
    )  # fmt: skip
    served = {"names": ("i1", True), "polish": ("i2", True)}
    marks = {each.id: served.get(each.node, ("", False)) for each in record.changes}
    return replace(record, marks=marks)


class FakeBuilds:
    """Answers as the service of builds does; `build_records` by id."""

    build_records: dict[str, BuildRecord]
    price: BuildPrice | None = None
    filled: Mapping[str, Any] = MappingProxyType({"steps": [{"does": "plan", "pause": True}, {"does": "write"}]})
    near: tuple[NearTemplate, ...] = ()

    @property
    def info(self) -> ProjectInfo:
        raise NotImplementedError

    async def build(self, identity: str) -> BuildRecord:
        return self.build_records[identity]

    async def build_rows(self) -> tuple[BuildRow, ...]:
        return tuple(_row(record) for record in self.build_records.values())

    async def build_price(self, wish: str, workflow: str = "") -> BuildPrice | None:
        return self.price

    async def near_templates(self, wish: str) -> tuple[NearTemplate, ...]:
        return self.near

    async def filled_form(self, wish: str, workflow: str = "") -> dict[str, Any]:
        return {"wish": wish, **self.filled}

    async def examples(self) -> tuple[Workflow, ...]:
        return templates(self.info.language)

    async def free_name(self, wanted: str) -> str:
        return wanted.lower().replace(" ", "-")

    def apply_to_build(self, command: Command) -> str | None:
        """What a command on a build gives back; None for other commands."""
        match command:
            case MarkChanges(build=build, changes=changes, ticked=ticked):
                record = self.build_records[build]
                keys = {change_key(each): ticked for each in record.changes if each.id in changes}
                self.build_records[build] = replace(record, said={**record.said, **keys})
            case AcceptBuild(build=build):
                self.build_records[build] = replace(self.build_records[build], decided="chapter@2")
                return "chapter@2"
            case UndoBuild(build=build):
                self.build_records[build] = replace(self.build_records[build], decided="")
                return "chapter@3"
            case RejectBuild(build=build):
                self.build_records[build] = replace(self.build_records[build], decided=REJECTED)
            case _:
                return None
        return ""


def _row(record: BuildRecord) -> BuildRow:
    state: BuildState = record.status
    if record.decided:
        state = "accepted" if record.saved else "rejected"
    return BuildRow(record.id, record.wish, state, record.base["id"] if record.base else "", record.saved)
