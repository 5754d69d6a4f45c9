"""The C API of libcuproof_ops.so and the ceilings of libcuproof_ops_bench.so, through ctypes."""

import ctypes
from ctypes import POINTER, Structure, c_char_p, c_float, c_int, c_int32, c_int64, c_size_t
from ctypes import c_uint8, c_uint16, c_void_p

import torch

DTYPES = {torch.float32: 0, torch.float16: 1, torch.bfloat16: 2}


class List(Structure):
    _fields_ = [("data", POINTER(c_void_p)), ("elements", POINTER(c_int64)),
                ("dtype", POINTER(c_uint8)), ("count", c_int64)]


class NormOutputs(Structure):
    _fields_ = [("total_norm", c_void_p), ("tensor_norms", c_void_p), ("found_inf", c_void_p),
                ("first_bad", c_void_p), ("loss_scale", c_void_p), ("max_norm", c_float),
                ("factor", c_void_p), ("grad_scale", c_void_p)]


class NormParams(Structure):
    _fields_ = [("grads", List), ("out", NormOutputs), ("max_ctas", c_int32)]


class ScaleParams(Structure):
    _fields_ = [("grads", List), ("factor", c_void_p), ("reciprocal", c_int32),
                ("found_inf", c_void_p), ("max_ctas", c_int32)]


class AccumulateParams(Structure):
    _fields_ = [("grads", List), ("accumulators", POINTER(c_void_p)), ("overwrite", c_int32),
                ("out", NormOutputs), ("max_ctas", c_int32)]


class GuardParams(Structure):
    _fields_ = [("tensors", List), ("ring", c_void_p), ("found_inf", c_void_p),
                ("first_bad", c_void_p), ("site", c_uint16), ("advance_step", c_uint16),
                ("max_ctas", c_int32)]


def stream():
    return torch.cuda.current_stream().cuda_stream


def tensor_list(tensors):
    """A List that keeps its arrays alive."""
    count = len(tensors)
    made = List()
    made.arrays = ((c_void_p * count)(*[t.data_ptr() for t in tensors]),
                   (c_int64 * count)(*[t.numel() for t in tensors]),
                   (c_uint8 * count)(*[DTYPES[t.dtype] for t in tensors]))
    made.data, made.elements, made.dtype = made.arrays
    made.count = count
    return made


class Outputs:
    """Device memory for all that a norm tells."""

    def __init__(self, count, max_norm=0.0, loss_scale=None):
        def floats(n):
            return torch.full((n,), float("nan"), device="cuda")
        self.total_norm, self.found_inf = floats(1), floats(1)
        self.tensor_norms = floats(max(count, 1))
        self.factor, self.grad_scale = floats(1), floats(1)
        self.first_bad = torch.zeros(3, dtype=torch.int64, device="cuda")
        self.loss_scale = loss_scale
        self.struct = NormOutputs(
            self.total_norm.data_ptr(), self.tensor_norms.data_ptr(), self.found_inf.data_ptr(),
            self.first_bad.data_ptr(), loss_scale.data_ptr() if loss_scale is not None else None,
            max_norm, self.factor.data_ptr(), self.grad_scale.data_ptr())


