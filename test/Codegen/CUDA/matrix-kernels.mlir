// RUN: netc-opt --net-tile-kernels %s | FileCheck %s
// RUN: netc-opt --net-tile-kernels="print-schedules" %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=SCHEDULE

// Products of bf16 are computed by matrix instructions. A is copied by chunks of 16 bytes while others are computed with; B, whose
// rows start anywhere, element by element.
// SCHEDULE: remark: product 40 x 48 x 64: 6 blocks of 2 x 1 warps, matrices of 32 x 16 x 32, 4 stages, 12288 bytes of shared memory; A in chunks along k, B by element along n; executes 393216 of 245760 FLOP
// CHECK: memref.global "private" @matrices_stages : memref<12288xi8, 3> = uninitialized
// CHECK-LABEL: func.func private @matrices
// CHECK: cp.async.cg.shared.global [$0], [$1], 16, $2;
// CHECK: cp.async.commit_group
// CHECK: scf.for
// CHECK: cp.async.wait_group
// CHECK: nvvm.barrier0
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};
// A lane stores two sums of f32, which four lanes fill 32 bytes with.
// CHECK-NOT: nvvm.barrier0
// CHECK: vector.store {{.*}} memref<1920xf32{{.*}}, vector<2xf32>
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

// Sums that an epilogue reads go through shared memory, where the stages were: a thread stores 16 bytes of a row, and reads as many
// of what is added.
// SCHEDULE: remark: product 40 x 48 x 64
// CHECK-LABEL: func.func private @rounded
// CHECK: mma.sync
// CHECK: nvvm.barrier0
// CHECK: vector.store {{.*}} : memref<3072xf32, 3>, vector<2xf32>
// CHECK: nvvm.barrier0
// CHECK: vector.load {{.*}} : memref<3072xf32, 3>, vector<4xf32>
// CHECK: vector.load {{.*}} : memref<3072xf32, 3>, vector<4xf32>
// CHECK: vector.load {{.*}} vector<8xbf16>
// CHECK: vector.store {{.*}} vector<8xbf16>
func.func private @rounded(%a: memref<40x64xbf16> {llvm.align = 16 : i64}, %b: memref<64x48xbf16> {llvm.align = 16 : i64},
                           %add: memref<40x48xbf16> {llvm.align = 16 : i64}, %y: memref<40x48xbf16> {llvm.align = 16 : i64}) {
  scf.execute_region {
    %zero = arith.constant 0.0 : f32
    %c = memref.alloc() : memref<40x48xf32>
    linalg.fill ins(%zero : f32) outs(%c : memref<40x48xf32>)
    linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                    iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<40x64xbf16>, memref<64x48xbf16>) outs(%c : memref<40x48xf32>) {
    ^bb0(%x: bf16, %w: bf16, %sum: f32):
      %u = arith.extf %x : bf16 to f32
      %v = arith.extf %w : bf16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %sum, %p : f32
      linalg.yield %s : f32
    }
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                    iterator_types = ["parallel", "parallel"]}
        ins(%c, %add : memref<40x48xf32>, memref<40x48xbf16>) outs(%y : memref<40x48xbf16>) {
    ^bb0(%sum: f32, %z: bf16, %old: bf16):
      %rounded = arith.truncf %sum : f32 to bf16
      %r = arith.addf %rounded, %z : bf16
      linalg.yield %r : bf16
    }
    scf.yield
  }
  return
}

// Rows of 42 elements start at multiples of 4 bytes, so a thread stores two elements.
// SCHEDULE: remark: product 40 x 42 x 64
// SCHEDULE-NOT: remark
// CHECK-LABEL: func.func private @short_vectors
// CHECK: vector.load {{.*}} : memref<{{[0-9]+}}xf32, 3>, vector<2xf32>
// CHECK: vector.load {{.*}} vector<2xbf16>
// CHECK: vector.store {{.*}} vector<2xbf16>
func.func private @short_vectors(%a: memref<40x64xbf16> {llvm.align = 16 : i64}, %b: memref<64x42xbf16> {llvm.align = 16 : i64},
                           %add: memref<40x42xbf16> {llvm.align = 16 : i64}, %y: memref<40x42xbf16> {llvm.align = 16 : i64}) {
  scf.execute_region {
    %zero = arith.constant 0.0 : f32
    %c = memref.alloc() : memref<40x42xf32>
    linalg.fill ins(%zero : f32) outs(%c : memref<40x42xf32>)
    linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                    iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<40x64xbf16>, memref<64x42xbf16>) outs(%c : memref<40x42xf32>) {
    ^bb0(%x: bf16, %w: bf16, %sum: f32):
      %u = arith.extf %x : bf16 to f32
      %v = arith.extf %w : bf16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %sum, %p : f32
      linalg.yield %s : f32
    }
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                    iterator_types = ["parallel", "parallel"]}
        ins(%c, %add : memref<40x42xf32>, memref<40x42xbf16>) outs(%y : memref<40x42xbf16>) {
    ^bb0(%sum: f32, %z: bf16, %old: bf16):
      %rounded = arith.truncf %sum : f32 to bf16
      %r = arith.addf %rounded, %z : bf16
      linalg.yield %r : bf16
    }
    scf.yield
  }
  return
}
