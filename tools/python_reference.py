#!/usr/bin/env python3
"""Writes docs/python-api.md from the package's own docstrings: python_reference.py [--check] FILE, with the package importable."""
import importlib
import inspect
import pathlib
import re
import sys

MODULES = ["mechanisms", "accounting", "curator", "remote", "synth", "learn", "local", "audit", "attacks", "prio", "errors"]


def signature(thing):
    try:
        text = str(inspect.signature(thing))
    except (TypeError, ValueError):
        return "(...)"
    return re.sub(" -> None$", "", text).replace("'", "").replace('"', "").replace("discreet.", "").replace("self, ", "").replace("(self)", "()").replace("typing.", "")


def paragraphs(text):
    """Docstrings as Markdown: sessions become code, literals take one backtick."""
    for part in text.split("\n\n"):
        if part.startswith(">>>"):
            yield "```python\n" + part.replace("    # doctest: +SKIP", "").replace("# doctest: +SKIP", "") + "\n```"
        else:
            yield part.replace("``", "`").replace(":func:", "").replace(":meth:", "").replace(":class:", "").replace(":mod:", "")


def first_words(thing, whole=False):
    found = list(paragraphs(inspect.getdoc(thing) or ""))
    return "\n\n".join(found) if whole else found[0].replace("\n", " ") if found else ""


def members(kind):
    for name, member in vars(kind).items():
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            yield f"- `.{name}` {first_words(member.fget)}".rstrip()
        elif isinstance(member, (classmethod, staticmethod)):
            yield f"- `{name}{signature(member.__func__).replace('cls, ', '')}` {first_words(member)}".rstrip()
        elif inspect.isfunction(member):
            yield f"- `.{name}{signature(member)}` {first_words(member)}".rstrip()


def documented(module, name):
    thing = getattr(module, name)
    own = f"discreet.{module.__name__.rsplit('.', 1)[-1]}.{name}"
    if inspect.isclass(thing):
        fields = getattr(thing, "_fields", None)
        shape = f"({', '.join(fields)})" if fields else "" if issubclass(thing, Exception) else signature(thing)
        yield f"### `{own}{shape}`\n"
        if inspect.getdoc(thing) and not (inspect.getdoc(thing) or "").startswith("Alias for field"):
            yield first_words(thing, whole=True) + "\n"
        kinds = [k for k in reversed(thing.__mro__) if k.__module__.startswith("discreet") and (k is thing or k.__name__.startswith("_"))]
        found = {}
        for kind in kinds:  # what a private base offers is offered here
            for line in members(kind):
                found[line.split("`")[1].split("(")[0]] = line
        if found:
            yield "\n".join(found.values()) + "\n"
    else:
        yield f"### `{own}{signature(thing)}`\n"
        yield first_words(thing, whole=True) + "\n"


def page():
    yield "# Python API\n\nMade by `tools/python_reference.py` from the docstrings; `make test` checks that it is up to date. Start with [python.md](python.md).\n"
    for name in MODULES:
        module = importlib.import_module(f"discreet.{name}")
        yield f"## discreet.{name}\n\n{first_words(module)}\n"
        for public in module.__all__:
            yield from documented(module, public)


def main():
    text = "\n".join(page())
    path = pathlib.Path(sys.argv[-1])
    if "--check" in sys.argv:
        if not path.exists() or path.read_text() != text:
            sys.exit(f"{path} is not what the docstrings say; run tools/python_reference.py {path} with PYTHONPATH=build/python")
    else:
        path.write_text(text)


if __name__ == "__main__":
    main()
