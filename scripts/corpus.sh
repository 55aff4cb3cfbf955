#!/bin/sh
# Fetches the real C code of the static benchmark and makes it compile: FOLDER/inputs/NAME/compile_commands.json for each input.
#   usage: corpus.sh FOLDER
# Sources come from the package lists of this machine and from cargo; nothing is kept in the tree. What is there already is not made
# again. An input that cannot be had is named on stderr and left out; its log is FOLDER/log/NAME.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/llvm.env"
[ $# -eq 1 ] || {
    echo "usage: corpus.sh FOLDER" >&2
    exit 2
}
mkdir -p "$1/dl" "$1/src" "$1/inputs" "$1/log"
folder=$(cd "$1" && pwd)
clang=clang-$LLVM_MAJOR
jobs=$(nproc)

# To configure and compile the sources, and to see how their makefiles call the compiler.
PACKAGES="bear bison curl dpkg-dev flex libaio-dev libbz2-dev libelf-dev libevent-dev libssl-dev lld-$LLVM_MAJOR make python3 time xz-utils zlib1g-dev"
# The kernel files of the paper's table, or what became of them.
KERNEL_FILES="mm/hugetlb fs/hugetlbfs/inode drivers/infiniband/ulp/ipoib/ipoib_multicast drivers/net/plip/plip net/core/sock
    fs/autofs/expire kernel/ptrace drivers/tty/tty_io drivers/md/raid1 drivers/md/raid5 arch/x86/kernel/amd_gart_64
    drivers/char/agp/amd64-agp"
# Whole drivers, linked from several files.
KERNEL_FOLDERS="drivers/infiniband/ulp/ipoib fs/autofs drivers/tty"

# Descriptor 3 is the terminal's also where the output goes to a log.
exec 3>&2
say() { printf 'corpus: %s\n' "$*" >&3; }

prepare_packages() {
    # shellcheck disable=SC2086  # a list of words
    missing=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' $PACKAGES 2>/dev/null | sed -n 's/ installed$//p' >"$folder/log/have" &&
        printf '%s\n' $PACKAGES | grep -vxFf "$folder/log/have") || true
    [ -n "$missing" ] || return 0
    as_root=
    [ "$(id -u)" -eq 0 ] || as_root=sudo
    $as_root apt-get -qq update || true
    # shellcheck disable=SC2086
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends --no-remove $missing
}

# Package lists with sources, in a folder of their own: this machine's may hold only binaries.
prepare_sources_list() {
    apt=$folder/dl/apt
    [ ! -f "$apt/apt.conf" ] || return 0
    mkdir -p "$apt/parts" "$apt/lists/partial" "$apt/cache/archives/partial"
    for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ ! -f "$list" ] || sed -n 's/^deb /deb-src /p' "$list" >"$apt/parts/$(basename "$list" .list).list"
    done
    for list in /etc/apt/sources.list.d/*.sources; do
        [ ! -f "$list" ] || sed 's/^Types:.*/Types: deb-src/' "$list" >"$apt/parts/$(basename "$list")"
    done
    cat >"$apt/apt.conf.new" <<END
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$apt/parts";
Dir::State::lists "$apt/lists";
Dir::Cache "$apt/cache";
APT::Sandbox::User "";
END
    APT_CONFIG=$apt/apt.conf.new apt-get -qq update
    mv "$apt/apt.conf.new" "$apt/apt.conf"
}

prepare_crates() {
    [ ! -d "$folder/dl/crates/vendor" ] || return 0
    mkdir -p "$folder/dl/crates/src"
    cd "$folder/dl/crates"
    : >src/lib.rs
    printf '[workspace]\n[package]\nname = "corpus"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n' >Cargo.toml
    printf '%s = "*"\n' libsqlite3-sys zstd-sys rdkafka-sys >>Cargo.toml
    cargo vendor --quiet vendor.new
    mv vendor.new vendor
}

