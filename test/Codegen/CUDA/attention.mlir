// RUN: netc-opt --net-find-attention %s | FileCheck %s

// Two products around a softmax, of which nothing else is read, are marked.
// CHECK-LABEL: func.func @attention
// CHECK: linalg.fill {net.attention = "start"}
// CHECK-NEXT: linalg.generic {{.*}} attrs = {net.attention = "scores"}
// CHECK: net.attention = "elements"
// CHECK: net.attention = "largest"
// CHECK: net.attention = "exponentials"
// CHECK: net.attention = "sums"
// CHECK: net.attention = "weights"
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<2x32x48xbf16>, tensor<2x48x24xbf16>) {{.*}} attrs = {net.attention = "results"}
func.func @attention(%q: tensor<2x32x16xbf16>, %k: tensor<2x48x16xbf16>, %v: tensor<2x48x24xbf16>) -> tensor<2x32x24xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.25 : f32
  %scores = tensor.empty() : tensor<2x32x48xf32>
  %start = linalg.fill ins(%zero : f32) outs(%scores : tensor<2x32x48xf32>) -> tensor<2x32x48xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(n, i, j, d) -> (n, i, d)>, affine_map<(n, i, j, d) -> (n, j, d)>, affine_map<(n, i, j, d) -> (n, i, j)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<2x32x16xbf16>, tensor<2x48x16xbf16>) outs(%start : tensor<2x32x48xf32>) {
  ^bb0(%a: bf16, %b: bf16, %sum: f32):
    %u = arith.extf %a : bf16 to f32
    %w = arith.extf %b : bf16 to f32
    %p = arith.mulf %u, %w : f32
    %r = arith.addf %sum, %p : f32
    linalg.yield %r : f32
  } -> tensor<2x32x48xf32>
  %rounded = tensor.empty() : tensor<2x32x48xbf16>
  %x = linalg.generic {indexing_maps = [affine_map<(n, i, j) -> (n, i, j)>, affine_map<(n, i, j) -> (n, i, j)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<2x32x48xf32>) outs(%rounded : tensor<2x32x48xbf16>) {
  ^bb0(%a: f32, %out: bf16):
    %p = arith.mulf %a, %scale : f32
    %r = arith.truncf %p : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<2x32x48xbf16>
  %rows = tensor.empty() : tensor<2x32xf32>
  %from = linalg.fill ins(%low : f32) outs(%rows : tensor<2x32xf32>) -> tensor<2x32xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(n, i, j) -> (n, i, j)>, affine_map<(n, i, j) -> (n, i)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<2x32x48xbf16>) outs(%from : tensor<2x32xf32>) {
  ^bb0(%a: bf16, %most: f32):
    %u = arith.extf %a : bf16 to f32
    %r = arith.maximumf %most, %u : f32
    linalg.yield %r : f32
  } -> tensor<2x32xf32>
  %e = linalg.generic {indexing_maps = [affine_map<(n, i, j) -> (n, i, j)>, affine_map<(n, i, j) -> (n, i)>, affine_map<(n, i, j) -> (n, i, j)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %m : tensor<2x32x48xbf16>, tensor<2x32xf32>) outs(%scores : tensor<2x32x48xf32>) {
  ^bb0(%a: bf16, %most: f32, %out: f32):
    %u = arith.extf %a : bf16 to f32
    %d = arith.subf %u, %most : f32
    %r = math.exp %d : f32
    linalg.yield %r : f32
  } -> tensor<2x32x48xf32>
  %none = linalg.fill ins(%zero : f32) outs(%rows : tensor<2x32xf32>) -> tensor<2x32xf32>
  %l = linalg.generic {indexing_maps = [affine_map<(n, i, j) -> (n, i, j)>, affine_map<(n, i, j) -> (n, i)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%e : tensor<2x32x48xf32>) outs(%none : tensor<2x32xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %r = arith.addf %sum, %a : f32
    linalg.yield %r : f32
  } -> tensor<2x32xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(n, i, j) -> (n, i, j)>, affine_map<(n, i, j) -> (n, i)>, affine_map<(n, i, j) -> (n, i, j)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%e, %l : tensor<2x32x48xf32>, tensor<2x32xf32>) outs(%rounded : tensor<2x32x48xbf16>) {
  ^bb0(%a: f32, %sum: f32, %out: bf16):
    %d = arith.divf %a, %sum : f32
    %r = arith.truncf %d : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<2x32x48xbf16>
  %values = tensor.empty() : tensor<2x32x24xf32>
  %before = linalg.fill ins(%zero : f32) outs(%values : tensor<2x32x24xf32>) -> tensor<2x32x24xf32>
  %o = linalg.generic {indexing_maps = [affine_map<(n, i, c, j) -> (n, i, j)>, affine_map<(n, i, c, j) -> (n, j, c)>, affine_map<(n, i, c, j) -> (n, i, c)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%w, %v : tensor<2x32x48xbf16>, tensor<2x48x24xbf16>) outs(%before : tensor<2x32x24xf32>) {
  ^bb0(%a: bf16, %b: bf16, %sum: f32):
    %u = arith.extf %a : bf16 to f32
    %t = arith.extf %b : bf16 to f32
    %p = arith.mulf %u, %t : f32
    %r = arith.addf %sum, %p : f32
    linalg.yield %r : f32
  } -> tensor<2x32x24xf32>
  return %o : tensor<2x32x24xf32>
}

// Weights that are read again are computed as they are.
// CHECK-LABEL: func.func @kept
// CHECK-NOT: net.attention
func.func @kept(%q: tensor<2x32x16xbf16>, %k: tensor<2x48x16xbf16>, %v: tensor<2x48x24xbf16>) -> (tensor<2x32x24xf32>, tensor<2x32x48xbf16>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.25 : f32
  %scores = tensor.empty() : tensor<2x32x48xf32>
  %start = linalg.fill ins(%zero : f32) outs(%scores : tensor<2x32x48xf32>) -> tensor<2x32x48xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(n, i, j, d) -> (n, i, d)>, affine_map<(n, i, j, d) -> (n, j, d)>, affine_map<(n, i, j, d) -> (n, i, j)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<2x32x16xbf16>, tensor<2x48x16xbf16>) outs(%start : tensor<2x32x48xf32>) {
  ^bb0(%a: bf16, %b: bf16, %sum: f32):
    %u = arith.extf %a : bf16 to f32
    %w = arith.extf %b : bf16 to f32
    %p = arith.mulf %u, %w : f32
    %r = arith.addf %sum, %p : f32
    linalg.yield %r : f32
  } -> tensor<2x32x48xf32>
  %rounded = tensor.empty() : tensor<2x32x48xbf16>
  %x = linalg.generic {indexing_maps = [affine_map<(n, i, j) -> (n, i, j)>, affine_map<(n, i, j) -> (n, i, j)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<2x32x48xf32>) outs(%rounded : tensor<2x32x48xbf16>) {
  ^bb0(%a: f32, %out: bf16):
    %p = arith.mulf %a, %scale : f32
    %r = arith.truncf %p : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<2x32x48xbf16>
  %rows = tensor.empty() : tensor<2x32xf32>
  %from = linalg.fill ins(%low : f32) outs(%rows : tensor<2x32xf32>) -> tensor<2x32xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(n, i, j) -> (n, i, j)>, affine_map<(n, i, j) -> (n, i)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<2x32x48xbf16>) outs(%from : tensor<2x32xf32>) {
  ^bb0(%a: bf16, %most: f32):
    %u = arith.extf %a : bf16 to f32
    %r = arith.maximumf %most, %u : f32
    linalg.yield %r : f32
  } -> tensor<2x32xf32>
  %e = linalg.generic {indexing_maps = [affine_map<(n, i, j) -> (n, i, j)>, affine_map<(n, i, j) -> (n, i)>, affine_map<(n, i, j) -> (n, i, j)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %m : tensor<2x32x48xbf16>, tensor<2x32xf32>) outs(%scores : tensor<2x32x48xf32>) {
  ^bb0(%a: bf16, %most: f32, %out: f32):
    %u = arith.extf %a : bf16 to f32
    %d = arith.subf %u, %most : f32
    %r = math.exp %d : f32
    linalg.yield %r : f32
  } -> tensor<2x32x48xf32>
  %none = linalg.fill ins(%zero : f32) outs(%rows : tensor<2x32xf32>) -> tensor<2x32xf32>
  %l = linalg.generic {indexing_maps = [affine_map<(n, i, j) -> (n, i, j)>, affine_map<(n, i, j) -> (n, i)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%e : tensor<2x32x48xf32>) outs(%none : tensor<2x32xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %r = arith.addf %sum, %a : f32
    linalg.yield %r : f32
  } -> tensor<2x32xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(n, i, j) -> (n, i, j)>, affine_map<(n, i, j) -> (n, i)>, affine_map<(n, i, j) -> (n, i, j)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%e, %l : tensor<2x32x48xf32>, tensor<2x32xf32>) outs(%rounded : tensor<2x32x48xbf16>) {
  ^bb0(%a: f32, %sum: f32, %out: bf16):
    %d = arith.divf %a, %sum : f32
    %r = arith.truncf %d : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<2x32x48xbf16>
  %values = tensor.empty() : tensor<2x32x24xf32>
  %before = linalg.fill ins(%zero : f32) outs(%values : tensor<2x32x24xf32>) -> tensor<2x32x24xf32>
  %o = linalg.generic {indexing_maps = [affine_map<(n, i, c, j) -> (n, i, j)>, affine_map<(n, i, c, j) -> (n, j, c)>, affine_map<(n, i, c, j) -> (n, i, c)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%w, %v : tensor<2x32x48xbf16>, tensor<2x48x24xbf16>) outs(%before : tensor<2x32x24xf32>) {
  ^bb0(%a: bf16, %b: bf16, %sum: f32):
    %u = arith.extf %a : bf16 to f32
    %t = arith.extf %b : bf16 to f32
    %p = arith.mulf %u, %t : f32
    %r = arith.addf %sum, %p : f32
    linalg.yield %r : f32
  } -> tensor<2x32x24xf32>
  return %o, %w : tensor<2x32x24xf32>, tensor<2x32x48xbf16>
}
