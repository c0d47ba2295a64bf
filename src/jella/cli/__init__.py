"""The command `jella`: one module a command, `main` brings them together."""
