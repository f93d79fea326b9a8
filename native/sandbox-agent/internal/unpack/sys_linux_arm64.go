package unpack

const (
	sysFstatat = 79
	sysSyncfs  = 267
)
