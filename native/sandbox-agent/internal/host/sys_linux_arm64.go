package host

const sysSetnsNumber = 268
