// RUN: netc-opt --pass-pipeline="builtin.module(func.func(net-fuse-padding))" %s | FileCheck %s

#map = affine_map<(n, c) -> (n, c)>

// What is read twice in a frame of zeros is padded once; the frame is there
// before it is computed.
// CHECK-LABEL: func.func @twice
// CHECK:       %[[FRAME:.*]] = linalg.fill {{.*}} -> tensor<6x64xf32>
// CHECK:       %[[Y:.*]] = linalg.generic
// CHECK:       %[[PADDED:.*]] = tensor.insert_slice %[[Y]] into %[[FRAME]][1, 0] [4, 64] [1, 1]
// CHECK-NOT:   tensor.insert_slice
// CHECK:       return %[[PADDED]], %[[PADDED]]
func.func @twice(%x: tensor<4x64xf32>) -> (tensor<6x64xf32>, tensor<6x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x64xf32>
  %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x64xf32>) outs(%e : tensor<4x64xf32>) {
  ^bb0(%a: f32, %out: f32):
    %r = arith.maximumf %a, %zero : f32
    linalg.yield %r : f32
  } -> tensor<4x64xf32>
  %e1 = tensor.empty() : tensor<6x64xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<6x64xf32>) -> tensor<6x64xf32>
  %p1 = tensor.insert_slice %y into %f1[1, 0] [4, 64] [1, 1] : tensor<4x64xf32> into tensor<6x64xf32>
  %e2 = tensor.empty() : tensor<6x64xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<6x64xf32>) -> tensor<6x64xf32>
  %p2 = tensor.insert_slice %y into %f2[1, 0] [4, 64] [1, 1] : tensor<4x64xf32> into tensor<6x64xf32>
  return %p1, %p2 : tensor<6x64xf32>, tensor<6x64xf32>
}

// Frames of other numbers, or around other places, are others.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-3: tensor.insert_slice
func.func @others(%x: tensor<4x64xf32>) -> (tensor<6x64xf32>, tensor<6x64xf32>, tensor<6x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4x64xf32>
  %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x64xf32>) outs(%e : tensor<4x64xf32>) {
  ^bb0(%a: f32, %out: f32):
    %r = arith.maximumf %a, %zero : f32
    linalg.yield %r : f32
  } -> tensor<4x64xf32>
  %e1 = tensor.empty() : tensor<6x64xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<6x64xf32>) -> tensor<6x64xf32>
  %f2 = linalg.fill ins(%one : f32) outs(%e1 : tensor<6x64xf32>) -> tensor<6x64xf32>
  %p1 = tensor.insert_slice %y into %f1[1, 0] [4, 64] [1, 1] : tensor<4x64xf32> into tensor<6x64xf32>
  %p2 = tensor.insert_slice %y into %f1[2, 0] [4, 64] [1, 1] : tensor<4x64xf32> into tensor<6x64xf32>
  %p3 = tensor.insert_slice %y into %f2[1, 0] [4, 64] [1, 1] : tensor<4x64xf32> into tensor<6x64xf32>
  return %p1, %p2, %p3 : tensor<6x64xf32>, tensor<6x64xf32>, tensor<6x64xf32>
}

// What is read element by element, too, is read in the frame.
// CHECK-LABEL: func.func @masked
// CHECK:       %[[FRAME:.*]] = linalg.fill {{.*}} -> tensor<6x64xf32>
// CHECK:       %[[Y:.*]] = linalg.generic
// CHECK:       %[[PADDED:.*]] = tensor.insert_slice %[[Y]] into %[[FRAME]][1, 0] [4, 64] [1, 1]
// CHECK:       %[[BARE:.*]] = tensor.extract_slice %[[PADDED]][1, 0] [4, 64] [1, 1]
// CHECK:       linalg.generic {{.*}} ins(%[[BARE]], %
func.func @masked(%x: tensor<4x64xf32>, %g: tensor<4x64xf32>) -> (tensor<4x64xf32>, tensor<6x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x64xf32>
  %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x64xf32>) outs(%e : tensor<4x64xf32>) {
  ^bb0(%a: f32, %out: f32):
    %r = arith.maximumf %a, %zero : f32
    linalg.yield %r : f32
  } -> tensor<4x64xf32>
  %m = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%y, %g : tensor<4x64xf32>, tensor<4x64xf32>) outs(%e : tensor<4x64xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4x64xf32>
  %e1 = tensor.empty() : tensor<6x64xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<6x64xf32>) -> tensor<6x64xf32>
  %p1 = tensor.insert_slice %y into %f1[1, 0] [4, 64] [1, 1] : tensor<4x64xf32> into tensor<6x64xf32>
  return %m, %p1 : tensor<4x64xf32>, tensor<6x64xf32>
}

