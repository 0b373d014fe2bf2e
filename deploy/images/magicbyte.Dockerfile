# The registry, the REST proxy and all commands but those that need Java. From the top of a checkout:
#   make wheel && docker build -f deploy/images/magicbyte.Dockerfile -t magicbyte .
# BASE is any Debian with Python 3.11 to 3.14 and its venv module; `make image-test` builds on one of Debian's packages.
ARG BASE=docker.io/library/python:3.13-slim@sha256:7c61056e61ac89e852de05f3dc6fa51a6dd2181797bceed46aa725dd7cb2cd3b

FROM ${BASE} AS build
# Times in the image, so that two builds of a release are equal: seconds since 1970.
ARG SOURCE_DATE_EPOCH=1767225600
COPY deploy/images/requirements.lock deploy/images/install.sh dist/magicbyte-*.whl /build/
RUN ["/bin/sh", "/build/install.sh"]

# The last stage runs nothing, so it can be built where no container can run.
FROM ${BASE}
ARG VERSION=0
ARG REVISION=unknown
ARG CREATED=2026-01-01T00:00:00Z
LABEL org.opencontainers.image.title="Magicbyte" \
      org.opencontainers.image.description="Schema Registry and Kafka REST proxy" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}"
COPY --from=build /venv /venv
COPY --from=build --chown=65532:65532 /state /var/lib/magicbyte
# Inside a container, 127.0.0.1 is reached by nobody. Python's files are compiled; the root may be read-only.
ENV PATH=/venv/bin:/usr/local/bin:/usr/bin:/bin \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HOME=/var/lib/magicbyte \
    SCHEMA_REGISTRY_LISTENERS=http://0.0.0.0:8081 \
    KAFKA_REST_LISTENERS=http://0.0.0.0:8082
WORKDIR /var/lib/magicbyte
VOLUME ["/tmp", "/var/lib/magicbyte"]
USER 65532:65532
EXPOSE 8081 8082
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=6s --start-period=60s --retries=3 CMD ["magicbyte", "health"]
ENTRYPOINT ["magicbyte"]
# The server that the variables of Confluent's images choose.
CMD ["serve"]
