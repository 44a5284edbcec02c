# %% [markdown]
# # Private regression
#
# A line through points that nobody may see: by SQL, by a private covariance, and by any estimator run on blocks of rows.

# %%
import numpy as np
import pandas

import discreet
from discreet import accounting, mechanisms

generator = np.random.default_rng(9)
people = 20_000
hours = generator.uniform(0, 40, people)
grade = (30 + 1.2 * hours + generator.normal(0, 10, people)).clip(0, 100)
slope = np.polyfit(hours, grade, 1)[0]
print(f"the exact slope is {slope:.3f}")

# %% [markdown]
# **By SQL.** A covariance over a variance, both of bounded columns, in one statement.

# %%
frame = pandas.DataFrame({"student": np.arange(people), "hours": hours, "grade": grade})
cur = discreet.protect({"students": frame}, unit="student", max_rows_per_unit=1, epsilon=2.0, delta=1e-8,
                       columns={"students": {"hours": {"range": [0.0, 40.0], "grid": 0.25}, "grade": {"range": [0.0, 100.0], "grid": 0.5}}})
answer = cur.query("select covar_samp(grade, hours) / var_samp(hours) as slope from students", epsilon=1.0)
print(answer)
assert abs(answer["slope"][0] - slope) < 0.2

# %% [markdown]
# **By hand.** The same two as releases of their own; the accountant adds them up.

# %%
joint = mechanisms.Covariance(0.5, first=(0.0, 40.0), second=(0.0, 100.0))
spread = mechanisms.Mean(0.5, lower=0.0, upper=40.0, variance=True)
by_hand = joint.release(hours, grade).value / spread.release(hours).variance.value
print(f"{by_hand:.3f}, for epsilon {accounting.compose([joint.loss, spread.loss]).epsilon(delta=0):.2f}")
assert abs(by_hand - slope) < 0.2

# %% [markdown]
# **By blocks.** Any estimator becomes private when it runs on many blocks and the median of its answers is released: here a robust
# line (Theil's), which has no formula for its sensitivity.

# %%
points = np.column_stack([hours, grade])


def robust_slope(block):
    if len(block) < 2:
        return 0.0
    first, second = block[: len(block) // 2], block[len(block) // 2: 2 * (len(block) // 2)]
    run = second[:, 0] - first[:, 0]
    far = np.abs(run) > 1
    return float(np.median((second[far, 1] - first[far, 1]) / run[far])) if far.any() else 0.0


blocks = mechanisms.SampleAndAggregate(1.0, blocks=200, lower=-5.0, upper=5.0)
robust = blocks.release(points, robust_slope)
print(f"{robust:.3f}, for epsilon 1")
assert abs(robust - slope) < 0.3
