import type { Feature } from './refusal-cases.ts';

/**
 * What a gVisor sandbox can do although other drivers refuse it, by case title, and why it does not weaken isolation:
 * the call is answered by gVisor's kernel, which serves only this sandbox. The suite fails if one of them is refused,
 * so the list stays accurate.
 */
export const WITHIN_GVISOR: Readonly<Record<string, string>> = {
  'mounts a file system with the new mount API (fsopen)': 'gVisor does not implement this call',
  'moves a mount': 'gVisor does not implement this call',
  'handles page faults in user space (userfaultfd)': 'gVisor does not implement this call',
  'sets up io_uring': 'gVisor does not implement this call',
  'uses more memory than its limit': 'the sandbox ends; other sandboxes are unaffected',
  'ends the helper': 'the sandbox ends, and can be started again',
  'creates a user namespace to gain privileges': "in gVisor's kernel, with privileges only there",
  "accesses the kernel's keyrings": "a keyring of gVisor's kernel",
  'opens performance counters': 'gVisor does not implement them',
  "reads the kernel's log": "gVisor's own log, with made-up lines",
  'creates a device node': 'gVisor gives no access to host devices',
  'opens a socket of a family other than unix, IPv4, IPv6 and netlink': 'gVisor does not implement this family',
  'opens a socket pair of such a family': 'gVisor does not implement this family',
  'hides a socket family in the upper half of an argument': 'gVisor does not implement this family',
  'uses a netlink protocol other than route': 'gVisor does not implement this protocol',
  'sets firewall marks on its packets': 'gVisor keeps the mark; no packet carries it to the host',
  'runs without a system call filter': 'gVisor answers the calls, and is filtered itself',
  'uses kernel triggers (/proc/sysrq-trigger)': 'the file exists and does nothing',
  'changes any kernel setting': "settings of gVisor's kernel",
  "reads the helper's memory, environment and descriptors": 'its own helper, which has no secrets',
  "reads the environment of root's processes, or lists their descriptors, as another user":
    'gVisor shows both to every user of the sandbox',
  'connects to the helper like the platform': 'its own helper, which can do no more than root inside',
};

export const LACKED_BY_GVISOR: readonly Feature[] = ['mounts'];
