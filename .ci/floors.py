"""Print the least versions that pyproject.toml allows, as pins: ``numpy>=2.2``, ``numpy==2.2``."""

import re
import sys
import tomllib
from pathlib import Path


def main() -> None:
    settings = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
    project = settings["project"]
    groups = [
        project["dependencies"],
        *project["optional-dependencies"].values(),
        settings["dependency-groups"]["test"],
    ]
    for requirement in sorted(requirement for group in groups for requirement in group):
        found = re.fullmatch(r"([\w-]+)(?:\[.*\])?>=([\d.]+)", requirement)
        if found:
            sys.stdout.write(f"{found[1]}=={found[2]}\n")
        elif not requirement.startswith("redac["):
            sys.exit(f"pyproject.toml: {requirement!r} says no least version")


main()
