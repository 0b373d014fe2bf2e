#!/bin/sh
# Makes /venv and the empty folder /state; runs in the build stage of magicbyte.Dockerfile.
set -eu

python3 -m venv /build/tools
python3 -m venv --without-pip /venv
pip="/build/tools/bin/python -m pip --python /venv/bin/python --disable-pip-version-check"
# Wheels only: nothing is compiled here. Versions and hashes are those of the lock.
$pip install --no-deps --only-binary :all: --no-compile --require-hashes --requirement /build/requirements.lock
$pip install --no-deps --no-compile /build/magicbyte-*.whl

# What no server reads: tests, type stubs, sources of extension modules, and headers.
find /venv -type d \( -name tests -o -name test -o -name testing \) -path '*/site-packages/*' \
    ! -path "*/site-packages/magicbyte/*" -prune -exec rm -rf {} +
find /venv -type f \( -name '*.pyi' -o -name '*.pyx' -o -name '*.pxd' -o -name '*.c' -o -name '*.h' -o -name '*.exe' \) -delete
rm -rf /venv/include
# The symbols of extension modules are a seventh of the image. This stage is thrown away, and what it installs with it.
if ! command -v strip > /dev/null; then
    # Slim bases have no folder for its logs.
    mkdir -p /var/log/apt
    apt-get update -q && apt-get install -qy --no-install-recommends binutils
fi
find /venv -type f -name "*.so*" -exec strip --strip-unneeded {} +
# Databases that no storage is kept in.
for dialect in mssql mysql oracle; do
    rm -rf /venv/lib/python3*/site-packages/sqlalchemy/dialects/"$dialect"
done
# Extensions of CEL that no rule has; those that remain are strings and math.
for extension in bindings encoders optional proto; do
    rm -f /venv/lib/python3*/site-packages/cel_expr_python/ext/ext_"$extension".*
done
# AWS' client has the descriptions of all its services; signing in to MSK needs one.
find /venv/lib/python3*/site-packages/botocore/data -mindepth 1 -maxdepth 1 -type d ! -name sts ! -name sso ! -name sso-oidc \
    ! -name signin -exec rm -rf {} +

# Compiled once, and never checked against times: a start needs no writing, and a start is fast.
/venv/bin/python -m compileall -q -j 0 --invalidation-mode unchecked-hash /venv/lib
/venv/bin/magicbyte --version

mkdir /state
find /venv /state -exec touch --no-dereference --date "@${SOURCE_DATE_EPOCH}" {} +
