// RUN: netc-opt %s --net-contract-pairwise --mlir-print-debuginfo | FileCheck %s

// 2 * 64 * 64 * 4 for each product instead of 3 * 64^3 * 4 for all at once. Each is under the name
// of the whole.
//      CHECK: net.network @chain
//      CHECK:   %[[BC:.*]] = net.einsum "b c, c d -> b d"(%b, %c)
//      CHECK:   net.einsum "a b, b d -> a d"(%a, %[[BC]])
net.network @chain attributes {inputs = ["a", "b", "c"]} {
^bb0(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x4xf32>):
  %y = net.einsum "a b, b c, c d -> a d"(%a, %b, %c) : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x4xf32>) -> tensor<64x4xf32> loc("chain")
  net.return %y : tensor<64x4xf32> ["y"]
}

// Free axes count as 1,024, and an axis that is kept stays.
//      CHECK: net.network @free
//      CHECK:   %[[VW:.*]] = net.einsum "n s e, e f -> n s f"
//      CHECK:   net.einsum "n t s, n s f -> n t f"(%{{.*}}, %[[VW]])
net.network @free attributes {inputs = ["p", "v", "w"]} {
^bb0(%p: tensor<?x?x?xf32, #net.axes<"N", "T", "S">>, %v: tensor<?x?x8xf32, #net.axes<"N", "S", "8">>, %w: tensor<8x4xf32>):
  %y = net.einsum "n t s, n s e, e f -> n t f"(%p, %v, %w) : (tensor<?x?x?xf32, #net.axes<"N", "T", "S">>, tensor<?x?x8xf32, #net.axes<"N", "S", "8">>, tensor<8x4xf32>) -> tensor<?x?x4xf32, #net.axes<"N", "T", "4">>
  net.return %y : tensor<?x?x4xf32, #net.axes<"N", "T", "4">> ["y"]
}

// A product without a sum stays one.
//      CHECK: net.network @product
//      CHECK:   net.einsum "a, a, a -> a"
net.network @product attributes {inputs = ["a"]} {
^bb0(%a: tensor<8xf32>):
  %y = net.einsum "a, a, a -> a"(%a, %a, %a) : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  net.return %y : tensor<8xf32> ["y"]
}
//      CHECK: loc("chain.b c, c d -> b d.einsum")
