package boot

// mayKeep has a bit for each of capabilityNumbers, for entry; were they not the same, verify would refuse every start.
const mayKeep = 0xa004_05fb

// entered is set by entry when this process has given up, on its only thread, what needs no plan: capabilities of the bounding
// set, ambient ones, new privileges and its parent's control group namespace.
var entered byte

// entry is where the program begins (`-E` in ./build), before Go's runtime and thus before there is a second thread. Once
// there are, each of those calls has to be made on all of them, which interrupts and waits for every one: some forty times, half
// of all that the first process of a sandbox did. It is no step that isolation rests on: dropPrivileges makes up for what it did not
// do, and the kernel is asked at the end.
func entry()
