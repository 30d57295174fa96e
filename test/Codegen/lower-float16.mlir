// RUN: netc-opt --net-lower-float16=converts-halves=true %s | FileCheck %s
// RUN: netc-opt --net-lower-float16 %s | FileCheck --check-prefix=PLAIN %s
// RUN: netc-opt --net-lower-float16=converts-bfloats=true %s | FileCheck --check-prefix=CONVERTS %s
// RUN: not netc-opt --net-lower-float16 %S/Inputs/float16-arithmetic.mlir 2>&1 | FileCheck --check-prefix=ERROR %s

// What a program says of its slots stays.
// CHECK: module attributes {net.slots = [{{.*}}memref<2xbf16>
module attributes {net.slots = [#net.slot<name = "w", role = parameter, type = memref<2xbf16>>]} {

// Widening is a shift, rounding a sum and a shift; what is no number stays none.
// CHECK-LABEL: func @bfloat(
// CHECK-SAME:      %[[X:.*]]: memref<4xi16>, %[[Y:.*]]: memref<4xi16>)
// CHECK:         %[[BITS:.*]] = memref.load %[[X]]
// CHECK:         %[[WIDE:.*]] = arith.extui %[[BITS]] : i16 to i32
// CHECK:         %[[UP:.*]] = arith.shli %[[WIDE]]
// CHECK:         %[[F:.*]] = arith.bitcast %[[UP]] : i32 to f32
// CHECK:         %[[SUM:.*]] = arith.addf %[[F]], %[[F]] : f32
// CHECK:         %[[SUMBITS:.*]] = arith.bitcast %[[SUM]] : f32 to i32
// CHECK:         arith.cmpf ord, %[[SUM]], %[[SUM]]
// CHECK:         %[[HIGH:.*]] = arith.shrui
// CHECK:         %[[LOW:.*]] = arith.trunci %[[HIGH]] : i32 to i16
// CHECK:         memref.store %[[LOW]], %[[Y]]
// With an instruction there is less to do.
// CONVERTS-LABEL: func @bfloat(
// CONVERTS:         %[[LOW:.*]] = arith.truncf %{{.*}} : f32 to bf16
// CONVERTS-NEXT:    arith.bitcast %[[LOW]] : bf16 to i16
func.func @bfloat(%x: memref<4xbf16>, %y: memref<4xbf16>) {
  %c0 = arith.constant 0 : index
  %a = memref.load %x[%c0] : memref<4xbf16>
  %wide = arith.extf %a : bf16 to f32
  %sum = arith.addf %wide, %wide : f32
  %low = arith.truncf %sum : f32 to bf16
  memref.store %low, %y[%c0] : memref<4xbf16>
  return
}

// Vectors, and numbers that are written, alike.
// CHECK-LABEL: func @vectors
// CHECK-DAG:     arith.constant dense<16256> : vector<8xi16>
// CHECK:         vector.maskedload {{.*}} : memref<64xi16>, vector<8xi1>, vector<8xi16> into vector<8xi16>
// CHECK:         arith.extui {{.*}} : vector<8xi16> to vector<8xi32>
// CHECK-NOT:     bf16
func.func @vectors(%x: memref<64xbf16>, %mask: vector<8xi1>) -> vector<8xf32> {
  %c0 = arith.constant 0 : index
  %ones = arith.constant dense<1.0> : vector<8xbf16>
  %a = vector.maskedload %x[%c0], %mask, %ones : memref<64xbf16>, vector<8xi1>, vector<8xbf16> into vector<8xbf16>
  %wide = arith.extf %a : vector<8xbf16> to vector<8xf32>
  return %wide : vector<8xf32>
}

// An f16 is converted where there is an instruction; what f64 computes is rounded once.
// CHECK-LABEL: func @half
// CHECK:         %[[H:.*]] = arith.bitcast %{{.*}} : i16 to f16
// CHECK:         %[[F:.*]] = arith.extf %[[H]] : f16 to f32
// CHECK:         arith.extf %[[F]] : f32 to f64
// CHECK:         arith.truncf %{{.*}} : f64 to f32
// CHECK:         arith.truncf %{{.*}} : f32 to f16
// PLAIN-LABEL: func @half
// PLAIN-NOT:     f16 to
// PLAIN-NOT:     to f16
// PLAIN:         return
func.func @half(%x: f16) -> f16 {
  %wide = arith.extf %x : f16 to f64
  %twice = arith.addf %wide, %wide : f64
  %y = arith.truncf %twice : f64 to f16
  return %y : f16
}
}

// ERROR: error: arithmetic on numbers of 16 bits
