"""Small objects made to load, or to fail in one way each. Made from the lines below by gcc; nothing else's."""

import struct
import subprocess
from pathlib import Path


def make(folder):
    """name -> path of the objects; they are kept between runs."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)

    def gcc(output, source, *options):
        path = folder / output
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            text = folder / "source.c"
            text.write_text(source)
            subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-w", str(text), "-o", str(path), *options],
                           check=True)
        return path

    def versioned(stub, node, function):
        """An object that wants `function` at version `node` of library `stub`, which is not kept."""
        script = folder / "versions.map"
        script.write_text(f"{node} {{ global: {function}; local: *; }};\n")
        library = gcc(f"stub_{node}_{function}/{stub}", f"int {function}(void) {{ return 0; }}",
                      "-nostdlib", f"-Wl,-soname,{stub}", f"-Wl,--version-script={script}")
        return f"extern int {function}(void); int want(void) {{ return {function}(); }}", ("-nostdlib",
                                                                                       str(library))

    made = {}

    def keep(name, source, *options):
        made[name] = gcc(f"{name}.so", source, *options)

    for name, stub, node, function in (
            ("glibc_of_the_future", "libc.so.6", "GLIBC_2.99", "future_call"),
            ("glibcxx_of_the_future", "libstdc++.so.6", "GLIBCXX_3.4.99", "future_call"),
            ("cudart_other_node", "libcudart.so.12", "libcudart.so.99", "cudaFutureCall"),
            ("cudart12_later_call", "libcudart.so.12", "libcudart.so.12", "cudaFutureCall"),
            ("cudart13_later_call", "libcudart.so.13", "libcudart.so.13", "cudaFutureCall"),
            ("nvjitlink_later_call", "libnvJitLink.so.12", "libnvJitLink.so.12", "__nvJitLinkFuture_12_99")):
        source, options = versioned(stub, node, function)
        keep(name, source, *options)

    nobody = gcc("stub_nobody/libnot_there.so.7", "int nobody(void) { return 0; }",
                 "-Wl,-soname,libnot_there.so.7")
    keep("needs_missing_library", "int nobody(void); int want(void) { return nobody(); }", str(nobody))
    for soname in ("libcufft.so.99", "libcusparse.so.11", "libcublas.so.11", "libcuda.so.1"):
        stub = gcc(f"stub_soname/{soname}", "int stub(void) { return 0; }", f"-Wl,-soname,{soname}")
        keep("needs_" + soname.split(".so")[0] + "_" + soname.rsplit(".", 1)[1],
             "int here(void) { return 1; }", "-Wl,--no-as-needed", str(stub))
    keep("wants_nobodys_symbol", "int nobody_has_this(void); int want(void) { return nobody_has_this(); }")
    keep("wants_weak_symbol", "int nobody_has_this(void) __attribute__((weak));\n"
         "int want(void) { return nobody_has_this ? nobody_has_this() : 0; }")
    keep("wants_python", "void *PyList_New(long); void *want(void) { return PyList_New(0); }")
    keep("needs_nothing", "int here(void) { return 1; }")
    keep("not_for_dlopen", "int here(void) { return 1; }", "-Wl,-z,nodlopen")

    def chain(name, tag):
        """outer needs middle needs inner, all in one folder that only outer's path names."""
        place = f"chain_{name}"
        inner = gcc(f"{place}/libinner_{name}.so", "int inner(void) { return 1; }",
                    f"-Wl,-soname,libinner_{name}.so")
        middle = gcc(f"{place}/libmiddle_{name}.so", "int inner(void); int middle(void) { return inner(); }",
                     str(inner), f"-Wl,-soname,libmiddle_{name}.so")
        flags = [] if tag is None else ["-Wl,-rpath,$ORIGIN", tag]
        made[f"chain_{name}"] = gcc(f"{place}/outer_{name}.so",
                                    "int middle(void); int want(void) { return middle(); }", str(middle),
                                    *flags)

    chain("rpath", "-Wl,--disable-new-dtags")
    chain("runpath", "-Wl,--enable-new-dtags")
    chain("no_path", None)

    good = made["needs_nothing"].read_bytes()

    def bytes_of(name, data):
        path = folder / f"{name}.so"
        path.write_bytes(data)
        made[name] = path

    def turned(offset, value):
        return good[:offset] + value + good[offset + len(value):]

    bytes_of("class_32", turned(4, b"\x01"))
    bytes_of("big_endian", turned(5, b"\x02"))
    bytes_of("other_machine", turned(18, struct.pack("<H", 183)))
    bytes_of("osabi_unknown", turned(7, b"\x77"))
    bytes_of("cut_in_header", good[:40])
    bytes_of("cut_in_segments", good[:1200])
    bytes_of("text_file", b"this is a text, not a library\n" * 40)
    bytes_of("empty_file", b"")
    relocatable = folder / "relocatable.so"
    if not relocatable.exists():
        (folder / "source.c").write_text("int here(void) { return 1; }")
        subprocess.run(["gcc", "-c", "-fPIC", str(folder / "source.c"), "-o", str(relocatable)], check=True)
    made["relocatable"] = relocatable
    program = folder / "program.so"
    if not program.exists():
        (folder / "source.c").write_text("int main(void) { return 0; }")
        subprocess.run(["gcc", "-pie", "-fPIE", str(folder / "source.c"), "-o", str(program)], check=True)
    made["program"] = program
    for path in made.values():
        path.chmod(0o755)
    return made
