"""Measurements that the README and the docs quote; every number there is printed by one of these."""
