/**
 * What a gVisor sandbox can do although other drivers refuse it, by case title, and why it does not weaken isolation:
 * the call is answered by gVisor's kernel, which serves only this sandbox. The suite fails if one of them is refused,
 * so the list stays accurate.
 */
export const WITHIN_GVISOR: Readonly<Record<string, string>> = {
  'opens a file system by the newer calls': 'gVisor answers that it has no such call',
  'moves a mount': 'gVisor answers that it has no such call',
  'handles page faults in user space': 'gVisor answers that it has no such call',
  'sets up io_uring': 'gVisor answers that it has no such call',
  'takes more memory than it was given': 'the sandbox ends with it; its neighbours go on',
  'ends the helper': 'the sandbox ends with it, and can be started again',
  'makes a user namespace, for privileges in it': "of gVisor's kernel, whose privileges end there",
  "reaches the kernel's keyrings": "a keyring of gVisor's kernel",
  'opens performance counters': 'gVisor answers that it has none',
  "reads the kernel's log": "gVisor's own log, of made-up lines",
  'makes a device node': 'gVisor knows no device of the host to open by it',
  'opens a socket of a family that is none of unix, IPv4, IPv6 and netlink':
    'gVisor answers that it has no such family',
  'opens a pair of sockets of such a family': 'gVisor answers that it has no such family',
  'hides a family behind the upper half of an argument': 'gVisor answers that it has no such family',
  'speaks a netlink protocol other than that of routes': 'gVisor answers that it has no such protocol',
  'marks its packets as others': 'gVisor keeps the mark; no packet carries it to the host',
  'lives without a filter of system calls': 'gVisor answers the calls, and is filtered itself',
  'pulls the triggers of the kernel': 'the file is there and does nothing',
  'changes any kernel setting': "settings of gVisor's kernel",
  "reads the helper's memory, environment and descriptors": 'of its own helper, which holds no secret',
  'speaks to the helper as the platform does': 'to its own helper, which does nothing that root inside cannot',
};
