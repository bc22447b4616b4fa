"""Ways to damage the bytes of a file."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np

Random = np.random.Generator
Change = Callable[[bytes, Random], bytes]

# Text that has meant trouble to readers of numbers, tables and names.
_AWKWARD = (
    b"nan", b"inf", b"-inf", b"1e999", b"1e-999", b"1e308", b"-0", b"0", b"-1", b"0x10", b"1_000",
    b"99999999999999999999", b"1,5", b'"', b"'", b"\0", b"\n", b"\r", b"\r\n\r\n", b"\t", b",",
    b";", b"\x1b[31m", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3", b"=1+1", b"%", b"#", b"{", b"(",
    b"[" * 300, b"True", b"None", b"\xed\xa0\x80", b"\xe2\x80\xae",
)  # fmt: skip
# Where headers are, in all formats that have one; Parquet has its own at the end.
_HEAD = 200


# How compressed files begin, and what packs them.
_PACKERS: dict[bytes, Any] = {b"\x1f\x8b": gzip, b"BZh": bz2, b"\xfd7zXZ": lzma}


def damaged(content: bytes, random: Random) -> tuple[bytes, str]:
    """The content with a few changes, mostly one, and their names."""
    names = []
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        name = str(random.choice(list(CHANGES), p=_WEIGHTS))
        content = CHANGES[name](content, random)
        names.append(name)
    return content, " + ".join(names)


def damaged_inside(content: bytes, random: Random) -> tuple[bytes, str] | None:
    """The same for what a compressed file holds, packed again; None where it is no such file."""
    for mark, module in _PACKERS.items():
        if content.startswith(mark):
            inner, names = damaged(module.decompress(content), random)
            return module.compress(inner), f"inside: {names}"
    if not content.startswith(b"PK"):
        return None
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    chosen = str(random.choice(list(members)))
    members[chosen], names = damaged(members[chosen], random)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, inner in members.items():
            archive.writestr(name, inner)
    return packed.getvalue(), f"inside {chosen}: {names}"


def _place(content: bytes, random: Random) -> int:
    return int(random.integers(len(content) + 1))


def _stretch(content: bytes, random: Random) -> slice:
    start = _place(content, random)
    return slice(start, start + int(random.integers(1, 65)))


def _flip(content: bytes, random: Random) -> bytes:
    changed = bytearray(content)
    for _ in range(random.choice([1, 1, 4])):
        if changed:
            changed[random.integers(len(changed))] ^= 1 << int(random.integers(8))
    return bytes(changed)


def _overwrite(content: bytes, random: Random) -> bytes:
    changed = bytearray(content)
    for _ in range(random.choice([1, 1, 4])):
        if changed:
            changed[random.integers(len(changed))] = int(random.integers(256))
    return bytes(changed)


def _truncate(content: bytes, random: Random) -> bytes:
    return content[: _place(content, random)]


def _insert(content: bytes, random: Random) -> bytes:
    at = _place(content, random)
    return content[:at] + random.bytes(int(random.integers(1, 9))) + content[at:]


def _awkward(content: bytes, random: Random) -> bytes:
    at = _place(content, random)
    text = _AWKWARD[random.integers(len(_AWKWARD))]
    behind = at + int(random.integers(len(text) + 1))
    return content[:at] + text + content[behind:]


def _splice(content: bytes, random: Random) -> bytes:
    at, taken = _place(content, random), content[_stretch(content, random)]
    return content[:at] + taken + content[at + len(taken) :]


def _duplicate(content: bytes, random: Random) -> bytes:
    part = _stretch(content, random)
    return content[: part.stop] + content[part] + content[part.stop :]


def _remove(content: bytes, random: Random) -> bytes:
    part = _stretch(content, random)
    return content[: part.start] + content[part.stop :]


def _cell(content: bytes, random: Random) -> bytes:
    """Something awkward in place of a number, anywhere."""
    numbers = list(re.finditer(rb"-?\d[\d.]*", content))
    if not numbers:
        return _awkward(content, random)
    found = numbers[random.integers(len(numbers))]
    text = _AWKWARD[random.integers(len(_AWKWARD))]
    return content[: found.start()] + text + content[found.end() :]


def _another_number(content: bytes, random: Random) -> bytes:
    """Another number in the header."""
    numbers = list(re.finditer(rb"\d+", content[:_HEAD]))
    if not numbers:
        return content
    found = numbers[random.integers(len(numbers))]
    choice = [b"0", b"1", b"-1", b"3", b"7", b"4294967296", b"9223372036854775807", b"99999999"]
    number = choice[random.integers(len(choice))]
    return content[: found.start()] + number + content[found.end() :]


def _head(content: bytes, random: Random) -> bytes:
    return _overwrite(content[:_HEAD], random) + content[_HEAD:]


def _tail(content: bytes, random: Random) -> bytes:
    return content[:-_HEAD] + _overwrite(content[-_HEAD:], random)


def _empty(content: bytes, random: Random) -> bytes:
    return b""


CHANGES: dict[str, Change] = {
    "flip": _flip,
    "overwrite": _overwrite,
    "truncate": _truncate,
    "insert": _insert,
    "awkward": _awkward,
    "cell": _cell,
    "splice": _splice,
    "duplicate": _duplicate,
    "remove": _remove,
    "another number": _another_number,
    "head": _head,
    "tail": _tail,
    "empty": _empty,
}
# Changes that leave little to read are rarer: most cases should get far into the readers.
_COARSE = ("truncate", "head", "tail", "another number")
_SHARES = np.array(
    [0.1 if name == "empty" else 0.5 if name in _COARSE else 1.0 for name in CHANGES]
)
_WEIGHTS = _SHARES / _SHARES.sum()
