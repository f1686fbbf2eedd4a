"""Starts the installed OpenViking without what takes most of its start and no test needs.

`lark_oapi` reads documents of Feishu and `litellm` asks chat models; no project of ours configures either. FastAPI
prepares all 190 paths of the server at the first request; our client asks for those of `ROUTERS`. Files, vectors and
locks are those of the server itself. tests/viking/test_server.py starts it whole.
"""

from __future__ import annotations

import runpy
import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

ROUTERS = frozenset({"system", "resources", "filesystem", "content", "search", "pack", "observer"})
"""Modules of `openviking.server.routers`; see `flowcabal_tui.viking.client`."""


def without(name: str, **has: object) -> None:
    """A package with these names instead of its own; its modules are loaded where they are asked for."""
    spec = find_spec(name)
    module = ModuleType(name)
    module.__spec__ = ModuleSpec(name, None, is_package=True)
    module.__path__ = list(spec.submodule_search_locations or ()) if spec else []
    vars(module).update(has)
    sys.modules[name] = module


def only_used(application: Any) -> None:
    """Applications of FastAPI leave out the routers that our client does not ask."""
    include = application.include_router

    def include_used(self: Any, router: Any, **named: object) -> None:
        modules = {route.endpoint.__module__.rpartition(".")[2] for route in router.routes}
        if modules <= ROUTERS:
            include(self, router, **named)

    application.include_router = include_used


if __name__ == "__main__":
    only_used(import_module("fastapi").FastAPI)
    without("lark_oapi")
    without("volcenginesdkarkruntime", AsyncArk=None, Ark=None)
    without("litellm", acompletion=None, completion=None)
    without("litellm.types")
    without("litellm.types.utils", all_litellm_params=())
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
