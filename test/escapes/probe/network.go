package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"
)

const patience = 1500 * time.Millisecond

var networkAttacks = map[string]attack{
	"raw-socket":    func([]string) error { return socket(syscall.AF_INET, syscall.SOCK_RAW, syscall.IPPROTO_ICMP) },
	"packet-socket": func([]string) error { return socket(syscall.AF_PACKET, syscall.SOCK_RAW, 0x0300) },
	"mark": func([]string) error {
		fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
		if err != nil {
			return err
		}
		defer syscall.Close(fd)
		return syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_MARK, 7)
	},
	// connect ADDRESS PORT WORD: somebody there says the word. `gateway` is where the default route leads.
	"connect": func(arguments []string) error { return connect(arguments, nil) },
	// connect-on-link: past the routes, straight onto the wire.
	"connect-on-link": func(arguments []string) error {
		return connect(arguments, func(fd uintptr) error {
			return syscall.SetsockoptString(int(fd), syscall.SOL_SOCKET, syscall.SO_BINDTODEVICE, "eth0")
		})
	},
	// datagram ADDRESS PORT WORD: the same without a connection.
	"datagram": func(arguments []string) error {
		connection, err := net.Dial("udp4", arguments[0]+":"+arguments[1])
		if err != nil {
			return err
		}
		defer connection.Close()
		_ = connection.SetDeadline(time.Now().Add(patience))
		if _, err := connection.Write([]byte("?")); err != nil {
			return err
		}
		return expect(connection, arguments[2])
	},
	// abstract NAME WORD: a socket of a name that has no file.
	"abstract": func(arguments []string) error {
		connection, err := net.DialTimeout("unix", "@"+arguments[0], patience)
		if err != nil {
			return err
		}
		defer connection.Close()
		_ = connection.SetDeadline(time.Now().Add(patience))
		return expect(connection, arguments[1])
	},
	// helper: somebody behind any socket of this sandbox greets as the helper does.
	"helper": func([]string) error {
		content, err := os.ReadFile("/proc/net/unix")
		if err != nil {
			return err
		}
		failure := errors.New("nobody greets")
		names := []string{"@svc-sandbox-agent"}
		for line := range strings.Lines(string(content)) {
			if fields := strings.Fields(line); len(fields) == 8 {
				names = append(names, fields[7])
			}
		}
		for _, name := range names {
			connection, err := net.DialTimeout("unix", name, patience)
			if err != nil {
				continue
			}
			_ = connection.SetDeadline(time.Now().Add(patience))
			if err := expect(connection, `"pid":1,"protocol":1}`); err == nil {
				failure = nil
			}
			_ = connection.Close()
		}
		return failure
	},
}

func socket(family, kind, protocol int) error {
	fd, err := syscall.Socket(family, kind, protocol)
	if err != nil {
		return err
	}
	return syscall.Close(fd)
}

func connect(arguments []string, prepare func(uintptr) error) error {
	address := arguments[0]
	if address == "gateway" {
		found, err := gateway()
		if err != nil {
			return err
		}
		address = found
	}
	dialer := net.Dialer{Timeout: patience, Control: func(_, _ string, raw syscall.RawConn) error {
		if prepare == nil {
			return nil
		}
		var failure error
		return errors.Join(raw.Control(func(fd uintptr) { failure = prepare(fd) }), failure)
	}}
	connection, err := dialer.Dial("tcp4", address+":"+arguments[1])
	if err != nil {
		return err
	}
	defer connection.Close()
	_ = connection.SetDeadline(time.Now().Add(patience))
	return expect(connection, arguments[2])
}

func expect(connection net.Conn, word string) error {
	said, err := io.ReadAll(io.LimitReader(connection, 4096))
	if bytes.Contains(said, []byte(word)) {
		return nil
	}
	return errors.Join(errors.New("somebody else, or nobody"), err)
}

func gateway() (string, error) {
	content, err := os.ReadFile("/proc/net/route")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(content)) {
		fields := strings.Fields(line)
		if len(fields) > 2 && fields[1] == "00000000" {
			raw, err := hex.DecodeString(fields[2])
			if err != nil || len(raw) != 4 {
				return "", errors.New("no address")
			}
			address := make(net.IP, 4)
			binary.LittleEndian.PutUint32(address, binary.BigEndian.Uint32(raw))
			return address.String(), nil
		}
	}
	return "", errors.New("no default route")
}
