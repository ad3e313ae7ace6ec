# Sourced by debug, test and check, which set `root`: `prepare_environment [EXTRA…]` sees to it that .venv holds
# the project with these extras, and is quick when it does. Says on standard error what it does.

unset PYTHONDONTWRITEBYTECODE  # the tests start many programs: from bytecode each begins in a tenth of the time

say() { printf 'gradbg: %s\n' "$*" >&2; }

fail() { say "$@"; exit 1; }

# The first Python on PATH that is new enough and can make environments.
find_python() {
    local name found
    for name in python3.13 python3.12 python3.11 python3 python; do
        if "$name" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
            command -v "$name"
            return
        fi
    done
    found=$(python3 --version 2>/dev/null) || found="none"
    say "expected Python 3.11 or newer, with its venv module, on PATH; found: $found"
    fail "install it first (Debian, Ubuntu: apt install python3 python3-venv; or https://www.python.org/downloads)"
}

# Whether a stamp in .venv says that this project was installed with these extras, or more.
is_installed() {
    local stamp
    [ -x .venv/bin/python ] || return 1
    for stamp in ".venv/installed-$extras"*; do
        if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then return 0; fi
    done
    return 1
}

prepare_environment() {
    local extras wanted python log
    cd "$root" || exit 1
    extras=$(IFS=,; printf '%s' "$*")
    wanted="$(cat setup.cfg setup.py | cksum) $root"
    if is_installed; then return; fi
    if ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
        python=$(find_python) || exit 1
        say "making .venv with $("$python" --version 2>&1)"
        rm -rf .venv
        "$python" -m venv .venv >&2 || fail "expected '$python -m venv .venv' to make an environment in $root"
    fi
    say "installing gradbg${extras:+ with $extras} into .venv, this once"
    log=.venv/install.log
    if ! .venv/bin/python -m pip install --disable-pip-version-check --quiet --editable ".${extras:+[$extras]}" \
            </dev/null >"$log" 2>&1; then
        cat "$log" >&2
        fail "pip could not install gradbg: what it says is above. Is the package index within reach?"
    fi
    printf '%s' "$wanted" >".venv/installed-$extras"
}
