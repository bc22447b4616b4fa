"""The data sets have the published properties, and the fetchers find, check and refuse files."""

import hashlib
import io
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redac import datasets
from redac.datasets import colon, faces

# Read before any fixture hides the variable from the code under test.
REAL_DATA = os.environ.get("REDAC_DATA")
GENERATORS = [datasets.make_hastie, datasets.make_toy, datasets.make_nonnegative_toy]
TOY_GENERATORS = GENERATORS[1:]
SEEDS = st.integers(min_value=0, max_value=2**32 - 1)


def needs_real(relative_path: str) -> pytest.MarkDecorator:
    present = REAL_DATA is not None and (Path(REAL_DATA) / relative_path).is_file()
    return pytest.mark.skipif(
        not present, reason=f"set REDAC_DATA to a folder that holds {relative_path}"
    )


# ---------------------------------------------------------------------------- pitprops


def test_pitprops_is_a_correlation_matrix():
    pitprops = datasets.load_pitprops()
    S = pitprops.correlation
    assert S.shape == (13, 13)
    assert S.dtype == np.float64
    assert np.array_equal(S, S.T)
    assert np.array_equal(np.diag(S), np.ones(13))
    assert np.linalg.eigvalsh(S).min() > 0
    assert np.abs(S - np.eye(13)).max() < 1
    assert len(set(pitprops.feature_names)) == 13
    assert pitprops.n_samples == 180
    assert "Jeffers" in pitprops.DESCR


def test_pitprops_has_the_published_eigenvalues():
    eigenvalues = np.linalg.eigvalsh(datasets.load_pitprops().correlation)[::-1]
    published = [4.219, 2.378, 1.878, 1.109, 0.910, 0.815]
    np.testing.assert_allclose(eigenvalues[:6], published, atol=5.1e-4)


def test_pitprops_is_fresh_on_each_call():
    first = datasets.load_pitprops()
    first.correlation[:] = 0
    first.feature_names.clear()
    second = datasets.load_pitprops()
    assert np.trace(second.correlation) == 13
    assert len(second.feature_names) == 13


@needs_real("pitprops/pitprops_corr.csv")
def test_pitprops_equals_the_published_table():
    lines = (Path(REAL_DATA) / "pitprops" / "pitprops_corr.csv").read_text().splitlines()
    pitprops = datasets.load_pitprops()
    assert lines[0].split(",") == pitprops.feature_names
    assert np.array_equal(np.loadtxt(lines[1:], delimiter=","), pitprops.correlation)


# ------------------------------------------------------------------------ simulated sets


@pytest.mark.parametrize("make", GENERATORS)
def test_simulated_sets_have_consistent_shapes(make):
    simulated = make(7, random_state=0)
    assert simulated.data.shape == (7, 10)
    assert simulated.components.shape == (2, 10)
    assert simulated.covariance.shape == (10, 10)
    assert len(simulated.feature_names) == 10
    assert simulated.DESCR
    assert make(random_state=0).data.shape == (1000, 10)
    np.testing.assert_allclose(np.linalg.norm(simulated.components, axis=1), 1, rtol=1e-15)
    np.testing.assert_allclose(simulated.components[0] @ simulated.components[1], 0, atol=1e-15)
    np.testing.assert_allclose(
        np.linalg.eigvalsh(simulated.covariance)[::-1], simulated.eigenvalues, rtol=1e-9
    )


@pytest.mark.parametrize("make", GENERATORS)
def test_sample_moments_converge_to_the_population(make):
    simulated = make(200_000, random_state=1)
    sigma, n = simulated.covariance, len(simulated.data)
    variances = np.diag(sigma)
    standard_errors = np.sqrt((np.outer(variances, variances) + sigma**2) / n)
    deviations = np.cov(simulated.data, rowvar=False) - sigma
    assert np.abs(deviations / standard_errors).max() < 5
    assert np.abs(simulated.data.mean(axis=0) / np.sqrt(variances / n)).max() < 5


@pytest.mark.parametrize("make", GENERATORS)
def test_a_seed_fixes_the_data(make):
    assert np.array_equal(make(20, random_state=3).data, make(20, random_state=3).data)
    assert not np.allclose(make(20, random_state=3).data, make(20, random_state=4).data)


