"""Actions: what a workflow may do outside of the novel, declared in JSON, found by search, simulated or carried out."""
