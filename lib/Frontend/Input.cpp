// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Frontend/Input.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace netc;
using llvm::StringRef;

llvm::Expected<std::string> netc::readText(StringRef path, size_t maxBytes) {
  namespace fs = llvm::sys::fs;
  fs::file_t file = fs::getStdinHandle();
  if (path != "-") {
    // A pipe may block, and a device may never end.
    fs::file_status status;
    if (std::error_code error = fs::status(path, status))
      return llvm::errorCodeToError(error);
    if (!fs::is_regular_file(status))
      return llvm::createStringError("it is not a regular file");
    llvm::Expected<fs::file_t> opened = fs::openNativeFileForRead(path);
    if (!opened)
      return opened.takeError();
    file = *opened;
  }
  std::string text;
  char chunk[1 << 16];
  llvm::Error problem = llvm::Error::success();
  while (!problem && text.size() <= maxBytes) {
    llvm::Expected<size_t> size =
        fs::readNativeFile(file, llvm::MutableArrayRef(chunk, sizeof chunk));
    if (!size)
      problem = size.takeError();
    else if (*size == 0)
      break;
    else
      text.append(chunk, *size);
  }
  if (path != "-")
    fs::closeFile(file);
  if (problem)
    return problem;
  return text;
}

Message netc::longerThan(size_t maxBytes) {
  return error::InputTooLong(maxBytes);
}

StringRef netc::otherFormat(StringRef path, StringRef text) {
  const char *utf16 = "text in UTF-16; netc reads UTF-8";
  const std::pair<StringRef, StringRef> beginnings[] = {
      {"PK\3\4", "a zip archive, as checkpoints of PyTorch are"},
      {"\x80\2", "a pickle, as old checkpoints of PyTorch are"},
      {"\x89HDF", "an HDF5 file, as models of Keras are"},
      {"GGUF", "a GGUF model"},
      {"\x93NUMPY", "an array of NumPy"},
      {"\x7f"
       "ELF",
       "a program"},
      {"%PDF", "a PDF"},
      {"\x1f\x8b", "compressed"},
      {"\xff\xfe", utf16},
      {"\xfe\xff", utf16},
  };
  for (auto &[beginning, format] : beginnings)
    if (text.starts_with(beginning))
      return format;
  StringRef format =
      llvm::StringSwitch<StringRef>(llvm::sys::path::extension(path).lower())
          .Case(".onnx",
                "an ONNX model, which `netc.from_onnx` in Python takes")
          .Cases(".pt", ".pth", ".ckpt", "a checkpoint")
          .Case(".safetensors", "a file of weights")
          .Case(".tflite", "a TensorFlow Lite model")
          .Case(".pb", "a protocol buffer, as graphs of TensorFlow are")
          .Case(".prototxt", "a protocol buffer, as networks of Caffe are")
          .Case(".py", "a Python program")
          .Case(".ipynb", "a notebook")
          .Case(".json", "JSON, of which `netc import` takes a `config.json`")
          .Cases(".yaml", ".yml",
                 "YAML, of which `--hardware` takes accelerators")
          .Case(".mlir", "MLIR, which netc-opt reads")
          .Default("");
  if (format.empty() && text.take_front(1 << 12).contains('\0'))
    return "no text";
  return format;
}
