package agent

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

const (
	// Programs in the sandbox may set only these, so other attributes never come from the caller.
	attributeSpace    = "user."
	maxAttributeBytes = 4096
	maxAttributeNames = 64 << 10
)

// readAttributes returns the extended attributes whose names begin with the prefix and whose values are text. Those
// beyond the limit are left out.
func readAttributes(name, prefix string) map[string]string {
	if !strings.HasPrefix(prefix, attributeSpace) {
		return nil
	}
	names := make([]byte, maxAttributeNames)
	n, err := unix.Llistxattr(name, names)
	if err != nil || n <= 0 {
		return nil
	}
	found, left := map[string]string{}, maxAttributeBytes
	value := make([]byte, maxAttributeBytes)
	for _, attribute := range strings.Split(strings.TrimRight(string(names[:n]), "\x00"), "\x00") {
		if !strings.HasPrefix(attribute, prefix) || !utf8.ValidString(attribute) {
			continue
		}
		size, err := unix.Lgetxattr(name, attribute, value)
		if err != nil || !utf8.Valid(value[:size]) || len(attribute)+size > left {
			continue
		}
		left -= len(attribute) + size
		found[attribute] = string(value[:size])
	}
	return found
}

func writeAttributes(fd int, attributes map[string]string) *failure {
	for name, value := range attributes {
		if !strings.HasPrefix(name, attributeSpace) || strings.Contains(name, "\x00") {
			return fail("INVALID_ATTRIBUTE", "attribute names must begin with "+attributeSpace)
		}
		if err := unix.Fsetxattr(fd, name, []byte(value), 0); err != nil {
			return fromError(err)
		}
	}
	return nil
}
