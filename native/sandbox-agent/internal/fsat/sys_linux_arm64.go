package fsat

const (
	sysFstatat   = 79
	sysRenameat2 = 276
)
