"""What the operators must reach, as a table over the results; results_test.py and report.py read it."""

NORM_ROWS = ("64 x 4096^2 bf16", "2,000 mixed tensors of 1 to 200,000", "one of 1.536e9 bf16",
             "one of 2^31 + 12,345 bf16")
CLIP_ROWS = tuple(f"unscale + check + clip, 64 x 4096^2 {word}" for word in ("bf16", "fp32", "fp16"))
GUARD_ROW = "guard, 2^24 bf16, cold"
# Beginnings: the rest of a name says how many parameters there were.
STEP_ROW = "AdamW step"
ACCUMULATE_ROW = "accumulate"
# What this file and report.py ask of each result; results_test.py compares it with ops/specs.
ROWS = {"norm": NORM_ROWS, "clip": CLIP_ROWS, "guard": (GUARD_ROW,), "step": (STEP_ROW,),
        "accumulate": (ACCUMULATE_ROW,)}
BENCHES = ("norm", "clip", "step", "guard", "accumulate", "accuracy")


class Target:
    """`value` is None where the result is not there. `least`: lower bound, else `most`."""

    def __init__(self, name, value, least=None, most=None):
        self.name, self.value, self.least, self.most = name, value, least, most

    @property
    def met(self):
        if self.value is None:
            return None
        return self.value >= self.least if self.least is not None else self.value <= self.most

    @property
    def bound(self):
        return f"at least {self.least:g}" if self.least is not None else f"at most {self.most:g}"


def row_of(result, name):
    """The row, unless it was dropped."""
    for row in (result or {}).get("rows", []):
        if row["name"].startswith(name) and not row.get("dropped"):
            return row
    return None


def times_faster(row, ours, peer):
    if row is None or ours not in row["contenders"] or peer not in row["contenders"]:
        return None
    return row["contenders"][peer]["median_us"] / row["contenders"][ours]["median_us"]


def of_role(row, role):
    return {name: c for name, c in (row or {"contenders": {}})["contenders"].items()
            if c["role"] == role}


def ratio_of(row):
    return times_faster(row, *row["ratio_of"]) if row and "ratio_of" in row else None


def all_targets(results):
    """Every target with its value. results: bench -> loaded JSON."""
    found = []
    for name in NORM_ROWS:
        row = row_of(results.get("norm"), name)
        ours = next(iter(of_role(row, "ours").values()), None)
        # torch's fault past 2^31 elements may take _foreach_norm away.
        peer = next((p for p in ("_foreach_norm", "vector_norm fp32")
                     if row and p in row["contenders"]), "_foreach_norm")
        found.append(Target(f"norm of {name}: times as fast as {peer}",
                            times_faster(row, "cuproof_ops grad_norm", peer), least=1.6))
        # Launching is most of the time of small tensors, so there the number of kernels counts.
        if name != NORM_ROWS[1]:
            found.append(Target(f"norm of {name}: part of the read ceiling",
                                ours.get("of_read") if ours else None, least=0.88))
        else:
            found.append(Target(f"norm of {name}: kernels of a call",
                                ours.get("kernels") if ours else None, most=2))
    for name in CLIP_ROWS:
        row = row_of(results.get("clip"), name)
        ours = "cuproof_ops grad_norm as factor"
        ratios = [times_faster(row, ours, peer) for peer in of_role(row, "peer")]
        ratios = [r for r in ratios if r is not None]
        found.append(Target(f"{name}, as a factor: times as fast as torch's fastest",
                            min(ratios) if ratios else None, least=4))
    step = results.get("step")
    row = row_of(step, STEP_ROW)
    found.append(Target("AdamW step: times as fast as with torch.amp.GradScaler", ratio_of(row),
                        least=1.25))
    ours = (step or {}).get("traits", {}).get("cuproof_ops.GradScaler")
    found.append(Target("AdamW step: refused by torch's sync debug mode",
                        None if ours is None else int(ours["sync_debug_mode_error"] != "ran"),
                        most=0))
    found.append(Target("guard, 2^24 bf16, cold: times as fast as isfinite(x).all()",
                        ratio_of(row_of(results.get("guard"), GUARD_ROW)), least=6))
    for key, word in (("total_error_ratio", "total norm"),
                      ("worst_tensor_error_ratio", "norm of a tensor")):
        ratios = [row[key] for row in (results.get("accuracy") or {}).get("rows", [])
                  if row.get(key) is not None]
        found.append(Target(f"accuracy, {word}: worst error over the best peer's",
                            max(ratios) if ratios else None, most=1.1))
    return found
