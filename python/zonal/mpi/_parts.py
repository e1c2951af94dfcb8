"""Whole arrays of one rank, and the parts of all."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._pixels import has_unseen, is_unseen
from .._units import quantity_unit
from ..sky_map import Map
from ._job import Job


class Parts:
    """What each rank has of arrays whose last axis is [n_whole], which is the same for pixels or for coefficients.

    mine: this rank's runs, [run, 2], each from its first element to its end. to_input(name, array): the array as a plain
    one of a type that calls take. Making it is collective.
    """

    def __init__(self, job: Job, name: str, to_input: Callable[[str, Any], NDArray[Any]], n_whole: int, mine: Any) -> None:
        self._job, self._name, self._to_input, self._n_whole = job, name, to_input, n_whole
        with job.together(f"parts of {name}"):
            pass
        runs = job.ranks.gather(np.asarray(mine, np.int64).tobytes())
        self._runs = [np.frombuffer(one, np.int64).reshape(-1, 2) for one in runs]

    def scatter(self, array: Any, root: int) -> NDArray[Any]:
        job, name = self._job, self._name
        with job.together(f"scatter_{name}") as about:
            root = job.root(root, about)
            if job.rank == root:
                array = self._to_input(name, plain(name, array))
                if array.ndim == 0 or array.shape[-1] != self._n_whole:
                    raise ValueError(f"{name}: has shape {array.shape}: must be [..., {self._n_whole}]")
            elif array is not None:
                raise TypeError(f"{name}: must be None on this rank, as root = {root} has it")
        kind, *lead = job.ranks.gather(_text_of(array).encode() if job.rank == root else b"")[root].decode().split()
        with job.together("memory"):
            part = np.empty((*(int(n) for n in lead), _length(self._runs[job.rank])), kind)
        if job.rank == root:
            for rank in range(job.size):
                if rank == root:
                    part[...] = _piece(array, self._runs[rank])
                else:
                    job.ranks.send(_bytes(_piece(array, self._runs[rank])), rank)
        else:
            job.ranks.receive(_bytes(part), root)
        return part

    def gather(self, part: Any, root: int) -> NDArray[Any] | None:
        job, name = self._job, self._name
        whole = None
        with job.together(f"gather_{name}") as about:
            root = job.root(root, about)
            part = np.ascontiguousarray(self._to_input(name, plain(name, part)))
            if part.ndim == 0 or part.shape[-1] != _length(self._runs[job.rank]):
                raise ValueError(f"{name}: has shape {part.shape}: must be [..., {_length(self._runs[job.rank])}]")
            about.append(f"{part.shape[:-1]} {part.dtype}")
            if job.rank == root:
                whole = np.zeros((*part.shape[:-1], self._n_whole), part.dtype)
        if whole is None:
            job.ranks.send(_bytes(part), root)
            return None
        for rank in range(job.size):
            piece = part if rank == root else np.empty((*part.shape[:-1], _length(self._runs[rank])), part.dtype)
            if rank != root:
                job.ranks.receive(_bytes(piece), rank)
            start = 0
            for first, end in self._runs[rank]:
                whole[..., first:end] = piece[..., start:start + end - first]
                start += end - first
        return whole


def plain(name: str, values: Any) -> Any:
    """Refuses what has a unit or an order, also in a mapping of spectra."""
    for one in values.values() if isinstance(values, Mapping) else [values]:
        if isinstance(one, Map) or quantity_unit(one) is not None:
            raise TypeError(f"{name}: must be a plain array of this rank's part, not a {type(one).__name__}")
    return values


def unseen_as_zero(maps: NDArray[Any]) -> NDArray[Any]:
    """Maps I, Q, U or those of `map2alm`, with 0 where they are UNSEEN, as one process has it: Q and U mask each other."""
    if not has_unseen(maps):
        return maps
    unseen = is_unseen(maps)
    if maps.ndim == 2:
        unseen[-2:] = unseen[-2:].any(0)
    return np.where(unseen, maps.dtype.type(0), maps)


def _length(runs: NDArray[np.int64]) -> int:
    return int(np.sum(runs[:, 1] - runs[:, 0]))


def _piece(array: NDArray[Any], runs: NDArray[np.int64]) -> NDArray[Any]:
    return np.concatenate([array[..., :0], *(array[..., first:end] for first, end in runs)], axis=-1)


def _bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    """The memory of a contiguous array."""
    return array.reshape(-1).view(np.uint8)


def _text_of(array: NDArray[Any]) -> str:
    """Its type and its axes but the last."""
    return " ".join([array.dtype.name, *map(str, array.shape[:-1])])


def real_type(alm: NDArray[Any]) -> Any:
    return np.float64 if alm.dtype == np.complex128 else np.float32


def complex_type(map: NDArray[Any]) -> Any:
    return np.complex128 if map.dtype == np.float64 else np.complex64


def hash_of(values: bytes) -> str:
    """What tells whether ranks have the same values."""
    return hashlib.blake2b(values, digest_size=8).hexdigest()
