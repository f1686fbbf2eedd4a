"""What every test gets: folders of its own, English words, and nothing of the developer's environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowcabal_tui.locale import use_language

KEYS = (
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "DEEPSEEK_API_KEY",
    "DASHSCOPE_API_KEY",
    "MOONSHOT_API_KEY",
    "ZHIPUAI_API_KEY",
    "OPENROUTER_API_KEY",
    "GEMINI_API_KEY",
)


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Settings, state, cache and data of the test; keys of the developer are out of sight."""
    home = tmp_path / "home"
    for name in ("CONFIG", "STATE", "CACHE", "DATA"):
        monkeypatch.setenv(f"FLOWCABAL_{name}_DIR", str(home / name.lower()))
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FLOWCABAL_LANG", "en")
    use_language("en")
    return home
