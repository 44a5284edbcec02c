# %% [markdown]
# # A synthetic twin
#
# A table with the columns, types and correlations of a real one, and nobody real in it.

# %%
import numpy as np
import pandas

from discreet import synth

generator = np.random.default_rng(5)
people = 10_000
education = generator.choice(["school", "trade", "university"], people, p=[0.4, 0.35, 0.25])
age = generator.integers(18, 80, people)
income = (np.select([education == "school", education == "trade"], [25, 35], 50) + (age - 18) * 0.4 + generator.normal(0, 8, people)).clip(0, 149).astype(int)
real = pandas.DataFrame({"age": age, "education": education, "income": income, "smoker": generator.random(people) < np.where(education == "university", 0.1, 0.3)})

# %% [markdown]
# The domain says what is public about the columns: ranges and lists that one would know without the data. What it leaves out is found
# privately, out of the same epsilon.

# %%
domain = {"age": {"range": [18, 79]}, "education": {"values": ["school", "trade", "university"]}, "income": {"range": [0, 149]}}
twin = synth.fit(real, epsilon=2.0, delta=1e-9, domain=domain, fast=True)
twin

# %%
fake = twin.to_pandas()
fake.head()

# %% [markdown]
# How good is it? Comparing with the real rows is for the owner's eyes: it is not private.

# %%
score = synth.score(real, twin)
print(f"largest error of any cell of any triple of columns: {score.max_error:.4f} of all rows; mean distance of triples {score.mean_tvd:.3f}")
by = lambda frame: frame.groupby("education")[["age", "income", "smoker"]].mean().round(2)  # noqa: E731
print(by(real), by(fake), sep="\n\n")
assert abs(fake["income"].mean() - real["income"].mean()) < 3
assert fake.groupby("education")["income"].mean().idxmax() == "university"

# %% [markdown]
# What was found privately, and how it was made:

# %%
for note in twin.notes:
    print("-", note)
page = twin.report()
print(f"a report of {len(page) // 1024} KiB, as public as the twin itself")
