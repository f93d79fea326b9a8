/**
 * What the delivered agent starts Node with: a small young generation, since little here lives long (decision 0019), and
 * the right to collect it, which uploads through the tunnel do (`young-memory.ts` of packages/mux).
 */
export const AGENT_NODE_FLAGS: readonly string[] = ['--max-semi-space-size=1', '--optimize-for-size', '--expose-gc'];
