import type { SandboxStatus } from '@svc/sdk';

/** What is looked for stands in the URL, so that a finding can be passed on. */
export interface SandboxesSearch {
  status?: SandboxStatus;
  /** `key=value`. */
  label?: string;
  /** Part of a name, an image or an id. */
  text?: string;
  /** The dialog that makes one is open. */
  create?: true;
}

const STATUSES: readonly SandboxStatus[] = ['creating', 'running', 'stopped', 'error'];

export function parseSandboxesSearch({ status, label, text, create }: Record<string, unknown>): SandboxesSearch {
  return {
    ...(isStatus(status) && { status }),
    ...(typeof label === 'string' && isLabel(label) && { label }),
    // What looks like a number was made one by the router.
    ...((typeof text === 'string' || typeof text === 'number') && text !== '' && { text: String(text) }),
    ...(create === true && { create: true }),
  };
}

export function isStatus(value: unknown): value is SandboxStatus {
  return STATUSES.some((each) => each === value);
}

export function isLabel(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_./-]{0,62}=/.test(text);
}
