package fsat

const (
	sysFstatat   = 262
	sysRenameat2 = 316
)
