import dns from 'node:dns';

/** Names below `localhost` are loopback addresses (RFC 6761), which not every C library knows. */
const { lookup } = dns;
dns.lookup = (name, ...rest) => lookup(name.endsWith('.localhost') ? 'localhost' : name, ...rest);
