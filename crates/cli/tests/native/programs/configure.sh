#!/bin/sh
# What a configure script asks of its compiler, in small.
set -e
: "${CC:=cc}"
try() { printf '%s\n' "$2" >conftest.c; if eval "$CC -g -O2 conftest.c -o conftest $3" >>config.log 2>&1; then echo "$1: yes"; else echo "$1: no"; fi; }
try works 'int main(void) { return 0; }'
./conftest && echo "runs: yes"
try pthread '#include <pthread.h>
int main(void) { return pthread_create(0, 0, 0, 0); }' -lpthread
try missing 'int missing_function(void); int main(void) { return missing_function(); }'
try header '#include <no_such_header.h>
int main(void) { return 0; }'
try flag 'int main(void) { return 0; }' -fno-such-flag-at-all
printf 'int x = sizeof(long);\n' >conftest.c
$CC -E conftest.c >/dev/null && echo "preprocesses: yes"
$CC -c conftest.c && test -f conftest.o && echo "compiles: yes"
rm -f conftest* config.log
