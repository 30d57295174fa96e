# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Finds sizes as polynomials in free axes, by computing with several numbers."""

import itertools
import re

NAMES = "NTSUVPQR"  # of free axes
SIZES = (7, 11, 13, 17, 19, 23, 29, 31)  # two for each: primes, of which no product is mistaken for another
SMALL_SIZES = (2, 7, 3, 5, 11, 13, 17, 19)  # for models that take no longer axes


def polynomial(numbers, names, sizes=SIZES):
    """The polynomial through one number per sample, as text or an integer; None if there is none. It is a sum of
    products of distinct free axes, of which the samples have two of `sizes` each."""
    terms = {}
    points = list(itertools.product((0, 1), repeat=len(names)))
    values = dict(zip(points, (int(n) for n in numbers)))
    for i in range(len(names)):
        low, high = sizes[2 * i], sizes[2 * i + 1]
        for point in points:
            if point[i] == 0:
                above = point[:i] + (1,) + point[i + 1 :]
                slope, rest = divmod(values[above] - values[point], high - low)
                if rest:
                    return None
                values[point], values[above] = values[point] - slope * low, slope
    for point, factor in values.items():
        if factor:
            terms["*".join(name for name, up in zip(names, point) if up)] = factor
    text = " + ".join((f"{factor}*{product}" if factor != 1 else product) if product else str(factor) for product, factor in sorted(terms.items(), reverse=True))
    return int(text) if re.fullmatch(r"-?\d+", text) else text.replace("+ -", "- ") or 0


def plus(size, number):
    """A size and a number."""
    return size + number if isinstance(size, int) else f"{size} {'-' if number < 0 else '+'} {abs(number)}"
