// RUN: netc-opt --net-split-device %s | FileCheck %s

// The step launches kernels by their numbers; pointers to the arguments lie on
// its stack. Dynamic shared memory is given to a launch.
// CHECK: module attributes {net.kernels = [#net.kernel<name = "first", blocks = 1, threads = 1>, #net.kernel<name = "second", blocks = 3, threads = 128, sharedBytes = 65536>]}
// CHECK: llvm.func @netc_launch(i64, !llvm.ptr)
// CHECK: module @device {
// CHECK: llvm.func @first() attributes {nvvm.kernel, nvvm.maxntid = array<i32: 1>}
// CHECK: llvm.func internal @helper()
// CHECK: llvm.func @second(%{{.*}}: !llvm.ptr) attributes {nvvm.kernel
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
  llvm.return
}
llvm.func @netc_step(%arg0: !llvm.ptr) {
  llvm.call @first() : () -> ()
  llvm.call @second(%arg0) : (!llvm.ptr) -> ()
  llvm.return
}
