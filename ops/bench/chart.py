"""docs/performance.svg: shares of the read ceiling as bars, ours beside the peers'."""

from xml.sax.saxutils import escape

import targets

WIDTH, LEFT, RIGHT = 880, 330, 100
BAR, GAP, GROUP = 17, 4, 20
COLOURS = {"ours": "#1a7f5a", "peer": "#8d99a6"}
STYLE = ("text{font:13px system-ui,sans-serif;fill:#1f2328}.quiet{fill:#59636e}"
         ".case{font-weight:600}.line{stroke:#d0d7de}"
         "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.quiet{fill:#9198a1}"
         ".line{stroke:#3d444d}.back{fill:#0d1117}}")


def groups(results):
    """(title, [(label, role, share of the read ceiling, microseconds)]) of the rows to show."""
    wanted = [("norm", name) for name in targets.NORM_ROWS]
    wanted += [("clip", name) for name in targets.CLIP_ROWS[:2]] + [("guard", targets.GUARD_ROW)]
    for bench, name in wanted:
        row = targets.row_of(results.get(bench), name)
        if row is None or not row.get("read_us"):
            continue
        bars = [(label, c["role"], row["read_us"] / c["median_us"], c["median_us"])
                for label, c in row["contenders"].items() if c["role"] != "ceiling"]
        bars.sort(key=lambda bar: bar[3])
        yield row["name"], bars


def draw(results):
    found = list(groups(results))
    height = 74 + sum(26 + len(bars) * (BAR + GAP) + GROUP for _, bars in found)
    scale = WIDTH - LEFT - RIGHT
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
           f'viewBox="0 0 {WIDTH} {height}" role="img" '
           'aria-label="Share of the read ceiling that cuproof_ops and its peers reach">',
           f"<style>{STYLE}</style>",
           f'<rect class="back" width="{WIDTH}" height="{height}" fill="#ffffff"/>',
           '<text x="16" y="26" class="case">Share of the read ceiling (one reading of the '
           'gradients at the rate of a kernel that only reads)</text>']
    if not found:
        out.append('<text x="16" y="52" class="quiet">no results yet</text>')
    top, bottom = 44, height - 24
    for tenth in range(0, 11, 2) if found else ():
        x = LEFT + scale * tenth / 10
        out.append(f'<line class="line" x1="{x:g}" y1="{top}" x2="{x:g}" y2="{bottom}"/>')
        out.append(f'<text class="quiet" x="{x:g}" y="{bottom + 16}" text-anchor="middle">'
                   f'{tenth / 10:g}</text>')
    y = top + 4
    for title, bars in found:
        y += 18
        out.append(f'<text x="16" y="{y}" class="case">{escape(title)}</text>')
        y += 8
        for label, role, share, us in bars:
            length = max(1.0, scale * min(share, 1.05))
            out.append(f'<text x="{LEFT - 8}" y="{y + 13}" text-anchor="end">'
                       f'{escape(short(label))}</text>')
            out.append(f'<rect x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR}" rx="2" '
                       f'fill="{COLOURS[role]}"/>')
            out.append(f'<text class="quiet" x="{LEFT + length + 6:.1f}" y="{y + 13}">'
                       f'{share:.2f}, {time_of(us)}</text>')
            y += BAR + GAP
        y += GROUP
    out.append("</svg>")
    return "\n".join(out) + "\n"


def short(label):
    return label if len(label) <= 42 else label[:41] + "…"


def time_of(us):
    return f"{us / 1000:.2f} ms" if us >= 1000 else f"{us:.0f} us" if us >= 100 else f"{us:.1f} us"
