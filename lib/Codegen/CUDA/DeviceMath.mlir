// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Math functions for devices, which have no libm: of f64, and those of f32 that fast
// code has. Errors are a few units in the last place; zeros, infinities and NaN give
// what libm's functions do.
// `math.fma`, `math.roundeven` and `math.absf` are instructions on every device.

// With k the integer nearest to x / ln 2 and r = x - k ln 2, e^x = 2^k e^r, where
// |r| <= ln 2 / 2 and the series of e^r ends at r^13.
func.func private @netc_exp(%x: f64) -> f64 attributes {passthrough = ["alwaysinline"]} {
  %low = arith.constant 0xC089000000000000 : f64
  %high = arith.constant 0x4089000000000000 : f64
  %below = arith.cmpf olt, %x, %low : f64
  %bounded = arith.select %below, %low, %x : f64
  %above = arith.cmpf ogt, %bounded, %high : f64
  %y = arith.select %above, %high, %bounded : f64
  %log2e = arith.constant 0x3FF71547652B82FE : f64
  %scaled = arith.mulf %y, %log2e : f64
  %k = math.roundeven %scaled : f64
  %ln2_high = arith.constant 0xBFE62E42FEFA39EF : f64
  %ln2_low = arith.constant 0xBC7ABC9E3B39803F : f64
  %near = math.fma %k, %ln2_high, %y : f64
  %r = math.fma %k, %ln2_low, %near : f64
  %e13 = arith.constant 0x3DE6124613A86D09 : f64
  %e12 = arith.constant 0x3E21EED8EFF8D898 : f64
  %series_12 = math.fma %e13, %r, %e12 : f64
  %e11 = arith.constant 0x3E5AE64567F544E4 : f64
  %series_11 = math.fma %series_12, %r, %e11 : f64
  %e10 = arith.constant 0x3E927E4FB7789F5C : f64
  %series_10 = math.fma %series_11, %r, %e10 : f64
  %e9 = arith.constant 0x3EC71DE3A556C734 : f64
  %series_9 = math.fma %series_10, %r, %e9 : f64
  %e8 = arith.constant 0x3EFA01A01A01A01A : f64
  %series_8 = math.fma %series_9, %r, %e8 : f64
  %e7 = arith.constant 0x3F2A01A01A01A01A : f64
  %series_7 = math.fma %series_8, %r, %e7 : f64
  %e6 = arith.constant 0x3F56C16C16C16C17 : f64
  %series_6 = math.fma %series_7, %r, %e6 : f64
  %e5 = arith.constant 0x3F81111111111111 : f64
  %series_5 = math.fma %series_6, %r, %e5 : f64
  %e4 = arith.constant 0x3FA5555555555555 : f64
  %series_4 = math.fma %series_5, %r, %e4 : f64
  %e3 = arith.constant 0x3FC5555555555555 : f64
  %series_3 = math.fma %series_4, %r, %e3 : f64
  %e2 = arith.constant 0x3FE0000000000000 : f64
  %series_2 = math.fma %series_3, %r, %e2 : f64
  %e1 = arith.constant 0x3FF0000000000000 : f64
  %series_1 = math.fma %series_2, %r, %e1 : f64
  %e0 = arith.constant 0x3FF0000000000000 : f64
  %series = math.fma %series_1, %r, %e0 : f64
  // 2^k in two factors: their product may be subnormal, or infinite.
  %whole = arith.fptosi %k : f64 to i64
  %c1 = arith.constant 1 : i64
  %half = arith.shrsi %whole, %c1 : i64
  %rest = arith.subi %whole, %half : i64
  %bias = arith.constant 1023 : i64
  %c52 = arith.constant 52 : i64
  %half_biased = arith.addi %half, %bias : i64
  %half_bits = arith.shli %half_biased, %c52 : i64
  %half_power = arith.bitcast %half_bits : i64 to f64
  %rest_biased = arith.addi %rest, %bias : i64
  %rest_bits = arith.shli %rest_biased, %c52 : i64
  %rest_power = arith.bitcast %rest_bits : i64 to f64
  %partly = arith.mulf %series, %half_power : f64
  %power = arith.mulf %partly, %rest_power : f64
  %is_nan = arith.cmpf uno, %x, %x : f64
  %result = arith.select %is_nan, %x, %power : f64
  return %result : f64
}

