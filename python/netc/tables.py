# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Reports as tables."""

import dataclasses
import html
import types
import typing


def from_json(kind, value):
    """Converts a value of JSON to its dataclass. Members that a newer netc added are left out."""
    if value is None:
        return None
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        chosen = [k for k in typing.get_args(kind) if dataclasses.is_dataclass(k) or typing.get_origin(k)]
        return from_json(chosen[0], value) if chosen and isinstance(value, (dict, list)) else value
    if typing.get_origin(kind) is list:
        return [from_json(typing.get_args(kind)[0], each) for each in value]
    if typing.get_origin(kind) is dict:
        return {key: from_json(typing.get_args(kind)[1], each) for key, each in value.items()}
    if not dataclasses.is_dataclass(kind):
        return value
    hints = typing.get_type_hints(kind)
    return kind(**{name: from_json(hints[name], value[name]) for name in hints if name in value})


class Tables:
    """Shows tables, each of which has a heading, at a prompt and in a notebook."""

    def __repr__(self):
        text = []
        for rows in self._cells():
            widths = [max(map(len, column)) for column in zip(*rows)]
            text += [f"{row[0]:<{widths[0]}}" + "".join(f"  {cell:>{width}}" for cell, width in zip(row[1:], widths[1:])) for row in rows] + [""]
        return "\n".join(text[:-1])

    def _repr_html_(self):
        return "".join(_table(*rows) for rows in self._cells())

    def _cells(self):
        """The tables of _summary as texts."""
        return [[[_shown(cell) for cell in row] for row in rows] for rows in self._summary()]


class ReportTables(Tables):
    """The methods of a `Report`."""

    def to_pandas(self):
        """A table with a row for each layer of each network. Equal layers share a row, which has the figures of one; `count` is how many they are."""
        import pandas

        columns = ["network", "layer", "count", "op", "parameters", "forward", "backward", "forward_other", "backward_other", "bytes_read", "bytes_written"]
        rows = [
            (network.name, layer.names[0] if layer.names else "", len(layer.names), layer.op, layer.parameters, layer.forward.matmul,
             layer.backward.matmul, layer.forward.other, layer.backward.other, layer.bytes_read, layer.bytes_written)
            for network in self.networks for layer in network.layers
        ]  # fmt: skip
        return pandas.DataFrame(rows, columns=columns)

    def _summary(self):
        """Tables with a row for each network, each run and each point of a sweep."""
        tables = [[("network", "parameters", "matmul FLOP of an example, forward", "backward")]]
        tables[0] += [(n.name, n.parameters.total, n.forward.matmul, n.backward.matmul) for n in self.networks]
        if self.runs:
            tables.append([("run", "steps", "matmul FLOP of all steps", "bytes on a device")])
        for run in self.runs:
            points = [(", ".join(f"{key} = {value}" for key, value in point.values.items()), point) for point in run.sweep or ()]
            for name, r in [(run.name, run), *points]:
                flop, memory = r.operations and r.operations.model.matmul, r.memory_per_device and r.memory_per_device.total
                tables[1].append((name, r.steps, flop, memory))
        return tables


class MeasurementTables(Tables):
    """The methods of a `Measurement`."""

    def to_pandas(self):
        """A table with a row for each part of each measured step. The part without a path is the whole network."""
        import pandas

        rows = []
        for run, batch in self._batches():
            for part in batch.parts:
                rows.append({
                    "run": run.name,
                    **(run.values or {}),
                    "batch": batch.batch,
                    "part": part.path,
                    "matmul": part.matmul,
                    "other": part.other,
                    "bytes": part.bytes,
                    **{f"{phase}_seconds": getattr(part.seconds, phase) for phase in ("forward", "backward", "update")},
                    "seconds": part.seconds.total,
                    "flops": part.flops,
                    "bound": part.bound,
                    "of_roof": part.of_roof,
                })  # fmt: skip
        return pandas.DataFrame(rows)

    def _batches(self):
        return [(run, batch) for run in self.runs for batch in run.batches]

    def _summary(self):
        """A table with a row for each measured step, and one for those that lack memory."""
        point = lambda run: ", ".join([run.name, *(f"{key} = {value}" for key, value in (run.values or {}).items())])
        share = lambda rate: rate and rate.of_measured
        tables = [[("run", "batch", "seconds of a step", "examples per second", "model FLOP of the measured peak")]]
        tables[0] += [(point(run), batch.batch, batch.step.median, batch.examples_per_second, share(batch.model)) for run, batch in self._batches()]
        if self.misfits:
            tables.append([("lacks memory", "batch", "bytes needed", "available")])
            tables[1] += [(point(each), each.batch, each.needed, each.available) for each in self.misfits]
        return tables


def _shown(value):
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}" if isinstance(value, float) else "" if value is None else str(value)


def _table(head, *body):
    text = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
    lines = "".join("<tr>" + "".join(f"<td style='text-align:right'>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in body)
    return f"<table><thead><tr>{text}</tr></thead><tbody>{lines}</tbody></table>"
