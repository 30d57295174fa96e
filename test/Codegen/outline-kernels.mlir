// RUN: netc-opt --net-outline-kernels %s | FileCheck %s
// RUN: netc-opt --net-outline-kernels="merge=false record=false" %s | FileCheck %s --check-prefix=ALL

// The two fills are one kernel; only the sum's start goes with it. Pointers into
// different buffers do not alias.
// CHECK: func.func private @kernel_1(%{{.*}}: !llvm.ptr {llvm.noalias})
// CHECK: linalg.fill
// CHECK: func.func private @kernel_2(%{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: !llvm.ptr {llvm.noalias})
// CHECK: linalg.fill
// CHECK: linalg.generic
// CHECK-NOT: @kernel_3
// CHECK: func.func @netc_step
// CHECK: call @kernel_1
// CHECK: %[[OP:.*]] = arith.constant 3 : i64
// CHECK: call @netc_record(%[[OP]])
// CHECK: call @kernel_1
// CHECK: call @kernel_2

// ALL: func.func private @kernel_3
// ALL-NOT: netc_record
func.func @netc_step(%arena: memref<256xi8>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %a = memref.view %arena[%c0][] : memref<256xi8> to memref<16xf32>
  %b = memref.view %arena[%c64][] : memref<256xi8> to memref<16xf32>
  %sum = memref.view %arena[%c128][] : memref<256xi8> to memref<f32>
  linalg.fill ins(%zero : f32) outs(%a : memref<16xf32>) loc(#first)
  linalg.fill ins(%zero : f32) outs(%b : memref<16xf32>) loc(#first)
  linalg.fill ins(%zero : f32) outs(%sum : memref<f32>) loc(#second)
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%a : memref<16xf32>) outs(%sum : memref<f32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %out, %in : f32
    linalg.yield %s : f32
  } loc(#second)
  return
}
#unknown = loc(unknown)
#first = loc(fused<3 : i64>[#unknown])
#second = loc(fused<4 : i64>[#unknown])

// What a step itself does with its memory is a kernel too, and literals are in
// kernels, where the memory is not at hand. An address is known to be a multiple
// of what a thread reads at once.
// RUN: netc-opt --net-outline-kernels="record=false self-contained alignment=16" %S/Inputs/scalars.mlir | FileCheck %s --check-prefix=SELF
// SELF: func.func private @kernel_1(%{{.*}}: !llvm.ptr {llvm.align = 16 : i64, llvm.noalias}) {
// SELF: memref.load
// SELF: arith.addf
// SELF: memref.store
// SELF: func.func private @kernel_2(%{{.*}}: !llvm.ptr {llvm.align = {{[0-9]+}} : i64, llvm.noalias}) {
// SELF: memref.get_global @literal
// SELF: linalg.generic
// SELF: func.func @netc_step
// SELF-NOT: memref.load
// SELF: call @kernel_1
// SELF: call @kernel_2

// Results that start at 0 do so in the kernel that adds to them. Where kernels are launched, this holds for several results, too.
// RUN: netc-opt --net-outline-kernels="record=false" %S/Inputs/filled-results.mlir | FileCheck %s --check-prefix=APART
// RUN: netc-opt --net-outline-kernels="record=false self-contained" %S/Inputs/filled-results.mlir | FileCheck %s --check-prefix=FILLED
// APART: func.func private @kernel_1
// APART: linalg.fill
// APART-NOT: linalg.generic
// APART: func.func private @kernel_2
// FILLED: func.func private @kernel_1
// FILLED-COUNT-2: linalg.fill
// FILLED: linalg.generic
// FILLED-NOT: func.func private