@pytest.mark.parametrize("make", GENERATORS)
def test_every_kind_of_random_state_is_accepted(make):
    def draw(source):
        return make(20, random_state=source).data

    assert np.array_equal(draw(5), draw(np.random.RandomState(5)))
    assert np.array_equal(draw(np.random.default_rng(5)), draw(np.random.default_rng(5)))
    stream = np.random.default_rng(5)
    assert not np.allclose(draw(stream), draw(stream))
    assert not np.allclose(draw(None), draw(None))
    with pytest.raises(ValueError, match="seed"):
        draw("five")


@pytest.mark.parametrize("make", GENERATORS)
@pytest.mark.parametrize(
    ("n_samples", "error"), [(0, ValueError), (-1, ValueError), (2.5, TypeError)]
)
def test_an_impossible_sample_size_is_refused(make, n_samples, error):
    with pytest.raises(error, match="n_samples"):
        make(n_samples)


@pytest.mark.parametrize("make", TOY_GENERATORS)
@settings(max_examples=25, deadline=None)
@given(seed=SEEDS)
def test_toy_components_are_the_leading_eigenvectors(make, seed):
    toy = make(1, random_state=seed)
    leading = toy.eigenvalues[:2, None]
    np.testing.assert_allclose(
        toy.components @ toy.covariance, leading * toy.components, atol=1e-10
    )
    np.testing.assert_allclose(np.linalg.eigvalsh(toy.covariance)[::-1], toy.eigenvalues, rtol=1e-9)
    assert np.array_equal(toy.covariance, toy.covariance.T)


@pytest.mark.parametrize("make", TOY_GENERATORS)
def test_toy_covariance_depends_on_the_seed_only(make):
    few, many = make(5, random_state=2), make(50, random_state=2)
    assert np.array_equal(few.covariance, many.covariance)
    assert not np.allclose(few.covariance, make(5, random_state=9).covariance)


def test_toy_components_are_those_of_the_paper():
    toy = datasets.make_toy(1, random_state=0)
    assert toy.eigenvalues.tolist() == [250, 240, 50, 50, 6, 5, 4, 3, 2, 1]
    printed = [
        [0.422, 0.422, 0.422, 0.422, 0, 0, 0, 0, 0.380, 0.380],
        [0, 0, 0, 0, 0.489, 0.489, 0.489, 0.489, -0.147, 0.147],
    ]
    np.testing.assert_allclose(toy.components, printed, atol=5e-4)
    assert np.count_nonzero(toy.components, axis=1).tolist() == [6, 6]


def test_nonnegative_toy_components_are_those_of_the_paper():
    toy = datasets.make_nonnegative_toy(1, random_state=0)
    assert toy.eigenvalues.tolist() == [210, 190, 50, 50, 6, 5, 4, 3, 2, 1]
    printed = [
        [0.474, 0, 0.158, 0, 0.316, 0, 0.791, 0, 0.158, 0],
        [0, 0.140, 0, 0.840, 0, 0.280, 0, 0.140, 0, 0.420],
    ]
    np.testing.assert_allclose(toy.components, printed, atol=5e-4)
    assert (toy.components >= 0).all()
    assert not (toy.components[0] * toy.components[1]).any()


def test_hastie_covariance_follows_from_the_factors():
    S = datasets.make_hastie(1, random_state=0).covariance
    third_factor = 0.3**2 * 290 + 0.925**2 * 300 + 1
    expected = np.block(
        [
            [np.full((4, 4), 290), np.zeros((4, 4)), np.full((4, 2), 0.3 * 290)],
            [np.zeros((4, 4)), np.full((4, 4), 300), np.full((4, 2), 0.925 * 300)],
            [
                np.full((2, 4), 0.3 * 290),
                np.full((2, 4), 0.925 * 300),
                np.full((2, 2), third_factor),
            ],
        ]
    )
    np.testing.assert_allclose(S, expected + np.eye(10), rtol=1e-12)


def best_direction_with_four_entries(S):
    supports = [list(support) for support in combinations(range(len(S)), 4)]
    best = max(supports, key=lambda support: np.linalg.eigvalsh(S[np.ix_(support, support)])[-1])
    direction = np.zeros(len(S))
    direction[best] = np.linalg.eigh(S[np.ix_(best, best)])[1][:, -1]
    return direction


