"""The libraries people use today, on the same rows: run in an environment of their own, compared in one table."""
