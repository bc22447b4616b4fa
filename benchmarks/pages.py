"""What a page weighs and how fast it reacts, in Chromium: ``python -m benchmarks.pages``.

The path of the colon data, 1 to 20 components of 2 to 200 genes, opened from disk with the network
off. From a slider to the picture: all views are drawn and laid out when the time is taken. On a
busy machine that says more of the machine, so that the processor time of the page is told, too:
script, style, layout and painting.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from redac import sparsity_path
from redac.datasets import fetch_colon

_OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
_COUNTS = (1, 2, 3, 5, 7, 10, 15, 20)
_CARDINALITIES = (2, 5, 10, 20, 50, 100)
_MOVES = 20
_REACTIONS = """async () => {
  const slider = document.getElementById("cardinality");
  const times = [];
  for (let i = 0; i < 20; i += 1) {
    slider.value = i % (Number(slider.max) + 1);
    const began = performance.now();
    slider.dispatchEvent(new Event("input"));
    document.body.getBoundingClientRect();
    times.push(performance.now() - began);
    await new Promise((done) => setTimeout(done, 30));
  }
  return times;
}"""
_PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


def main() -> None:
    colon = fetch_colon()
    names = [f"{name} #{j}" for j, name in enumerate(colon.feature_names)]
    X = np.log(colon.data)
    began = time.perf_counter()
    path = sparsity_path(
        X, n_components=_COUNTS, cardinality=_CARDINALITIES, cv=None, feature_names=names
    )
    _say(f"path of {len(path.table)} places: {time.perf_counter() - began:.0f} s")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "colon.html"
        labels = {"tissue": np.where(colon.target > 0, "tumour", "normal")}
        path.to_html(file, X=X, labels=labels, title="colon", chosen=(20, 50))
        _say(f"| size | {file.stat().st_size / 1e6:.2f} MB |")
        _say(*_measured(file.as_uri()))


def _measured(address: str) -> list[str]:
    """Rows of a table, from a browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        program = os.environ.get("REDAC_BROWSER") or shutil.which("chromium")
        browser = driver.chromium.launch(executable_path=program, args=_OPTIONS)
        paints: list[float] = []
        complaints: list[str] = []
        reactions: dict[int, float] = {}
        processor: dict[int, float] = {}
        for width in (1280, 1280, 1280, 380):
            context = browser.new_context(offline=True, viewport={"width": width, "height": 900})
            page: Any = context.new_page()
            page.on("console", lambda message: complaints.append(message.text))
            page.goto(address)
            while page.evaluate("performance.getEntriesByType('paint').length") < 2:
                page.wait_for_timeout(50)
            paints.append(page.evaluate(_PAINT))
            session = context.new_cdp_session(page)
            session.send("Performance.enable", {"timeDomain": "threadTicks"})
            began = _processor_time(session)
            reactions[width] = statistics.median(page.evaluate(_REACTIONS))
            processor[width] = (_processor_time(session) - began) / _MOVES
            context.close()
        browser.close()
    return [
        f"| first paint, median of {len(paints)} | {statistics.median(paints):.0f} ms |",
        *(
            f"| slider to picture at {width} pixels, median of {_MOVES}; its processor time | "
            f"{reactions[width]:.0f}; {processor[width]:.0f} ms |"
            for width in reactions
        ),
        f"| messages on the console | {len(complaints)} |",
    ]


def _processor_time(session: Any) -> float:
    """Milliseconds that the thread of the page has worked until now."""
    found = session.send("Performance.getMetrics")["metrics"]
    return 1000 * next(each["value"] for each in found if each["name"] == "TaskDuration")


def _say(*lines: str) -> None:
    for line in lines:
        sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
