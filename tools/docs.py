#!/usr/bin/env python3
"""Builds docs/ into a static site, writes the search index, and checks every link.

    tools/docs.py --venv build/docs-venv --out build/docs
"""
import argparse
import html.parser
import json
import pathlib
import posixpath
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Page(html.parser.HTMLParser):
    """Anchors, links, and the article's text by heading."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.sections = set(), [], []
        self.in_article, self.heading = False, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if "id" in values:
            self.anchors.add(values["id"])
        for name in ("href", "src"):
            if values.get(name):
                self.links.append(values[name])
        if tag == "article":
            self.in_article = True
        if self.in_article and tag in ("h1", "h2", "h3"):
            self.sections.append({"anchor": values.get("id", ""), "title": "", "text": ""})
            self.heading = tag

    def handle_endtag(self, tag):
        if tag == "article":
            self.in_article = False
        if tag == self.heading:
            self.heading = None

    def handle_data(self, data):
        if self.in_article and self.sections:
            self.sections[-1]["title" if self.heading else "text"] += data


def check_links(out, pages):
    broken = []
    for url, page in pages.items():
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                if parts.scheme not in ("https", "http", "mailto"):
                    broken.append(f"{url}: {link} has an unknown scheme")
                continue
            target = posixpath.normpath(posixpath.join(posixpath.dirname(url), parts.path)) if parts.path else url
            if target == "." or not (out / target).is_file():
                broken.append(f"{url}: {link} leads nowhere")
            elif parts.fragment and target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].anchors:
                broken.append(f"{url}: {link} names no heading")
    return broken


def main():
    parser = argparse.ArgumentParser(description="Build the documentation as a static site.")
    parser.add_argument("--venv", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    out = options.out.resolve()
    if not (options.venv / "bin/mkdocs").exists():
        print(f"docs: {options.venv} has no mkdocs (tools/setup/venv.sh {options.venv} docs/requirements.txt); skipped", file=sys.stderr)
        return 77
    built = subprocess.run([options.venv.resolve() / "bin/mkdocs", "build", "--quiet", "--strict", "--clean", "--site-dir", out],
                           cwd=ROOT, text=True, capture_output=True)
    if built.returncode != 0:
        print(built.stdout + built.stderr, file=sys.stderr)
        return 1
    pages = {str(path.relative_to(out)): Page(path.read_text()) for path in sorted(out.rglob("*.html"))}
    index = []
    for url, page in pages.items():
        title = page.sections[0]["title"].strip() if page.sections else url
        for section in page.sections:
            index.append({"url": url + (f"#{section['anchor']}" if section["anchor"] else ""), "page": title,
                          "title": section["title"].strip(), "text": " ".join(section["text"].split())})
    (out / "theme" / "search_index.js").write_text("window.searchIndex = " + json.dumps(index, ensure_ascii=False) + ";\n")
    broken = check_links(out, pages)
    for line in broken:
        print(line, file=sys.stderr)
    if broken:
        print(f"{len(broken)} broken links", file=sys.stderr)
        return 1
    links = sum(len(page.links) for page in pages.values())
    print(f"docs: {len(pages)} pages, {links} links checked, {len(index)} sections in the search index: {out / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