// With x = 2^k m, m from sqrt(1/2) to sqrt(2), and s = (m - 1) / (m + 1),
// log x = k ln 2 + 2 (s + s^3 / 3 + s^5 / 5 + ..).
func.func private @netc_log(%x: f64) -> f64 attributes {passthrough = ["alwaysinline"]} {
  %zero = arith.constant 0x0000000000000000 : f64
  %one = arith.constant 0x3FF0000000000000 : f64
  %smallest = arith.constant 0x0010000000000000 : f64
  %two54 = arith.constant 0x4350000000000000 : f64
  %infinity = arith.constant 0x7FF0000000000000 : f64
  %is_tiny = arith.cmpf olt, %x, %smallest : f64
  %raised = arith.mulf %x, %two54 : f64
  %normal = arith.select %is_tiny, %raised, %x : f64
  %bits = arith.bitcast %normal : f64 to i64
  // Bits of sqrt(1/2), subtracted to take the exponent, and added again for m.
  %root = arith.constant 0x3FE6A09E667F3BCD : i64
  %above = arith.subi %bits, %root : i64
  %c52 = arith.constant 52 : i64
  %exponent = arith.shrsi %above, %c52 : i64
  %taken = arith.shli %exponent, %c52 : i64
  %m_bits = arith.subi %bits, %taken : i64
  %m = arith.bitcast %m_bits : i64 to f64
  %c54 = arith.constant 54 : i64
  %c0 = arith.constant 0 : i64
  %offset = arith.select %is_tiny, %c54, %c0 : i64
  %whole = arith.subi %exponent, %offset : i64
  %k = arith.sitofp %whole : i64 to f64
  %f = arith.subf %m, %one : f64
  %sum = arith.addf %m, %one : f64
  %s = arith.divf %f, %sum : f64
  %z = arith.mulf %s, %s : f64
  %l10 = arith.constant 0x3FB642C8590B2164 : f64
  %l9 = arith.constant 0x3FB8618618618618 : f64
  %tail_9 = math.fma %l10, %z, %l9 : f64
  %l8 = arith.constant 0x3FBAF286BCA1AF28 : f64
  %tail_8 = math.fma %tail_9, %z, %l8 : f64
  %l7 = arith.constant 0x3FBE1E1E1E1E1E1E : f64
  %tail_7 = math.fma %tail_8, %z, %l7 : f64
  %l6 = arith.constant 0x3FC1111111111111 : f64
  %tail_6 = math.fma %tail_7, %z, %l6 : f64
  %l5 = arith.constant 0x3FC3B13B13B13B14 : f64
  %tail_5 = math.fma %tail_6, %z, %l5 : f64
  %l4 = arith.constant 0x3FC745D1745D1746 : f64
  %tail_4 = math.fma %tail_5, %z, %l4 : f64
  %l3 = arith.constant 0x3FCC71C71C71C71C : f64
  %tail_3 = math.fma %tail_4, %z, %l3 : f64
  %l2 = arith.constant 0x3FD2492492492492 : f64
  %tail_2 = math.fma %tail_3, %z, %l2 : f64
  %l1 = arith.constant 0x3FD999999999999A : f64
  %tail_1 = math.fma %tail_2, %z, %l1 : f64
  %l0 = arith.constant 0x3FE5555555555555 : f64
  %tail = math.fma %tail_1, %z, %l0 : f64
  %cube = arith.mulf %z, %s : f64
  %twice = arith.addf %s, %s : f64
  %log_m = math.fma %cube, %tail, %twice : f64
  %ln2_high = arith.constant 0x3FE62E42FEFA39EF : f64
  %ln2_low = arith.constant 0x3C7ABC9E3B39803F : f64
  %low = math.fma %k, %ln2_low, %log_m : f64
  %finite = math.fma %k, %ln2_high, %low : f64
  %minus_infinity = arith.constant 0xFFF0000000000000 : f64
  %nan = arith.constant 0x7FF8000000000000 : f64
  %is_zero = arith.cmpf oeq, %x, %zero : f64
  %or_zero = arith.select %is_zero, %minus_infinity, %finite : f64
  %is_infinite = arith.cmpf oeq, %x, %infinity : f64
  %or_infinite = arith.select %is_infinite, %x, %or_zero : f64
  %has_none = arith.cmpf ult, %x, %zero : f64
  %result = arith.select %has_none, %nan, %or_infinite : f64
  return %result : f64
}

