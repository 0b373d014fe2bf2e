#!/bin/sh
# Makes /opt/python, /venv, /jars and the empty folder /state; runs in the build stage of magicbyte-spark.Dockerfile.
set -eu

python3 -m pip install --disable-pip-version-check --only-binary :all: --no-deps --require-hashes --target /build/tools \
    --requirement /build/requirements-uv.lock
uv=/build/tools/bin/uv
# Its versions and hashes are in uv, whose own are in the lock.
"$uv" python install --no-bin --install-dir /opt/python 3.12
"$uv" venv --python "$(ls -d /opt/python/cpython-3.12*/bin/python3.12)" /venv
"$uv" pip install --python /venv/bin/python --no-deps --no-build --require-hashes --requirement /build/requirements-spark.lock
"$uv" pip install --python /venv/bin/python --no-deps /build/magicbyte-*.whl

find /venv -type f \( -name '*.pyi' -o -name '*.pyx' -o -name '*.pxd' -o -name '*.c' -o -name '*.h' -o -name '*.exe' \) -delete
/venv/bin/python -m compileall -q -j 0 --invalidation-mode unchecked-hash /venv/lib

# Spark's own pyspark has no metadata, by which distributions tell their versions.
for folder in /venv/lib/python3*/site-packages; do
    mkdir "$folder/pyspark-4.0.0.dist-info"
    printf 'Metadata-Version: 2.1\nName: pyspark\nVersion: 4.0.0\n' > "$folder/pyspark-4.0.0.dist-info/METADATA"
done

# The jars of Avro and Kafka, by the lock in our wheel: all nodes of a cluster find them in Spark's own folder.
MAGICBYTE_CACHE=/build/cache /venv/bin/python -m magicbyte.platform.jars fetch spark-4.0.0
mkdir /jars /state
find /build/cache -name '*.jar' -exec cp {} /jars/ \;
/venv/bin/magicbyte --version
find /opt/python /venv /jars /state -exec touch --no-dereference --date "@${SOURCE_DATE_EPOCH}" {} +
