import type { EscapeGroup } from './escape-table.ts';

const PROFILE = "the container runtime's seccomp profile allows it";

/** Attempts that a pod does not refuse, with the reason. Those of containerd 1.6. */
export const OPEN_ON_PODS: Readonly<Record<string, string>> = {
  'sets up io_uring': PROFILE,
  'speaks to the hypervisor (vsock)': PROFILE,
  'opens a socket of a family that is none of unix, IPv4, IPv6 and netlink': PROFILE,
  'opens a pair of sockets of such a family': PROFILE,
  'hides a family behind the upper half of an argument': PROFILE,
  'speaks a netlink protocol other than that of routes': PROFILE,
  'calls the kernel as a program of another architecture (32 bits, x32)': PROFILE,
};

/**
 * Groups that pods are not tried with: the test cluster's network enforces no policies, pods have neither secrets nor volumes,
 * and the kubelet decides about processes and disks.
 */
export const LEFT_ON_PODS: readonly EscapeGroup[] = ['network', 'secrets', 'volumes', 'resources'];
