package host

const (
	sysSetnsNumber  = 268
	sysKeyctl       = 219
	sysSyncfsNumber = 267
)
