package agent

import (
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// What is left beyond so many goes at a later start.
const mostWords = 4096

// leaveWord tells the next helper what is about to be made beside its place, for when this one is killed before it took it
// away: a link of the same name in the root leads to it. The answer takes the word back. Where none can be left, as in a
// root that is read-only, the work goes on without.
func leaveWord(folder, name string) func() {
	if folder == "/" {
		return func() {} // it is its own word
	}
	if err := unix.Symlink(path.Join(folder, name), "/"+name); err != nil {
		return func() {}
	}
	return func() { _ = unix.Unlink("/" + name) }
}

// wordsLeft are the names in the root by which a helper before this one left something behind.
func wordsLeft() []string {
	root, err := os.Open("/")
	if err != nil {
		return nil
	}
	defer root.Close()
	words := []string{}
	for len(words) < mostWords {
		names, err := root.Readdirnames(256)
		for _, name := range names {
			if isTemporary("/" + name) {
				words = append(words, name)
			}
		}
		if err != nil || len(names) == 0 {
			break
		}
	}
	return words
}

// removeLeft takes away what the words lead to. They are in the hands of the sandbox: nothing goes that has not a name of
// ours, and nothing that its own root could not remove.
func removeLeft(words []string) {
	for _, name := range words {
		word := "/" + name
		if left, err := os.Readlink(word); err == nil && strings.HasPrefix(left, "/") && isTemporary("/"+path.Base(left)) {
			if os.RemoveAll(left) != nil {
				continue
			}
		}
		_ = os.RemoveAll(word)
	}
}
