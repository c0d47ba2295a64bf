"""A leaderboard of methods that cluster incomplete views; `__main__` says how to run it."""
