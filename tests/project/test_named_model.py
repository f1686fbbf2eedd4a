"""A node names any configured model, also one of another provider."""

from __future__ import annotations

from pathlib import Path

from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.protocol.workflows import SaveWorkflow
from flowcabal_tui.settings.project_file import ModelsSettings
from tests.faultserver import FaultServer
from tests.project.desk import endpoint, make_one, opened


async def test_the_call_goes_where_that_model_is(folder: Path, server: FaultServer):
    async with FaultServer() as other:
        models = ModelsSettings(user=endpoint(server, model="near"), agent=endpoint(other, "anthropic", model="far"))
        await make_one(folder, models)
        prompt = [{"kind": "text", "text": "Write."}]
        nodes = [
            {"id": name, "params": {"prompt": prompt, "model": model, "context": False, "review": "never"}}
            for name, model in (("a", "far"), ("b", "near"), ("c", "unlisted"))
        ]
        async with opened(folder) as desk:
            await desk.confirm()
            await desk.project.carry_out(SaveWorkflow(Workflow.model_validate({"id": "mine", "nodes": nodes})))
            await desk.run("mine", 1)
        assert [entry["body"]["model"] for entry in other.log if entry["path"].endswith("messages")] == ["far"]
        sent = [entry["body"]["model"] for entry in server.log if entry["path"].endswith("completions")]
        assert sorted(sent) == ["near", "unlisted"]
