"""The methods that a user would pick instead: private linear regression as others do it. Knows privacy, no experiment.

==========================  ======================================================  ===============================
module                      what it releases                                        after
==========================  ======================================================  ===============================
`output_perturbation`       the minimiser of a penalised convex loss, plus noise    Chaudhuri et al. (2011)
`objective_perturbation`    the minimiser of that loss with a random linear term    the same; Kifer et al. (2012)
`sufficient_statistics`     the solution of noisy normal equations, AdaSSP          Wang (2018)
`boosting`                  the same, corrected by rounds of noisy gradients        Tang et al. (2023)
`tukey`                     a point deep among least squares of disjoint parts      Amin et al. (2023)
`batch_descent`             clipped gradient descent on all records or on samples   Abadi et al. (2016)
`shrinking_clip`            the same on all records, with a clip that shrinks        this book
`checkpoint_descent`        every iterate of clipped descent with a constant step   Brown et al. (2024)
`adaptive_clipping`         one pass; other records choose the clip of a step       Varshney et al. (2022)
`robust_clipping`           descent on all records, with features clipped too       Liu et al. (2023)
`correlated_noise`          every iterate of one pass, with correlated noise        Kairouz et al. (2021)
`gaussian_mixing`           least squares on random combinations of the records     Sheffet (2017)
`hessian_mixing`            noisy gradients, solved with sketches of the Hessian    Lev et al. (2026)
==========================  ======================================================  ===============================

Neighbours differ in one record that is replaced by any other. Each module proves its guarantee for that relation, and
accounts for it with `costofprivacy.privacy`. All but `tukey` ask for public bounds (`bounds.Bounds`); records beyond
them are clipped, so that privacy does not depend on whether the bounds are true.

Insufficient-statistics perturbation (Brown et al., 2024, arXiv:2404.15409) is left out. Its guarantee rests on
comparing leverages with thresholds that are a share of order 1/n apart, and for almost collinear features a computed
leverage has no correct digit.
"""
