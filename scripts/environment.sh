# Sourced by debug, test and check: `prepare_environment [EXTRA…]` makes .venv hold the project, and is quick when it does.
# Needs Python >= 3.11 with venv; says on standard error what it does.

say() { printf '%s\n' "gradbg: $*" >&2; }

fail() { say "$@"; exit 1; }

# The first Python on PATH that is new enough and can make environments.
find_python() {
    local name
    for name in python3.13 python3.12 python3.11 python3 python; do
        if "$name" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
            command -v "$name"
            return
        fi
    done
    found=$(python3 --version 2>/dev/null) || found="no python3"
    say "expected Python 3.11 or newer with its venv module on PATH, found $found"
    fail "install python3.11 or newer (Debian, Ubuntu: apt install python3 python3-venv)"
}

# Installs the project, editable, with the extras given. A stamp in .venv remembers what was installed.
prepare_environment() {
    local extras wanted log python
    extras=$(IFS=,; printf '%s' "$*")
    cd "$root" || exit 1
    wanted="$(cat setup.cfg setup.py | cksum) $root"
    stamp=".venv/installed-${extras:-plain}"
    if [ -x .venv/bin/python ] && [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
        return
    fi
    if ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
        python=$(find_python) || exit 1
        say "making .venv with $("$python" --version 2>&1)"
        rm -rf .venv
        "$python" -m venv .venv || fail "$python -m venv .venv failed"
    fi
    say "installing gradbg${extras:+ with $extras} into .venv (once)"
    log=.venv/install.log
    if ! .venv/bin/python -m pip install --disable-pip-version-check --quiet --editable ".${extras:+[$extras]}" \
            >"$log" 2>&1 </dev/null; then
        cat "$log" >&2
        fail "pip could not install gradbg; is the package index reachable? (the text above is pip's)"
    fi
    printf '%s' "$wanted" >"$stamp"
}
