#!/bin/sh
# Runs `raddle check` on a program with a race and on its fixed twin, and fails when an exit code is not the expected one.
set -eu
cd "$(dirname "$0")/.."
bin=${CARGO_TARGET_DIR:-target}/release
status=0

demo() {
    expected=$1
    program=$2
    printf '\n$ raddle check %s\n' "$program"
    code=0
    "$bin/raddle" check "$program" || code=$?
    if [ "$code" -eq "$expected" ]; then
        printf 'exit code %s, as expected\n' "$code"
    else
        printf 'exit code %s, expected %s\n' "$code" "$expected"
        status=1
    fi
}

demo 1 examples/counter_race.c
demo 0 examples/counter_fixed.c
exit $status
