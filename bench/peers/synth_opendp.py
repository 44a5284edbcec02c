#!/usr/bin/env python3
"""The same comparison as synth.py with OpenDP's MST, whose packages do not install beside dpmm's.

Known faults are worked around, so that the comparison is fair: OpenDP 0.16's MST sums shares of its budget with upward rounding and then often
refuses its own total, so it gets rho less 1e-6 of itself; its default way to make rows does not shuffle within parents and invents
correlations, so it is asked for method="sample" as well; its extra forgets pandas. Its AIM takes about 25 s of CPU a round and is left out.

usage: as synth.py
"""
import numpy as np

from synth import cpu, main


def rho_of(epsilon, delta):
    """The greatest rho whose zCDP implies (epsilon, delta): Canonne, Kamath and Steinke 2020."""
    def delta_of(rho):
        a = np.geomspace(1e-6, 1e6, 20000) + 1
        return np.min((a - 1) * (a * rho - epsilon) + a * np.log1p(-1 / a) - np.log(a - 1))
    low, high = 0.0, epsilon + 1
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if delta_of(middle) <= np.log(delta) else (low, middle)
    return low


def opendp_twin(job, sampler):
    import opendp.prelude as dp
    import polars as pl
    dp.enable_features("contrib", "honest-but-curious")
    rho = rho_of(job["epsilon"], job["delta"]) * (1 - 1e-6)
    frame = pl.DataFrame({n: job["real"][:, i].astype(np.uint32) for i, n in enumerate(job["names"])})
    keys = {n: list(range(job["domain"][n])) for n in job["names"]}
    before = cpu()
    context = dp.Context.compositor(data=frame.lazy(), privacy_unit=dp.unit_of(contributions=1), privacy_loss=dp.loss_of(rho=rho),
                                    split_evenly_over=1)
    table = context.query().contingency_table(keys=keys, algorithm=dp.mbi.MST()).release()
    twin = table.synthesize(method=sampler) if sampler else table.synthesize()
    return twin.select(job["names"]).to_numpy().astype(np.int64), cpu() - before


def opendp_runs(job, quick):
    return [("OpenDP MST", lambda: opendp_twin(job, None)), ("OpenDP MST, sample", lambda: opendp_twin(job, "sample"))]


if __name__ == "__main__":
    main(opendp_runs)
