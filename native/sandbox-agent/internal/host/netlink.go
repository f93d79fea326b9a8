package host

import (
	"encoding/binary"
	"syscall"

	"golang.org/x/sys/unix"

	"svc.dev/sandbox-agent/internal/kernel"
)

const (
	replyBufferLen = 8192
)

// netlink implements the part of rtnetlink (RFC 3549) that sets up a veth pair.
type netlink struct {
	fd       int
	sequence uint32
}

// openNetlink uses the network namespace of the calling thread.
func openNetlink() (*netlink, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return nil, err
	}
	if err := unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return &netlink{fd: fd}, nil
}

func (n *netlink) close() { _ = unix.Close(n.fd) }

// request sends one message and waits for its acknowledgement.
func (n *netlink) request(kind uint16, flags uint16, body []byte) error {
	n.sequence++
	message := make([]byte, unix.NLMSG_HDRLEN, unix.NLMSG_HDRLEN+len(body))
	binary.NativeEndian.PutUint32(message[0:], uint32(cap(message)))
	binary.NativeEndian.PutUint16(message[4:], kind)
	binary.NativeEndian.PutUint16(message[6:], flags|unix.NLM_F_REQUEST|unix.NLM_F_ACK)
	binary.NativeEndian.PutUint32(message[8:], n.sequence)
	message = append(message, body...)
	if err := unix.Sendto(n.fd, message, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	buffer := make([]byte, replyBufferLen)
	for {
		length, _, err := unix.Recvfrom(n.fd, buffer, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		replies, err := syscall.ParseNetlinkMessage(buffer[:length])
		if err != nil {
			return err
		}
		for _, reply := range replies {
			if reply.Header.Seq != n.sequence || reply.Header.Type != unix.NLMSG_ERROR || len(reply.Data) < 4 {
				continue
			}
			if code := int32(binary.NativeEndian.Uint32(reply.Data)); code != 0 {
				return unix.Errno(-code)
			}
			return nil
		}
	}
}

func attribute(kind uint16, value []byte) []byte {
	length := 4 + len(value)
	out := make([]byte, (length+3)&^3)
	binary.NativeEndian.PutUint16(out[0:], uint16(length))
	binary.NativeEndian.PutUint16(out[2:], kind)
	copy(out[4:], value)
	return out
}

func text(value string) []byte { return append([]byte(value), 0) }

func number(value uint32) []byte { return binary.NativeEndian.AppendUint32(nil, value) }

// link encodes a struct ifinfomsg. The flags are also the mask of flags to change.
func link(index int32, flags uint32) []byte {
	header := []byte{unix.AF_UNSPEC, 0, 0, 0} // padding and an unspecified device type
	for _, field := range [...]uint32{uint32(index), flags, flags} {
		header = binary.NativeEndian.AppendUint32(header, field)
	}
	return header
}

// addVeth creates a pair: name in this namespace and group, peerName in the other.
func (n *netlink) addVeth(name string, group uint32, peerName string, peerNamespace int) error {
	peer := append(link(0, 0), attribute(unix.IFLA_IFNAME, text(peerName))...)
	peer = append(peer, attribute(unix.IFLA_NET_NS_FD, number(uint32(peerNamespace)))...)
	info := append(attribute(unix.IFLA_INFO_KIND, []byte("veth")), attribute(unix.IFLA_INFO_DATA|unix.NLA_F_NESTED, attribute(kernel.VethInfoPeer|unix.NLA_F_NESTED, peer))...)
	body := append(link(0, 0), attribute(unix.IFLA_IFNAME, text(name))...)
	body = append(body, attribute(unix.IFLA_GROUP, number(group))...)
	body = append(body, attribute(unix.IFLA_LINKINFO|unix.NLA_F_NESTED, info)...)
	return n.request(unix.RTM_NEWLINK, unix.NLM_F_CREATE|unix.NLM_F_EXCL, body)
}

func (n *netlink) removeLink(name string) error {
	return n.request(unix.RTM_DELLINK, 0, append(link(0, 0), attribute(unix.IFLA_IFNAME, text(name))...))
}

func (n *netlink) setUp(index int32) error {
	return n.request(unix.RTM_NEWLINK, 0, link(index, unix.IFF_UP))
}

func (n *netlink) addAddress(index int32, address [4]byte) error {
	// struct ifaddrmsg: family, prefix length, flags, scope, index
	body := append([]byte{unix.AF_INET, 32, 0, 0}, number(uint32(index))...)
	body = append(body, attribute(unix.IFA_LOCAL, address[:])...)
	body = append(body, attribute(unix.IFA_ADDRESS, address[:])...)
	return n.request(unix.RTM_NEWADDR, unix.NLM_F_CREATE|unix.NLM_F_EXCL, body)
}

// addRoute adds a default route over gateway if destination is nil, else a route to one address on the link.
func (n *netlink) addRoute(index int32, destination *[4]byte, gateway *[4]byte) error {
	prefix, scope, flags := byte(0), byte(unix.RT_SCOPE_LINK), uint32(0)
	var attributes []byte
	if destination != nil {
		prefix = 32
		attributes = append(attributes, attribute(unix.RTA_DST, destination[:])...)
	}
	if gateway != nil {
		scope, flags = unix.RT_SCOPE_UNIVERSE, unix.RTNH_F_ONLINK
		attributes = append(attributes, attribute(unix.RTA_GATEWAY, gateway[:])...)
	}
	attributes = append(attributes, attribute(unix.RTA_OIF, number(uint32(index)))...)
	// struct rtmsg: family, destination and source length, type of service, table, protocol, scope, type, flags
	body := []byte{unix.AF_INET, prefix, 0, 0, unix.RT_TABLE_MAIN, unix.RTPROT_STATIC, scope, unix.RTN_UNICAST}
	body = append(append(body, number(flags)...), attributes...)
	return n.request(unix.RTM_NEWROUTE, unix.NLM_F_CREATE|unix.NLM_F_REPLACE, body)
}

// linkIndex looks in the network namespace of the calling thread.
func linkIndex(name string) (int32, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq(name)
	if err == nil {
		err = unix.IoctlIfreq(fd, unix.SIOCGIFINDEX, request)
	}
	if err != nil {
		return 0, err
	}
	return int32(request.Uint32()), nil
}
