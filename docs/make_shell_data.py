"""The tables of docs/shell.md: the wine data of scikit-learn, as people write such tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.datasets import load_wine

FOLDER = Path(__file__).parent / "data"
HEADER = (
    *("nr", "cultivar", "alcohol", "malic acid", "ash", "ash", "magnesium", "phenols"),
    *("flavanoids", "colour", "hue", "OD280", "proline"),
)


def german(number: float, digits: int = 2) -> str:
    """A number with a decimal comma, and points between thousands."""
    text = f"{number:,.{digits}f}"
    return text.replace(",", "_").replace(".", ",").replace("_", ".")


def main() -> None:
    wine = load_wine(as_frame=True)
    frame = wine.data.drop(columns=["nonflavanoid_phenols", "proanthocyanins"])
    rng = np.random.default_rng(0)
    order = rng.permutation(len(frame))
    lines = [";".join(HEADER)]
    for number, row in enumerate(order[:120], start=1):
        values = frame.iloc[row].tolist()
        cells = [german(value) for value in values]
        cells[4] = "?" if rng.random() < 0.05 else german(values[4], 0)
        cells[8] = f"{100 * values[8]:.0f} %"
        cells[10] = german(values[10], 0)
        cells = [
            "" if j in (5, 7) and rng.random() < 0.04 else cell for j, cell in enumerate(cells)
        ]
        lines.append(";".join([str(number), f"class {wine.target[row]}", *cells]))
    FOLDER.mkdir(exist_ok=True)
    text = "".join(f"{line}\r\n" for line in lines)
    (FOLDER / "cellar.csv").write_bytes(text.encode("utf-8-sig"))
    names = [*HEADER[2:5], "ash.1", *HEADER[6:], "year"]
    new = frame.iloc[order[120:126]].to_numpy()
    rows = [[*values[:8], 100 * values[8], *values[9:], 2026] for values in new.tolist()]
    lines = [",".join(names[::-1])]
    lines += [",".join(f"{value:g}" for value in row[::-1]) for row in rows]
    (FOLDER / "new.csv").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
