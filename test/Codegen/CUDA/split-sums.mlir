// RUN: netc-opt --pass-pipeline="builtin.module(func.func(net-split-sums))" %s | FileCheck %s

// Columns of 256 rows are summed up in 8 parts of 32 rows; then the parts are added up, to what there was. An index counts
// rows as before.
// CHECK-DAG: #[[PART:.*]] = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @columns(
// CHECK-SAME: %{{.*}}: tensor<256x20xf32>, %[[BEFORE:.*]]: tensor<20xf32>
// CHECK: tensor.expand_shape %{{.*}} {{\[}}[0, 1], [2]] output_shape [8, 32, 20]
// CHECK: %[[PARTS:.*]] = linalg.generic {indexing_maps = [#[[PART]], #[[ROW]]], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK-SAME: outs(%{{.*}} : tensor<8x20xf32>)
// CHECK: linalg.index 2
// CHECK: linalg.index 0
// CHECK: arith.muli %{{.*}}, %c32
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[PARTS]] : tensor<8x20xf32>) outs(%[[BEFORE]] : tensor<20xf32>)
func.func @columns(%x: tensor<256x20xf32>, %sums: tensor<20xf32>) -> tensor<20xf32> {
  %result = linalg.generic {indexing_maps = [affine_map<(i, k) -> (k, i)>, affine_map<(i, k) -> (i)>],
                            iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<256x20xf32>) outs(%sums : tensor<20xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %k = linalg.index 1 : index
    %n = arith.index_cast %k : index to i64
    %f = arith.uitofp %n : i64 to f32
    %p = arith.mulf %a, %f : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<20xf32>
  return %result : tensor<20xf32>
}

// Few numbers, and what is no sum, stay.
// CHECK-LABEL: func.func @few
// CHECK-NOT: expand_shape
func.func @few(%x: tensor<40x20xf32>, %sums: tensor<20xf32>) -> tensor<20xf32> {
  %result = linalg.generic {indexing_maps = [affine_map<(i, k) -> (k, i)>, affine_map<(i, k) -> (i)>],
                            iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<40x20xf32>) outs(%sums : tensor<20xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %s = arith.addf %sum, %a : f32
    linalg.yield %s : f32
  } -> tensor<20xf32>
  return %result : tensor<20xf32>
}

// Of windows the loop of images is cut.
// CHECK-LABEL: func.func @windows
// CHECK: tensor.expand_shape %{{.*}} {{\[}}[0, 1], [2], [3]]
// CHECK-SAME: tensor<64x20x16xf32> into tensor<{{[0-9]+x[0-9]+}}x20x16xf32>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
func.func @windows(%x: tensor<64x20x16xf32>, %y: tensor<64x18x16xf32>, %sums: tensor<3x16x16xf32>) -> tensor<3x16x16xf32> {
  %result = linalg.generic {indexing_maps = [affine_map<(t, i, o, n, p) -> (n, p + t, i)>, affine_map<(t, i, o, n, p) -> (n, p, o)>,
                                             affine_map<(t, i, o, n, p) -> (t, i, o)>],
                            iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %y : tensor<64x20x16xf32>, tensor<64x18x16xf32>) outs(%sums : tensor<3x16x16xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<3x16x16xf32>
  return %result : tensor<3x16x16xf32>
}

// Integers are added up in parts, too: here how many class numbers are valid.
// CHECK-LABEL: func.func @valid
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%{{.*}} : tensor<32x32xi64>) outs(%{{.*}} : tensor<32xi64>)
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction"]} ins(%{{.*}} : tensor<32xi64>)
func.func @valid(%classes: tensor<1024xi64>, %count: tensor<i64>) -> tensor<i64> {
  %c1000 = arith.constant 1000 : i64
  %result = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%classes : tensor<1024xi64>) outs(%count : tensor<i64>) {
  ^bb0(%class: i64, %sum: i64):
    %valid = arith.cmpi ult, %class, %c1000 : i64
    %one = arith.extui %valid : i1 to i64
    %s = arith.addi %sum, %one : i64
    linalg.yield %s : i64
  } -> tensor<i64>
  return %result : tensor<i64>
}

