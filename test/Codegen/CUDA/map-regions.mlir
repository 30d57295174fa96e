// RUN: netc-opt --net-map-kernels --verify-diagnostics %s
// Ops of a region are one kernel, of which tiles must be emitted: one thread would take hours.

module {
  // expected-error @below {{the ops of a region have no threads}}
  func.func private @region(%x: memref<4xf32>) {
    %zero = arith.constant 0.0 : f32
    scf.execute_region {
      linalg.fill ins(%zero : f32) outs(%x : memref<4xf32>)
      linalg.fill ins(%zero : f32) outs(%x : memref<4xf32>)
      scf.yield
    }
    return
  }
}
