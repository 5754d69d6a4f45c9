#!/usr/bin/env python3
"""Public reports of undefined symbols (table C of our list, row by row), each made again from small objects.

Usage: report_c_test.py CUPROOF
"""

from small_environment import expect, run, says

OLD = "_ZN3c105ErrorC2ENS_14SourceLocationESs"
NEW = "_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
PARSE_OLD = "_ZN5torch3jit17parseSchemaOrNameERKSsb"
PARSE_NEW = "_ZN5torch3jit17parseSchemaOrNameERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEb"
CHECK = "_ZN3c104cuda29c10_cuda_check_implementationEiPKcS2_%sb"
SET_DEVICE = "_ZN3c104cuda9SetDeviceE%s"
ZEROS_C10 = ("_ZN2at4_ops10zeros_like4callERKNS_6TensorEN3c108optionalINS5_10ScalarTypeEEENS6_INS5_6LayoutEEE"
             "NS6_INS5_6DeviceEEENS6_IbEENS6_INS5_12MemoryFormatEEE")
ZEROS_STD = ("_ZN2at4_ops10zeros_like4callERKNS_6TensorESt8optionalIN3c1010ScalarTypeEES5_INS6_6LayoutEE"
             "S5_INS6_6DeviceEES5_IbES5_INS6_12MemoryFormatEE")
EMPTY_C10 = ("_ZN2at4_ops19empty_memory_format4callEN3c108ArrayRefINS2_6SymIntEEENS2_8optionalINS2_10ScalarTypeEEE"
             "NS6_INS2_6LayoutEEENS6_INS2_6DeviceEEENS6_IbEENS6_INS2_12MemoryFormatEEE")
EMPTY_STD = ("_ZN2at4_ops19empty_memory_format4callEN3c108ArrayRefINS2_6SymIntEEESt8optionalINS2_10ScalarTypeEE"
             "S5_INS2_6LayoutEES5_INS2_6DeviceEES5_IbES5_INS2_12MemoryFormatEE")


def one(env, wanted, torch_has, *texts, version="2.7.1"):
    """An extension that wants one name, and a torch with another: the finding; nothing with the same one."""
    library = env.torch(version, [torch_has])
    env.extension("m.so", [wanted], library)
    found = env.found()
    expect(found, [("error", "CP201", wanted)])
    says(found[0], *texts)
    env.torch(version, [wanted])
    expect(env.found(), [])


def r39_old_string_abi(env):
    one(env, OLD, NEW, "old std::string ABI (_GLIBCXX_USE_CXX11_ABI=0)", "no-build-isolation")


def r41_same_torch_other_abi(env):
    one(env, PARSE_OLD, PARSE_NEW, "old std::string ABI", version="2.6.0")
    one(env, PARSE_NEW, PARSE_OLD, "new std::string ABI", version="2.6.0")


def r43_line_number_became_unsigned(env):
    one(env, CHECK % "i", CHECK % "j", "other parameters", "unsigned int", version="2.10.0")


def r44_set_device_changed_twice(env):
    one(env, SET_DEVICE % "ab", SET_DEVICE % "a", "other parameters", "signed char", "bool", version="2.7.1")
    one(env, SET_DEVICE % "a", SET_DEVICE % "ab", "other parameters", version="2.9.1")
    one(env, SET_DEVICE % "i", SET_DEVICE % "a", "torch 2.1.2 to 2.2.2", version="2.5.1")


def r45_one_wheel_older_and_one_newer(env):
    library = env.torch("2.5.1", [ZEROS_C10])
    env.extension("older.so", [ZEROS_C10], library)
    env.extension("newer.so", [ZEROS_STD], library)
    found = env.found()
    expect(found, [("error", "CP201", ZEROS_STD)])
    says(found[0], "newer.so", "optional")


def r47_tcp_store(env):
    one(env, "_ZN4c10d8TCPStoreC1ESsRKNS_15TCPStoreOptionsE",
        "_ZN4c10d8TCPStoreC1ENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEERKNS_15TCPStoreOptionsE",
        "old std::string ABI", version="2.6.0")


def r48_built_here_and_still_old(env):
    one(env, "_ZN3c106detail14torchCheckFailEPKcS2_jRKSs",
        "_ZN3c106detail14torchCheckFailEPKcS2_jRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
        "old std::string ABI")


