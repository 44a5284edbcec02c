"""Data frames as the tables of a policy."""

from __future__ import annotations

import json
import os
import pathlib
import re
import tempfile
from typing import Any, Mapping

from . import errors


def _toml(value: Any) -> str:
    """The few kinds of values a policy has; JSON's strings and numbers are TOML's too."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {_toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(v) for v in value) + "]"
    if hasattr(value, "isoformat"):
        return json.dumps(value.isoformat())
    if hasattr(value, "item"):
        value = value.item()
    return json.dumps(value, ensure_ascii=False)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)


def _write(frame: Any, folder: pathlib.Path, name: str) -> str:
    """Parquet where the frame's own library can, CSV otherwise; the file's name."""
    if hasattr(frame, "write_parquet"):  # polars, DuckDB
        frame.write_parquet(str(folder / f"{name}.parquet"))
        return f"{name}.parquet"
    if hasattr(frame, "collect"):  # polars, lazily
        return _write(frame.collect(), folder, name)
    try:
        import pyarrow
        import pyarrow.parquet

        if type(frame).__module__.startswith("pandas"):
            table = pyarrow.Table.from_pandas(frame, preserve_index=False)
        elif isinstance(frame, Mapping):
            table = pyarrow.table(dict(frame))
        else:
            table = pyarrow.table(frame)
        pyarrow.parquet.write_table(table, str(folder / f"{name}.parquet"))
        return f"{name}.parquet"
    except ImportError:
        pass
    if hasattr(frame, "to_csv"):
        frame.to_csv(folder / f"{name}.csv", index=False)
        return f"{name}.csv"
    raise errors.Unavailable(f'table "{name}" needs pyarrow to be written: pip install pyarrow')


def write_policy(frames: Mapping[str, Any], unit: Any, epsilon: float, delta: float, columns: Mapping[str, Any],
                 folder: Any, max_rows_per_unit: Any) -> str:
    """Writes the tables and a policy on them; the policy's path. A policy that is there already keeps its ledger."""
    if not frames:
        raise errors.InvalidParameter("there is no table to protect")
    unknown = set(columns) - set(frames)
    if unknown:
        raise errors.NotFound(f'columns are declared for "{sorted(unknown)[0]}", which is no table here')
    place = pathlib.Path(tempfile.mkdtemp(prefix="discreet-") if folder is None else folder)
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    lines = []
    for name, frame in frames.items():
        whose = unit.get(name, "row") if isinstance(unit, Mapping) else unit
        most = max_rows_per_unit.get(name) if isinstance(max_rows_per_unit, Mapping) else max_rows_per_unit
        lines.append(f"[tables.{_key(name)}]")
        lines.append(f"source = {_toml(_write(frame, place, name))}")
        lines.append("public = true" if whose is None else f"unit = {_toml(whose)}")
        if most is not None and whose not in (None, "row"):
            lines.append(f"max_rows_per_unit = {int(most)}")
        if columns.get(name):
            lines.append(f"[tables.{_key(name)}.columns]")
            lines += [f"{_key(column)} = {_toml(said)}" for column, said in columns[name].items()]
    lines += ["[budgets.default]", f"epsilon = {_toml(epsilon)}", f"delta = {_toml(delta)}", ""]
    policy = place / "discreet.toml"
    policy.write_text("\n".join(lines), encoding="utf-8")
    os.chmod(policy, 0o600)
    return str(policy)
