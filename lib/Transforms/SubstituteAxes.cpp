// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Transforms/SubstituteAxes.h"

#include "dialect/Net.h"
#include "mlir/IR/AttrTypeSubElements.h"

using namespace netc;
using namespace mlir;

void netc::substituteAxes(
    Operation *op, std::function<std::optional<Polynomial>(StringRef)> size) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](RankedTensorType type) -> std::optional<Type> {
    Shape shape = shapeOf(type);
    // The number of slots per expert may be a fraction of the number of rows.
    for (Polynomial &axis : shape.sizes)
      axis = axis.substitute(size).ceil();
    return tensorOf(type.getElementType(), shape);
  });
  replacer.addReplacement([&](PolynomialAttr attr) -> std::optional<Attribute> {
    return PolynomialAttr::get(attr.getContext(),
                               attr.getValue().substitute(size));
  });
  replacer.recursivelyReplaceElementsIn(op, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}
