// Command bucket-mount serves one folder of a bucket to a sandbox over FUSE. The launcher starts it next to the
// platform with an open /dev/fuse, whose other end is mounted in the sandbox, and a spool folder for files being
// written. It has no privileges: everything it reads and writes goes through the platform's socket, where the platform
// decides what is allowed.
package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

const (
	fuseFd  = 3
	spoolFd = 4

	maxSettingsBytes = 64 * 1024
	maxRequestBytes  = 1024 * 1024
	// appendAtLeast is the smallest part of an object that the platform keeps as it is.
	appendAtLeast = 5 << 20
	// cacheTime is how long the kernel caches names and attributes. A revoked right takes effect within two seconds:
	// the platform notices within one second, and the cache adds this.
	cacheTime = 500 * time.Millisecond
)

// settings arrive on standard input, because other processes can read the arguments of a process.
type settings struct {
	Socket   string `json:"socket"`
	Key      string `json:"key"`
	UidBase  uint32 `json:"uid_base"`
	UidCount uint32 `json:"uid_count"`
	// SpoolBytes bounds the files being written on this machine.
	SpoolBytes int64 `json:"spool_bytes"`
}

func main() {
	if err := run(); err != nil {
		os.Stderr.WriteString("bucket-mount: " + err.Error() + "\n")
		os.Exit(1)
	}
}

func run() error {
	content, err := io.ReadAll(io.LimitReader(os.Stdin, maxSettingsBytes))
	if err != nil {
		return err
	}
	var given settings
	if err := json.Unmarshal(content, &given); err != nil {
		return errors.New("cannot read the settings")
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil { // the memory contains the key of the mount
		return err
	}
	m := &mount{
		settings: given, platform: newPlatform(given.Socket, given.Key), spool: spoolFd, appendAtLeast: appendAtLeast,
		blocks: make(chan struct{}, maxBlocks),
	}
	keep := cacheTime
	server, err := fuse.NewServer(fs.NewNodeFS(newRoot(m), &fs.Options{
		EntryTimeout: &keep, AttrTimeout: &keep, NullPermissions: true, RootStableAttr: &fs.StableAttr{Mode: unix.S_IFDIR, Ino: 1},
	}), "/dev/fd/3", &fuse.MountOptions{
		MaxWrite: maxRequestBytes, MaxReadAhead: maxRequestBytes, MaxBackground: 64, DisableXAttrs: true,
		MaxInflightRequestBytes: 64 * maxRequestBytes,
	})
	if err != nil {
		return err
	}
	server.Serve() // returns when the file system is unmounted
	return nil
}
