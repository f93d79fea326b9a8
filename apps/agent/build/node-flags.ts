/** What the delivered agent starts Node with: a small young generation, since little here lives long (decision 0019). */
export const AGENT_NODE_FLAGS: readonly string[] = ['--max-semi-space-size=1', '--optimize-for-size'];
