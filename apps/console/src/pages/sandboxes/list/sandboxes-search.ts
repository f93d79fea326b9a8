import type { SandboxStatus } from '@svc/sdk';

/** The filters are in the URL, so that a result can be shared. */
export interface SandboxesSearch {
  status?: SandboxStatus;
  /** `key=value`. */
  label?: string;
  /** Part of a name, image or id. */
  text?: string;
  /** The create dialog is open. */
  create?: true;
}

const STATUSES: readonly SandboxStatus[] = ['creating', 'running', 'stopped', 'error'];

export function parseSandboxesSearch({ status, label, text, create }: Record<string, unknown>): SandboxesSearch {
  return {
    ...(isStatus(status) && { status }),
    ...(typeof label === 'string' && isLabel(label) && { label }),
    // The router parses numeric text as a number.
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
