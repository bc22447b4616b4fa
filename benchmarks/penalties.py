"""The penalties of rivals that are steered by one, found once and kept in penalties.json."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

FILE = Path(__file__).with_name("penalties.json")
Key = tuple[str, int, str, str]


@dataclass(frozen=True)
class Penalty:
    """A penalty, what it was sought for, and what a whole fit with it gave."""

    data: str
    r: int
    sparsity: str
    contestant: str
    aim: int  # the non-zeros of redac: the rival has at least as many
    alpha: float
    nonzeros: int | None  # of a whole fit; None where it was not finished
    longer_than: float | None = None  # seconds after which a fit was ended, if it was

    @property
    def key(self) -> Key:
        return self.data, self.r, self.sparsity, self.contestant

    def serves(self, aim: int) -> bool:
        """Whether a rival with this penalty can be compared with so many non-zeros of redac."""
        return self.aim == aim if self.nonzeros is None else self.nonzeros >= aim == self.aim


class Penalties:
    """What is known so far; what is added is written at once."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._known: dict[Key, Penalty] = {}
        self._read()

    def get(self, key: Key) -> Penalty | None:
        return self._known.get(key)

    def add(self, penalty: Penalty) -> None:
        self._read()  # another run may have added some
        self._known[penalty.key] = penalty
        if self._path is not None:
            entries = [json.dumps(asdict(entry)) for _, entry in sorted(self._known.items())]
            self._path.write_text("[\n " + ",\n ".join(entries) + "\n]\n", encoding="utf-8")

    def _read(self) -> None:
        if self._path is not None and self._path.exists():
            for entry in json.loads(self._path.read_text(encoding="utf-8")):
                penalty = Penalty(**entry)
                self._known[penalty.key] = penalty
