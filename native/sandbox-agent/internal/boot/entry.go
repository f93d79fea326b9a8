package boot

// mayKeep has the bits of capabilityNumbers, for entry. If they differed, verify would reject every start.
const mayKeep = 0xa004_05fb

// entered is set by entry after this process, on its only thread, has given up what needs no plan: capabilities of the
// bounding set, ambient capabilities, new privileges, and its parent's cgroup namespace.
var entered byte

// entry is the program's entry point (`-E` in ./build). It runs before Go's runtime, and thus before a second thread
// exists. Later, each of these calls must be made on every thread, which interrupts all of them: about forty times,
// half the work of a sandbox's first process. Isolation does not depend on it: Restrict does what it left out,
// and the state of every thread is verified at the end.
func entry()
