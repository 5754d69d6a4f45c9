# The folder of a recorded run may hold anything: special files, links, lies, names that a terminal
# obeys, and errors without end.
. "$(dirname "$0")/common.sh"
mkdir run
mkfifo run/1.ring
ln -s /dev/zero run/2.jsonl
ln -s run.json run/run.json
mkdir run/3.ring
head -c 5000 /dev/urandom >run/4.ring
head -c 500000 /dev/urandom >run/5.jsonl
python3 - <<'PY'
import json, struct
event = lambda **fields: json.dumps({"ts": 1, "tid": 1, **fields}) + "\n"
with open("run/6.jsonl", "w") as out:
    out.write(event(event="process", exe="\x1b[2J\u202e", command=["\x07"] * 1000))
    out.write(event(event="device", device=0, name="\x1b]0;", attributes={"75": 9, "76": 0}))
    out.write(event(event="image", id=1, kind="ptx", file="/dev/zero", dumped="../run.json", result=209))
    out.write(event(event="function", id=1, name="_Z" + "N1a" * 20000, image=1))
    for number in range(100000):
        out.write(event(event="error", api=f"cuCall{number}\n", result=701, function=1, image=1,
                        grid=[2**64 - 1] * 3, block=[2**64 - 1] * 3, shared=2**64 - 1))
    out.write(event(event="graph", id=1, nodes={"\x1b": 2**64 - 1}, kernels=[{}] * 10000))
# Rings that should be there, each with records without number.
header = struct.pack("<QIIIIII", int.from_bytes(b"CUPRING1", "little"), 1, 7, 1, 1, 1 << 24, 1 << 16)
header += struct.pack("<Q6QI", 4096 + 8 * 8192 + (64 << 24), 1, 1, 1, 9, 9, 9, 0xffffffff)
with open("run/7.ring", "wb") as out:
    out.write(header.ljust(4096, b"\0"))
    out.write(struct.pack("<IIIIQ", 1, 1, 1, 1, 2**64 - 1))
    out.truncate(1 << 20)
PY
for format in text json perfetto; do
  run 0 report run --format $format
  seconds 15
  [ ! -s err ] || fail 'standard error should be empty'
done
run 0 report run
grep -q 'expected a regular file, got a FIFO' out || fail 'the FIFO is not told'
grep -q 'run.json' out || fail 'the link to itself is not told'
run 2 report none
problem 'expected the folder of a recorded run'
mkdir empty
run 2 report empty
problem 'expected the folder of a recorded run'
