# Stands in for prom/prometheus: Debian's programs where its own are, and its folder.
FROM servers
COPY prometheus promtool /bin/
RUN mkdir /etc/prometheus /prometheus && chown 65534:65534 /prometheus
USER nobody
VOLUME /prometheus
WORKDIR /prometheus
ENTRYPOINT ["/bin/prometheus"]
