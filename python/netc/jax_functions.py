# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Recognizes functions of JAX that became several ops of StableHLO."""

import math

import numpy

from .stablehlo import constant


class Functions:
    """What finds functions in the ops of a program, `self.first`. `self.fused` has name, operands and arguments of each at its
    last op."""

    def find_functions(self):
        for i, (op, operands, _, _) in enumerate(self.first.ops):
            found = None
            if op.name == "stablehlo.divide":
                found = self.softmax(*operands) or self.logistic(*operands) or self.average(*operands)
            elif op.name == "stablehlo.multiply":
                found = next((made for pair in (operands, operands[::-1]) for way in (self.silu, self.gelu, self.gelu_tanh) if (made := way(*pair))), None)
            if found:
                self.fused[i] = found

    def is_along(self, value, reduction):
        """Whether each element is beside those that a reduction made one of: it is repeated along the axes that are gone."""
        gone, sizes, found = reduction[0].numbers("dimensions"), self.first.shapes[reduction[1][0]], self.axes_of(value, reduction)
        return found is not None and all(axis == i or axis is None and (i in gone or sizes[i] == 1) for i, axis in enumerate(found))

    def axes_of(self, value, reduction):
        """Which axes of the operand of a reduction those of a value are, None of others; None if the value is of another."""
        i, sizes = self.makers.get(value), self.first.shapes[value]
        op, operands, _, _ = self.first.ops[i] if i is not None else (None, [], [], "")
        if i is not None and self.first.ops[i] is reduction:
            return [axis for axis in range(len(self.first.shapes[operands[0]])) if axis not in op.numbers("dimensions")]
        for each in operands if op and op.name in ("stablehlo.broadcast_in_dim", "stablehlo.convert", "stablehlo.maximum", "stablehlo.reshape") else ():
            axes, old = self.axes_of(each, reduction), self.first.shapes[each]
            if axes is None:
                continue
            places = list(range(len(old)))
            if op.name == "stablehlo.broadcast_in_dim":
                places = op.numbers("broadcast_dimensions")
            elif op.name == "stablehlo.reshape":  # axes of size 1 come and go
                rest = iter([place for place, size in enumerate(sizes) if size != 1])
                places = [None if size == 1 else next(rest, None) for size in old]
                if [sizes[place] for place in places if place is not None] != [size for size in old if size != 1]:
                    return None
            return [axes[places.index(at)] if at in places else None for at in range(len(sizes))]
        return None

    def softmax(self, power, divisor):
        """Recognizes exp(x - max x) / sum exp(x - max x)."""
        power, total = self.maker(power, "stablehlo.exponential"), self.maker(divisor, "stablehlo.reduce.add")
        difference = self.maker(power[1][0], "stablehlo.subtract") if power else None
        if not difference or not total or self.maker(total[1][0], "stablehlo.exponential") is not power:
            return None
        largest = self.maker(difference[1][1], "stablehlo.reduce.maximum", "stablehlo.maximum")
        if largest and largest[0].name == "stablehlo.maximum":
            largest = next((made for each in largest[1] if (made := self.maker(each, "stablehlo.reduce.maximum"))), None)
        axes = total[0].numbers("dimensions")
        if not largest or largest[1][0] != difference[1][0] or largest[0].numbers("dimensions") != axes or len(axes) != 1:
            return None
        if not self.is_along(difference[1][1], largest) or not self.is_along(divisor, total):
            return None
        return "jax.nn.softmax", [difference[1][0]], {"dim": axes[0]}

    def logistic(self, one, total):
        """Recognizes 1 / (1 + exp(-x))."""
        total = self.maker(total, "stablehlo.add")
        power = next((made for each in total[1] if (made := self.maker(each, "stablehlo.exponential"))), None) if total else None
        negated = self.maker(power[1][0], "stablehlo.negate") if power else None
        ones = [one, *(each for each in total[1] if not self.maker(each, "stablehlo.exponential"))] if negated else []
        return ("stablehlo.logistic", negated[1], {}) if len(ones) == 2 and all(self.holds(each, 1) for each in ones) else None

    def silu(self, x, sigmoid):
        i = self.makers.get(sigmoid)
        return ("jax.nn.silu", [x], {}) if i in self.fused and self.fused[i][:2] == ("stablehlo.logistic", [x]) else None

    def scaled(self, value, number):
        """The other factor of a product with this number, or None."""
        made = self.maker(value, "stablehlo.multiply")
        pairs = (made[1], made[1][::-1]) if made else ()
        return next((x for x, factor in pairs if self.holds(factor, number)), None)

    def gelu(self, half, rest):
        """Recognizes x / 2 * erfc(-x / sqrt 2)."""
        x, rest = self.scaled(half, 0.5), self.maker(rest, "chlo.erfc")
        negated = self.scaled(rest[1][0], math.sqrt(0.5)) if rest else None
        negated = self.maker(negated, "stablehlo.negate") if negated is not None else None
        return ("jax.nn.gelu", [x], {"approximate": "none"}) if negated and negated[1] == [x] else None

    def gelu_tanh(self, x, rest):
        """Recognizes x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2."""
        rest = self.scaled(rest, 0.5)
        rest = self.maker(rest, "stablehlo.add") if rest is not None else None
        turned = next((made for each in rest[1] if (made := self.maker(each, "stablehlo.tanh"))), None) if rest else None
        inner = self.scaled(turned[1][0], math.sqrt(2 / math.pi)) if turned else None
        inner = self.maker(inner, "stablehlo.add") if inner is not None else None
        is_cubic = inner and x in inner[1] and any(self.scaled(each, 0.044715) is not None for each in inner[1])
        return ("jax.nn.gelu", [x], {"approximate": "tanh"}) if is_cubic else None

    def average(self, total, count):
        """Recognizes the sum in a window, divided by the size of the window."""
        total = self.maker(total, "stablehlo.reduce_window.add")
        if total and self.holds(count, math.prod(total[0].numbers("window_dimensions"))):
            return "flax.linen.avg_pool", total[1], {"window": total[0]}
        return None

    def holds(self, value, number):
        """Whether a constant has this number in all elements, to the precision of 32 bits."""
        made = self.maker(value, "stablehlo.constant")
        return bool(made) and numpy.allclose(constant(made[0], made[0].types[0][0], "f8"), number, rtol=1e-6, atol=0)
