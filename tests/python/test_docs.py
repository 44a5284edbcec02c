"""The pages' own snippets, the generated reference, the docstrings, and the types."""
import ast
import doctest
import importlib
import pathlib
import re
import subprocess
import sys

import pytest

import discreet

ROOT = pathlib.Path(__file__).parents[2]
PAGES = [ROOT / "docs/python.md", *sorted((ROOT / "docs").glob("migrating-from-*.md"))]
FENCE = re.compile(r"```python([^\n]*)\n(.*?)```", re.S)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_snippets_of_the_page_run(page, hospital, monkeypatch):
    monkeypatch.chdir(hospital.parent)
    names = {}
    blocks = [(mark.strip(), code) for mark, code in FENCE.findall(page.read_text())]
    assert any(mark == "" for mark, _ in blocks)
    for mark, code in blocks:
        assert mark in ("", "theirs", "server"), mark
        ast.parse(code)
        if mark == "":
            exec(compile(code, str(page), "exec"), names)  # noqa: S102


def test_the_reference_is_what_the_docstrings_say():
    done = subprocess.run([sys.executable, ROOT / "tools/python_reference.py", "--check", ROOT / "docs/python-api.md"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["accounting"])
def test_docstrings_that_can_run_are_right(name):
    found = doctest.testmod(importlib.import_module(f"discreet.{name}"))
    assert found.attempted > 0 and found.failed == 0


def test_public_names_are_documented_and_annotated():
    for name in ("mechanisms", "accounting", "curator", "synth", "local", "audit", "attacks", "prio"):
        module = importlib.import_module(f"discreet.{name}")
        for public in module.__all__:
            thing = getattr(module, public)
            assert thing.__doc__, f"{name}.{public} has no docstring"
            if callable(thing) and not isinstance(thing, type):
                assert "return" in thing.__annotations__, f"{name}.{public} does not say what it returns"


def test_types_hold_throughout_the_package():
    done = subprocess.run([sys.executable, "-m", "mypy", "--no-site-packages", "--disable-error-code=overload-cannot-match", "--ignore-missing-imports", "--cache-dir=/dev/null", "-p", "discreet"],
                          cwd=pathlib.Path(discreet.__file__).parents[1], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_types_are_shipped():
    place = pathlib.Path(discreet.__file__).parent
    assert (place / "py.typed").exists()
    stub = (place / "_core.pyi").read_text()
    ast.parse(stub)
    for name in ("DiscreteLaplace", "LossDistribution", "OpenedPolicy", "FittedTwin", "Oracle", "PrioClient"):
        assert f"class {name}" in stub, name


def test_no_function_of_the_package_takes_a_seed():
    for name in ("mechanisms", "synth", "local", "audit", "curator", "prio"):
        source = (pathlib.Path(discreet.__file__).parent / f"{name}.py").read_text()
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                arguments = [a.arg for a in node.args.args + node.args.kwonlyargs]
                assert not {"seed", "random_state", "rng"} & set(arguments), f"{name}.{node.name}"
