# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Recognizes tensors that depend on sizes alone by their values."""

import math

import numpy


MOST_VALUES = 1024  # the largest table whose values are written


def number_of(value):
    """A number for JSON: the shortest decimal that has the same value in 32 bits. Infinities and NaN are texts."""
    if isinstance(value, numpy.generic):
        value = float(str(value)) if isinstance(value, (numpy.float32, numpy.float16)) else value.item()
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _seen(shown):
    """The name of a mask of positions, or None. All examples and heads must have the same mask."""
    first = shown.reshape(-1, *shown.shape[-2:])[0]
    below = numpy.tril(numpy.ones_like(first))
    if not (shown == first).all():
        return None
    if (first == below).all():
        return {"what": "causal"}
    width = int(first[-1].sum())
    return {"what": "band", "width": width} if (first == (below & ~numpy.tril(below, -width))).all() else None


def known(value, is_fixed=False):
    """The description of a numpy array, an entry of `known` in docs/graph.schema.json. `is_fixed`: no size of it is free."""
    is_real = numpy.issubdtype(value.dtype, numpy.floating)
    flat = value.reshape(-1)
    if flat.size and (flat == flat[0]).all():
        number = flat[0].item()
        return {"what": "number", "value": number_of(number if not abs(number) >= 1e30 else math.copysign(math.inf, number))}
    if value.ndim and not is_real and value.dtype != bool:
        along = value if flat.size > max(value.shape) else flat  # of one axis that is not the last
        row = numpy.arange(along.shape[-1], dtype=value.dtype)
        if flat.size and (along == row + flat[0]).all():
            return {"what": "range", "start": flat[0].item()}
    if value.ndim >= 2 and value.shape[-1] == value.shape[-2] > 1:
        shown = value if value.dtype == bool else value > -1e30
        if value.dtype == bool or ((value == 0) | ~shown).all():
            if seen := _seen(shown):
                return seen
            if value.dtype == bool and (hidden := _seen(~value)):
                return {**hidden, "what": f"not {hidden['what']}"}
    if is_real and value.size and value.ndim >= 2 and value.shape[-1] % 2 == 0 and value.shape[-2] > 1:
        rows = value.reshape(-1, *value.shape[-2:])[0]
        half = value.shape[-1] // 2
        if (value == rows).all() and (rows[:, :half] == rows[:, half:]).all():
            for what, first, inverse in ("cosine", 1.0, numpy.arccos), ("sine", 0.0, numpy.arcsin):
                if (rows[0] == first).all():
                    angle = float(inverse(float(rows[1, 1]))) if half > 1 else 1.0
                    return {"what": what, "theta": round(angle**-half)}
    is_short = is_fixed and not is_real and value.dtype != bool and value.size <= MOST_VALUES
    return {"what": "table", "values": value.flatten().tolist()} if is_short else {"what": "table"}
