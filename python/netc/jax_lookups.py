# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Ops of StableHLO that read or replace elements by their places."""

import math

import numpy

from .known import known

# Ops that convert integers to indices, without changing the tensor from which the integers come.
OF_INDICES = {"add", "and", "broadcast_in_dim", "clamp", "compare", "concatenate", "convert", "reshape", "select", "subtract"}


class Lookups:
    """What translates such ops of a program, `self.first`."""

    def on_gather(self, op, operands, result):
        table, index = operands
        if op.numbers("slice_sizes") == list(self.first.shapes[table]) and math.prod(self.first.shapes[result]) == math.prod(self.first.shapes[table]):
            return self.add("stablehlo.reshape", [table], result)  # the only place of an axis
        if set(op.numbers("slice_sizes")) == {1}:
            return self.elements(op, table, index, result)
        width = self.first.shapes[table][-1] if len(self.first.shapes[table]) == 2 else 0
        rank = len(self.first.shapes[result])
        is_rows = op.numbers("slice_sizes") == [1, width] and op.numbers("offset_dims") == [rank - 1] and op.numbers("start_index_map") == [0]
        if index in self.values and len(self.users[index]) == 1 and self.first.shapes[index][-1:] == [1]:
            for sample in self.samples:
                sample.shapes[index] = sample.shapes[index][:-1]
            self.values[index] = [array[..., 0] for array in self.values[index]]
        found = {index} if index in self.values else self.sources(index)
        if not is_rows or len(found) != 1 or math.prod(self.first.shapes[result][:-1]) != self.count(*found):
            return self.listed(op, table, index, result)
        (numbers,) = found
        if index not in self.values:
            self.check(index, numbers, self.first.shapes[table][0])
        if self.shape(numbers) != self.shape(result)[:-1]:
            flat = {**self.tensor(numbers), "name": f"{self.tensor(result)['name']}.numbers", "shape": self.shape(result)[:-1]}
            numbers = self.add("stablehlo.reshape", [numbers], flat)
        return self.add(op.name if table in self.weights or table in self.values else "aten.index", [table, numbers], result)

    def listed(self, op, x, index, result):
        """Writes a gather of places of an axis that are listed, such as the nearest pixels of a larger image."""
        axes, shape = op.numbers("start_index_map"), self.first.shapes[x]
        rest = [axis for axis in range(len(shape)) if axis not in axes]
        parts = [1 if axis in axes else size for axis, size in enumerate(shape)]
        places = self.values[index][0] if index in self.values else None
        is_whole = op.numbers("collapsed_slice_dims") == axes and op.numbers("slice_sizes") == parts
        if places is not None and places.ndim == 2 and is_whole and len(axes) > 1 and axes == list(range(axes[0], axes[0] + len(axes))):
            return self.joined(op, x, index, result)
        if places is None or places.ndim != 1 or not is_whole or len(axes) != 1 or op.numbers("offset_dims") != rest:
            return self.add(f"{op.name} of another kind", [x, index], result)
        times = len(places) // shape[axes[0]]
        if times and numpy.array_equal(places, numpy.repeat(numpy.arange(shape[axes[0]]), times)):
            return self.add("aten.repeat_interleave", [x], result, repeats=times, dim=axes[0])
        return self.add("aten.index_select", [x, index], result, dim=axes[0])

    def joined(self, op, x, index, result):
        """Writes a gather of places of several axes in a row, such as a diagonal, as one of places of their product."""
        axes, shape, places = op.numbers("start_index_map"), self.shape(x), self.values[index]
        sizes, first, end = shape[axes[0] : axes[-1] + 1], axes[0], axes[-1] + 1
        made = [axis for axis in range(len(shape) - len(axes) + 1) if axis != first]
        if op.numbers("offset_dims") != made or any(isinstance(size, str) for size in sizes) or any(not numpy.array_equal(each, places[0]) for each in places):
            return self.add(f"{op.name} of another kind", [x, index], result)
        label = self.tensor(result)["name"]
        flat = self.add("stablehlo.reshape", [x], {**self.tensor(x), "name": f"{label}.flat", "shape": [*shape[:first], math.prod(sizes), *shape[end:]]})
        numbers = numpy.ravel_multi_index(tuple(places[0].T), sizes, mode="clip")
        return self.add("aten.index_select", [flat, self.held(numbers, f"{label}.places")], result, dim=first)

    def held(self, array, label):
        """The name of whole numbers that the program does not have, the same for all sizes."""
        self.known[label] = {"name": label, "type": "i64", "shape": list(array.shape), **known(array, array.ndim)}
        return label

    def starts(self, values):
        """Where a part of each axis starts, if it is the same for all sizes; else None."""
        numbers = [self.number(value) for value in values]
        return None if None in numbers else [int(number) for number in numbers]

    def part(self, x, starts, sizes, out):
        """Writes a part of x. `out` is a value, or a tensor that the function does not have."""
        shape, like = self.shape(x), self.tensor(x)
        label = (out if isinstance(out, dict) else self.tensor(out))["name"]
        cut = [axis for axis, size in enumerate(sizes) if shape[axis] != size]
        for axis in cut:
            shape[axis] = sizes[axis]
            made = out if axis == cut[-1] else {**like, "name": f"{label}.{axis}", "shape": list(shape)}
            x = self.add("stablehlo.slice", [x], made, dim=axis, start=starts[axis], end=starts[axis] + sizes[axis], step=1)
        return x if cut else self.add("stablehlo.reshape", [x], out)

    def replaced(self, op, operands, starts, sizes, result, how=None):
        """Writes x with a part of one axis replaced. `how`: by what op the part is made of the old one and `part`, if not by
        this alone."""
        (x, part), shape, label = operands, self.shape(operands[0]), self.tensor(result)["name"]
        cut = [axis for axis, size in enumerate(sizes) if shape[axis] != size]
        if starts is None or len(cut) > 1 or any(isinstance(sizes[axis], str) for axis in cut):
            return self.add(f"{op.name} of another kind", operands, result)
        made = {**self.tensor(x), "shape": sizes}
        if self.shape(part) != sizes:
            part = self.add("stablehlo.reshape", [part], {**made, "name": f"{label}.part"})
        if how:
            old = self.part(x, starts, sizes, {**made, "name": f"{label}.old"})
            part = self.add(how, [old, part], {**made, "name": f"{label}.new"} if cut else result)
        elif not cut:
            return self.add("stablehlo.reshape", [part], result)
        (axis,) = cut or (None,)
        return part if axis is None else self.add("aten.slice_scatter", [x, part], result, dim=axis, start=starts[axis], end=starts[axis] + sizes[axis], step=1)

    def on_dynamic_slice(self, op, operands, result):
        x, *places = operands
        starts, sizes = self.starts(places), self.shape(result)
        if starts is None:
            return self.add(f"{op.name} of another kind", operands, result)
        return self.part(x, self.within(x, starts, sizes), sizes, result)

    def on_dynamic_update_slice(self, op, operands, result):
        x, part, *places = operands
        starts, sizes = self.starts(places), self.shape(part)
        return self.replaced(op, [x, part], starts and self.within(x, starts, sizes), sizes, result)

    def within(self, x, starts, sizes):
        """The starts of a part that is moved into x, if it is partly outside."""
        return [min(max(start, 0), old - size) if isinstance(old, int) else start for start, old, size in zip(starts, self.shape(x), sizes)]

    def on_scatter(self, op, operands, result):
        x, index, part = operands
        (names, body), shape = op.bodies[0], self.shape(x)
        hows = [each.name for each in body if each.name != "stablehlo.return"]
        is_plain = len(hows) <= 1 and (hows or body[-1].operands == [names[1][0]])
        axes, inserted = op.numbers("scatter_dims_to_operand_dims"), op.numbers("inserted_window_dims")
        if not is_plain or op.numbers("input_batching_dims"):
            return self.add(f"{op.name} of another kind", operands, result)
        if index in self.values and len(self.first.shapes[index]) == 1 and len(self.first.shapes[part]) == len(shape) - len(inserted):
            starts, found = [0] * len(shape), self.values[index]
            for axis, number in zip(axes, found[0]):
                starts[axis] = int(number)
            window = iter(self.shape(part))
            sizes = [1 if axis in inserted else next(window) for axis in range(len(shape))]
            are_inside = all(not isinstance(shape[axis], int) or 0 <= starts[axis] <= shape[axis] - sizes[axis] for axis in axes)
            is_one = all(numpy.array_equal(each, found[0]) for each in found) and are_inside
            return self.replaced(op, [x, part], starts if is_one else None, sizes, result, *hows)
        places, rows = self.sources(index), list(range(1, len(shape)))
        is_rows = axes == inserted == [0] and op.numbers("update_window_dims") == rows and len(self.first.shapes[index]) == 2
        if hows != ["stablehlo.add"] or not is_rows or len(places) != 1 or self.count(*places) != self.first.shapes[index][0]:
            return self.add(f"{op.name} of another kind", operands, result)
        (place,) = places
        self.check(index, place, self.first.shapes[x][0])
        numbers = self.operand(place)
        if len(self.first.shapes[place]) != 1:
            numbers = self.add("stablehlo.reshape", [numbers], {**self.tensor(place), "name": f"{self.tensor(result)['name']}.rows", "shape": self.shape(index)[:1]})
        return self.add("aten.index_add", [x, numbers, part], result, dim=0)

    def count(self, value):
        return math.prod(self.first.shapes[value])

    def check(self, index, place, size):
        """Notes if an index is no number of `place`, of which there are `size`, but one that is computed of it."""
        held, numbers = dict(self.values), []
        for sample in self.samples:
            shape = sample.shapes[place]
            numbers.append((numpy.arange(math.prod(shape)) % size).reshape(shape))
        self.values[place] = numbers
        self.compute(index)
        found = self.values.get(index)
        if found is None or any(not numpy.array_equal(each.reshape(-1), own.reshape(-1)) for each, own in zip(found, numbers)):
            self.notes.append("Tables are read at other places than the model computes or lists; no count depends on these.")
        self.values = held

    def compute(self, value):
        """Evaluates what a value is computed of, as far as it is known."""
        i = self.makers.get(value)
        if value in self.values or i is None:
            return
        group = [sample.ops[i] for sample in self.samples]
        op, operands, _, _ = group[0]
        for each in operands:
            self.compute(each)
        if all(each in self.values for each in operands) and op.name.split(".")[-1] in OF_INDICES:
            self.evaluate(group, operands, value)

    def elements(self, op, x, index, result):
        """Writes a gather of one element, or several, of each row of the last axis, such as the scores of the right classes."""
        rank = len(self.first.shapes[x])
        rows = list(range(rank - 1))
        parts = self.maker(index, "stablehlo.concatenate")
        if parts and op.numbers("start_index_map") == [*rows, rank - 1] and not op.numbers("operand_batching_dims"):
            *own, index = parts[1]
            is_own = len(own) == rank - 1 and all(self.counts(value, axis) for axis, value in enumerate(own))
        else:
            is_own = op.numbers("operand_batching_dims") == rows and op.numbers("start_index_map") == [rank - 1]
        found = self.sources(index)
        shape, made = self.shape(x), self.shape(result)
        numbers = math.prod(self.first.shapes[result]) // math.prod(self.first.shapes[x][:-1])
        if not is_own or len(found) != 1 or made[: rank - 1] != shape[:-1] or math.prod(self.first.shapes[result]) != math.prod(self.first.shapes[min(found)]):
            return self.add(f"{op.name} of another kind", [x, index], result)
        self.check(index, min(found), self.first.shapes[x][-1])
        (index,), shape = found, [*shape[:-1], numbers]
        places = self.operand(index)
        if self.shape(index) != shape:
            places = self.add("stablehlo.reshape", [places], {**self.tensor(index), "name": f"{self.tensor(result)['name']}.places", "shape": shape})
        if made == shape:
            return self.add("aten.gather", [x, places], result, dim=rank - 1)
        taken = self.add("aten.gather", [x, places], {**self.tensor(result), "name": f"{self.tensor(result)['name']}.taken", "shape": shape}, dim=rank - 1)
        return self.add("stablehlo.reshape", [taken], result)

    def counts(self, value, axis):
        """Whether a value has 0, 1, 2, .. along an axis."""
        arrays = self.values.get(self.real(value), [])
        return len(arrays) > 0 and all(array.ndim > axis and (array == numpy.indices(array.shape)[axis]).all() for array in arrays)

    def sources(self, value):
        """The integers from which an index is computed, without the ops that keep it in range; else the index itself."""
        found = self.traced(value)
        found = {each for each in found if each not in self.values} or found
        return found if all(self.is_integer(each) for each in found) else {self.real(value)}

    def traced(self, value):
        value = self.real(value)
        value = self.spread[value][0] if value in self.spread else value
        i = self.makers.get(value)
        if i is None or value in self.values or self.first.ops[i][0].name.split(".")[-1] not in OF_INDICES:
            return {value}
        return set().union(*(self.traced(each) for each in self.first.ops[i][1]))

    def is_integer(self, value):
        return self.first.kinds[value].lstrip("u").startswith("i") and self.first.kinds[value] != "i1"

    def asks_integers(self, condition):
        """Whether it is a condition of integers alone, as that an index is in range."""
        i = self.makers.get(self.real(condition))
        if self.first.kinds[condition] != "i1":
            return self.is_integer(condition)
        return condition in self.values or i is not None and all(self.asks_integers(each) for each in self.first.ops[i][1])
