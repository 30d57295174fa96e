// RUN: netc-opt --net-split-device %s | FileCheck %s

// The step launches kernels by their numbers; pointers to the arguments lie on
// its stack. Dynamic shared memory is given to a launch.
// CHECK: module attributes {net.kernels = [#net.kernel<name = "first", blocks = 1, threads = 1>, #net.kernel<name = "second", blocks = 3, threads = 128, sharedBytes = 65536>]}
// CHECK: llvm.func @netc_launch(i64, !llvm.ptr)
// CHECK: module @device {
// CHECK: llvm.func @first() attributes {nvvm.kernel, nvvm.maxntid = array<i32: 1>}
// CHECK: llvm.func internal @helper()
// CHECK: llvm.func @second(%{{.*}}: !llvm.ptr) attributes {nvvm.kernel
// Vectors are aligned to their size, or to the 16 bytes of the widest access.
// CHECK-NEXT: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr -> vector<8xf32>
// CHECK-NEXT: llvm.load {{.*}} {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK: llvm.store {{.*}} {alignment = 4 : i64} : vector<2xf16>, !llvm.ptr
// CHECK: }
// CHECK: llvm.func @netc_step
// CHECK: llvm.alloca
// CHECK: llvm.call @netc_launch
// CHECK: llvm.store %arg0
// CHECK: llvm.call @netc_launch
// CHECK-NOT: llvm.call @second
llvm.func @first() attributes {net.threads = 1 : i64} {
  llvm.call @helper() : () -> ()
  llvm.return
}
llvm.func @helper() {
  llvm.return
}
llvm.func @second(%a: !llvm.ptr) attributes {net.threads = 300 : i64, net.shared_bytes = 65536 : i64} {
  %wide = llvm.load %a {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
  %scalar = llvm.load %a {alignment = 4 : i64} : !llvm.ptr -> f32
  %zeros = llvm.mlir.constant(dense<0.0> : vector<2xf16>) : vector<2xf16>
  llvm.store %zeros, %a {alignment = 2 : i64} : vector<2xf16>, !llvm.ptr
  llvm.return
}
llvm.func @netc_step(%arg0: !llvm.ptr) {
  llvm.call @first() : () -> ()
  llvm.call @second(%arg0) : (!llvm.ptr) -> ()
  llvm.return
}
