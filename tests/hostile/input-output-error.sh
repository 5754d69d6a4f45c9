# A file whose bytes cannot be had: the kernel gives errors, not data.
. "$(dirname "$0")/common.sh"
for file in /proc/self/mem /proc/self/pagemap /proc/kmsg /sys/kernel/mm/transparent_hugepage/enabled; do
  [ -e $file ] || continue
  run '0 2' check $file
  [ "$(wc -l <err)" -le 1 ] || fail 'expected one line at most'
done
