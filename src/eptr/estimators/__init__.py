"""The probabilistic half: what is estimated, and how well. Draws no noise of its own."""
