#!/usr/bin/env python3
"""The same comparison as synth.py with OpenDP's MST and AIM, whose packages do not install beside dpmm's.

Known faults are worked around, so that the comparison is fair: OpenDP 0.16's MST sums shares of its budget with upward rounding and then often
refuses its own total ("insufficient budget"), so each share is made smaller by 1e-9 of itself; its default way to make rows does not shuffle within parents and invents
correlations, so it is asked for method="sample" as well; its extra forgets pandas; every column gets one
value more, for what is not among its keys, and rows with that are left out. Its AIM compiles in every round (about 25 s of CPU each), so it gets
2 MB and the workload, and usually reaches the limit of CPU time all the same.

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


def opendp_twin(job, sampler, workload=None):
    import opendp.extras.mbi._mst as mst
    import opendp.prelude as dp
    import polars as pl
    mst.prior = lambda share: share * (1 - 1e-9)
    dp.enable_features("contrib", "honest-but-curious")
    rho = rho_of(job["epsilon"], job["delta"]) * (1 - 1e-6)
    frame = pl.DataFrame({n: job["real"][:, i].astype(np.uint32) for i, n in enumerate(job["names"])})
    keys = {n: list(range(job["domain"][n])) for n in job["names"]}
    algorithm = dp.mbi.MST()
    if workload:
        queries = [dp.mbi.Count(tuple(m)) for m in job["workloads"][workload]]
        algorithm = dp.mbi.AIM(queries=queries, max_size=2)
    before = cpu()
    context = dp.Context.compositor(data=frame.lazy(), privacy_unit=dp.unit_of(contributions=1), privacy_loss=dp.loss_of(rho=rho),
                                    split_evenly_over=1)
    table = context.query().contingency_table(keys=keys, algorithm=algorithm).release()
    twin = table.synthesize(method=sampler) if sampler else table.synthesize()
    seconds = cpu() - before
    return twin.select(job["names"]).drop_nulls().to_numpy().astype(np.int64), seconds


def opendp_runs(job):
    every = list(job["workloads"])
    return [("OpenDP MST, sample", every, lambda: opendp_twin(job, "sample")),
            ("OpenDP MST", every, lambda: opendp_twin(job, None)),
            *(("OpenDP AIM", [w], lambda w=w: opendp_twin(job, "sample", w)) for w in every)]


if __name__ == "__main__":
    main(opendp_runs)
