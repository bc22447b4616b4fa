"""Valid data files of every format, in many of the ways in which people write them."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import scipy.io
import scipy.sparse as sp
from numpy.typing import NDArray

from benchmarks.fuzz.damage import Random

_NAMES = ("height", "größe", "a b", "x,y", 'say "so"', "=1+1", "007", "\x1b[31m", "-2", "NA")


def valid_file(random: Random) -> tuple[str, bytes]:
    """A suffix and the content of a file that can be read."""
    suffix = str(random.choice(list(WRITERS)))
    return suffix, WRITERS[suffix](_values(random), random)


def _values(random: Random) -> NDArray[Any]:
    n, d = int(random.integers(3, 13)), int(random.integers(2, 7))
    values = random.standard_normal((n, d)) * 10.0 ** random.integers(-2, 4)
    if random.random() < 0.3:
        values = np.round(values)
    if random.random() < 0.3:
        values[random.random((n, d)) < 0.6] = 0.0
    return values


def _frame(values: NDArray[Any], random: Random) -> pd.DataFrame:
    n, d = values.shape
    names = [str(random.choice(_NAMES)) + str(j) * int(random.integers(2)) for j in range(d)]
    names[0] = "height"  # names that are all numbers would be taken for a row of data
    names = [name if name not in names[:j] else f"{name}_{j}" for j, name in enumerate(names)]
    frame = pd.DataFrame(values, columns=names, index=[f"row {i}" for i in range(n)])
    if random.random() < 0.2:
        frame["words"] = [f"word {i % 2}" for i in range(n)]
    return frame


def _text(values: NDArray[Any], random: Random, delimiters: str) -> bytes:
    separator = str(random.choice(list(delimiters)))
    comma = separator in ";\t" and random.random() < 0.3
    quoting: Any = int(random.choice([0, 1, 2]))
    text = _frame(values, random).to_csv(
        sep=separator,
        decimal="," if comma else ".",
        index=bool(random.random() < 0.6),
        header=bool(random.random() < 0.8),
        quoting=quoting,
        lineterminator=str(random.choice(["\n", "\r\n"])),
    )
    encoding = str(random.choice(["utf-8", "utf-8-sig", "utf-16", "latin-1"]))
    return text.encode(encoding)


def _csv(values: NDArray[Any], random: Random) -> bytes:
    return _text(values, random, ",;\t ")


def _tsv(values: NDArray[Any], random: Random) -> bytes:
    return _text(values, random, "\t")


def _parquet(values: NDArray[Any], random: Random) -> bytes:
    stream = io.BytesIO()
    frame = _frame(values.astype(random.choice(["f4", "f8"])), random)
    if random.random() < 0.5:
        frame = frame.reset_index(drop=True)
    compression: Any = [None, "snappy", "gzip", "zstd"][random.integers(4)]
    groups = int(random.integers(1, len(frame) + 1))
    frame.to_parquet(stream, compression=compression, row_group_size=groups)
    return stream.getvalue()


def _numbers(values: NDArray[Any], random: Random) -> NDArray[Any]:
    kind = str(random.choice(["<f8", "<f4", ">f8", "<i4", "<f2", "|u1", "|b1"]))
    if kind[1] in "ub":
        values = np.abs(values) % 200
    elif kind[1:] == "f2":
        values = values % 1000
    return np.asarray(values.astype(kind), order="F" if random.random() < 0.3 else "C")


def _npy(values: NDArray[Any], random: Random) -> bytes:
    stream = io.BytesIO()
    version = [(1, 0), (2, 0)][random.integers(2)]
    np.lib.format.write_array(stream, _numbers(values, random), version=version)
    return stream.getvalue()


def _npz(values: NDArray[Any], random: Random) -> bytes:
    stream = io.BytesIO()
    if random.random() < 0.5:
        kinds = [sp.csr_array, sp.csc_array, sp.coo_array, sp.bsr_array, sp.dia_array]
        matrix = kinds[random.integers(len(kinds))](values)
        sp.save_npz(stream, matrix, compressed=bool(random.integers(2)))
        return stream.getvalue()
    frame = _frame(values, random).select_dtypes("number")
    arrays = {"X": _numbers(values, random)}
    if random.random() < 0.5:
        arrays["feature_names"] = np.array([str(name) for name in frame.columns])
        arrays["sample_names"] = np.array([str(name) for name in frame.index])
    pack: Any = np.savez_compressed if random.integers(2) else np.savez
    pack(stream, **arrays)
    return stream.getvalue()


def _mtx(values: NDArray[Any], random: Random) -> bytes:
    stream = io.BytesIO()
    matrix: Any = values
    if random.random() < 0.3:  # a symmetric matrix is written as one half
        matrix = np.cov(values, rowvar=False)
    if random.random() < 0.7:
        matrix = sp.coo_array(matrix)
    field = str(random.choice(["real", "integer", "pattern"]))
    if field == "pattern" and not sp.issparse(matrix):
        field = "real"
    if field == "integer":
        matrix = matrix.astype(int)
    scipy.io.mmwrite(stream, matrix, field=field, comment="made up")
    return stream.getvalue()


def _messy(values: NDArray[Any], random: Random) -> bytes:
    """Percent signs, thousands, question marks, an id and text, as people write tables."""
    d = values.shape[1]
    comma = bool(random.random() < 0.5)
    mark, group = (",", ".") if comma else (".", " ")
    lines = [";".join(["id", *(f"c{j % 4}" for j in range(d)), "words"])]
    for i, row in enumerate(values):
        texts = [f"{value:,.2f}" for value in row]
        texts = [text.replace(",", "_").replace(".", mark).replace("_", group) for text in texts]
        texts[0] += " %"
        if random.random() < 0.1:
            texts[-1] = ""
        lines.append(";".join([str(i + 1), *texts, f"word {i % 3}"]))
    return "".join(f"{line}\r\n" for line in lines).encode("utf-8-sig")


def _xlsx(values: NDArray[Any], random: Random) -> bytes:
    stream = io.BytesIO()
    frame = _frame(values, random)
    frame.columns = [name.replace("\x1b", "") for name in frame.columns]  # no cell can hold it
    frame.to_excel(stream, index=bool(random.random() < 0.5))
    return _at_no_time(stream)


def _at_no_time(written: io.BytesIO) -> bytes:
    """The same archive without the times of writing, so that a seed gives the same bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(written) as old, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = re.sub(rb"\d{4}-\d\d-\d\dT[\d:]+Z", b"2000-01-01T00:00:00Z", old.read(name))
            new.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def _feather(values: NDArray[Any], random: Random) -> bytes:
    stream = io.BytesIO()
    frame = _frame(values, random).reset_index(drop=True)
    compression: Any = ["uncompressed", "lz4", "zstd"][random.integers(3)]
    frame.to_feather(stream, compression=compression)
    return stream.getvalue()


