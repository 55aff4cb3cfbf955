#!/bin/sh
# Installs what Raddle needs to build and test, and nothing that is there already. Silent when nothing is missing.
# On a system without apt it checks for the tools and says exactly what to install.
set -eu
cd "$(dirname "$0")/.."
. scripts/llvm.env

say() { printf 'setup: %s\n' "$*" >&2; }
die() {
    say "$@"
    exit 1
}

# An LLVM elsewhere is chosen by setting LLVM_SYS_191_PREFIX; cargo honours it over .cargo/config.toml.
prefix=${LLVM_SYS_191_PREFIX:-$LLVM_PREFIX}

pins_agree() {
    cargo_prefix=$(sed -n 's/^LLVM_SYS_191_PREFIX *= *"\([^"]*\)".*/\1/p' .cargo/config.toml)
    [ "$cargo_prefix" = "$LLVM_PREFIX" ] ||
        die "the LLVM prefix is '$LLVM_PREFIX' in scripts/llvm.env and '$cargo_prefix' in .cargo/config.toml; make them equal"
}

wanted_packages() {
    # A prefix of the user's own stands for the LLVM packages.
    [ "$prefix" != "$LLVM_PREFIX" ] || echo "$LLVM_PACKAGES"
    echo "$BUILD_PACKAGES $TEST_PACKAGES"
    [ "$(dpkg --print-architecture)" != amd64 ] || echo "$AMD64_PACKAGES"
}

missing_of() {
    installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "$@" 2>/dev/null | sed -n 's/ installed$//p') || true
    for package in "$@"; do
        printf '%s\n' "$installed" | grep -qxF "$package" || printf '%s ' "$package"
    done
}

apt() {
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null 2>&1 || die "not root and no sudo; as root run: apt-get install $missing"
        as_root=sudo
    fi
    # stdout is kept for the commands that `make` runs.
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" >&2
}

install_packages() {
    say "installing: $*"
    # A failed update may still leave usable package lists.
    apt update || say "apt-get update failed; trying with the package lists that are here"
    apt install -y --no-install-recommends --no-remove "$@"
}

install_debian() {
    # shellcheck disable=SC2046,SC2086  # lists of words
    missing=$(missing_of $(wanted_packages))
    [ -z "$missing" ] || install_packages $missing || die "apt-get could not install: $missing
setup: a release without LLVM $LLVM_MAJOR needs the packages of https://apt.llvm.org"
    # Linking 32-bit programs takes the libgcc of the compiler that is here; without it they are analysed, not run.
    if [ "$(dpkg --print-architecture)" = amd64 ]; then
        missing=$(missing_of "lib32gcc-$(gcc -dumpversion)-dev")
        [ -z "$missing" ] || install_packages $missing || say "the tests will not run 32-bit programs"
    fi
}

explain_other_system() {
    cat >&2 <<END
setup: this system has no apt. Please install
  - clang and LLVM $LLVM_MAJOR with its headers and llvm-config
        Fedora    dnf install clang$LLVM_MAJOR llvm$LLVM_MAJOR-devel
        Arch      pacman -S clang$LLVM_MAJOR llvm$LLVM_MAJOR
        macOS     brew install llvm@$LLVM_MAJOR
  - a C compiler and linker called cc, pkg-config, and the development files of z3, zlib and zstd
  - for 32-bit programs (--data-model ILP32): the 32-bit C library headers
  - for the tests: csmith with its headers, cvc5, valgrind
and set LLVM_SYS_191_PREFIX to the folder that holds bin/llvm-config when it is not $LLVM_PREFIX.
END
}

tools_missing() {
    [ -x "$prefix/bin/llvm-config" ] || echo "$prefix/bin/llvm-config"
    [ -x "$prefix/bin/clang" ] || command -v "clang-$LLVM_MAJOR" 2>/dev/null >&2 || echo "$prefix/bin/clang"
    command -v cc >/dev/null 2>&1 || echo "cc"
}

check_version() {
    version=$("$prefix/bin/llvm-config" --version) || die "$prefix/bin/llvm-config does not run"
    case $version in
    "$LLVM_MAJOR".*) ;;
    *) die "$prefix holds LLVM $version; Raddle needs LLVM $LLVM_MAJOR" ;;
    esac
}

command -v cargo >/dev/null 2>&1 || die "cargo is missing; install Rust from https://rustup.rs"
pins_agree
if command -v dpkg-query >/dev/null 2>&1 && command -v apt-get >/dev/null 2>&1; then
    install_debian
elif [ -n "$(tools_missing)" ]; then
    explain_other_system
    die "missing:" $(tools_missing)
fi
[ -z "$(tools_missing)" ] || die "still missing:" $(tools_missing)
check_version