// |x|^y = e^(y log |x|), with the sign that an odd integer y keeps.
func.func private @netc_powf(%x: f64, %y: f64) -> f64 attributes {passthrough = ["alwaysinline"]} {
  %zero = arith.constant 0x0000000000000000 : f64
  %one = arith.constant 0x3FF0000000000000 : f64
  %half = arith.constant 0x3FE0000000000000 : f64
  %nan = arith.constant 0x7FF8000000000000 : f64
  %size = math.absf %x : f64
  %log = func.call @netc_log(%size) : (f64) -> f64
  %exponent = arith.mulf %y, %log : f64
  %power = func.call @netc_exp(%exponent) : (f64) -> f64
  %rounded = math.roundeven %y : f64
  %is_integer = arith.cmpf oeq, %rounded, %y : f64
  %halved = arith.mulf %y, %half : f64
  %half_rounded = math.roundeven %halved : f64
  %is_odd = arith.cmpf one, %half_rounded, %halved : f64
  %negated = arith.negf %power : f64
  %signed = arith.select %is_odd, %negated, %power : f64
  %of_integer = arith.select %is_integer, %signed, %nan : f64
  %is_negative = arith.cmpf olt, %x, %zero : f64
  %of_sign = arith.select %is_negative, %of_integer, %power : f64
  %no_exponent = arith.cmpf oeq, %y, %zero : f64
  %is_one = arith.cmpf oeq, %x, %one : f64
  %trivial = arith.ori %no_exponent, %is_one : i1
  %result = arith.select %trivial, %one, %of_sign : f64
  return %result : f64
}

// 1 - 2 / (e^2|x| + 1), and near 0 the series.
func.func private @netc_tanh(%x: f64) -> f64 attributes {passthrough = ["alwaysinline"]} {
  %one = arith.constant 0x3FF0000000000000 : f64
  %two = arith.constant 0x4000000000000000 : f64
  %half_way = arith.constant 0x3FE0000000000000 : f64
  %size = math.absf %x : f64
  %twice = arith.mulf %size, %two : f64
  %e = func.call @netc_exp(%twice) : (f64) -> f64
  %sum = arith.addf %e, %one : f64
  %off = arith.divf %two, %sum : f64
  %positive = arith.subf %one, %off : f64
  %far = math.copysign %positive, %x : f64
  %z = arith.mulf %x, %x : f64
  %t16 = arith.constant 0xBE875CDE6563FED9 : f64
  %t15 = arith.constant 0x3E9CD299DE4AE6BB : f64
  %tail_15 = math.fma %t16, %z, %t15 : f64
  %t14 = arith.constant 0xBEB1C77DF95C1C0D : f64
  %tail_14 = math.fma %tail_15, %z, %t14 : f64
  %t13 = arith.constant 0x3EC5EF2DA474E5B7 : f64
  %tail_13 = math.fma %tail_14, %z, %t13 : f64
  %t12 = arith.constant 0xBEDB0F72D3EE24E9 : f64
  %tail_12 = math.fma %tail_13, %z, %t12 : f64
  %t11 = arith.constant 0x3EF0B132D39A6050 : f64
  %tail_11 = math.fma %tail_12, %z, %t11 : f64
  %t10 = arith.constant 0xBF0497D8EEA25259 : f64
  %tail_10 = math.fma %tail_11, %z, %t10 : f64
  %t9 = arith.constant 0x3F1967E18AFCAFAD : f64
  %tail_9 = math.fma %tail_10, %z, %t9 : f64
  %t8 = arith.constant 0xBF2F57D7734D1664 : f64
  %tail_8 = math.fma %tail_9, %z, %t8 : f64
  %t7 = arith.constant 0x3F43558248036744 : f64
  %tail_7 = math.fma %tail_8, %z, %t7 : f64
  %t6 = arith.constant 0xBF57DA36452B75E3 : f64
  %tail_6 = math.fma %tail_7, %z, %t6 : f64
  %t5 = arith.constant 0x3F6D6D3D0E157DE0 : f64
  %tail_5 = math.fma %tail_6, %z, %t5 : f64
  %t4 = arith.constant 0xBF8226E355E6C23D : f64
  %tail_4 = math.fma %tail_5, %z, %t4 : f64
  %t3 = arith.constant 0x3F9664F4882C10FA : f64
  %tail_3 = math.fma %tail_4, %z, %t3 : f64
  %t2 = arith.constant 0xBFABA1BA1BA1BA1C : f64
  %tail_2 = math.fma %tail_3, %z, %t2 : f64
  %t1 = arith.constant 0x3FC1111111111111 : f64
  %tail_1 = math.fma %tail_2, %z, %t1 : f64
  %t0 = arith.constant 0xBFD5555555555555 : f64
  %tail = math.fma %tail_1, %z, %t0 : f64
  %zx = arith.mulf %z, %x : f64
  %near = math.fma %zx, %tail, %x : f64
  %is_near = arith.cmpf olt, %size, %half_way : f64
  %result = arith.select %is_near, %near, %far : f64
  return %result : f64
}

