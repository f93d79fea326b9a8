import type { RequirementName } from '@svc/testing';

/** What the table needs besides what its driver does. */
export const ESCAPE_REQUIREMENTS: readonly RequirementName[] = [
  'linux',
  'root',
  'go',
  'command:ip',
  'command:unshare',
  'command:script',
  'command:tar',
];
