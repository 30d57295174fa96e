// Two sums of the columns of a matrix, which start at 0.
func.func @netc_step(%arena: memref<256xi8>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  %x = memref.view %arena[%c0][] : memref<256xi8> to memref<4x4xf32>
  %sums = memref.view %arena[%c64][] : memref<256xi8> to memref<4xf32>
  %squares = memref.view %arena[%c128][] : memref<256xi8> to memref<4xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<4xf32>)
  linalg.fill ins(%zero : f32) outs(%squares : memref<4xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, k) -> (k, i)>, affine_map<(i, k) -> (i)>, affine_map<(i, k) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x4xf32>) outs(%sums, %squares : memref<4xf32>, memref<4xf32>) {
  ^bb0(%a: f32, %sum: f32, %square: f32):
    %s = arith.addf %sum, %a : f32
    %p = arith.mulf %a, %a : f32
    %q = arith.addf %square, %p : f32
    linalg.yield %s, %q : f32, f32
  }
  return
}
