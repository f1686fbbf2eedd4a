"""Agents of installed plug-ins: they take the place of the program's, the project's only after the user's answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from flowcabal_tui.agents.checking.monitor import Monitor
from flowcabal_tui.agents.context.agent import ContextAgent
from flowcabal_tui.agents.curation.curator import Curator
from flowcabal_tui.domain.errors import ProjectNotConfirmed, SettingsError
from flowcabal_tui.project.agents import AgentFactory
from flowcabal_tui.protocol.runs import NodeEvaluated
from flowcabal_tui.settings.paths import PROJECT_FILE, user_file
from flowcabal_tui.settings.project_file import AGENT_ROLES, AgentRole, agent_group
from tests.project.case import make_demo, opened

SHIPPED = {"context": ContextAgent, "checker": Monitor, "curator": Curator}
EXAMPLE = '''
from dataclasses import replace

from flowcabal_tui.agents.checking.monitor import Monitor
from flowcabal_tui.agents.context.agent import ContextAgent
from flowcabal_tui.agents.curation.curator import Curator
from flowcabal_tui.agents.builder.builder import ModelBuilder


class Silent(Monitor):
    """Finds nothing."""

    async def evaluate(self, node, params, draft, chapter, generation, attempt):
        found = await super().evaluate(node, params, draft, chapter, generation, attempt)
        return replace(found, checks=(), verdict="approve", confidence=0.5)


class Context(ContextAgent): ...
class Keeper(Curator): ...
class Builder(ModelBuilder): ...


def deaf(*arguments, **named):
    return object()
'''


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Lays a distribution with an agent for each role beside the program, as pip would."""

    def now() -> None:
        info = tmp_path / "site" / "agents-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: agents\nVersion: 1.0\n")
        made = {"context": "Context", "checker": "Silent", "curator": "Keeper", "builder": "Builder"}
        lines = [
            f"[{agent_group(role)}]\nown = example_agents:{made[role]}\ndeaf = example_agents:deaf"
            for role in AGENT_ROLES
        ]
        (info / "entry_points.txt").write_text("\n".join(lines))
        (tmp_path / "site" / "example_agents.py").write_text(EXAMPLE)
        monkeypatch.syspath_prepend(str(tmp_path / "site"))

    return now


def choose(role: AgentRole, name: str = "own") -> None:
    """The user's own choice, for all projects."""
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text(f'[agents]\n{role} = "{name}"\n')


@pytest.mark.parametrize("role", ["context", "checker", "curator"])
async def test_what_the_user_chose_takes_the_place_of_the_agent(
    role: AgentRole, tmp_path: Path, install: Callable[[], None]
) -> None:
    install()
    choose(role)
    async with opened(await make_demo(tmp_path / "book")) as case:
        made = AgentFactory(case.project._parts.base).of(role, SHIPPED[role])
        assert made is not SHIPPED[role]
        others = [each for each in SHIPPED if each != role]
        assert [AgentFactory(case.project._parts.base).of(each, SHIPPED[each]) for each in others] == [  # type: ignore[arg-type]  # roles
            SHIPPED[each] for each in others
        ]


async def test_a_run_is_checked_by_the_plug_in(tmp_path: Path, install: Callable[[], None]) -> None:
    install()
    choose("checker")
    async with opened(await make_demo(tmp_path / "book")) as case:
        await case.run("chapter", 7)
        assert {event.evaluation.confidence for event in case.told(NodeEvaluated)} == {0.5}


async def test_an_agent_that_a_project_asks_for_waits_for_the_answer(
    tmp_path: Path, install: Callable[[], None]
) -> None:
    install()
    folder = await make_demo(tmp_path / "book")
    with (folder / PROJECT_FILE).open("a") as file:
        file.write('\n[agents.plugins]\nchecker = "own"\n')
    async with opened(folder) as case:
        factory = AgentFactory(case.project._parts.base)
        with pytest.raises(ProjectNotConfirmed, match="own"):
            factory.monitor()
        view = await case.project.models.trust()
        assert [item.name for item in view.asked.items] == ["own"]
        await case.project._engine.call(
            case.project._parts.base.trust.confirm([item.digest for item in view.asked.items])
        )
        assert type(factory.monitor()).__name__ == "Silent"


@pytest.mark.parametrize(("name", "words"), [("none", "No installed plug-in"), ("deaf", "not an agent of this kind")])
async def test_a_plug_in_that_cannot_be_used_is_named(
    name: str, words: str, tmp_path: Path, install: Callable[[], None]
) -> None:
    install()
    choose("checker", name)
    async with opened(await make_demo(tmp_path / "book")) as case:
        with pytest.raises(SettingsError, match=words):
            AgentFactory(case.project._parts.base).monitor()
