#!/usr/bin/env python3
"""Runs the commands in docs/lectures and compares what they print with what the pages say.

    tools/lectures.py --binary build/bin/discreet [--quick] [--write] [--index DIR] [PAGE ...]

A page is Markdown. A block fenced as ```console holds commands ("$ " in front, "> " on lines that go on) and under
each the output it really gave, stdout and stderr together. All commands of a page run in one shell, in an empty folder.
A comment right behind the block says how the output of its commands is compared; without one it must be the same.

    <!-- check: 700 <= n[0] <= 1300 | false alarm 1e-13: Laplace noise of scale 10 -->
        The words must be the same; the numbers need not, but every expression (with ; between) must be true. n are the
        numbers of the block's output in order, out is its text, after('text') the first number behind a text (after('text',
        2) the third). A rate of false alarms must be told: at most 1e-6.
    <!-- check free: 'refused' in out | never -->     the same, and the words are free too
    <!-- slow -->                                     not with --quick
    <!-- needs: data/adult.csv -->                    only where the shared folder has this file ($SHARED is the folder)

With --write the pages get the outputs of this run, and docs/lectures/img the pictures (only what changed in substance:
outputs that pass their check stay as they are). --index writes a page with all pictures. Exit 1 when a page is wrong.
"""
import argparse
import html
import math
import os
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "lectures"
NUMBER = re.compile(r"(?<![\w.])[-+±]?\d+(?:,\d{3})*(?:\.\d+)?(?:[eE][-+]?\d+)?")
MARK = "__discreet_lecture_end__"
FALSE_ALARM_MAX = 1e-6


class Shell:
    """One bash for a page: variables, folders and background programs carry over."""

    def __init__(self, folder, binary, shared):
        environment = dict(os.environ, PATH=f"{binary.parent}:{os.environ['PATH']}", LC_ALL="C.UTF-8", SHARED=str(shared),
                           LECTURES=str(PAGES), ROOT=str(ROOT), PYTHONDONTWRITEBYTECODE="1", HOME=str(folder))
        self.process = subprocess.Popen(["bash", "--noprofile", "--norc"], cwd=folder, env=environment, text=True, bufsize=1,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        start_new_session=True)
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def run(self, command, timeout):
        self.process.stdin.write(f"{{ {command}\n}} </dev/null 2>&1\necho {MARK} $?\n" if "<<" not in command else
                                 f"{command}\necho {MARK} $?\n")
        self.process.stdin.flush()
        out, end = [], time.monotonic() + timeout
        while True:
            try:
                line = self.lines.get(timeout=max(0.1, end - time.monotonic()))
            except queue.Empty:
                return "".join(out) + f"(no answer within {timeout} s)\n", None
            if line is None:
                return "".join(out) + "(the shell ended)\n", None
            if MARK in line:
                before = line[:line.index(MARK)]
                return "".join(out) + (before + "\n" if before else ""), int(line.rsplit(None, 1)[1])
            out.append(line)

    def close(self):
        try:
            os.killpg(self.process.pid, 15)
        except ProcessLookupError:
            pass
        self.process.wait()


class Step:
    def __init__(self, command, output):
        self.command, self.output = command, output  # both as text; output ends with a newline or is empty


class Block:
    def __init__(self, first, last, steps):
        self.first, self.last, self.steps = first, last, steps  # line numbers of the fences
        self.check, self.free, self.slow, self.needs, self.alarm = None, False, False, None, None


