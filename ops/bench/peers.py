"""What our operators are measured against, each at its best configuration."""

import torch


def stack_norm(norms):
    return torch.linalg.vector_norm(torch.stack(norms))


def total_of(result):
    """The total norm in fp64 of whatever a peer returns: a total, or lists of norms."""
    if isinstance(result, torch.Tensor):
        return result.double()
    norms = [n.double() for group in result for n in group]
    return torch.linalg.vector_norm(torch.stack(norms))


def by_type(tensors):
    """Lists of one type each: only such lists take the fast path of _foreach functions."""
    groups = {}
    for t in tensors:
        groups.setdefault(t.dtype, []).append(t)
    return list(groups.values())


def foreach_norm(tensors, dtype=None):
    groups = by_type(tensors)
    return lambda: [torch._foreach_norm(g, 2.0, dtype=dtype) for g in groups]


def total_by_foreach(tensors, dtype=None):
    """The norm part of clip_grad_norm_(foreach=True): one norm a tensor, stack, norm of norms. Mixed
    types are grouped by type, as torch does it."""
    if dtype is None:
        from torch.nn.utils import clip_grad
        total = getattr(clip_grad, "get_total_norm", None) or clip_grad._get_total_norm
        return lambda: total(tensors, 2.0, foreach=True)
    groups = by_type(tensors)
    return lambda: stack_norm([n for g in groups for n in torch._foreach_norm(g, 2.0, dtype=dtype)])


def compiled_total(tensors):
    """Inductor: one reduction a tensor in fp32, then the norm of norms."""
    torch._dynamo.config.recompile_limit = 64

    def total(ts):
        return stack_norm([torch.linalg.vector_norm(t, dtype=torch.float32) for t in ts])
    compiled = torch.compile(total)
    return lambda: compiled(tensors)


def all_finite(tensor):
    return lambda: torch.isfinite(tensor).all()


def compiled_all_finite(tensors):
    torch._dynamo.config.recompile_limit = 64
    compiled = torch.compile(lambda t: torch.isfinite(t).all())
    return [lambda t=t: compiled(t) for t in tensors]


def unscale_stock(grads, inv_scale, found_inf):
    """torch.amp.GradScaler's kernel; fp32 and fp16. bf16 where this torch has it."""
    return lambda: torch._amp_foreach_non_finite_check_and_unscale_(grads, found_inf, inv_scale)


def clip_by_foreach(grads, max_norm):
    """clip_grad_norm_(foreach=True) over plain tensors."""
    total = total_by_foreach(grads)

    def call():
        norm = total()
        factor = torch.clamp(max_norm / (norm + 1e-6), max=1.0)
        torch._foreach_mul_(grads, factor)
        return norm
    return call


def has_unscale(dtype):
    try:
        torch._amp_foreach_non_finite_check_and_unscale_(
            [torch.ones(8, device="cuda", dtype=dtype)], torch.zeros(1, device="cuda"),
            torch.ones(1, device="cuda"))
        torch.cuda.synchronize()
        return True
    except Exception:
        return False


# A multi-tensor norm in Triton: a table of pointers, one program a chunk, fp32 sums; then one program
# a tensor; then one for the total and the flag. Tensors of several types: one first launch a type.
try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

