const QUIET_INTERVAL_MS = 15_000;

/** Shows progress: one changing line on a terminal, occasional lines in a log. */
export interface Progress {
  /** The current activity. */
  update(line: string): void;
  /** Prints text permanently. */
  print(text: string): void;
}

export function createProgress(output: NodeJS.WriteStream, nowMs: () => number): Progress {
  let shown = false;
  let saidAtMs = nowMs();
  const clear = (): void => {
    if (shown) output.write('\r\u001B[K');
    shown = false;
  };
  return {
    update: (line) => {
      if (output.isTTY) {
        const width = Math.max(20, output.columns - 1);
        output.write(`\r\u001B[K${line.slice(0, width)}`);
        shown = true;
      } else if (nowMs() - saidAtMs >= QUIET_INTERVAL_MS) {
        saidAtMs = nowMs();
        output.write(`${line}\n`);
      }
    },
    print: (text) => {
      clear();
      saidAtMs = nowMs();
      output.write(`${text}\n`);
    },
  };
}
