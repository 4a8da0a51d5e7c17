"""make mutants: weaken every line that carries the guarantee, one at a time, and see whether a test notices.

A constant times .98, a factor dropped, a comparison flipped, a mask, clip, check or charge removed, a branch or a rung
taken for another. Mutants come from the syntax tree of whatever file carries the guarantee today, so a new estimator
brings its own.

Which lines carry it. Of privacy/, accounting/ and rows/, every line of a file that has its proof beside it, and of the
seams between rows, noise and charge. Elsewhere row functions, formulas with a proof, and what contributions, shares and
exact sums are made of. Not what only tells or plans, and not what is done with numbers that have their noise: estimates
and intervals may be wrong there, the guarantee is not, and proofs under "What is estimated" say so. Margins for rounding
(1e-12, 2^-52, one step to the next float) are proven, not measured, and left alone, too. Of every line that is left, one
mutant changes a size and one a decision; `--all` tries every one.

Which tests. A mutant meets the test of results/mutants.csv that noticed it before. If there is none, or it does not notice
any more: which tests execute which statement is learnt from one run of the tests, and the mutant meets those, the likeliest
to notice first, until one fails. Survivors are printed; those that nobody could notice are in `known.toml`, each with the
reason.

Why no tool from the shelf: mutmut 3 leaves out what stands outside functions, which is where shares and margins are, and
takes no operators of ours; cosmic-ray does, but writes every mutant to disk and starts Python, scikit-learn and OpenDP
anew for it. Here tests are collected once, and a mutant lives in the memory of a fork: a third of a second each.
"""
