"""Tables of many runs: data frames if pandas is there, else lists of records."""

from __future__ import annotations

import csv
import itertools
import os
import subprocess
from pathlib import Path
from typing import Any, Dict, List, Mapping

from ._convert import Error
from ._scenes import run

COMMAND = Path(__file__).resolve().parent / "bin/tenon"


def _table(rows: List[Dict[str, Any]]) -> Any:
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows)


def compare(name: str, *, seconds: float, vary: Mapping[str, Any], **options: Any) -> Any:
    """Runs a scene for all combinations of parameters; a row for each with its metrics and hash.

        tenon.compare("pendulum_triple", seconds=2, vary={"substeps": [5, 20], "method": ["tenon", "xpbd"]})
    """
    rows = []
    for values in itertools.product(*vary.values()):
        chosen = dict(zip(vary, values))
        done = run(name, seconds=seconds, **{**options, **chosen})
        row: Dict[str, Any] = dict(chosen)
        row.update(done.metrics)
        row["hash"] = done.hash
        rows.append(row)
        done.world.close()
    return _table(rows)


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def study(out: str = "study", *, quick: bool = False) -> Dict[str, Any]:
    """Runs the published experiments, as `tenon study` does; the tables of its report by name.

    out: folder of the report; parts that are complete are kept
    quick: shorter and smaller
    """
    words = [os.fspath(COMMAND), "study", "--out", os.fspath(out)] + (["--quick"] if quick else [])
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise Error(done.stderr.strip() or f"tenon study ended with {done.returncode}")
    tables = {}
    for path in sorted((Path(out) / "data").glob("*.csv")):
        with open(path, newline="") as file:
            tables[path.stem] = _table([{k: _number(v) for k, v in row.items()} for row in csv.DictReader(file)])
    return tables


__all__ = ["compare", "study"]
