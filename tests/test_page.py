"""The page of a model or path, in a real browser with the network off."""

import json
import re
import statistics

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from browsers import Tab, opened_browser
from redac import SparsePCA, SparsePCACV, sparsity_path, stability
from redac.datasets import load_pitprops
from redac.show import bundle
from redac.show.report import path_report

WINE = load_wine(as_frame=True)
X = WINE.data
LABELS = {"cultivar": WINE.target_names[WINE.target], "alcohol": X["alcohol"]}
HOSTILE = [
    "<script>alert(1)</script>",
    "</script><b>",
    "\"quoted\" 'twice' & more",
    "n" * 200,
    "a name of seventy characters, which is long but not unheard of in survey",
    "🙂🙃 emoji",
    "אורך של שם",
    "=1+1",
    "\u202eevil\u2028line",
    "<!--",
]


@pytest.fixture(scope="module")
def browser():
    with opened_browser() as found:
        yield found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def path():
    return sparsity_path(X, n_components=(1, 2, 3), cardinality=(2, 4, 8), standardize=True, cv=3)


@pytest.fixture(scope="module")
def path_page(path, folder):
    file = folder / "path.html"
    path.to_html(file, X=X, labels=LABELS, title="wine", chosen=(2, 4))
    return file.as_uri()


@pytest.fixture(scope="module")
def model_page(folder):
    spoilt = X.copy()
    spoilt.iloc[7] *= 5
    model = SparsePCA(3, cardinality=4, standardize=True, robust="both").fit(spoilt)
    steady = stability(X, 3, 4, standardize=True, n_resamples=4, random_state=0)
    file = folder / "model.html"
    model.to_html(file, X=spoilt, labels=LABELS["cultivar"], stability=steady, title="wine")
    return file.as_uri()


@pytest.fixture(scope="module")
def hostile_page(folder):
    values = np.random.default_rng(6).standard_normal((40, len(HOSTILE)))
    model = SparsePCA(2, cardinality=len(HOSTILE)).fit(values, feature_names=HOSTILE)
    file = folder / "hostile.html"
    names = [HOSTILE[i % len(HOSTILE)] for i in range(40)]
    model.to_html(file, X=values, sample_names=names, labels=names, title="<i>&\u202e")
    return file.as_uri()


def texts_that_overlap(page):
    """Pairs of texts of one picture whose boxes share more than a sliver."""
    return page.evaluate("""() => {
      const found = [];
      const pictures = ".panels svg, #stability-view svg, #overlap-view svg";
      for (const picture of document.querySelectorAll(pictures)) {
        const texts = [...picture.querySelectorAll("text")];
        const boxes = texts.map((text) => text.getBoundingClientRect());
        for (let i = 0; i < boxes.length; i += 1) {
          for (let j = 0; j < i; j += 1) {
            const across = Math.min(boxes[i].right, boxes[j].right) -
              Math.max(boxes[i].left, boxes[j].left);
            const down = Math.min(boxes[i].bottom, boxes[j].bottom) -
              Math.max(boxes[i].top, boxes[j].top);
            if (across > 1 && down > 6) found.push([texts[i].textContent, texts[j].textContent]);
          }
        }
      }
      return found;
    }""")


def covered_loadings(page):
    """Loadings, as bars or in the table, that something else lies upon or that are out of sight."""
    return page.evaluate("""() => {
      const found = [];
      const onTop = (box) =>
        document.elementFromPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2);
      for (const bar of document.querySelectorAll(".bar .positive, .bar .negative")) {
        bar.scrollIntoView({ block: "center" });
        const box = bar.getBoundingClientRect();
        const name = bar.parentElement.querySelector(".name").getBoundingClientRect();
        const value = bar.parentElement.querySelector(".value");
        const end = value ? value.getBoundingClientRect() : { left: innerWidth, right: 0 };
        const top = onTop(box);
        const beside = name.right <= box.left + 1 && box.right <= end.left + 1;
        if (box.right > innerWidth || end.right > innerWidth || top !== bar || !beside) {
          found.push(bar.parentElement.textContent);
        }
      }
      for (const cell of document.querySelectorAll(".loadings td")) {
        if (!cell.textContent) continue;
        cell.scrollIntoView({ block: "center", inline: "end" });
        const box = cell.getBoundingClientRect();
        const top = onTop(box);
        if (top !== cell) found.push(cell.textContent);
      }
      return found;
    }""")