// Near 0 the series; else 1 - e^(-x^2) p(u) with u = a (|x| - 2) / (|x| + 2) + b,
// where p interpolates e^(x^2) erfc(x) at Chebyshev nodes in 1/2 .. 6.25.
func.func private @netc_erf(%x: f64) -> f64 attributes {passthrough = ["alwaysinline"]} {
  %one = arith.constant 0x3FF0000000000000 : f64
  %two = arith.constant 0x4000000000000000 : f64
  %limit = arith.constant 0x3FE0000000000000 : f64
  %last = arith.constant 0x4019000000000000 : f64
  %a = arith.constant 0x3FFCB21642C8590B : f64
  %b = arith.constant 0x3FB37A6F4DE9BD38 : f64
  %size = math.absf %x : f64
  %is_far = arith.cmpf ogt, %size, %last : f64
  %y = arith.select %is_far, %last, %size : f64
  %difference = arith.subf %y, %two : f64
  %sum = arith.addf %y, %two : f64
  %ratio = arith.divf %difference, %sum : f64
  %u = math.fma %ratio, %a, %b : f64
  %p20 = arith.constant 0x3D5C121A47788D95 : f64
  %p19 = arith.constant 0x3D671DF25F617A97 : f64
  %p_19 = math.fma %p20, %u, %p19 : f64
  %p18 = arith.constant 0xBD93906925257349 : f64
  %p_18 = math.fma %p_19, %u, %p18 : f64
  %p17 = arith.constant 0xBDB57AD877AF71CB : f64
  %p_17 = math.fma %p_18, %u, %p17 : f64
  %p16 = arith.constant 0xBDA23C30C6830CAD : f64
  %p_16 = math.fma %p_17, %u, %p16 : f64
  %p15 = arith.constant 0x3DED683E2F76EFDC : f64
  %p_15 = math.fma %p_16, %u, %p15 : f64
  %p14 = arith.constant 0x3E0C39EC22A50C80 : f64
  %p_14 = math.fma %p_15, %u, %p14 : f64
  %p13 = arith.constant 0xBDF49C52137C797E : f64
  %p_13 = math.fma %p_14, %u, %p13 : f64
  %p12 = arith.constant 0xBE4B748AAAB25F4D : f64
  %p_12 = math.fma %p_13, %u, %p12 : f64
  %p11 = arith.constant 0xBE61B6D900F557A4 : f64
  %p_11 = math.fma %p_12, %u, %p11 : f64
  %p10 = arith.constant 0x3E7E2F77855A3DD1 : f64
  %p_10 = math.fma %p_11, %u, %p10 : f64
  %p9 = arith.constant 0x3EABFF66DE852FDB : f64
  %p_9 = math.fma %p_10, %u, %p9 : f64
  %p8 = arith.constant 0xBE89A8B9E61F7838 : f64
  %p_8 = math.fma %p_9, %u, %p8 : f64
  %p7 = arith.constant 0xBEF1515573066ACA : f64
  %p_7 = math.fma %p_8, %u, %p7 : f64
  %p6 = arith.constant 0xBEF17812DAF04E47 : f64
  %p_6 = math.fma %p_7, %u, %p6 : f64
  %p5 = arith.constant 0x3F39580AF0E960BF : f64
  %p_5 = math.fma %p_6, %u, %p5 : f64
  %p4 = arith.constant 0x3F2C3AD2E06DEB21 : f64
  %p_4 = math.fma %p_5, %u, %p4 : f64
  %p3 = arith.constant 0xBF8C37CF495F7D88 : f64
  %p_3 = math.fma %p_4, %u, %p3 : f64
  %p2 = arith.constant 0x3FB4092FA169BB19 : f64
  %p_2 = math.fma %p_3, %u, %p2 : f64
  %p1 = arith.constant 0xBFCFFB65B3BD1AB5 : f64
  %p_1 = math.fma %p_2, %u, %p1 : f64
  %p0 = arith.constant 0x3FD1888E3DC95A2E : f64
  %p = math.fma %p_1, %u, %p0 : f64
  %square = arith.mulf %y, %y : f64
  %minus_square = arith.negf %square : f64
  %e = func.call @netc_exp(%minus_square) : (f64) -> f64
  %off = arith.mulf %e, %p : f64
  %positive = arith.subf %one, %off : f64
  %far = math.copysign %positive, %x : f64
  %z = arith.mulf %x, %x : f64
  %s12 = arith.constant 0x3DD9E6AD5E55A730 : f64
  %s11 = arith.constant 0xBE151D7181C5D36D : f64
  %series_11 = math.fma %s12, %z, %s11 : f64
  %s10 = arith.constant 0x3E4FCC5720624C1C : f64
  %series_10 = math.fma %series_11, %z, %s10 : f64
  %s9 = arith.constant 0xBE85F742EC43E71A : f64
  %series_9 = math.fma %series_10, %z, %s9 : f64
  %s8 = arith.constant 0x3EBB9E6C9DC651A3 : f64
  %series_8 = math.fma %series_9, %z, %s8 : f64
  %s7 = arith.constant 0xBEEF4D25C3E0C2EB : f64
  %series_7 = math.fma %series_8, %z, %s7 : f64
  %s6 = arith.constant 0x3F1F9A326F9B89B7 : f64
  %series_6 = math.fma %series_7, %z, %s6 : f64
  %s5 = arith.constant 0xBF4C02DB40040B86 : f64
  %series_5 = math.fma %series_6, %z, %s5 : f64
  %s4 = arith.constant 0x3F7565BCD0E6A53F : f64
  %series_4 = math.fma %series_5, %z, %s4 : f64
  %s3 = arith.constant 0xBF9B82CE31288B51 : f64
  %series_3 = math.fma %series_4, %z, %s3 : f64
  %s2 = arith.constant 0x3FBCE2F21A042BE2 : f64
  %series_2 = math.fma %series_3, %z, %s2 : f64
  %s1 = arith.constant 0xBFD812746B0379E7 : f64
  %series_1 = math.fma %series_2, %z, %s1 : f64
  %s0 = arith.constant 0x3FF20DD750429B6D : f64
  %series = math.fma %series_1, %z, %s0 : f64
  %near = arith.mulf %series, %x : f64
  // NaN takes the series.
  %is_near = arith.cmpf ult, %size, %limit : f64
  %result = arith.select %is_near, %near, %far : f64
  return %result : f64
}

