package unpack

const sysFstatat = 262
