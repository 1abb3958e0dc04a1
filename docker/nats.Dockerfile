# nats-server as Debian 13 has it, 2.10.27: that of Debian 12, 2.9, has faults in clusters.
FROM debian:trixie-slim

LABEL org.opencontainers.image.title="lectern-nats" \
    org.opencontainers.image.description="nats-server of Debian 13 for Lectern"

RUN apt-get update \
    && apt-get install -y --no-install-recommends nats-server curl \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10002 --no-create-home --shell /usr/sbin/nologin nats-lectern \
    && install -d -o 10002 -g 10002 /data

USER 10002
VOLUME /data
EXPOSE 4222 6222

HEALTHCHECK --interval=5s --timeout=3s --start-period=10s \
    CMD ["curl", "--fail", "--silent", "--show-error", "http://127.0.0.1:8222/healthz?js-enabled-only=true"]

ENTRYPOINT ["/usr/sbin/nats-server"]