def blocks_of(lines):
    found, i = [], 0
    while i < len(lines):
        if lines[i].strip() != "```console":
            i += 1
            continue
        first, steps = i, []
        i += 1
        while lines[i].strip() != "```":
            if lines[i].startswith("$ "):
                command = [lines[i][2:]]
                while i + 1 < len(lines) and (lines[i + 1].startswith("> ") or lines[i + 1] == ">"):
                    i += 1
                    command.append(lines[i][2:])
                steps.append(Step("\n".join(command), ""))
            elif steps:
                steps[-1].output += lines[i] + "\n"
            i += 1
        block = Block(first, i, steps)
        i += 1
        while i < len(lines) and lines[i].startswith("<!--"):
            note = lines[i].removeprefix("<!--").removesuffix("-->").strip()
            if note == "slow":
                block.slow = True
            elif note.startswith("needs:"):
                block.needs = note.removeprefix("needs:").strip()
            elif note.startswith("check"):
                head, _, rest = note.partition(":")
                rules, _, alarm = rest.rpartition("|")
                if not rules:
                    raise SystemExit(f"line {i + 1}: a check tells its rate of false alarms behind a |")
                block.free = "free" in head
                block.check = [rule.strip() for rule in rules.split(";") if rule.strip()]
                block.alarm = alarm.strip()
                rate = NUMBER.search(block.alarm)
                if not block.alarm.startswith("never") and not (rate and float(rate.group()) <= FALSE_ALARM_MAX):
                    raise SystemExit(f"line {i + 1}: false alarms must be at most {FALSE_ALARM_MAX} or never: {block.alarm}")
            i += 1
        found.append(block)
    return found


def numbers_of(text):
    return [float(m.group().replace(",", "").lstrip("±")) for m in NUMBER.finditer(text)]


def words_of(text):
    # A rule under a heading is as long as the numbers below it.
    return " ".join(re.sub(r"-{3,}", "---", NUMBER.sub("#", text)).split())


def verdict(block, outputs):
    """None when the block says the truth, else what is wrong."""
    said, got = "".join(s.output for s in block.steps), "".join(outputs)
    if block.check is None:
        if said == got:
            return None
        for mine, real in zip(said.splitlines() + [""] * 9999, got.splitlines() + [""]):
            if mine != real:
                return f"the page says   {mine!r}\n    the command said {real!r}"
        return "the page has more lines than the command printed"
    if not block.free and words_of(said) != words_of(got):
        return f"the page's words  {words_of(said)!r}\n    the command's words {words_of(got)!r}"
    def after(text, which=0):
        return numbers_of(got[got.index(text) + len(text):])[which]

    scope = {"n": numbers_of(got), "after": after, "out": got, "math": math, "abs": abs, "max": max, "min": min, "len": len, "sum": sum,
             "all": all, "any": any, "range": range, "sorted": sorted, "set": set, "zip": zip}
    for rule in block.check:
        try:
            held = eval(rule, {"__builtins__": {}} | scope)
        except Exception as error:  # an index that is not there is a wrong page, not a broken runner
            held, rule = False, f"{rule} ({error})"
        if not held:
            return f"not true: {rule}\n    numbers: {scope['n']}\n    output: {got.strip()[-600:]}"
    return None


