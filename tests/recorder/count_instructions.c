/* count_instructions PROGRAM: runs it step by step between its marks and prints how many
 * instructions each marked stretch took. A mark is `int3` (SIGTRAP), one before a stretch and one
 * behind it. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const pid_t child = fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(77);
    execv(argv[1], argv + 1);
    _exit(127);
  }
  int status;
  if (waitpid(child, &status, 0) < 0 || WIFEXITED(status)) return 77;
  for (;;) {
    if (ptrace(PTRACE_CONT, child, NULL, NULL) != 0) return 77;
    waitpid(child, &status, 0);
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP) return 3;
    long count = 0;
    for (;;) {
      if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0) return 77;
      waitpid(child, &status, 0);
      if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP) return 4;
      siginfo_t info;
      if (ptrace(PTRACE_GETSIGINFO, child, NULL, &info) != 0) return 77;
      if (info.si_code == SI_KERNEL || info.si_code == TRAP_BRKPT) break; /* the mark, not a step */
      ++count;
    }
    printf("%ld\n", count);
    fflush(stdout);
  }
}
