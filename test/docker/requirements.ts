import type { RequirementName } from '@svc/testing';

/** Requirements of a suite with its own engine. */
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
