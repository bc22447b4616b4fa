"""The MIT CBCL face images."""

import numpy as np
from sklearn.utils import Bunch

from redac.datasets._fetching import DataFile, Folder, load_arrays, read_data_file

_IMAGE_SIDE = 19
_SOURCE = "http://cbcl.mit.edu/software-datasets/FaceData2.html"

_TRAINING_IMAGES = DataFile(
    folder="cbcl",
    name="cbcl_train.npz",
    sha256="6230b65a97edf3a6b35ad35830a4cd544e8cdd82fedf2154d2467d6ad1bf59b6",
    recipe=(
        f"To make it, take the training images from {_SOURCE} and save, in this order, with "
        "numpy.savez_compressed: faces (uint8, 2429 x 361), nonfaces (uint8, 4548 x 361), both "
        "sorted by file name with the pixels row by row, and nonface_names (the file names "
        "without ending)."
    ),
)

_DESCRIPTION = """\
MIT CBCL Face Database #1, training set

Grey images of 19 x 19 pixels: 2429 aligned faces, then 4548 images without a face. The
values are the original grey levels from 0 to 255, and the pixels of an image follow one
another row by row.

The copies in circulation state no licence. The images are commonly described as free for
research, not for commerce, with credit to the source.

Source: MIT Center For Biological and Computation Learning, CBCL Face Database #1.
"""


def fetch_cbcl_faces(data_home: Folder | None = None, *, base_url: str | None = None) -> Bunch:
    """Load the training images of the MIT CBCL Face Database #1.

    The file ``cbcl_train.npz`` is looked for in ``data_home``, in the folder named by the
    environment variable ``REDAC_DATA`` and in the user's cache, each time in the folder itself
    and in its sub-folder ``cbcl``. It is downloaded only if there is an address to download
    from. Its SHA-256 sum is verified in every case.

    Parameters
    ----------
    data_home : str or path-like, optional
        Folder to look in first, and to keep a download in.
    base_url : str, optional
        Address of a server that offers ``cbcl/cbcl_train.npz``. The default is the
        environment variable ``REDAC_MIRROR``; without either, nothing is downloaded.

    Returns
    -------
    dataset : sklearn.utils.Bunch
        With the entries

        data : ndarray of shape (6977, 361)
            Grey levels from 0 to 255 as floating point numbers, faces first.
        target : ndarray of shape (6977,)
            1 for a face, 0 for another image.
        images : ndarray of shape (6977, 19, 19)
            The same numbers as pictures: a view of ``data``.
        feature_names : list of str
            ``pixel_r_c`` with the row and the column of the pixel, from ``pixel_0_0``.
        target_names : list of str
            The meaning of 0 and of 1.
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
    MIT Center For Biological and Computation Learning. CBCL Face Database #1.
    http://cbcl.mit.edu/software-datasets/FaceData2.html
    """
    arrays = load_arrays(read_data_file(_TRAINING_IMAGES, data_home, base_url))
    faces, nonfaces = arrays["faces"], arrays["nonfaces"]
    data = np.concatenate([faces, nonfaces]).astype(np.float64)
    return Bunch(
        data=data,
        target=np.repeat(np.array([1, 0], dtype=np.int64), [len(faces), len(nonfaces)]),
        images=data.reshape(-1, _IMAGE_SIDE, _IMAGE_SIDE),
        feature_names=[
            f"pixel_{row}_{column}" for row in range(_IMAGE_SIDE) for column in range(_IMAGE_SIDE)
        ],
        target_names=["non-face", "face"],
        DESCR=_DESCRIPTION,
    )
