memref.global "private" constant @literal : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
func.func @netc_step(%arena: memref<256xi8>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %a = memref.view %arena[%c0][] : memref<256xi8> to memref<4xf32>
  %x = memref.load %a[%c2] : memref<4xf32>
  %y = arith.addf %x, %x : f32
  memref.store %y, %a[%c0] : memref<4xf32>
  %literal = memref.get_global @literal : memref<4xf32>
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%literal : memref<4xf32>) outs(%a : memref<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}