def until(page, holds):
    """Wait for what the page does a moment later; its policy allows no code from without."""
    for _ in range(600):
        if holds():
            return
        page.wait_for_timeout(50)
    raise AssertionError("the page has not done it")


def point_at(page, target):
    """Move the pointer onto an element, and wait for what is said of it.

    To scroll hides it, and the browser tells of that a moment after it has scrolled.
    """
    for _ in range(100):
        target.hover(force=True)
        page.wait_for_timeout(50)
        if page.locator("#tip").is_visible():
            return
        page.mouse.move(0, 0)
    raise AssertionError("nothing was said of what is under the pointer")


def colours_in(page):
    """How many different colours a picture of the page has."""
    from io import BytesIO

    from PIL import Image

    image = Image.open(BytesIO(page.screenshot())).convert("RGB")
    return len(image.getcolors(1 << 24))


def lightness(page, selector, what):
    """The mean of red, green and blue, up to 255."""
    said = page.evaluate(
        "([one, what]) => getComputedStyle(document.querySelector(one))[what]", [selector, what]
    )
    return np.mean([int(each) for each in re.findall(r"\d+", said)[:3]])


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (380, "dark")])
@pytest.mark.parametrize("which", ["path_page", "model_page", "hostile_page"])
def test_nothing_overlaps_and_nothing_is_empty(which, width, scheme, browser, request):
    address = request.getfixturevalue(which)
    with Tab(browser, width=width, color_scheme=scheme) as page:
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert texts_that_overlap(page) == []
        assert covered_loadings(page) == []
        assert colours_in(page) > 20
        assert (lightness(page, "body", "backgroundColor") > 128) == (scheme == "light")
        for view in ("loadings", "scores", "scree", "overlap"):
            marks = page.locator(f"#{view}-view svg[role=img] > *, #{view}-view .panels svg > *")
            assert marks.count() > 0, view


def test_names_have_the_room_that_there_is(path_page, browser):
    """Where the window is wide enough for whole names, none is cut, and panels stand in rows."""
    for width, may_be_cut in ((1280, False), (320, True)):
        with Tab(browser, width=width) as page:
            page.goto(path_page)
            page.click("button[data-step='components 1']")
            names = page.locator("#loadings-view .name").all_text_contents()
            assert set(names) <= set(X.columns) or may_be_cut
            tops = page.locator("#loadings-view figure").evaluate_all(
                "all => all.map(each => each.getBoundingClientRect().top)"
            )
            assert (len(set(tops)) == 1) == (width == 1280)


@pytest.mark.parametrize("width", [1280, 380])
@pytest.mark.parametrize("which", ["path_page", "model_page", "hostile_page"])
def test_names_of_arrows_are_to_be_read(which, width, browser, request):
    """They lie neither upon each other nor upon the numbers of the axes, nor out of the picture."""
    address = request.getfixturevalue(which)
    with Tab(browser, width=width) as page:
        page.goto(address)
        page.check("#arrows")
        picture = page.locator("#scores-view svg[role=img]")
        names, others = (
            picture.locator(kind).evaluate_all("""all => all.map((each) => {
              const box = each.getBoundingClientRect();
              return [box.left, box.right, box.top, box.bottom, each.textContent];
            })""")
            for kind in (".arrow text", ".tick, .title")
        )
        assert len(names) >= 4
        whole = picture.bounding_box()
        for number, (left, right, top, bottom, text) in enumerate(names):
            assert whole["x"] - 1 <= left, text
            assert right <= whole["x"] + whole["width"] + 1, text
            for other in names[:number] + others:
                across = min(right, other[1]) - max(left, other[0])
                down = min(bottom, other[3]) - max(top, other[2])
                assert across < 2 or down < 4, (text, other[-1])
            assert right - left > 80 or "…" not in text


def test_small_loadings_are_not_written_as_zero(browser, folder):
    model = SparsePCA(1).fit_covariance(np.diag([2.0, 1.0, 0.5]))
    model.components_ = np.array([[1.0, 1e-3, 7e-7]])
    file = folder / "small.html"
    model.to_html(file)
    with Tab(browser) as page:
        page.goto(file.as_uri())
        values = page.locator("#loadings-view .value").all_text_contents()
        assert values == ["1.00", "0.0010", "<\u20090.0001"]
    with Tab(browser, java_script_enabled=False) as page:
        page.goto(file.as_uri())
        assert page.locator("#loadings-table td").all_text_contents() == [
            "1.000",
            "0.001",
            "7e\u221207",
        ]


