package boot

const sysSeccomp = 277
