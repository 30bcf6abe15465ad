# Stands in for apache/kafka: its jars of Maven Central, its folders and user, and scripts that do what its own do.
FROM servers
COPY libs /opt/kafka/libs
COPY bin /opt/kafka/bin
COPY kafka-run /etc/kafka/docker/run
RUN groupadd --gid 1000 appuser && useradd --uid 1000 --gid 1000 --no-create-home appuser \
    && mkdir -p /opt/kafka/config /opt/kafka/logs /etc/kafka/secrets /var/lib/kafka/data /mnt/shared/config \
    && touch /etc/kafka/docker/server.properties /etc/kafka/docker/log4j2.yaml /etc/kafka/docker/tools-log4j2.yaml \
    && chown -R appuser:appuser /opt/kafka/config /opt/kafka/logs /etc/kafka/secrets /var/lib/kafka /mnt/shared/config
USER appuser
VOLUME ["/etc/kafka/secrets", "/var/lib/kafka/data", "/mnt/shared/config"]
CMD ["/etc/kafka/docker/run"]
