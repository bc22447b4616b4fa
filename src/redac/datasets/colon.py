"""The colon tissue data of Alon et al. (1999)."""

import csv
import io

import numpy as np
from sklearn.utils import Bunch

from redac.datasets._fetching import (
    DataFile,
    DataFileNotFoundError,
    Folder,
    load_arrays,
    read_data_file,
)

_SOURCE = "http://genomics-pubs.princeton.edu/oncology/affydata/index.html"

_INTENSITIES = DataFile(
    folder="colon",
    name="colon_raw.npz",
    sha256="1a9ef8f94fc1bbda309f287f5c99053ec1fc8a5e041d8592e2dc8812c48cafef",
    recipe=(
        f"To make it, take the tables I2000, names and tissues from {_SOURCE} and save, in this "
        "order, with numpy.savez_compressed: X (float64, 62 x 2000, the transposed I2000), "
        "tumour (int8, 1 where the tissue id is negative), tissue_id (int16) and gene_id "
        "(text of width 9)."
    ),
)

_GENES = DataFile(
    folder="colon",
    name="colon_genes.csv",
    sha256="ce6292a46f4d7938dc0218d0e21c8bbc7223e42956c70fc1b1f73cf0f086ad76",
    recipe=f"It holds the columns of the table names from {_SOURCE}.",
)

_DESCRIPTION = """\
Colon tissue data (Alon et al., 1999)

Expression of 2000 genes in 62 samples of colon tissue, 40 from tumours and 22 normal,
measured with oligonucleotide arrays. The values are raw intensities: neither logarithms
nor any normalisation has been applied. Several genes were probed more than once, so gene
ids can repeat.

Source: U. Alon, N. Barkai, D. A. Notterman, K. Gish, S. Ybarra, D. Mack and A. J. Levine
(1999). Broad patterns of gene expression revealed by clustering analysis of tumor and
normal colon tissues probed by oligonucleotide arrays. Proceedings of the National Academy
of Sciences 96(12), 6745-6750.
"""


def fetch_colon(data_home: Folder | None = None, *, base_url: str | None = None) -> Bunch:
    """Load the colon tissue data: 62 samples, 2000 genes.

    The file ``colon_raw.npz`` is looked for in ``data_home``, in the folder named by the
    environment variable ``REDAC_DATA`` and in the user's cache, each time in the folder itself
    and in its sub-folder ``colon``. It is downloaded only if there is an address to download
    from. Its SHA-256 sum is verified in every case.

    Parameters
    ----------
    data_home : str or path-like, optional
        Folder to look in first, and to keep a download in.
    base_url : str, optional
        Address of a server that offers ``colon/colon_raw.npz``. The default is the
        environment variable ``REDAC_MIRROR``; without either, nothing is downloaded.

    Returns
    -------
    dataset : sklearn.utils.Bunch
        With the entries

        data : ndarray of shape (62, 2000)
            Raw intensities.
        target : ndarray of shape (62,)
            1 for a tumour, 0 for normal tissue.
        feature_names : list of str
            Gene ids. They are not unique: some genes were probed several times.
        target_names : list of str
            The meaning of 0 and of 1.
        tissue_id : ndarray of shape (62,)
            Original numbers of the tissues. A tumour and the normal tissue of one patient
            have the same number with opposite signs; the tumour has the minus.
        gene_descriptions : list of str or None
            A description per gene, empty where the source has none; None if the file
            ``colon_genes.csv`` is not available.
        DESCR : str
            What the data are, and their source.

    Raises
    ------
    FileNotFoundError
        If the file is nowhere. The message says where it may be put and how to make it.
    ValueError
        If the file found has not the expected content.

    References
    ----------
    U. Alon, N. Barkai, D. A. Notterman, K. Gish, S. Ybarra, D. Mack and A. J. Levine (1999).
    Broad patterns of gene expression revealed by clustering analysis of tumor and normal colon
    tissues probed by oligonucleotide arrays. Proceedings of the National Academy of Sciences
    96(12), 6745-6750.
    """
    arrays = load_arrays(read_data_file(_INTENSITIES, data_home, base_url))
    return Bunch(
        data=arrays["X"],
        target=arrays["tumour"].astype(np.int64),
        feature_names=arrays["gene_id"].tolist(),
        target_names=["normal", "tumour"],
        tissue_id=arrays["tissue_id"].astype(np.int64),
        gene_descriptions=_read_gene_descriptions(data_home, base_url),
        DESCR=_DESCRIPTION,
    )


def _read_gene_descriptions(data_home: Folder | None, base_url: str | None) -> list[str] | None:
    try:
        content = read_data_file(_GENES, data_home, base_url)
    except DataFileNotFoundError:
        return None
    table = csv.DictReader(io.StringIO(content.decode("utf-8"), newline=""))
    return [row["description"] for row in table]
