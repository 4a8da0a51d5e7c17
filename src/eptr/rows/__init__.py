"""Rows flow one way: out of the data, as exact sums of bounded row functions."""
