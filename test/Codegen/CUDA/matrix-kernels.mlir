// RUN: netc-opt --net-tile-kernels %s | FileCheck %s
// RUN: netc-opt --net-tile-kernels="print-schedules" %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=SCHEDULE

// Products of bf16 are computed by matrix instructions. A is copied by chunks of 16 bytes while others are computed with; B, whose
// rows start anywhere, element by element.
// SCHEDULE: remark: product 40 x 48 x 64: 6 blocks of 2 x 1 warps, matrices of 32 x 16 x 32, 4 stages, 12288 bytes of shared memory; A in chunks along k, B by element along n; executes 393216 of 245760 FLOP
// CHECK: memref.global "private" @matrices_stages : memref<{{[0-9]+}}xbf16, 3> = uninitialized
// CHECK-LABEL: func.func private @matrices
// CHECK: cp.async.cg.shared.global [$0], [$1], 16, $2;
// CHECK: cp.async.commit_group
// CHECK: scf.for
// CHECK: cp.async.wait_group
// CHECK: nvvm.barrier0
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};
// CHECK: vector.store {{.*}} vector<2xf32>
func.func private @matrices(%a: memref<40x64xbf16> {llvm.align = 16 : i64}, %b: memref<64x48xbf16> {llvm.align = 2 : i64},
                            %c: memref<40x48xf32> {llvm.align = 16 : i64}) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<40x48xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<40x64xbf16>, memref<64x48xbf16>) outs(%c : memref<40x48xf32>) {
  ^bb0(%x: bf16, %y: bf16, %sum: f32):
    %u = arith.extf %x : bf16 to f32
    %v = arith.extf %y : bf16 to f32
    %p = arith.mulf %u, %v : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  }
  return
}

// The same with operands that change places.
// SCHEDULE: remark: product 48 x 40 x 64: 6 blocks of 2 x 1 warps, matrices of 32 x 16 x 32, 4 stages, 12288 bytes of shared memory; A by element along m, B in chunks along k; executes 393216 of 245760 FLOP
func.func private @swapped(%a: memref<64x48xf16> {llvm.align = 2 : i64}, %b: memref<40x64xf16> {llvm.align = 16 : i64},
                           %c: memref<48x40xf32> {llvm.align = 16 : i64}) {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<64x48xf16>, memref<40x64xf16>) outs(%c : memref<48x40xf32>) {
  ^bb0(%x: f16, %y: f16, %sum: f32):
    %u = arith.extf %x : f16 to f32
    %v = arith.extf %y : f16 to f32
    %p = arith.mulf %u, %v : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Products of f32 are in tf32 if the multiplication says so. Each operand is rounded after it is loaded: by ldmatrix along k, and by
// plain loads along m or n.
// SCHEDULE: remark: product 40 x 48 x 64: 6 blocks of 2 x 1 warps, matrices of 32 x 16 x 16, 4 stages, 12288 bytes of shared memory; A in chunks along k, B in chunks along n; executes 393216 of 245760 FLOP
// SCHEDULE-NOT: remark
// CHECK-LABEL: func.func private @tf32
// CHECK: cp.async.cg.shared.global
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: cvt.rna.tf32.f32 $0, $1;
// CHECK-NOT: .trans
// CHECK: memref.load {{.*}} : memref<{{[0-9]+}}xf32, 3>
// CHECK-NEXT: cvt.rna.tf32.f32 $0, $1;
// CHECK: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};
func.func private @tf32(%a: memref<40x64xf32> {llvm.align = 16 : i64}, %b: memref<64x48xf32> {llvm.align = 16 : i64},
                        %c: memref<40x48xf32> {llvm.align = 16 : i64}) {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<40x64xf32>, memref<64x48xf32>) outs(%c : memref<40x48xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %p = arith.mulf %x, %y {net.input_precision = tf32} : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  }
  return
}
