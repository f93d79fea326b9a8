import type { RequirementName } from '@svc/testing';

/** What a suite against an engine of our own needs of the machine. */
export const DOCKER_REQUIREMENTS: readonly RequirementName[] = [
  'linux',
  'root',
  'command:dockerd',
  'command:docker',
  'command:iptables',
  'command:ip',
  'command:busybox',
  'command:mkfs.btrfs',
  'command:nft',
];
