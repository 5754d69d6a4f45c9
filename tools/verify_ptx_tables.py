#!/usr/bin/env python3
"""Compare data/*.tsv with what real ptxas binaries accept.

    tools/verify_ptx_tables.py PTXAS...             # one or more ptxas binaries
    tools/verify_ptx_tables.py --data DIR PTXAS...

A toolkit is not needed: the wheels nvidia-cuda-nvcc-cu11, nvidia-cuda-nvcc-cu12
and nvidia-cuda-nvcc carry a ptxas each. Every answer comes from assembling an
empty kernel, so no GPU is needed either.

Checked for each ptxas:
  nvcc_targets.tsv  the sm_ values that `ptxas --help` lists for its release
  archs.tsv         first_cuda, last_cuda and, on the newest ptxas, the suffixes
  ptx_isa.tsv       each .version is accepted up to the one of its release
  ptx_targets.tsv   the first .version that accepts each .target
  families.tsv      the members of each family target
  the rules         plain targets assemble for every higher architecture,
                    'a' targets for their own only

An older ptxas sometimes accepts a target earlier than the newest one does, or
before its release was documented; that is printed as a note, not counted as a
disagreement.

Exit status: 0 all agree, 1 a disagreement, 2 could not check.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile


def version(text):
    return tuple(int(part) for part in text.split("."))


def read_table(folder, name):
    rows, columns = [], None
    with open(os.path.join(folder, name), encoding="utf-8") as stream:
        for line in stream:
            line = line.rstrip("\n")
            if not line or line.startswith("#"):
                continue
            cells = line.split("\t")
            if columns is None:
                columns = cells
            elif len(cells) != len(columns):
                raise ValueError(f"{name}: {len(cells)} cells, {len(columns)} columns: {line}")
            else:
                rows.append(dict(zip(columns, cells)))
    return rows


def split_target(target):
    """'103f' -> (103, 'f')"""
    found = re.fullmatch(r"(\d+)([af]?)", target)
    return int(found[1]), found[2]


class Tables:
    def __init__(self, folder):
        self.isa = [(row["isa"], row["cuda"]) for row in read_table(folder, "ptx_isa.tsv")]
        self.first_isa = {row["target"]: row["first_isa"]
                          for row in read_table(folder, "ptx_targets.tsv")}
        self.targets = {row["cuda"]: row["targets"].split(";")
                        for row in read_table(folder, "nvcc_targets.tsv")}
        self.archs = read_table(folder, "archs.tsv")
        self.renamed = {int(row["renamed_from"]): int(row["sm"])
                        for row in self.archs if row["renamed_from"]}
        self.families = {}
        for row in read_table(folder, "families.tsv"):
            self.families.setdefault(row["f_target"], []).append((int(row["member"]), row["since"]))


class Ptxas:
    def __init__(self, path, work):
        self.path = path
        self.source = os.path.join(work, "probe.ptx")
        self.output = os.path.join(work, "probe.cubin")
        banner = self.run("--version")[1]
        found = re.search(r"release ([\d.]+), V([\d.]+)", banner)
        if not found:
            raise ValueError(f"{path}: no release in --version")
        self.release, self.build = found[1], found[2]
        listed = re.search(r"--gpu-name.*?Default value", self.run("--help")[1], re.S)
        if not listed:
            raise ValueError(f"{path}: no --gpu-name in --help")
        names = set(re.findall(r"'sm_(\d+[af]?)'", listed[0]))
        self.archs = sorted(names, key=split_target)

    def run(self, *arguments):
        done = subprocess.run([self.path, *arguments], capture_output=True, text=True, timeout=120)
        return done.returncode == 0, done.stdout + done.stderr

    def assemble(self, isa, target, arch):
        size = ".address_size 64\n" if version(isa) >= (2, 3) else ""
        entry = ".visible .entry k() { ret; }\n" if version(isa) >= (2, 0) else ".entry k { ret; }\n"
        with open(self.source, "w", encoding="ascii") as stream:
            stream.write(f".version {isa}\n.target sm_{target}\n{size}{entry}")
        return self.run("-arch=sm_" + arch, self.source, "-o", self.output)

    def accepts(self, isa, target, arch):
        return self.assemble(isa, target, arch)[0]


class Check:
    def __init__(self, tables, ptxas, newest):
        self.tables, self.ptxas, self.newest = tables, ptxas, newest
        self.release = version(ptxas.release)
        self.agreed, self.wrong, self.notes = 0, [], []
        self.plain = [int(arch) for arch in ptxas.archs if arch.isdigit()]

    def expect(self, holds, text):
        if holds:
            self.agreed += 1
        else:
            self.wrong.append(text)

    def arch_for(self, target):
        """An -arch value that a target of this name can assemble for, or None."""
        number, suffix = split_target(target)
        if target in self.ptxas.archs:
            return target
        if number in self.tables.renamed:
            renamed = str(self.tables.renamed[number]) + suffix
            return renamed if renamed in self.ptxas.archs else None
        if suffix:
            return None
        higher = [arch for arch in self.plain if arch > number]
        return str(min(higher)) if higher else None

    def listed(self):
        expected = self.tables.targets.get(self.ptxas.release)
        if expected is None:
            self.wrong.append(f"nvcc_targets.tsv: no row for {self.ptxas.release}")
            return
        extra = set(self.ptxas.archs) - set(expected)
        missing = set(expected) - set(self.ptxas.archs)
        self.expect(not extra and not missing,
                    f"nvcc_targets.tsv {self.ptxas.release}: "
                    f"not in the table {sorted(extra)}, not in ptxas {sorted(missing)}")

    def lifetimes(self):
        for row in self.tables.archs:
            if "unknown" in (row["first_cuda"], row["last_cuda"]):
                continue
            alive = self.release >= version(row["first_cuda"]) and (
                not row["last_cuda"] or self.release <= version(row["last_cuda"]))
            self.expect(alive == (row["sm"] in self.ptxas.archs),
                        f"archs.tsv sm_{row['sm']}: table says {'listed' if alive else 'absent'}")
            if self.newest and alive:
                suffixes = ";".join(s for s in "af" if row["sm"] + s in self.ptxas.archs)
                self.expect(suffixes == row["suffixes"],
                            f"archs.tsv sm_{row['sm']}: suffixes '{row['suffixes']}', ptxas '{suffixes}'")

    def versions(self):
        """Returns the published versions that this ptxas accepts."""
        arch = str(self.plain[0])
        target = "10"  # accepted by every version that was ever published
        accepted = []
        for isa, cuda in self.tables.isa:
            good, text = self.ptxas.assemble(isa, target, arch)
            known = good or "Unsupported .version" not in text
            self.expect(known == (self.release >= version(cuda)),
                        f"ptx_isa.tsv {isa} (CUDA {cuda}): {'accepted' if known else 'refused'}")
            if known:
                accepted.append(isa)
        major, minor = version(accepted[-1])
        published = {isa for isa, _ in self.tables.isa}
        for isa in (f"{major}.{minor + 1}", f"{major}.{minor + 2}", f"{major + 1}.0"):
            if isa not in published:
                self.expect("Unsupported .version" in self.ptxas.assemble(isa, target, arch)[1],
                            f"ptx_isa.tsv: {isa} is accepted and not in the table")
        return accepted

    def first_versions(self, accepted):
        highest = accepted[-1]
        for target, first in self.tables.first_isa.items():
            arch = self.arch_for(target)
            if version(first) > version(highest) or arch is None:
                continue
            if not self.ptxas.accepts(highest, target, arch):
                self.wrong.append(f"ptx_targets.tsv {target}: refused even with .version {highest}")
                continue
            self.expect(self.ptxas.accepts(first, target, arch),
                        f"ptx_targets.tsv {target}: .version {first} is refused")
            before = [isa for isa in accepted if version(isa) < version(first)]
            if not before:
                continue
            early = self.ptxas.accepts(before[-1], target, arch)
            if early and not self.newest:
                self.notes.append(f"{target}: accepted already with .version {before[-1]}")
            else:
                self.expect(not early, f"ptx_targets.tsv {target}: .version {before[-1]} is accepted")
        for arch in self.ptxas.archs:
            self.expect(arch in self.tables.first_isa, f"ptx_targets.tsv: no row for {arch}")

    def family_members(self, highest):
        for target, members in self.tables.families.items():
            if self.arch_for(target) is None:
                continue
            expected = {sm for sm, since in members
                        if self.release >= version(since) and sm in self.plain}
            found = {sm for sm in self.plain if self.ptxas.accepts(highest, target, str(sm))}
            self.expect(expected == found,
                        f"families.tsv {target}: table {sorted(expected)}, ptxas {sorted(found)}")
        for arch in self.ptxas.archs:
            if arch.endswith("f"):
                self.expect(arch in self.tables.families, f"families.tsv: no row for {arch}")

    def rules(self, highest):
        for arch in self.ptxas.archs:
            number, suffix = split_target(arch)
            lower = [sm for sm in self.plain if sm < number]
            higher = [sm for sm in self.plain if sm > number]
            if suffix == "a":
                others = [str(number)] + [str(sm) for sm in higher[:1]]
                self.expect(self.ptxas.accepts(highest, arch, arch), f"{arch} does not assemble for itself")
                self.expect(not any(self.ptxas.accepts(highest, arch, other) for other in others),
                            f"{arch} assembles for one of {others}")
            elif not suffix:
                for sm in {number, *higher[:1], *higher[-1:]}:
                    self.expect(self.ptxas.accepts(highest, arch, str(sm)),
                                f"{arch} does not assemble for {sm}")
                for sm in lower[-1:]:
                    self.expect(not self.ptxas.accepts(highest, arch, str(sm)),
                                f"{arch} assembles for {sm}")

    def all(self):
        self.listed()
        self.lifetimes()
        accepted = self.versions()
        self.first_versions(accepted)
        self.family_members(accepted[-1])
        self.rules(accepted[-1])


def main():
    parser = argparse.ArgumentParser(description="Compare data/*.tsv with real ptxas binaries.")
    parser.add_argument("--data", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data"))
    parser.add_argument("ptxas", nargs="+")
    options = parser.parse_args()
    try:
        tables = Tables(options.data)
    except (OSError, ValueError, KeyError) as problem:
        print(f"cannot read the tables: {problem}", file=sys.stderr)
        return 2
    status = 0
    with tempfile.TemporaryDirectory() as work:
        found = []
        for path in options.ptxas:
            try:
                found.append(Ptxas(path, work))
            except (OSError, ValueError, subprocess.SubprocessError) as problem:
                print(f"cannot run: {problem}", file=sys.stderr)
                return 2
        newest = max(version(ptxas.release) for ptxas in found)
        for ptxas in sorted(found, key=lambda ptxas: version(ptxas.build)):
            check = Check(tables, ptxas, version(ptxas.release) == newest)
            check.all()
            print(f"ptxas {ptxas.build}: {check.agreed} agree, {len(check.wrong)} disagree", flush=True)
            for text in check.wrong:
                print("  DISAGREES " + text)
                status = 1
            for text in check.notes:
                print("  note " + text)
    return status


if __name__ == "__main__":
    sys.exit(main())
