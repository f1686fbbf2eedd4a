"""The agents: Context agent, Monitor, Curator, Builder and conversation.

They read through ports; apart from the answers of models, they store nothing themselves.
"""
