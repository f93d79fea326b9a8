package host

const sysSetnsNumber = 308
