import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Collects once what loading and first start have left behind. The collector would come to it by itself only under
 * load, and until then an idle platform would hold some 20 MB for nothing.
 */
export function settleMemory(): void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  // V8's most thorough kind: with the usual one some 25 MiB more stay for the first minutes.
  if (typeof collect === 'function') collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
