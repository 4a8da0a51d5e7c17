"""make mutants: weaken every line that carries the guarantee, one at a time, and see whether a test notices.

A constant times .98, a factor dropped, a comparison flipped, a mask, clip, check or charge removed, a branch or a rung
taken for another. Mutants come from the syntax tree of whatever file carries the guarantee today, so a new estimator
brings its own. Which tests execute which statement is learnt from one run of the tests; a mutant meets those, the likeliest
to notice first, until one fails. Survivors are printed; those that nobody could notice are in `known.toml`, each with the
reason. A run that is stopped goes on where it was.

Why no tool from the shelf: mutmut 3 leaves out what stands outside functions, which is where shares and margins are, and
takes no operators of ours; cosmic-ray does, but writes every mutant to disk and starts Python, scikit-learn and OpenDP
anew for it. Here tests are collected once, and a mutant lives in the memory of a fork: a third of a second each.

Margins for rounding (1e-12, 2^-52, one step to the next float) are proven, not measured, and left alone here.
"""
