# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Recognizes tensors that depend on sizes alone by their values."""

import itertools
import math

import numpy


MOST_VALUES = 1024  # the largest table of whole numbers whose values are written
MOST_NUMBERS = 64  # the same of others


def number_of(value):
    """A number for JSON: the shortest decimal that has the same value in 32 bits. Infinities and NaN are texts."""
    if isinstance(value, numpy.generic):
        value = float(str(value)) if isinstance(value, (numpy.float32, numpy.float16)) else value.item()
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def read_number(value):
    """The number that `number_of` wrote."""
    return float(value) if isinstance(value, str) else value


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


def _table(value, fixed, is_real):
    """The description of other values: which they are, if they are few, and which positions infinities among them hide."""
    found = {"what": "table"}
    if (numbers := _listed(value, fixed)) is not None:
        found["values"] = numbers
    if is_real and value.ndim >= 2 and value.shape[-1] == value.shape[-2] > 1 and (hidden := _seen(value > -1e30)):
        found["hides"] = hidden
    return found


def _theta(rows, what, precision):
    """The base of the wavelengths of a table of positions: of the numbers that its precision allows, one of few digits; None if the
    table does not tell. And whether some wavelengths are scaled: then the base is that of the first ones, if several agree."""
    rows = rows[1:7].astype("f8")  # no more, so that the size of a table does not matter
    half = rows.shape[1]
    inverse = numpy.arccos if what == "cosine" else numpy.arcsin
    ends = numpy.sort([inverse(numpy.clip(rows * (1 + sign * precision), -1, 1)) for sign in (-1, 1)], axis=0)
    places = numpy.arange(1, len(rows) + 1)[:, None]
    turn = math.pi if what == "cosine" else math.pi / 2  # beyond it, the inverse is of another one
    fits = (places * ends[1][0] < turn) & (ends[0] > 1e-4)
    low, high = (end / places * (1 + sign * 2**-21) for end, sign in zip(ends, (-1, 1)))  # computed in 32 bits
    if not low[0, 0] <= 1 <= high[0, 0]:  # a wavelength that is the same for every base
        return None, True
    columns = numpy.flatnonzero(fits[:, 1:].any(0)) + 1
    if not columns.size:
        return None, False
    with numpy.errstate(all="ignore"):  # where it does not fit
        bases = [angle[:, columns] ** (-half / columns) for angle in (high, low)]
    least = numpy.maximum.accumulate(numpy.where(fits[:, columns], bases[0], 0).max(0))
    most = numpy.minimum.accumulate(numpy.where(fits[:, columns], bases[1], numpy.inf).min(0))
    agreeing = (least <= most).sum()
    if agreeing < min(2, columns.size):
        return None, True
    low, high = least[agreeing - 1], most[agreeing - 1]
    middle = math.sqrt(low * high)
    fewest = (float(f"{middle:.{digits}e}") for digits in range(16))
    number = next((number for number in fewest if low <= number <= high), middle)
    return int(number) if number == int(number) else number, bool(agreeing < columns.size)


def _sinusoid(rows, precision):
    """The base of the wavelengths of a table that alternates sines and cosines of positions, as settings; None if it is another."""
    theta, _ = _theta(rows[:, ::2], "sine", precision) if not rows[0, ::2].any() else (None, True)
    angles = numpy.arange(len(rows))[:, None] * (theta or 1e4) ** (-numpy.arange(0, rows.shape[1], 2) / rows.shape[1])
    is_it = numpy.allclose(rows[:, ::2], numpy.sin(angles), atol=1e-3) and numpy.allclose(rows[:, 1::2], numpy.cos(angles), atol=1e-3)
    return {"theta": theta} if is_it and theta not in (None, 1e4) else {} if is_it else None


def are_frequencies(values):
    """Whether an array has the frequencies of positions, 1, 1/t, 1/t^2, .., or their sines and cosines at 0, 1, 2, .."""
    values = numpy.squeeze(values).astype(numpy.float64)
    if values.ndim == 1 and values.size > 2:
        return values[0] == 1 and 0 < values[1] < 1 and numpy.allclose(values[1:] / values[:-1], values[1], rtol=1e-4)
    if values.ndim != 2 or len(values) < 4 or values.shape[1] < 2 or not numpy.isin(values[0], (0, 1)).all():
        return False
    # Of sines and of cosines of x, those before and behind are in sum 2 cos(x) times those between.
    sums, between = values[2:] + values[:-2], values[1:-1]
    factors = (sums * between).sum(0) / numpy.maximum((between**2).sum(0), 1e-12)
    return abs(factors[0] - 2 * math.cos(1)) < 1e-3 and numpy.allclose(sums, factors * between, atol=1e-3)


