#!/usr/bin/env python3
"""The same comparison as synth.py with smartnoise-synth's MST, AIM, MWEM and DP-CTGAN.

Known faults are worked around, so that the comparison is fair: its AIM measures the model by the sum of its cliques, not by the junction
tree that they make, and does 1,000 steps a round with a compilation each, so it gets 2 MB and the workload (its own choice is all pairs).
The way in which it makes rows does not shuffle within parents and invents correlations (as OpenDP's), so it is asked for "sample" as well.
Its domain is what occurs in the rows, which is not private and helps it. MWEM has no delta; its queries are left as they are.

usage: as synth.py
"""
import contextlib
import os

import numpy as np

from synth import cpu, main


def smartnoise_twin(job, name, workload=None, sampler=None, **options):
    import mbi
    import pandas as pd
    from snsynth import Synthesizer
    frame = pd.DataFrame(job["real"], columns=job["names"])
    if sampler:
        make = mbi.MarkovRandomField.synthetic_data
        mbi.MarkovRandomField.synthetic_data = lambda model, rows=None: make(model, rows, method=sampler)
    before = cpu()
    maker = Synthesizer.create(name, epsilon=job["epsilon"], **options)
    if workload:
        at = {column: f"col{i}" for i, column in enumerate(job["names"])}
        maker.get_workload = lambda *_, **__: [tuple(at[c] for c in m) for m in job["workloads"][workload]]
    with open(os.devnull, "w") as quiet, contextlib.redirect_stdout(quiet):
        maker.fit(frame, categorical_columns=list(job["names"]), preprocessor_eps=0.0)
        twin = pd.DataFrame(maker.sample(len(frame)), columns=job["names"])
    return twin.to_numpy().astype(np.int64), cpu() - before


def smartnoise_runs(job):
    every, delta = list(job["workloads"]), job["delta"]
    return [("smartnoise MST", every, lambda: smartnoise_twin(job, "mst", delta=delta)),
            ("smartnoise MST, sample", every, lambda: smartnoise_twin(job, "mst", sampler="sample", delta=delta)),
            ("smartnoise MWEM", every, lambda: smartnoise_twin(job, "mwem", split_factor=3)),
            ("smartnoise DP-CTGAN", every, lambda: smartnoise_twin(job, "dpctgan", delta=delta)),
            *(("smartnoise AIM, 2 MB", [w], lambda w=w: smartnoise_twin(job, "aim", w, "sample", delta=delta, max_model_size=2))
              for w in every)]


if __name__ == "__main__":
    main(smartnoise_runs)
