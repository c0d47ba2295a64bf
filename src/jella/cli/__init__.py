"""The command `jella`: one module per command; `main` calls them."""
