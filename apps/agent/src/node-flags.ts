/** Node flags of the packaged agent: a small young generation, because most data is short-lived (decision 0019). */
export const AGENT_NODE_FLAGS: readonly string[] = ['--max-semi-space-size=1', '--optimize-for-size'];
