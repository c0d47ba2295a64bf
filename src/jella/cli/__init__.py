"""The command `jella`: one module per command, which `main` brings together."""
