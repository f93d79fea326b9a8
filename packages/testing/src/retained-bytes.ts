import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Returns the reachable bytes of objects and buffers after a full collection, so that every run gives the same. */
export function retainedBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void; // the flag adds `gc` to every new context
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
