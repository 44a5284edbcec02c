#!/usr/bin/env python3
"""The runner of the lecture pages notices pages that say what is not true.

    tests/lectures/runner_test.py tools/lectures.py
"""
import pathlib
import stat
import subprocess
import sys
import tempfile

RUNNER = pathlib.Path(sys.argv[1]).resolve()
FENCE = "```"

# page, whether it is right
CASES = {
    "the same words": (f"{FENCE}console\n$ echo three 3\nthree 3\n{FENCE}\n", True),
    "another number": (f"{FENCE}console\n$ echo three 3\nthree 4\n{FENCE}\n", False),
    "another word": (f"{FENCE}console\n$ echo three\nfour\n{FENCE}\n", False),
    "an output that the page has not": (f"{FENCE}console\n$ echo three\n{FENCE}\n", False),
    "a number within bounds": (f"{FENCE}console\n$ echo got 7\ngot 9\n{FENCE}\n<!-- check: 5 < n[0] < 10 | false alarm 1e-9: no -->\n", True),
    "a number out of bounds": (f"{FENCE}console\n$ echo got 7\ngot 9\n{FENCE}\n<!-- check: 8 < n[0] < 10 | false alarm 1e-9: no -->\n", False),
    "words count although numbers are free": (f"{FENCE}console\n$ echo got 7\nhad 9\n{FENCE}\n<!-- check: 5 < n[0] | never -->\n", False),
    "free words": (f"{FENCE}console\n$ echo got 7\nhad 9\n{FENCE}\n<!-- check free: 5 < n[0] | never -->\n", True),
    "a number that is not there": (f"{FENCE}console\n$ echo got\ngot\n{FENCE}\n<!-- check: n[3] > 0 | never -->\n", False),
    "too many false alarms": (f"{FENCE}console\n$ echo 1\n1\n{FENCE}\n<!-- check: n[0] == 1 | false alarm 0.01: often -->\n", False),
    "state carries over": (f"{FENCE}console\n$ word=here\n{FENCE}\n\n{FENCE}console\n$ echo $word\nhere\n{FENCE}\n", True),
    "a picture nobody draws": (f"![x](img/nobody.svg)\n\n{FENCE}console\n$ echo 1\n1\n{FENCE}\n", False),
    "lines that go on": (f"{FENCE}console\n$ cat <<'E'\n> a\n> b\n> E\na\nb\n{FENCE}\n", True),
    "a rule as long as its number": (f"{FENCE}console\n$ printf 'x\\n-----\\n12345\\n'\nx\n---\n123\n{FENCE}\n<!-- check: n[0] > 1 | never -->\n", True),
    "after a text": (f"{FENCE}console\n$ echo low 2 high 9\nlow 1 high 8\n{FENCE}\n<!-- check: after('high') == 9 | never -->\n", True),
}

wrong = 0
with tempfile.TemporaryDirectory() as folder:
    binary = pathlib.Path(folder) / "discreet"
    binary.write_text("#!/bin/sh\n")
    binary.chmod(binary.stat().st_mode | stat.S_IXUSR)
    for name, (page, right) in CASES.items():
        path = pathlib.Path(folder) / "page.md"
        path.write_text(page)
        done = subprocess.run([sys.executable, RUNNER, "--binary", binary, path], capture_output=True, text=True)
        if (done.returncode == 0) != right:
            wrong += 1
            print(f"{name}: exit {done.returncode}\n{done.stdout}{done.stderr}")
print(f"{len(CASES)} pages, {wrong} judged wrongly")
sys.exit(1 if wrong else 0)