class Library:
    """libcuproof_ops.so. Each method makes a callable that launches once on the current stream."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.lib.cuproof_ops_last_error.restype = c_char_p
        self.lib.cuproof_ops_version.restype = c_char_p
        self.lib.cuproof_ops_guard_ring_bytes.restype = c_size_t
        self.lib.cuproof_ops_guard_ring_bytes.argtypes = [ctypes.c_uint32]
        self.lib.cuproof_ops_guard_ring_init.argtypes = [c_void_p, c_size_t, ctypes.c_uint32,
                                                         c_void_p]

    def version(self):
        return self.lib.cuproof_ops_version().decode()

    def check(self, status):
        if status != 0:
            raise RuntimeError(self.lib.cuproof_ops_last_error().decode() or f"status {status}")

    def prepare(self):
        self.check(self.lib.cuproof_ops_prepare(torch.cuda.current_device()))

    def workspace(self, name, tensors):
        bytes_needed = c_size_t()
        function = getattr(self.lib, f"cuproof_ops_{name}_workspace")
        self.check(function(ctypes.byref(tensors), ctypes.byref(bytes_needed)))
        return torch.empty(max(bytes_needed.value, 16), dtype=torch.uint8, device="cuda")

    def _with_workspace(self, name, params, tensors, *kept):
        function = getattr(self.lib, f"cuproof_ops_{name}")
        workspace = self.workspace(name, tensors)
        reference, size = ctypes.byref(params), c_size_t(workspace.numel())
        address = c_void_p(workspace.data_ptr())

        def call():
            status = function(reference, address, size, c_void_p(stream()))
            if status != 0:
                self.check(status)
        call.kept = (params, tensors, workspace, *kept)
        return call

    def grad_norm(self, tensors, out, max_ctas=0):
        made = tensor_list(tensors)
        params = NormParams(made, out.struct, max_ctas)
        return self._with_workspace("grad_norm", params, made, tensors, out)

    def grad_accumulate(self, grads, accumulators, out, overwrite=False):
        made = tensor_list(grads)
        table = (c_void_p * len(grads))(*[a.data_ptr() for a in accumulators])
        params = AccumulateParams(made, table, int(overwrite), out.struct, 0)
        return self._with_workspace("grad_accumulate", params, made, grads, accumulators, table, out)

    def guard(self, tensors, found_inf, ring=None, site=0):
        made = tensor_list(tensors)
        params = GuardParams(made, ring.data_ptr() if ring is not None else None,
                             found_inf.data_ptr(), None, site, 1 if ring is not None else 0, 0)
        return self._with_workspace("nonfinite_guard", params, made, tensors, found_inf, ring)

    def guard_ring(self, capacity):
        size = self.lib.cuproof_ops_guard_ring_bytes(capacity)
        ring = torch.empty(size, dtype=torch.uint8, device="cuda")
        self.check(self.lib.cuproof_ops_guard_ring_init(ring.data_ptr(), size, capacity, stream()))
        return ring

    def grad_scale(self, tensors, factor, reciprocal=False, found_inf=None):
        made = tensor_list(tensors)
        params = ScaleParams(made, factor.data_ptr(), int(reciprocal),
                             found_inf.data_ptr() if found_inf is not None else None, 0)
        function, reference = self.lib.cuproof_ops_grad_scale, ctypes.byref(params)

        def call():
            status = function(reference, c_void_p(stream()))
            if status != 0:
                self.check(status)
        call.kept = (params, made, tensors, factor, found_inf)
        return call


class Ceilings:
    """libcuproof_ops_bench.so: what the memory gives at best."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.lib.cuproof_ops_bench_shape_name.restype = c_char_p
        self.sink = torch.zeros(1, dtype=torch.int32, device="cuda")
        self.shapes = [self.lib.cuproof_ops_bench_shape_name(i).decode()
                       for i in range(self.lib.cuproof_ops_bench_shapes())]

    @staticmethod
    def check(status):
        if status != 0:
            raise RuntimeError(f"ceiling kernel: CUDA error {status}")

    def read(self, buffer, shape):
        def call():
            self.check(self.lib.cuproof_ops_bench_read(
                c_void_p(buffer.data_ptr()), c_size_t(nbytes(buffer)), c_int(shape),
                c_void_p(self.sink.data_ptr()), c_void_p(stream())))
        return call

    def copy(self, target, source, shape):
        def call():
            self.check(self.lib.cuproof_ops_bench_copy(
                c_void_p(target.data_ptr()), c_void_p(source.data_ptr()),
                c_size_t(nbytes(source)), c_int(shape), c_void_p(stream())))
        return call

    def memcpy(self, target, source):
        def call():
            self.check(self.lib.cuproof_ops_bench_memcpy(
                c_void_p(target.data_ptr()), c_void_p(source.data_ptr()),
                c_size_t(nbytes(source)), c_void_p(stream())))
        return call

    def graph_nodes(self, graph):
        """(kernels, others) of a torch CUDAGraph made with keep_graph."""
        kernels, others = c_int(), c_int()
        self.check(self.lib.cuproof_ops_bench_graph_nodes(
            c_void_p(graph.raw_cuda_graph()), ctypes.byref(kernels), ctypes.byref(others)))
        return kernels.value, others.value


def nbytes(tensor):
    return tensor.numel() * tensor.element_size()
