"""Actions: operations of a workflow outside the novel, declared in JSON, found by search, simulated or run."""
