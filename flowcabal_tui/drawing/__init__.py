"""Pictures of a workflow: a layout of its own, and from it SVG, PNG, JPEG, Mermaid and rails of text."""
