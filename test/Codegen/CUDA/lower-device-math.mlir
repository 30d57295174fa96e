// RUN: netc-opt --net-lower-device-math --split-input-file --verify-diagnostics %s | FileCheck %s
// RUN: netc-opt --net-lower-device-math=approximate --split-input-file --verify-diagnostics %s | FileCheck %s --check-prefix=FAST

// What a device has an instruction for stays; what else there is is computed in
// f64. The larger of two f64 is NaN if one is.
// CHECK-LABEL: func.func private @kernel
// CHECK: math.sqrt %{{.*}} : f32
// CHECK: %[[WIDE:.*]] = arith.extf %{{.*}} : f32 to f64
// CHECK: %[[Y:.*]] = call @netc_exp(%[[WIDE]])
// CHECK: arith.truncf %[[Y]] : f64 to f32
// CHECK: arith.maximumf %{{.*}} : f32
// CHECK-NOT: arith.maximumf
// CHECK: arith.cmpf ogt
// CHECK: arith.cmpf uno
// CHECK: return
// CHECK: func.func private @netc_exp

// Fast code computes what is frequent in f32.
// FAST-LABEL: func.func private @kernel
// FAST: call @netc_exp_f32(%{{.*}}) : (f32) -> f32
// FAST: arith.extf %{{.*}} : f32 to f64
// FAST: call @netc_sin(
func.func private @kernel(%x: f32, %y: f64) attributes {net.threads = 1 : i64} {
  %root = math.sqrt %x : f32
  %power = math.exp %root : f32
  %largest = arith.maximumf %power, %x : f32
  %wide = arith.extf %largest : f32 to f64
  %most = arith.maximumf %wide, %y : f64
  %sine = math.sin %x : f32
  return
}

// -----

func.func private @kernel(%x: f32) attributes {net.threads = 1 : i64} {
  // expected-error @+1 {{`math.atan` cannot be computed on a device yet}}
  %angle = math.atan %x : f32
  return
}

// -----

// One instruction rounds to bf16; LLVM would compute that by integers.
// CHECK-LABEL: func.func private @rounded
// CHECK: llvm.inline_asm {{.*}}"cvt.rn.bf16.f32 $0, $1;", "=h,f"
// CHECK-NOT: arith.truncf
func.func private @rounded(%x: f32) -> bf16 attributes {net.threads = 1 : i64} {
  %y = arith.truncf %x : f32 to bf16
  return %y : bf16
}
