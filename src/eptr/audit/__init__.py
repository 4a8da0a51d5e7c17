"""Attacks on our own claims: a search for neighbours that break a bound, and a measured lower bound on epsilon."""
