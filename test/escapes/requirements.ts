import type { RequirementName } from '@svc/testing';

/** Requirements of the table beyond those of the driver. */
export const ESCAPE_REQUIREMENTS: readonly RequirementName[] = [
  'linux',
  'root',
  'go',
  'command:ip',
  'command:unshare',
  'command:script',
  'command:tar',
];