if triton is not None:

    @triton.jit
    def chunk_sums(pointers, elements, chunk_tensor, chunk_start, sums, KIND: tl.constexpr,
                   CHUNK: tl.constexpr, BLOCK: tl.constexpr):
        program = tl.program_id(0)
        tensor = tl.load(chunk_tensor + program)
        start = tl.load(chunk_start + program)
        count = tl.load(elements + tensor)
        if KIND == 0:
            base = tl.load(pointers + tensor).to(tl.pointer_type(tl.float32))
        elif KIND == 1:
            base = tl.load(pointers + tensor).to(tl.pointer_type(tl.float16))
        else:
            base = tl.load(pointers + tensor).to(tl.pointer_type(tl.bfloat16))
        base = tl.multiple_of(base, 16)
        start = tl.multiple_of(start, 16)
        total = tl.zeros([BLOCK], dtype=tl.float32)
        # Whole blocks without a mask, so that loads are 16 bytes wide; then the rest.
        size = tl.minimum(count - start, CHUNK)
        whole = size // BLOCK * BLOCK
        for offset in range(0, whole, BLOCK):
            value = tl.load(base + start + offset + tl.arange(0, BLOCK),
                            eviction_policy="evict_first").to(tl.float32)
            total += value * value
        if whole < size:
            at = whole + tl.arange(0, BLOCK)
            value = tl.load(base + start + at, mask=at < size, other=0.0,
                            eviction_policy="evict_first").to(tl.float32)
            total += value * value
        tl.store(sums + program, tl.sum(total))

    @triton.jit
    def tensor_sums(sums, first_chunk, squares, norms, BLOCK: tl.constexpr):
        tensor = tl.program_id(0)
        begin = tl.load(first_chunk + tensor)
        end = tl.load(first_chunk + tensor + 1)
        total = tl.zeros([BLOCK], dtype=tl.float64)
        for at in range(begin, end, BLOCK):
            index = at + tl.arange(0, BLOCK)
            total += tl.load(sums + index, mask=index < end, other=0.0).to(tl.float64)
        square = tl.sum(total)
        tl.store(squares + tensor, square)
        tl.store(norms + tensor, tl.sqrt(square).to(tl.float32))

    @triton.jit
    def total_sum(squares, count, norm, found_inf, BLOCK: tl.constexpr):
        total = tl.zeros([BLOCK], dtype=tl.float64)
        for at in range(0, count, BLOCK):
            index = at + tl.arange(0, BLOCK)
            total += tl.load(squares + index, mask=index < count, other=0.0)
        square = tl.sum(total)
        tl.store(norm, tl.sqrt(square).to(tl.float32))
        # Inf or NaN: it is not smaller than the largest number.
        tl.store(found_inf, tl.where(square < 1.7e308, 0.0, 1.0))


KINDS = {torch.float32: 0, torch.float16: 1, torch.bfloat16: 2}


class TritonNorm:
    """Total norm, norm of each tensor, Inf/NaN flag. The tables are built once, before timing."""

    CONFIGS = [(1 << 15, 4096, 8)] + [
        (chunk, block, warps) for chunk in (1 << 16, 1 << 17)
        for block, warps in ((2048, 4), (4096, 4), (8192, 8), (8192, 16))]

    def __init__(self, tensors, chunk=1 << 16, block=8192, warps=8):
        self.tensors, self.chunk, self.block, self.warps = tensors, chunk, block, warps
        order = sorted(range(len(tensors)), key=lambda i: KINDS[tensors[i].dtype])
        owners, starts, first, self.groups = [], [], [0], []
        for place, i in enumerate(order):
            count = -(-tensors[i].numel() // chunk)
            kind = KINDS[tensors[i].dtype]
            if not self.groups or self.groups[-1][0] != kind:
                self.groups.append([kind, len(owners), 0])
            self.groups[-1][2] += count
            owners += [place] * count
            starts += [c * chunk for c in range(count)]
            first.append(len(owners))

        def table(values, dtype=torch.int64):
            return torch.tensor(values, dtype=dtype, device="cuda")
        self.pointers = table([tensors[i].data_ptr() for i in order])
        self.elements = table([tensors[i].numel() for i in order])
        self.owners, self.starts = table(owners, torch.int32), table(starts)
        self.first = table(first, torch.int32)
        self.sums = torch.empty(len(owners), device="cuda")
        self.squares = torch.empty(len(tensors), dtype=torch.float64, device="cuda")
        self.norms = torch.empty(len(tensors), device="cuda")
        self.total, self.found_inf = torch.empty(1, device="cuda"), torch.empty(1, device="cuda")

    def __call__(self):
        for kind, begin, count in self.groups:
            chunk_sums[(count,)](self.pointers, self.elements, self.owners[begin:],
                                 self.starts[begin:], self.sums[begin:], KIND=kind,
                                 CHUNK=self.chunk, BLOCK=min(self.block, self.chunk),
                                 num_warps=self.warps)
        tensor_sums[(len(self.tensors),)](self.sums, self.first, self.squares, self.norms,
                                          BLOCK=512, num_warps=4)
        total_sum[(1,)](self.squares, len(self.tensors), self.total, self.found_inf, BLOCK=1024,
                        num_warps=4)


def best_triton_norm(sets, elapsed_ms, configs=None):
    """(name, one TritonNorm for each list of tensors): the configuration that is fastest on the
    first list."""
    best = None
    for chunk, block, warps in configs or TritonNorm.CONFIGS:
        made = TritonNorm(sets[0], chunk, block, warps)
        for _ in range(2):
            made()
        took = min(elapsed_ms(made) for _ in range(3))
        if best is None or took < best[0]:
            best = (took, (chunk, block, warps))
    chunk, block, warps = best[1]
    return (f"chunk {chunk}, block {block}, {warps} warps",
            [TritonNorm(s, chunk, block, warps) for s in sets])