def test_figures_say_what_they_mean(path_page, browser):
    with Tab(browser) as page:
        page.goto(path_page)
        point_at(page, page.locator("#facts div", has_text="separation"))
        assert "right angles" in page.inner_text("#tip")


def test_parameters_are_those_that_were_chosen(path_page, browser):
    with Tab(browser) as page:
        page.goto(path_page)
        rows = page.locator("#settings-table tr").all_inner_texts()
        assert "standardize\tyes" in rows
        assert not any(row.startswith("robust") for row in rows)


def test_hostile_names_are_text(hostile_page, browser):
    with Tab(browser) as page:
        page.goto(hostile_page)
        assert page.locator("b:not(figcaption b), i, script:not([type])").count() == 0
        assert page.title().startswith("Sparse components of <i>&")
        names = page.evaluate("JSON.parse(document.getElementById('data').textContent).names")
        assert names["0"] == HOSTILE[0]
        assert names["6"] == HOSTILE[6]
        assert names["8"] == r"\u202eevil\u2028line"
        tips = page.locator("#loadings-view .bar").evaluate_all(
            "bars => bars.map(b => b.dataset.tip)"
        )
        assert any(tip.startswith("n" * 200) for tip in tips)
        page.fill("#search", "<script>")
        assert HOSTILE[0] in page.inner_text("#found")


def test_every_control_does_what_it_says(path_page, path, browser):
    def place():
        facts = page.inner_text("#facts")
        return float(re.search(r"([\d.]+) %", facts)[1])

    def pev(r, k):
        return pytest.approx(100 * path.model(r, k).explained_variance_ratio_.sum(), abs=0.006)

    with Tab(browser) as page:
        page.goto(path_page)
        assert place() == pev(2, 4)
        page.click("button[data-step='components 1']")
        assert place() == pev(3, 4)
        assert page.locator("#loadings-view figure").count() == 3
        page.click("button[data-step='cardinality -1']")
        assert place() == pev(3, 2)
        assert page.locator("#loadings-view .bar").count() == 6
        page.locator("#cardinality").fill("2")
        assert place() == pev(3, 8)
        assert page.locator("button[data-step='cardinality 1']").is_disabled()
        # the tables follow, a moment later
        first = path.model(3, 8).loadings_table()
        rows = page.locator("#loadings-table tbody tr")
        until(page, lambda: rows.count() == len(first))
        assert page.inner_text("#loadings-table tbody th >> nth=0") == first.index[0]
        # scores
        points = page.locator("#scores-view .body .point")
        assert points.count() == len(X)
        before = points.first.get_attribute("d")
        page.select_option("#up", "2")
        assert "PC3" in page.text_content("#scores-view .body svg")
        assert points.first.get_attribute("d") != before
        page.select_option("#across", "2")  # the same twice: they change places
        assert page.input_value("#up") == "0"
        assert page.locator("#scores-view .legend li").count() == 3
        page.select_option("#colour", "1")
        assert "alcohol" in page.inner_text("#scores-view .legend")
        page.check("#arrows")
        assert page.locator("#scores-view .arrow").count() >= 8
        assert "scores divided by" in page.inner_text("#scores-view .reading")
        # a click on the curve, and on two components
        spot = page.locator("#trade-off-view .spot")
        assert spot.count() == 9
        spot.first.click()
        assert place() == pev(1, 2)
        assert page.locator("#overlap-view").is_hidden()
        page.click("button[data-step='components 1']")
        page.click("button[data-step='components 1']")
        page.locator("#overlap-view [data-pair='1 2']").first.click()
        assert (page.input_value("#across"), page.input_value("#up")) == ("1", "2")
        # search, in all views
        page.fill("#search", "PROLINE")
        assert "proline" in page.inner_text("#found")
        assert page.locator("#loadings-view .bar.strong").count() >= 1
        assert page.locator("#loadings-view .bar.faint").count() >= 1
        page.fill("#search", "no such thing")
        assert "No component" in page.inner_text("#found")
        # what is under the pointer is marked everywhere
        page.fill("#search", "")
        point_at(page, page.locator("#loadings-view .bar").first)
        assert page.locator(".linked-feature").count() >= 1
        point_at(page, points.nth(3))
        assert "cultivar" in page.inner_text("#tip")
        ground = "getComputedStyle(document.body).backgroundColor"
        before = page.evaluate(ground)
        page.click("#theme")
        assert page.evaluate(ground) != before


