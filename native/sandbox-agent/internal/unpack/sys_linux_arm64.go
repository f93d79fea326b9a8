package unpack

const sysFstatat = 79
