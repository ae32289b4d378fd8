"""The far end of `companion.running.extras`: executed in an extra environment, which has NumPy alone.

``python -I _extra_bridge.py WORKER FUNCTION FOLDER`` calls a function of the module in the file WORKER with the arrays
of FOLDER/in.npz and the values of FOLDER/in.json, and leaves the arrays that it returns in FOLDER/out.npz.
"""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np


def main(worker: str, function: str, folder: str) -> None:
    """Call the function."""
    spec = importlib.util.spec_from_file_location("worker", worker)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    values = json.loads(Path(folder, "in.json").read_text("utf-8"))
    with np.load(Path(folder, "in.npz"), allow_pickle=False) as content:
        arrays = {name: content[name] for name in content.files}
    returned = getattr(module, function)(**arrays, **values)
    np.savez(Path(folder, "out.npz"), **{name: np.asarray(v) for name, v in returned.items()})  # type: ignore[arg-type]


if __name__ == "__main__":
    main(*sys.argv[1:])
