import type { HelperStream } from '../helper/helper-stream.ts';

/** The process behind a terminal: one helper operation, or several behind one interface. */
export type ProcessStream = Pick<
  HelperStream,
  'outcome' | 'write' | 'control' | 'finishInput' | 'consumed' | 'abandon'
>;