// With k the integer nearest to x / (pi/2) and r = x - k pi/2, subtracted in three
// parts: the series of sin r or cos r, with a sign, by k + `quarters` mod 4.
func.func private @netc_turned(%x: f64, %quarters: i64) -> f64 attributes {passthrough = ["alwaysinline"]} {
  %inverse = arith.constant 0x3FE45F306DC9C883 : f64
  %first = arith.constant 0xBFF921FB54442D18 : f64
  %second = arith.constant 0xBC91A62633145C07 : f64
  %third = arith.constant 0x391F1976B7ED8FBC : f64
  %scaled = arith.mulf %x, %inverse : f64
  %k = math.roundeven %scaled : f64
  %r1 = math.fma %k, %first, %x : f64
  %r2 = math.fma %k, %second, %r1 : f64
  %r = math.fma %k, %third, %r2 : f64
  %z = arith.mulf %r, %r : f64
  %s8 = arith.constant 0xBC62F49B46814157 : f64
  %s7 = arith.constant 0x3CE952C77030AD4A : f64
  %sine_tail_7 = math.fma %s8, %z, %s7 : f64
  %s6 = arith.constant 0xBD6AE7F3E733B81F : f64
  %sine_tail_6 = math.fma %sine_tail_7, %z, %s6 : f64
  %s5 = arith.constant 0x3DE6124613A86D09 : f64
  %sine_tail_5 = math.fma %sine_tail_6, %z, %s5 : f64
  %s4 = arith.constant 0xBE5AE64567F544E4 : f64
  %sine_tail_4 = math.fma %sine_tail_5, %z, %s4 : f64
  %s3 = arith.constant 0x3EC71DE3A556C734 : f64
  %sine_tail_3 = math.fma %sine_tail_4, %z, %s3 : f64
  %s2 = arith.constant 0xBF2A01A01A01A01A : f64
  %sine_tail_2 = math.fma %sine_tail_3, %z, %s2 : f64
  %s1 = arith.constant 0x3F81111111111111 : f64
  %sine_tail_1 = math.fma %sine_tail_2, %z, %s1 : f64
  %s0 = arith.constant 0xBFC5555555555555 : f64
  %sine_tail = math.fma %sine_tail_1, %z, %s0 : f64
  %zr = arith.mulf %z, %r : f64
  %sine = math.fma %zr, %sine_tail, %r : f64
  %c9 = arith.constant 0xBCA6827863B97D97 : f64
  %c8 = arith.constant 0x3D2AE7F3E733B81F : f64
  %cosine_8 = math.fma %c9, %z, %c8 : f64
  %c7 = arith.constant 0xBDA93974A8C07C9D : f64
  %cosine_7 = math.fma %cosine_8, %z, %c7 : f64
  %c6 = arith.constant 0x3E21EED8EFF8D898 : f64
  %cosine_6 = math.fma %cosine_7, %z, %c6 : f64
  %c5 = arith.constant 0xBE927E4FB7789F5C : f64
  %cosine_5 = math.fma %cosine_6, %z, %c5 : f64
  %c4 = arith.constant 0x3EFA01A01A01A01A : f64
  %cosine_4 = math.fma %cosine_5, %z, %c4 : f64
  %c3 = arith.constant 0xBF56C16C16C16C17 : f64
  %cosine_3 = math.fma %cosine_4, %z, %c3 : f64
  %c2 = arith.constant 0x3FA5555555555555 : f64
  %cosine_2 = math.fma %cosine_3, %z, %c2 : f64
  %c1 = arith.constant 0xBFE0000000000000 : f64
  %cosine_1 = math.fma %cosine_2, %z, %c1 : f64
  %c0 = arith.constant 0x3FF0000000000000 : f64
  %cosine = math.fma %cosine_1, %z, %c0 : f64
  %whole = arith.fptosi %k : f64 to i64
  %quadrant = arith.addi %whole, %quarters : i64
  %c1_i64 = arith.constant 1 : i64
  %c2_i64 = arith.constant 2 : i64
  %c0_i64 = arith.constant 0 : i64
  %odd = arith.andi %quadrant, %c1_i64 : i64
  %is_odd = arith.cmpi ne, %odd, %c0_i64 : i64
  %value = arith.select %is_odd, %cosine, %sine : f64
  %upper = arith.andi %quadrant, %c2_i64 : i64
  %is_upper = arith.cmpi ne, %upper, %c0_i64 : i64
  %negated = arith.negf %value : f64
  %result = arith.select %is_upper, %negated, %value : f64
  return %result : f64
}

