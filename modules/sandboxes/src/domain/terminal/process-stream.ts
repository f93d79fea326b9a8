import type { AgentStream } from '../helper/agent-stream.ts';

/** The process behind a terminal: one helper operation, or several behind one interface. */
export type ProcessStream = Pick<AgentStream, 'outcome' | 'write' | 'control' | 'finishInput' | 'consumed' | 'abandon'>;
