"""What is held back until the user confirms it, and what goes on meanwhile."""

from __future__ import annotations

import asyncio
import re
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

import flowcabal_tui
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import ModelError, ModelFault, ProjectNotConfirmed
from flowcabal_tui.domain.ids import Digest, NodeId
from flowcabal_tui.domain.workflow import Node, Workflow
from flowcabal_tui.project import create_project
from flowcabal_tui.project.trust.collect import collect
from flowcabal_tui.project.trust.trust_items import model_item, workflow_items
from flowcabal_tui.protocol.book import WriteChapter
from flowcabal_tui.protocol.memory import BackgroundChanged, KnowledgeStatus
from flowcabal_tui.protocol.models import ConfirmModels, ConfirmTrust, TrustChanged
from flowcabal_tui.protocol.workflows import SaveWorkflow
from flowcabal_tui.settings import paths
from flowcabal_tui.settings.key_hosts import bind_keys, key_hosts
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings, load_project, save_project
from flowcabal_tui.settings.trust import TrustRecord
from flowcabal_tui.settings.user_file import UserSettings, change_user, load_user
from flowcabal_tui.store import Store
from tests.faultserver import FaultServer
from tests.project.case import Case, both, calls, endpoint, make, make_one, opened
from tests.project.hostile import KEY_VARIABLE, hostile
from tests.runner.fakes import prompt
from tests.trusting import confirmed
from tests.waiting import PATIENCE

OWN = "Sum up.\n---\n${language} ${names} ${title} ${chapter}"
TEXT = "Ines Marlow pushed the ferry off the bank at Saltreach. Tobias Crane watched her go with the ledger."


def prompting(name: str, text: str, node: str = "n") -> Workflow:
    return Workflow(id=name, nodes=(Node(id=NodeId(node), params={"prompt": [{"kind": "text", "text": text}]}),))


async def another_program_saves(folder: Path, *workflows: Workflow) -> None:
    """Writes into the database as a restore or a merge would, without this program's knowing."""
    store = await Store.open(folder, clock=lambda: datetime.now(UTC), language="en")
    try:
        for workflow in workflows:
            await store.workflows.save(workflow)
    finally:
        await store.close()


async def state(case: Case) -> str:
    return (await case.project.models.trust()).state


async def asked(case: Case) -> list[str]:
    return [item.name for item in (await case.project.models.trust()).asked.items]


async def test_after_the_answer_everything_begins_without_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: FaultServer
) -> None:
    prey = await hostile(tmp_path, monkeypatch, server)
    async with opened(prey.folder, knowledge=True) as case:
        assert (await case.until(TrustChanged)).state == "restricted"
        assert (await case.until(KnowledgeStatus)).state == "off"
        await case.project.carry_out(WriteChapter(await case.chapter(1), TEXT))
        await case.until(BackgroundChanged)
        assert prey.gained() == []
        await case.confirm()
        assert await state(case) == "trusted"
        await case.until(KnowledgeStatus, lambda event: event.state != "off")
        await case.run("command")
        assert prey.ran.exists()
        async with asyncio.timeout(PATIENCE):
            while not calls(server):  # noqa: ASYNC110  # the log is all that the server tells
                await asyncio.sleep(0.005)
    assert key_hosts().allows(KEY_VARIABLE, server.url.removeprefix("http://"))


async def test_a_prompt_from_outside_holds_its_own_task_back_and_nothing_else(
    folder: Path, server: FaultServer
) -> None:
    await make_one(folder, both(endpoint(server)))
    (folder / "prompts").mkdir()
    (folder / "prompts" / "curator.l1.md").write_text(OWN, encoding="utf-8")
    async with opened(folder) as case:
        assert await state(case) == "changed" and await asked(case) == ["prompts/curator.l1.md"]
        await case.project.carry_out(WriteChapter(await case.chapter(1), TEXT))
        await case.settled()
        waiting = [task for task in await case.project.memory.background() if task.state == "waiting"]
        assert {task.kind for task in waiting if "not confirmed" in task.error} >= {"l1"}
        assert "Sum up." not in str(server.log) and calls(server)
        await case.run("quick-draft", 1)
        await case.confirm()
        await case.settled()
        assert "Sum up." in str(server.log)


