"""A leaderboard: methods that cluster incomplete views, on published masks and on ours. `__main__` says how to run it."""
