"""What runs of a project need: begun and answered, quoted, told again, their versions."""
