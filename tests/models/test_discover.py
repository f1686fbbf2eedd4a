"""What is found when nothing is configured."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from flowcabal_tui.models.discover import KNOWN, LOCAL, discover, in_environment
from tests.faultserver import FaultServer


def test_a_key_in_the_environment_is_a_proposal_without_the_key() -> None:
    (found,) = in_environment({"DEEPSEEK_API_KEY": "sk-secret", "OPENAI_API_KEY": " ", "HOME": "/"})
    assert found.endpoint.api_key_env == "DEEPSEEK_API_KEY"
    assert found.endpoint.base_url.startswith("https://")
    assert not found.local
    assert "sk-secret" not in repr(found)


def test_every_known_provider_is_proposed() -> None:
    found = in_environment({known.key_env: "x" for known in KNOWN})
    assert len({proposal.endpoint.identity for proposal in found}) == len(KNOWN)
    assert {proposal.endpoint.provider for proposal in found} == {"openai", "anthropic"}


def test_an_address_in_the_environment_goes_with_its_key() -> None:
    (found,) = in_environment({"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"})
    assert found.endpoint.base_url == "http://127.0.0.1:9/v1"


async def test_a_model_on_this_machine_comes_first_and_is_only_asked_for_its_list(server: FaultServer) -> None:
    server.looks_take_faults = True
    server.push({"body": {"data": [{"id": "nomic-embed-text"}, {"id": "qwen3:8b"}, {"id": "llama3\x1b[2J"}]}})
    found = await discover({"OPENAI_API_KEY": "x"}, {"Ollama": server.url + "/v1"})
    assert [proposal.name for proposal in found] == ["Ollama", "OpenAI"]
    assert found[0].local
    assert found[0].models == ("qwen3:8b", "llama3")
    assert found[0].endpoint.model == "qwen3:8b" and found[0].endpoint.api_key_env == ""
    assert [(entry["method"], entry["path"]) for entry in server.log] == [("GET", "/v1/models")]


async def test_what_does_not_answer_or_answers_nonsense_is_not_there(server: FaultServer) -> None:
    addresses = dict.fromkeys(("slow", "page", "list", "none", "broken"), server.url + "/v1")
    server.looks_take_faults = True
    server.push(
        {"header_delay": 60},
        {"body": "<html>hello</html>"},
        {"body": {"data": [{"id": 7}, {"name": "x"}]}},
        {"body": {"data": []}},
        {"reset_after": -1},
    )
    assert await discover({}, addresses | {"nobody": "http://127.0.0.1:1/v1"}) == ()


@pytest.mark.parametrize(
    ("name", "port"), [("Ollama", 11434), ("LM Studio", 1234), ("llama.cpp", 8080), ("vLLM", 8000)]
)
async def test_each_server_is_found_by_the_port_that_it_has_unless_set(name: str, port: int) -> None:
    assert urlsplit(LOCAL[name]).port == port
    server = FaultServer(port)
    try:
        await server.__aenter__()
    except OSError:
        pytest.skip(f"port {port} is taken")
    try:
        found = {proposal.name: proposal for proposal in await discover({})}
    finally:
        await server.__aexit__(None, None, None)
    endpoint = found[name].endpoint
    assert found[name].local and endpoint.is_local and endpoint.base_url == f"http://127.0.0.1:{port}/v1"
    assert endpoint.pace.concurrency == 1 and endpoint.model == "mock"
    assert server.asked == ["/v1/models"] and server.log == []
