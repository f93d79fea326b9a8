package agent

import (
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	probePause = 200 * time.Millisecond
	probeDial  = time.Second
	// A single failure may be a lost packet.
	blockedInARow = 3
	maxProbe      = 10 * time.Minute
)

// Probe connects to IPv4 addresses until each is in the wanted state, `reached` or `blocked`. It returns 0 once all
// are, and 1 if one is not in time. A pod runs it to verify that its network is isolated.
func Probe(arguments []string) int {
	if len(arguments) < 3 || (arguments[0] != "reached" && arguments[0] != "blocked") {
		os.Stderr.WriteString("usage: sandbox-agent probe reached|blocked SECONDS ADDRESS:PORT...\n")
		return 2
	}
	seconds, err := strconv.Atoi(arguments[1])
	limit := time.Duration(seconds) * time.Second
	if err != nil || seconds < 1 || limit > maxProbe {
		os.Stderr.WriteString("sandbox-agent: the limit must be a number of seconds, at most 600\n")
		return 2
	}
	deadline := time.Now().Add(limit)
	var targets []*unix.SockaddrInet4
	for _, text := range arguments[2:] {
		target, ok := parseTarget(text)
		if !ok {
			os.Stderr.WriteString("sandbox-agent: " + text + " is not an IPv4 address with a port\n")
			return 2
		}
		targets = append(targets, target)
	}
	for _, target := range targets {
		if !isAsWanted(target, arguments[0] == "reached", deadline) {
			return 1
		}
	}
	return 0
}

func parseTarget(text string) (*unix.SockaddrInet4, bool) {
	address, port, found := strings.Cut(text, ":")
	number, err := strconv.ParseUint(port, 10, 16)
	fields := strings.Split(address, ".")
	if !found || err != nil || number == 0 || len(fields) != 4 {
		return nil, false
	}
	target := &unix.SockaddrInet4{Port: int(number)}
	for index, field := range fields {
		value, err := strconv.ParseUint(field, 10, 8)
		if err != nil {
			return nil, false
		}
		target.Addr[index] = byte(value)
	}
	return target, true
}

func isAsWanted(target *unix.SockaddrInet4, reached bool, deadline time.Time) bool {
	failures := 0
	for ; time.Now().Before(deadline); time.Sleep(probePause) {
		connection, err := connectTo(unix.AF_INET, target, probeDial)
		if err == nil {
			_ = connection.Close()
			failures = 0
			if reached {
				return true
			}
			continue
		}
		failures++
		if !reached && failures >= blockedInARow {
			return true
		}
	}
	return false
}
