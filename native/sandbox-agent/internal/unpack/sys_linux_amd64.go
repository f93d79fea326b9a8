package unpack

const (
	sysFstatat = 262
	sysSyncfs  = 306
)
