# Stands in for grafana/grafana, which no registry of packages has: it only answers its health check.
FROM servers
COPY grafana-health /run.sh
RUN groupadd --gid 472 grafana && useradd --uid 472 --gid 472 --no-create-home grafana \
    && mkdir -p /etc/grafana /var/lib/grafana /var/log/grafana
USER grafana
ENTRYPOINT ["/run.sh"]