func.func private @netc_sin(%x: f64) -> f64 attributes {passthrough = ["alwaysinline"]} {
  %quarters = arith.constant 0 : i64
  %y = func.call @netc_turned(%x, %quarters) : (f64, i64) -> f64
  return %y : f64
}

func.func private @netc_cos(%x: f64) -> f64 attributes {passthrough = ["alwaysinline"]} {
  %quarters = arith.constant 1 : i64
  %y = func.call @netc_turned(%x, %quarters) : (f64, i64) -> f64
  return %y : f64
}

//===----------------------------------------------------------------------===//
// f32
//===----------------------------------------------------------------------===//

// Devices have instructions for 2^x, with a relative error of up to 2^-22, and for
// 1 / x, with one of 2^-23. With these the errors of the functions are up to 5 units
// in the last place (exp, tanh), 2 (erf) and 1 (log), and 1, 2, 2 and 1 where the
// instructions round to nearest.

func.func private @netc_exp2_approx(%x: f32) -> f32 attributes {passthrough = ["alwaysinline"]} {
  %y = llvm.inline_asm "ex2.approx.ftz.f32 $0, $1;", "=f,f" %x : (f32) -> f32
  return %y : f32
}
func.func private @netc_rcp_approx(%x: f32) -> f32 attributes {passthrough = ["alwaysinline"]} {
  %y = llvm.inline_asm "rcp.approx.ftz.f32 $0, $1;", "=f,f" %x : (f32) -> f32
  return %y : f32
}

