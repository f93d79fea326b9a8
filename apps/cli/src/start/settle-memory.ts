/**
 * Collects once what loading and first start have left behind. The collector would come to it by itself only under
 * load, and until then an idle platform would hold some 20 MB for nothing. `svc` starts Node with `--expose-gc`.
 */
export function settleMemory(): void {
  // V8's most thorough kind: with the usual one some 25 MiB more stay for the first minutes.
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
