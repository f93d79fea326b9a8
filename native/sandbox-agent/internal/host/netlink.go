package host

import (
	"encoding/binary"
	"syscall"
	"unsafe"
)

const (
	iflaInfoKind   = 1
	iflaInfoData   = 2
	iflaNetNsFd    = 28
	vethInfoPeer   = 1
	ifaLocal       = 2
	ifaAddress     = 1
	nlaNested      = 0x8000
	onlink         = 4
	replyBufferLen = 8192
)

// netlink speaks just enough rtnetlink (RFC 3549) to wire one veth pair.
type netlink struct {
	fd       int
	sequence uint32
}

// openNetlink works in the network namespace of the calling thread.
func openNetlink() (*netlink, error) {
	fd, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, syscall.NETLINK_ROUTE)
	if err != nil {
		return nil, err
	}
	if err := syscall.Bind(fd, &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}); err != nil {
		_ = syscall.Close(fd)
		return nil, err
	}
	return &netlink{fd: fd}, nil
}

func (n *netlink) close() { _ = syscall.Close(n.fd) }

// request sends one message and waits for its acknowledgement.
func (n *netlink) request(kind uint16, flags uint16, body []byte) error {
	n.sequence++
	message := make([]byte, syscall.NLMSG_HDRLEN, syscall.NLMSG_HDRLEN+len(body))
	binary.NativeEndian.PutUint32(message[0:], uint32(cap(message)))
	binary.NativeEndian.PutUint16(message[4:], kind)
	binary.NativeEndian.PutUint16(message[6:], flags|syscall.NLM_F_REQUEST|syscall.NLM_F_ACK)
	binary.NativeEndian.PutUint32(message[8:], n.sequence)
	message = append(message, body...)
	if err := syscall.Sendto(n.fd, message, 0, &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}); err != nil {
		return err
	}
	buffer := make([]byte, replyBufferLen)
	for {
		length, _, err := syscall.Recvfrom(n.fd, buffer, 0)
		if err == syscall.EINTR {
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
			if reply.Header.Seq != n.sequence || reply.Header.Type != syscall.NLMSG_ERROR || len(reply.Data) < 4 {
				continue
			}
			if code := int32(binary.NativeEndian.Uint32(reply.Data)); code != 0 {
				return syscall.Errno(-code)
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

func link(index int32, flags uint32) []byte {
	header := syscall.IfInfomsg{Family: syscall.AF_UNSPEC, Index: index, Flags: flags, Change: flags}
	return append([]byte(nil), unsafe.Slice((*byte)(unsafe.Pointer(&header)), unsafe.Sizeof(header))...)
}

// addVeth makes a pair: name here, peerName in the other namespace.
func (n *netlink) addVeth(name, peerName string, peerNamespace int) error {
	peer := append(link(0, 0), attribute(syscall.IFLA_IFNAME, text(peerName))...)
	peer = append(peer, attribute(iflaNetNsFd, number(uint32(peerNamespace)))...)
	info := append(attribute(iflaInfoKind, []byte("veth")), attribute(iflaInfoData|nlaNested, attribute(vethInfoPeer|nlaNested, peer))...)
	body := append(link(0, 0), attribute(syscall.IFLA_IFNAME, text(name))...)
	body = append(body, attribute(syscall.IFLA_LINKINFO|nlaNested, info)...)
	return n.request(syscall.RTM_NEWLINK, syscall.NLM_F_CREATE|syscall.NLM_F_EXCL, body)
}

func (n *netlink) removeLink(name string) error {
	return n.request(syscall.RTM_DELLINK, 0, append(link(0, 0), attribute(syscall.IFLA_IFNAME, text(name))...))
}

func (n *netlink) setUp(index int32) error {
	return n.request(syscall.RTM_NEWLINK, 0, link(index, syscall.IFF_UP))
}

func (n *netlink) addAddress(index int32, address [4]byte) error {
	header := syscall.IfAddrmsg{Family: syscall.AF_INET, Prefixlen: 32, Index: uint32(index)}
	body := append([]byte(nil), unsafe.Slice((*byte)(unsafe.Pointer(&header)), unsafe.Sizeof(header))...)
	body = append(body, attribute(ifaLocal, address[:])...)
	body = append(body, attribute(ifaAddress, address[:])...)
	return n.request(syscall.RTM_NEWADDR, syscall.NLM_F_CREATE|syscall.NLM_F_EXCL, body)
}

// addRoute: destination nil means the default route, over gateway; else the one address is on the link.
func (n *netlink) addRoute(index int32, destination *[4]byte, gateway *[4]byte) error {
	header := syscall.RtMsg{Family: syscall.AF_INET, Table: syscall.RT_TABLE_MAIN, Protocol: syscall.RTPROT_STATIC,
		Scope: syscall.RT_SCOPE_LINK, Type: syscall.RTN_UNICAST}
	var attributes []byte
	if destination != nil {
		header.Dst_len = 32
		attributes = append(attributes, attribute(syscall.RTA_DST, destination[:])...)
	}
	if gateway != nil {
		header.Scope, header.Flags = syscall.RT_SCOPE_UNIVERSE, onlink
		attributes = append(attributes, attribute(syscall.RTA_GATEWAY, gateway[:])...)
	}
	attributes = append(attributes, attribute(syscall.RTA_OIF, number(uint32(index)))...)
	body := append([]byte(nil), unsafe.Slice((*byte)(unsafe.Pointer(&header)), unsafe.Sizeof(header))...)
	return n.request(syscall.RTM_NEWROUTE, syscall.NLM_F_CREATE|syscall.NLM_F_REPLACE, append(body, attributes...))
}

// linkIndex asks the kernel of the calling thread's namespace.
func linkIndex(name string) (int32, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer syscall.Close(fd)
	var request struct {
		name  [16]byte
		index int32
		_     [20]byte
	}
	copy(request.name[:15], name)
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.SIOCGIFINDEX, uintptr(unsafe.Pointer(&request))); errno != 0 {
		return 0, errno
	}
	return request.index, nil
}
