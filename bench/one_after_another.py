"""Runs a command some times with a file on its standard input and tells what each run took. Nothing is imported that
would make it larger than what it measures: a process's peak memory begins with that of the one it was forked from.

python -I -S bench/one_after_another.py TIMES INPUT WORD... ; one line a run: exit code, wall and CPU in seconds, peak
memory in KB, bytes printed.
"""

import posix
import sys
import time


def run(words: "list[str]", given: bytes) -> "tuple[int, float, float, int, int]":
    """Run a command once; return what is printed of it."""
    reader, writer = posix.pipe()
    told, telling = posix.pipe()
    started = time.perf_counter()
    pid = posix.fork()
    if pid == 0:
        posix.dup2(reader, 0)
        posix.dup2(telling, 1)
        for descriptor in (reader, writer, told, telling):
            posix.close(descriptor)
        posix.execv(words[0], words)
    posix.close(reader)
    posix.close(telling)
    posix.write(writer, given)
    posix.close(writer)
    printed = 0
    while chunk := posix.read(told, 65536):
        printed += len(chunk)
    posix.close(told)
    _, status, used = posix.wait4(pid, 0)
    took = time.perf_counter() - started
    return posix.waitstatus_to_exitcode(status), took, used.ru_utime + used.ru_stime, used.ru_maxrss, printed


def main() -> None:
    """Run and print."""
    times, path, *words = sys.argv[1:]
    descriptor = posix.open(path, posix.O_RDONLY)
    given = posix.read(descriptor, 1 << 20)
    posix.close(descriptor)
    for _ in range(int(times)):
        print(*run(words, given))


if __name__ == "__main__":
    main()
