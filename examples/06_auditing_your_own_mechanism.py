# %% [markdown]
# # Auditing your own mechanism
#
# A claim of privacy is easy to make and easy to get wrong. An audit runs the mechanism many times on two neighbouring data sets and
# looks for an event that is more likely on one of them than the claim allows. It can refute; it can never prove.

# %%
import numpy as np

from discreet import attacks, audit, mechanisms

generator = np.random.default_rng(1)
without, with_me = [1] * 100, [1] * 101


# %% [markdown]
# **A mistake that many make**: noise for a count, but the sum of several counts is released, and the scale is for one.

# %%
def three_counts(rows):
    noise = mechanisms.Laplace(epsilon=1.0)  # for one count of sensitivity 1
    return tuple(noise.release([len(rows), len(rows), len(rows)]))


found = audit.callable(lambda rows: sum(three_counts(rows)), without, with_me, epsilon=1.0, trials=20_000)
print(found.verdict, f"claims 1, is at least {found.lower_bound:.2f}: {found.event}")
assert found.refuted
found

# %% [markdown]
# The sensitivity of the three together is 3. With that, the audit finds nothing.

# %%
honest = mechanisms.Laplace(epsilon=1.0, sensitivity=3)
found = audit.callable(lambda rows: sum(honest.release([len(rows)] * 3)), without, with_me, epsilon=1.0, trials=5_000)
print(found.verdict, f"at least {found.lower_bound:.2f}")
assert not found.refuted

# %% [markdown]
# **A mistake that is invisible in the formula**: the textbook's Laplace noise in floating point. Which doubles can come out depends on the
# exact value (Mironov 2012), and the audit sees it in the last bits.

# %%
def textbook(exact, runs):
    return exact + generator.laplace(scale=1.0, size=runs)


found = audit.callable(textbook, 0.0, 1.0, epsilon=1.0, trials=50_000, vectorised=True)
print(found.verdict, f"claims 1, is at least {found.lower_bound:.2f}: {found.event}")
assert found.refuted

# %%
grid = mechanisms.Laplace(epsilon=1.0)
found = audit.callable(lambda exact, runs: grid.release(np.full(runs, exact)), 0.0, 1.0, epsilon=1.0, trials=50_000, vectorised=True)
print(found.verdict, f"at least {found.lower_bound:.2f}")
assert not found.refuted

# %% [markdown]
# **From the attacker's side**: how many secret bits come back from noisy subset counts? Half is a guess.

# %%
for name, answer in (("exact", lambda counts: counts), ("a little noise", lambda counts: np.array(counts) + generator.normal(0, 1, len(counts))),
                     ("epsilon 1 for all", lambda counts: mechanisms.Gaussian(1.0, 1e-6, sensitivity=len(counts) ** 0.5).release(np.array(counts)))):
    print(f"{name:<18} {100 * attacks.reconstruct(answer, people=100, queries=400):.0f} % of the bits recovered")
