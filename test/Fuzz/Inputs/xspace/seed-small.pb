
¡/device:GPU:0€Stream #17(Kernel)ÕÍ7"1ÈýöÍ€¤Ù""8"*jit(f)/conv"è"1ÈýöÍ€¤Ù""8"*jit(f)/conv"è"gemm.kd*correlation_id*kernel_details*	tf_op*	flops*,($ grid:16,1,1 block:512,1,1 occ_pct:0
\	/host:CPUtÕÍ7"¨F""hipModuleLaunchKernel*correlation_id