def test_hastie_components_are_the_best_with_four_entries():
    hastie = datasets.make_hastie(1, random_state=0)
    S, (first, second) = hastie.covariance, hastie.components
    remaining = S - np.outer(S @ first, S @ first) / (first @ S @ first)
    assert abs(best_direction_with_four_entries(S) @ first) == pytest.approx(1)
    assert abs(best_direction_with_four_entries(remaining) @ second) == pytest.approx(1, abs=1e-6)


# ---------------------------------------------------------------------- fetched sets


@dataclass(frozen=True)
class Fetched:
    """A fetcher, its file and a small content that its checksum has been set to."""

    fetch: object
    folder: str
    name: str
    content: bytes

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    def write(self, folder: Path, content: bytes | None = None) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / self.name
        path.write_bytes(self.content if content is None else content)
        return path


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def small_colon(monkeypatch):
    content = npz(
        X=np.array([[1.5, 2.5], [3.5, 4.5], [5.5, 6.5]]),
        tumour=np.array([1, 0, 1], dtype=np.int8),
        tissue_id=np.array([-1, 1, -2], dtype=np.int16),
        gene_id=np.array(["Hsa.1", "Hsa.2"]),
    )
    sha256 = hashlib.sha256(content).hexdigest()
    monkeypatch.setattr(colon, "_INTENSITIES", replace(colon._INTENSITIES, sha256=sha256))
    return Fetched(datasets.fetch_colon, "colon", "colon_raw.npz", content)


def small_faces(monkeypatch):
    content = npz(
        faces=np.arange(2 * 361, dtype=np.int64).reshape(2, 361).astype(np.uint8),
        nonfaces=np.full((3, 361), 255, dtype=np.uint8),
        nonface_names=np.array(["a", "b", "c"]),
    )
    sha256 = hashlib.sha256(content).hexdigest()
    monkeypatch.setattr(faces, "_TRAINING_IMAGES", replace(faces._TRAINING_IMAGES, sha256=sha256))
    return Fetched(datasets.fetch_cbcl_faces, "cbcl", "cbcl_train.npz", content)


@pytest.fixture
def places(monkeypatch, tmp_path) -> dict[str, Path]:
    """The three local places, all empty, with nothing of the user's own settings left."""
    folders = {place: tmp_path / place for place in ("data_home", "variable", "caches/redac")}
    monkeypatch.setenv("REDAC_DATA", str(folders["variable"]))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.delenv("REDAC_MIRROR", raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return folders


@pytest.fixture(params=[small_colon, small_faces])
def fetched(request, monkeypatch, places) -> Fetched:
    return request.param(monkeypatch)


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format, *args):  # noqa: A002
        pass


