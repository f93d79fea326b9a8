package host

const sysSetnsNumber = 308

const sysKeyctl = 250
