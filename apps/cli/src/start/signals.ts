/** The first SIGTERM or Ctrl-C starts a drain; the second ends the process immediately. */
export function onStopSignals(
  drain: () => Promise<void>,
  exit: (code: number) => void,
  deadlineMs: number,
): () => void {
  let draining = false;
  const handler = (signal: NodeJS.Signals): void => {
    if (draining) {
      exit(signal === 'SIGINT' ? 130 : 143);
      return;
    }
    draining = true;
    // Even if the drain hangs.
    const deadline = setTimeout(() => exit(1), deadlineMs);
    drain().then(
      () => {
        clearTimeout(deadline);
        exit(0);
      },
      () => exit(1),
    );
  };
  process.on('SIGTERM', handler);
  process.on('SIGINT', handler);
  return () => {
    process.removeListener('SIGTERM', handler);
    process.removeListener('SIGINT', handler);
  };
}
