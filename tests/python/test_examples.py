"""The tutorials of examples/, each as a notebook in a Jupyter kernel; the executed notebooks are left in build/examples."""
import os
import pathlib
import re

import nbclient
import nbformat
import pytest

ROOT = pathlib.Path(__file__).parents[2]
TUTORIALS = sorted((ROOT / "examples").glob("[0-9]*.py"))


def notebook(text):
    """Cells of the percent form: `# %%` starts code, `# %% [markdown]` starts text in comments."""
    cells = []
    for part in re.split(r"(?m)^# %%", text)[1:]:
        head, _, body = part.partition("\n")
        if "[markdown]" in head:
            cells.append(nbformat.v4.new_markdown_cell(re.sub(r"(?m)^# ?", "", body).strip()))
        else:
            cells.append(nbformat.v4.new_code_cell(body.strip()))
    return nbformat.v4.new_notebook(cells=cells)


def test_there_is_a_tutorial_for_each_subject():
    assert len(TUTORIALS) >= 6
    for word in ("curator", "census", "emoji", "twin", "regression", "auditing"):
        assert any(word in t.name for t in TUTORIALS), word


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda p: p.stem)
def test_tutorial_runs_as_a_notebook(path, tmp_path):
    made = notebook(path.read_text())
    assert sum(c.cell_type == "code" for c in made.cells) >= 4 and sum(c.cell_type == "markdown" for c in made.cells) >= 3
    nbclient.NotebookClient(made, timeout=240, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [o for c in made.cells if c.cell_type == "code" for o in c.outputs]
    assert shown and not any(o.output_type == "error" for o in shown)
    folder = pathlib.Path(os.environ.get("DISCREET_BUILD", ROOT / "build")) / "examples"
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(made, folder / f"{path.stem}.ipynb")
    if "curator" in path.name:
        html = "".join(o.data["text/html"] for o in shown if "text/html" in o.get("data", {}))
        assert "<circle" in html and "cost: epsilon 0.5" in html  # error bars and the price
