"""``redac explore``: the server, who may ask it, and the page that it serves."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection

import numpy as np
import pytest
from sklearn.datasets import load_wine

from browsers import Tab, opened_browser
from commands import complaint
from redac import SparsePCA
from redac.datasets import load_pitprops
from redac.explore.answers import Exploration
from redac.explore.newest import Newest
from redac.explore.server import ExplorerServer

WINE = load_wine(as_frame=True)
X = WINE.data.to_numpy()
X.flags.writeable = False  # all tests share it
SETTINGS = {"n_components": 2, "cardinality": 4, "standardize": True}


@contextmanager
def serving(exploration):
    """A server in a thread of this process."""
    server = ExplorerServer(exploration)
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.05))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(scope="module")
def server():
    labels = {"cultivar": WINE.target_names[WINE.target]}
    exploration = Exploration(
        X, SETTINGS, feature_names=list(WINE.data.columns), labels=labels, title="wine"
    )
    with serving(exploration) as found:
        yield found


def asked(server, path, *, host=None, method="GET"):
    """Status, headers and content of an answer."""
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=120)
    headers = {} if host is None else {"Host": host}
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, dict(answer.headers), content


def fit(server, r, k, question=0):
    path = f"/{server.token}/fit?components={r}&cardinality={k}&question={question}"
    status, _, content = asked(server, path)
    return status, json.loads(content)


# ------------------------------------------------------------ who may ask


def test_only_the_token_opens_anything(server):
    token = server.token
    for path in ("/", "/fit", "/x/", f"/{token}", f"/{token}x/", f"/{token[:-1]}/", "/é/"):
        status, _, content = asked(server, urllib.parse.quote(path))
        assert status == 403, path
        assert token.encode() not in content
    assert asked(server, f"/{token}/")[0] == 200


def test_no_way_leads_to_files(server):
    for way in ("../", "..%2f..%2fetc/passwd", "//etc/passwd", "page.css", "%2e%2e/", ".."):
        status, _, content = asked(server, f"/{server.token}/{way}")
        assert status == 404, way
        assert content == b'{"error":"no such page"}'
    for way in ("/../etc/passwd", "//etc/passwd", "/etc/passwd"):
        assert asked(server, way)[0] == 403


def test_other_host_names_are_refused(server):
    path = f"/{server.token}/"
    port = server.server_port
    for host in (
        "example.org",
        f"example.org:{port}",
        "127.0.0.1",
        "",
        f"127.0.0.1.example:{port}",
    ):
        assert asked(server, path, host=host)[0] == 403, host
    for host in (f"127.0.0.1:{port}", f"localhost:{port}"):
        assert asked(server, path, host=host)[0] == 200


def test_every_answer_is_strict(server):
    for path in (f"/{server.token}/", "/", f"/{server.token}/fit?components=2&cardinality=3"):
        headers = asked(server, path)[1]
        policy = headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; script-src 'sha256-")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"
        assert "Python" not in headers["Server"]
    assert asked(server, f"/{server.token}/", method="POST")[0] == 501
    assert asked(server, f"/{server.token}/", method="HEAD")[2] == b""


def test_it_listens_on_this_machine_only(server):
    assert server.server_address[0] == "127.0.0.1"


def test_wrong_questions_are_explained(server):
    for query in ("", "components=2", "components=a&cardinality=2", "components=2&cardinality="):
        assert asked(server, f"/{server.token}/fit?{query}")[0] == 400
    for r, k in ((0, 2), (99, 2), (2, 0), (2, 99)):
        status, answer = fit(server, r, k)
        assert status == 400
        assert "out of reach" in answer["error"]


# ------------------------------------------------------------ what it answers


def test_an_answer_is_the_fit(server):
    status, answer = fit(server, 3, 5, question=7)
    assert status == 200
    assert (answer["components"], answer["cardinality"], answer["question"]) == (3, 5, 7)
    model = SparsePCA(3, cardinality=5, standardize=True).fit(X)
    place = answer["place"]
    assert place["pev"] == pytest.approx(100 * model.explained_variance_ratio_.sum(), abs=1e-3)
    for features, row in zip(place["features"], model.components_, strict=True):
        assert set(features) == set(np.flatnonzero(row))
        assert all(answer["names"][str(j)] == WINE.data.columns[j] for j in features)
    assert len(place["scores"][0]) == len(X)


def test_a_failing_fit_is_told_and_the_explorer_goes_on():
    exploration = Exploration(X, SETTINGS)
    with serving(exploration) as server:
        exploration.settings["tol"] = -1.0
        status, answer = fit(server, 2, 3)
        assert status == 500
        assert "tol" in answer["error"]
        exploration.settings["tol"] = 1e-7
        assert fit(server, 2, 3)[0] == 200


@pytest.mark.parametrize("kind", ["covariance", "gaps", "sparse", "rules"])
def test_every_kind_of_data(kind):
    from scipy.sparse import csr_array

    spoilt = X.copy()
    spoilt[::7, 2] = np.nan
    correlation = load_pitprops().correlation
    exploration = {
        "covariance": Exploration(correlation, SETTINGS, is_covariance=True, n_samples=180),
        "gaps": Exploration(spoilt, SETTINGS),
        "sparse": Exploration(csr_array(np.where(np.abs(X) < 2, 0, X)), SETTINGS),
        "rules": Exploration(X, SETTINGS | {"nonnegative": True}),
    }[kind]
    with serving(exploration) as server:
        status, answer = fit(server, 2, 3)
        assert status == 200
        assert ("scores" in answer["place"]) == (kind != "covariance")
        if kind == "gaps":
            assert any("missing cells" in note for note in answer["place"]["notes"])
        if kind == "rules":
            assert all(value > 0 for row in answer["place"]["loadings"] for value in row)


def test_100_questions_in_a_row_while_a_long_fit_runs():
    """Each is answered for its own numbers, and the long fit comes to nothing."""
    exploration = Exploration(X, SETTINGS)
    with serving(exploration) as server, ThreadPoolExecutor(1) as pool:
        exploration.settings["n_perturbations"] = 10**9
        long = pool.submit(fit, server, 5, 6, 1)
        deadline = time.monotonic() + 60
        while exploration.newest._current is None:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        exploration.settings["n_perturbations"] = 0
        for question in range(2, 102):
            r, k = 1 + question % 4, 1 + question % 9
            status, answer = fit(server, r, k, question)
            assert status == 200
            assert answer["question"] == question
            assert len(answer["place"]["features"]) == r
            assert max(map(len, answer["place"]["features"])) <= k
        assert long.result(timeout=60)[1] == {
            "question": 1,
            "components": 5,
            "cardinality": 6,
            "outdated": True,
        }


def test_of_many_at_once_the_newest_wins():
    newest = Newest()
    began, done = threading.Event(), []

    def work():
        from redac.model.callbacks import current_watcher

        began.set()
        watcher = current_watcher()
        while not watcher.stopped:
            time.sleep(0.005)

    with ThreadPoolExecutor(8) as pool:
        slow = pool.submit(newest.run, work)
        assert began.wait(60)
        waiting = [pool.submit(newest.run, lambda i=i: done.append(i)) for i in range(7)]
        results = [each.result(60) for each in waiting]
        assert slow.result(60) is None
    answered = [i for i, result in enumerate(results) if result is not None]
    assert answered
    assert set(answered) <= set(done)
    newest.close()
    assert newest.run(lambda: 1) is None


# ------------------------------------------------------------ in the browser


def test_the_page_fits_as_its_sliders_move(server):
    with opened_browser() as browser, Tab(browser, offline=False) as page:
        page.goto(server.address)
        assert page.inner_text("#components-now") == "2"
        page.click("button[data-step='components 1']")
        page.click("button[data-step='components 1']")
        page.click("button[data-step='cardinality 1']")
        page.wait_for_selector("#loadings-view .bar >> nth=19")  # 4 components of 5 features
        assert page.locator("#loadings-view figure").count() == 4
        assert page.locator("#trade-off-view .spot").count() >= 2
        assert page.locator("#scores-view .legend li").count() == 3
        page.click("#steady")
        page.wait_for_selector("#stability-view .bar")
        assert "20 half-samples" in page.inner_text("#stability-view .reading")
        assert page.inner_text("#status") == ""


# ------------------------------------------------------------ the command


def table_file(folder):
    frame = WINE.data.copy()
    frame.insert(0, "wine", [f"w{i}" for i in range(len(X))])
    frame.iloc[3, 4] = np.nan
    frame.to_csv(folder / "wine.csv", index=False)
    return folder / "wine.csv"


def opened(address):
    with urllib.request.urlopen(address, timeout=60) as answer:  # noqa: S310
        return answer.read()


@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_the_command_serves_and_leaves_nothing(sent, status, tmp_path):
    file = table_file(tmp_path)
    before = sorted(os.listdir(tmp_path))
    command = [sys.executable, "-m", "redac", "explore", str(file), "--standardize", "--no-browser"]
    process = subprocess.Popen(  # noqa: S603
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        address = re.search(r"http://\S+", process.stdout.readline())[0]
        assert b"flavanoids" in opened(address)
        answer = json.loads(opened(f"{address}fit?components=2&cardinality=3"))
        assert answer["place"]["r"] == 2
        process.send_signal(sent)
        assert process.wait(60) == status
        assert "Traceback" not in process.stderr.read()
    finally:
        process.kill()
        process.communicate()
    assert sorted(os.listdir(tmp_path)) == before
    with pytest.raises(urllib.error.URLError):
        opened(address)


def test_wrong_calls_are_refused(run, tmp_path, plain_terminal):
    file = table_file(tmp_path)
    assert "--cardinality" in complaint(run("explore", file, "--cardinality", "0.5"))
    assert "--port 99999" in complaint(run("explore", file, "--port", 99999))
    assert "no.csv" in complaint(run("explore", tmp_path / "no.csv"))
    with serving(Exploration(X, SETTINGS)) as server:
        said = complaint(
            run("explore", "pitprops", "--no-browser", "--port", server.server_port), 1
        )
        assert "cannot listen" in said
