package boot

import "golang.org/x/sys/unix"

const (
	randomFolder = "proc/sys/kernel/random/"
	uuidLength   = 37
)

// ownBootID gives the sandbox its own boot ID: programs use the host's to detect restarts and to identify the machine.
// The file is created in the sandbox's /dev and then unlinked.
func ownBootID(root int) error {
	target, err := openBeneath(root, randomFolder+"boot_id", unix.O_PATH)
	if err == unix.ENOENT || err == unix.ENOTDIR {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(target)
	id, err := newUUID(root)
	if err != nil {
		return err
	}
	devices, err := openBeneath(root, "dev", unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer unix.Close(devices)
	const name = ".boot_id"
	file, err := unix.Openat(devices, name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0o444)
	if err != nil {
		return err
	}
	defer unix.Close(file)
	if _, err := unix.Write(file, id); err != nil {
		return err
	}
	tree, err := clone(file, "")
	if err != nil {
		return err
	}
	defer unix.Close(tree)
	if err := setAttributes(tree, hidden); err != nil {
		return err
	}
	if err := attach(tree, target); err != nil {
		return err
	}
	return unix.Unlinkat(devices, name, 0)
}

func newUUID(root int) ([]byte, error) {
	source, err := openBeneath(root, randomFolder+"uuid", unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer unix.Close(source)
	id := make([]byte, uuidLength)
	n, err := unix.Read(source, id)
	return id[:max(n, 0)], err
}
