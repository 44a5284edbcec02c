"""What mkdocs does not do by itself: titles in the navigation, and links out of docs/ as plain text.

Pages link to sources and tests of the repository (../src/..., ../../tests/...). Such files are not part of the site: the link's words stay, and where
the file is is said behind them.
"""
import pathlib
import posixpath
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(((?:\.\./)+[^)\s#]+|[\w./-]+/)(#[^)]*)?\)")


def on_page_markdown(markdown, page, config, files):
    here = posixpath.dirname(page.file.src_uri)

    def resolve(match):
        words, target = match.group(1), match.group(2)
        inside = posixpath.normpath(posixpath.join(here, target))
        if not inside.startswith(".."):
            return match.group(0)
        outside = posixpath.normpath(posixpath.join("docs", here, target))
        if not (ROOT / outside).exists():
            raise SystemExit(f"docs/{page.file.src_uri}: links to {outside}, which is not there")
        return f"{words} (`{outside}`)" if outside not in words else f"`{outside}`"

    return LINK.sub(resolve, markdown)


def on_files(files, config):
    # The site starts at the page that tells what is where.
    if not any(file.src_uri == "index.md" for file in files):
        from mkdocs.structure.files import File
        pages = sorted(file.src_uri for file in files if file.src_uri.endswith(".md"))
        folders = {"": "Using Discreet", "lectures": "The lectures, executed", "lab": "The lab: attacks", "proofs": "Proofs",
                   "formats": "What is written to disk", "decisions": "Decisions"}
        text = ["# Discreet", "", "Discreet answers questions about people without giving any person away.", ""]
        for folder, title in folders.items():
            inside = [page for page in pages if posixpath.dirname(page) == folder]
            text += [f"## {title}", ""] + [f"- [{title_of(page)}]({page})" for page in inside] + [""]
        files.append(File.generated(config, "index.md", content="\n".join(text)))
    return files


def title_of(page):
    for line in (ROOT / "docs" / page).read_text().splitlines():
        if line.startswith("# "):
            return line[2:].replace("`", "").strip()
    return page


def on_page_content(html, page, config, files):
    # What scrolls must be reached by keyboard.
    return html.replace("<pre>", '<pre tabindex="0">').replace("<table>", '<table tabindex="0">')
