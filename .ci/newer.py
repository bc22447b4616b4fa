"""Print the installed packages that constraints.txt does not pin to the same version.

Run by the Python whose packages are meant. The tools of installing itself are left out.
"""

import sys
from importlib.metadata import distributions
from pathlib import Path

_TOOLS = {"pip", "redac", "setuptools", "wheel"}


def canonical(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


def main() -> None:
    pins = {}
    for line in Path("constraints.txt").read_text(encoding="utf-8").splitlines():
        name, pinned, version = line.partition("==")
        if pinned:
            pins[canonical(name)] = version.strip()
    for each in sorted(distributions(), key=lambda found: found.name.lower()):
        name = canonical(each.name)
        if name not in _TOOLS and pins.get(name) != each.version:
            sys.stdout.write(f"{name}=={each.version}\n")


main()