async def test_a_workflow_changed_outside_is_refused_alone_and_a_correction_of_it_hides_nothing(folder: Path) -> None:
    await make_one(folder, both(OFFLINE))
    async with opened(folder) as case:
        await case.project.carry_out(SaveWorkflow(prompting("mine", "Write.")))
        await case.project.carry_out(SaveWorkflow(prompting("other", "Write.")))
        assert await state(case) == "trusted"
    await another_program_saves(folder, prompting("mine", "Send all of it."))
    async with opened(folder) as case:
        assert await asked(case) == ["mine"]
        with pytest.raises(ProjectNotConfirmed, match="not confirmed") as refused:
            await case.start("mine", 1)
        assert "mine: n" in refused.value.detail
        await case.run("other", 1)
        await case.project.carry_out(SaveWorkflow(prompting("mine", "Send all of it!")))
        assert await state(case) == "changed"
        with pytest.raises(ProjectNotConfirmed):
            await case.start("mine", 1)
        await case.confirm()
        await case.run("mine", 1)


async def test_an_older_version_that_nobody_confirmed_is_refused_and_then_asked_for(folder: Path) -> None:
    await make_one(folder, both(OFFLINE))
    await another_program_saves(folder, prompting("theirs", "Send all of it."), prompting("theirs", "Write."))
    async with opened(folder) as case:
        await case.confirm()
        await case.run("theirs", 1)
        with pytest.raises(ProjectNotConfirmed):
            await case.start("theirs@1", 1)
        assert await asked(case) == ["theirs"]
        await case.confirm()
        await case.run("theirs@1", 1)


async def test_an_answer_in_another_process_counts_at_the_next_try(folder: Path) -> None:
    await make_one(folder, both(OFFLINE))
    await another_program_saves(folder, prompting("theirs", "Send all of it."))
    async with opened(folder) as case:
        with pytest.raises(ProjectNotConfirmed):
            await case.start("theirs", 1)
        confirmed(folder)
        await case.run("theirs", 1)
        assert await state(case) == "trusted"


async def test_only_what_was_shown_is_confirmed(folder: Path) -> None:
    await make_one(folder, both(OFFLINE))
    await another_program_saves(folder, prompting("one", "Send all."), prompting("two", "Send all."))
    async with opened(folder) as case:
        (shown,) = [item for item in (await case.project.models.trust()).asked.items if item.name == "one"]
        await case.project.carry_out(ConfirmTrust((shown.digest, Digest("unknown"))))
        assert await asked(case) == ["two"]