// With k the integer nearest to x log2 e, but not beyond the exponents of f32,
// e^x = 2^k 2^(x log2 e - k). The sum of k, the bias of exponents and 1.5 2^23 has k
// in its low bits.
func.func private @netc_exp_f32(%x: f32) -> f32 attributes {passthrough = ["alwaysinline"]} {
  %low = arith.constant 0xC2AE0000 : f32
  %high = arith.constant 0x42B00000 : f32
  %above = arith.maxnumf %x, %low : f32
  %y = arith.minnumf %above, %high : f32
  %log2e = arith.constant 0x3FB8AA3B : f32
  %log2e_low = arith.constant 0x32A57060 : f32
  %shifter = arith.constant 0x4B40007F : f32
  %shifted = math.fma %y, %log2e, %shifter : f32
  %k = arith.subf %shifted, %shifter : f32
  %minus_k = arith.negf %k : f32
  %near = math.fma %x, %log2e, %minus_k : f32
  %r = math.fma %x, %log2e_low, %near : f32
  %fraction = func.call @netc_exp2_approx(%r) : (f32) -> f32
  %bits = arith.bitcast %shifted : f32 to i32
  %c23 = arith.constant 23 : i32
  %power_bits = arith.shli %bits, %c23 : i32
  %power = arith.bitcast %power_bits : i32 to f32
  %result = arith.mulf %fraction, %power : f32
  return %result : f32
}

// With x = 2^k (1 + f), 1 + f from 2/3 to 4/3, log x = k ln 2 + log(1 + f).
func.func private @netc_log_f32(%x: f32) -> f32 attributes {passthrough = ["alwaysinline"]} {
  %zero = arith.constant 0x00000000 : f32
  %one = arith.constant 0x3F800000 : f32
  %smallest = arith.constant 0x00800000 : f32
  %two23 = arith.constant 0x4B000000 : f32
  %infinity = arith.constant 0x7F800000 : f32
  %is_tiny = arith.cmpf olt, %x, %smallest : f32
  %raised = arith.mulf %x, %two23 : f32
  %normal = arith.select %is_tiny, %raised, %x : f32
  %bits = arith.bitcast %normal : f32 to i32
  // Bits of 2/3, subtracted to take the exponent.
  %two_thirds = arith.constant 0x3F2AAAAB : i32
  %above = arith.subi %bits, %two_thirds : i32
  %c23 = arith.constant 23 : i32
  %exponent = arith.shrsi %above, %c23 : i32
  %taken = arith.shli %exponent, %c23 : i32
  %m_bits = arith.subi %bits, %taken : i32
  %m = arith.bitcast %m_bits : i32 to f32
  %c0 = arith.constant 0 : i32
  %offset = arith.select %is_tiny, %c23, %c0 : i32
  %whole = arith.subi %exponent, %offset : i32
  %k = arith.sitofp %whole : i32 to f32
  %f = arith.subf %m, %one : f32
  %square = arith.mulf %f, %f : f32
  %l8 = arith.constant 0xBE03E240 : f32
  %l7 = arith.constant 0x3E0F3665 : f32
  %tail_7 = math.fma %l8, %f, %l7 : f32
  %l6 = arith.constant 0xBDF9995D : f32
  %tail_6 = math.fma %tail_7, %f, %l6 : f32
  %l5 = arith.constant 0x3E0F6AB1 : f32
  %tail_5 = math.fma %tail_6, %f, %l5 : f32
  %l4 = arith.constant 0xBE2ACE33 : f32
  %tail_4 = math.fma %tail_5, %f, %l4 : f32
  %l3 = arith.constant 0x3E4CE828 : f32
  %tail_3 = math.fma %tail_4, %f, %l3 : f32
  %l2 = arith.constant 0xBE7FFF7D : f32
  %tail_2 = math.fma %tail_3, %f, %l2 : f32
  %l1 = arith.constant 0x3EAAAA83 : f32
  %tail_1 = math.fma %tail_2, %f, %l1 : f32
  %l0 = arith.constant 0xBF000000 : f32
  %tail = math.fma %tail_1, %f, %l0 : f32
  %log_m = math.fma %tail, %square, %f : f32
  %ln2 = arith.constant 0x3F317218 : f32
  %finite = math.fma %k, %ln2, %log_m : f32
  %minus_infinity = arith.constant 0xFF800000 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %is_zero = arith.cmpf oeq, %x, %zero : f32
  %or_zero = arith.select %is_zero, %minus_infinity, %finite : f32
  %is_infinite = arith.cmpf oeq, %x, %infinity : f32
  %or_infinite = arith.select %is_infinite, %x, %or_zero : f32
  %has_none = arith.cmpf ult, %x, %zero : f32
  %result = arith.select %has_none, %nan, %or_infinite : f32
  return %result : f32
}

