// RUN: netc-opt --net-tile-kernels=arch=sm_90a %s | FileCheck %s
// RUN: netc-opt --net-tile-kernels="arch=sm_90a print-schedules" %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=SCHEDULE

// Products that fill the device are computed by warpgroups. They read A and B in shared memory, which is dynamic if it is large.
// SCHEDULE: remark: product 4096 x 4096 x 1024: 512 blocks of 2 warpgroups, matrices of 128 x 256 x 64, 4 stages, 196608 bytes of shared memory; A in chunks along k, B in chunks along n; executes 34359738368 of 34359738368 FLOP
// CHECK: memref.global "public" @large_stages : memref<0xi8, 3> {alignment = 1024 : i64}
// CHECK-LABEL: func.func private @large
// CHECK-SAME: net.shared_bytes = 196608
// CHECK: cp.async.cg.shared.global [$0], [$1], 16, $2;
// CHECK: cp.async.commit_group
// CHECK: llvm.mlir.undef : f32
// CHECK: scf.for
// CHECK: cp.async.wait_group
// CHECK-NEXT: fence.proxy.async.shared::cta;
// CHECK-NEXT: nvvm.barrier0
// CHECK: wgmma.fence.sync.aligned;
// CHECK: wgmma.mma_async.sync.aligned.m64n{{[0-9]+}}k16.f32.bf16.bf16 {$0, $1,{{.*}}}, ${{[0-9]+}}, ${{[0-9]+}}, ${{[0-9]+}}, 1, 1, 0, 1;
// CHECK-COUNT-3: wgmma.mma_async
// CHECK: wgmma.commit_group
// CHECK: cp.async.cg
// CHECK: wgmma.wait_group.sync.aligned 1;
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: vector.store {{.*}} vector<2xf32>
func.func private @large(%a: memref<4096x1024xbf16> {llvm.align = 16 : i64}, %b: memref<1024x4096xbf16> {llvm.align = 16 : i64},
                         %c: memref<4096x4096xf32> {llvm.align = 16 : i64}) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<4096x4096xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<4096x1024xbf16>, memref<1024x4096xbf16>) outs(%c : memref<4096x4096xf32>) {
  ^bb0(%x: bf16, %y: bf16, %sum: f32):
    %u = arith.extf %x : bf16 to f32
    %v = arith.extf %y : bf16 to f32
    %p = arith.mulf %u, %v : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Small ones stay with warps.
// SCHEDULE: remark: product 64 x 64 x 64: {{.*}} warps, matrices
// CHECK-LABEL: func.func private @small
// CHECK-NOT: wgmma
// CHECK: mma.sync
// CHECK-NOT: wgmma
func.func private @small(%a: memref<64x64xf16> {llvm.align = 16 : i64}, %b: memref<64x64xf16> {llvm.align = 16 : i64},
                         %c: memref<64x64xf32> {llvm.align = 16 : i64}) {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) outs(%c : memref<64x64xf32>) {
  ^bb0(%x: f16, %y: f16, %sum: f32):
    %u = arith.extf %x : f16 to f32
    %v = arith.extf %y : f16 to f32
    %p = arith.mulf %u, %v : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  }
  return
}
