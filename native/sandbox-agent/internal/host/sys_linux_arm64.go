package host

const sysSetnsNumber = 268

const sysKeyctl = 219