// What is returned without a frame, too, stays where it is.
// CHECK-LABEL: func.func @also_bare
// CHECK:       %[[Y:.*]] = linalg.generic
// CHECK:       linalg.fill
// CHECK:       return %{{.*}}, %[[Y]]
func.func @also_bare(%x: tensor<4x64xf32>) -> (tensor<6x64xf32>, tensor<4x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x64xf32>
  %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x64xf32>) outs(%e : tensor<4x64xf32>) {
  ^bb0(%a: f32, %out: f32):
    %r = arith.maximumf %a, %zero : f32
    linalg.yield %r : f32
  } -> tensor<4x64xf32>
  %e1 = tensor.empty() : tensor<6x64xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<6x64xf32>) -> tensor<6x64xf32>
  %p1 = tensor.insert_slice %y into %f1[1, 0] [4, 64] [1, 1] : tensor<4x64xf32> into tensor<6x64xf32>
  return %p1, %y : tensor<6x64xf32>, tensor<4x64xf32>
}

// What is put beside something else is in no frame.
// CHECK-LABEL: func.func @beside
// CHECK:       %[[Y:.*]] = linalg.generic
// CHECK:       tensor.insert_slice %[[Y]]
func.func @beside(%x: tensor<4x64xf32>, %whole: tensor<6x64xf32>) -> tensor<6x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x64xf32>
  %other = tensor.insert_slice %x into %whole[0, 0] [4, 64] [1, 1] : tensor<4x64xf32> into tensor<6x64xf32>
  %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x64xf32>) outs(%e : tensor<4x64xf32>) {
  ^bb0(%a: f32, %out: f32):
    %r = arith.maximumf %a, %zero : f32
    linalg.yield %r : f32
  } -> tensor<4x64xf32>
  %p = tensor.insert_slice %y into %other[2, 0] [4, 64] [1, 1] : tensor<4x64xf32> into tensor<6x64xf32>
  return %p : tensor<6x64xf32>
}

// Rows of few elements are read faster where they follow each other.
// CHECK-LABEL: func.func @short_rows
// CHECK-NOT:   tensor.extract_slice
func.func @short_rows(%x: tensor<4x7xf32>, %g: tensor<4x7xf32>) -> (tensor<4x7xf32>, tensor<6x9xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x7xf32>
  %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x7xf32>) outs(%e : tensor<4x7xf32>) {
  ^bb0(%a: f32, %out: f32):
    %r = arith.maximumf %a, %zero : f32
    linalg.yield %r : f32
  } -> tensor<4x7xf32>
  %m = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%y, %g : tensor<4x7xf32>, tensor<4x7xf32>) outs(%e : tensor<4x7xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4x7xf32>
  %e1 = tensor.empty() : tensor<6x9xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<6x9xf32>) -> tensor<6x9xf32>
  %p1 = tensor.insert_slice %y into %f1[1, 1] [4, 7] [1, 1] : tensor<4x7xf32> into tensor<6x9xf32>
  return %m, %p1 : tensor<4x7xf32>, tensor<6x9xf32>
}

// What is read after another tensor was inserted beside it is read from both;
// before, and after one that is inserted over it, from it alone.
// CHECK-LABEL: func.func @joined
// CHECK-SAME:  (%{{.*}}: tensor<4x64xf32>, %[[G:[^:]*]]: tensor<4x64xf32>
// CHECK:       %[[Y:.*]] = linalg.generic
// CHECK:       %[[ONE:.*]] = tensor.insert_slice %[[Y]] into %{{.*}}[0, 0] [4, 64] [1, 1]
// CHECK:       %[[FIRST:.*]] = tensor.extract_slice %[[ONE]][0, 0] [4, 64] [1, 1]
// CHECK:       %[[H:.*]] = linalg.generic {{.*}} ins(%[[FIRST]], %[[G]]
// CHECK:       %[[BOTH:.*]] = tensor.insert_slice %[[H]] into %[[ONE]][0, 64] [4, 64] [1, 1]
// CHECK:       tensor.insert_slice %[[H]] into %[[BOTH]][2, 0] [4, 64] [1, 1]
// CHECK:       %[[LAST:.*]] = tensor.extract_slice %[[BOTH]][0, 0] [4, 64] [1, 1]
// CHECK:       linalg.generic {{.*}} ins(%[[LAST]], %[[H]]
func.func @joined(%x: tensor<4x64xf32>, %g: tensor<4x64xf32>) -> (tensor<6x128xf32>, tensor<4x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x64xf32>
  %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x64xf32>) outs(%e : tensor<4x64xf32>) {
  ^bb0(%a: f32, %out: f32):
    %r = arith.maximumf %a, %zero : f32
    linalg.yield %r : f32
  } -> tensor<4x64xf32>
  %h = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%y, %g : tensor<4x64xf32>, tensor<4x64xf32>) outs(%e : tensor<4x64xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4x64xf32>
  %whole = tensor.empty() : tensor<6x128xf32>
  %one = tensor.insert_slice %y into %whole[0, 0] [4, 64] [1, 1] : tensor<4x64xf32> into tensor<6x128xf32>
  %both = tensor.insert_slice %h into %one[0, 64] [4, 64] [1, 1] : tensor<4x64xf32> into tensor<6x128xf32>
  %over = tensor.insert_slice %h into %both[2, 0] [4, 64] [1, 1] : tensor<4x64xf32> into tensor<6x128xf32>
  %k = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%y, %h : tensor<4x64xf32>, tensor<4x64xf32>) outs(%e : tensor<4x64xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4x64xf32>
  return %over, %k : tensor<6x128xf32>, tensor<4x64xf32>
}
