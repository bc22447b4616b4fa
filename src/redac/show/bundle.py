"""One file out of the parts of the page in ``show/page``: nothing is loaded from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

_IMPORT = re.compile(r'^import\s[^;]*?from\s+"\./(\w+)\.js";\n', re.MULTILINE)
_DECLARED = re.compile(r"^(?:async )?(?:function|const|let) (\w+)", re.MULTILINE)


def page(texts: dict[str, str], data: dict[str, Any], *, live: bool = False) -> str:
    """The page with texts that are HTML already, and the data of its pictures.

    Parameters
    ----------
    texts : title, summary, interruption, remarks, tables and made, as the template has them.
    data : what the scripts draw.
    live : whether the page may ask the server that it comes from.
    """
    style = _part("page.css")
    policy = "" if live else _meta(security_policy(live=False))
    return Template(_part("page.html")).substitute(
        texts, style=style, policy=policy, script=script(), data=safe_json(data)
    )


def security_policy(*, live: bool) -> str:
    """What the browser may do with the page: run its script, use its style, and nothing else."""
    server = "'self'" if live else "'none'"
    own = f"script-src {_digest(script())}; style-src {_digest(_part('page.css'))}"
    return f"default-src 'none'; {own}; connect-src {server}; base-uri 'none'; form-action 'none'"


def safe_json(data: Any) -> str:
    """JSON that nothing in a page takes for markup, whatever the texts in it are."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)  # all beyond ASCII escaped
    return text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")


@cache
def script() -> str:
    """All modules in one, each after those that it imports."""
    parts: dict[str, str] = {}
    _collect("main", parts)
    text = "".join(parts.values())
    names = _DECLARED.findall(text)
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"Modules of the page share names: {', '.join(sorted(twice))}.")
    return text


def _collect(name: str, parts: dict[str, str]) -> None:
    if name in parts:
        return
    text = _part(f"{name}.js")
    for other in _IMPORT.findall(text):
        _collect(other, parts)
    parts[name] = re.sub(r"^export ", "", _IMPORT.sub("", text), flags=re.MULTILINE)


@cache
def _part(name: str) -> str:
    return (files("redac.show") / "page" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _meta(policy: str) -> str:
    return f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
