"""Small files under the names that pages give to data of the reader's own."""

from __future__ import annotations

import shutil
from pathlib import Path

import dask.array
import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

from pages import DOCS
from redac.datasets import make_hastie


def write_stand_ins(folder: Path) -> None:
    """The files that commands and code of the documentation read."""
    for file in (DOCS / "data").glob("*.csv"):
        shutil.copy(file, folder)
    wine = load_wine(as_frame=True).data
    wine.to_csv(folder / "wine.csv", index=False)
    hastie = make_hastie(60, random_state=0)
    data = pd.DataFrame(hastie.data, columns=hastie.feature_names)
    data.to_csv(folder / "data.csv", index=False)
    big = np.random.default_rng(0).standard_normal((200, 40))
    np.save(folder / "big.npy", big)
    dask.array.from_array(big, chunks=(50, 40)).to_zarr(folder / "big.zarr")
    pd.DataFrame(big).add_prefix("x").to_parquet(folder / "big.parquet")
    sectors = ["bank", "energy", "tech"]
    assets = [f"{sector}_{number}" for sector in sectors for number in range(4)]
    returns = np.random.default_rng(0).standard_normal((60, len(assets)))
    pd.DataFrame(returns, columns=assets).to_csv(folder / "returns.csv", index=False)
    kinds = [name.split("_")[0] for name in assets]
    pd.DataFrame({"asset": assets, "sector": kinds}).to_csv(folder / "sectors.csv", index=False)
