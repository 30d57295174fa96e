// RUN: netc-opt --pass-pipeline="builtin.module(func.func(net-fuse-attention))" %s | FileCheck %s --check-prefix=FUSED
// RUN: netc-opt --net-tile-kernels %s | FileCheck %s
// RUN: netc-opt --net-tile-kernels="print-schedules" %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=SCHEDULE

// The ops of an attention become one kernel, with the buffers that nothing else reads in it. The largest score and the
// sum are not shown.
// FUSED-LABEL: func.func @step
// FUSED: memref.alloc() : memref<2x32x24xf32>
// FUSED-NEXT: scf.execute_region
// FUSED-DAG: memref.alloc() : memref<2x32x48xf32>
// FUSED-DAG: memref.alloc() : memref<2x32x48xbf16>
// FUSED: outs(%{{.*}} : memref<2x32x24xf32>)
// FUSED: scf.yield
// FUSED: return
func.func @step(%q: memref<2x32x16xbf16>, %k: memref<2x48x16xbf16>, %v: memref<2x48x24xbf16>) -> memref<2x32x24xf32> {
  %zero = arith.constant 0.0 : f32
  %s = memref.alloc() : memref<2x32x48xf32>
  %x = memref.alloc() : memref<2x32x48xbf16>
  %l = memref.alloc() : memref<2x32xf32>
  %o = memref.alloc() : memref<2x32x24xf32>
  linalg.fill {net.attention = "start"} ins(%zero : f32) outs(%s : memref<2x32x48xf32>)
  linalg.generic {indexing_maps = [affine_map<(n, i, j, d) -> (n, i, d)>, affine_map<(n, i, j, d) -> (n, j, d)>, affine_map<(n, i, j, d) -> (n, i, j)>],
                  iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : memref<2x32x16xbf16>, memref<2x48x16xbf16>) outs(%s : memref<2x32x48xf32>) attrs = {net.attention = "scores"} {
  ^bb0(%a: bf16, %b: bf16, %sum: f32):
    %u = arith.extf %a : bf16 to f32
    %w = arith.extf %b : bf16 to f32
    %p = arith.mulf %u, %w : f32
    %r = arith.addf %sum, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [affine_map<(n, i, j) -> (n, i, j)>, affine_map<(n, i, j) -> (n, i, j)>],
                  iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : memref<2x32x48xf32>) outs(%x : memref<2x32x48xbf16>) attrs = {net.attention = "elements"} {
  ^bb0(%a: f32, %out: bf16):
    %r = arith.truncf %a : f32 to bf16
    linalg.yield %r : bf16
  }
  linalg.generic {indexing_maps = [affine_map<(n, i, j) -> (n, i, j)>, affine_map<(n, i, j) -> (n, i)>, affine_map<(n, i, j) -> (n, i, j)>],
                  iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %l : memref<2x32x48xf32>, memref<2x32xf32>) outs(%x : memref<2x32x48xbf16>) attrs = {net.attention = "weights"} {
  ^bb0(%a: f32, %b: f32, %out: bf16):
    %d = arith.divf %a, %b : f32
    %r = arith.truncf %d : f32 to bf16
    linalg.yield %r : bf16
  }
  linalg.generic {indexing_maps = [affine_map<(n, i, c, j) -> (n, i, j)>, affine_map<(n, i, c, j) -> (n, j, c)>, affine_map<(n, i, c, j) -> (n, i, c)>],
                  iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %v : memref<2x32x48xbf16>, memref<2x48x24xbf16>) outs(%o : memref<2x32x24xf32>) attrs = {net.attention = "results"} {
  ^bb0(%a: bf16, %b: bf16, %sum: f32):
    %u = arith.extf %a : bf16 to f32
    %t = arith.extf %b : bf16 to f32
    %p = arith.mulf %u, %t : f32
    %r = arith.addf %sum, %p : f32
    linalg.yield %r : f32
  }
  return %o : memref<2x32x24xf32>
}