def test_by_keyboard_alone(path_page, path, browser):
    with Tab(browser) as page:
        page.goto(path_page)
        reached = set()
        for _ in range(40):
            page.keyboard.press("Tab")
            reached.add(
                page.evaluate("document.activeElement.id || document.activeElement.tagName")
            )
        assert {
            "components",
            "cardinality",
            "search",
            "across",
            "up",
            "colour",
            "arrows",
        } <= reached
        assert "svg" in reached
        page.focus("#components")
        page.keyboard.press("ArrowRight")
        assert page.inner_text("#components-now") == "3"
        page.focus("#trade-off-view svg")
        page.keyboard.press("ArrowRight")
        assert page.inner_text("#cardinality-now") == "8"
        page.keyboard.press("ArrowDown")  # the picture was drawn anew and still has the focus
        assert page.inner_text("#components-now") == "2"


def test_files_of_tables_and_pictures(model_page, hostile_page, browser, tmp_path):
    def saved(button):
        with page.expect_download() as waiting:
            page.click(button)
        file = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(file)
        return file

    with Tab(browser) as page:
        page.goto(model_page)
        table = pd.read_csv(saved("[data-csv=loadings]"), index_col="feature")
        assert list(table.columns) == ["PC1", "PC2", "PC3"]
        assert table.notna().sum().tolist() == [4, 4, 4]
        scores = pd.read_csv(saved("[data-csv=scores]"))
        assert len(scores) == len(X)
        assert scores["label"].tolist() == list(LABELS["cultivar"])
        assert len(pd.read_csv(saved("[data-csv=variance]"))) == 3
        for view in ("loadings", "scores", "scree", "overlap", "stability", "outliers"):
            text = saved(f"[data-svg={view}]").read_text(encoding="utf-8")
            assert text.startswith("<svg")
            assert "class=" not in text
            assert "rgb(" in text
            with Tab(browser) as picture:
                picture.goto((tmp_path / f"{view}.svg").as_uri())
                assert colours_in(picture) > 10
        page.goto(hostile_page)
        lines = saved("[data-csv=loadings]").read_text(encoding="utf-8")
        assert "\n'=1+1," in lines


def test_what_was_flagged_is_shown(model_page, browser):
    with Tab(browser) as page:
        page.goto(model_page)
        assert page.locator("#outliers-view .outlier").count() == len(X)
        assert page.locator("#outliers-view .outlier.negative").count() >= 1
        assert "row 7: the whole row" in page.inner_text("#outliers-view .flagged")
        assert page.locator("#scores-view .point.lost").count() >= 1
        assert "4 half-samples" in page.inner_text("#stability-view .reading")


def test_tables_are_readable_without_scripts(path_page, browser):
    with Tab(browser, width=380, java_script_enabled=False) as page:
        page.goto(path_page)
        for table in ("variance", "loadings", "path", "settings"):
            assert page.locator(f"#{table}-table table").is_visible()
        assert page.locator("button:visible").count() == 0
        assert "explain" in page.inner_text("header")
        assert page.locator("#path-table tbody tr").count() == 9


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_print_there_is_nothing_to_press_and_paper_is_white(scheme, path_page, browser):
    with Tab(browser, color_scheme=scheme) as page:
        page.goto(path_page)
        page.click("#theme")
        if scheme == "light":
            assert lightness(page, "body", "backgroundColor") < 128
        else:
            page.click("#theme")
        page.emulate_media(media="print")
        assert lightness(page, "h1", "color") < 64
        for card in ("#loadings-view", "#variance-table thead th"):
            assert lightness(page, card, "backgroundColor") > 250
        assert page.locator("button:visible, .controls:visible").count() == 0
        assert page.locator("#loadings-view svg").first.is_visible()


def test_a_covariance_matrix_has_no_scores(browser, folder):
    bunch = load_pitprops()
    model = SparsePCA(6, cardinality=4).fit_covariance(
        bunch.correlation, feature_names=bunch.feature_names
    )
    file = folder / "pitprops.html"
    model.to_html(file, certificate=model.certificate(time_limit=1))
    with Tab(browser) as page:
        page.goto(file.as_uri())
        assert "no scores" in page.inner_text("#scores-view")
        assert page.locator("#scree-view .bound").count() == 1
        assert page.locator("#scree-view .pca-dot").count() == 6


