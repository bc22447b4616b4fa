"""Print the least versions that pyproject.toml allows, as pins: ``numpy>=2.2``, ``numpy==2.2``."""

import re
import sys
import tomllib
from pathlib import Path


def main() -> None:
    settings = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
    project, groups = settings["project"], settings["dependency-groups"]
    wanted = [
        project["dependencies"],
        *project["optional-dependencies"].values(),
        groups["test"],
        groups["browser"],
    ]
    for requirement in sorted(each for group in wanted for each in group if isinstance(each, str)):
        found = re.fullmatch(r"([\w-]+)(?:\[.*\])?>=([\d.]+)", requirement)
        if found:
            sys.stdout.write(f"{found[1]}=={found[2]}\n")
        elif not requirement.startswith("redac["):
            sys.exit(f"pyproject.toml: {requirement!r} says no least version")


main()