# debian NAME: the package's patched source as src/NAME.
debian() {
    cd "$folder/dl"
    APT_CONFIG=$folder/dl/apt/apt.conf apt-get -qq source --download-only "$1"
    rm -rf "$folder/src/$1"
    dpkg-source --no-check -x "$1"_*.dsc "$folder/src/$1"
    cd "$folder/src/$1"
}

# crate NAME: its files as src/NAME, without cargo's lock on them.
crate() {
    prepare_crates
    rm -rf "$folder/src/$1"
    cp -R "$folder/dl/crates/vendor/$1" "$folder/src/$1"
    cd "$folder/src/$1"
}

# record NAME COMMAND...: the database of what the command compiles.
record() {
    mkdir -p "$folder/inputs/$1"
    output=$folder/inputs/$1/compile_commands.new
    shift
    bear --output "$output" -- "$@"
    [ "$(grep -c '"file"' "$output")" -gt 0 ]
    mv "$output" "${output%.new}.json"
}

# list NAME FLAGS FILES...: a database written by hand, all files with the same flags.
list() {
    mkdir -p "$folder/inputs/$1"
    output=$folder/inputs/$1/compile_commands.json
    flags=$2
    shift 2
    separator='['
    for file in "$@"; do
        printf '%s\n{ "directory": "%s", "file": "%s", "command": "%s %s -c %s" }' "$separator" "$PWD" "$file" "$clang" "$flags" "$file"
        separator=,
    done >"$output.new"
    printf '\n]\n' >>"$output.new"
    mv "$output.new" "$output"
}

memcached() {
    debian memcached
    ./configure --disable-docs
    record memcached make -j"$jobs" CFLAGS=-O0 memcached
}

