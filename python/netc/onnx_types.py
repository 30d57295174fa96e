# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Types of numbers in ONNX, and netc's names of them."""

from onnx import TensorProto, helper

from .number_types import NumberTypes


class _Types(NumberTypes):
    def named(self, kind):
        return TensorProto.DataType.Name(kind)


TYPES = _Types({
    TensorProto.DOUBLE: "f64", TensorProto.FLOAT: "f32", TensorProto.FLOAT16: "f16", TensorProto.BFLOAT16: "bf16",
    TensorProto.INT64: "i64", TensorProto.INT32: "i32", TensorProto.INT16: "i16", TensorProto.INT8: "i8",
    TensorProto.UINT8: "u8", TensorProto.BOOL: "bool",
})  # fmt: skip
ONNX_TYPES = {name: kind for kind, name in TYPES.items()}


def numpy_type(name):
    """The type of numpy for a type of netc."""
    return helper.tensor_dtype_to_np_dtype(ONNX_TYPES[name])
