"""Starts the installed OpenViking without two libraries that take more than half of its start: no test needs them.

`lark_oapi` reads documents of Feishu and `litellm` asks chat models; no project of ours configures either. Files,
vectors and locks are those of the server itself. tests/viking/test_server.py starts it whole.
"""

from __future__ import annotations

import runpy
import sys
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType


def without(name: str, **has: object) -> None:
    """A package with these names instead of its own; its modules are loaded where they are asked for."""
    spec = find_spec(name)
    module = ModuleType(name)
    module.__spec__ = ModuleSpec(name, None, is_package=True)
    module.__path__ = list(spec.submodule_search_locations or ()) if spec else []
    vars(module).update(has)
    sys.modules[name] = module


if __name__ == "__main__":
    without("lark_oapi")
    without("volcenginesdkarkruntime", AsyncArk=None, Ark=None)
    without("litellm", acompletion=None, completion=None)
    without("litellm.types")
    without("litellm.types.utils", all_litellm_params=())
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