// Scores are in registers: products of Q and K, their exponentials relative to the largest of a row so far, products with V.
// SCHEDULE: remark: attention of 32 rows to 48 keys of 16 and values of 24, 2 times: 2 blocks of 64 threads, 32 rows and 64 keys at a time, 16384 bytes of shared memory; executes 393216 of 245760 FLOP
// CHECK: memref.global "private" @attention_tiles : memref<{{[0-9]+}}xbf16, 3> = uninitialized
// CHECK-LABEL: func.func private @attention
// CHECK-NOT: memref.alloc
// CHECK: cp.async.cg.shared.global
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: nvvm.barrier0
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK: arith.maximumf
// CHECK: nvvm.shfl.sync bfly
// CHECK: ex2.approx.ftz.f32 $0, $1
// CHECK: cvt.rn.bf16x2.f32 $0, $2, $1
// CHECK: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK: mma.sync
// CHECK: arith.divf
// CHECK: vector.store {{.*}} vector<2xf32>
// CHECK-NOT: linalg.generic
func.func private @attention(%q: memref<2x32x16xbf16> {llvm.align = 16 : i64}, %k: memref<2x48x16xbf16> {llvm.align = 16 : i64},
                             %v: memref<2x48x24xbf16> {llvm.align = 16 : i64}, %o: memref<2x32x24xf32> {llvm.align = 16 : i64}) {
  %zero = arith.constant 0.0 : f32
  scf.execute_region {
    %s = memref.alloc() : memref<2x32x48xf32>
    %x = memref.alloc() : memref<2x32x48xbf16>
    %l = memref.alloc() : memref<2x32xf32>
    linalg.fill {net.attention = "start"} ins(%zero : f32) outs(%s : memref<2x32x48xf32>)
    linalg.generic {indexing_maps = [affine_map<(n, i, j, d) -> (n, i, d)>, affine_map<(n, i, j, d) -> (n, j, d)>, affine_map<(n, i, j, d) -> (n, i, j)>],
                    iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%q, %k : memref<2x32x16xbf16>, memref<2x48x16xbf16>) outs(%s : memref<2x32x48xf32>) attrs = {net.attention = "scores"} {
    ^bb0(%a: bf16, %b: bf16, %sum: f32):
      %u = arith.extf %a : bf16 to f32
      %w = arith.extf %b : bf16 to f32
      %p = arith.mulf %u, %w : f32
      %r = arith.addf %sum, %p : f32
      linalg.yield %r : f32
    }
    linalg.generic {indexing_maps = [affine_map<(n, i, j) -> (n, i, j)>, affine_map<(n, i, j) -> (n, i, j)>],
                    iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%s : memref<2x32x48xf32>) outs(%x : memref<2x32x48xbf16>) attrs = {net.attention = "elements"} {
    ^bb0(%a: f32, %out: bf16):
      %r = arith.truncf %a : f32 to bf16
      linalg.yield %r : bf16
    }
    linalg.generic {indexing_maps = [affine_map<(n, i, j) -> (n, i, j)>, affine_map<(n, i, j) -> (n, i)>, affine_map<(n, i, j) -> (n, i, j)>],
                    iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%s, %l : memref<2x32x48xf32>, memref<2x32xf32>) outs(%x : memref<2x32x48xbf16>) attrs = {net.attention = "weights"} {
    ^bb0(%a: f32, %b: f32, %out: bf16):
      %d = arith.divf %a, %b : f32
      %r = arith.truncf %d : f32 to bf16
      linalg.yield %r : bf16
    }
    linalg.generic {indexing_maps = [affine_map<(n, i, c, j) -> (n, i, j)>, affine_map<(n, i, c, j) -> (n, j, c)>, affine_map<(n, i, c, j) -> (n, i, c)>],
                    iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%x, %v : memref<2x32x48xbf16>, memref<2x48x24xbf16>) outs(%o : memref<2x32x24xf32>) attrs = {net.attention = "results"} {
    ^bb0(%a: bf16, %b: bf16, %sum: f32):
      %u = arith.extf %a : bf16 to f32
      %t = arith.extf %b : bf16 to f32
      %p = arith.mulf %u, %t : f32
      %r = arith.addf %sum, %p : f32
      linalg.yield %r : f32
    }
    scf.yield
  }
  return
}