pbzip2() {
    debian pbzip2
    list pbzip2 "-D_LARGEFILE64_SOURCE -D_FILE_OFFSET_BITS=64 -DUSE_STACKSIZE_CUSTOMIZATION -std=gnu++98 -fno-exceptions" ./*.cpp
}

redis() {
    debian redis
    record redis make -C src -j"$jobs" MALLOC=libc OPTIMIZATION=-O0 redis-server
}

fio() {
    debian fio
    ./configure --disable-native
    record fio make -j"$jobs" OPTFLAGS=-O0 fio
}

sqlite() {
    crate libsqlite3-sys
    list sqlite "-DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_RTREE -DSQLITE_ENABLE_JSON1 -DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_UNLOCK_NOTIFY -DHAVE_USLEEP=1" \
        sqlite3/sqlite3.c
}

zstd() {
    crate zstd-sys
    list zstd "-DZSTD_MULTITHREAD -DZSTD_DISABLE_ASM -DZSTD_LEGACY_SUPPORT=0 -Izstd/lib -Izstd/lib/common" \
        zstd/lib/common/*.c zstd/lib/compress/*.c zstd/lib/decompress/*.c zstd/lib/dictBuilder/*.c
}

rdkafka() {
    crate rdkafka-sys
    cd librdkafka
    ./configure --disable-ssl --disable-gssapi --disable-curl --disable-zstd --disable-lz4-ext --disable-syslog
    record rdkafka make -C src -j"$jobs" librdkafka.a
}

# The paper's ctrace_comb.c, already merged to one 32-bit file, is kept by the Goblint project among its benchmarks.
ctrace() {
    mkdir -p "$folder/src/ctrace"
    cd "$folder/src/ctrace"
    base=https://raw.githubusercontent.com/goblint/bench/ccd1c6ae78cc7c1841435b83d5ca10ca9ad31773
    [ -s ctrace_comb.c ] || curl -fsSL --max-time 60 -o ctrace_comb.c "$base/pthread/ctrace_comb.c"
    list ctrace "-m32 -std=gnu89" ctrace_comb.c
}

kernel_make() { make -j"$jobs" LLVM=-"$LLVM_MAJOR" HOSTCC="$clang" HOSTCXX="clang++-$LLVM_MAJOR" "$@"; }

# The kernel's own configuration for x86 with the wanted drivers. Left out: what patches code at run time (static keys, tracing,
# mitigations), which is `asm goto` to a compiler; preemption keeps the lock functions out of line, so that they are calls.
linux() {
    cd "$folder/dl"
    apt-get -qq -o APT::Sandbox::User= download linux-source-6.1
    dpkg-deb --fsys-tarfile linux-source-6.1_*.deb | tar -x --wildcards './usr/src/linux-source-6.1.tar.*'
    rm -rf "$folder/src/linux"
    mkdir "$folder/src/linux"
    tar -C "$folder/src/linux" --strip-components=1 -xf usr/src/linux-source-6.1.tar.*
    rm -rf usr linux-source-6.1_*.deb
    cd "$folder/src/linux"
    kernel_make -s defconfig
    for option in AGP AGP_AMD64 AUTOFS_FS BLK_DEV_MD GART_IOMMU HUGETLBFS INFINIBAND INFINIBAND_ADDR_TRANS INFINIBAND_IPOIB MD \
        MD_RAID1 MD_RAID10 MD_RAID456 PARPORT PARPORT_PC PLIP PREEMPT SMP UNIX UNWINDER_FRAME_POINTER; do
        scripts/config --enable $option
    done
    for option in BPF_SYSCALL CPU_MITIGATIONS DEBUG_INFO EVENT_TRACING FORTIFY_SOURCE FTRACE HYPERVISOR_GUEST JUMP_LABEL KPROBES \
        PARAVIRT PERF_EVENTS PREEMPT_DYNAMIC PREEMPT_VOLUNTARY RETPOLINE SPECULATION_MITIGATIONS STACKPROTECTOR TRACEPOINTS \
        UNWINDER_ORC; do
        scripts/config --disable $option
    done
    kernel_make -s olddefconfig
    kernel_make -s prepare
    objects=
    for file in $KERNEL_FILES; do objects="$objects $file.o"; done
    for part in $KERNEL_FOLDERS; do objects="$objects $part/"; done
    # shellcheck disable=SC2086
    kernel_make -k $objects || true
    kernel_inputs
}

kernel_inputs() {
    python3 scripts/clang-tools/gen_compile_commands.py -o compile_commands.json arch drivers fs kernel mm net
    for file in $KERNEL_FILES; do
        kernel_input "$(basename "$file")" "$file.c" || say "linux: $file.c does not compile, see log/linux"
    done
    for part in $KERNEL_FOLDERS; do
        kernel_input "$(basename "$part")-all" "$part/" || say "linux: $part does not compile, see log/linux"
    done
}

# kernel_input NAME START: the files of the kernel's database whose path starts so.
kernel_input() {
    mkdir -p "$folder/inputs/$1"
    python3 - compile_commands.json "$PWD/$2" "$folder/inputs/$1/compile_commands.json" <<'END'
import json, sys
database, start, output = sys.argv[1:]
entries = [entry for entry in json.load(open(database)) if entry["file"].startswith(start)]
if not entries:
    sys.exit(1)
json.dump(entries, open(output, "w"), indent=1)
END
}

prepare_packages >"$folder/log/packages" 2>&1 || say "some packages could not be installed, see log/packages"
prepare_sources_list >"$folder/log/lists" 2>&1 || say "no source lists, see log/lists"
for name in sqlite zstd memcached redis pbzip2 fio rdkafka ctrace linux; do
    [ ! -f "$folder/log/$name.done" ] || continue
    say "preparing $name"
    # A subshell of its own, so that `set -e` holds inside it.
    code=0
    (set -eu && "$name") >"$folder/log/$name" 2>&1 &
    wait $! || code=$?
    if [ "$code" -eq 0 ]; then
        : >"$folder/log/$name.done"
    else
        say "$name: could not be prepared, see $folder/log/$name"
    fi
done
