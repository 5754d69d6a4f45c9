// Sizes of types that extensions and torch hand to each other, or read inline: a change under unchanged names
// is one that no loader sees. Compiled against each release by layouts.py, never run.
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#define SIZE_OF(name, type) \
  extern "C" const unsigned long cuproof_size_##name = sizeof(type);

SIZE_OF(Argument, c10::Argument)
SIZE_OF(BoxedKernel, c10::BoxedKernel)
SIZE_OF(CppFunction, torch::CppFunction)
SIZE_OF(Device, c10::Device)
SIZE_OF(DispatchKeySet, c10::DispatchKeySet)
SIZE_OF(Error, c10::Error)
SIZE_OF(FunctionSchema, c10::FunctionSchema)
SIZE_OF(IValue, c10::IValue)
SIZE_OF(KernelFunction, c10::KernelFunction)
SIZE_OF(Library, torch::Library)
SIZE_OF(OperatorHandle, c10::OperatorHandle)
SIZE_OF(OperatorName, c10::OperatorName)
SIZE_OF(Scalar, c10::Scalar)
SIZE_OF(Storage, c10::Storage)
SIZE_OF(StorageImpl, c10::StorageImpl)
SIZE_OF(Stream, c10::Stream)
SIZE_OF(SymInt, c10::SymInt)
SIZE_OF(Tensor, at::Tensor)
SIZE_OF(TensorImpl, c10::TensorImpl)
SIZE_OF(TensorOptions, c10::TensorOptions)
SIZE_OF(TypeMeta, caffe2::TypeMeta)
SIZE_OF(intrusive_ptr_target, c10::intrusive_ptr_target)
