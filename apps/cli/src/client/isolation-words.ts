/** What the platform's status says of the isolation of sandboxes. */
export interface IsolationState {
  readonly isolation: string | null;
  readonly isolation_reason: string | null;
}

/** Never silent about a shared kernel. Null while sandboxes are off. */
export function describeIsolation({ isolation, isolation_reason: reason }: IsolationState): string | null {
  if (isolation === null) return null;
  const because = reason === null ? '' : `: ${reason}`;
  if (isolation !== 'gvisor') return `sharing the host's kernel${because}`;
  return reason === null ? 'isolated by gVisor' : `but none can be made${because}`;
}
