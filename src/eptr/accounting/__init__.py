"""Budgets: what a claim is worth, how claims add up."""
