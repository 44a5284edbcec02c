#!/usr/bin/env python3
"""Everything that the index of the lectures names is there: verbs, options, files, and the headings of the pages.

    tests/lectures/index_test.py ROOT build/bin/discreet
"""
import pathlib
import re
import subprocess
import sys

ROOT, BINARY = pathlib.Path(sys.argv[1]), sys.argv[2]
INDEX = (ROOT / "docs/lectures/README.md").read_text()
problems, helps = [], {}


def help_of(words):
    key = " ".join(words)
    if key not in helps:
        done = subprocess.run([BINARY, *words, "--help"], capture_output=True, text=True)
        helps[key] = done.stdout if done.returncode == 0 else ""
    return helps[key]


def anchors_of(page):
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.M)
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", h.lower())).strip("-") for h in headings}


commands = paths = links = 0
for piece in re.findall(r"`([^`]+)`", INDEX):
    if piece.startswith("discreet "):
        commands += 1
        words = piece.split()[1:]
        verbs = [w for w in words if not w.startswith("-")]
        options = [w for w in words if w.startswith("--")]
        # `attack NAME` and `audit NAME` take a name, other second words are verbs of their own.
        known = help_of(verbs[:1])
        if len(verbs) > 1 and verbs[0] in ("attack", "audit"):
            listed = subprocess.run([BINARY, verbs[0], "--list"], capture_output=True, text=True).stdout
            if not re.search(rf"^{re.escape(verbs[1])}\s", listed, re.M):
                problems.append(f"{piece}: {verbs[0]} knows no {verbs[1]}")
        elif len(verbs) > 1:
            known = help_of(verbs[:2])
        if not known:
            problems.append(f"{piece}: no such command")
        problems += [f"{piece}: no option {option}" for option in options if not re.search(rf"{option}\b", known)]
    elif "/" in piece and re.search(r"\.(h|cc|py|md|sh)$", piece):
        paths += 1
        if not (ROOT / piece).exists():
            problems.append(f"{piece} is not there")
for target, anchor in re.findall(r"\]\(([\w./-]+\.md)(?:#([\w-]+))?\)", INDEX):
    links += 1
    page = (ROOT / "docs/lectures" / target).resolve()
    if not page.exists():
        problems.append(f"{target} is not there")
    elif anchor and anchor not in anchors_of(page):
        problems.append(f"{target} has no heading {anchor}: {sorted(anchors_of(page))}")
for problem in problems:
    print(problem)
print(f"{commands} commands, {paths} files, {links} links named; {len(problems)} wrong")
sys.exit(1 if problems or commands < 30 else 0)
