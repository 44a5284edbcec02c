# %% [markdown]
# # Emoji
#
# Which emoji do people type? Every phone randomises what it reports, so nobody has to be trusted: not the network, not the collector.

# %%
import numpy as np

from discreet import local

EMOJI = ["😂", "❤️", "🤣", "👍", "😭", "🙏", "😘", "🥰", "😍", "😊", "🎉", "😁", "💕", "🥺", "😅", "🔥"]
generator = np.random.default_rng(3)
people = 20_000
shares = 1 / np.arange(1, len(EMOJI) + 1)
typed = generator.choice(EMOJI, people, p=shares / shares.sum())

# %% [markdown]
# The best protocol for this epsilon and this many values is chosen; its error is known before anyone reports.

# %%
survey = local.Collection(epsilon=2.0, labels=EMOJI, name="emoji")
print(f"{survey.oracle}: {survey.report_bytes} bytes a report, a rare emoji's count is off by about {survey.error(people):.0f} of {people:,}")

# %% [markdown]
# On the phones (here all at once):

# %%
reports = survey.randomize(typed)
print(f"the collector sees {len(reports):,} bytes; the first report is {reports[:survey.report_bytes].hex()}")

# %% [markdown]
# At the collector:

# %%
found = survey.estimate(reports, post="norm-sub")
for row in found.top(5):
    true = int((typed == row.value).sum())
    print(f"{row.value}  estimated {row.estimate:7.0f} ± {1.96 * row.standard_error:.0f}   true {true:6}")
    assert abs(row.estimate - true) < 7 * row.standard_error
found

# %% [markdown]
# One phone keeps count of what it has given away, for good; then it says no more.

# %%
import discreet

phone = local.Client(survey, total=5.0)
for day in range(4):
    try:
        phone.report("😂")
        print(f"day {day}: reported; epsilon {phone.spent} given so far")
    except discreet.BudgetExhausted as done:
        print(f"day {day}: {done}")

# %% [markdown]
# If the reports pass through a shuffler that forgets who sent them, the same reports are far more private against everyone behind it:

# %%
print(f"epsilon {survey.epsilon} on the phone is epsilon {survey.central_epsilon(people, 1e-6):.3f} at delta 1e-6 once shuffled")

# %% [markdown]
# New words that are on no list are found by growing prefixes.

# %%
words = generator.choice(["yeet", "rizz", "slay", "sus"], people, p=[0.4, 0.3, 0.2, 0.1])
hitters = local.HeavyHitters(epsilon=4.0, bytes_max=4)
for row in hitters.find(hitters.randomize(words)):
    print(f"{row.value}: about {row.estimate:.0f} people")