def run_page(page, options):
    lines = page.read_text().split("\n")
    blocks = blocks_of(lines)
    wrong, skipped, seconds = [], 0, time.monotonic()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="lecture-"))
    shell = Shell(folder, options.binary, options.shared)
    new = {}
    try:
        for block in blocks:
            if options.skip and any(options.skip in step.command for step in block.steps):
                skipped += 1
                continue
            if (block.slow and options.quick) or (block.needs and not (options.shared / block.needs).exists()):
                if block.needs and not (block.slow and options.quick):
                    print(f"  {page.name}:{block.first + 1}: skipped, the shared folder has no {block.needs}")
                skipped += 1
                continue
            outputs = []
            for step in block.steps:
                started = time.monotonic()
                output, code = shell.run(step.command, options.timeout)
                outputs.append(output)
                if options.verbose:
                    print(f"  {time.monotonic() - started:6.2f} s  {step.command.splitlines()[0][:90]}", flush=True)
                if code is None:
                    raise SystemExit(f"{page.name}:{block.first + 1}: {step.command}\n{output}")
            problem = verdict(block, outputs)
            if options.write and (options.force or not any(step.output for step in block.steps)):
                new[block.first] = (block, outputs)  # a new block has no output yet
            if problem:
                wrong.append(f"{page.name}:{block.first + 1}: {block.steps[0].command.splitlines()[0]}\n    {problem}")
                new[block.first] = (block, outputs)
        for name in sorted(set(re.findall(r"\(img/([\w.-]+\.svg)\)", "\n".join(lines)))):
            made = folder / name
            if not made.exists():
                if not (options.quick or skipped):
                    wrong.append(f"{page.name}: no command of the page draws img/{name}")
                continue
            kept = PAGES / "img" / name
            if options.write and (not kept.exists() or options.pictures):
                shutil.copyfile(made, kept)
            if options.index:
                shutil.copyfile(made, options.index / "img" / name)
    finally:
        shell.close()
        shutil.rmtree(folder, ignore_errors=True)
    if options.write and new:
        for first in sorted(new, reverse=True):
            block, outputs = new[first]
            body = []
            for step, output in zip(block.steps, outputs):
                body += [("$ " if i == 0 else "> ") + line for i, line in enumerate(step.command.split("\n"))]
                body += output.splitlines()
            lines[block.first + 1:block.last] = body
        page.write_text("\n".join(lines))
    ran = len(blocks) - skipped
    print(f"{page.name}: {ran} blocks run, {skipped} skipped, {len(wrong)} wrong, {time.monotonic() - seconds:.1f} s", flush=True)
    return wrong


def write_index(folder, pages):
    body = ["<!doctype html><meta charset='utf-8'><title>The lectures, with all pictures</title>",
            "<style>body{font:16px system-ui;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}"
            "img{max-width:100%}figure{margin:1.5rem 0}</style><h1>The lectures, with all pictures</h1>"]
    for page in pages:
        title = next((l[2:] for l in page.read_text().split("\n") if l.startswith("# ")), page.stem)
        body.append(f"<h2>{html.escape(title)}</h2><p>{page.name}</p>")
        for words, name in re.findall(r"!\[([^\]]*)\]\(img/([\w.-]+)\)", page.read_text()):
            if not (folder / "img" / name).exists() and (PAGES / "img" / name).exists():
                shutil.copyfile(PAGES / "img" / name, folder / "img" / name)
            body.append(f"<figure><img src='img/{name}' alt='{html.escape(words, quote=True)}'><figcaption>{html.escape(words)}"
                        "</figcaption></figure>")
    (folder / "index.html").write_text("\n".join(body) + "\n")
    print(f"all pictures: {folder / 'index.html'}")


def main():
    parser = argparse.ArgumentParser(description="Run the lecture pages and compare.")
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "build/bin/discreet")
    parser.add_argument("--shared", type=pathlib.Path, default=ROOT.parent / "shared")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--pictures", action="store_true", help="with --write: also redraw pictures that are there")
    parser.add_argument("--force", action="store_true", help="with --write: also outputs that pass their check")
    parser.add_argument("--index", type=pathlib.Path)
    parser.add_argument("--skip", metavar="TEXT", help="leave out blocks with a command that has this in it")
    parser.add_argument("--timeout", type=float, default=3600, help="seconds a command may take")
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    options.binary, options.shared = options.binary.resolve(), options.shared.resolve()
    if not options.binary.exists():
        raise SystemExit(f"{options.binary} is not there: build it first (make build)")
    if options.index:
        options.index = options.index.resolve()
        (options.index / "img").mkdir(parents=True, exist_ok=True)
    pages = [p.resolve() for p in options.pages] or sorted(PAGES.glob("[0-9]*.md"))
    wrong = [problem for page in pages for problem in run_page(page, options)]
    if options.index:
        write_index(options.index, pages)
    if options.write:
        print(f"{len(wrong)} blocks rewritten")
        return 0
    for problem in wrong:
        print(problem)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
