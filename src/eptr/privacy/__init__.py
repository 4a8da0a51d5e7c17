"""The deterministic half: why an output is private, for every dataset. Knows no model."""