@pytest.fixture
def server(tmp_path) -> Iterator[tuple[str, Path]]:
    """A running web server: its address and the folder it offers."""
    offered = tmp_path / "offered"
    offered.mkdir()
    handler = partial(QuietHandler, directory=str(offered))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as httpd:
        thread = threading.Thread(target=httpd.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{httpd.server_port}", offered
        httpd.shutdown()
        thread.join()


@pytest.mark.parametrize("place", ["data_home", "variable", "caches/redac"])
@pytest.mark.parametrize("in_sub_folder", [False, True])
def test_a_file_is_found_in_each_place(fetched, places, place, in_sub_folder):
    folder = places[place] / fetched.folder if in_sub_folder else places[place]
    fetched.write(folder)
    assert len(fetched.fetch(places["data_home"]).data) > 0
    assert len(fetched.fetch(str(places["data_home"])).data) > 0


@pytest.mark.parametrize("first", [0, 1, 2])
def test_places_are_searched_in_order(fetched, places, first):
    for later in list(places.values())[first + 1 :]:
        fetched.write(later, b"not to be read")
    path = fetched.write(list(places.values())[first])
    assert len(fetched.fetch(places["data_home"]).data) > 0
    path.write_bytes(b"damaged")
    with pytest.raises(ValueError, match="SHA-256") as caught:
        fetched.fetch(places["data_home"])
    assert str(path) in str(caught.value)


def test_cache_falls_back_to_the_home_folder(fetched, monkeypatch, tmp_path):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("REDAC_DATA", "")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    fetched.write(tmp_path / ".cache" / "redac")
    assert len(fetched.fetch().data) > 0


def test_a_damaged_file_is_named_with_both_sums(fetched, places):
    path = fetched.write(places["variable"], fetched.content + b"x")
    with pytest.raises(ValueError, match="expected") as caught:
        fetched.fetch()
    found = hashlib.sha256(fetched.content + b"x").hexdigest()
    for part in (str(path), fetched.sha256, found):
        assert part in str(caught.value)


def test_a_missing_file_message_says_what_to_do(fetched, places):
    with pytest.raises(FileNotFoundError) as caught:
        fetched.fetch(places["data_home"])
    message = str(caught.value)
    for folder in places.values():
        assert str(folder / fetched.name) in message
        assert str(folder / fetched.folder / fetched.name) in message
    assert fetched.name in message.splitlines()[0]
    assert str(places["data_home"] / fetched.folder) in message.splitlines()[0]
    for part in (fetched.sha256, "REDAC_DATA", "REDAC_MIRROR", "base_url", "savez_compressed"):
        assert part in message


@pytest.mark.parametrize("how", ["argument", "variable"])
def test_download_is_verified_and_kept(fetched, places, server, monkeypatch, how):
    address, offered = server
    fetched.write(offered / fetched.folder)
    if how == "variable":
        monkeypatch.setenv("REDAC_MIRROR", f"{address}/")
        dataset = fetched.fetch()
    else:
        dataset = fetched.fetch(base_url=address)
    kept = places["caches/redac"] / fetched.folder / fetched.name
    assert len(dataset.data) > 0
    assert kept.read_bytes() == fetched.content
    assert os.listdir(kept.parent) == [fetched.name]
    monkeypatch.delenv("REDAC_MIRROR", raising=False)
    assert np.array_equal(fetched.fetch().data, dataset.data)


def test_download_goes_to_data_home_if_given(fetched, places, server):
    address, offered = server
    fetched.write(offered / fetched.folder)
    fetched.fetch(places["data_home"], base_url=address)
    assert (places["data_home"] / fetched.folder / fetched.name).is_file()
    assert not places["caches/redac"].exists()


def test_nothing_is_downloaded_when_the_file_is_here(fetched, places, server):
    address, offered = server
    fetched.write(offered / fetched.folder, b"not to be read")
    fetched.write(places["variable"])
    assert len(fetched.fetch(base_url=address).data) > 0


def test_a_corrupt_download_leaves_nothing_behind(fetched, places, server):
    address, offered = server
    fetched.write(offered / fetched.folder, fetched.content[:-1])
    with pytest.raises(ValueError, match="SHA-256 expected") as caught:
        fetched.fetch(places["data_home"], base_url=address)
    assert f"{address}/{fetched.folder}/{fetched.name}" in str(caught.value)
    assert not [path for folder in places.values() for path in folder.rglob("*")]


def test_an_interrupted_write_leaves_nothing_behind(fetched, places, server, monkeypatch):
    address, offered = server
    fetched.write(offered / fetched.folder)

    def fail(self, target):
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        fetched.fetch(base_url=address)
    assert not list((places["caches/redac"] / fetched.folder).iterdir())


def test_a_mirror_without_the_file_is_named(fetched, server):
    address, _ = server
    with pytest.raises(FileNotFoundError, match="404") as caught:
        fetched.fetch(base_url=address)
    assert f"{address}/{fetched.folder}/{fetched.name}" in str(caught.value)


def test_an_unreachable_mirror_is_named(fetched):
    with ThreadingHTTPServer(("127.0.0.1", 0), QuietHandler) as closed:
        address = f"http://127.0.0.1:{closed.server_port}"
    with pytest.raises(FileNotFoundError, match="could not be downloaded") as caught:
        fetched.fetch(base_url=address)
    assert address in str(caught.value)


@pytest.mark.parametrize("address", ["file:///etc", "ftp://127.0.0.1", "somewhere"])
def test_only_web_addresses_are_mirrors(fetched, address):
    with pytest.raises(ValueError, match="http or https"):
        fetched.fetch(base_url=address)


def test_a_pickle_is_never_loaded(monkeypatch, places):
    content = npz(X=np.array([{"not": "numbers"}], dtype=object))
    sha256 = hashlib.sha256(content).hexdigest()
    monkeypatch.setattr(colon, "_INTENSITIES", replace(colon._INTENSITIES, sha256=sha256))
    Fetched(datasets.fetch_colon, "colon", "colon_raw.npz", content).write(places["variable"])
    with pytest.raises(ValueError, match="allow_pickle"):
        datasets.fetch_colon()


def test_colon_fields(monkeypatch, places):
    small_colon(monkeypatch).write(places["variable"])
    dataset = datasets.fetch_colon()
    assert dataset.data.tolist() == [[1.5, 2.5], [3.5, 4.5], [5.5, 6.5]]
    assert [dataset.target_names[label] for label in dataset.target] == [
        "tumour",
        "normal",
        "tumour",
    ]
    assert dataset.feature_names == ["Hsa.1", "Hsa.2"]
    assert dataset.tissue_id.tolist() == [-1, 1, -2]
    assert dataset.gene_descriptions is None


def test_colon_descriptions_come_from_the_mirror_too(monkeypatch, places, server):
    address, offered = server
    small_colon(monkeypatch).write(offered / "colon")
    table = b'col,gene_id,accession,description\r\n0,Hsa.1,A,"one, or so"\r\n1,Hsa.2,B,\r\n'
    (offered / "colon" / "colon_genes.csv").write_bytes(table)
    sha256 = hashlib.sha256(table).hexdigest()
    monkeypatch.setattr(colon, "_GENES", replace(colon._GENES, sha256=sha256))
    assert datasets.fetch_colon(base_url=address).gene_descriptions == ["one, or so", ""]


def test_faces_fields(monkeypatch, places):
    small_faces(monkeypatch).write(places["variable"])
    dataset = datasets.fetch_cbcl_faces()
    assert dataset.data.dtype == np.float64
    assert dataset.target.tolist() == [1, 1, 0, 0, 0]
    assert dataset.target_names == ["non-face", "face"]
    assert dataset.images.shape == (5, 19, 19)
    assert np.shares_memory(dataset.images, dataset.data)
    row, column = 3, 7
    position = dataset.feature_names.index(f"pixel_{row}_{column}")
    assert np.array_equal(dataset.images[:, row, column], dataset.data[:, position])


@needs_real("colon/colon_raw.npz")
def test_real_colon_data():
    dataset = datasets.fetch_colon(REAL_DATA)
    X = dataset.data
    assert X.shape == (62, 2000)
    assert X.dtype == np.float64
    assert dataset.target.sum() == 40
    assert np.array_equal(dataset.target == 1, dataset.tissue_id < 0)
    assert len(dataset.feature_names) == 2000
    assert (X.min(), X.max()) == (5.81625, 20903.177)
    assert X.sum() == pytest.approx(50069500.3061, abs=1e-3)
    np.testing.assert_allclose(X[:3].sum(axis=1), [643893.725, 885383.404, 488203.296], atol=1e-3)
    np.testing.assert_allclose(
        X[:, :3].sum(axis=0), [434978.776, 307951.521, 253873.128], atol=1e-3
    )


@needs_real("colon/colon_genes.csv")
def test_real_colon_descriptions():
    dataset = datasets.fetch_colon(REAL_DATA)
    assert len(dataset.gene_descriptions) == 2000
    assert dataset.feature_names[0] == "Hsa.3004"
    assert "ribosomal protein L41" in dataset.gene_descriptions[0]


@needs_real("cbcl/cbcl_train.npz")
def test_real_faces():
    dataset = datasets.fetch_cbcl_faces(REAL_DATA)
    face = dataset.target == 1
    assert dataset.data.shape == (2429 + 4548, 361)
    assert face[:2429].all()
    assert not face[2429:].any()
    assert dataset.data[face].sum() == 111458493
    assert dataset.data[~face].sum() == 166892928
    assert (dataset.data.min(), dataset.data.max()) == (0, 255)
    mean_face = dataset.images[face].mean(axis=0)
    np.testing.assert_allclose(mean_face, mean_face[:, ::-1], atol=25)


# ------------------------------------------------------------------------ the package


def test_public_names():
    assert set(datasets.__all__) == {
        "load_pitprops",
        "make_hastie",
        "make_toy",
        "make_nonnegative_toy",
        "fetch_colon",
        "fetch_cbcl_faces",
    }
    assert all(callable(getattr(datasets, name)) for name in datasets.__all__)
