# %% [markdown]
# # A curator in ten minutes
#
# A hospital has a table of patients. Analysts ask questions in SQL; the curator answers them with noise, and nobody can tell from
# the answers whether any one patient is in the table. The hospital decides how much may be learnt in all: the budget.

# %%
import numpy as np
import pandas

import discreet

# %% [markdown]
# Made-up patients, so that this page can be public.

# %%
generator = np.random.default_rng(7)
people = 5_000
patients = pandas.DataFrame({
    "patient_id": np.arange(people),
    "ward": generator.choice(["ICU", "ER", "Maternity"], people, p=[0.2, 0.5, 0.3]),
    "age": generator.integers(18, 95, people),
    "days": generator.poisson(4, people) + 1,
})

# %% [markdown]
# `protect` puts a curator in front of data frames. Who is protected (`unit`), what is public about the columns, and the budget are
# the owner's to say. A file does the same for a team: `discreet.open("discreet.toml")`, see `docs/policy.md`.

# %%
cur = discreet.protect(
    {"patients": patients},
    unit="patient_id",
    max_rows_per_unit=1,
    epsilon=3.0,
    delta=1e-6,
    columns={"patients": {"ward": {"values": ["ICU", "ER", "Maternity"]}, "age": {"range": [0, 120]}, "days": {"range": [0, 60]}}},
)
cur.tables

# %% [markdown]
# **Ask the price first.** Nothing is spent and no row is read.

# %%
question = "select ward, count(*) as n, avg(age) as age from patients group by ward order by ward"
told = cur.explain(question, epsilon=0.5)
told

# %% [markdown]
# **Ask.** The charge is on disk before any row is read. The bars are 95 % intervals of the noise.

# %%
answer = cur.query(question, epsilon=0.5)
answer

# %%
answer.to_pandas(errors=True)

# %%
exact = patients.groupby("ward").size()
for ward, n, error in zip(answer["ward"], answer["n"], answer.error("n")):
    print(f"{ward:<10} released {n:>5}, exact {exact[ward]:>5}, error at 95 % ±{error:.1f}")
    assert abs(n - exact[ward]) < 6 * error

# %% [markdown]
# **The same question again is free**: the same answer comes out of the record, so averaging gains nothing.

# %%
again = cur.query(question, epsilon=0.5)
assert again.repeated and again.rows == answer.rows
cur.budget()

# %% [markdown]
# **Say how good it must be** instead of an epsilon, where the error is known beforehand.

# %%
enough = cur.query("select count(*) as n from patients where age > 65", target_error="±40 at 95%")
print(f"{enough.scalar()} patients over 65, for epsilon {enough.cost.epsilon:.3f}")

# %% [markdown]
# **What would give people away is refused**, with a reason and a way out; and when the budget is gone, it is gone.

# %%
for sql, epsilon in (("select patient_id, age from patients", 0.1), ("select avg(days) from patients", 50)):
    try:
        cur.query(sql, epsilon=epsilon)
        raise SystemExit("that should have been refused")
    except discreet.DiscreetError as refused:
        print(f"{type(refused).__name__}: {refused}\n")

# %%
print(f"ledger: {cur.verify()} events, chain intact")
ax = answer.plot("n")
