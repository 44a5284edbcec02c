# %% [markdown]
# # A census table
#
# Counts by district and age, published whole. Exact tables give people away; noisy ones need not, and can still add up.

# %%
import numpy as np

import discreet
from discreet import accounting, attacks, mechanisms

# %% [markdown]
# First, why. In a made-up town the published statistics of blocks of seven people (counts, medians, means) are solved for the
# people. "Success" is a person's sex and exact age standing in the attacker's table.

# %%
report = attacks.run("census", epsilon=1.0)
print(report)
exact, private = report.outcomes[0], report.outcomes[-1]
assert exact.success > private.success
report

# %% [markdown]
# Now a table of our own: 40 districts by 10 age groups.

# %%
generator = np.random.default_rng(11)
districts, groups, people = 40, 10, 30_000
where = generator.choice(districts, people, p=generator.dirichlet(np.full(districts, 2.0)))
age_group = np.minimum(generator.poisson(4, people), groups - 1)
cell = where * groups + age_group
truth = np.bincount(cell, minlength=districts * groups)

# %% [markdown]
# Every person is in one cell, so one epsilon pays for all cells together.

# %%
epsilon = 0.5
table = mechanisms.Histogram(epsilon, categories=districts * groups)
print(f"each count is within ±{table.error():.0f} in 95 % of cases, all {districts * groups} of them within ±{table.error(worst=True):.0f}")
noisy = table.release(cell)
print(f"mean error {np.abs(noisy - truth).mean():.2f}, negative cells: {(noisy < 0).sum()}")
assert np.abs(noisy - truth).max() < 4 * table.error(worst=True)

# %% [markdown]
# Negative counts look silly, and setting them to zero would inflate the total. The nearest non-negative whole table of the same total costs
# nothing: it looks at released numbers only.

# %%
sensible = mechanisms.whole(mechanisms.nonnegative(noisy))
print(f"mean error {np.abs(sensible - truth).mean():.2f}, total {sensible.sum():,} of {people:,}")
assert (sensible >= 0).all() and abs(int(sensible.sum()) - int(noisy.sum())) <= 1

# %% [markdown]
# Ranges ("everyone under 60") add up the noise of many cells. A tree measures several resolutions and makes them consistent.

# %%
tree = mechanisms.Tree(epsilon=0.5, leaves=100)
ages = np.minimum(generator.gamma(5, 8, people).astype(int), 99)
counts = tree.release(ages)
for first, last in ((0, 17), (18, 64), (65, 99)):
    found = counts.range(first, last)
    print(f"ages {first:>2} to {last}: {found.value:8.0f} ± {1.96 * found.standard_error:.0f}   exact {((ages >= first) & (ages <= last)).sum():,}")
assert abs(counts.range(0, 49).value + counts.range(50, 99).value - counts.total) < 1e-6

# %% [markdown]
# What both releases cost together, exactly accounted:

# %%
both = accounting.compose([table.loss, tree.loss])
print(f"epsilon {both.epsilon(delta=0):.3f} with certainty, {both.epsilon(delta=1e-6):.3f} at delta 1e-6")
both