def made_up_path(n, d, counts, cardinalities):
    """Models that nobody has fitted: for what a page of that size weighs, and how fast it is."""
    rng = np.random.default_rng(0)
    models, rows = [], []
    for r in counts:
        for k in cardinalities:
            model = SparsePCA(r, cardinality=k)
            components = np.zeros((r, d))
            for row in components:
                row[rng.choice(d, k, replace=False)] = rng.standard_normal(k)
            model.components_ = components / np.linalg.norm(components, axis=1, keepdims=True)
            model.n_components_, model.n_features_in_, model.n_samples_ = r, d, n
            model.explained_variance_ratio_ = np.full(r, 0.7 / r)
            model.reconstruction_error_, model.separation_ = 0.5, 0.9
            model.mean_, model.scale_ = np.zeros(d), np.ones(d)
            model.n_iter_, model.converged_, model.interrupted_ = 9, True, False
            models.append(model)
            row = {"n_components": r, "cardinality": k, "nonzeros": r * k, "pev": 70.0}
            rows.append(row | {"pev_pca": 80.0, "q2": 0.5, "q2_se": 0.01, "ebic": 1.0})
    return models, pd.DataFrame(rows)


def test_a_large_path_is_light_and_quick(browser, folder):
    """The real figures are those of `python -m benchmarks.pages`; this machine may be busy."""
    models, table = made_up_path(62, 2000, (1, 10, 20), (2, 5, 10, 20, 50, 100))
    data = np.random.default_rng(1).standard_normal((62, 2000))
    text = path_report(models, table, chosen=len(models) - 2, title="wide", X=data)
    assert len(text.encode()) < 1_000_000
    file = folder / "wide.html"
    file.write_text(text, encoding="utf-8")
    with Tab(browser) as page:
        page.goto(file.as_uri())
        times = page.evaluate("""async () => {
          const slider = document.getElementById("cardinality");
          const times = [];
          for (let i = 0; i < 20; i += 1) {
            slider.value = i % 6;
            const began = performance.now();
            slider.dispatchEvent(new Event("input"));
            document.body.getBoundingClientRect();
            times.push(performance.now() - began);
            await new Promise((done) => setTimeout(done, 0));
          }
          return times;
        }""")
        assert statistics.median(times) < 1000
        assert page.locator("#loadings-view figure").count() == 20


# ------------------------------------------------------------ without a browser


def test_data_in_the_page_cannot_end_their_script():
    text = bundle.safe_json({"name": "</script><!-- \u2028 &amp; \ud800"})
    assert not set(text) & set("<>&\u2028")
    assert json.loads(text)["name"] == "</script><!-- \u2028 &amp; \ud800"


def test_the_script_is_one_piece():
    text = bundle.script()
    assert not re.search(r"^(import|export)\b", text, re.MULTILINE)
    assert "</script" not in text
    assert not re.search(r"https?:|innerHTML|\beval\b|new Function", text)


def test_the_page_of_a_choice_has_its_path():
    chosen = SparsePCACV((1, 2), (2, 4), standardize=True, cv=3).fit(X)
    data = json.loads(re.search(r'id="data">(.*?)</script>', chosen.to_html(X=X))[1])
    place = data["places"][data["current"]]
    assert (place["r"], place["k"]) == (chosen.n_components_, chosen.cardinality_)
    assert len(data["places"]) == 4
    found = {j: v / 10000 for j, v in zip(place["features"][0], place["loadings"][0], strict=True)}
    for j, value in found.items():
        assert chosen.components_[0, j] == pytest.approx(value, abs=6e-5)


def test_a_notebook_shows_the_page_in_a_frame(path):
    model = path.model(2, 4)
    shown = model.explore(X, labels=LABELS, height=500)
    frame = shown._repr_html_()
    assert frame.startswith("<iframe")
    assert 'height="500"' in frame
    assert "<!DOCTYPE" not in frame
    assert "allow-same-origin" not in frame
    assert "sk-container" in model._repr_html_() or "sk-" in model._repr_html_()


def test_wrong_labels_are_explained(path):
    with pytest.raises(ValueError, match="'label' has the shape"):
        path.to_html(X=X, labels=[1, 2])


def test_pages_draw_some_of_many_rows(path):
    many = pd.concat([X] * 20, ignore_index=True)
    data = json.loads(re.search(r'id="data">(.*?)</script>', path.model(2, 4).to_html(X=many))[1])
    shown = data["rows"]["shown"]
    assert data["rows"]["total"] == len(many)
    assert len(shown) == 2000 == len(data["places"][0]["scores"][0])
    scores = path.model(2, 4).transform(many)[shown, 1]
    drawn = np.array(data["places"][0]["scores"][1]) / 2000 * data["places"][0]["score_units"][1]
    np.testing.assert_allclose(drawn, scores, atol=np.abs(scores).max() / 3000)
