"""docs/ptxas-oracle.md from results.json."""

HEAD = """# `cuproof resources` beside `ptxas -v`

Made by `tools/ptxas_oracle/run.py` on {date}: {distinct} kernels of our own, each assembled for every
target of {releases} releases of ptxas, with and without register limits, for the debugger, with line numbers,
and for separate compilation; in all {kernels:,} kernels in {cubins:,} cubins. The PTX is that of NVRTC of the
same release. Counted are the numbers that the tool prints for a kernel and cuproof reads from the cubin.
{equal:,} are equal. Of {unknown:,} cuproof says that they are unknown, and {other:,} differ by what the tool counts.
Spills "at most": the cubins of that release mark no spills, cuproof says "at most", and the number is not
below what was printed.

"""


def order(fields):
    return sorted(fields, key=lambda field: (field.startswith("cmem"), field))


def counts(result):
    releases = result["releases"]
    fields = order({field for release in releases.values() for field in release["equal"]}
                   | {group["field"] for group in result["differences"]})
    yield "| field | " + " | ".join(release["ptxas"] for release in releases.values()) + " |"
    yield "|---|" + "---|" * len(releases)
    for field in fields:
        cells = []
        for name, release in releases.items():
            differ = sum(group["count"] for group in result["differences"]
                         if group["ptxas"] == name and group["field"] == field)
            equal = release["equal"].get(field, 0)
            cells.append(f"{equal} / {equal + differ}" if equal + differ else "")
        yield f"| {field} | " + " | ".join(cells) + " |"
    yield "| kernels | " + " | ".join(str(release["kernels"]) for release in releases.values()) + " |"
    yield "| of these with spills | " + " | ".join(str(r["spilling"]) for r in releases.values()) + " |"
    yield "| linked cubins | " + " | ".join(str(r["linked_cubins"]) for r in releases.values()) + " |"


def differences(result):
    reasons = {}
    for group in result["differences"]:
        reasons.setdefault(group["reason"] or "NOT EXPLAINED", []).append(group)
    for why, groups in reasons.items():
        kernels = sorted({kernel for group in groups for kernel in group["kernels"]})
        example = groups[0]["example"]
        yield (f"- {sum(group['count'] for group in groups):,} numbers ({', '.join(sorted({g['field'] for g in groups}))}; "
               f"ptxas {', '.join(sorted({g['ptxas'] for g in groups}))}; "
               f"{', '.join(f'`{kernel}`' for kernel in kernels[:6])}{' and others' if len(kernels) > 6 else ''}): "
               f"{why}. Example: `{example['kernel']}`, {example['target']}: printed {example['printed']}, "
               f"read {example['read']}.")


def widths(result):
    for name, release in result["releases"].items():
        text = ", ".join(f"{count:,} x {width} bytes" for width, count in release["spill_widths"].items())
        yield f"- {release['ptxas']}: {text or 'no annotations'}"


def page(result):
    releases = result["releases"].values()
    text = HEAD.format(date=result["date"], releases=len(releases),
                       distinct=max(release["distinct_kernels"] for release in releases),
                       equal=sum(sum(release["equal"].values()) for release in releases),
                       unknown=sum(group["unknown"] for group in result["differences"]),
                       other=sum(group["count"] - group["unknown"] for group in result["differences"]),
                       kernels=sum(release["kernels"] for release in releases),
                       cubins=sum(release["cubins"] for release in releases))
    return (text + "Equal of compared:\n\n" + "\n".join(counts(result)) + "\n\n## Every difference\n\n"
            + ("\n".join(differences(result)) or "None.") + "\n\n## How wide the annotated spills are\n\n"
            "The kernels keep bytes, shorts, predicates, words, pairs and quads of words alive. ptxas spills "
            "whole registers, so none spills 1 or 2 bytes. These instructions are annotated:\n\n"
            + "\n".join(widths(result)) + "\n")
