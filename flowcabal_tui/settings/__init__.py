"""What can be set: where files live, the project's file, the user's file, and secrets."""
