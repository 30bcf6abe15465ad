# Stands in for mysql:8.0: the server of Maven Central, MariaDB's client, and an entrypoint of the same variables.
FROM servers
COPY server /opt/mysql
COPY mysql-entrypoint /usr/local/bin/docker-entrypoint.sh
RUN groupadd --system --gid 999 mysql && useradd --system --uid 999 --gid 999 --home-dir /var/lib/mysql mysql \
    && mkdir -p /var/lib/mysql /var/run/mysqld && chown 999:999 /var/lib/mysql /var/run/mysqld && chmod 1777 /var/lib/mysql
VOLUME /var/lib/mysql
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["mysqld"]
