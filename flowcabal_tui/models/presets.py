"""Providers to choose from in a form: their addresses, the name of a model, and the currency in which they bill."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.domain.addresses import host_of
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.providers import SPOKEN, Provider
from flowcabal_tui.domain.text import slug


@dataclass(frozen=True, slots=True)
class Preset:
    """A provider, or a server program on this machine. `embedding` is its model for vectors ("": it has none)."""

    name: str
    key_env: str = ""
    base_url: str = ""
    model: str = ""
    embedding: str = ""
    provider: Provider = "openai"
    base_env: str = ""
    """The environment variable that replaces `base_url`."""
    currency: str = "USD"
    local: bool = False

    @property
    def secret(self) -> str:
        """The name of its key in the user's secrets file."""
        return slug(self.name.partition("(")[0].strip().lower(), fallback="key")

    @property
    def address(self) -> str:
        """The address of calls, also if the settings leave it to the provider."""
        return Endpoint(provider=self.provider, model="-", base_url=self.base_url).address


KNOWN: Final[tuple[Preset, ...]] = (
    Preset("DeepSeek", "DEEPSEEK_API_KEY", "https://api.deepseek.com/v1", "deepseek-chat", currency="CNY"),
    Preset(
        "Qwen (DashScope)",
        "DASHSCOPE_API_KEY",
        "https://dashscope.aliyuncs.com/compatible-mode/v1",
        "qwen-plus",
        "text-embedding-v4",
        currency="CNY",
    ),
    Preset(
        "Kimi (Moonshot)", "MOONSHOT_API_KEY", "https://api.moonshot.cn/v1", "kimi-k2-turbo-preview", currency="CNY"
    ),
    Preset(
        "GLM (Zhipu)",
        "ZHIPUAI_API_KEY",
        "https://open.bigmodel.cn/api/paas/v4",
        "glm-4.6",
        "embedding-3",
        currency="CNY",
    ),
    Preset(
        "Anthropic", "ANTHROPIC_API_KEY", "", "claude-sonnet-4-5", provider="anthropic", base_env="ANTHROPIC_BASE_URL"
    ),
    Preset("OpenAI", "OPENAI_API_KEY", "", "gpt-4.1", "text-embedding-3-small", base_env="OPENAI_BASE_URL"),
    Preset(
        "Gemini",
        "GEMINI_API_KEY",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "gemini-2.5-pro",
        "gemini-embedding-001",
    ),
    Preset(
        "SiliconFlow",
        "SILICONFLOW_API_KEY",
        "https://api.siliconflow.cn/v1",
        "deepseek-ai/DeepSeek-V3",
        "BAAI/bge-m3",
        currency="CNY",
    ),
    Preset("Mistral", "MISTRAL_API_KEY", "https://api.mistral.ai/v1", "mistral-large-latest", "mistral-embed"),
    Preset("Groq", "GROQ_API_KEY", "https://api.groq.com/openai/v1", "llama-3.3-70b-versatile"),
    Preset("xAI", "XAI_API_KEY", "https://api.x.ai/v1", "grok-4"),
    Preset("OpenRouter", "OPENROUTER_API_KEY", "https://openrouter.ai/api/v1", "deepseek/deepseek-chat"),
)
LOCAL: Final[Mapping[str, str]] = {
    "Ollama": "http://127.0.0.1:11434/v1",
    "LM Studio": "http://127.0.0.1:1234/v1",
    "llama.cpp": "http://127.0.0.1:8080/v1",
    "vLLM": "http://127.0.0.1:8000/v1",
}
OTHER: Final[tuple[Preset, ...]] = tuple(Preset(name, provider=name) for name in SPOKEN)
"""A preset for any other address, one for each dialect."""
OFFLINE: Final = Preset("offline", provider="offline", model="offline", local=True)
PRESETS: Final = (*KNOWN, *(Preset(name, base_url=url, local=True) for name, url in LOCAL.items()))


def preset_of(endpoint: Endpoint | None) -> Preset:
    """The preset with the provider and host of an endpoint, else that of its dialect."""
    if endpoint is None:
        return PRESETS[0]
    if endpoint.provider == "offline":
        return OFFLINE
    same = (
        each
        for each in PRESETS
        if each.provider == endpoint.provider and host_of(each.address) == host_of(endpoint.address)
    )
    return next(same, OTHER[SPOKEN.index(endpoint.provider)])
