"""make mutants: weaken every line that carries the guarantee, one at a time, and see whether a test notices.

A constant times .98, a factor dropped, a comparison flipped, a mask, clip, check or charge removed, a branch or a rung
taken for another. Mutants come from the syntax tree of whatever file carries the guarantee today, so a new estimator
brings its own. Which tests enter which function is learnt from one run of the tests; a mutant runs those, those that
noticed its neighbours first and then the quickest, and stops at the first failure. Survivors are printed; those that
nobody could notice are listed in `known.toml`, each with the reason.

Why no tool from the shelf: mutmut 3 leaves out what stands outside functions, which is where shares and margins are, and
takes no operators of ours; cosmic-ray does, but writes every mutant to disk and starts Python, scikit-learn and OpenDP
anew for it. Here a warm process is forked, and the mutant exists in the child's memory alone.

Margins for rounding (1e-12, 2^-52, one step to the next float) are proven, not measured, and left alone here.
"""