// Of what lies side by side, a part keeps enough for a warp. Here the planes are split, and then the rows of each.
// CHECK-LABEL: func.func @all
// CHECK: tensor.expand_shape %{{.*}} : tensor<16x16x512xf32> into tensor<16x1x16x512xf32>
// CHECK: tensor.expand_shape %{{.*}} : tensor<16x1x16x512xf32> into tensor<16x1x8x2x512xf32>
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<8x16xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<8x16xf32>) outs(%{{.*}} : tensor<16xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<16xf32>) outs(%{{.*}} : tensor<f32>)
func.func @all(%x: tensor<16x16x512xf32>, %start: tensor<f32>) -> tensor<f32> {
  %result = linalg.generic {indexing_maps = [affine_map<(p, r, c) -> (p, r, c)>, affine_map<(p, r, c) -> ()>],
                            iterator_types = ["reduction", "reduction", "reduction"]}
      ins(%x : tensor<16x16x512xf32>) outs(%start : tensor<f32>) {
  ^bb0(%a: f32, %sum: f32):
    %s = arith.addf %sum, %a : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %result : tensor<f32>
}

// Products by matrix instructions: so many parts that large tiles fill the device, and the partial sums do not take longer.
// CHECK-LABEL: func.func @halves
// CHECK: tensor.expand_shape %{{.*}} {{\[}}[0, 1], [2]] output_shape [4, 1568, 1024]
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<4x1024x256xf32>)
func.func @halves(%a: tensor<6272x1024xbf16>, %b: tensor<6272x256xbf16>, %c: tensor<1024x256xf32>) -> tensor<1024x256xf32> {
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                         iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<6272x1024xbf16>, tensor<6272x256xbf16>) outs(%c : tensor<1024x256xf32>) {
  ^bb0(%x: bf16, %y: bf16, %sum: f32):
    %u = arith.extf %x : bf16 to f32
    %v = arith.extf %y : bf16 to f32
    %p = arith.mulf %u, %v : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<1024x256xf32>
  return %sum : tensor<1024x256xf32>
}

// A fill moves to the op whose result it initializes, so that they are one kernel.
// CHECK-LABEL: func.func @filled
// CHECK: math.sqrt
// CHECK: %[[ZEROS:.*]] = linalg.fill
// CHECK-NEXT: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} {{.*}} outs(%[[ZEROS]] :
func.func @filled(%x: tensor<4x20xf32>) -> tensor<20xf32> {
  %zero = arith.constant 0.0 : f32
  %columns = tensor.empty() : tensor<20xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%columns : tensor<20xf32>) -> tensor<20xf32>
  %rows = tensor.empty() : tensor<4x20xf32>
  %roots = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x20xf32>) outs(%rows : tensor<4x20xf32>) {
  ^bb0(%a: f32, %old: f32):
    %r = math.sqrt %a : f32
    linalg.yield %r : f32
  } -> tensor<4x20xf32>
  %result = linalg.generic {indexing_maps = [affine_map<(i, k) -> (k, i)>, affine_map<(i, k) -> (i)>],
                            iterator_types = ["parallel", "reduction"]}
      ins(%roots : tensor<4x20xf32>) outs(%zeros : tensor<20xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %s = arith.addf %sum, %a : f32
    linalg.yield %s : f32
  } -> tensor<20xf32>
  return %result : tensor<20xf32>
}

// Columns of a matrix that blocks reduce: 324 parts would give 108 multiprocessors three blocks each, and 256 divide the rows.
// CHECK-LABEL: func.func @blocks
// CHECK: tensor.expand_shape %{{.*}} {{\[}}[0, 1], [2]] output_shape [256, 512, 64]
func.func @blocks(%x: tensor<131072x64xbf16>, %sums: tensor<64xf32>) -> tensor<64xf32> {
  %result = linalg.generic {indexing_maps = [affine_map<(i, k) -> (k, i)>, affine_map<(i, k) -> (i)>],
                            iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<131072x64xbf16>) outs(%sums : tensor<64xf32>) {
  ^bb0(%a: bf16, %sum: f32):
    %w = arith.extf %a : bf16 to f32
    %s = arith.addf %sum, %w : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  return %result : tensor<64xf32>
}

// A sum of products that fills no tile is one of a row, for which a warp is enough.
// CHECK-LABEL: func.func @dots
// CHECK-NOT: expand_shape
// CHECK: return
func.func @dots(%x: tensor<6144x512xf32>, %y: tensor<6144x512xf32>, %sums: tensor<6144xf32>) -> tensor<6144xf32> {
  %dots = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                          iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : tensor<6144x512xf32>, tensor<6144x512xf32>) outs(%sums : tensor<6144xf32>) {
  ^bb0(%a: f32, %b: f32, %old: f32):
    %p = arith.mulf %a, %b : f32
    %n = arith.addf %old, %p : f32
    linalg.yield %n : f32
  } -> tensor<6144xf32>
  return %dots : tensor<6144xf32>
}
