/** Isolation of sandboxes in the platform's status. */
export interface IsolationState {
  readonly isolation: string | null;
  readonly isolation_reason: string | null;
}

/** Describes the isolation; always mentions a shared kernel. Null while sandboxes are disabled. */
export function describeIsolation({ isolation, isolation_reason: reason }: IsolationState): string | null {
  if (isolation === null) return null;
  const because = reason === null ? '' : `: ${reason}`;
  if (isolation !== 'gvisor') return `sharing the host's kernel${because}`;
  return reason === null ? 'isolated by gVisor' : `but none can be made${because}`;
}
