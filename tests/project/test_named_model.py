"""A node names any configured model, also one of another provider."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.protocol.workflows import SaveWorkflow
from flowcabal_tui.settings.project_file import ModelsSettings, load_project, save_project
from tests.faultserver import FaultServer
from tests.project.case import endpoint, make_one, opened


async def test_the_call_goes_where_that_model_is(folder: Path, server: FaultServer):
    async with FaultServer() as other:
        models = ModelsSettings(user=endpoint(server, model="near"), agent=endpoint(other, "anthropic", model="far"))
        await make_one(folder, models)
        prompt = [{"kind": "text", "text": "Write."}]
        nodes = [
            {"id": name, "params": {"prompt": prompt, "model": model, "context": False, "review": "never"}}
            for name, model in (("a", "far"), ("b", "near"), ("c", "unlisted"))
        ]
        async with opened(folder) as case:
            await case.confirm()
            await case.project.carry_out(SaveWorkflow(Workflow.model_validate({"id": "mine", "nodes": nodes})))
            await case.run("mine", 1)
        assert [entry["body"]["model"] for entry in other.log if entry["path"].endswith("messages")] == ["far"]
        sent = [entry["body"]["model"] for entry in server.log if entry["path"].endswith("completions")]
        assert sorted(sent) == ["near", "unlisted"]


async def test_a_further_model_is_named_by_its_table_and_its_host_and_key_are_confirmed_first(
    folder: Path, server: FaultServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("FAR_KEY", "sk-far")
    async with FaultServer(api_key="sk-far") as other:
        further = endpoint(other, model="far-1", api_key_env="FAR_KEY", price_in="1", price_out="2")
        settings = ModelsSettings(user=endpoint(server, model="near"), more={"far": further})
        await make_one(folder, ModelsSettings(user=settings.user))
        async with opened(folder) as case:
            await case.confirm()
            assert case.project.info.model_names == ("near",)
        save_project(folder, load_project(folder).model_copy(update={"models": settings}))
        prompt = [{"kind": "text", "text": "Write."}]
        node = {"id": "a", "params": {"prompt": prompt, "model": "far", "context": False, "review": "never"}}
        async with opened(folder) as case:
            project = case.project
            assert project.info.model_names == ("near", "far")
            await project.carry_out(SaveWorkflow(Workflow.model_validate({"id": "mine", "nodes": [node]})))
            asked = {(item.kind, item.name) for item in (await project.models.trust()).asked.items}
            assert asked == {("model", "more.far"), ("key", "FAR_KEY")}
            with pytest.raises(FlowCabalError):
                await case.start("mine", 1)
            assert other.log == []
            await case.confirm()
            request = RunRequest("mine", await case.chapter(1))
            assert (await project.runs.quote(request)).likely.cost
            await case.run("mine", 1)
            assert (await project.runs.totals()).cost
        (entry,) = other.log
        assert entry["body"]["model"] == "far-1" and "sk-far" in str(entry["headers"])
        assert server.log == []


def test_a_name_leads_to_a_table_else_to_another_model_at_the_place_of_the_role():
    models = ModelsSettings(
        user=Endpoint(model="near"), agent=Endpoint(model="helper"), more={"near": Endpoint(model="elsewhere")}
    )
    assert models.called("user") == ("user", models.user)
    assert models.called("user", "helper") == ("agent", models.agent)
    assert models.called("agent", "near") == ("more.near", models.more["near"])
    assert models.called("user", "elsewhere") == ("more.near", models.more["near"])
    table, unlisted = models.called("agent", "unlisted")
    assert (table, unlisted.model if unlisted else "") == ("agent", "unlisted")
    assert models.names == ("near", "helper")
