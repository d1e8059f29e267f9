"""Merge trees and smaller vocabularies, derived from boundaries alone as the browser does it."""

from __future__ import annotations

from dataclasses import dataclass

from bpeviz.core.boundaries import NEVER, MergeBoundaries


@dataclass(frozen=True)
class Node:
    """A node of a merge tree: atoms `start` to `end`, joined by merge `step`.

    A single atom has `step` -1 and no parents.
    """

    start: int
    end: int
    step: int
    parents: tuple[Node, Node] | None = None


def merge_tree(boundaries: MergeBoundaries, start: int, end: int) -> Node:
    """Return the merge tree of the token that spans atoms `start` to `end`.

    It is the Cartesian tree of the boundaries within the token: the one merged last divides it
    into its two parents. Without recursion, since a tree may be as deep as its token is long.
    """
    times = boundaries.merged_at[start : end - 1].tolist()
    assert NEVER not in times, f"Atoms {start} to {end} are never one token."
    # A stack of subtrees, each with the merge of the boundary at its right. A boundary with a
    # later merge completes the subtrees before it.
    stack: list[tuple[Node, int]] = []
    for position, time in enumerate([*times, NEVER], start):
        node = Node(position, position + 1, -1)
        while stack and stack[-1][1] < time:
            left, joined_at = stack.pop()
            node = Node(left.start, node.end, joined_at, (left, node))
        stack.append((node, time))
    return stack[0][0]