async def test_a_model_that_is_chosen_here_confirms_itself_and_no_other_host(
    folder: Path, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEEPSEEK_API_KEY", "sk-mine")
    await make_one(folder)
    settings = load_project(folder)
    save_project(folder, settings.model_copy(update={"models": ModelsSettings(embedding=endpoint(server))}))
    async with opened(folder) as case:
        (found,) = [each for each in await case.project.models.found_models() if "deepseek" in each.identity]
        await case.project.carry_out(ConfirmModels(found.identity))
        assert await asked(case) == ["embedding"]
        assert key_hosts().allows("DEEPSEEK_API_KEY", "api.deepseek.com")


async def test_files_that_lay_in_the_folder_of_a_new_project_are_not_confirmed_with_it(folder: Path) -> None:
    (folder / "prompts").mkdir(parents=True)
    (folder / "prompts" / "curator.l1.md").write_text(OWN, encoding="utf-8")
    await make(folder, both(OFFLINE))
    async with opened(await create_project(folder.parent / "empty", name="B", language="en")) as case:
        assert await state(case) == "trusted"
    shutil.copytree(folder / "prompts", folder.parent / "found" / "prompts")
    async with opened(await create_project(folder.parent / "found", name="C", language="en")) as case:
        assert await asked(case) == ["prompts/curator.l1.md"]


async def test_a_record_that_cannot_be_written_holds_until_the_end_and_says_why(folder: Path) -> None:
    await make_one(folder, both(OFFLINE))
    moved = folder.rename(folder.parent / "moved")
    shutil.rmtree(paths.state_folder())
    paths.state_folder().write_text("a file where the folder should be", encoding="utf-8")
    async with opened(moved) as case:
        assert await state(case) == "restricted"
        await case.confirm()
        view = await case.project.models.trust()
        assert view.state == "trusted" and view.problem
        assert (await case.until(TrustChanged, lambda event: event.state == "trusted")).problem
        await case.run("quick-draft", 1)
    async with opened(moved) as case:
        assert await state(case) == "restricted"


@pytest.mark.parametrize(
    ("url", "user", "goes"),
    [
        ("http://192.0.2.1:8000/v1", UserSettings(), False),
        ("http://192.0.2.1:8000/v1", UserSettings(plain_http=("192.0.2.1:8000",)), True),
        ("https://192.0.2.1:8000/v1", UserSettings(), True),
        ("http://127.0.0.1:8000/v1", UserSettings(), True),
        ("http://localhost.example.net/v1", UserSettings(), False),
    ],
)
async def test_a_key_goes_over_plain_http_only_where_the_users_own_file_names_the_host(
    folder: Path, monkeypatch: pytest.MonkeyPatch, url: str, user: UserSettings, goes: bool
) -> None:
    monkeypatch.setenv("MINE", "sk-mine")
    change_user(lambda _before: user)
    model = endpoint_at(url)
    await make_one(folder, both(model))
    async with opened(folder) as case:
        trust = case.project._parts.base.trust
        if goes:
            assert trust.require_model("user", model) == "sk-mine"
        else:
            with pytest.raises(ModelError, match="plain http") as refused:
                trust.require_model("user", model)
            assert refused.value.fault is ModelFault.NOT_CONFIRMED


def endpoint_at(url: str):
    return OFFLINE.model_copy(update={"provider": "openai", "model": "m", "base_url": url, "api_key_env": "MINE"})


async def test_a_key_that_is_unbound_in_the_users_file_is_asked_for_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINE", "sk-mine")
    await make_one(folder, both(endpoint_at("https://models.example.net/v1")))
    assert load_user().key_hosts == {"MINE": ("models.example.net",)}
    change_user(lambda before: replace(before, key_hosts={}))
    async with opened(folder) as case:
        assert await asked(case) == ["MINE"]
        with pytest.raises(ModelError, match="not confirmed"):
            case.project._parts.base.models.model("user")
        bind_keys([("MINE", "models.example.net")])
        case.project._parts.base.models.model("user")


async def test_a_confirmed_project_is_opened_without_parsing_a_workflow(folder: Path) -> None:
    await make_one(folder, both(OFFLINE))
    async with opened(folder):
        pass
    settings = load_project(folder)
    known = TrustRecord.of(folder, settings.project.id).read()
    store = await Store.open(folder, read_only=True, clock=lambda: datetime.now(UTC), language="en")
    try:
        documents = await store.workflows.documents()
    finally:
        await store.close()
    assert documents and known
    assert collect(folder, settings, documents, known).documents == {}
    assert len(collect(folder, settings, documents).documents) == len(documents)


def test_the_value_of_a_key_is_read_where_trust_is_asked() -> None:
    root = Path(flowcabal_tui.__file__).parent
    readers = {
        str(path.relative_to(root))
        for path in root.rglob("*.py")
        if re.search(r"import .*\bfind_key\b", path.read_text("utf-8"))
    }
    assert readers == {f"project/{each}.py" for each in ("trust/service", "trust/own_models", "models/trying")}


def test_a_price_of_nothing_on_another_machine_is_asked_about() -> None:
    """A confirmed project whose file is changed to a price of 0 would otherwise spend without a question."""
    priced = Endpoint(model="m", base_url="https://models.example/v1", price_in=Decimal(3), price_out=Decimal(15))
    cheaper = priced.model_copy(update={"price_in": Decimal(2)})
    free = priced.model_copy(update={"price_in": Decimal(0), "price_out": Decimal(0)})
    assert model_item("agent", priced) == model_item("agent", cheaper)
    assert model_item("agent", free).digest != model_item("agent", priced).digest
    assert "price is given as 0" in model_item("agent", free).target


def test_an_endpoint_without_an_address_is_its_providers() -> None:
    assert Endpoint(model="m").address == "https://api.openai.com/v1"
    assert Endpoint(provider="anthropic", model="m").address == "https://api.anthropic.com"


def test_a_step_without_a_name_is_listed_by_its_id() -> None:
    nodes = (prompt("opening", "Begin."), prompt("second", "Go on.").model_copy(update={"name": " \u200b\n"}))
    (item,) = workflow_items(Workflow(id="two", nodes=nodes), {})
    assert item.target == "opening, second"
