import type { RequirementName } from '@svc/testing';

/** Requirements of the table in addition to its driver's. */
export const ESCAPE_REQUIREMENTS: readonly RequirementName[] = [
  'linux',
  'root',
  'go',
  'command:ip',
  'command:unshare',
  'command:script',
  'command:tar',
];