def fixed_axes(shapes):
    """How many of the last axes have one size in all shapes."""
    return sum(1 for _ in itertools.takewhile(lambda sizes: len(set(sizes)) == 1, zip(*(reversed(shape) for shape in shapes))))


def same_size(arrays, size):
    """The description of a number that is a product of free axes, the same in all elements; None if it is none. `size`: gives a
    polynomial through numbers. One of several terms proves nothing: it fits others, too."""
    numbers = [array.reshape(-1)[0].item() if array.size and (array == array.reshape(-1)[0]).all() else None for array in arrays]
    if any(number is None or isinstance(number, bool) or not math.isfinite(number) or number != int(number) for number in numbers) or len(set(numbers)) == 1:
        return None
    found = size([int(number) for number in numbers])
    return {"what": "size", "size": found} if isinstance(found, str) and " " not in found else None


def _steps(value):
    """What begins an axis of evenly spaced numbers, and the step between them, the same along the axes before it; else None."""
    row = value.reshape(-1, value.shape[-1])[0].astype("f8")
    if len(row) < 3 or not (value == value.reshape(-1, len(row))[0]).all() or not numpy.isfinite(row).all():
        return None
    start, step = row[0], (row[-1] - row[0]) / (len(row) - 1)
    nearest = [number_of(value.dtype.type(number)) for number in (start, (value.dtype.type(row[1]) - value.dtype.type(row[0])))]
    off = lambda start, step: numpy.abs(start + step * numpy.arange(len(row)) - row).max()
    allowed = 2 * numpy.finfo(value.dtype).eps * numpy.abs(row).max()
    return next(({"start": a, "step": b} for a, b in (nearest, (start, step)) if b and off(a, b) <= allowed), None)


def _listed(value, fixed):
    """The numbers of an array, or those of its last axes, if they are the same at all places of the first ones; None if they are
    too many. Those of conditions are 0 and 1. `fixed`: how many of the last axes have a fixed size."""
    most = MOST_VALUES if numpy.issubdtype(value.dtype, numpy.integer) else MOST_NUMBERS
    while value.ndim and value.size and (value.ndim > fixed or value.size > most) and (value == value[:1]).all():
        value = value[0]
    return [int(number) if value.dtype == bool else number_of(number) for number in value.flatten()] if 0 < value.ndim <= fixed and value.size <= most else None


def known(value, fixed=0, precision=None):
    """The description of a numpy array, an entry of `known` in docs/graph.schema.json. `fixed`: how many of its last axes have a
    fixed size; `precision`: of its numbers, if they were rounded to another type."""
    if numpy.iscomplexobj(value):
        return {"what": "table"}
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
        if value.dtype == bool:
            for what, ones in ("identity", value), ("not identity", ~value):
                if (ones == numpy.eye(value.shape[-1], dtype=bool)).all():
                    return {"what": what}
        if value.dtype == bool or ((value == 0) | ~shown).all():
            if seen := _seen(shown):
                return seen
            if value.dtype == bool and (hidden := _seen(~value)):
                return {**hidden, "what": f"not {hidden['what']}"}
    if is_real and value.size and value.ndim >= 2 and value.shape[-1] % 2 == 0 and value.shape[-2] > 1:
        precision = max(precision or 0, numpy.finfo(value.dtype).eps, 2**-23)
        rows = value.reshape(-1, *value.shape[-2:])[0]
        half = value.shape[-1] // 2
        if (value == rows).all() and (rows[:, :half] == rows[:, half:]).all():
            for what, first in ("cosine", 1.0), ("sine", 0.0):
                if (rows[0] == first).all():
                    theta, is_scaled = _theta(rows[:, :half], what, precision)
                    return {"what": what, **({"theta": theta} if theta else {}), **({"scaled": True} if is_scaled else {})}
        if (value == rows).all() and (sinusoid := _sinusoid(rows, precision)) is not None:
            return {"what": "table", "init": "sinusoid", **sinusoid}
    if value.ndim == 2 and is_real and (value == numpy.eye(*value.shape)).all():
        return {"what": "table", "init": "identity"}
    found = _table(value, fixed, is_real)
    steps = _steps(value) if found.keys() == {"what"} and is_real and value.ndim and value.size else None
    return {"what": "range", **steps} if steps else found
