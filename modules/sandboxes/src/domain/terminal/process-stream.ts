import type { AgentStream } from '../helper/agent-stream.ts';

/** What a terminal needs of the process below it: one operation of the helper, or several that stand for one. */
export type ProcessStream = Pick<AgentStream, 'outcome' | 'write' | 'control' | 'finishInput' | 'consumed' | 'abandon'>;
