"""Runs the rest of a script where it may mount a small file system that nobody else sees."""

import os
import shutil
import subprocess
import sys


def enter():
    """Starts the script again in a mount namespace of its own; skips it where that is not allowed."""
    if os.environ.get("CUPROOF_PRIVATE_MOUNT"):
        return
    for words in (["unshare", "-m"], ["unshare", "-Urm"]):
        tried = [*words, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
        if not shutil.which("unshare") or subprocess.run(tried, capture_output=True).returncode != 0:
            continue
        os.environ["CUPROOF_PRIVATE_MOUNT"] = "1"
        os.execvp(words[0], [*words, sys.executable, *sys.argv])
    print("SKIP: this user may mount nothing, not even in a namespace of its own")
    sys.exit(77)


def mount(path, options):
    os.makedirs(path, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", path], check=True)


def forbid_programs(path):
    """What lies at `path` stays, and cannot be run."""
    subprocess.run(["mount", "--rbind", path, path], check=True)
    subprocess.run(["mount", "-o", "remount,bind,noexec", path], check=True)


def unmount(path):
    subprocess.run(["umount", "-l", path], check=True)
