package host

const (
	sysSetnsNumber  = 308
	sysKeyctl       = 250
	sysSyncfsNumber = 306
)
