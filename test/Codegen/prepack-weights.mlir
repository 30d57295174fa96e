// RUN: netc-opt --pass-pipeline="builtin.module(net-prepack-weights)" %s --split-input-file | FileCheck %s

// CHECK-DAG: #[[TRANSPOSED:.*]] = affine_map<(d0, d1) -> (d1 floordiv 32, d0, d1 mod 32)>
// CHECK-DAG: #[[RESHAPED:.*]] = affine_map<(d0, d1, d2) -> (d0 floordiv 32, d2, d0 mod 32)>

// A weight whose gradient is panels, and what the update keeps beside it, lie
// like these. The update reads the panels; copies of the weight read where its
// elements are, and what reads it in another shape gets a copy.
// CHECK:       memref.global "private" @parameter.w : memref<64x96xf32>
// CHECK-SAME:    sizes = [2, 96, 32], strides = [3072, 1, 96]
// CHECK:       memref.global "private" @state.w.velocity : memref<6144xf32>
// CHECK-SAME:    sizes = [2, 96, 32], strides = [3072, 1, 96]
// CHECK-LABEL: func.func @kept
// CHECK-DAG:   %[[W:.*]] = bufferization.to_tensor %{{.*}} : memref<64x96xf32>
// CHECK:       %[[FLAT:.*]] = tensor.collapse_shape %[[W]]
// CHECK:       %[[IN_PANELS:.*]] = tensor.expand_shape %[[FLAT]] {{.*}} into tensor<2x96x32xf32>
// CHECK:       linalg.generic {indexing_maps = [#[[TRANSPOSED]],
// CHECK-SAME:    ins(%[[IN_PANELS]] :
// CHECK:       %[[COPY:.*]] = linalg.generic {indexing_maps = [#[[RESHAPED]],
// CHECK-SAME:    outs(%{{.*}} : tensor<64x1x96xf32>)
// CHECK:       linalg.generic
// CHECK-SAME:    ins(%arg1, %[[COPY]] :
// CHECK:       %[[PANELS:.*]] = linalg.generic
// CHECK-SAME:    outs(%{{.*}} : tensor<2x96x32xf32>)
// CHECK:       %[[GRADIENT:.*]] = tensor.collapse_shape %[[PANELS]]
// CHECK:       linalg.generic
// CHECK-SAME:    ins(%{{.*}}, %[[GRADIENT]], %{{.*}} : tensor<6144xf32>, tensor<6144xf32>, tensor<6144xf32>)
memref.global "private" @parameter.w : memref<64x96xf32> = uninitialized {net.slot = #net.slot<name = "w", role = parameter, init = fan_in>}
memref.global "private" @state.w.velocity : memref<6144xf32> = uninitialized {net.slot = #net.slot<name = "w.velocity", role = state>}
func.func @kept(%x: tensor<100x96xf32>, %dy: tensor<100x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %rate = arith.constant 0.1 : f32
  %w_memory = memref.get_global @parameter.w : memref<64x96xf32>
  %w = bufferization.to_tensor %w_memory restrict writable : memref<64x96xf32>
  %v_memory = memref.get_global @state.w.velocity : memref<6144xf32>
  %v = bufferization.to_tensor %v_memory restrict writable : memref<6144xf32>
  %et = tensor.empty() : tensor<96x64xf32>
  %t0 = linalg.transpose ins(%w : tensor<64x96xf32>) outs(%et : tensor<96x64xf32>) permutation = [1, 0]
  %ex = tensor.empty() : tensor<100x96xf32>
  %fx = linalg.fill ins(%zero : f32) outs(%ex : tensor<100x96xf32>) -> tensor<100x96xf32>
  %w3 = tensor.collapse_shape %w [[0, 1]] : tensor<64x96xf32> into tensor<6144xf32>
  %w4 = tensor.expand_shape %w3 [[0, 1, 2]] output_shape [64, 1, 96] : tensor<6144xf32> into tensor<64x1x96xf32>
  %dx = linalg.generic {indexing_maps = [affine_map<(n, i, o, z) -> (n, o)>, affine_map<(n, i, o, z) -> (o, z, i)>, affine_map<(n, i, o, z) -> (n, i)>],
                        iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%dy, %w4 : tensor<100x64xf32>, tensor<64x1x96xf32>) outs(%fx : tensor<100x96xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<100x96xf32>
  %e = tensor.empty() : tensor<2x96x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x96x32xf32>) -> tensor<2x96x32xf32>
  %panels = linalg.generic {indexing_maps = [affine_map<(i, o, n, p) -> (n, i)>, affine_map<(i, o, n, p) -> (n, p * 32 + o)>, affine_map<(i, o, n, p) -> (p, i, o)>],
                            iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%x, %dy : tensor<100x96xf32>, tensor<100x64xf32>) outs(%f : tensor<2x96x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x96x32xf32>
  %g = tensor.empty() : tensor<64x96xf32>
  %dw = linalg.generic {indexing_maps = [affine_map<(o, i, p) -> (p, i, o)>, affine_map<(o, i, p) -> (p * 32 + o, i)>],
                        iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%panels : tensor<2x96x32xf32>) outs(%g : tensor<64x96xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<64x96xf32>
  %w_vector = tensor.collapse_shape %w [[0, 1]] : tensor<64x96xf32> into tensor<6144xf32>
  %dw_vector = tensor.collapse_shape %dw [[0, 1]] : tensor<64x96xf32> into tensor<6144xf32>
  %h = tensor.empty() : tensor<6144xf32>
  %new:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                           iterator_types = ["parallel"]}
      ins(%w_vector, %dw_vector, %v : tensor<6144xf32>, tensor<6144xf32>, tensor<6144xf32>) outs(%h, %h : tensor<6144xf32>, tensor<6144xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %e0: f32):
    %s = arith.addf %b, %c : f32
    %t = arith.mulf %s, %rate : f32
    %u = arith.subf %a, %t : f32
    linalg.yield %u, %s : f32, f32
  } -> (tensor<6144xf32>, tensor<6144xf32>)
  %new_w = tensor.expand_shape %new#0 [[0, 1]] output_shape [64, 96] : tensor<6144xf32> into tensor<64x96xf32>
  bufferization.materialize_in_destination %new_w in restrict writable %w_memory : (tensor<64x96xf32>, memref<64x96xf32>) -> ()
  bufferization.materialize_in_destination %new#1 in restrict writable %v_memory : (tensor<6144xf32>, memref<6144xf32>) -> ()
  return
}

// -----

// Where something else reads the gradient, it is copied.
// CHECK-NOT:   sizes = [
// CHECK-LABEL: func.func @gradient_read
// CHECK:       %[[DW:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<64x96xf32>)
// CHECK:       tensor.collapse_shape %[[DW]]
// CHECK:       return %[[DW]]
memref.global "private" @parameter.w : memref<64x96xf32> = uninitialized {net.slot = #net.slot<name = "w", role = parameter, init = fan_in>}
memref.global "private" @state.w.velocity : memref<6144xf32> = uninitialized {net.slot = #net.slot<name = "w.velocity", role = state>}
func.func @gradient_read(%x: tensor<100x96xf32>, %dy: tensor<100x64xf32>) -> tensor<64x96xf32> {
  %zero = arith.constant 0.0 : f32
  %rate = arith.constant 0.1 : f32
  %w_memory = memref.get_global @parameter.w : memref<64x96xf32>
  %w = bufferization.to_tensor %w_memory restrict writable : memref<64x96xf32>
  %v_memory = memref.get_global @state.w.velocity : memref<6144xf32>
  %v = bufferization.to_tensor %v_memory restrict writable : memref<6144xf32>
  %e = tensor.empty() : tensor<2x96x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x96x32xf32>) -> tensor<2x96x32xf32>
  %panels = linalg.generic {indexing_maps = [affine_map<(i, o, n, p) -> (n, i)>, affine_map<(i, o, n, p) -> (n, p * 32 + o)>, affine_map<(i, o, n, p) -> (p, i, o)>],
                            iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%x, %dy : tensor<100x96xf32>, tensor<100x64xf32>) outs(%f : tensor<2x96x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x96x32xf32>
  %g = tensor.empty() : tensor<64x96xf32>
  %dw = linalg.generic {indexing_maps = [affine_map<(o, i, p) -> (p, i, o)>, affine_map<(o, i, p) -> (p * 32 + o, i)>],
                        iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%panels : tensor<2x96x32xf32>) outs(%g : tensor<64x96xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<64x96xf32>
  %w_vector = tensor.collapse_shape %w [[0, 1]] : tensor<64x96xf32> into tensor<6144xf32>
  %dw_vector = tensor.collapse_shape %dw [[0, 1]] : tensor<64x96xf32> into tensor<6144xf32>
  %h = tensor.empty() : tensor<6144xf32>
  %new:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                           iterator_types = ["parallel"]}
      ins(%w_vector, %dw_vector, %v : tensor<6144xf32>, tensor<6144xf32>, tensor<6144xf32>) outs(%h, %h : tensor<6144xf32>, tensor<6144xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %e0: f32):
    %s = arith.addf %b, %c : f32
    %t = arith.mulf %s, %rate : f32
    %u = arith.subf %a, %t : f32
    linalg.yield %u, %s : f32, f32
  } -> (tensor<6144xf32>, tensor<6144xf32>)
  %new_w = tensor.expand_shape %new#0 [[0, 1]] output_shape [64, 96] : tensor<6144xf32> into tensor<64x96xf32>
  bufferization.materialize_in_destination %new_w in restrict writable %w_memory : (tensor<64x96xf32>, memref<64x96xf32>) -> ()
  bufferization.materialize_in_destination %new#1 in restrict writable %v_memory : (tensor<6144xf32>, memref<6144xf32>) -> ()
  return %dw : tensor<64x96xf32>
}

// -----

// Nor where what is kept beside the weight is read.
// CHECK-NOT:   sizes = [
// CHECK-LABEL: func.func @state_read
// CHECK:       outs(%{{.*}} : tensor<64x96xf32>)
memref.global "private" @parameter.w : memref<64x96xf32> = uninitialized {net.slot = #net.slot<name = "w", role = parameter, init = fan_in>}
memref.global "private" @state.w.velocity : memref<6144xf32> = uninitialized {net.slot = #net.slot<name = "w.velocity", role = state>}
func.func @state_read(%x: tensor<100x96xf32>, %dy: tensor<100x64xf32>) -> tensor<6144xf32> {
  %zero = arith.constant 0.0 : f32
  %rate = arith.constant 0.1 : f32
  %w_memory = memref.get_global @parameter.w : memref<64x96xf32>
  %w = bufferization.to_tensor %w_memory restrict writable : memref<64x96xf32>
  %v_memory = memref.get_global @state.w.velocity : memref<6144xf32>
  %v = bufferization.to_tensor %v_memory restrict writable : memref<6144xf32>
  %e = tensor.empty() : tensor<2x96x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x96x32xf32>) -> tensor<2x96x32xf32>
  %panels = linalg.generic {indexing_maps = [affine_map<(i, o, n, p) -> (n, i)>, affine_map<(i, o, n, p) -> (n, p * 32 + o)>, affine_map<(i, o, n, p) -> (p, i, o)>],
                            iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%x, %dy : tensor<100x96xf32>, tensor<100x64xf32>) outs(%f : tensor<2x96x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x96x32xf32>
  %g = tensor.empty() : tensor<64x96xf32>
  %dw = linalg.generic {indexing_maps = [affine_map<(o, i, p) -> (p, i, o)>, affine_map<(o, i, p) -> (p * 32 + o, i)>],
                        iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%panels : tensor<2x96x32xf32>) outs(%g : tensor<64x96xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<64x96xf32>
  %w_vector = tensor.collapse_shape %w [[0, 1]] : tensor<64x96xf32> into tensor<6144xf32>
  %dw_vector = tensor.collapse_shape %dw [[0, 1]] : tensor<64x96xf32> into tensor<6144xf32>
  %h = tensor.empty() : tensor<6144xf32>
  %new:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                           iterator_types = ["parallel"]}
      ins(%w_vector, %dw_vector, %v : tensor<6144xf32>, tensor<6144xf32>, tensor<6144xf32>) outs(%h, %h : tensor<6144xf32>, tensor<6144xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %e0: f32):
    %s = arith.addf %b, %c : f32
    %t = arith.mulf %s, %rate : f32
    %u = arith.subf %a, %t : f32
    linalg.yield %u, %s : f32, f32
  } -> (tensor<6144xf32>, tensor<6144xf32>)
  %new_w = tensor.expand_shape %new#0 [[0, 1]] output_shape [64, 96] : tensor<6144xf32> into tensor<64x96xf32>
  bufferization.materialize_in_destination %new_w in restrict writable %w_memory : (tensor<64x96xf32>, memref<64x96xf32>) -> ()
  bufferization.materialize_in_destination %new#1 in restrict writable %v_memory : (tensor<6144xf32>, memref<6144xf32>) -> ()
  return %v : tensor<6144xf32>
}

// -----

// Nor where something else writes the weight.
// CHECK-NOT:   sizes = [
// CHECK-LABEL: func.func @written
// CHECK:       outs(%{{.*}} : tensor<64x96xf32>)
memref.global "private" @parameter.w : memref<64x96xf32> = uninitialized {net.slot = #net.slot<name = "w", role = parameter, init = fan_in>}
memref.global "private" @state.w.velocity : memref<6144xf32> = uninitialized {net.slot = #net.slot<name = "w.velocity", role = state>}
func.func @written(%x: tensor<100x96xf32>, %dy: tensor<100x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %rate = arith.constant 0.1 : f32
  %w_memory = memref.get_global @parameter.w : memref<64x96xf32>
  %w = bufferization.to_tensor %w_memory restrict writable : memref<64x96xf32>
  %v_memory = memref.get_global @state.w.velocity : memref<6144xf32>
  %v = bufferization.to_tensor %v_memory restrict writable : memref<6144xf32>
  %e = tensor.empty() : tensor<2x96x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x96x32xf32>) -> tensor<2x96x32xf32>
  %panels = linalg.generic {indexing_maps = [affine_map<(i, o, n, p) -> (n, i)>, affine_map<(i, o, n, p) -> (n, p * 32 + o)>, affine_map<(i, o, n, p) -> (p, i, o)>],
                            iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%x, %dy : tensor<100x96xf32>, tensor<100x64xf32>) outs(%f : tensor<2x96x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x96x32xf32>
  %g = tensor.empty() : tensor<64x96xf32>
  %dw = linalg.generic {indexing_maps = [affine_map<(o, i, p) -> (p, i, o)>, affine_map<(o, i, p) -> (p * 32 + o, i)>],
                        iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%panels : tensor<2x96x32xf32>) outs(%g : tensor<64x96xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<64x96xf32>
  %e1 = tensor.empty() : tensor<64x96xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<64x96xf32>) -> tensor<64x96xf32>
  bufferization.materialize_in_destination %f1 in restrict writable %w_memory : (tensor<64x96xf32>, memref<64x96xf32>) -> ()
  %w_vector = tensor.collapse_shape %w [[0, 1]] : tensor<64x96xf32> into tensor<6144xf32>
  %dw_vector = tensor.collapse_shape %dw [[0, 1]] : tensor<64x96xf32> into tensor<6144xf32>
  %h = tensor.empty() : tensor<6144xf32>
  %new:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                           iterator_types = ["parallel"]}
      ins(%w_vector, %dw_vector, %v : tensor<6144xf32>, tensor<6144xf32>, tensor<6144xf32>) outs(%h, %h : tensor<6144xf32>, tensor<6144xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %e0: f32):
    %s = arith.addf %b, %c : f32
    %t = arith.mulf %s, %rate : f32
    %u = arith.subf %a, %t : f32
    linalg.yield %u, %s : f32, f32
  } -> (tensor<6144xf32>, tensor<6144xf32>)
  %new_w = tensor.expand_shape %new#0 [[0, 1]] output_shape [64, 96] : tensor<6144xf32> into tensor<64x96xf32>
  bufferization.materialize_in_destination %new_w in restrict writable %w_memory : (tensor<64x96xf32>, memref<64x96xf32>) -> ()
  bufferization.materialize_in_destination %new#1 in restrict writable %v_memory : (tensor<6144xf32>, memref<6144xf32>) -> ()
  return
}

// -----

// Nor where the new weight is a result of the step.
// CHECK-NOT:   sizes = [
// CHECK-LABEL: func.func @shown
// CHECK:       outs(%{{.*}} : tensor<64x96xf32>)
memref.global "private" @parameter.w : memref<64x96xf32> = uninitialized {net.slot = #net.slot<name = "w", role = parameter, init = fan_in>}
memref.global "private" @state.w.velocity : memref<6144xf32> = uninitialized {net.slot = #net.slot<name = "w.velocity", role = state>}
memref.global "private" @result.w : memref<6144xf32> = uninitialized {net.slot = #net.slot<name = "w", role = result>}
func.func @shown(%x: tensor<100x96xf32>, %dy: tensor<100x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %rate = arith.constant 0.1 : f32
  %w_memory = memref.get_global @parameter.w : memref<64x96xf32>
  %w = bufferization.to_tensor %w_memory restrict writable : memref<64x96xf32>
  %v_memory = memref.get_global @state.w.velocity : memref<6144xf32>
  %v = bufferization.to_tensor %v_memory restrict writable : memref<6144xf32>
  %e = tensor.empty() : tensor<2x96x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x96x32xf32>) -> tensor<2x96x32xf32>
  %panels = linalg.generic {indexing_maps = [affine_map<(i, o, n, p) -> (n, i)>, affine_map<(i, o, n, p) -> (n, p * 32 + o)>, affine_map<(i, o, n, p) -> (p, i, o)>],
                            iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%x, %dy : tensor<100x96xf32>, tensor<100x64xf32>) outs(%f : tensor<2x96x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x96x32xf32>
  %g = tensor.empty() : tensor<64x96xf32>
  %dw = linalg.generic {indexing_maps = [affine_map<(o, i, p) -> (p, i, o)>, affine_map<(o, i, p) -> (p * 32 + o, i)>],
                        iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%panels : tensor<2x96x32xf32>) outs(%g : tensor<64x96xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<64x96xf32>
  %w_vector = tensor.collapse_shape %w [[0, 1]] : tensor<64x96xf32> into tensor<6144xf32>
  %dw_vector = tensor.collapse_shape %dw [[0, 1]] : tensor<64x96xf32> into tensor<6144xf32>
  %h = tensor.empty() : tensor<6144xf32>
  %new:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                           iterator_types = ["parallel"]}
      ins(%w_vector, %dw_vector, %v : tensor<6144xf32>, tensor<6144xf32>, tensor<6144xf32>) outs(%h, %h : tensor<6144xf32>, tensor<6144xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %e0: f32):
    %s = arith.addf %b, %c : f32
    %t = arith.mulf %s, %rate : f32
    %u = arith.subf %a, %t : f32
    linalg.yield %u, %s : f32, f32
  } -> (tensor<6144xf32>, tensor<6144xf32>)
  %new_w = tensor.expand_shape %new#0 [[0, 1]] output_shape [64, 96] : tensor<6144xf32> into tensor<64x96xf32>
  bufferization.materialize_in_destination %new_w in restrict writable %w_memory : (tensor<64x96xf32>, memref<64x96xf32>) -> ()
  bufferization.materialize_in_destination %new#1 in restrict writable %v_memory : (tensor<6144xf32>, memref<6144xf32>) -> ()
  %shown = memref.get_global @result.w : memref<6144xf32>
  bufferization.materialize_in_destination %new#0 in restrict writable %shown : (tensor<6144xf32>, memref<6144xf32>) -> ()
  return
}
