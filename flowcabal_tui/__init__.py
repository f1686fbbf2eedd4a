"""FlowCabal TUI: write very long novels with language models, and keep control."""

__version__ = "0.1.0"
