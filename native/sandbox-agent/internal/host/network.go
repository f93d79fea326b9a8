package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	interfaceStart = "svcsb"
	insideName     = "eth0"
)

// networkOnce loads the firewall once per process, before the first sandbox with egress.
type networkOnce struct {
	mu     sync.Mutex
	loaded bool
}

func interfaceName(slot int) string { return interfaceStart + strconv.Itoa(slot) }

// addressOf counts from the network's base. The first sixteen addresses are reserved for the gateway and future use.
func addressOf(base [4]byte, slot int) [4]byte {
	var out [4]byte
	binary.BigEndian.PutUint32(out[:], binary.BigEndian.Uint32(base[:])+16+uint32(slot))
	return out
}

func (h *host) connect(p *networkPlan, slot int, namespace *os.File) error {
	if p.Mode != "egress" {
		return inNamespace(namespace, func() error { return loopbackUp() })
	}
	if err := h.loadFirewall(p); err != nil {
		return err
	}
	if err := h.restrict(p, slot); err != nil {
		return err
	}
	base, err := parseAddress(p.Network)
	if err != nil {
		return err
	}
	gateway, err := parseAddress(p.Gateway)
	if err != nil {
		return err
	}
	address, name := addressOf(base, slot), interfaceName(slot)
	if err := outside(name, p.Group, int(namespace.Fd()), address, gateway); err != nil {
		return err
	}
	return inNamespace(namespace, func() error { return inside(address, gateway) })
}

// outside creates the pair, answers ARP for the gateway on it, routes the sandbox's address to it and enables
// forwarding.
func outside(name string, group uint32, namespace int, address, gateway [4]byte) error {
	n, err := openNetlink()
	if err != nil {
		return step("open netlink", err)
	}
	defer n.close()
	if err := n.addVeth(name, group, insideName, namespace); err != nil {
		if !errors.Is(err, unix.EEXIST) {
			return step("create the network pair", err)
		}
		_ = n.removeLink(name) // left over from a sandbox that ended without cleanup
		if err := n.addVeth(name, group, insideName, namespace); err != nil {
			return step("create the network pair", err)
		}
	}
	index, err := linkIndex(name)
	if err != nil {
		return step("find the network pair", err)
	}
	// Before the interface is up, so that it accepts no router advertisements and assigns itself no address.
	_ = os.WriteFile("/proc/sys/net/ipv6/conf/"+name+"/disable_ipv6", []byte("1"), 0)
	if err := os.WriteFile("/proc/sys/net/ipv4/conf/"+name+"/forwarding", []byte("1"), 0); err != nil {
		return step("enable forwarding for the network pair", err)
	}
	if err := n.addAddress(index, gateway); err != nil {
		return step("set the gateway address", err)
	}
	if err := n.setUp(index); err != nil {
		return step("set the network pair up", err)
	}
	return step("route to the sandbox", n.addRoute(index, &address, nil))
}

func inside(address, gateway [4]byte) error {
	_ = os.WriteFile("/proc/sys/net/ipv6/conf/all/disable_ipv6", []byte("1"), 0)
	if err := loopbackUp(); err != nil {
		return err
	}
	n, err := openNetlink()
	if err != nil {
		return step("open netlink", err)
	}
	defer n.close()
	index, err := linkIndex(insideName)
	if err != nil {
		return step("find eth0", err)
	}
	if err := n.addAddress(index, address); err != nil {
		return step("set the sandbox's address", err)
	}
	if err := n.setUp(index); err != nil {
		return step("set eth0 up", err)
	}
	return step("set the default route", n.addRoute(index, nil, &gateway))
}

func loopbackUp() error {
	n, err := openNetlink()
	if err != nil {
		return step("open netlink", err)
	}
	defer n.close()
	return step("set lo up", n.setUp(1))
}

// inNamespace runs work on a new thread, which is discarded because it stays in that network namespace.
func inNamespace(namespace *os.File, work func() error) error {
	return onThread(func() error {
		if err := unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNET); err != nil {
			return step("enter the network namespace", err)
		}
		return work()
	})
}

func (h *host) loadFirewall(p *networkPlan) error {
	h.network.mu.Lock()
	defer h.network.mu.Unlock()
	if h.network.loaded {
		return nil
	}
	if err := h.runNft(p.Nft, p.Rules); err != nil {
		return step("load the firewall", err)
	}
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0); err != nil {
		return step("enable forwarding", err)
	}
	h.network.loaded = true
	return nil
}

// runNft loads rules in one transaction.
func (h *host) runNft(nft, rules string) error {
	input, output, err := os.Pipe()
	if err != nil {
		return err
	}
	defer input.Close()
	messages, messagesEnd, err := os.Pipe()
	if err != nil {
		_ = output.Close()
		return err
	}
	defer messages.Close()
	_, done, err := h.reaper.Start(nft, []string{"nft", "-f", "-"}, &syscall.ProcAttr{
		Env: []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}, Files: []uintptr{input.Fd(), messagesEnd.Fd(), messagesEnd.Fd()}})
	_ = messagesEnd.Close()
	if err != nil {
		_ = output.Close()
		return err
	}
	_, _ = output.WriteString(rules)
	_ = output.Close()
	complaint, _ := io.ReadAll(io.LimitReader(messages, 4096))
	if status := <-done; status != 0 {
		return fmt.Errorf("nft: %s", strings.TrimSpace(string(complaint)))
	}
	return nil
}

// restrict loads the firewall table of one sandbox before it runs; unrestrict removes it.
func (h *host) restrict(p *networkPlan, slot int) error {
	if p.Restrict == "" {
		return nil
	}
	return step("restrict the network", h.runNft(p.Nft, strings.ReplaceAll(p.Restrict, "{{interface}}", interfaceName(slot))))
}

func (h *host) unrestrict(nft string, slot int) error {
	table := "table inet svc_egress_" + interfaceName(slot) + "\n"
	return step("remove the sandbox's firewall table", h.runNft(nft, table+"delete "+table))
}

func (h *host) disconnect(slot int) {
	n, err := openNetlink()
	if err != nil {
		return
	}
	defer n.close()
	_ = n.removeLink(interfaceName(slot))
}

func parseAddress(text string) ([4]byte, error) {
	var out [4]byte
	parts := strings.Split(text, ".")
	if len(parts) != 4 {
		return out, step("read an address", errors.New(text))
	}
	for index, part := range parts {
		value, err := strconv.ParseUint(part, 10, 8)
		if err == nil && strconv.FormatUint(value, 10) != part {
			err = errors.New("a number has a leading zero, which other programs read as octal")
		}
		if err != nil {
			return out, step("read an address", err)
		}
		out[index] = byte(value)
	}
	return out, nil
}
