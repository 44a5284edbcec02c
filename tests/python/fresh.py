"""Uses an installed wheel in an environment that has nothing else: no NumPy, no build tree, no library path."""
import importlib.metadata
import pathlib
import sys

import discreet

place = pathlib.Path(discreet.__file__).parent
assert pathlib.Path(sys.argv[1]) in place.parents, place
for name in ("py.typed", "_core.pyi", "mechanisms.py", "libduckdb.so"):
    assert (place / name).exists(), name
assert importlib.metadata.version("discreet") == discreet.__version__
# The engine is the one beside the module, wherever that was built.
engines = {line.split()[-1] for line in pathlib.Path("/proc/self/maps").read_text().splitlines() if "libduckdb" in line}
assert engines == {str((place / "libduckdb.so").resolve())}, engines

assert isinstance(discreet.mechanisms.Laplace(epsilon=0.1, sensitivity=1).release(1000), int)
assert len(discreet.mechanisms.Gaussian(epsilon=1, delta=1e-6).release([1.0, 2.0])) == 2
assert 3 < discreet.accounting.compose([100 * discreet.accounting.gaussian(sigma=10)]).epsilon(delta=1e-6) < 6
survey = discreet.local.Collection(epsilon=1.0, labels=["yes", "no"])
assert len(survey.estimate(survey.randomize(["yes", "no"] * 100))) == 2

folder = pathlib.Path(sys.argv[1])
(folder / "people.csv").write_text("id,age\n" + "\n".join(f"{i},{20 + i % 50}" for i in range(1000)) + "\n")
(folder / "discreet.toml").write_text("""
[tables.people]
source = "people.csv"
unit = "id"
max_rows_per_unit = 1
[tables.people.columns]
age = { range = [0, 120] }
[budgets.default]
epsilon = 1.0
delta = 0.0
""")
cur = discreet.open(folder / "discreet.toml")
answer = cur.query("select count(*) as n, avg(age) as age from people", epsilon=0.5)
assert abs(answer["n"][0] - 1000) < 200 and cur.budget().epsilon_left == 0.5
try:
    cur.query("select age from people")
    sys.exit("rows of people were handed out")
except discreet.Refused:
    pass
print(f"discreet {discreet.__version__} works from {place}")
