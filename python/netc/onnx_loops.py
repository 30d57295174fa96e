# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Loops of ONNX, as PyTorch's `scan`."""

from .handlers import Handlers

OPS = Handlers()


@OPS.of("Scan")
def scan(file, graph, node, attributes):
    body, inner = file.bodies[node.output[0]]
    inputs = [file.tensor(each.name) for each in body.input]
    graph.made.update(each["name"] for each in inputs)
    outside, graph.out = graph.out, []
    graph.translate_all(inner)
    made, graph.out = graph.out, outside
    outputs = [graph.operand(each.name) for each in body.output]
    graph.add(node, "higher_order.scan", list(node.input), list(node.output), carried=len(node.input) - attributes["num_scan_inputs"])
    graph.out[-1]["body"] = {"inputs": inputs, "nodes": made, "outputs": outputs}
