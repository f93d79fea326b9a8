import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes that are still reachable, of objects and of buffers: what is left after a whole collection, so the same in every run. */
export function retainedBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void; // what the flag gives every new context
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
