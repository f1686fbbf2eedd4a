"""What callers ask of a project and have it do: one service a subject."""