def r49_two_torches(env):
    library = env.torch("2.6.0", [OLD])
    env.extension("m.so", [OLD], library)
    env.dist_info("torch", "2.6.0", [("torch/lib/libc10.so", b"a")])
    expect(env.found(), [])
    env.dist_info("torch", "2.5.1", [("torch/lib/libfive.so", b"b")])
    found = env.found()
    expect(found, [("warning", "CP308", None)])
    says(found[0], "torch 2.5.1", "torch 2.6.0")


def r49_a_torch_behind_another(env):
    env.torch("2.6.0", [OLD])
    (env.site / "more.pth").write_text("../other\n")
    env.torch("2.5.1", [OLD], folder=env.site.parent / "other/torch")
    found = env.found()
    expect(found, [("note", "CP308", None)])
    says(found[0], "torch 2.5.1 in ")


def r51_optional_of_another_torch(env):
    one(env, EMPTY_C10, EMPTY_STD, "optional", version="2.7.1")


def r52_torch_is_imported_first(env):
    """TRUE NEGATIVE: libc10.so has no path to it, and is loaded when torch was imported before."""
    library = env.torch("2.7.1", [NEW, "THPVariableClass"])
    env.extension("m.so", [NEW, "THPVariableClass"], library)
    expect(env.found(), [])


STABLE = ["aoti_torch_get_dim", "torch_call_dispatcher"]


def r53_a_target_that_is_not_the_one_that_was_meant(env):
    library = env.torch("2.10.0", STABLE)
    target = "void take(unsigned long long); void g(void) { take(%#xULL); }\nvoid take(unsigned long long v) {}\n"
    env.extension("m.so", STABLE, library, "-O0", more=target % 0x0210000000000000)
    found = env.found()
    expect(found, [("note", "CP206", None)])
    says(found[0], "torch 2.16.0", "torch 2.10 is 0x020a000000000000")
    env.extension("m.so", STABLE, library, "-O0", more=target % 0x020a000000000000)
    says(env.found()[0], "compiled for torch 2.10.0")
    # What such a build comes to: a function that torch 2.10 has not.
    env.extension("m.so", STABLE + ["torch_new_generator_handle"], library)
    found = env.found()
    expect(found, [("error", "CP201", "torch_new_generator_handle"), ("note", "CP206", None)])
    says(found[1], "torch_new_generator_handle is in torch from 2.13 on")


def r55_stable_for_torch_and_not_for_cuda(env):
    runtime = env.versioned("libcudart.so.12", "libcudart.so.12", ["cudaMalloc"], folder=env.root / "away")
    env.versioned("libcudart.so.13", "libcudart.so.13", ["cudaMalloc"], folder=env.site / "nvidia/cu13/lib")
    library = env.torch("2.11.0+cu130", STABLE, cuda="13.0")
    env.extension("m.so", STABLE + ["cudaMalloc"], library, runtime)
    found = env.found()
    expect(found, [("error", "CP301", "libcudart.so.12"), ("note", "CP206", None)])
    says(found[1], "for CUDA it is not: it needs libcudart.so.12", "-cudart static")


def r57_an_older_cublaslt(env):
    name = "cublasLtGroupedMatrixLayoutInit_internal"
    new = env.versioned("libcublasLt.so.13", "libcublasLt.so.13", ["cublasLtCreate", name], folder=env.root / "away")
    env.versioned("libcublasLt.so.13", "libcublasLt.so.13", ["cublasLtCreate"])
    env.extension("m.so", [name], new, "-Wl,-rpath,$ORIGIN")
    found = env.found()
    expect(found, [("error", "CP202", name)])
    says(found[0], "another release than the one that the file was built with")


if __name__ == "__main__":
    run([r39_old_string_abi, r41_same_torch_other_abi, r43_line_number_became_unsigned,
         r44_set_device_changed_twice, r45_one_wheel_older_and_one_newer, r47_tcp_store,
         r48_built_here_and_still_old, r49_two_torches, r49_a_torch_behind_another,
         r51_optional_of_another_torch, r52_torch_is_imported_first,
         r53_a_target_that_is_not_the_one_that_was_meant, r55_stable_for_torch_and_not_for_cuda,
         r57_an_older_cublaslt])