// 1 - 2 / (e^2|x| + 1), and near 0 a polynomial of x^2.
func.func private @netc_tanh_f32(%x: f32) -> f32 attributes {passthrough = ["alwaysinline"]} {
  %one = arith.constant 0x3F800000 : f32
  %minus_two = arith.constant 0xC0000000 : f32
  %limit = arith.constant 0x3F0CCCCD : f32
  %twice_log2e = arith.constant 0x4038AA3B : f32
  %size = math.absf %x : f32
  %scaled = arith.mulf %size, %twice_log2e : f32
  %e = func.call @netc_exp2_approx(%scaled) : (f32) -> f32
  %sum = arith.addf %e, %one : f32
  %inverse = func.call @netc_rcp_approx(%sum) : (f32) -> f32
  %positive = math.fma %inverse, %minus_two, %one : f32
  %far = math.copysign %positive, %x : f32
  %z = arith.mulf %x, %x : f32
  %t3 = arith.constant 0x3C86A8BB : f32
  %t2 = arith.constant 0xBD57BE9B : f32
  %tail_2 = math.fma %t3, %z, %t2 : f32
  %t1 = arith.constant 0x3E08677E : f32
  %tail_1 = math.fma %tail_2, %z, %t1 : f32
  %t0 = arith.constant 0xBEAAAA29 : f32
  %tail = math.fma %tail_1, %z, %t0 : f32
  %zx = arith.mulf %z, %x : f32
  %near = math.fma %zx, %tail, %x : f32
  %is_near = arith.cmpf olt, %size, %limit : f32
  %result = arith.select %is_near, %near, %far : f32
  return %result : f32
}

// 1 - 2^(|x| p(|x|)), and near 0 a polynomial of x^2. Beyond 4 the result is 1.
func.func private @netc_erf_f32(%x: f32) -> f32 attributes {passthrough = ["alwaysinline"]} {
  %one = arith.constant 0x3F800000 : f32
  %limit = arith.constant 0x3F6B851F : f32
  %last = arith.constant 0x40800000 : f32
  %size = math.absf %x : f32
  %y = arith.minnumf %size, %last : f32
  %p5 = arith.constant 0x39A251C1 : f32
  %p4 = arith.constant 0xBB983911 : f32
  %p_4 = math.fma %p5, %y, %p4 : f32
  %p3 = arith.constant 0x3D075BC8 : f32
  %p_3 = math.fma %p_4, %y, %p3 : f32
  %p2 = arith.constant 0xBE1B8AE1 : f32
  %p_2 = math.fma %p_3, %y, %p2 : f32
  %p1 = arith.constant 0xBF6AC864 : f32
  %p_1 = math.fma %p_2, %y, %p1 : f32
  %p0 = arith.constant 0xBFD065EA : f32
  %p = math.fma %p_1, %y, %p0 : f32
  %exponent = arith.mulf %p, %y : f32
  %off = func.call @netc_exp2_approx(%exponent) : (f32) -> f32
  %positive = arith.subf %one, %off : f32
  %far = math.copysign %positive, %x : f32
  %z = arith.mulf %x, %x : f32
  %s5 = arith.constant 0xBA1D62CA : f32
  %s4 = arith.constant 0x3BA3B441 : f32
  %tail_4 = math.fma %s5, %z, %s4 : f32
  %s3 = arith.constant 0xBCDB49C8 : f32
  %tail_3 = math.fma %tail_4, %z, %s3 : f32
  %s2 = arith.constant 0x3DE70D87 : f32
  %tail_2 = math.fma %tail_3, %z, %s2 : f32
  %s1 = arith.constant 0xBEC09375 : f32
  %tail_1 = math.fma %tail_2, %z, %s1 : f32
  %s0 = arith.constant 0x3E0375D3 : f32
  %tail = math.fma %tail_1, %z, %s0 : f32
  %near = math.fma %tail, %x, %x : f32
  // NaN takes the polynomial.
  %is_near = arith.cmpf ult, %size, %limit : f32
  %result = arith.select %is_near, %near, %far : f32
  return %result : f32
}
