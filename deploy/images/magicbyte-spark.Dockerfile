# Pipelines and the functions for PySpark, on Spark's own image. From the top of a checkout:
#   make wheel && docker build -f deploy/images/magicbyte-spark.Dockerfile -t magicbyte-spark .
# Spark's image has Python 3.10, and Magicbyte needs 3.11: uv brings a Python of its own.
ARG BASE=docker.io/apache/spark:4.0.0-scala2.13-java17-python3-ubuntu@sha256:a89782d90529a623fc4471cdddb0f9c32d6eed10a81b256a80207b23c3b1df00

FROM ${BASE} AS build
ARG SOURCE_DATE_EPOCH=1767225600
# hadolint ignore=DL3002
USER 0
COPY deploy/images/requirements-spark.lock deploy/images/requirements-uv.lock deploy/images/install-spark.sh \
     dist/magicbyte-*.whl /build/
RUN ["/bin/sh", "/build/install-spark.sh"]

FROM ${BASE}
ARG VERSION=0
ARG REVISION=unknown
ARG CREATED=2026-01-01T00:00:00Z
LABEL org.opencontainers.image.title="Magicbyte for Spark" \
      org.opencontainers.image.description="Spark pipelines with Schema Registry formats" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}"
COPY --from=build /opt/python /opt/python
COPY --from=build /venv /venv
COPY --from=build /jars /opt/spark/jars
COPY --from=build --chown=65532:65532 /state /var/lib/magicbyte
# Spark's own Python files and jars: the ones of its image, not of PyPI.
ENV PATH=/venv/bin:/opt/spark/bin:/opt/java/openjdk/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    PYTHONPATH=/opt/spark/python:/opt/spark/python/lib/py4j-0.10.9.9-src.zip \
    PYSPARK_PYTHON=/venv/bin/python \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HOME=/var/lib/magicbyte
WORKDIR /var/lib/magicbyte
VOLUME ["/tmp", "/var/lib/magicbyte"]
USER 65532:65532
# The port of `pipeline run --metrics`.
EXPOSE 9109
STOPSIGNAL SIGTERM
# No HEALTHCHECK: only `pipeline run --metrics` serves one, which `magicbyte health --url http://127.0.0.1:9109/health` asks.
# Spark's script knows `driver` and `executor`, which Kubernetes starts, and runs any other command as it is.
ENTRYPOINT ["/opt/entrypoint.sh"]
CMD ["magicbyte", "--help"]
