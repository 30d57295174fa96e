func.func @sum(%x: bf16) -> bf16 {
  %y = arith.addf %x, %x : bf16
  return %y : bf16
}
