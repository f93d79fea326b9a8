"""Names below localhost are loopback addresses (RFC 6761), which not every C library knows."""

import socket

_getaddrinfo = socket.getaddrinfo


def getaddrinfo(host, *args, **kwargs):
    name = host.decode("ascii") if isinstance(host, bytes) else host
    is_below = isinstance(name, str) and name.endswith(".localhost")
    return _getaddrinfo("localhost" if is_below else host, *args, **kwargs)


socket.getaddrinfo = getaddrinfo