def _json(values: NDArray[Any], random: Random) -> bytes:
    frame = _frame(values, random)
    return frame.to_json(orient="records", lines=bool(random.integers(2))).encode()


def _h5ad(values: NDArray[Any], random: Random) -> bytes:
    import h5py

    stream = io.BytesIO()
    with h5py.File(stream, "w") as file:
        if random.random() < 0.5:
            kind = str(random.choice(["csr", "csc"]))
            matrix = sp.coo_array(values.astype(np.float32)).asformat(kind)
            group = file.create_group("X")
            group.attrs["encoding-type"] = f"{kind}_matrix"
            group.attrs["shape"] = matrix.shape
            for name in ("data", "indices", "indptr"):
                group.create_dataset(name, data=getattr(matrix, name), compression="gzip")
        else:
            file.create_dataset("X", data=values.astype(np.float32))
        for name, length in (("obs", values.shape[0]), ("var", values.shape[1])):
            group = file.create_group(name)
            group.attrs["_index"] = "_index"
            names = [f"{name} {i}" for i in range(length)]
            group.create_dataset("_index", data=np.array(names, dtype=h5py.string_dtype()))
        words = file["obs"].create_group("words")
        words.create_dataset("codes", data=np.arange(values.shape[0]) % 2)
        words.create_dataset("categories", data=np.array(["a", "b"], dtype=h5py.string_dtype()))
    return stream.getvalue()


def _packed(
    writer: Callable[[NDArray[Any], Random], bytes], pack: Callable[[bytes], bytes] = gzip.compress
) -> Callable[..., bytes]:
    return lambda values, random: pack(writer(values, random))


def _zipped(content: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.csv", content)
    return stream.getvalue()


WRITERS: dict[str, Callable[[NDArray[Any], Random], bytes]] = {
    ".csv": _csv,
    ".tsv": _tsv,
    ".txt": _messy,
    ".parquet": _parquet,
    ".npy": _npy,
    ".npz": _npz,
    ".mtx": _mtx,
    ".csv.gz": _packed(_csv),
    ".mtx.gz": _packed(_mtx),
    ".csv.bz2": _packed(_csv, bz2.compress),
    ".csv.xz": _packed(_messy, lzma.compress),
    ".csv.zip": _packed(_csv, _zipped),
    ".xlsx": _xlsx,
    ".feather": _feather,
    ".json": _json,
    ".jsonl.gz": _packed(_json),
    ".h5ad": _h5ad,
}
