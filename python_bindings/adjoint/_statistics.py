# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Leaves of a model that are not trained: the statistics of its layers, which change where they are computed. The class of
a layer lists their names as `statistics`."""

from __future__ import annotations

from typing import Any

from . import tree


def are_trained(form: tree.Structure) -> list[bool]:
    """Of each leaf, whether an optimizer changes it."""
    if form.kind is None:
        return [True]
    kept = getattr(form.kind, "statistics", ())
    return [
        trained and name not in kept for name, child in zip(form.names, form.children) for trained in are_trained(child)
    ]


def statistics_of(model: Any) -> list[Any]:
    leaves, form = tree.flatten(model)
    return [leaf for leaf, trained in zip(leaves, are_trained(form)) if not trained]


def with_statistics(model: Any, statistics: list[Any]) -> Any:
    """The model with other statistics, in the order of `statistics_of`."""
    leaves, form = tree.flatten(model)
    others = iter(statistics)
    return tree.unflatten(
        form, [leaf if trained else next(others) for leaf, trained in zip(leaves, are_trained(form))]
    )
